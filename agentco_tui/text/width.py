"""Measures text in terminal cells, and cuts, pads and wraps it to a number of cells.

A cell is one character position of the terminal: most characters take one, CJK characters and emoji
two ("wide"), combining marks none. The table cells.txt lists the characters that may be shown, by
their width; on these Textual, wcwidth and all tested terminals agree. So everything here takes
`SafeText`: text that `clean_line` or `clean_block` has reduced to those characters (and newlines).
`COMMON_CHARACTERS` are those of most texts, all one cell wide; `signs` are the program's symbols.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Final, Literal

from agentco_tui.text.memoized import memoized
from agentco_tui.text.patterns import lazy_pattern
from agentco_tui.text.signs import COMMON_CHARACTERS, SafeText, signs

Align = Literal["left", "right"]


def _read_character_ranges() -> dict[str, str]:
    """Return the sections of cells.txt by name."""
    table = Path(__file__).with_name("cells.txt").read_text(encoding="ascii")
    ranges_by_name: dict[str, str] = {}
    for section in table.split("\n[")[1:]:
        name, _, ranges = section.partition("]")
        ranges_by_name[name] = ranges
    return ranges_by_name


SHOWN_CHARACTERS: Final = _read_character_ranges()
"""The characters that may be shown, in hexadecimal ranges such as "20-7e a1".

The keys are `narrow` (one cell), `wide` (two cells) and `marks` (combining marks, no cell)."""

_ABOVE_FFFF: Final = "\U00010000-\U0010ffff"


def character_regex(*tables: str, negated: bool = False) -> str:
    """Return a regular expression for one character that is in some of the tables.

    The tables are values of `SHOWN_CHARACTERS`. `negated` asks for one that is in none of them.
    Characters above U+FFFF are matched separately, because `re` compares each character with all
    ranges of a class above U+FFFF, one after the other.
    """
    bounds: list[tuple[int, int]] = []
    for span in " ".join(tables).split():
        first, _, last = span.partition("-")
        bounds.append((int(first, 16), int(last or first, 16)))
    # Highest first: emoji come before the scripts of antiquity, which hardly occur.
    bounds.sort(reverse=True)
    low = "".join(f"{chr(first)}-{chr(last)}" for first, last in bounds if first < 0x10000)
    high = "".join(f"{chr(first)}-{chr(last)}" for first, last in bounds if first >= 0x10000)
    if negated:
        return f"(?:[^{low}{_ABOVE_FFFF}]|[{_ABOVE_FFFF}](?<![{high}]))"
    return f"(?:[{low}]|[{_ABOVE_FFFF}](?<=[{high}]))"


MARK_REGEX: Final = character_regex(SHOWN_CHARACTERS["marks"])
"""Matches one combining mark."""
MARK_PATTERN: Final = lazy_pattern(MARK_REGEX)
_ONE_CELL_OR_NEWLINE: Final = COMMON_CHARACTERS.union("\n")
_NOT_ONE_CELL: Final = lazy_pattern(
    lambda: character_regex(SHOWN_CHARACTERS["wide"], SHOWN_CHARACTERS["marks"])
)


def cell_width(text: str) -> int:
    """Return how many cells a line of SafeText takes; for a block, the sum of its lines."""
    if text.isascii():
        return len(text) - text.count("\n")
    if len(text) < 200:
        return _remembered_width(text)
    return _count_cells(text)


def _count_cells(text: str) -> int:
    if _ONE_CELL_OR_NEWLINE.issuperset(text):
        return len(text) - text.count("\n")
    special = _NOT_ONE_CELL.findall(text)
    marks = sum(1 for char in special if unicodedata.combining(char))
    wide = len(special) - marks
    return len(text) - text.count("\n") + wide - marks


_remembered_width: Final = memoized(4_096)(_count_cells)


def prefix_of_width(text: str, width: int) -> str:
    """Return the longest prefix of `text` that takes at most `width` cells.

    A character keeps its combining marks.
    """
    if width <= 0:
        return ""
    if _ONE_CELL_OR_NEWLINE.issuperset(text):
        return text[:width]
    surplus = 0  # cells taken so far, less one for each character; may be negative
    for match in _NOT_ONE_CELL.finditer(text):
        cells_before = match.start() + surplus
        if cells_before > width:
            break
        if unicodedata.combining(match[0]):
            surplus -= 1
        elif cells_before + 2 > width:
            return text[: match.start()]
        else:
            surplus += 1
    return text[: width - surplus]


def clip(text: SafeText, width: int) -> SafeText:
    """Return `text` cut to at most `width` cells, with `…` at the end if it was longer."""
    if width <= 0:
        return SafeText("")
    if cell_width(text) <= width:
        return text
    return SafeText(prefix_of_width(text, width - 1) + signs.ellipsis)


def fit(text: SafeText, width: int, align: Align = "left") -> SafeText:
    """Return `text` in exactly `width` cells: cut with `…`, or padded with blanks.

    A wide character that would be split is left out, and a blank takes its place.
    """
    if len(text) <= width and text.isascii() and "\n" not in text:  # as most texts are
        if align == "right":
            return SafeText(text.rjust(width))
        return SafeText(text.ljust(width))
    if "\n" in text:
        text = SafeText(text.replace("\n", signs.newline))
    text = clip(text, width)
    padding = " " * (max(width, 0) - cell_width(text))
    if align == "right":
        return SafeText(padding + text)
    return SafeText(text + padding)


def fit_ends(text: SafeText, width: int) -> SafeText:
    """Return `text` in exactly `width` cells; if it is too long, it is cut before its last words.

    The words that stay take up to a third of the width.
    """
    tail_start = text.find(" ", len(text) - width // 3)
    if cell_width(text) > width and tail_start >= 0:
        tail = text[tail_start:]
        text = SafeText(clip(text, width - cell_width(tail)) + tail)
    return fit(text, width)


def wrap(text: SafeText, width: int) -> list[SafeText]:
    """Return the lines of `text`, none wider than `width` cells, broken at blanks if possible.

    Only the blanks at the breaks are dropped. In a width of 1, a wide character is replaced by a
    sign.
    """
    width = max(width, 1)
    lines: list[SafeText] = []
    for line in text.split("\n"):
        lines += _wrap_line(line, width)
    return lines


def _wrap_line(line: str, width: int) -> list[SafeText]:
    lines: list[SafeText] = []
    start = 0
    while start < len(line):
        # A cell takes three characters at most, so the rest of a long line need not be measured.
        prefix = prefix_of_width(line[start : start + 3 * width + 1], width)
        end = start + len(prefix)
        if end == len(line):
            break
        if not prefix:
            lines.append(signs.replaced)
            start += 1
            continue
        if line[end] != " " and prefix[-1] != " ":
            blank = prefix.rfind(" ")
            # Blanks at the very start are an indent, and no place to break.
            if blank > 0 and prefix[:blank].strip(" "):
                end = start + blank
        lines.append(SafeText(line[start:end].rstrip(" ")))
        start = end
        while line[start : start + 1] == " ":
            start += 1
    if start < len(line) or not line:
        lines.append(SafeText(line[start:]))
    return lines
