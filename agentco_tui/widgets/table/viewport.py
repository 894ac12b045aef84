"""The visible part of a table, its cursor and its marks. No Textual.

`RecordTable` (widget.py) moves the viewport, the painter reads it. The cursor belongs to a row id:
when rows are added, removed or sorted, it stays with its record, and the record stays on its line
of the screen if it can. When the record is removed, the nearest row that is still there gets the
cursor: the one below if there is one.

All positions are indexes in `TableModel.shown`, the ids of the rows that pass the filter. That list
is replaced, never changed, so the old one is the state before. A tombstone is a row that is still
shown although its record was removed, with a note on what became of it.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from agentco_tui.widgets.table.model import TableModel
from agentco_tui.widgets.tones import Cell


class Viewport:
    """Which rows of a model are on the screen, and which has the cursor or is marked."""

    def __init__(self, model: TableModel[Any]) -> None:
        self._model = model
        self.height = 0
        """Lines for rows; unchanged while the table is hidden."""
        self.top = 0
        """The index of the first visible row."""
        self.cursor: str | None = None
        """The id of the row with the cursor; None if no row is shown."""
        self.cursor_index = 0
        self.user_has_moved = False
        """Whether the user has moved cursor or view; until then the top of the list is visible."""
        self.is_opening = False
        """Whether the first rows are still coming, as the list that has the table says: until the
        user moves, the first row has the cursor."""
        self.marks: dict[str, None] = {}
        """Marked ids in the order in which they were marked, without tombstones."""
        self.last_marked: str | None = None
        """The row marked or unmarked last, at which a marked range begins."""
        self.annotations: dict[str, Cell] = {}
        """Notes on rows, by id. A note replaces the first cells of its row, as on a tombstone."""
        self.chosen_columns: tuple[int, ...] = ()
        """Indexes of the columns that the user chose, in their order; empty for the default."""
        self.needed_columns: frozenset[int] = frozenset()
        """Indexes of the columns that no lack of room hides."""
        self.stale = False
        """Whether the rows are out of date, and therefore dimmed."""
        self.thin = False
        """Whether the line to the terminal is slow: the cursor is only its sign, without a coloured
        row, and the view scrolls by half a screen."""

    @property
    def max_top(self) -> int:
        """The first visible row when the view is scrolled to the end."""
        return max(0, len(self._model.shown) - self.height)

    def shows_row(self, index: int) -> bool:
        return self.top <= index < self.top + max(1, self.height)

    def resize(self, height: int) -> None:
        """Change the height; a visible cursor stays visible."""
        was_hidden = self.height <= 0
        was_visible = was_hidden or self.shows_row(self.cursor_index)
        if was_hidden:
            self.top = 0  # whatever it was set to while there was no room for a row
        self.height = height
        if was_visible:
            first_top = self.cursor_index - max(0, height - 1)
            self.top = max(min(self.top, self.cursor_index), first_top)

    def move_cursor(self, index: int) -> None:
        """Put the cursor on the row at an index, or on the first or last row if it is beyond."""
        shown = self._model.shown
        if not shown:
            return
        index = max(0, min(index, len(shown) - 1))
        scrolled_further = self.height // 2 if self.thin else 0
        if index < self.top:
            self.top = index - scrolled_further
        elif index >= self.top + self.height:
            self.top = index - max(0, self.height - 1) + scrolled_further
        self.scroll_to(self.top)
        self.cursor = shown[index]
        self.cursor_index = index

    def scroll_to(self, top: int) -> None:
        """Move the view; the cursor stays with its record."""
        self.user_has_moved = True
        self.is_opening = False
        self.top = max(0, min(top, self.max_top))

    def follow_records(self, before: list[str]) -> None:
        """Move cursor and view with their records, after `shown` was replaced.

        `before` is the old list.
        """
        shown = self._model.shown
        if shown is before:
            return
        if not shown:
            self.cursor = None
            self.cursor_index = 0
            self.top = 0
            return
        if self.is_opening:
            self.cursor = shown[0]
            self.cursor_index = 0
            self.top = 0
            return
        old_index = self.cursor_index
        old_top = self.top
        was_visible = self.shows_row(old_index)
        self.cursor_index = self._new_cursor_index(before) or 0
        self.cursor = shown[self.cursor_index]
        if not self.user_has_moved:
            top = self.cursor_index - max(0, self.height - 1)
        elif was_visible:
            top = self.cursor_index - (old_index - old_top)
        else:
            top = self._new_top(before[old_top : old_top + self.height], old_top)
        self.top = max(0, min(top, self.max_top))

    def _new_cursor_index(self, before: list[str]) -> int | None:
        """Return the new index of the cursor's row, or of the nearest row still shown, if any."""
        if self.cursor is None:
            return None
        index = self._model.index_of(self.cursor)
        if index is not None:
            return index
        still_shown = set(self._model.shown)
        rows_below = before[self.cursor_index + 1 :]
        rows_above = reversed(before[: self.cursor_index])
        for row_id in chain(rows_below, rows_above):
            if row_id in still_shown:
                return self._model.index_of(row_id)
        self.user_has_moved = False
        return None

    def _new_top(self, visible: list[str], old_top: int) -> int:
        """Return the top that keeps the first of these rows that is still shown on its line."""
        for line, row_id in enumerate(visible):
            index = self._model.index_of(row_id)
            if index is not None:
                return index - line
        return old_top
