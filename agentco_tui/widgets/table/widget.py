"""A table of records that costs what changes: rows by id, sorted, filtered, marked, held still.

It is given records and what changed about them (`load`, `apply`), never widgets or strings, and
works out itself which cells of the screen look different now. Only those are painted, so a change
that can't be seen writes nothing to the terminal. Cursor, marks and view belong to records, not to
row numbers, and stay with them through every insert, removal and sort.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from time import monotonic
from typing import Any, ClassVar, Final, Generic

from textual import events, on
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from agentco_tui.background import at_once, in_slices, start_worker
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.widgets.table import paint
from agentco_tui.widgets.table.filter import parse
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.table.model import Steps, TableModel
from agentco_tui.widgets.table.viewport import Viewport
from agentco_tui.widgets.tones import Cell, TonedWidget

_AT_ONCE: Final = 20  # steps (of about a millisecond) that are always taken at once
_FILTER_AGES: Final = 10.0  # seconds after which a filter on a ticking column is applied anew
_WHEEL: Final = 3  # rows that one notch of the wheel scrolls


class TableState(Enum):
    LOADING = "loading"  # no answer yet
    READY = "ready"
    STALE = "stale"  # the rows are the last that were read; they are shown dimmed
    FAILED = "failed"
    """The last read failed; rows from before are shown dimmed, a text if there are none."""


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
            self.row_id = table.view.cursor or ""  # the row with the cursor, if there is one

    class CursorMoved(TableMessage):
        """The cursor is on another record now, or on none."""

    class Opened(TableMessage):
        """Enter on a row, or a click on the row with the cursor."""

    class MarksChanged(TableMessage):
        """Other records are marked now."""

    class WorkDone(TableMessage):
        """Work on a large table that took several turns is done: rows and counts are right now."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        *,
        search_text: Callable[[R], str] | None = None,
        sort: tuple[str, bool] | None = None,
        empty_text: SafeText | None = None,
        can_mark: bool = False,
    ) -> None:
        """`search_text` is what the words of a filter are looked for in (default: all cells);
        `sort` names a column and whether the highest comes first; without it rows stay in the
        order they came in. `can_mark` says whether the actions for marking mark rows.
        """
        super().__init__()
        key, descending = sort or (None, False)
        self.rows = TableModel(columns, search_text, _index(columns, key), descending)
        """The records and their order: to be read; whoever changes them does so here."""
        self.view = Viewport(self.rows)
        self.idle = asyncio.Event()  # set while no work is done in slices
        self.idle.set()
        self._painter = paint.TablePainter(self.rows, self.view, self._text_instead)
        self._fit_due = True  # as soon as there is something to draw on
        self.can_mark = can_mark
        self.empty_text = plain("nothing here") if empty_text is None else empty_text
        self._cursor_told: str | None = None
        self.state = TableState.LOADING
        self._state_text: SafeText | None = None
        self._filtered_at = 0.0
        self._work: Generator[None, None, None]

    def load(self, rows: Iterable[tuple[str, R]]) -> None:
        """Replaces all rows. The state becomes READY. More than some ten thousand are taken in over
        several turns of the event loop (sorted and filtered, too), and `WorkDone` says when they
        are; what is done to the table before that finishes it first.
        """
        self.set_state(TableState.READY)
        self._do(self.rows.load(rows))

    def apply(
        self,
        added: Iterable[tuple[str, R]] = (),
        changed: Iterable[tuple[str, R]] = (),
        removed: Iterable[str] = (),
    ) -> None:
        """Takes in what changed. Rows may be called added or changed alike; ids that aren't there
        may be removed. A state of LOADING becomes READY.
        """
        if self.state is TableState.LOADING:
            self.set_state(TableState.READY)
        self._do(self.rows.apply((*added, *changed), removed))

    def tick(self) -> None:
        """Repaints the cells on the screen whose text the clock has changed."""
        if self._painter.tick():
            self._sync()
        model = self.rows
        at = [term.column for term in model.filter.terms if term.column is not None]
        ticks = any(model.columns[index].ticks for index in at)
        if ticks and not model.held and monotonic() - self._filtered_at > _FILTER_AGES:
            self._filtered_at = monotonic()
            self._do(model.refilter(model.filter, anew=True))

    def renew(self) -> None:
        """Looks again at all cells on the screen: what they take from elsewhere has changed."""
        self._painter.pieces.clear()
        self._sync()

    def set_state(self, state: TableState, text: SafeText | None = None) -> None:
        """Says what the rows are worth; `text` is shown if there are none."""
        if (state, text) == (self.state, self._state_text):
            return
        self.state, self._state_text = state, text
        stale = state in {TableState.STALE, TableState.FAILED}
        if stale is not self.view.stale:
            self.view.stale = stale
            self._painter.forget()
        self._sync()

    def _text_instead(self) -> SafeText:
        if self.rows.records and self.rows.filter:
            typed = safe(self.rows.filter.text, 60)
            return plain(f"no row matches {typed}, esc clears the filter")
        said = {TableState.LOADING: "loading…", TableState.FAILED: "could not be read"}
        return self._state_text or plain(said.get(self.state, self.empty_text))

    # ---- sort and filter

    @property
    def sort(self) -> tuple[str | None, bool]:
        """The key of the column sorted by, and whether the highest comes first."""
        column = self.rows.sort_column
        return (None if column is None else self.rows.columns[column].key), self.rows.descending

    def sort_by(self, key: str | None, descending: bool | None = None) -> None:
        """Sorts by a column, in its usual direction if none is given; None is order of arrival."""
        index = _index(self.rows.columns, key)
        if descending is None:
            descending = index is not None and self.rows.columns[index].descending_first
        self._do(self.rows.sort(index, descending), asked=True)

    def cycle_sort(self) -> None:
        self.finish()
        now, columns = self.rows.sort_column, self.rows.columns
        at = 0 if now is None else now + 1
        for column in columns[at:] + columns[:at]:
            if column.sort_key and column.shown:
                self.sort_by(column.key)
                break

    def reverse_sort(self) -> None:
        self.finish()
        self.sort_by(self.sort[0], not self.sort[1])

    def set_filter(self, text: str) -> SafeText | None:
        """Shows only what matches; what is wrong, and the filter as before, if it can't be used."""
        wanted = parse(text, self.rows.columns)
        if isinstance(wanted, str):
            return wanted
        self._filtered_at = monotonic()
        self._do(self.rows.refilter(wanted), asked=True)
        return None

    def warm_filter(self) -> None:
        """Reads the text of all rows while nothing else is to do."""
        self._do(self.rows.warm())

    def hold(self) -> None:
        """From now on the order stands still, until the release."""
        self.finish()
        self.rows.held = True

    def release(self) -> None:
        """Ends the hold, with new rows in, ghosts gone, all in order."""
        if self.rows.held or self.rows.pending:
            self._do(self.rows.release())

    def ghost(self, row_id: str, note: Cell | None) -> None:
        """Says what became of a row, shown in its place until the release; None takes it back."""
        self.finish()
        notes, place = self.rows.notes, self.rows.position(row_id)
        if note == notes.get(row_id):
            return
        if note is None:
            del notes[row_id]
        else:
            notes[row_id] = note
        # A set of hundreds says so of each; only what can be seen has to be drawn.
        if place is not None and self.view.shows(place):
            self._sync()

    def remark(self, remarks: Mapping[str, Cell]) -> None:
        """Says something of rows, in the place where a ghost says what became of it; of no others.
        Ids without a row are kept: the row may come, or come back.
        """
        if remarks != self.view.remarks:
            self.view.remarks = dict(remarks)
            self._sync()

    def _do(self, steps: Steps, *, asked: bool = False) -> None:
        """Takes the steps after those of the work before; none has begun to run yet."""
        self.finish()
        self._work = work = self._worked_off(steps)
        for taken, _ in enumerate(work):
            if taken >= _AT_ONCE and self.is_running:
                self.idle.clear()
                start_worker(self, partial(in_slices, work, asked=asked), "sorting rows")
                return

    def _worked_off(self, steps: Steps) -> Generator[None, None, None]:
        before = self.rows.shown
        yield from steps
        if not self.idle.is_set():
            self.idle.set()
            self.post_message(self.WorkDone(self))
        self.view.follow(before)
        if self.view.marks:
            self.mark(self.rows.gone_from(self.view.marks.keys()), False)
        self._sync()

    def finish(self) -> None:
        """Takes at once what steps are left: something else is about to happen."""
        if not self.idle.is_set():
            at_once(self._work)

    # ---- cursor and marks

    def move_cursor_to(self, row_id: str) -> bool:
        self.finish()
        place = self.rows.position(row_id)
        if place is not None:
            self._move_to(place)
        return place is not None

    def _move_to(self, place: int) -> None:
        self.finish()
        self.view.move_to(place)
        self._sync()

    def action_move(self, rows: int) -> None:
        self._move_to(self.view.cursor_at + rows)

    def action_page(self, pages: int) -> None:
        self.finish()
        step = max(1, self.view.height - 1) * pages
        self.view.scroll_to(self.view.top + step)
        self._move_to(self.view.cursor_at + step)

    def action_first(self) -> None:
        """The cursor on the first row; from now on the top of the list stays in view."""
        self._move_to(0)
        self.view.touched = False

    def action_last(self) -> None:
        self._move_to(len(self.rows.shown) - 1)

    def action_open(self) -> None:
        if self.view.cursor is not None:
            self.post_message(self.Opened(self))

    @property
    def marked(self) -> tuple[str, ...]:
        """In the order they were marked."""
        return tuple(self.view.marks)

    def mark(self, ids: Iterable[str], wanted: bool = True) -> None:
        """Marks these records, or takes their marks away; ids that have none, and ghosts, are
        passed over.
        """
        view, before, asked = self.view, len(self.view.marks), dict.fromkeys(ids)
        gone = self.rows.gone_from(asked.keys()) if wanted else asked.keys() - view.marks.keys()
        for row_id in asked:
            if row_id not in gone:
                view.marked_last = row_id
                if wanted:
                    view.marks[row_id] = None
                else:
                    del view.marks[row_id]
        if len(view.marks) != before:
            self.post_message(self.MarksChanged(self))
            self._sync()

    def clear_marks(self) -> None:
        self.mark(self.marked, False)
        self.view.marked_last = None

    def action_toggle_mark(self) -> None:
        row_id = self.view.cursor
        if self.can_mark and row_id is not None:
            self.mark([row_id], row_id not in self.view.marks)
            self.action_move(1)

    def action_mark_range(self) -> None:
        """Marks the rows shown from the one marked last to the cursor, in either direction."""
        self.finish()
        last, cursor = self.view.marked_last or self.view.cursor, self.view.cursor_at
        place = None if last is None else self.rows.position(last)
        if self.can_mark and place is not None:
            self.mark(self.rows.shown[min(place, cursor) : max(place, cursor) + 1])

    def action_mark_all_shown(self) -> None:
        self.finish()
        if self.can_mark:
            self.mark(self.rows.shown)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Lets the keys for marking through to others where nothing can be marked."""
        marks = action in {"toggle_mark", "mark_range", "mark_all_shown"}
        return self.can_mark if marks else super().check_action(action, parameters)

    def on_click(self, event: events.Click) -> None:
        """A row: the cursor goes there, or it is opened. A title: sorts. The scroll bar: goes."""
        self.finish()
        view, at = self.view, self.view.top + event.y - 1
        if event.y == 0:
            for place in self._painter.places:
                if not place.x <= event.x - paint.GUTTER <= place.x + place.width:
                    continue
                if place.index == self.rows.sort_column:
                    self.reverse_sort()
                elif place.column.sort_key is not None:
                    self.sort_by(place.column.key)
        elif event.x == self.size.width - 1 and view.last_top:
            self._scroll_view((event.y - 1) * view.last_top // max(1, view.height - 1))
        elif at < len(self.rows.shown):
            if at == view.cursor_at and view.touched:
                self.action_open()
            else:
                self._move_to(at)

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _roll(self, event: events.MouseScrollDown | events.MouseScrollUp) -> None:
        """The view moves, the cursor stays with its record."""
        event.stop()
        rows = _WHEEL if isinstance(event, events.MouseScrollDown) else -_WHEEL
        self._scroll_view(self.view.top + rows)

    def _scroll_view(self, top: int) -> None:
        self.finish()
        self.view.scroll_to(top)
        self._sync()

    # ---- painting

    def _sync(self) -> None:
        """Asks for a repaint of what looks different now, and of nothing else."""
        if self.view.cursor != self._cursor_told:
            self._cursor_told = self.view.cursor
            self.post_message(self.CursorMoved(self))
        if regions := self._look_again():
            self.refresh(*regions)

    def _look_again(self) -> list[Region]:
        """Works out how all looks, anew for another size; what has to be painted."""
        if not self.is_attached or not self.size.area:
            self._fit_due = True
            return []
        if self._fit_due or self._painter.size != self.size:
            self._fit_due = False
            self.view.fit(max(0, self.size.height - 1))
            self._painter.forget()
        return self._painter.update(self.size)

    def render_line(self, y: int) -> Strip:
        return self._painter.strip(y, self.style_of)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a part. After a change of size all are asked for before `on_resize` comes:
        they are fitted to it here, so that the very first picture has the rows.
        """
        if self._fit_due or self._painter.size != self.size:
            self._look_again()
        return super().render_lines(crop)

    def on_resize(self) -> None:
        self._sync()

    on_show = on_resize


def _index(columns: Sequence[Column[Any]], key: str | None) -> int | None:
    return None if key is None else {column.key: at for at, column in enumerate(columns)}[key]
