"""How many cells safe text takes, and text brought to a given number of cells.

Everything here takes text that has passed `text.safe` or `text.safe_block`: then Textual, wcwidth
and terminals agree on every width (`cells`). Import these names from `text`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from agentco_tui import cells
from agentco_tui.signs import SafeText, signs

Align = Literal["left", "right", "center"]


def char_class(*tables: str) -> str:
    """The ranges of `cells` as the inside of a regular expression's character class."""
    out = []
    for span in " ".join(tables).split():
        first, _, last = span.partition("-")
        out.append(f"\\U{int(first, 16):08x}-\\U{int(last or first, 16):08x}")
    return "".join(out)


MARKS: Final = char_class(cells.MARKS)
"""The marks that may be shown, as the inside of a character class."""
MARK: Final = re.compile(f"[{MARKS}]")
_WIDE: Final = re.compile(f"[{char_class(cells.WIDE)}]")
_UNEVEN: Final = re.compile(f"{_WIDE.pattern}|{MARK.pattern}")
_CLUSTER: Final = re.compile(f".[{MARKS}]*", re.DOTALL)


def cell_width(text: str) -> int:
    """Cells that a line of SafeText takes; of a block the sum of its lines."""
    if text.isascii():
        return len(text) - text.count("\n")
    return _uneven_width(text) if len(text) < 200 else _count_cells(text)


def _count_cells(text: str) -> int:
    if not _UNEVEN.search(text):
        return len(text) - text.count("\n")
    return len(text) - text.count("\n") + len(_WIDE.findall(text)) - len(MARK.findall(text))


_uneven_width: Final = lru_cache(maxsize=4_096)(_count_cells)


def head(text: str, width: int) -> str:
    """The longest beginning of `text` that takes at most `width` cells, its marks whole."""
    if width <= 0:
        return ""
    if text.isascii() or not _UNEVEN.search(text):
        return text[:width]
    taken = 0
    for cluster in _CLUSTER.finditer(text):
        taken += 2 if _WIDE.match(cluster[0]) else 1
        if taken > width:
            return text[: cluster.start()]
    return text


def clip(text: SafeText, width: int) -> SafeText:
    """`text`, cut to at most `width` cells with `…` at the end if it is longer."""
    if width <= 0:
        return SafeText("")
    if cell_width(text) <= width:
        return text
    return SafeText(head(text, width - 1) + signs.ellipsis)


def fit(text: SafeText, width: int, align: Align = "left") -> SafeText:
    """`text` in exactly `width` cells: cut with `…`, or filled with blanks.

    A wide character that would be split is left out and a blank takes its cell.
    """
    if "\n" in text:
        text = SafeText(text.replace("\n", signs.newline))
    text = clip(text, width)
    blank = max(width, 0) - cell_width(text)
    if align == "right":
        return SafeText(" " * blank + text)
    before = blank // 2 if align == "center" else 0
    return SafeText(" " * before + text + " " * (blank - before))


def wrap(text: SafeText, width: int) -> list[SafeText]:
    """The lines of `text`, none wider than `width` cells, broken at blanks where there are any.

    Nothing is lost but the blanks at the breaks; a wide character in a width of 1 becomes a sign.
    """
    width = max(width, 1)
    lines: list[SafeText] = []
    for line in text.split("\n"):
        rest = line
        while cell_width(rest) > width:
            first = head(rest, width)
            if not first:
                lines.append(signs.replaced)
                rest = rest[1:]
                continue
            at = len(first)
            if rest[at] != " ":
                blank = first.rstrip(" ").rfind(" ")
                # Blanks at the very start are an indent, no place to break.
                if first[:blank].strip(" "):
                    at = blank
            lines.append(SafeText(rest[:at].rstrip(" ")))
            rest = rest[at:].lstrip(" ")
        lines.append(SafeText(rest))
    return lines
