"""Characters that a terminal's encoding lacks, as ASCII of the same width.

Textual draws borders, scroll bars and its own signs in Unicode, and Python writes what an
encoding lacks as `\\u2502`: six cells for one, so every row shifts. An error handler for the
encoder puts ASCII in their place: nothing above needs to know (SAFETY "Ends of life").
"""

from __future__ import annotations

import codecs
import unicodedata
from typing import Final

from agentco_tui.text import cell_width

HANDLER: Final = "agentco-ascii"
"""The name to give as `errors=`."""

_DRAWN: Final = {
    **dict.fromkeys("─━═╌╍┄┅┈┉╴╶╸╺╼╾▔▁▂‾⎯", "-"),
    **dict.fromkeys("│┃║╎╏┆┇┊┋╵╷╹╻╽╿▏▎▍▌▐▕▊▋▉┠┨", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬┷┯╪╫╞╡", "+"),
    **dict.fromkeys("█▇▆▅▄▃▀▓▟▙▛▜▚▞", "#"),
    **dict.fromkeys("▒░▖▗▘▝", ":"),
    **dict.fromkeys("•●◉⬤⭘○◌◦·∙", "*"),
    **dict.fromkeys("▲△▴↑", "^"),
    **dict.fromkeys("▼▽▾↓", "v"),
    **dict.fromkeys("▶▷▸►→❯›", ">"),
    **dict.fromkeys("◀◁◂◄←❮‹", "<"),
    **dict.fromkeys("✖✗✘×╳", "x"),
    **dict.fromkeys("✓✔", "v"),
    **dict.fromkeys("–—‐‑‒−", "-"),
    **dict.fromkeys("‘’‚‛", "'"),
    **dict.fromkeys("“”„‟", '"'),
    "…": ".",
    "⭑": "*",
    "\u00a0": " ",
}


def ascii_for(character: str) -> str:
    """ASCII for one character, as many cells wide: `é` is `e`, `│` is `|`, the unknown is `?`."""
    if found := _DRAWN.get(character):
        return found
    width = cell_width(character)
    letter = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode("ascii")
    if letter.isprintable() and len(letter) == width:
        return letter
    return "?" * width


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(map(ascii_for, missing)), error.end


codecs.register_error(HANDLER, _replaced)
