"""The columns of a table: what each shows, which fit into a width, and where they start.

Screens describe their tables as lists of `Column`; `arrange` decides what is visible. Pure
functions and data, no Textual. All widths are in cells of the terminal.

A `Cell` is a text in a tone, for which the theme has a colour; `SafeText` is text without control
characters. The filter is what the user types after `/` to see only some rows, such as `cost>5`.
`SafeText` is text without control characters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from operator import add
from typing import Any, Generic, TypeVar

import msgspec

from agentco_tui.text import Align, SafeText
from agentco_tui.text.row_filter import FilterColumn
from agentco_tui.widgets.tones import Cell

R = TypeVar("R")
"""The type of a table's records, of which the table itself knows nothing."""

GAP = 2  # empty cells between two columns
CHOSEN_PRIORITY = 0.5
"""The priority of a column that is visible only because the user chose it."""


class Column(FilterColumn, Generic[R], frozen=True):
    """A column. `FilterColumn` adds what the filter reads of it.

    That is `filter_value` (returns the value to compare), `kind` (text, number, age or percentage),
    `rank` (returns the rank of words such as "high") and `aliases` (other names of the column).
    """

    key: str
    """The column's name in settings, filters and tests. Unique in a table."""
    title: SafeText
    """The header. It names the unit, which therefore is not repeated in every cell."""
    width: int
    cell: Callable[[R], Cell]
    """Returns the cell of a record. Called for visible rows, and for each record once when a filter
    needs its text."""
    cell_for_width: Callable[[R, int], Cell] | None = None
    """Returns the cell for the width that the column got; replaces `cell` when painting."""
    min_width: int = 4
    """The width to which it may shrink. A column that grows shrinks before others are hidden."""
    grow: int = 0
    """How much it gets of the room that is left over, in proportion to other columns."""
    priority: int = 0
    """0 is never hidden; of the others the highest is hidden first when there is too little room.
    """
    align: Align = "left"
    sort_key: Callable[[R], Any] | None = None
    """Returns the sort key: hashable values of one comparable type, or None, which comes last in
    both directions."""
    sort_reader: Callable[[], Callable[[R], Any]] | None = None
    """Returns a replacement for `sort_key` for one sort of the whole table. It may cache what many
    records weight."""
    uses_clock: bool = False
    """Whether the cell depends on the time, so that `update_clock_cells` computes it again."""
    changes_at: Callable[[R], float] | None = None
    """Returns when the time changes the cell of a record, in seconds since 1970; None to compute
    it again at every `update_clock_cells`."""
    descending_first: bool = False
    """Whether the first sort by this column is a descending one."""
    shown_by_default: bool = True
    """False for a column that is only filtered and sorted by until the user chooses to show it."""
    always_shown: bool = False
    """Whether the user cannot hide it."""
    hidden_while_empty: bool = False
    """Whether it is hidden, even if there is room, until a record has a value in it."""


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
    needed: Collection[int] = (),
) -> tuple[Placed[R], ...]:
    """Fit columns into `room` cells: the `chosen` ones in their order, or the default ones.

    `unknown` are the columns without any value, `needed` those that no lack of room hides, whatever
    their priority; all are indexes. If the room is too small, these steps follow each other until
    the rest fits:

    1. The unknown columns are hidden.
    2. Columns that grow shrink to `min_width`; all do if there are needed ones, which shall not
       cost others their place.
    3. The column with the highest priority number is hidden, the rightmost of equals; those that
       are visible only because they were chosen come last, those of priority 0 never.
    4. All shrink towards `min_width`, the one with most to give first.
    5. What is beyond the edge is cut off.

    Room that is left over goes to the columns that grow, in proportion to `grow`.
    """
    hidden = {index for index in unknown if columns[index].hidden_while_empty}
    kept = [index for index in chosen or default_columns(columns) if index not in hidden]
    if _total_width(columns[index].width for index in kept) > room:
        kept = [index for index in kept if index not in unknown]

    def least_width(index: int) -> int:
        return max(1, min(columns[index].min_width, columns[index].width))

    def needed_width(index: int) -> int:
        if columns[index].grow or needed:
            return least_width(index)
        return max(1, columns[index].width)

    def priority(index: int) -> float:
        column = columns[index]
        if index in needed:
            return 0
        return column.priority if column.shown_by_default else CHOSEN_PRIORITY

    while _total_width(map(needed_width, kept)) > room:
        last = max(kept, key=lambda index: (priority(index), kept.index(index)))
        if priority(last) <= 0:
            break
        kept.remove(last)
    widths = [max(1, columns[index].width) for index in kept]
    for floor in (needed_width, least_width):
        for _ in range(_total_width(widths) - room):
            slack = [width - floor(index) for width, index in zip(widths, kept, strict=True)]
            if not any(slack):
                break
            widths[slack.index(max(slack))] -= 1
    weights = [columns[index].grow for index in kept]
    widths = _with_spare_room(widths, weights, room - _total_width(widths))
    placed: list[Placed[R]] = []
    x = 0
    for index, width in zip(kept, widths, strict=True):
        if x >= room:
            break
        placed.append(Placed(index, columns[index], x, min(width, room - x)))
        x += width + GAP
    return tuple(placed)


def _with_spare_room(widths: list[int], weights: list[int], spare: int) -> list[int]:
    """Return the widths with spare room added by weight; a remainder goes to the leftmost."""
    all_weights = sum(weights)
    if spare <= 0 or not all_weights:
        return widths
    added = [spare * weight // all_weights for weight in weights]
    growing = [index for index, weight in enumerate(weights) if weight]
    remainder = spare - sum(added)
    for index in growing[:remainder]:
        added[index] += 1
    return list(map(add, widths, added))


def default_columns(columns: Sequence[Column[R]]) -> tuple[int, ...]:
    """Return the indexes of the columns that are visible unless the user chose others."""
    return tuple(index for index, column in enumerate(columns) if column.shown_by_default)


def _total_width(widths: Iterable[int]) -> int:
    """Return the width of columns together with the gaps between them."""
    return max(0, sum(width + GAP for width in widths) - GAP)
