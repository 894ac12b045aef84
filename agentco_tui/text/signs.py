"""The symbols that the program draws (`signs`), in Unicode or, for terminals that need it, ASCII.

Widgets and screens read them as `signs.warning`, `signs.ellipsis` and so on. (The platform is the
remote service whose records they show.) One set is in use for the whole process: `needs_ascii`
tells by the environment which one, and `use_ascii` selects it at the start. The type `SafeText` is
defined here too, because the symbols are of that type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NewType

SafeText = NewType("SafeText", str)
"""Text that may be shown unchanged: the program's own, or cleaned by `agentco_tui.text.safe`.

Other rooms import it from `agentco_tui.text`."""

_ascii_signs: list[SafeText] = []
"""The ASCII forms, in the order in which `Signs` declares its fields."""


def _sign(unicode: str, ascii_: str) -> SafeText:
    """Return the Unicode form of a symbol, and keep its ASCII form for the ASCII set."""
    _ascii_signs.append(SafeText(ascii_))
    return SafeText(unicode)


class Signs:
    """One set of signs; each takes one cell of the terminal.

    A plain class and no msgspec one, because `--help` imports it and must not wait for msgspec.
    """

    warning: Final = _sign("▲", "!")
    critical: Final = _sign("✖", "x")
    good: Final = _sign("●", "*")
    unknown: Final = _sign("◌", "?")
    waiting: Final = _sign("○", "o")  # a task that waits for a decision
    derived: Final = _sign("~", "~")  # before a figure that the program computed itself
    missing: Final = _sign("–", "-")  # in place of a value that the platform did not send
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
    horizontal: Final = _sign("─", "-")
    bar_over: Final = _sign("▶", ">")  # the end of a bar of more than 100 %
    up: Final = _sign("↑", "^")
    down: Final = _sign("↓", "v")
    separator: Final = _sign("·", "-")
    arrow: Final = _sign("→", ">")
    inward: Final = _sign("›", ">")  # between the parts of the path to the open record
    vertical: Final = _sign("│", "|")
    heights: Final = _sign("▁▂▃▄▅▆▇█", "_.:=+*%#")  # of a sparkline, from zero to the maximum
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
"""The set in use. Read a field when painting and not at import: `use_ascii` changes them all."""

OWN_CHARACTERS: Final = frozenset(
    "".join(["\n", *map(chr, range(0x20, 0x7F)), *vars(UNICODE).values(), *vars(ASCII).values()])
)
"""The characters of the program's own texts, as opposed to those of the platform: safe to show,
and one cell wide, except the newline."""

COMMON_CHARACTERS: Final = (
    OWN_CHARACTERS.difference("\n").union(map(chr, range(0xC0, 0x100))).union("–—‘’‚“”„«»‹›•€£§°")
)
"""Our own characters without the newline, and those of most texts in languages with Latin letters:
shown unchanged, and one cell wide.

Whether a text has others is known without the patterns of all of Unicode, and compiling those takes
longer than anything else in a short command (`tests/text/test_cells.py` compares them).
"""


def use_ascii(wanted: bool = True) -> None:
    """Choose the set for the whole process, once, before anything is drawn."""
    chosen = UNICODE
    if wanted:
        chosen = ASCII
    # Written past `__setattr__`, so that no other code can change the set in use.
    vars(signs).update(vars(chosen))


def in_ascii() -> bool:
    """Return whether the ASCII set is in use."""
    return signs.missing == ASCII.missing


def needs_ascii(encoding: str | None, environ: Mapping[str, str]) -> bool:
    """Return whether the terminal may not be able to show more than ASCII.

    `encoding` is that of the output stream; None if the stream has none. TERM=linux and hardware VT
    terminals have a few hundred glyphs at most. If the locale does not name UTF-8, the terminal
    most likely shows Latin-1, even if Python's UTF-8 mode encodes the stream as UTF-8; the first of
    LC_ALL, LC_CTYPE and LANG that is set counts, as in setlocale(3). If none of them is set (often
    on macOS and in containers), the stream's encoding decides.
    """
    encoding_name = (encoding or "ascii").lower().replace("_", "").replace("-", "")
    if encoding_name not in {"utf8", "utf8sig", "cp65001"}:
        return True
    if environ.get("TERM", "").startswith(("linux", "vt1", "vt2", "vt3", "ansi", "cons25")):
        return True
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        locale = environ.get(name)
        if locale:
            return "utf8" not in locale.lower().replace("-", "")
    return False
