"""The half of a record table that a person's hand moves: cursor, view, marks, mouse.

The cursor belongs to a record's id. When rows come, go and change places it stays with its record,
and the record stays at its line of the screen if it can. When its record goes, the nearest row
that is still there gets it: the one below if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.table.paint import GUTTER
from agentco_tui.widgets.table.view import TableView

_WHEEL = 3
"""Rows that one notch of the wheel scrolls."""


class TableHand(TableView[R]):
    """Cursor, marks and view over rows that are ordered elsewhere."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "down", show=False, id="table.down"),
        Binding("up,k", "move(-1)", "up", show=False, id="table.up"),
        Binding("g,home", "first", "first row", show=False, id="table.first"),
        Binding("G,end", "last", "last row", show=False, id="table.last"),
        Binding("pagedown", "page(1)", "page down", show=False, id="table.page_down"),
        Binding("pageup", "page(-1)", "page up", show=False, id="table.page_up"),
        Binding("right", "sideways(8)", "right", show=False, id="table.right"),
        Binding("left", "sideways(-8)", "left", show=False, id="table.left"),
        Binding("space", "toggle_mark", "mark", show=False, id="table.mark"),
        Binding("enter", "open", "open", show=False, id="table.open"),
    ]

    @dataclass
    class CursorMoved(Message, namespace="record_table"):
        """The cursor is on another record now, or on none."""

        table: TableHand[Any]
        row_id: str | None

        @property
        def control(self) -> TableHand[Any]:
            """The table, for `@on(..., selector)`."""
            return self.table

    @dataclass
    class Opened(Message, namespace="record_table"):
        """Enter on a row, or a click on the row with the cursor."""

        table: TableHand[Any]
        row_id: str

        @property
        def control(self) -> TableHand[Any]:
            """The table, for `@on(..., selector)`."""
            return self.table

    @dataclass
    class MarksChanged(Message, namespace="record_table"):
        """Which records are marked changed."""

        table: TableHand[Any]
        marked: tuple[str, ...]

        @property
        def control(self) -> TableHand[Any]:
            """The table, for `@on(..., selector)`."""
            return self.table

    def __init__(
        self,
        columns: Sequence[Column[R]],
        search_text: Callable[[R], str] | None,
        can_mark: bool,
        widget_id: str | None,
        classes: str | None,
    ) -> None:
        super().__init__(columns, search_text, widget_id, classes)
        self.can_mark = can_mark
        """Whether space and the mark actions mark rows."""
        self.follow_top = False
        """True for a feed: a cursor on the first row stays on the first row when rows come in."""
        self._cursor: str | None = None
        self._touched = False

    # ---- what the other half does

    def _finish(self) -> None:
        """Finishes work on the rows that is under way."""

    def _title_clicked(self, column: int) -> None:
        """The header of a column was clicked."""

    # ---- cursor

    @property
    def cursor_id(self) -> str | None:
        """The id of the record the cursor is on; None if no row is shown."""
        return self._cursor

    def move_cursor_to(self, row_id: str) -> bool:
        """Puts the cursor on this record; False if it isn't shown."""
        self._finish()
        place = self._rows.position(row_id)
        if place is not None:
            self._move_to(place)
        return place is not None

    def _move_to(self, place: int) -> None:
        shown = self._rows.shown
        if not shown:
            return
        place = max(0, min(place, len(shown) - 1))
        self._touched = True
        self._cursor_at = place
        more = self._height // 2 if self.thin else 0
        if place < self._top:
            self._top = place - more
        elif place >= self._top + self._height:
            self._top = place - max(0, self._height - 1) + more
        self._point(shown[place])
        self._sync()

    def _point(self, row_id: str | None) -> None:
        if row_id != self._cursor:
            self._cursor = row_id
            self.post_message(self.CursorMoved(self, row_id))

    def _follow(self, before: list[str]) -> None:
        """After the rows shown changed from `before`: cursor and view go with their records."""
        shown = self._rows.shown
        if shown is before:
            return
        was_at, was_top = self._cursor_at, self._top
        if not shown:
            self._cursor_at = self._top = 0
            self._point(None)
            return
        at_top = self._cursor is None or (self.follow_top and was_at == was_top == 0)
        place = 0 if at_top else self._survivor(before, was_at)
        self._cursor_at = place
        if not self._touched:
            # Nobody has moved here yet: the top of the list is what should be seen.
            self._top = max(0, place - max(0, self._height - 1))
        elif was_top <= was_at < was_top + max(1, self._height):
            self._top = place - (was_at - was_top)
        else:
            self._top = self._place_of_view(before, was_top)
        self._top = max(0, min(self._top, self._last_top))
        self._point(shown[place])

    def _survivor(self, before: list[str], was_at: int) -> int:
        """Where the cursor's record is now, or the nearest row that is still shown."""
        position = self._rows.position
        place = position(self._cursor) if self._cursor is not None else None
        if place is not None:
            return place
        still = set(self._rows.shown)
        below = (row_id for row_id in before[was_at + 1 :] if row_id in still)
        above = (row_id for row_id in reversed(before[:was_at]) if row_id in still)
        nearest = next(below, None) or next(above, None)
        found = position(nearest) if nearest is not None else None
        if found is not None:
            return found
        self._touched = False
        return 0

    def _place_of_view(self, before: list[str], was_top: int) -> int:
        """The first row of a view that was scrolled away from the cursor, where it is now."""
        for offset, row_id in enumerate(before[was_top : was_top + self._height]):
            place = self._rows.position(row_id)
            if place is not None:
                return place - offset
        return was_top

    # ---- keys

    def action_move(self, rows: int) -> None:
        """Moves the cursor down by `rows`."""
        self._finish()
        self._move_to(self._cursor_at + rows)

    def action_page(self, pages: int) -> None:
        """Moves cursor and view by screens."""
        self._finish()
        step = max(1, self._height - 1) * pages
        self._top = max(0, min(self._top + step, self._last_top))
        self._move_to(self._cursor_at + step)

    def action_first(self) -> None:
        """The cursor on the first row; from now on the top of the list stays in view."""
        self._finish()
        self._move_to(0)
        self._touched = False

    def action_last(self) -> None:
        """The cursor on the last row."""
        self._finish()
        self._move_to(len(self._rows.shown) - 1)

    def action_sideways(self, cells: int) -> None:
        """Scrolls the columns, if they are wider than the table."""
        most = max(0, self._layout_now.width - self._room)
        wanted = max(0, min(self._sideways + cells, most))
        if wanted != self._sideways:
            self._sideways = wanted
            self._repaint()

    def action_open(self) -> None:
        """Says that the row with the cursor was opened."""
        if self._cursor is not None:
            self.post_message(self.Opened(self, self._cursor))

    # ---- marks

    @property
    def marked(self) -> tuple[str, ...]:
        """The ids of marked records in the order they were marked. Ghosts are never among them."""
        return self._marks.ids

    def mark(self, ids: Iterable[str]) -> None:
        """Marks these records; ids that have none, and ghosts, are passed over."""
        wanted = dict.fromkeys(ids)
        for row_id in self._rows.gone_from(wanted.keys()):
            del wanted[row_id]
        self._marked(self._marks.mark(wanted))

    def unmark(self, ids: Iterable[str]) -> None:
        """Takes the marks of these records."""
        self._marked(self._marks.unmark(ids))

    def toggle_mark(self, row_id: str) -> None:
        """Marks the record, or takes its mark."""
        if row_id in self._marks:
            self.unmark([row_id])
        else:
            self.mark([row_id])

    def mark_range(self, first: str, last: str) -> None:
        """Marks the rows shown from one to the other, both included, in either direction."""
        self._finish()
        ends = (self._rows.position(first), self._rows.position(last))
        if ends[0] is not None and ends[1] is not None:
            low, high = sorted((ends[0], ends[1]))
            self.mark(self._rows.shown[low : high + 1])

    def mark_all_shown(self) -> None:
        """Marks all that the filter shows."""
        self._finish()
        self.mark(self._rows.shown)

    def clear_marks(self) -> None:
        """Takes all marks."""
        self._marked(self._marks.clear())

    def _drop_marks(self) -> None:
        """Marks of records that are gone go with them."""
        lost = self._rows.gone_from(self._marks.all)
        self._marked(self._marks.unmark(lost), sync=False)

    def _marked(self, changed: bool, sync: bool = True) -> None:
        if changed:
            self.post_message(self.MarksChanged(self, self._marks.ids))
            if sync:
                self._sync()

    def action_toggle_mark(self) -> None:
        """Marks the row with the cursor or takes its mark, and goes to the next."""
        if self.can_mark and self._cursor is not None:
            self.toggle_mark(self._cursor)
            self.action_move(1)

    def action_mark_range(self) -> None:
        """Marks from the row marked last to the cursor."""
        if self.can_mark and self._cursor is not None:
            self.mark_range(self._marks.last or self._cursor, self._cursor)

    def action_mark_all_shown(self) -> None:
        """Marks all that the filter shows."""
        if self.can_mark:
            self.mark_all_shown()

    def action_clear_marks(self) -> None:
        """Takes all marks."""
        self.clear_marks()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Lets the keys for marking through to others where nothing can be marked."""
        if action in {"toggle_mark", "mark_range", "mark_all_shown"}:
            return self.can_mark
        return super().check_action(action, parameters)

    # ---- mouse

    def on_click(self, event: events.Click) -> None:
        """A row: the cursor goes there, or it is opened. A title: sorts. The scroll bar: goes."""
        self._finish()
        if event.y == 0:
            self._click_title(event.x - GUTTER + self._sideways)
        elif event.x == self.size.width - 1 and self._last_top:
            self._scroll_view((event.y - 1) * self._last_top // max(1, self._height - 1))
        else:
            place = self._top + event.y - 1
            if place < len(self._rows.shown):
                if self._rows.shown[place] == self._cursor and self._touched:
                    self.action_open()
                else:
                    self._move_to(place)

    def _click_title(self, x: int) -> None:
        for placed in self._layout_now.columns:
            if placed.x <= x < placed.x + placed.width + 1:
                self._title_clicked(placed.index)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The view moves, the cursor stays with its record."""
        event.stop()
        self._finish()
        self._scroll_view(self._top + _WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The view moves, the cursor stays with its record."""
        event.stop()
        self._finish()
        self._scroll_view(self._top - _WHEEL)

    def _scroll_view(self, top: int) -> None:
        self._touched = True
        self._top = max(0, min(top, self._last_top))
        self._sync()
