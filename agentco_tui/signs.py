"""The signs the program itself draws, in Unicode and in ASCII for terminals that need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final, NewType

SafeText = NewType("SafeText", str)
"""Text that may be shown as it is; see `text`, which is where to import it from."""


@dataclass(frozen=True)
class Signs:
    """One set of signs; each takes one cell."""

    warning: SafeText
    critical: SafeText
    good: SafeText
    unknown: SafeText
    waiting: SafeText
    """Stands for what waits for a person, which is known well."""
    derived: SafeText
    """Stands before a figure that was worked out here."""
    missing: SafeText
    """Stands for a field that was not sent."""
    ellipsis: SafeText
    cursor: SafeText
    mark: SafeText
    """Stands before a marked row."""
    newline: SafeText
    tab: SafeText
    replaced: SafeText
    """Stands for a character that is not shown, and for a run of removed ones."""
    bar_full: SafeText
    bar_parts: tuple[SafeText, ...]
    """One eighth to seven eighths of a cell; empty where the terminal has no such signs."""
    bar_empty: SafeText
    up: SafeText
    down: SafeText
    spark: tuple[SafeText, ...]
    """Lowest to highest."""
    separator: SafeText
    rule: SafeText
    dash: SafeText
    bullet: SafeText
    arrow: SafeText
    vertical: SafeText


_UNICODE_AND_ASCII = {
    "warning": "▲!",
    "critical": "✖x",
    "good": "●*",
    "unknown": "◌?",
    "waiting": "○o",
    "derived": "~~",
    "missing": "–-",
    "ellipsis": "…~",
    "cursor": "▌>",
    "mark": "●*",
    "newline": "⏎|",
    "tab": "⇥>",
    "replaced": "\ufffd?",
    "bar_full": "█#",
    "bar_empty": "░.",
    "up": "▲^",
    "down": "▼v",
    "separator": "·-",
    "rule": "─-",
    "dash": "–-",
    "bullet": "•*",
    "arrow": "→>",
    "vertical": "│|",
}


def _set(which: int, bar_parts: str, spark: str) -> Signs:
    single = {name: SafeText(pair[which]) for name, pair in _UNICODE_AND_ASCII.items()}
    several = {"bar_parts": bar_parts, "spark": spark}
    return Signs(**single, **{name: tuple(map(SafeText, each)) for name, each in several.items()})  # type: ignore[arg-type]


UNICODE: Final = _set(0, "▏▎▍▌▋▊▉", "▁▂▃▄▅▆▇█")
ASCII: Final = _set(1, "", "_.-=+*%#")

signs: Final = replace(UNICODE)
"""The set in use. Read its fields when painting, not when importing: `use_ascii` changes them."""

OWN: Final = frozenset(
    "".join(
        ["\n", *map(chr, range(0x20, 0x7F))]
        + ["".join(sign) for each in (UNICODE, ASCII) for sign in vars(each).values()]
    )
)
"""What our own words are made of: safe to show, each in one cell (a newline apart)."""


def use_ascii(wanted: bool = True) -> None:
    """Chooses the set for the whole process, once, before anything is drawn."""
    chosen = ASCII if wanted else UNICODE
    for field in fields(Signs):
        # Frozen for everybody else: this is the one place where the set in use may change.
        object.__setattr__(signs, field.name, getattr(chosen, field.name))


def in_ascii() -> bool:
    """True while the ASCII set is in use."""
    return signs.missing == ASCII.missing


def ascii_wanted(encoding: str | None, environ: Mapping[str, str]) -> bool:
    """True if the terminal can't be trusted with more than ASCII.

    `encoding` is that of the stream written to (None if it tells none). TERM=linux and the real
    VT terminals have a few hundred glyphs at most. Without a locale that names UTF-8 the terminal
    most likely shows Latin-1, whatever Python's UTF-8 mode made of the stream; the first of
    LC_ALL, LC_CTYPE and LANG that is set counts, as in setlocale(3). None of them set says
    nothing: macOS and containers often have none, and then the stream decides.
    """
    stream = (encoding or "ascii").lower().replace("_", "-").replace("-", "")
    if stream not in {"utf8", "utf8sig", "cp65001"}:
        return True
    if environ.get("TERM", "").startswith(("linux", "vt1", "vt2", "vt3", "ansi", "cons25")):
        return True
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if locale := environ.get(name):
            return "utf8" not in locale.lower().replace("-", "")
    return False
