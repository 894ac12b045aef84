"""Whether this terminal can show the dashboard, and how: refusal, ASCII, colours, size.

Nothing here imports Textual, so that it can be checked before that takes time, also by the command
`agentco-tui doctor`, which finds the causes of problems.
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
SYSTEMS: Final = {16: "standard", 256: "256", _TRUE_COLOUR: "truecolor"}
"""The values of TEXTUAL_COLOR_SYSTEM, by number of colours."""
SIXTEEN_THEMES: Final = {
    **dict.fromkeys((None, "agentco-dark", "agentco-contrast"), "ansi-dark"),
    "agentco-light": "ansi-light",
}
"""Themes that replace others if there are 16 colours: these use the terminal's own colours."""
HANDLER: Final = "agentco-ascii"
"""Name of an encoding error handler that writes ASCII of the same width for a character that the
encoding lacks. Python's own writes `\\u2502`: six cells instead of one, which shifts the row."""


class Fitness(msgspec.Struct, frozen=True):
    """What the terminal can do."""

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
    """Of the stream that the picture goes to."""


def check(
    environ: Mapping[str, str] = os.environ,
    stdin: TextIO | None = sys.__stdin__,
    stdout: TextIO | None = sys.__stdout__,
    stderr: TextIO | None = sys.__stderr__,
) -> Fitness:
    """Examine the environment and the three streams (None: closed), without changing anything."""
    term = environ.get("TERM", "")
    canvas = stderr if _is_terminal(stderr) else stdout
    encoding = (canvas.encoding if canvas else None) or "ascii"
    columns, rows = shutil.get_terminal_size()
    as_set = environ  # the variables as the user set them
    coerced = environ.get("LC_CTYPE", "").lower() in {"c.utf-8", "c.utf8", "utf-8"}
    if coerced and environ.get("LANG") in {"C", "POSIX"}:
        # For LANG=C, Python adds LC_CTYPE=C.UTF-8 (PEP 538).
        as_set = {name: value for name, value in environ.items() if name != "LC_CTYPE"}
    refusal = _refusal(term, stdin, stdout)
    if refusal is not None:
        refusal += "; `agentco-tui --plain` and `status` work without"
    return Fitness(
        refusal=refusal,
        ascii=needs_ascii(encoding, as_set),
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
        subject = f"TERM={term} says that this terminal" if term else "TERM is not set: it"
        return f"{subject} can't draw a screen"
    return None


def prepare(fitness: Fitness, environ: MutableMapping[str, str] = os.environ) -> None:
    """Make this process write only what the terminal can show. Call it before Textual is imported.

    In ASCII the streams get that encoding with `ascii_for` for the rest, so that Textual's
    own borders and scroll bars come out as `|`, `-`, `+` and `#` and rows keep their width.
    """
    if fitness.ascii:
        use_ascii()  # the program draws its own signs in ASCII from now on
    for stream in (sys.__stdout__, sys.__stderr__):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="ascii" if fitness.ascii else None, errors=HANDLER)
    if fitness.colours != _TRUE_COLOUR:
        environ.pop("COLORTERM", None)
    if environ.get("TEXTUAL_COLOR_SYSTEM") not in SYSTEMS.values():
        # Textual raises KeyError for an unknown value.
        environ["TEXTUAL_COLOR_SYSTEM"] = SYSTEMS.get(fitness.colours, "standard")


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _colours(term: str, environ: Mapping[str, str]) -> int:
    """How many colours the terminal has.

    The environment may describe another terminal: COLORTERM survives sudo, su and GNU screen, and
    is not sent over SSH.
    """
    if term in _NO_SCREEN or environ.get("NO_COLOR") is not None:
        return 0
    for colours, system in SYSTEMS.items():
        if environ.get("TEXTUAL_COLOR_SYSTEM") == system:
            return colours
    if term.startswith(_SIXTEEN_COLOURS):
        return 16
    in_tmux = "TMUX" in environ and term.startswith(("tmux", "screen"))
    in_screen = "STY" in environ and not in_tmux  # screen 4 takes true colours for dim and reverse
    is_declared = environ.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}
    is_known = term.startswith(_TRUE_COLOUR_TERMINALS) or term.endswith("direct")
    # tmux converts true colours for the terminal it runs in, better than could be done here.
    if in_tmux or is_known or (is_declared and not in_screen):
        return _TRUE_COLOUR
    return 256 if term.endswith("256color") else 16


def ascii_for(character: str) -> str:
    """ASCII of the same width for a character: `e` for `é`, `|` for `│`, `?` for an unknown one."""
    name = unicodedata.name(character, "")
    if name.startswith("BOX DRAWINGS"):
        if " AND " in name or "DIAGONAL" in name:
            return "+"
        return "-" if re.search("HORIZONTAL|LEFT|RIGHT", name) else "|"
    if name.endswith(" BLOCK"):
        if re.search("LEFT|RIGHT", name):
            return "|"
        return "-" if "EIGHTH" in name else "#"
    width = cell_width(character)
    near = nearest_ascii(character)
    return near if len(near) == width else "?" * width


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(map(ascii_for, missing)), error.end


codecs.register_error(HANDLER, _replaced)
