"""The rows of a record table: which there are, in what order, and which are shown. No Textual.

`Rows` holds records by id and keeps two lists of ids: `order`, all of them sorted, and `shown`,
those the filter lets through. The lists are replaced, never changed in place, so whoever kept the
old one can tell what moved. A change of few rows costs as much as those rows: their places are
found by bisection. What costs as much as the table (loading, sorting, filtering) is written as a
generator that works on a draft, pauses every millisecond or so, and puts the draft in force at its
end, so that the caller decides whether to stop for it or to let other things happen meanwhile.

While `held`, the lists stay as they are: changed records show their new values in their old
places, removed ones stay as ghosts, new ones wait. `release` brings all of it up to date.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from itertools import filterfalse, islice
from operator import ne
from typing import Any, Final, Generic

from agentco_tui.text import plain
from agentco_tui.widgets.table.filter import NOTHING, Filter
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.table.order import ById, Keys, arranged, gathered
from agentco_tui.widgets.tones import Cell, Tone

_CHUNK: Final = 1_000
"""Rows worked on between two pauses."""
_FEW: Final = 1_000
"""Up to this many changes are put in place one by one rather than by sorting everything."""

GONE: Final = Cell(plain("gone"), Tone.DIM)
"""What a ghost says when nobody said what became of it."""

Steps = Iterator[bool]
"""A piece of work in slices: run it to its end, at once or with pauses. It yields True when what
it was asked for can be shown, and what follows only readies the rows for the next change."""


class Rows(Generic[R]):
    """Records by id, sorted by one column and filtered."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        search_text: Callable[[R], str] | None = None,
    ) -> None:
        """`search_text` gives the text that words of a filter are looked for in, lines apart; it
        is faster than putting the cells together, which is what is done without it.
        """
        self.columns = tuple(columns)
        self.records: dict[str, R] = {}
        self.order: list[str] = []
        self.shown: list[str] = self.order
        self.filter: Filter = NOTHING
        self.sort_column: int | None = None
        self.descending = False
        self.held = False
        self.notes: dict[str, Cell] = {}
        """What became of rows that are ghosts, or are about to be."""
        self._search_text = search_text
        self._keys = Keys()
        self._keyed_by: int | None = None
        self._arrivals = 0
        self._by_id = ById()
        self._haystacks: dict[str, str] = {}
        self._ghosts: dict[str, R] = {}
        self._waiting: dict[str, None] = {}
        self._stirred: set[str] = set()
        self._numbers: dict[str, int] = {}
        """Arrival numbers of rows that came, or came back, while held."""

    # ---- reading

    def record(self, row_id: str) -> R | None:
        """The record, also that of a ghost; None if there is none of this id."""
        found = self.records.get(row_id)
        return self._ghosts.get(row_id) if found is None else found

    def gone_from(self, ids: Set[str]) -> set[str]:
        """Those of `ids` that are ghosts or have no record."""
        lost = set(filterfalse(self.records.__contains__, ids))
        return lost | (ids & self.notes.keys()) if self.notes else lost

    def is_ghost(self, row_id: str) -> bool:
        """True if the row shows what became of its record rather than the record."""
        return row_id in self._ghosts or row_id in self.notes

    def note(self, row_id: str) -> Cell:
        """What a ghost says."""
        return self.notes.get(row_id, GONE)

    @property
    def waiting(self) -> int:
        """How many new rows would be shown after a release."""
        if not self._waiting:
            return 0
        return len(self.filter.select(self, list(self._waiting)))

    @property
    def pending(self) -> bool:
        """True if a release would change something."""
        return bool(self._waiting or self._ghosts or self._stirred or self.notes)

    def position(self, row_id: str) -> int | None:
        """Where the row stands among those shown, or None."""
        return self._keys.find(self.shown, row_id)

    def haystack(self, row_id: str) -> str:
        """The text that words are looked for in: all cells that don't depend on the clock."""
        found = self._haystacks.get(row_id)
        if found is None:
            record = self.known(row_id)
            if self._search_text is not None:
                found = self._search_text(record).casefold()
            else:
                cells = [column.cell(record).text for column in self.columns if not column.ticks]
                found = "\n".join(cells).casefold()
            self._haystacks[row_id] = found
        return found

    def haystacks(self, ids: list[str]) -> list[str]:
        """The same of many rows, faster."""
        try:
            return list(map(self._haystacks.__getitem__, ids))
        except KeyError:
            return [self.haystack(row_id) for row_id in ids]

    def folded(self, row_id: str, column: int) -> str:
        """The column's text value if it has one, otherwise what its cell shows; case folded."""
        wanted = self.columns[column]
        value = None
        if wanted.filter_value is not None:
            value = wanted.filter_value(self.known(row_id))
        if isinstance(value, str):
            return value.casefold()
        return wanted.cell(self.known(row_id)).text.casefold()

    def value(self, row_id: str, column: int) -> Any:
        """The column's value to compare with, or None if it isn't known."""
        read = self.columns[column].filter_value
        return None if read is None else read(self.known(row_id))

    def values(self, ids: list[str], column: int) -> list[Any]:
        """The same of many rows, faster."""
        read = self.columns[column].filter_value
        if read is None:
            return [None] * len(ids)
        try:
            return list(map(read, map(self.records.__getitem__, ids)))
        except KeyError:
            return [read(self.known(row_id)) for row_id in ids]

    def known(self, row_id: str) -> R:
        """The record of a row in `order`; KeyError if there is none."""
        found = self.records.get(row_id)
        return self._ghosts[row_id] if found is None else found

    # ---- changing

    def load(self, rows: Iterable[tuple[str, R]]) -> Steps:
        """Replaces all rows, and lets go of what was held back."""
        draft = copy.copy(self)
        draft.records, rest = {}, iter(rows)
        while chunk := list(islice(rest, _CHUNK)):
            draft.records.update(chunk)
            yield False
        draft._keys, draft._haystacks = Keys(), {}
        draft._settle_held()
        yield False
        yield from self._adopt_sorted(draft)

    def apply(self, upserts: Iterable[tuple[str, R]], removed: Iterable[str]) -> Steps:
        """Takes in added and changed records and the ids of removed ones."""
        put = dict(upserts)
        gone = [
            row_id
            for row_id in dict.fromkeys(removed)
            if row_id in self.records and row_id not in put
        ]
        for row_id in (*put, *gone):
            self._haystacks.pop(row_id, None)
        if self.held:
            self._apply_held(put, gone)
            return
        yield from self._place(put, gone)

    def _apply_held(self, put: dict[str, R], gone: list[str]) -> None:
        for row_id, record in put.items():
            if row_id in self.records:
                if row_id not in self._waiting:
                    self._stirred.add(row_id)
            elif self._ghosts.pop(row_id, None) is not None:
                self.notes.pop(row_id, None)
                self._stirred.add(row_id)
                self._number(row_id)
            else:
                self._waiting[row_id] = None
                self._number(row_id)
            self.records[row_id] = record
        for row_id in gone:
            record = self.records.pop(row_id)
            self._stirred.discard(row_id)
            if row_id in self._waiting:
                del self._waiting[row_id]
            else:
                self._ghosts[row_id] = record

    def release(self) -> Steps:
        """Brings the order up to date with all that happened while held, and ends the hold."""
        self.held = False
        ghosts, stirred, waiting = self._ghosts, self._stirred, self._waiting
        put = {row_id: self.records[row_id] for row_id in (*stirred, *waiting)}
        if ghosts:
            self.records = {**self.records, **ghosts}
        self._settle_held()
        yield from self._place(put, list(ghosts))

    def sort(self, column: int | None, descending: bool) -> Steps:
        """Sorts by a column, or by order of arrival; brings held rows up to date too."""
        draft = copy.copy(self)
        draft.sort_column, draft.descending = column, descending
        draft._settle_held()
        yield from self._adopt_sorted(draft)

    def refilter(self, wanted: Filter, anew: bool = False) -> Steps:
        """Shows what `wanted` lets through; brings held rows up to date too. `anew` looks at all
        rows again, because time has passed.
        """
        draft = copy.copy(self)
        draft.filter = wanted
        if self.pending:
            draft._settle_held()
            yield from self._adopt_sorted(draft)
            return
        narrower = not anew and bool(self.filter) and wanted.narrows(self.filter)
        yield from draft._select(self.shown if narrower else self.order)
        self._adopt(draft)

    def warm(self) -> Steps:
        """Reads the text of all rows, so that the first filter finds it ready."""
        for chunk in _chunks(self.order):
            for row_id in chunk:
                if row_id in self.records:
                    self.haystack(row_id)
            yield False

    # ---- within

    def _adopt(self, draft: Rows[R]) -> None:
        self.__dict__.update(draft.__dict__)

    def _settle_held(self) -> None:
        """Forgets what was held back; the caller rebuilds or places it."""
        self._ghosts, self._waiting, self._stirred, self.notes = {}, {}, set(), {}

    def _reader(self, *, of_all: bool = False) -> Callable[[R], Any] | None:
        """How a record is read for sorting; None for order of arrival."""
        if self.sort_column is None:
            return None
        column = self.columns[self.sort_column]
        if of_all and column.sort_reader is not None:
            return column.sort_reader()
        return column.sort_key or (lambda _: None)

    def _number(self, row_id: str) -> int:
        self._arrivals += 1
        self._numbers[row_id] = self._arrivals
        return self._arrivals

    def _arrival(self, row_id: str, known: dict[str, int]) -> int:
        number = self._numbers.get(row_id, known.get(row_id))
        return self._number(row_id) if number is None else number

    def _key(self, row_id: str, record: R) -> Any:
        """What the row is sorted by; None comes last."""
        read = self._reader()
        if read is None:
            return self._arrival(row_id, self._keys.of)
        return _comparable([read(record)])[0]

    def _place(self, put: dict[str, R], gone: list[str]) -> Steps:
        """Puts few changed rows where they belong; with many it is cheaper to sort anew."""
        as_wished = (self._keyed_by, self._keys.descending) == (self.sort_column, self.descending)
        if not as_wished or len(put) + len(gone) > max(_FEW, len(self.records) // 8):
            draft = copy.copy(self)
            draft.records = {**self.records, **put}
            for row_id in gone:
                del draft.records[row_id]
                draft.notes.pop(row_id, None)
            yield from self._adopt_sorted(draft)
            return
        keys = {row_id: self._key(row_id, record) for row_id, record in put.items()}
        of = self._keys.of
        moved = [row_id for row_id, key in keys.items() if row_id in of and of[row_id] != key]
        new = [row_id for row_id in put if row_id not in of]
        filtered = self.shown is not self.order
        order = self._keys.without(self.order, [*moved, *gone])
        shown = self._keys.without(self.shown, [*put, *gone]) if filtered else order
        self.records.update(put)
        for row_id in gone:
            del self.records[row_id], of[row_id]
            self.notes.pop(row_id, None)
        of.update(keys)
        self._numbers = {}
        self.order = self._keys.having(order, [*moved, *new])
        if filtered:
            shown = self._keys.having(shown, self.filter.select(self, list(put)))
            if shown != self.shown:
                self.shown = shown
        else:
            self.shown = self.order

    def _adopt_sorted(self, draft: Rows[R]) -> Steps:
        """Sorts a draft anew and puts it in force."""
        keys = yield from draft._rebuild()
        self._adopt(draft)
        yield True
        yield from self._keys.put_in(zip(self.records, keys, strict=True))

    def _rebuild(self) -> Generator[bool, None, list[Any]]:
        """Works out order and what is shown; the keys of all records, in their turn, which are
        still to be put in.
        """
        known = self._keys.of if self.sort_column is None and self._keyed_by is None else {}
        if not known:
            self._arrivals, self._numbers = 0, {}
        self._keyed_by = self.sort_column
        records, ids = self.records, list(self.records)
        read = self._reader(of_all=True)
        in_turn: list[Any] = []
        if read is None:
            for chunk in _chunks(ids):
                in_turn += [self._arrival(row_id, known) for row_id in chunk]
                yield False
            self._keys = Keys(self.descending)
            self._keys.of.update(zip(ids, in_turn, strict=True))
        else:
            rest = iter(records.values())
            while some := list(islice(rest, _CHUNK)):
                in_turn += _comparable(list(map(read, some)))
                yield False
            self._keys = Keys(
                self.descending, lambda row_id: _comparable([read(records[row_id])])[0]
            )
        self._numbers = {}
        self._by_id = yield from self._by_id.of(ids)
        order = yield from arranged(in_turn, self._by_id.places, self.descending)
        self.order = yield from gathered(ids, order)
        yield from self._select(self.order)
        return in_turn

    def _select(self, candidates: list[str]) -> Steps:
        if not self.filter:
            self.shown = self.order
            return
        kept: list[str] = []
        for chunk in _chunks(candidates):
            kept += self.filter.select(self, chunk)
            yield False
        self.shown = kept


def _comparable(keys: list[Any]) -> list[Any]:
    """The keys, NaN, which has no place in an order, as not known."""
    if any(map(ne, keys, keys)):
        return [None if key != key else key for key in keys]  # noqa: PLR0124
    return keys


def _chunks(ids: list[str]) -> Iterator[list[str]]:
    """The ids in lists short enough to pause after each."""
    return (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))
