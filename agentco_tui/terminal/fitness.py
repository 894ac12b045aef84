"""Whether this terminal can show the dashboard, and how: refusal, ASCII, colours, size.

Nothing here imports Textual, so it can be asked (by `doctor` too) before that costs anything.
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
from agentco_tui.text.signs import ascii_wanted, use_ascii

_PLAIN: Final = frozenset({"", "dumb", "unknown"})
_SIXTEEN: Final = ("linux", "vt", "ansi", "cons25")
_TRUE: Final = ("alacritty", "foot", "wezterm", "xterm-ghostty", "xterm-kitty", "contour")
"""Terminals that have true colour, by what TERM begins with, also where COLORTERM is not set."""
_TRUE_COLOUR: Final = 16_777_216
SYSTEMS: Final = {16: "standard", 256: "256", _TRUE_COLOUR: "truecolor"}
"""What Textual calls it, in TEXTUAL_COLOR_SYSTEM."""
SIXTEEN_THEMES: Final = {
    **dict.fromkeys((None, "agentco-dark", "agentco-contrast"), "ansi-dark"),
    "agentco-light": "ansi-light",
}
"""What is taken where the terminal has 16 colours: they are its own, and it knows its ground."""
HANDLER: Final = "agentco-ascii"
"""Name of an error handler of encoders that puts ASCII of the same width for what an encoding
lacks. Python's own would write `\\u2502`: six cells for one, so every row shifts."""


class Fitness(msgspec.Struct, frozen=True):
    """What the terminal can do."""

    refusal: str | None  # one sentence for a person why the dashboard can't run here, or None
    ascii: bool  # only ASCII is safe to write
    colours: int  # 0 (NO_COLOR, or none), 16, 256 or 16,777,216
    columns: int
    rows: int
    term: str  # TERM as set
    encoding: str  # of the stream that is drawn on


def check(
    environ: Mapping[str, str] = os.environ,
    stdin: TextIO | None = sys.__stdin__,
    stdout: TextIO | None = sys.__stdout__,
    stderr: TextIO | None = sys.__stderr__,
) -> Fitness:
    """Look at the environment and the three streams (None: closed). Changes nothing."""
    term = environ.get("TERM", "")
    canvas = stderr if _is_terminal(stderr) else stdout
    encoding = (canvas.encoding if canvas else None) or "ascii"
    columns, rows = shutil.get_terminal_size()
    as_set = environ
    coerced = environ.get("LC_CTYPE", "").lower() in {"c.utf-8", "c.utf8", "utf-8"}
    if coerced and environ.get("LANG") in {"C", "POSIX"}:
        # For LANG=C, Python adds LC_CTYPE=C.UTF-8 (PEP 538).
        as_set = {name: value for name, value in environ.items() if name != "LC_CTYPE"}
    kind, refusal = term.lower(), None
    if not _is_terminal(stdout):
        refusal = "the dashboard needs a terminal on standard output"
    elif not _is_terminal(stdin):
        refusal = "the dashboard needs a terminal on standard input, for the keys"
    elif kind in _PLAIN:
        named = f"TERM={term} says that this terminal" if term else "TERM is not set: it"
        refusal = f"{named} can't draw a screen"
    return Fitness(
        refusal=refusal and f"{refusal}; `agentco-tui --plain` and `status` work without",
        ascii=ascii_wanted(encoding, as_set),
        colours=_colours(kind, environ),
        columns=columns,
        rows=rows,
        term=term,
        encoding=encoding,
    )


def prepare(fitness: Fitness, environ: MutableMapping[str, str] = os.environ) -> None:
    """Make this process write what the terminal can show. Call once, before Textual is imported.

    In ASCII the streams get that encoding with `ascii_for` for the rest, so that Textual's
    own borders and scroll bars come out as `|`, `-`, `+` and `#` and rows keep their width.
    """
    if fitness.ascii:
        use_ascii()
    for stream in (sys.__stdout__, sys.__stderr__):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="ascii" if fitness.ascii else None, errors=HANDLER)
    if fitness.colours != _TRUE_COLOUR:
        environ.pop("COLORTERM", None)
    if environ.get("TEXTUAL_COLOR_SYSTEM") not in SYSTEMS.values():
        # Of a word that it does not know Textual makes a KeyError.
        environ["TEXTUAL_COLOR_SYSTEM"] = SYSTEMS.get(fitness.colours, "standard")


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _colours(term: str, environ: Mapping[str, str]) -> int:
    """How many colours there are. What the environment says may be of another terminal: COLORTERM
    survives sudo, su and GNU screen, and is not sent over SSH.
    """
    if term in _PLAIN or environ.get("NO_COLOR") is not None:
        return 0
    for colours, system in SYSTEMS.items():
        if environ.get("TEXTUAL_COLOR_SYSTEM") == system:
            return colours
    if term.startswith(_SIXTEEN):
        return 16
    in_tmux = "TMUX" in environ and term.startswith(("tmux", "screen"))
    in_screen = "STY" in environ and not in_tmux  # screen 4 takes true colours for dim and reverse
    told = environ.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}
    # tmux lowers true colours for the terminal it runs in, better than could be done here.
    if in_tmux or (told and not in_screen) or term.startswith(_TRUE) or term.endswith("direct"):
        return _TRUE_COLOUR
    return 256 if term.endswith("256color") else 16


def ascii_for(character: str) -> str:
    """ASCII for one character, as many cells wide: `é` is `e`, `│` is `|`, the unknown is `?`."""
    name = unicodedata.name(character, "")
    if name.startswith("BOX DRAWINGS"):
        crossing = " AND " in name or "DIAGONAL" in name
        return "+" if crossing else "-" if re.search("HORIZONTAL|LEFT|RIGHT", name) else "|"
    if name.endswith(" BLOCK"):
        return "|" if re.search("LEFT|RIGHT", name) else "-" if "EIGHTH" in name else "#"
    width = cell_width(character)
    near = nearest_ascii(character)
    return near if len(near) == width else "?" * width


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(map(ascii_for, missing)), error.end


codecs.register_error(HANDLER, _replaced)
