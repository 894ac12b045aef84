"""`RecordTable`: a table of records that repaints only the cells that changed.

Screens give it records and what changed about them (`load`, `apply`), never widgets or texts. It
works out which visible cells look different now, and only those are painted: a change that cannot
be seen writes nothing to the terminal. Cursor, marks and view belong to row ids, not to row
numbers, and stay with them through every insertion, removal and sort.

It joins four parts: `TableModel` (records, order, filter), `Viewport` (cursor, marks, visible
part), `layout` (columns) and `TablePainter` (lines, and what differs in them). Work on large tables
is done in slices between other events; whatever is done to the table meanwhile completes it first.

A tombstone is a row that is still shown although its record was removed. A `Cell` is a text in a
tone, for which the theme has a colour. `SafeText` is text without control characters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from functools import partial
from math import inf
from time import monotonic
from typing import Any, ClassVar, Final, Generic

from textual import events, on
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from agentco_tui.system.background import at_once, in_slices
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.text.row_filter import MATCH_ALL, Filter, parse_filter
from agentco_tui.widgets.table import paint
from agentco_tui.widgets.table.layout import Column, R, default_columns
from agentco_tui.widgets.table.model import Steps, TableModel
from agentco_tui.widgets.table.viewport import Viewport
from agentco_tui.widgets.tones import Cell, TonedWidget
from agentco_tui.widgets.workers import start_worker

_STEPS_AT_ONCE: Final = 10  # steps (of about a millisecond) that never wait for the event loop
_REFILTER_SECONDS: Final = 10.0  # between two runs of a filter on a column that uses the clock
_WHEEL_ROWS: Final = 3  # rows that one notch of the mouse wheel scrolls


class RecordTable(TonedWidget, Generic[R], can_focus=True):
    """The table. A row is a pair of an id and a record of type R.

    It has actions but no key bindings: the program binds keys to them.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *("table--header", "table--header-sorted", "table--cursor", "table--cursor-sign"),
        *("table--mark", "table--scrollbar", "table--stale"),
    }
    DEFAULT_CSS = paint.TABLE_CSS

    class TableMessage(Message):
        def __init__(self, table: RecordTable[Any]) -> None:
            super().__init__()
            self.table = table
            self.row_id = table.viewport.cursor or ""
            """The row with the cursor; "" if there is none."""

    class CursorMoved(TableMessage):
        """The cursor has moved to another record, or to none."""

    class Opened(TableMessage):
        """The user opens a row: by enter, or by a click on the row with the cursor."""

    class WorkDone(TableMessage):
        """Work in slices on a large table is complete: rows and counts are up to date."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        *,
        search_text: Callable[[R], str] | None = None,
        sort: tuple[str, bool] | None = None,
    ) -> None:
        """`search_text` returns the text in which the filter looks for words (default: all cells).

        `sort` is the key of a column, and whether the highest comes first. Without it rows keep the
        order in which they came.
        """
        super().__init__()
        key, descending = sort or (None, False)
        self.model = TableModel(columns, search_text, _column_index(columns, key), descending)
        """The records and their order. Others may read it; only the table changes it."""
        self.viewport = Viewport(self.model)
        self.idle = asyncio.Event()
        """Set unless work is being done in slices."""
        self.idle.set()
        self._painter = paint.TablePainter(self.model, self.viewport, self._placeholder)
        self.empty_text = mark_safe("loading…")
        """Shown while there are no rows."""
        self._reported_cursor: str | None = None
        """The cursor of the last `CursorMoved`."""
        self._filtered_at = 0.0
        """When the filter was applied last, by the monotonic clock."""
        self._work: Generator[None, None, None]
        """The work that is being done in slices, unless `idle` is set."""
        self._is_work_asked = False
        """Whether the user waits for that work."""

    def load(self, rows: Iterable[tuple[str, R]]) -> None:
        """Replace all rows, and read all visible cells again.

        More than some ten thousand take several turns of the event loop; `WorkDone` is posted then.
        """
        self._do(self.model.load(rows))
        self.reread_cells()

    def apply(
        self,
        added: Iterable[tuple[str, R]] = (),
        changed: Iterable[tuple[str, R]] = (),
        removed: Iterable[str] = (),
    ) -> None:
        """Add, change and remove rows.

        Added and changed rows are treated alike, and unknown ids may be removed. The cells of a
        changed row are read again even if its record is the same object, because they may show what
        is derived from other records.
        """
        changed = tuple(changed)
        self._painter.reread_rows(row_id for row_id, _ in changed)
        self._do(self.model.apply((*added, *changed), removed))

    def update_clock_cells(self, now: float = inf) -> None:
        """Repaint the visible cells that have changed with the time.

        `now` is in seconds since 1970; by default, all cells that depend on the clock are read. A
        filter on such a column is applied again every `_REFILTER_SECONDS`.
        """
        if self._painter.update_clock_cells(now):
            self._repaint()
        model = self.model
        filter_uses_clock = any(model.columns[index].uses_clock for index in model.filter.columns)
        is_due = monotonic() - self._filtered_at > _REFILTER_SECONDS
        if filter_uses_clock and not model.frozen and is_due:
            self._filtered_at = monotonic()
            self._do(model.refilter(model.filter))

    def reread_cells(self) -> None:
        """Read all visible cells again, because something beside the records has changed."""
        self._painter.reread_all()
        self._repaint()

    def set_state(self, empty_text: SafeText, *, stale: bool = False) -> None:
        """Set the text for an empty table, and whether the rows are `stale`, and so dimmed."""
        is_same_staleness = stale is self.viewport.stale
        if is_same_staleness and empty_text == self.empty_text:
            return
        if not is_same_staleness:
            self._painter.repaint_all()
        self.empty_text = empty_text
        self.viewport.stale = stale
        self._repaint()

    def _placeholder(self) -> SafeText:
        """Return the text that is shown in place of rows if there are none."""
        if self.model.records and self.model.filter:
            typed = clean_line(self.model.filter.text, 60)
            return mark_safe(f"no row matches {typed}, esc clears the filter")
        return self.empty_text

    # ---- columns, sort and filter

    @property
    def columns_shown(self) -> tuple[int, ...]:
        """Indexes of the columns to show, in their order, whether all of them fit or not."""
        return self.viewport.chosen_columns or default_columns(self.model.columns)

    def show_columns(self, keys: Sequence[str]) -> None:
        """Show these columns in this order, behind those that are always shown.

        Shows the default columns if none of the keys is known.
        """
        columns = self.model.columns
        wanted = [
            index for key in keys for index, column in enumerate(columns) if column.key == key
        ]
        always_shown = [index for index, column in enumerate(columns) if column.always_shown]
        chosen = tuple(dict.fromkeys((*always_shown, *wanted)))
        is_default = not wanted or chosen == default_columns(columns)
        self.viewport.chosen_columns = () if is_default else chosen
        self._painter.rearrange()
        self._repaint()

    def need_columns(self, keys: Collection[str]) -> None:
        """Hide none of these columns for lack of room, and others as their priorities say."""
        needed = frozenset(
            index for index, column in enumerate(self.model.columns) if column.key in keys
        )
        if needed != self.viewport.needed_columns:
            self.viewport.needed_columns = needed
            self._painter.rearrange()
            self._repaint()

    @property
    def sort(self) -> tuple[str | None, bool]:
        """The key of the column sorted by, and whether the highest comes first."""
        column = self.model.sort_column
        key = None if column is None else self.model.columns[column].key
        return key, self.model.descending

    def sort_by(self, key: str | None, descending: bool | None = None) -> None:
        """Sort by a column, in its usual direction if none is given; None is order of arrival."""
        index = _column_index(self.model.columns, key)
        if descending is None:
            descending = index is not None and self.model.columns[index].descending_first
        self._do(self.model.sort(index, descending), asked=True)

    def cycle_sort(self) -> None:
        """Sort by the next visible column that can be sorted by."""
        self.finish_work()
        sort_column = self.model.sort_column
        shown = self.columns_shown
        start = shown.index(sort_column) + 1 if sort_column in shown else 0
        for index in shown[start:] + shown[:start]:
            column = self.model.columns[index]
            if column.sort_key:
                self.sort_by(column.key)
                break

    def reverse_sort(self) -> None:
        self.finish_work()
        key, descending = self.sort
        self.sort_by(key, not descending)

    def set_filter(self, text: str) -> SafeText | None:
        """Show only the rows that pass a filter.

        If the text is no valid filter, all rows are shown, and a sentence that says what is wrong
        is returned.
        """
        parsed = parse_filter(text, self.model.columns)
        self._filtered_at = monotonic()
        if isinstance(parsed, Filter):
            self._do(self.model.refilter(parsed), asked=True)
            return None
        if self.model.filter:
            self._do(self.model.refilter(MATCH_ALL), asked=True)
        return parsed

    def warm_filter(self) -> None:
        """Read the texts of all rows ahead, so that the first filter is quick."""
        self._do(self.model.warm())

    def freeze(self) -> None:
        """Keep rows and order as they are, until `release`; changed records show new values."""
        self.finish_work()
        self.model.frozen = True

    def release(self) -> None:
        """End the freeze: add the new rows, remove tombstones, and sort."""
        if self.model.frozen or self.model.has_held_back_changes:
            self._do(self.model.release())

    def set_tombstone(self, row_id: str, note: Cell) -> None:
        """Show a note in place of a row, until the release: it says what became of its record."""
        self.finish_work()
        self.model.tombstones[row_id] = note
        index = self.model.index_of(row_id)
        # Of a set of hundreds, only the visible ones have to be painted.
        if index is not None and self.viewport.shows_row(index):
            self._repaint()

    def annotate(self, annotations: Mapping[str, Cell]) -> None:
        """Show these notes on rows, by id, and no others.

        Ids without a row are kept, because the row may come or come back.
        """
        if annotations != self.viewport.annotations:
            self.viewport.annotations = dict(annotations)
            self._repaint()

    def _do(self, steps: Steps, *, asked: bool = False) -> None:
        """Finish the work that is under way, then run these steps, in slices if there are many.

        `asked` is true for work whose result the user waits for.
        """
        self.finish_work()
        work = self._run_and_repaint(steps, asked)
        self._work = work
        self._is_work_asked = asked
        for step_count, _ in enumerate(work):
            if step_count >= _STEPS_AT_ONCE and self.is_running:
                self.idle.clear()
                # Slices are short and pause after keys; those for which the user waits do not.
                start_worker(self, partial(in_slices, work, asked=asked), "sorting rows")
                return

    def _run_and_repaint(self, steps: Steps, asked: bool) -> Generator[None, None, None]:
        """Run the steps, then move the cursor with its record and repaint what differs."""
        before = self.model.shown
        yield from steps
        if asked or not before or self.viewport.is_opening:
            # Other rows are visible now: a column may have its first value among them.
            self._painter.rearrange()
        if not self.idle.is_set():
            self.idle.set()
            self.post_message(self.WorkDone(self))
        self.viewport.follow_records(before)
        if self.viewport.marks:
            self.mark(self.model.missing_ids(self.viewport.marks.keys()), False)
        self._repaint()

    def finish_work(self) -> None:
        """Complete the work that is being done in slices, without any further pause."""
        if not self.idle.is_set():
            at_once(self._work)

    def _finish_asked_work(self) -> None:
        """Complete work that the user waits for: a key that follows means its result.

        Rows that a poll brings can wait: the cursor goes along with its record when they come.
        """
        if self._is_work_asked:
            self.finish_work()

    # ---- cursor and marks

    def move_cursor_to(self, row_id: str) -> bool:
        """Move the cursor to a row; False if it is not shown."""
        self.finish_work()
        index = self.model.index_of(row_id)
        if index is None:
            return False
        self._move_cursor(index)
        return True

    @property
    def cursor_line(self) -> int:
        """The line of the widget that has the cursor; 0 is the header."""
        return 1 + self.viewport.cursor_index - self.viewport.top

    def _move_cursor(self, index: int) -> None:
        self._finish_asked_work()
        self.viewport.move_cursor(index)
        self._repaint()

    def action_move(self, rows: int) -> None:
        self._finish_asked_work()  # which may change the index of the cursor
        self._move_cursor(self.viewport.cursor_index + rows)

    def action_page(self, pages: int) -> None:
        self._finish_asked_work()
        rows = max(1, self.viewport.height - 1) * pages
        self.viewport.scroll_to(self.viewport.top + rows)
        self._move_cursor(self.viewport.cursor_index + rows)

    def action_first(self) -> None:
        """Move the cursor to the first row; from now on the top of the list stays visible."""
        self._move_cursor(0)
        self.viewport.user_has_moved = False

    def action_last(self) -> None:
        self.finish_work()
        self._move_cursor(len(self.model.shown) - 1)

    def action_open(self) -> None:
        if self.viewport.cursor is not None:
            self.post_message(self.Opened(self))

    @property
    def marked(self) -> tuple[str, ...]:
        """The ids of marked rows, in the order in which they were marked."""
        return tuple(self.viewport.marks)

    def mark(self, ids: Iterable[str], wanted: bool = True) -> None:
        """Mark these rows, or take their marks away if not `wanted`.

        Unknown ids and tombstones are ignored.
        """
        viewport = self.viewport
        count_before = len(viewport.marks)
        distinct_ids = dict.fromkeys(ids)
        if wanted:
            ignored_ids = self.model.missing_ids(distinct_ids.keys())
        else:
            ignored_ids = distinct_ids.keys() - viewport.marks.keys()
        for row_id in distinct_ids:
            if row_id in ignored_ids:
                continue
            viewport.last_marked = row_id
            if wanted:
                viewport.marks[row_id] = None
            else:
                del viewport.marks[row_id]
        if len(viewport.marks) != count_before:
            self._repaint()

    def action_toggle_mark(self) -> None:
        row_id = self.viewport.cursor
        if row_id is not None:
            self.mark([row_id], row_id not in self.viewport.marks)
            self.action_move(1)

    def action_mark_range(self) -> None:
        """Mark the shown rows from the one marked last to the cursor, in either direction."""
        self.finish_work()
        start_id = self.viewport.last_marked or self.viewport.cursor
        start = None if start_id is None else self.model.index_of(start_id)
        if start is not None:
            first, last = sorted((start, self.viewport.cursor_index))
            self.mark(self.model.shown[first : last + 1])

    def action_mark_all_shown(self) -> None:
        self.finish_work()
        self.mark(self.model.shown)

    def on_click(self, event: events.Click) -> None:
        """Sort by a title, scroll to a place in the scroll bar, or move to a row or open it."""
        self.finish_work()
        viewport = self.viewport
        index = viewport.top + event.y - 1
        if event.y == 0:
            self._sort_by_title_at(event.x - paint.GUTTER)
        elif event.x == self.size.width - 1 and viewport.max_top:
            self._scroll_view((event.y - 1) * viewport.max_top // max(1, viewport.height - 1))
        elif index < len(self.model.shown):
            if index == viewport.cursor_index and viewport.user_has_moved:
                self.action_open()
            else:
                self._move_cursor(index)

    def _sort_by_title_at(self, x: int) -> None:
        for place in self._painter.places:
            if not place.x <= x <= place.x + place.width:
                continue
            if place.index == self.model.sort_column:
                self.reverse_sort()
            elif place.column.sort_key is not None:
                self.sort_by(place.column.key)

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _scroll_by_wheel(self, event: events.MouseScrollDown | events.MouseScrollUp) -> None:
        """Move the view; the cursor stays with its record."""
        event.stop()
        is_down = isinstance(event, events.MouseScrollDown)
        self._scroll_view(self.viewport.top + (_WHEEL_ROWS if is_down else -_WHEEL_ROWS))

    def _scroll_view(self, top: int) -> None:
        self.finish_work()
        self.viewport.scroll_to(top)
        self._repaint()

    # ---- painting

    def _repaint(self) -> None:
        """Ask for a repaint of what looks different now, and of nothing else."""
        if self.viewport.cursor != self._reported_cursor:
            self._reported_cursor = self.viewport.cursor
            self.post_message(self.CursorMoved(self))
        regions = self._changed_regions()
        if regions:
            self.refresh(*regions)

    def _changed_regions(self) -> list[Region]:
        """Return what has to be painted: everything after a change of size."""
        if not self.is_attached or not self.size.area:
            self._painter.size = Size(0, 0)  # laid out as soon as there is something to draw on
            return []
        if self._painter.size != self.size:
            self.viewport.resize(max(0, self.size.height - 1))
            self._painter.repaint_all()
        return self._painter.update(self.size)

    def render_line(self, y: int) -> Strip:
        return self._painter.strip(y, self.style_of)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of a region.

        After a change of size Textual asks for them before it calls `on_resize`; they are laid out
        for the new size here, so that the very first picture has the rows.
        """
        if self._painter.size != self.size:
            self._changed_regions()
        return super().render_lines(crop)

    def on_resize(self) -> None:
        self._repaint()

    on_show = on_resize


def _column_index(columns: Sequence[Column[Any]], key: str | None) -> int | None:
    """Return the index of the column with this key; None for None. Raises KeyError."""
    if key is None:
        return None
    return {column.key: index for index, column in enumerate(columns)}[key]
