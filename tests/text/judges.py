"""The three that measure text: rich (for Textual), wcwidth, and pyte as a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import pyte
import wcwidth
from rich.cells import cell_len


def widths(line: str) -> set[int]:
    """What rich and wcwidth, whole and by character, say that `line` takes: one figure is well."""
    return {cell_len(line), wcwidth.wcswidth(line), sum(wcwidth.wcwidth(char) for char in line)}


def columns_of_bars(rows: Sequence[str], width: int) -> list[list[int]]:
    """Draws each row on a line of a terminal; the columns at which it then shows "|"."""
    screen = pyte.Screen(width, len(rows))
    stream = pyte.Stream(screen)
    for number, row in enumerate(rows):
        stream.feed(f"\x1b[{number + 1};1H{row}")
    return [
        [column for column in range(width) if screen.buffer[number][column].data == "|"]
        for number in range(len(rows))
    ]
