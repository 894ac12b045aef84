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

from agentco_tui.signs import ascii_wanted, use_ascii
from agentco_tui.text import cell_width, nearest_ascii

_PLAIN: Final = frozenset({"", "dumb", "unknown"})
_SIXTEEN: Final = ("linux", "vt", "ansi", "cons25")
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
    if kind in _PLAIN or environ.get("NO_COLOR") is not None:
        colours = 0
    elif kind.startswith(_SIXTEEN):
        colours = 16
    elif environ.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        colours = 16_777_216
    else:
        colours = 256 if kind.endswith(("256color", "kitty", "direct")) else 16
    return Fitness(
        refusal=refusal and f"{refusal}; `agentco-tui status` and `agentco-tui tail` work without",
        ascii=ascii_wanted(encoding, as_set),
        colours=colours,
        columns=columns,
        rows=rows,
        term=term,
        encoding=encoding,
    )


def prepare(fitness: Fitness, environ: MutableMapping[str, str] = os.environ) -> None:
    """Make this process write what the terminal can show. Call once, before Textual's app exists.

    In ASCII the streams get that encoding with `ascii_for` for the rest, so that Textual's
    own borders and scroll bars come out as `|`, `-`, `+` and `#` and rows keep their width.
    """
    if fitness.ascii:
        use_ascii()
    for stream in (sys.__stdout__, sys.__stderr__):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="ascii" if fitness.ascii else None, errors=HANDLER)
    if fitness.colours == 16:
        # COLORTERM survives sudo, su and screen; the console they run on has 16 colours all the
        # same, and Textual asks this variable first.
        environ.pop("COLORTERM", None)


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


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
