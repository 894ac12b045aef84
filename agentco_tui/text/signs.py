"""The signs the program itself draws, in Unicode and in ASCII for terminals that need it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NewType

import msgspec
from msgspec.structs import astuple, force_setattr, replace

SafeText = NewType("SafeText", str)
"""Text that may be shown as it is; see `text`, which is where to import it from."""

_ascii: list[SafeText] = []


def _sign(unicode: str, ascii_: str) -> SafeText:
    _ascii.append(SafeText(ascii_))
    return SafeText(unicode)


class Signs(msgspec.Struct, frozen=True):
    """One set of signs; each takes one cell."""

    warning: SafeText = _sign("▲", "!")
    critical: SafeText = _sign("✖", "x")
    good: SafeText = _sign("●", "*")
    unknown: SafeText = _sign("◌", "?")
    waiting: SafeText = _sign("○", "o")  # stands for what waits for a person, which is known well
    derived: SafeText = _sign("~", "~")  # stands before a figure that was worked out here
    missing: SafeText = _sign("–", "-")  # stands for a field that was not sent
    ellipsis: SafeText = _sign("…", "~")
    cursor: SafeText = _sign("▌", ">")
    mark: SafeText = _sign("■", "#")  # stands before a marked row
    newline: SafeText = _sign("⏎", "|")
    tab: SafeText = _sign("⇥", ">")
    replaced: SafeText = _sign("\ufffd", "?")
    """Stands for a character that is not shown, and for a run of removed ones."""
    bar_full: SafeText = _sign("█", "#")
    bar_parts: SafeText = _sign("▏▎▍▌▋▊▉", "")
    """One eighth to seven eighths of a cell; empty where the terminal has no such signs."""
    bar_empty: SafeText = _sign("─", "-")
    bar_over: SafeText = _sign("▶", ">")  # what is above the whole sticks out of a bar
    up: SafeText = _sign("↑", "^")
    down: SafeText = _sign("↓", "v")
    separator: SafeText = _sign("·", "-")
    arrow: SafeText = _sign("→", ">")
    inward: SafeText = _sign("›", ">")  # stands between a spot and what was entered from there
    vertical: SafeText = _sign("│", "|")
    heights: SafeText = _sign("▁▂▃▄▅▆▇█", "_.:=+*%#")  # nothing, and more and more of it
    spread: SafeText = _sign("░", "/")  # between the least and the most that may come


UNICODE: Final = Signs()
ASCII: Final = Signs(*_ascii)

signs: Final = replace(UNICODE)
"""The set in use. Read its fields when painting, not when importing: `use_ascii` changes them."""

OWN: Final = frozenset(
    "".join(["\n", *map(chr, range(0x20, 0x7F)), *astuple(UNICODE), *astuple(ASCII)])
)
"""What our own words are made of: safe to show, each in one cell (a newline apart)."""


def use_ascii(wanted: bool = True) -> None:
    """Chooses the set for the whole process, once, before anything is drawn."""
    chosen = ASCII if wanted else UNICODE
    for name in Signs.__struct_fields__:
        # Frozen for everybody else: this is the one place where the set in use may change.
        force_setattr(signs, name, getattr(chosen, name))


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
