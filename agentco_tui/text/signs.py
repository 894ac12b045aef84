"""The signs the program itself draws, in Unicode and in ASCII for terminals that need it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NewType

SafeText = NewType("SafeText", str)
"""Text that may be shown as it is; see `text`, which is where to import it from."""

_ascii_signs: list[SafeText] = []


def _sign(unicode: str, ascii_: str) -> SafeText:
    _ascii_signs.append(SafeText(ascii_))
    return SafeText(unicode)


class Signs:
    """One set of signs; each takes one cell.

    A plain class, because `--help` imports it, which must not wait for the records' library.
    """

    warning: Final = _sign("▲", "!")
    critical: Final = _sign("✖", "x")
    good: Final = _sign("●", "*")
    unknown: Final = _sign("◌", "?")
    waiting: Final = _sign("○", "o")  # a task that waits for a decision
    derived: Final = _sign("~", "~")  # before a figure that was computed here and not sent
    missing: Final = _sign("–", "-")  # in place of a field that was not sent
    ellipsis: Final = _sign("…", "~")
    cursor: Final = _sign("▌", ">")
    mark: Final = _sign("■", "#")  # before a marked row
    newline: Final = _sign("⏎", "|")
    tab: Final = _sign("⇥", ">")
    replaced: Final = _sign("\ufffd", "?")
    """Stands for a character that is not shown, and for a run of removed ones."""
    bar_full: Final = _sign("█", "#")
    bar_parts: Final = _sign("▏▎▍▌▋▊▉", "")
    """One eighth to seven eighths of a cell; empty where the terminal has no such signs."""
    bar_empty: Final = _sign("─", "-")
    bar_over: Final = _sign("▶", ">")  # the end of a bar whose share is above 100 %
    up: Final = _sign("↑", "^")
    down: Final = _sign("↓", "v")
    separator: Final = _sign("·", "-")
    arrow: Final = _sign("→", ">")
    inward: Final = _sign("›", ">")  # between the parts of the breadcrumb
    vertical: Final = _sign("│", "|")
    heights: Final = _sign("▁▂▃▄▅▆▇█", "_.:=+*%#")  # from nothing to the most, of a sparkline
    spread: Final = _sign("░", "/")  # the range of a forecast

    def __init__(self, texts: Mapping[str, SafeText]) -> None:
        """`texts`: every sign by its name; UNICODE and ASCII have them all."""
        vars(self).update(texts)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: only `use_ascii` changes the set in use."""
        raise AttributeError(f"the sign {name} cannot be set")


_NAMES: Final = tuple(Signs.__annotations__)
UNICODE: Final = Signs({name: getattr(Signs, name) for name in _NAMES})
ASCII: Final = Signs(dict(zip(_NAMES, _ascii_signs, strict=True)))

signs: Final = Signs(vars(UNICODE))
"""The set in use. Read its fields when painting, not when importing: `use_ascii` changes them."""

OWN: Final = frozenset(
    "".join(["\n", *map(chr, range(0x20, 0x7F)), *vars(UNICODE).values(), *vars(ASCII).values()])
)
"""The characters of our own texts: safe to show, and one cell wide, except the newline."""


def use_ascii(wanted: bool = True) -> None:
    """Choose the set for the whole process, once, before anything is drawn."""
    chosen = ASCII if wanted else UNICODE
    # The signs are declared Final, so that only this function changes the set in use.
    vars(signs).update(vars(chosen))


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
