"""A table of records that costs what changes: rows by id, sorted, filtered, marked, held still.

It is given records and what changed about them (`load`, `apply`), never widgets or strings, and
works out itself which cells of the screen look different now. Only those are painted, so a change
that can't be seen writes nothing to the terminal. Cursor, marks and view belong to records, not to
row numbers, and stay with them through every insert, removal and sort.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any, ClassVar, Final, Generic

from textual import events, on
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from agentco_tui.system.background import at_once, in_slices
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.text.row_filter import NOTHING, Filter, parse
from agentco_tui.widgets.table import paint
from agentco_tui.widgets.table.layout import Column, R, default_columns
from agentco_tui.widgets.table.model import Steps, TableModel
from agentco_tui.widgets.table.viewport import Viewport
from agentco_tui.widgets.tones import Cell, TonedWidget
from agentco_tui.widgets.workers import start_worker

_AT_ONCE: Final = 20  # steps (of about a millisecond) that are always taken at once
_FILTER_AGES: Final = 10.0  # seconds after which a filter on a ticking column is applied anew
_WHEEL: Final = 3  # rows that one notch of the wheel scrolls


class RecordTable(TonedWidget, Generic[R], can_focus=True):
    """The table. Rows are pairs of an id and a record of type R. Its actions are bound by whoever
    uses it.
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
            self.row_id = table.viewport.cursor or ""  # the row with the cursor, if there is one

    class CursorMoved(TableMessage):
        """The cursor is on another record now, or on none."""

    class Opened(TableMessage):
        """Enter on a row, or a click on the row with the cursor."""

    class WorkDone(TableMessage):
        """Work on a large table that took several turns is done: rows and counts are right now."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        *,
        search_text: Callable[[R], str] | None = None,
        sort: tuple[str, bool] | None = None,
    ) -> None:
        """`search_text` is what the words of a filter are looked for in (default: all cells);
        `sort` names a column and whether the highest comes first; without it rows stay in the
        order they came in.
        """
        super().__init__()
        key, descending = sort or (None, False)
        self.model = TableModel(columns, search_text, _index(columns, key), descending)
        """The records and their order: to be read; whoever changes them does so here."""
        self.viewport = Viewport(self.model)
        self.idle = asyncio.Event()  # set while no work is done in slices
        self.idle.set()
        self._painter = paint.TablePainter(self.model, self.viewport, self._text_instead)
        self.empty_text = plain("loading…")  # stands there while there are no rows
        self._cursor_told: str | None = None
        self._filtered_at = 0.0
        self._work: Generator[None, None, None]

    def load(self, rows: Iterable[tuple[str, R]]) -> None:
        """Replaces all rows. More than some ten thousand are taken in over
        several turns of the event loop (sorted and filtered, too), and `WorkDone` says when they
        are; what is done to the table before that finishes it first.
        """
        self._do(self.model.load(rows))

    def apply(
        self,
        added: Iterable[tuple[str, R]] = (),
        changed: Iterable[tuple[str, R]] = (),
        removed: Iterable[str] = (),
    ) -> None:
        """Takes in what changed. Rows may be called added or changed alike; ids that aren't there
        may be removed. A changed row is read again even if its record is the same: a cell may
        show what is derived from other records.
        """
        changed = tuple(changed)
        self._painter.reread_rows(row_id for row_id, _ in changed)
        self._do(self.model.apply((*added, *changed), removed))

    def update_clock_cells(self) -> None:
        """Repaints the cells on the screen whose text the clock has changed."""
        self._painter.update_clock_cells()
        self._sync()
        model = self.model
        ticks = any(model.columns[index].uses_clock for index in model.filter.columns)
        if ticks and not model.frozen and monotonic() - self._filtered_at > _FILTER_AGES:
            self._filtered_at = monotonic()
            self._do(model.refilter(model.filter))

    def reread_cells(self) -> None:
        """Looks again at all cells on the screen: what they take from elsewhere has changed."""
        self._painter.reread_all()
        self._sync()

    def set_state(self, empty_text: SafeText, *, stale: bool = False) -> None:
        """Says what the rows are worth: dimmed if `stale`; the text is shown if there are none."""
        if (empty_text, stale) != (self.empty_text, self.viewport.stale):
            if stale is not self.viewport.stale:
                self._painter.forget()
            self.empty_text, self.viewport.stale = empty_text, stale
            self._sync()

    def _text_instead(self) -> SafeText:
        if self.model.records and self.model.filter:
            typed = safe(self.model.filter.text, 60)
            return plain(f"no row matches {typed}, esc clears the filter")
        return self.empty_text

    # ---- columns, sort and filter

    @property
    def columns_shown(self) -> tuple[int, ...]:
        """By their index, in their order, whether there is room for all of them or not."""
        return self.viewport.chosen_columns or default_columns(self.model.columns)

    def show_columns(self, keys: Sequence[str]) -> None:
        """Shows these columns in this order, behind those that are always shown.

        Shows the default columns if none of the keys is known.
        """
        columns = self.model.columns
        wanted = [at for key in keys for at, one in enumerate(columns) if one.key == key]
        staying = [at for at, one in enumerate(columns) if one.always_shown]
        chosen = tuple(dict.fromkeys((*staying, *wanted)))
        self.viewport.chosen_columns = (
            chosen if wanted and chosen != default_columns(columns) else ()
        )
        self._painter.rearrange()
        self._sync()

    @property
    def sort(self) -> tuple[str | None, bool]:
        """The key of the column sorted by, and whether the highest comes first."""
        column = self.model.sort_column
        return (None if column is None else self.model.columns[column].key), self.model.descending

    def sort_by(self, key: str | None, descending: bool | None = None) -> None:
        """Sorts by a column, in its usual direction if none is given; None is order of arrival."""
        index = _index(self.model.columns, key)
        if descending is None:
            descending = index is not None and self.model.columns[index].descending_first
        self._do(self.model.sort(index, descending), asked=True)

    def cycle_sort(self) -> None:
        self.finish_work()
        now, shown = self.model.sort_column, self.columns_shown
        at = shown.index(now) + 1 if now in shown else 0
        for column in map(self.model.columns.__getitem__, shown[at:] + shown[:at]):
            if column.sort_key:
                self.sort_by(column.key)
                break

    def reverse_sort(self) -> None:
        self.finish_work()
        self.sort_by(self.sort[0], not self.sort[1])

    def set_filter(self, text: str) -> SafeText | None:
        """Shows only what matches; all, and says what is wrong, if that can't be told."""
        wanted = parse(text, self.model.columns)
        self._filtered_at = monotonic()
        if isinstance(wanted, Filter):
            self._do(self.model.refilter(wanted), asked=True)
            return None
        if self.model.filter:
            self._do(self.model.refilter(NOTHING), asked=True)
        return wanted

    def warm_filter(self) -> None:
        """Reads the text of all rows while nothing else is to do."""
        self._do(self.model.warm())

    def freeze(self) -> None:
        """From now on the order stands still, until the release."""
        self.finish_work()
        self.model.frozen = True

    def release(self) -> None:
        """Ends the freeze, with new rows in, tombstones gone, all in order."""
        if self.model.frozen or self.model.has_held_back_changes:
            self._do(self.model.release())

    def set_tombstone(self, row_id: str, note: Cell) -> None:
        """Says what became of a row, shown in its place until the release."""
        self.finish_work()
        self.model.tombstones[row_id], place = note, self.model.index_of(row_id)
        # A set of hundreds says so of each; only what can be seen has to be drawn.
        if place is not None and self.viewport.shows_row(place):
            self._sync()

    def annotate(self, annotations: Mapping[str, Cell]) -> None:
        """Show these notes on rows, where a tombstone says what became of a row, and no others.

        Ids without a row are kept: the row may come, or come back.
        """
        if annotations != self.viewport.annotations:
            self.viewport.annotations = dict(annotations)
            self._sync()

    def _do(self, steps: Steps, *, asked: bool = False) -> None:
        """Takes the steps after those of the work before; none has begun to run yet."""
        self.finish_work()
        self._work = work = self._worked_off(steps, asked)
        for taken, _ in enumerate(work):
            if taken >= _AT_ONCE and self.is_running:
                self.idle.clear()
                start_worker(self, partial(in_slices, work, asked=asked), "sorting rows")
                return

    def _worked_off(self, steps: Steps, asked: bool) -> Generator[None, None, None]:
        before = self.model.shown
        yield from steps
        if asked or not before or self.viewport.is_opening:
            self._painter.rearrange()  # cells may tell more in another order
        if not self.idle.is_set():
            self.idle.set()
            self.post_message(self.WorkDone(self))
        self.viewport.follow_records(before)
        if self.viewport.marks:
            self.mark(self.model.missing_ids(self.viewport.marks.keys()), False)
        self._sync()

    def finish_work(self) -> None:
        """Takes at once what steps are left: something else is about to happen."""
        if not self.idle.is_set():
            at_once(self._work)

    # ---- cursor and marks

    def move_cursor_to(self, row_id: str) -> bool:
        self.finish_work()
        place = self.model.index_of(row_id)
        if place is not None:
            self._move_to(place)
        return place is not None

    @property
    def cursor_line(self) -> int:
        return 1 + self.viewport.cursor_index - self.viewport.top

    def _move_to(self, place: int) -> None:
        self.finish_work()
        self.viewport.move_cursor(place)
        self._sync()

    def action_move(self, rows: int) -> None:
        self.finish_work()  # which may give the cursor's record another place
        self._move_to(self.viewport.cursor_index + rows)

    def action_page(self, pages: int) -> None:
        self.finish_work()
        step = max(1, self.viewport.height - 1) * pages
        self.viewport.scroll_to(self.viewport.top + step)
        self._move_to(self.viewport.cursor_index + step)

    def action_first(self) -> None:
        """The cursor on the first row; from now on the top of the list stays in view."""
        self._move_to(0)
        self.viewport.user_has_moved = False

    def action_last(self) -> None:
        self.finish_work()
        self._move_to(len(self.model.shown) - 1)

    def action_open(self) -> None:
        if self.viewport.cursor is not None:
            self.post_message(self.Opened(self))

    @property
    def marked(self) -> tuple[str, ...]:
        """In the order they were marked."""
        return tuple(self.viewport.marks)

    def mark(self, ids: Iterable[str], wanted: bool = True) -> None:
        """Marks these records, or takes their marks away; ids that have none, and tombstones, are
        passed over.
        """
        view, before, asked = self.viewport, len(self.viewport.marks), dict.fromkeys(ids)
        gone = self.model.missing_ids(asked.keys()) if wanted else asked.keys() - view.marks.keys()
        for row_id in asked:
            if row_id not in gone:
                view.last_marked = row_id
                if wanted:
                    view.marks[row_id] = None
                else:
                    del view.marks[row_id]
        if len(view.marks) != before:
            self._sync()

    def action_toggle_mark(self) -> None:
        row_id = self.viewport.cursor
        if row_id is not None:
            self.mark([row_id], row_id not in self.viewport.marks)
            self.action_move(1)

    def action_mark_range(self) -> None:
        """Marks the rows shown from the one marked last to the cursor, in either direction."""
        self.finish_work()
        last, cursor = self.viewport.last_marked or self.viewport.cursor, self.viewport.cursor_index
        place = None if last is None else self.model.index_of(last)
        if place is not None:
            self.mark(self.model.shown[min(place, cursor) : max(place, cursor) + 1])

    def action_mark_all_shown(self) -> None:
        self.finish_work()
        self.mark(self.model.shown)

    def on_click(self, event: events.Click) -> None:
        """A row: the cursor goes there, or it is opened. A title: sorts. The scroll bar: goes."""
        self.finish_work()
        view, at = self.viewport, self.viewport.top + event.y - 1
        if event.y == 0:
            for place in self._painter.places:
                if not place.x <= event.x - paint.GUTTER <= place.x + place.width:
                    continue
                if place.index == self.model.sort_column:
                    self.reverse_sort()
                elif place.column.sort_key is not None:
                    self.sort_by(place.column.key)
        elif event.x == self.size.width - 1 and view.max_top:
            self._scroll_view((event.y - 1) * view.max_top // max(1, view.height - 1))
        elif at < len(self.model.shown):
            if at == view.cursor_index and view.user_has_moved:
                self.action_open()
            else:
                self._move_to(at)

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _roll(self, event: events.MouseScrollDown | events.MouseScrollUp) -> None:
        """The view moves, the cursor stays with its record."""
        event.stop()
        rows = _WHEEL if isinstance(event, events.MouseScrollDown) else -_WHEEL
        self._scroll_view(self.viewport.top + rows)

    def _scroll_view(self, top: int) -> None:
        self.finish_work()
        self.viewport.scroll_to(top)
        self._sync()

    # ---- painting

    def _sync(self) -> None:
        """Asks for a repaint of what looks different now, and of nothing else."""
        if self.viewport.cursor != self._cursor_told:
            self._cursor_told = self.viewport.cursor
            self.post_message(self.CursorMoved(self))
        if regions := self._look_again():
            self.refresh(*regions)

    def _look_again(self) -> list[Region]:
        """Works out how all looks, anew for another size; what has to be painted."""
        if not self.is_attached or not self.size.area:
            self._painter.size = Size(0, 0)  # fitted as soon as there is something to draw on
            return []
        if self._painter.size != self.size:
            self.viewport.resize(max(0, self.size.height - 1))
            self._painter.forget()
        return self._painter.update(self.size)

    def render_line(self, y: int) -> Strip:
        return self._painter.strip(y, self.style_of)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a part. After a change of size all are asked for before `on_resize` comes:
        they are fitted to it here, so that the very first picture has the rows.
        """
        if self._painter.size != self.size:
            self._look_again()
        return super().render_lines(crop)

    def on_resize(self) -> None:
        self._sync()

    on_show = on_resize


def _index(columns: Sequence[Column[Any]], key: str | None) -> int | None:
    return None if key is None else {column.key: at for at, column in enumerate(columns)}[key]
