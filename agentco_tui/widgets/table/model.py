"""The rows of a table: which there are, in what order, and which are shown. No Textual.

`TableModel` holds records by id and keeps two lists of ids: `order`, all of them sorted, and
`shown`, those the filter lets through. The lists are replaced, never changed in place, so whoever
kept the old one can tell what moved. A change of few rows costs as much as those rows: their places
are found by bisection. What costs as much as the table (loading, sorting, filtering) is a generator
that works on a draft, pauses every millisecond or so, and puts the draft in force at its end.

While `frozen`, the lists stay as they are: changed records show their new values in their old
places, removed ones stay as tombstones, new ones wait. `release` brings all of it up to date.
"""

from __future__ import annotations

import copy
from array import array
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from itertools import chain, filterfalse, islice
from typing import Any, Final, Generic, TypeAlias, TypeVar

from agentco_tui.text import plain
from agentco_tui.text.row_filter import NOTHING, Filter
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

CHUNK: Final = 1_000  # rows worked on between two pauses
FEW: Final = 500
"""Up to this many changes are put in place one by one rather than by sorting everything."""
RUN: Final = 12_500  # rows sorted in one go
MERGED: Final = 8
"""Runs merged in one go: each merging asks for all keys again, which takes longest of all."""

GONE: Final = Cell(plain("gone"), Tone.DIM)
"""What a tombstone says if it was not set what became of the row."""

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
        self.frozen = False
        self.tombstones: dict[str, Cell] = {}
        """What became of rows that were removed while frozen, or are about to be removed."""
        self._search_text = search_text
        self._haystacks: dict[str, str] = {}
        self._keys: list[Any] = []
        """What rows are sorted by, by their numbers; not used in the order of arrival."""
        self._numbers: dict[str, int] = {}
        self._numbered: list[str] | None = None
        """The ids by their numbers; None once rows came or went one by one."""
        self._by_id: Sequence[int] = ()
        """Numbers in the order of the ids, which decides between equal keys."""
        self._removed: dict[str, R] = {}
        self._stirred: dict[str, bool] = {}
        """What came or changed while frozen: True for a row that wasn't there before."""

    def record(self, row_id: str) -> R | None:
        """The record, also that of a tombstone; None if there is none of this id."""
        found = self.records.get(row_id)
        return self._removed.get(row_id) if found is None else found

    def missing_ids(self, ids: Set[str]) -> set[str]:
        """Those that are tombstones or have no record."""
        lost = set(filterfalse(self.records.__contains__, ids))
        return lost | (ids & self.tombstones.keys()) if self.tombstones else lost

    def tombstone(self, row_id: str) -> Cell | None:
        """What became of the record, if the row shows that rather than the record."""
        return self.tombstones.get(row_id, GONE if row_id in self._removed else None)

    def records_of(self, row_ids: Iterable[str]) -> dict[str, R]:
        """Return the records of rows, also of tombstones, by the ids of the rows."""
        records = self.records
        removed = self._removed
        return {i: records[i] if i in records else removed[i] for i in row_ids}

    def tombstones_of(self, row_ids: Iterable[str]) -> dict[str, Cell]:
        """Return what became of the records of those rows that are tombstones, by their ids."""
        tombstones = self.tombstones
        removed = self._removed
        if not removed and not tombstones:
            return {}
        return {i: tombstones.get(i, GONE) for i in row_ids if i in tombstones or i in removed}

    @property
    def waiting_count(self) -> int:
        """How many new rows would be shown after a release."""
        if not self._stirred:
            return 0
        new = [row_id for row_id, is_new in self._stirred.items() if is_new]
        return len(self.filter.select(self.read, new))

    @property
    def has_held_back_changes(self) -> bool:
        return bool(self._removed or self._stirred or self.tombstones)

    def index_of(self, row_id: str, ids: list[str] | None = None) -> int | None:
        """The place of a row in the list that is shown, or in another in the same order."""
        ids = self.shown if ids is None else ids
        if self.sort_column is None:
            return ids.index(row_id) if row_id in ids else None
        place = self._bisect(ids, row_id) if row_id in self._numbers else len(ids)
        return place if ids[place : place + 1] == [row_id] else None

    def read(self, ids: list[str], column: int | None, as_text: bool) -> list[Any]:
        """What a filter looks at: the column's values or texts, or those of whole rows (None).

        Texts have their case folded. A whole row has all cells that are shown and don't depend on
        the clock.
        """
        if column is None:
            texts = self._haystacks
            for row_id in filterfalse(texts.__contains__, ids):
                record: Any = self.record(row_id)
                if self._search_text is not None:
                    text = self._search_text(record)
                else:
                    looked_at = (
                        one for one in self.columns if one.shown_by_default and not one.uses_clock
                    )
                    text = "\n".join(one.cell(record).text for one in looked_at)
                texts[row_id] = text.casefold()
            return list(map(texts.__getitem__, ids))
        shows, value = self.columns[column].cell, self.columns[column].filter_value
        records: Iterator[Any] = map(self.record, ids)
        if not as_text:
            return list(map(value or _no_key, records))
        found = []
        for record in records:
            own = None if value is None else value(record)
            found.append((own if isinstance(own, str) else shows(record).text).casefold())
        return found

    def load(self, rows: Iterable[tuple[str, R]]) -> Steps:
        """Replaces all rows, and lets go of what was held back."""
        records, rest = dict[str, R](), iter(rows)
        while chunk := list(islice(rest, CHUNK)):
            records.update(chunk)
            yield
        yield from self._anew(records=records, _haystacks={})

    def apply(self, upserts: Iterable[tuple[str, R]], removed: Iterable[str]) -> Steps:
        put = dict(upserts)
        gone = [
            row_id
            for row_id in dict.fromkeys(removed)
            if row_id in self.records and row_id not in put
        ]
        for row_id in (*put, *gone):
            self._haystacks.pop(row_id, None)
        if not self.frozen:
            yield from self._place(put, gone)
            return
        for row_id, record in put.items():
            if self._removed.pop(row_id, None) is not None:
                self.tombstones.pop(row_id, None)
                self._stirred[row_id] = False
            self._stirred.setdefault(row_id, row_id not in self.records)
            self.records[row_id] = record
        for row_id in gone:
            record = self.records.pop(row_id)
            if not self._stirred.pop(row_id, False):
                self._removed[row_id] = record

    def release(self) -> Steps:
        """Brings the order up to date with all that happened while frozen, and ends the freeze."""
        self.frozen = False
        put = {row_id: self.records[row_id] for row_id in self._stirred}
        yield from self._place(put, list(self._removed))

    def sort(self, column: int | None, descending: bool) -> Steps:
        """Sorts by a column, or by order of arrival; brings frozen rows up to date too."""
        return self._anew(sort_column=column, descending=descending)

    def refilter(self, wanted: Filter) -> Steps:
        """Shows what `wanted` lets through; brings frozen rows up to date too."""
        return self._anew(in_order=not self.has_held_back_changes, filter=wanted)

    def warm(self) -> Steps:
        """Reads the text of all rows, so that the first filter finds it ready."""
        for chunk in chunks(self.order):
            self.read(chunk, None, True)
            yield

    # ---- order

    def _anew(self, *, in_order: bool = False, **changed: Any) -> Steps:
        """Sorts all rows, unless they are `in_order`, and filters them, with what is changed and
        what was held back in its place.
        """
        draft = copy.copy(self)
        vars(draft).update(changed, _removed={}, _stirred={}, tombstones={})
        if not in_order:
            yield from draft._sort()
        kept = draft.shown = [] if draft.filter else draft.order
        for chunk in chunks(draft.order) if draft.filter else ():
            kept += draft.filter.select(draft.read, chunk)
            yield
        vars(self).update(vars(draft))

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
            self._keys += map(read, some)
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

    def _place(self, put: dict[str, R], gone: list[str]) -> Steps:
        """Puts few changed rows where they belong; with many it is cheaper to sort anew."""
        worn = len(self._keys) > 2 * len(self.records) + FEW
        if self.sort_column is None or worn or len(put) + len(gone) > FEW:
            records = {**self.records, **put}
            for row_id in gone:
                records.pop(row_id, None)
            yield from self._anew(records=records)
            return
        keys, numbers = self._keys, self._numbers
        read = self.columns[self.sort_column].sort_key or _no_key
        now = {row_id: read(record) for row_id, record in put.items()}
        new = [row_id for row_id in put if row_id not in numbers]
        moved = [i for i, key in now.items() if i in numbers and keys[numbers[i]] != key]
        order = self._without(self.order, [*moved, *gone])
        left = self._without(self.shown, [*put, *gone]) if self.filter else order
        self.records.update(put)
        self._removed, self._stirred, self.tombstones = {}, {}, {}
        for row_id in gone:
            self.records.pop(row_id, None)
            del numbers[row_id]
        if new or gone:
            self._numbered = None
        for row_id in new:
            numbers[row_id] = len(keys)
            keys.append(now[row_id])
        for row_id in moved:
            keys[numbers[row_id]] = now[row_id]
        self.order = self._having(order, [*moved, *new])
        shown = self.order
        if self.filter:
            shown = self._having(left, self.filter.select(self.read, list(put)))
        self.shown = self.shown if shown == self.shown else shown

    def _bisect(self, ids: list[str], row_id: str) -> int:
        """The first place in `ids` that doesn't stand above a row whose key is known."""
        keys, numbers = self._keys, self._numbers
        key = keys[numbers[row_id]]

        def is_below(other: str) -> bool:
            found = keys[numbers[other]]
            if found == key:
                return other >= row_id
            if found is None or key is None:
                return found is None
            return bool(found < key if self.descending else found > key)

        return bisect_left(ids, True, key=is_below)

    def _without(self, ids: list[str], out: Iterable[str]) -> list[str]:
        """`ids` without those of `out` that are in it; the same list if there are none."""
        places = [at for i in out if (at := self.index_of(i, ids)) is not None]
        left = ids.copy() if places else ids
        for at in sorted(places, reverse=True):
            del left[at]
        return left

    def _having(self, ids: list[str], new: list[str]) -> list[str]:
        """`ids` with new ones, whose keys are known by now, in their places; the same list if
        there are none.
        """
        grown = ids.copy() if new else ids
        for row_id in new:
            grown.insert(self._bisect(grown, row_id), row_id)
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


def chunks(items: list[T]) -> Iterator[list[T]]:
    """The items in lists short enough to pause after each."""
    return (items[start : start + CHUNK] for start in range(0, len(items), CHUNK))
