"""The rows of a table: which there are, in what order, and which are shown. No Textual.

`TableModel` holds records by id and keeps two lists of ids: `order`, all of them sorted, and
`shown`, those the filter lets through. The lists are replaced, never changed in place, so whoever
kept the old one can tell what moved. A change of few rows costs as much as those rows: their places
are found by bisection. What costs as much as the table (loading, sorting, filtering) is a generator
that works on a draft, pauses every millisecond or so, and puts the draft in force at its end.

While `held`, the lists stay as they are: changed records show their new values in their old
places, removed ones stay as ghosts, new ones wait. `release` brings all of it up to date.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from itertools import chain, filterfalse, islice
from operator import ne
from typing import Any, Final, Generic, TypeAlias, TypeVar

from agentco_tui.text import plain
from agentco_tui.widgets.table.filter import NOTHING, Filter
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

CHUNK: Final = 1_000  # rows worked on between two pauses
FEW: Final = 500
"""Up to this many changes are put in place one by one rather than by sorting everything."""
RUN: Final = 12_500  # rows sorted in one go
MERGED: Final = 8
"""Runs merged in one go: each merging asks for all keys again, which takes longest of all."""

GONE: Final = Cell(plain("gone"), Tone.DIM)  # what a ghost says when nobody said what became of it

Steps: TypeAlias = Iterator[None]
"""A piece of work in slices: run it to its end, at once or with pauses."""


class TableModel(Generic[R]):
    def __init__(
        self,
        columns: Sequence[Column[R]],
        search_text: Callable[[R], str] | None = None,
        sort_column: int | None = None,
        descending: bool = False,
    ) -> None:
        """`search_text` gives the text that words of a filter are looked for in, lines apart; it
        is faster than putting the cells together, which is what is done without it.
        """
        self.columns = tuple(columns)
        self.records: dict[str, R] = {}
        self.order: list[str] = []
        self.shown: list[str] = self.order
        self.filter: Filter = NOTHING
        self.sort_column = sort_column  # None is the order in which the records came
        self.descending = descending
        self.held = False
        self.notes: dict[str, Cell] = {}  # what became of rows that are ghosts, or are about to be
        self._search_text = search_text
        self._haystacks: dict[str, str] = {}
        self._keys: list[Any] = []
        """What rows are sorted by, by their numbers; not used in the order of arrival."""
        self._numbers: dict[str, int] = {}
        self._numbered: list[str] | None = None
        """The ids by their numbers; None once rows came or went one by one."""
        self._by_id: Sequence[int] = ()
        """Numbers in the order of the ids, which decides between equal keys."""
        self._ghosts: dict[str, R] = {}
        self._waiting: dict[str, None] = {}
        self._stirred: set[str] = set()

    def record(self, row_id: str) -> R | None:
        """The record, also that of a ghost; None if there is none of this id."""
        found = self.records.get(row_id)
        return self._ghosts.get(row_id) if found is None else found

    def known(self, row_id: str) -> R:
        """The record of a row in `order`; KeyError if there is none."""
        found = self.records.get(row_id)
        return self._ghosts[row_id] if found is None else found

    def gone_from(self, ids: Set[str]) -> set[str]:
        """Those that are ghosts or have no record."""
        lost = set(filterfalse(self.records.__contains__, ids))
        return lost | (ids & self.notes.keys()) if self.notes else lost

    def ghost_note(self, row_id: str) -> Cell | None:
        """What became of the record, if the row shows that rather than the record."""
        return self.notes.get(row_id, GONE if row_id in self._ghosts else None)

    @property
    def waiting(self) -> int:
        """How many new rows would be shown after a release."""
        return len(self.filter.select(self.read, list(self._waiting))) if self._waiting else 0

    @property
    def pending(self) -> bool:
        return bool(self._waiting or self._ghosts or self._stirred or self.notes)

    def position(self, row_id: str) -> int | None:
        return self._find(self.shown, row_id)

    def read(self, ids: list[str], column: int | None, as_text: bool) -> list[Any]:
        """What a filter looks at: the column's values or texts, or those of whole rows (None).

        Texts have their case folded. A whole row has all cells that don't depend on the clock.
        """
        if column is None:
            texts = self._haystacks
            with suppress(KeyError):
                return list(map(texts.__getitem__, ids))
            for row_id in filterfalse(texts.__contains__, ids):
                record = self.known(row_id)
                if self._search_text is not None:
                    text = self._search_text(record)
                else:
                    cells = (one.cell(record).text for one in self.columns if not one.ticks)
                    text = "\n".join(cells)
                texts[row_id] = text.casefold()
            return list(map(texts.__getitem__, ids))
        shows, value = self.columns[column].cell, self.columns[column].filter_value
        if not as_text:
            return list(map(value or _no_key, map(self.known, ids)))
        found = []
        for record in map(self.known, ids):
            own = None if value is None else value(record)
            found.append((own if isinstance(own, str) else shows(record).text).casefold())
        return found

    def load(self, rows: Iterable[tuple[str, R]]) -> Steps:
        """Replaces all rows, and lets go of what was held back."""
        draft = copy.copy(self)
        draft.records, draft._haystacks, rest = {}, {}, iter(rows)
        while chunk := list(islice(rest, CHUNK)):
            draft.records.update(chunk)
            yield
        draft._forget_held()
        yield from self._adopt_sorted(draft)

    def apply(self, upserts: Iterable[tuple[str, R]], removed: Iterable[str]) -> Steps:
        put = dict(upserts)
        gone = [
            row_id
            for row_id in dict.fromkeys(removed)
            if row_id in self.records and row_id not in put
        ]
        for row_id in (*put, *gone):
            self._haystacks.pop(row_id, None)
        if not self.held:
            yield from self._place(put, gone)
            return
        for row_id, record in put.items():
            if row_id in self.records:
                if row_id not in self._waiting:
                    self._stirred.add(row_id)
            elif self._ghosts.pop(row_id, None) is not None:
                self.notes.pop(row_id, None)
                self._stirred.add(row_id)
            else:
                self._waiting[row_id] = None
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
        ghosts = self._ghosts
        put = {row_id: self.records[row_id] for row_id in (*self._stirred, *self._waiting)}
        if ghosts:
            self.records = {**self.records, **ghosts}
        self._forget_held()
        yield from self._place(put, list(ghosts))

    def sort(self, column: int | None, descending: bool) -> Steps:
        """Sorts by a column, or by order of arrival; brings held rows up to date too."""
        draft = copy.copy(self)
        draft.sort_column, draft.descending = column, descending
        draft._forget_held()
        yield from self._adopt_sorted(draft)

    def refilter(self, wanted: Filter, anew: bool = False) -> Steps:
        """Shows what `wanted` lets through; brings held rows up to date too. `anew` looks at all
        rows again, because time has passed.
        """
        draft = copy.copy(self)
        draft.filter = wanted
        if self.pending:
            draft._forget_held()
            yield from self._adopt_sorted(draft)
            return
        narrower = not anew and bool(self.filter) and wanted.narrows(self.filter)
        yield from draft._select(self.shown if narrower else self.order)
        self.__dict__.update(draft.__dict__)

    def warm(self) -> Steps:
        """Reads the text of all rows, so that the first filter finds it ready."""
        for chunk in chunks(self.order):
            self.read(chunk, None, True)
            yield

    # ---- order

    def _forget_held(self) -> None:
        """Forgets what was held back; the caller places it or sorts all."""
        self._ghosts, self._waiting, self._stirred, self.notes = {}, {}, set(), {}

    def _adopt_sorted(self, draft: TableModel[R]) -> Steps:
        yield from draft._sort()
        yield from draft._select(draft.order)
        self.__dict__.update(draft.__dict__)

    def _sort(self) -> Steps:
        ids = list(self.records)
        if self.sort_column is None:
            self.order = ids[::-1] if self.descending else ids
            return
        if ids != self._numbered:
            self._numbered, self._numbers = ids, {}
            for chunk in chunks(ids):
                start = len(self._numbers)
                self._numbers.update(zip(chunk, range(start, start + CHUNK), strict=False))
                yield
            by_id = yield from sorted_in_runs(range(len(ids)), ids.__getitem__)
            self._by_id = array("L", by_id)
        column = self.columns[self.sort_column]
        read = column.sort_reader() if column.sort_reader else column.sort_key or _no_key
        self._keys = []
        rest = iter(self.records.values())
        while some := list(islice(rest, CHUNK)):
            self._keys += comparable(list(map(read, some)))
            yield
        # Numbers are sorted and not ids: going through a hundred thousand strings in another order
        # than they lie in the memory takes longer than all else here.
        keys, known, unknown = self._keys, self._by_id, list[int]()
        if None in keys:
            known = [number for number in self._by_id if keys[number] is not None]
            unknown = [number for number in self._by_id if keys[number] is None]
        yield
        if known and not isinstance(keys[known[0]], int | float):
            # Numbers in the same order are far faster to compare, and many rows may share a key.
            differing = yield from sorted_in_runs(list({key for key in keys if key is not None}))
            ranks = dict(zip(differing, range(len(differing)), strict=True))
            keys = list(map(ranks.get, keys))
            yield
        numbers = yield from sorted_in_runs(known, keys.__getitem__, self.descending)
        self.order = []
        for few in chunks(numbers + unknown):
            self.order += map(ids.__getitem__, few)
            yield

    def _select(self, candidates: list[str]) -> Steps:
        if not self.filter:
            self.shown = self.order
            return
        kept: list[str] = []
        for chunk in chunks(candidates):
            kept += self.filter.select(self.read, chunk)
            yield
        self.shown = kept

    def _place(self, put: dict[str, R], gone: list[str]) -> Steps:
        """Puts few changed rows where they belong; with many it is cheaper to sort anew."""
        worn = len(self._keys) > 2 * len(self.records) + FEW
        if self.sort_column is None or worn or len(put) + len(gone) > FEW:
            draft = copy.copy(self)
            draft.records = {**self.records, **put}
            for row_id in gone:
                del draft.records[row_id]
                self.notes.pop(row_id, None)
            yield from self._adopt_sorted(draft)
            return
        keys, numbers = self._keys, self._numbers
        read = self.columns[self.sort_column].sort_key or _no_key
        now = {row_id: comparable([read(record)])[0] for row_id, record in put.items()}
        new = [row_id for row_id in put if row_id not in numbers]
        moved = [
            row_id
            for row_id, key in now.items()
            if row_id in numbers and keys[numbers[row_id]] != key
        ]
        filtered = self.shown is not self.order
        order = self._without(self.order, [*moved, *gone])
        shown = self._without(self.shown, [*put, *gone]) if filtered else order
        self.records.update(put)
        for row_id in gone:
            del self.records[row_id], numbers[row_id]
            self.notes.pop(row_id, None)
        if new or gone:
            self._numbered = None
        for row_id in new:
            numbers[row_id] = len(keys)
            keys.append(now[row_id])
        for row_id in moved:
            keys[numbers[row_id]] = now[row_id]
        self.order = self._having(order, [*moved, *new])
        if filtered:
            shown = self._having(shown, self.filter.select(self.read, list(put)))
            self.shown = self.shown if shown == self.shown else shown
        else:
            self.shown = self.order

    def _find(self, ids: list[str], row_id: str) -> int | None:
        if self.sort_column is None:
            return next((place for place, other in enumerate(ids) if other == row_id), None)
        if row_id not in self._numbers:
            return None
        place = self._bisect(ids, row_id)
        return place if place < len(ids) and ids[place] == row_id else None

    def _bisect(self, ids: list[str], row_id: str) -> int:
        """The first place in `ids` that doesn't stand above a row whose key is known."""
        keys, numbers, descending = self._keys, self._numbers, self.descending
        key = keys[numbers[row_id]]
        low, high = 0, len(ids)
        while low < high:
            middle = (low + high) // 2
            other = ids[middle]
            other_key = keys[numbers[other]]
            if other_key is None or key is None:
                above = other_key is not None or (key is None and other < row_id)
            elif other_key == key:
                above = other < row_id
            else:
                above = other_key > key if descending else other_key < key
            if above:
                low = middle + 1
            else:
                high = middle
        return low

    def _without(self, ids: list[str], out: Iterable[str]) -> list[str]:
        """`ids` without those of `out` that are in it; the same list if there are none."""
        places = sorted(place for row_id in out if (place := self._find(ids, row_id)) is not None)
        if not places:
            return ids
        kept: list[str] = []
        start = 0
        for place in places:
            kept += ids[start:place]
            start = place + 1
        kept += ids[start:]
        return kept

    def _having(self, ids: list[str], new: Iterable[str]) -> list[str]:
        """`ids` with new ones, whose keys are known by now, in their places; the same list if
        there are none.
        """
        keys = {row_id: self._keys[self._numbers[row_id]] for row_id in sorted(new)}
        if not keys:
            return ids
        added = [row_id for row_id, key in keys.items() if key is not None]
        added.sort(key=keys.__getitem__, reverse=self.descending)
        added += [row_id for row_id, key in keys.items() if key is None]
        grown: list[str] = []
        start = 0
        for row_id in added:
            place = self._bisect(ids, row_id)
            grown += ids[start:place]
            grown.append(row_id)
            start = place
        grown += ids[start:]
        return grown


