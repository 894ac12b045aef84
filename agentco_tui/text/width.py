"""How many cells safe text takes, and text brought to a given number of cells.

Everything here takes text that has passed `safe` or `safe_block`: then Textual, wcwidth and
terminals agree on every width (cells.txt).
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Final, Literal

from agentco_tui.text.memoized import memoized
from agentco_tui.text.patterns import lazy_pattern
from agentco_tui.text.signs import OWN, SafeText, signs

Align = Literal["left", "right"]


_PARTS: Final = Path(__file__).with_name("cells.txt").read_text(encoding="ascii").split("\n[")[1:]
CELLS: Final = {name: ranges for name, _, ranges in (part.partition("]") for part in _PARTS)}
"""The characters that may be shown as ranges "20-7e a1": `narrow`, `wide` and `marks`."""


def one_of(*tables: str, negated: bool = False) -> str:
    """Regular expression for one character of these tables, or one of no such table.

    Characters above U+FFFF are tried apart: in a class they are compared with one range after the
    other, for every character that is not found before.
    """
    spans = [span.partition("-") for span in " ".join(tables).split()]
    # Highest first: emoji come before the scripts that nobody has written for a thousand years.
    pairs = sorted(((int(a, 16), int(b or a, 16)) for a, _, b in spans), reverse=True)
    low = "".join(f"{chr(a)}-{chr(b)}" for a, b in pairs if a < 0x10000)
    high = "".join(f"{chr(a)}-{chr(b)}" for a, b in pairs if a >= 0x10000)
    if negated:
        return f"(?:[^{low}{_HIGH}]|[{_HIGH}](?<![{high}]))"
    return f"(?:[{low}]|[{_HIGH}](?<=[{high}]))"


_HIGH: Final = "\U00010000-\U0010ffff"
MARKS: Final = one_of(CELLS["marks"])
MARK: Final = lazy_pattern(MARKS)
_UNEVEN: Final = lazy_pattern(lambda: one_of(CELLS["wide"], CELLS["marks"]))


def cell_width(text: str) -> int:
    """Cells that a line of SafeText takes; of a block the sum of its lines."""
    if text.isascii():
        return len(text) - text.count("\n")
    return _uneven_width(text) if len(text) < 200 else _count_cells(text)


def _count_cells(text: str) -> int:
    if OWN.issuperset(text):
        return len(text) - text.count("\n")
    uneven = _UNEVEN.findall(text)
    marks = sum(1 for char in uneven if unicodedata.combining(char))
    return len(text) - text.count("\n") + len(uneven) - 2 * marks


_uneven_width: Final = memoized(4_096)(_count_cells)


def head(text: str, width: int) -> str:
    """The longest beginning of `text` that takes at most `width` cells, its marks whole."""
    if width <= 0:
        return ""
    more = 0  # cells taken so far beyond one for each character
    for found in () if OWN.issuperset(text) else _UNEVEN.finditer(text):
        taken = found.start() + more
        if taken > width:
            break
        if unicodedata.combining(found[0]):
            more -= 1
        elif taken + 2 > width:
            return text[: found.start()]
        else:
            more += 1
    return text[: width - more]


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
    if len(text) <= width and text.isascii() and "\n" not in text:  # as most cells are
        return SafeText(text.rjust(width) if align == "right" else text.ljust(width))
    if "\n" in text:
        text = SafeText(text.replace("\n", signs.newline))
    text = clip(text, width)
    blank = " " * (max(width, 0) - cell_width(text))
    return SafeText(blank + text if align == "right" else text + blank)


def fit_ends(text: SafeText, width: int) -> SafeText:
    """As `fit`; but of what is too long the last words stay, in up to a third of the characters."""
    at = text.find(" ", len(text) - width // 3)
    if cell_width(text) > width and at >= 0:
        text = SafeText(clip(text, width - cell_width(text[at:])) + text[at:])
    return fit(text, width)


def wrap(text: SafeText, width: int) -> list[SafeText]:
    """The lines of `text`, none wider than `width` cells, broken at blanks where there are any.

    Nothing is lost but the blanks at the breaks; a wide character in a width of 1 becomes a sign.
    """
    width = max(width, 1)
    lines: list[SafeText] = []
    for line in text.split("\n"):
        at = 0
        # A cell takes three characters at most, so no more of a long line has to be looked at.
        while len(first := head(line[at : at + 3 * width + 1], width)) < len(line) - at:
            if not first:
                lines.append(signs.replaced)
                at += 1
                continue
            end = at + len(first)
            if line[end] != " " and first[-1] != " ":
                blank = first.rfind(" ")
                # Blanks at the very start are an indent, no place to break.
                if blank > 0 and first[:blank].strip(" "):
                    end = at + blank
            lines.append(SafeText(line[at:end].rstrip(" ")))
            at = end
            while line[at : at + 1] == " ":
                at += 1
        if at < len(line) or not line:
            lines.append(SafeText(line[at:]))
    return lines
