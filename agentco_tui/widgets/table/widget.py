"""A table of records that costs what changes: rows by id, sorted, filtered, marked, held still.

It is given records and what changed about them (`load`, `apply`), never widgets or strings, and
works out itself which cells of the screen look different now. Only those are painted, so a change
that can't be seen writes nothing to the terminal. Cursor, marks and view belong to records, not to
row numbers, and stay with them through every insert, removal and sort.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from time import monotonic, perf_counter
from typing import Any, Final

from textual.message import Message

from agentco_tui import background
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.widgets.table.filter import FilterError, parse
from agentco_tui.widgets.table.hand import TableHand
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.table.model import Steps
from agentco_tui.widgets.tones import Cell
from agentco_tui.widgets.workers import start_worker

_AT_ONCE: Final = 20
"""Steps (of about a thousand rows) that are always taken at once."""
_ASKED_SLICE: Final = 0.016
"""Seconds of such work in one go while a person waits for it."""
_FILTER_AGES: Final = 10.0
"""Seconds after which a filter on a ticking column is applied anew."""


class TableState(Enum):
    """What the rows are worth at the moment."""

    LOADING = "loading"
    """No answer yet."""
    READY = "ready"
    STALE = "stale"
    """The rows are the last that were read; they are shown dimmed."""
    FAILED = "failed"
    """The last read failed; rows from before are shown dimmed, a text if there are none."""


class RecordTable(TableHand[R], can_focus=True):
    """The table. Rows are pairs of an id and a record of type R."""

    @dataclass
    class Told(Message):
        """What a table tells."""

        table: RecordTable[Any]

        @property
        def control(self) -> RecordTable[Any]:
            """The table, for `@on(..., selector)`."""
            return self.table

    @dataclass
    class SortChanged(Told):
        """The table is sorted by another column or the other way."""

        key: str | None
        descending: bool

    @dataclass
    class HeldChanged(Told):
        """The hold began or ended, or the number of new rows that wait changed."""

        held: bool
        new: int

    @dataclass
    class Settled(Told):
        """Work on a large table that took several turns is done: rows and counts are right now."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        *,
        search_text: Callable[[R], str] | None = None,
        sort: tuple[str, bool] | None = None,
        empty_text: SafeText | None = None,
        can_mark: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`search_text` is what the words of a filter are looked for in (default: all cells);
        `sort` names a column and whether the highest comes first; without it rows stay in the
        order they came in. `can_mark` says whether space marks rows.
        """
        super().__init__(columns, search_text, can_mark, id, classes)
        self.empty_text = plain("nothing here") if empty_text is None else empty_text
        if sort is not None:
            self._rows.sort_column, self._rows.descending = self._column(sort[0]), sort[1]
        self._state = TableState.LOADING
        self._state_text: SafeText | None = None
        self._work: Steps | None = None
        self._work_from: list[str] | None = None  # what was shown before, until its work is shown
        self._sort_due: tuple[int | None, bool] | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._told, self._filtered_at = (False, 0), 0.0

    # ---- rows

    def load(self, rows: Iterable[tuple[str, R]]) -> None:
        """Replaces all rows. The state becomes READY.

        Rows beyond some ten thousand are taken in over several turns of the event loop, and
        `Settled` says when they are; so it is with sorting and filtering. Whatever is done to the
        table before that finishes it first.
        """
        self._finish()
        self._become(TableState.READY)
        self._do(self._rows.load(rows))

    def apply(
        self,
        added: Iterable[tuple[str, R]] = (),
        changed: Iterable[tuple[str, R]] = (),
        removed: Iterable[str] = (),
    ) -> None:
        """Takes in what changed. Rows may be called added or changed alike; ids that aren't there
        may be removed. A state of LOADING becomes READY.
        """
        if self._state is TableState.LOADING:
            self._become(TableState.READY)
        self._finish()
        self._do(self._rows.apply((*added, *changed), removed))

    def tick(self) -> None:
        """Repaints the cells on the screen whose text the clock has changed."""
        super().tick()
        rows = self._rows
        ticks = any(rows.columns[index].ticks for index in rows.filter.columns)
        if ticks and not rows.held and monotonic() - self._filtered_at > _FILTER_AGES:
            self._finish()
            self._filtered_at = monotonic()
            self._do(rows.refilter(rows.filter, anew=True))

    def record(self, row_id: str) -> R | None:
        """The record with this id, also the last one of a ghost."""
        return self._rows.record(row_id)

    def is_ghost(self, row_id: str) -> bool:
        """True if the row only shows what became of its record."""
        return self._rows.is_ghost(row_id)

    @property
    def columns(self) -> tuple[Column[R], ...]:
        """The columns, shown or not."""
        return self._rows.columns

    @property
    def shown_count(self) -> int:
        """How many rows the filter lets through, ghosts included."""
        return len(self._rows.shown)

    @property
    def total_count(self) -> int:
        """How many records there are."""
        return len(self._rows.records)

    @property
    def shown_ids(self) -> Sequence[str]:
        """The ids shown, from top to bottom; not to be changed."""
        return self._rows.shown

    @property
    def busy(self) -> bool:
        """True while a large sort, filter or load is still being worked on."""
        return self._work_from is not None

    async def settled(self) -> None:
        """Returns when no work is under way that would change what is shown."""
        await self._idle.wait()

    # ---- state

    @property
    def state(self) -> TableState:
        """What the rows are worth."""
        return self._state

    def set_state(self, state: TableState, text: SafeText | None = None) -> None:
        """Says what the rows are worth; `text` is shown if there are none."""
        if (state, text) == (self._state, self._state_text):
            return
        self._become(state, text)
        self._sync()

    def set_stale(self, stale: bool) -> None:
        """Dims the body, or takes that back; loading and failed stay what they are."""
        if stale and self._state is TableState.READY:
            self.set_state(TableState.STALE)
        elif not stale and self._state is TableState.STALE:
            self.set_state(TableState.READY)

    def _become(self, state: TableState, text: SafeText | None = None) -> None:
        self._state, self._state_text = state, text
        stale = state in {TableState.STALE, TableState.FAILED}
        if stale is not self._stale:
            self._stale = stale
            self._lines.clear()

    def _text_instead(self) -> SafeText:
        if self._rows.records and self._rows.filter:
            return plain(
                f"no row matches {safe(self._rows.filter.text, 60)}, esc clears the filter"
            )
        if self._state_text is not None:
            return self._state_text
        if self._state is TableState.LOADING:
            return plain("loading…")
        if self._state is TableState.FAILED:
            return plain("could not be read")
        return self.empty_text

    # ---- sort and filter

    @property
    def sort(self) -> tuple[str | None, bool]:
        """The key of the column sorted by, or about to be, and whether the highest comes first."""
        column, descending = self._sort_due or (self._rows.sort_column, self._rows.descending)
        return (None if column is None else self._rows.columns[column].key), descending

    def sort_by(self, key: str | None, descending: bool | None = None) -> None:
        """Sorts by a column, in its usual direction if none is given; None is order of arrival.

        KeyError if there is no such column, ValueError if it can't be sorted by.
        """
        self._finish()
        column = None if key is None else self._column(key)
        if column is not None and self._rows.columns[column].sort_key is None:
            raise ValueError(f"column {key} can't be sorted by")
        if descending is None:
            descending = column is not None and self._rows.columns[column].descending_first
        self._sort_due = column, descending
        self._do(self._rows.sort(column, descending), asked=True)
        self.post_message(self.SortChanged(self, key, descending))

    def cycle_sort(self) -> None:
        """Sorts by the next column that can be sorted by, from left to right."""
        self._finish()
        columns = self._rows.columns
        able = [at for at, column in enumerate(columns) if column.sort_key and column.shown]
        if not able:
            return
        now = self._rows.sort_column
        after = [at for at in able if now is not None and at > now]
        self.sort_by(columns[(after or able)[0]].key)

    def reverse_sort(self) -> None:
        """The same column, the other way."""
        self._finish()
        key, descending = self.sort
        self.sort_by(key, not descending)

    def _column(self, key: str) -> int:
        for index, column in enumerate(self._rows.columns):
            if column.key == key:
                return index
        raise KeyError(key)

    @property
    def filter_text(self) -> str:
        """The filter in force, as it was typed."""
        return self._rows.filter.text

    def set_filter(self, text: str) -> FilterError | None:
        """Shows only what matches; the error, and the filter as before, if it can't be used."""
        wanted = parse(text, self._rows.columns)
        if isinstance(wanted, FilterError):
            return wanted
        self._finish()
        self._filtered_at = monotonic()
        self._do(self._rows.refilter(wanted), asked=True)
        return None

    def warm_filter(self) -> None:
        """Reads the text of all rows while nothing else is to do: for when a filter is opened."""
        self._finish()
        self._do(self._rows.warm())

    # ---- hold

    @property
    def hold(self) -> bool:
        """True while the order stands still; see `release`."""
        return self._rows.held

    @hold.setter
    def hold(self, wanted: bool) -> None:
        if wanted:
            if self.busy:
                self._finish()
            self._rows.held = True
            self._tell_held()
        else:
            self.release()

    @property
    def held_new(self) -> int:
        """How many new rows wait to be shown."""
        return self._rows.waiting

    def release(self) -> None:
        """Ends the hold: new rows come in, ghosts go, all is in order again."""
        self._finish()
        if self._rows.held or self._rows.pending:
            self._do(self._rows.release())

    def ghost(self, row_id: str, note: Cell | None) -> None:
        """Says what became of a row, shown in its place until the release; None takes it back."""
        self._finish()
        if note == self._rows.notes.get(row_id):
            return
        if note is None:
            self._rows.notes.pop(row_id, None)
        else:
            self._rows.notes[row_id] = note
        place = self._rows.position(row_id)
        # A set of hundreds says so of each; only what can be seen has to be drawn.
        if place is not None and self._top <= place < self._top + self._height:
            self._sync()

    def _tell_held(self) -> None:
        now = (self._rows.held, self._rows.waiting)
        if now != self._told:
            self._told = now
            self.post_message(self.HeldChanged(self, *now))

    def _title_clicked(self, column: int) -> None:
        wanted = self._rows.columns[column]
        if column == self._rows.sort_column:
            self.reverse_sort()
        elif wanted.sort_key is not None:
            self.sort_by(wanted.key)

    # ---- work on the rows

    def _do(self, steps: Steps, *, asked: bool = False) -> None:
        """Takes the steps: a few at once; a large table's in slices, others getting their turn.

        What a person has asked for doesn't wait until no key comes.
        """
        self._work, self._work_from = steps, self._rows.shown
        for taken, can_be_shown in enumerate(steps):
            if can_be_shown:
                self._show_rows()
            if taken >= _AT_ONCE and self.is_running:
                self._idle.clear()
                start_worker(self, partial(self._go_on, steps, asked=asked), "sorting rows")
                return
        self._done()

    async def _go_on(self, steps: Steps, *, asked: bool) -> None:
        while self._work is steps:
            waits = asked and self.busy
            await (asyncio.sleep(0) if waits else background.turn())
            until = perf_counter() + (_ASKED_SLICE if waits else background.SLICE)
            while self._work is steps and perf_counter() < until:
                step = next(steps, None)
                if step is None:
                    self._done()
                elif step:
                    self._show_rows()
                    # They are painted some turns of the event loop later, before work goes on.
                    await asyncio.sleep(background.QUIET)

    def _finish(self) -> None:
        """Takes what steps are left, because something else is about to happen to the rows."""
        if self._work is not None:
            for _ in self._work:
                pass
            self._done()

    def _done(self) -> None:
        self._work = None
        self._show_rows()

    def _show_rows(self) -> None:
        """Shows what the rows have become by the work, if that isn't done yet."""
        if (before := self._work_from) is None:
            return
        self._work_from = self._sort_due = None
        if not self._idle.is_set():
            self._idle.set()
            self.post_message(self.Settled(self))
        self._drop_marks()
        self._follow(before)
        self._tell_held()
        self._sync()
