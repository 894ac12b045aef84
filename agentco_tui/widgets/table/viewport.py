"""What of a table's rows is in sight, where the cursor is and what is marked. No Textual.

The cursor belongs to a record's id. When rows come, go and change places it stays with its record,
and the record stays at its line of the screen if it can. When its record goes, the nearest row
that is still there gets it: the one below if there is one.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from agentco_tui.widgets.table.model import TableModel
from agentco_tui.widgets.tones import Cell


class Viewport:
    """Cursor, marks and the rows on the screen, over rows that a model puts in order."""

    def __init__(self, model: TableModel[Any]) -> None:
        self._model = model
        self.height = 0  # lines for rows; those it had last while the table is hidden
        self.top = 0
        self.cursor: str | None = None
        """The id of the record with the cursor; None if no row is shown."""
        self.cursor_index = 0
        self.user_has_moved = False
        """Whether somebody moved here; before, the top of the list is what is seen."""
        self.is_opening = False
        """Whether rows are still coming and nobody has moved: the cursor is the first row's."""
        self.marks: dict[str, None] = {}
        """Marked ids in the order they were marked. Tombstones are never among them."""
        self.last_marked: str | None = None  # the row marked or unmarked last: where a range begins
        self.annotations: dict[str, Cell] = {}
        """What is said of rows in the place where a tombstone says what became of it."""
        self.chosen_columns: tuple[int, ...] = ()
        """The columns that a person chose, in their order; empty for those that show as usual."""
        self.stale = False
        self.thin = False
        """True for a slow line: the cursor is its sign only, and the view moves in larger steps."""

    @property
    def max_top(self) -> int:
        """The first row on the screen when it is scrolled to the end."""
        return max(0, len(self._model.shown) - self.height)

    def shows_row(self, place: int) -> bool:
        return self.top <= place < self.top + max(1, self.height)

    def resize(self, height: int) -> None:
        """Takes another height; the cursor stays in view if it was."""
        in_view = self.height <= 0 or self.shows_row(self.cursor_index)
        if self.height <= 0:
            self.top = 0  # wherever it was put while there was no room for any row
        self.height = height
        if in_view:
            self.top = max(min(self.top, self.cursor_index), self.cursor_index - max(0, height - 1))

    def move_cursor(self, place: int) -> None:
        """Puts the cursor on the row at this place, or on the first or last one."""
        shown = self._model.shown
        if not shown:
            return
        place = max(0, min(place, len(shown) - 1))
        more = self.height // 2 if self.thin else 0
        if place < self.top:
            self.top = place - more
        elif place >= self.top + self.height:
            self.top = place - max(0, self.height - 1) + more
        self.scroll_to(self.top)
        self.cursor, self.cursor_index = shown[place], place

    def scroll_to(self, top: int) -> None:
        """Moves the view; the cursor stays with its record."""
        self.user_has_moved, self.is_opening = True, False
        self.top = max(0, min(top, self.max_top))

    def follow_records(self, before: list[str]) -> None:
        """After the rows shown changed from `before`: cursor and view go with their records."""
        shown = self._model.shown
        if shown is before:
            return
        if not shown:
            self.cursor, self.cursor_index, self.top = None, 0, 0
            return
        if self.is_opening:
            self.cursor, self.cursor_index, self.top = shown[0], 0, 0
            return
        was_at, was_top, in_view = self.cursor_index, self.top, self.shows_row(self.cursor_index)
        place = None if self.cursor is None else self._model.index_of(self.cursor)
        if place is None and self.cursor is not None:
            # The nearest row that is still shown.
            still = set(shown)
            near = chain(before[was_at + 1 :], reversed(before[:was_at]))
            nearest = next((row_id for row_id in near if row_id in still), None)
            self.user_has_moved = self.user_has_moved and nearest is not None
            place = None if nearest is None else self._model.index_of(nearest)
        place = self.cursor_index = place or 0
        self.cursor = shown[place]
        if not self.user_has_moved:
            self.top = place - max(0, self.height - 1)
        elif in_view:
            self.top = place - (was_at - was_top)
        else:
            # It was scrolled away from the cursor: the first of its rows that is still there.
            now = map(self._model.index_of, before[was_top : was_top + self.height])
            tops = (at - offset for offset, at in enumerate(now) if at is not None)
            self.top = next(tops, was_top)
        self.top = max(0, min(self.top, self.max_top))
