"""The columns of a table: what each says, which fit into a width and where they start. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import add
from typing import Any, Generic, TypeVar

import msgspec

from agentco_tui.text import Align, SafeText
from agentco_tui.text.row_filter import FilterColumn
from agentco_tui.widgets.tones import Cell

R = TypeVar("R")
"""The type of the records a table shows; the table itself knows nothing about it."""

GAP = 2  # empty cells between two columns
BY_CHOICE = 0.5  # the priority of a column that shows only because it was chosen


class Column(FilterColumn, Generic[R], frozen=True):
    key: str
    """The name the program uses: in sort settings, in filters, in tests. Unique in a table."""
    title: SafeText  # the header. Units belong here, once, not in every cell
    width: int
    cell: Callable[[R], Cell]
    """What to show. Called for rows on the screen, and once a record when a filter needs text."""
    cell_for_width: Callable[[R, int], Cell] | None = None
    """What to show in place of it where that depends on the width the column got."""
    min_width: int = 4  # what it may shrink to; one that grows does so before another is hidden
    grow: int = 0  # its share of the room that is left over
    priority: int = 0
    """0 is never hidden; of the others the highest goes first when it gets narrow."""
    align: Align = "left"
    sort_key: Callable[[R], Any] | None = None
    """What to sort by: values of one comparable type with a hash, or None, which comes last both
    ways."""
    sort_reader: Callable[[], Callable[[R], Any]] | None = None
    """Makes what stands in for `sort_key` while a whole table is sorted once: it may remember what
    many records share."""
    uses_clock: bool = (
        False  # True if the cell depends on the clock, so that `tick` looks at it again
    )
    descending_first: bool = False  # True if the first sort by it should put the highest on top
    shown_by_default: bool = (
        True  # False for one to be filtered and sorted by, and shown if it is chosen
    )
    always_shown: bool = False  # True for one that can't be hidden, as how bad it is
    hidden_while_empty: bool = False
    """True if it is left out, whatever room there is, until something is known in it."""


class Placed(msgspec.Struct, Generic[R], frozen=True):
    """A visible column: its index among all columns, its left edge and its width."""

    index: int
    column: Column[R]
    x: int
    width: int


def arrange(
    columns: Sequence[Column[R]],
    room: int,
    unknown: Collection[int] = (),
    chosen: Sequence[int] = (),
) -> tuple[Placed[R], ...]:
    """Fits columns into `room` cells: those `chosen`, by their index, in that order, or as usual.

    Where not all have their width, those go first that are `unknown`, by their index.
    Columns that grow give way next: they shrink to `min_width` before any other is left out. Then
    the columns with the highest priority number go, the rightmost first among equals, those that
    don't show as usual last, until the rest fits; columns of priority 0 stay. If those are still
    too wide, all shrink towards `min_width`, the one with most to give first; what then is still
    beyond the edge is left out. Room left over goes to the columns that grow, by their shares.
    """
    later = {index for index in unknown if columns[index].hidden_while_empty}
    kept = [index for index in chosen or default_columns(columns) if index not in later]
    if _total(columns[index].width for index in kept) > room:
        kept = [index for index in kept if index not in unknown]

    def least(index: int) -> int:
        return max(1, min(columns[index].min_width, columns[index].width))

    def needed(index: int) -> int:
        return least(index) if columns[index].grow else max(1, columns[index].width)

    def priority(index: int) -> float:
        return columns[index].priority if columns[index].shown_by_default else BY_CHOICE

    while _total(map(needed, kept)) > room:
        last = max(kept, key=lambda index: (priority(index), kept.index(index)))
        if priority(last) <= 0:
            break
        kept.remove(last)
    widths = [max(1, columns[index].width) for index in kept]
    for floor in (needed, least):
        for _ in range(_total(widths) - room):
            slack = [width - floor(index) for width, index in zip(widths, kept, strict=True)]
            if not any(slack):
                break
            widths[slack.index(max(slack))] -= 1
    spare = room - _total(widths)
    shares = [columns[index].grow for index in kept]
    if spare > 0 and (whole := sum(shares)):
        # What doesn't divide goes from the left.
        parts = [spare * share // whole for share in shares]
        growing = [at for at, share in enumerate(shares) if share]
        for at in growing[: spare - sum(parts)]:
            parts[at] += 1
        widths = list(map(add, widths, parts))
    placed = []
    x = 0
    for index, width in zip(kept, widths, strict=True):
        if x >= room:
            break
        placed.append(Placed(index, columns[index], x, min(width, room - x)))
        x += width + GAP
    return tuple(placed)


def default_columns(columns: Sequence[Column[R]]) -> tuple[int, ...]:
    """The columns that show where nobody has chosen any."""
    return tuple(index for index, column in enumerate(columns) if column.shown_by_default)


def _total(widths: Iterable[int]) -> int:
    """Cells of columns with the gaps between them."""
    return max(0, sum(width + GAP for width in widths) - GAP)