def sorted_in_runs(
    items: Sequence[T], key: Callable[[T], Any] | None = None, descending: bool = False
) -> Generator[None, None, list[T]]:
    """`items` sorted, equal ones in the order they came: short runs are sorted, then merged by
    eights, as Python's sort does with sorted runs in one list.
    """
    runs = [list(items[start : start + RUN]) for start in range(0, len(items), RUN)]
    for run in runs:
        run.sort(key=key, reverse=descending)
        yield
    while len(runs) > 1:
        few = [runs[start : start + MERGED] for start in range(0, len(runs), MERGED)]
        runs = []
        for some in few:
            runs.append(list(chain.from_iterable(some)))
            runs[-1].sort(key=key, reverse=descending)
            yield
    return runs[0] if runs else []


def _no_key(_: object) -> None:
    """The key in a column that can't be sorted by."""


def comparable(keys: list[Any]) -> list[Any]:
    """The keys, NaN, which has no place in an order, as not known."""
    if any(map(ne, keys, keys)):
        return [None if key != key else key for key in keys]  # noqa: PLR0124
    return keys


def chunks(items: list[T]) -> Iterator[list[T]]:
    """The items in lists short enough to pause after each."""
    return (items[start : start + CHUNK] for start in range(0, len(items), CHUNK))
