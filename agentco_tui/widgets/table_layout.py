"""Which columns fit into a width, how wide each is and where it starts. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from agentco_tui.widgets.table_columns import Column

GAP = 2
"""Empty cells between two columns."""


class Placed(msgspec.Struct, frozen=True):
    """A column that is shown: its index among all columns, its left edge and its width."""

    index: int
    x: int
    width: int


class Layout(msgspec.Struct, frozen=True):
    """The columns shown, from left to right, and the cells they take together."""

    columns: tuple[Placed, ...]
    width: int


def arrange(columns: Sequence[Column[Any]], room: int, gap: int = GAP) -> Layout:
    """Fits columns into `room` cells.

    Columns that grow also give way first: they shrink to `min_width` before any is left out. Then
    the columns with the highest priority number go, the rightmost first among equals, until the
    rest fits; columns of priority 0 always stay. If those are still too wide, all shrink towards
    `min_width`, the one with most to give first. If even that is too wide, the layout is wider than
    the room and the table scrolls sideways. Room left over goes to the columns that grow, by their
    shares.
    """
    kept = [index for index, column in enumerate(columns) if column.shown]

    def total(widths: Sequence[int]) -> int:
        return sum(widths) + gap * max(0, len(widths) - 1)

    def least(index: int) -> int:
        column = columns[index]
        return min(max(1, column.min_width), max(1, column.width))

    def needed(index: int) -> int:
        return least(index) if columns[index].grow else max(1, columns[index].width)

    while total([needed(index) for index in kept]) > room:
        last = max(kept, key=lambda index: (columns[index].priority, index))
        if columns[last].priority <= 0:
            break
        kept.remove(last)
    widths = [max(1, columns[index].width) for index in kept]
    _take(widths, [needed(index) for index in kept], total(widths) - room)
    _take(widths, [least(index) for index in kept], total(widths) - room)
    spare = room - total(widths)
    if spare > 0:
        _give(widths, [columns[index].grow for index in kept], spare)
    placed = []
    x = 0
    for index, width in zip(kept, widths, strict=True):
        placed.append(Placed(index, x, width))
        x += width + gap
    return Layout(tuple(placed), max(0, x - gap))


def _take(widths: list[int], least: list[int], excess: int) -> None:
    """Takes up to `excess` cells from `widths`, none below its `least`, always from the one that
    has most to give.
    """
    slack = [width - low for width, low in zip(widths, least, strict=True)]
    while excess > 0 and any(slack):
        widest = max(range(len(slack)), key=slack.__getitem__)
        widths[widest] -= 1
        slack[widest] -= 1
        excess -= 1


def _give(widths: list[int], shares: list[int], spare: int) -> None:
    """Adds `spare` cells to `widths` by their shares; what doesn't divide goes from the left."""
    whole = sum(shares)
    if not whole:
        return
    given = 0
    for position, share in enumerate(shares):
        part = spare * share // whole
        widths[position] += part
        given += part
    for position, share in enumerate(shares):
        if given == spare:
            break
        if share:
            widths[position] += 1
            given += 1
