"""Finds out what the terminal can show: whether the dashboard can run, ASCII only, colours, size.

`check_terminal` returns a `Fitness`, which `doctor` shows too; `prepare_output` then makes this
process write only what the terminal can show. Textual is not imported, so that the dashboard can
refuse to start before that takes time.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Mapping, MutableMapping
from typing import Final, TextIO

import msgspec

from agentco_tui.text import cell_width, nearest_ascii
from agentco_tui.text.signs import needs_ascii, use_ascii

_NO_SCREEN: Final = frozenset({"", "dumb", "unknown"})
"""Values of TERM for terminals that cannot place the cursor."""
_SIXTEEN_COLOURS: Final = ("linux", "vt", "ansi", "cons25")
"""Terminals that have 16 colours, by the beginning of TERM."""
_TRUE_COLOUR_TERMINALS: Final = (
    "alacritty",
    "foot",
    "wezterm",
    "xterm-ghostty",
    "xterm-kitty",
    "contour",
)
"""Terminals that have true colour even if COLORTERM is not set, by the beginning of TERM."""
_TRUE_COLOUR: Final = 16_777_216
COLOUR_SYSTEMS: Final = {16: "standard", 256: "256", _TRUE_COLOUR: "truecolor"}
"""The values of the environment variable TEXTUAL_COLOR_SYSTEM, by number of colours."""
THEMES_FOR_16_COLOURS: Final = {
    **dict.fromkeys((None, "agentco-dark", "agentco-contrast"), "ansi-dark"),
    "agentco-light": "ansi-light",
}
"""The themes for 16 colours, which use the terminal's own, by the theme that they replace."""
ASCII_ERROR_HANDLER: Final = "agentco-ascii"
"""Name of the codec error handler that writes ASCII of the same width for a character that the
encoding lacks. Python's "backslashreplace" would write `\\u2502`: six cells instead of one."""


class Fitness(msgspec.Struct, frozen=True):
    """What the terminal can show."""

    refusal: str | None
    """Why the dashboard cannot run here, as a sentence for the user; None if it can."""
    ascii: bool
    """Whether only ASCII is safe to write."""
    colours: int
    """0 (NO_COLOR, or none), 16, 256 or 16,777,216."""
    columns: int
    rows: int
    term: str
    """The environment variable TERM."""
    encoding: str
    """The encoding of the stream that the dashboard is drawn on."""


def check_terminal(
    environ: Mapping[str, str] = os.environ,
    stdin: TextIO | None = sys.__stdin__,
    stdout: TextIO | None = sys.__stdout__,
    stderr: TextIO | None = sys.__stderr__,
) -> Fitness:
    """Examine the environment and the three streams (None: closed), without changing anything."""
    term = environ.get("TERM", "")
    drawn_on = stdout
    if _is_terminal(stderr):
        drawn_on = stderr  # as Textual does
    encoding = "ascii"
    if drawn_on is not None and drawn_on.encoding:
        encoding = drawn_on.encoding
    columns, rows = shutil.get_terminal_size()
    user_environ = environ
    is_utf8_ctype = environ.get("LC_CTYPE", "").lower() in {"c.utf-8", "c.utf8", "utf-8"}
    if is_utf8_ctype and environ.get("LANG") in {"C", "POSIX"}:
        # For LANG=C, Python itself sets LC_CTYPE=C.UTF-8 (PEP 538).
        user_environ = {name: value for name, value in environ.items() if name != "LC_CTYPE"}
    refusal = _refusal(term, stdin, stdout)
    if refusal is not None:
        refusal += "; `agentco-tui --plain` and `status` work without"
    return Fitness(
        refusal=refusal,
        ascii=needs_ascii(encoding, user_environ),
        colours=_colours(term.lower(), environ),
        columns=columns,
        rows=rows,
        term=term,
        encoding=encoding,
    )


def _refusal(term: str, stdin: TextIO | None, stdout: TextIO | None) -> str | None:
    if not _is_terminal(stdout):
        return "the dashboard needs a terminal on standard output"
    if not _is_terminal(stdin):
        return "the dashboard needs a terminal on standard input, for the keys"
    if term.lower() in _NO_SCREEN:
        if not term:
            return "TERM is not set: it can't draw a screen"
        return f"TERM={term} says that this terminal can't draw a screen"
    return None


def prepare_output(fitness: Fitness, environ: MutableMapping[str, str] = os.environ) -> None:
    """Make this process write only what the terminal can show. Call it before Textual is imported.

    In ASCII mode, the streams encode other characters by `ascii_for`, so that Textual's borders and
    scroll bars become `|`, `-`, `+` and `#`, and rows keep their width.
    """
    encoding = None  # unchanged
    if fitness.ascii:
        use_ascii()
        encoding = "ascii"
    for stream in (sys.__stdout__, sys.__stderr__):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=encoding, errors=ASCII_ERROR_HANDLER)
    if fitness.colours != _TRUE_COLOUR:
        environ.pop("COLORTERM", None)
    if environ.get("TEXTUAL_COLOR_SYSTEM") not in COLOUR_SYSTEMS.values():
        # Textual raises KeyError for an unknown value.
        environ["TEXTUAL_COLOR_SYSTEM"] = COLOUR_SYSTEMS.get(fitness.colours, "standard")


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _colours(term: str, environ: Mapping[str, str]) -> int:
    """Return how many colours the terminal has: 0, 16, 256 or 16,777,216.

    COLORTERM may be that of another terminal, because sudo, su and GNU screen keep it; SSH does not
    send it.
    """
    if term in _NO_SCREEN or environ.get("NO_COLOR") is not None:
        return 0
    for colours, system in COLOUR_SYSTEMS.items():
        if environ.get("TEXTUAL_COLOR_SYSTEM") == system:
            return colours
    if term.startswith(_SIXTEEN_COLOURS):
        return 16
    in_tmux = "TMUX" in environ and term.startswith(("tmux", "screen"))
    # GNU screen 4 mistakes true colours for dim and reverse.
    in_screen = "STY" in environ and not in_tmux
    is_declared = environ.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}
    is_known = term.startswith(_TRUE_COLOUR_TERMINALS) or term.endswith("direct")
    # tmux converts true colours well for the terminal in which it runs.
    if in_tmux or is_known or (is_declared and not in_screen):
        return _TRUE_COLOUR
    if term.endswith("256color"):
        return 256
    return 16


def ascii_for(character: str) -> str:
    """Return ASCII of a character's width: `e` for `é`, `|` for `│`, `?` for an unknown one."""
    name = unicodedata.name(character, "")
    if name.startswith("BOX DRAWINGS"):
        if " AND " in name or "DIAGONAL" in name:
            return "+"
        if re.search("HORIZONTAL|LEFT|RIGHT", name):
            return "-"
        return "|"
    if name.endswith(" BLOCK"):
        if re.search("LEFT|RIGHT", name):
            return "|"
        if "EIGHTH" in name:
            return "-"
        return "#"
    width = cell_width(character)
    replacement = nearest_ascii(character)
    if len(replacement) != width:
        return "?" * width
    return replacement


def _encode_in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(map(ascii_for, missing)), error.end


codecs.register_error(ASCII_ERROR_HANDLER, _encode_in_ascii)
