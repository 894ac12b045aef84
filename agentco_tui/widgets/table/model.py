"""The rows of a table: which there are, in what order, and which pass the filter. No Textual.

`TableModel` holds records of any type by the ids of their rows, and keeps two lists of ids: `order`
has all of them, sorted, and `shown` those that pass the filter. The lists are replaced, never
changed in place, so a caller that kept the old list can tell which rows moved. `RecordTable`
(widget.py) changes the model; the painter and the viewport only read it.

A change of few rows costs as much as those rows: their places are found by bisection. Work on the
whole table (loading, sorting, filtering) is a generator that pauses about every millisecond. It
works on a copy, a draft, whose state replaces the model's own when the work is complete.

While `frozen` is set (the user is working with the list), the two lists do not change: changed
records show their new values where they are, removed ones stay as tombstones, new ones are held
back. `release` puts all of it into effect.

A `Column` reads a record: its `Cell` (a text in a tone), its sort key and its value for the filter.
A `Filter` is what the user typed after `/`, parsed; `select` returns the ids of rows that pass it.
"""

from __future__ import annotations

import copy
from array import array
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from itertools import chain, filterfalse, islice
from typing import Any, Final, Generic, TypeAlias, TypeVar

from agentco_tui.text import mark_safe
from agentco_tui.text.row_filter import MATCH_ALL, Filter
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

CHUNK: Final = 1_000  # rows processed between two pauses
FEW: Final = 500
"""Changed rows up to which each is put in its place; with more, everything is sorted again."""
RUN: Final = 12_500  # rows sorted in one go
RUNS_MERGED: Final = 8
"""Sorted runs merged in one go. Each merge computes all sort keys again, which takes longest."""

GONE: Final = Cell(mark_safe("gone"), Tone.DIM)
"""The note of a tombstone for which no other was set."""

Steps: TypeAlias = Iterator[None]
"""Work in steps of about a millisecond: the caller runs it to its end, at once or with pauses."""


class TableModel(Generic[R]):
    """Records by row id, sorted and filtered; a row is a pair of an id and a record of type R."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        search_text: Callable[[R], str] | None = None,
        sort_column: int | None = None,
        descending: bool = False,
    ) -> None:
        """`search_text` returns the text of a record in which the filter looks for words.

        Without it the texts of the cells are joined, which takes longer. `sort_column` is the index
        of a column; None keeps the order in which the records came.
        """
        self.columns = tuple(columns)
        self.records: dict[str, R] = {}
        self.order: list[str] = []
        self.shown: list[str] = self.order
        self.filter: Filter = MATCH_ALL
        self.sort_column = sort_column
        self.descending = descending
        self.frozen = False
        self.tombstones: dict[str, Cell] = {}
        """Notes on rows that were removed while frozen, or are about to be removed."""
        self._search_text = search_text
        self._search_texts: dict[str, str] = {}
        """The texts in which the filter looks for words, by row id, with their case folded."""
        self._sort_keys: list[Any] = []
        """The sort keys, by row number; not used in the order of arrival."""
        self._numbers: dict[str, int] = {}
        """The row numbers by id. They are not positions: they index `_sort_keys`."""
        self._ids_by_number: list[str] | None = None
        """None once single rows were added or removed."""
        self._numbers_by_id: Sequence[int] = ()
        """The row numbers in the order of the ids, which decides between equal sort keys."""
        self._removed: dict[str, R] = {}
        """The records of rows that were removed while frozen."""
        self._held_back: dict[str, bool] = {}
        """Ids of rows that were added or changed while frozen; True for an added one."""

    def record(self, row_id: str) -> R | None:
        """Return the record of a row, also of a tombstone; None if there is no such row."""
        record = self.records.get(row_id)
        return self._removed.get(row_id) if record is None else record

    def missing_ids(self, ids: Set[str]) -> set[str]:
        """Return those of the ids that belong to tombstones or to no row."""
        missing = set(filterfalse(self.records.__contains__, ids))
        if self.tombstones:
            missing |= ids & self.tombstones.keys()
        return missing

    def tombstone(self, row_id: str) -> Cell | None:
        """Return the note of a tombstone, which says what became of it; None for other rows."""
        default = GONE if row_id in self._removed else None
        return self.tombstones.get(row_id, default)

    def records_of(self, row_ids: Iterable[str]) -> dict[str, R]:
        """Return the records of rows, also of tombstones, by the ids of the rows."""
        records = self.records
        removed = self._removed
        return {i: records[i] if i in records else removed[i] for i in row_ids}

    def tombstones_of(self, row_ids: Iterable[str]) -> dict[str, Cell]:
        """Return the notes of those rows that are tombstones, by their ids."""
        tombstones = self.tombstones
        removed = self._removed
        if not removed and not tombstones:
            return {}
        return {i: tombstones.get(i, GONE) for i in row_ids if i in tombstones or i in removed}

    @property
    def waiting_count(self) -> int:
        """How many held-back new rows would be shown after a release."""
        if not self._held_back:
            return 0
        new_ids = [row_id for row_id, is_new in self._held_back.items() if is_new]
        return len(self.filter.select(self.read_values, new_ids))

    @property
    def has_held_back_changes(self) -> bool:
        return bool(self._removed or self._held_back or self.tombstones)

    def index_of(self, row_id: str, ids: list[str] | None = None) -> int | None:
        """Return the index of a row in `shown`, or in another list of the same order."""
        if ids is None:
            ids = self.shown
        if self.sort_column is None:
            return ids.index(row_id) if row_id in ids else None
        if row_id not in self._numbers:
            return None
        index = self._insertion_index(ids, row_id)
        return index if ids[index : index + 1] == [row_id] else None

    def read_values(self, ids: list[str], column: int | None, as_text: bool) -> list[Any]:
        """Return the values or texts that a filter compares, one for each id (`ReadColumn`).

        The column None means the whole row: the texts of all cells that are shown by default and
        do not depend on the clock. Texts have their case folded.
        """
        if column is None:
            return self._read_search_texts(ids)
        cell = self.columns[column].cell
        value_of = self.columns[column].filter_value
        records: Iterator[Any] = map(self.record, ids)
        if not as_text:
            return list(map(value_of or _no_key, records))
        texts: list[str] = []
        for record in records:
            value = None if value_of is None else value_of(record)
            text = value if isinstance(value, str) else cell(record).text
            texts.append(text.casefold())
        return texts

    def _read_search_texts(self, ids: list[str]) -> list[str]:
        texts = self._search_texts
        for row_id in filterfalse(texts.__contains__, ids):
            record: Any = self.record(row_id)
            if self._search_text is not None:
                text = self._search_text(record)
            else:
                cells = [
                    column.cell(record)
                    for column in self.columns
                    if column.shown_by_default and not column.uses_clock
                ]
                text = "\n".join([cell.text for cell in cells])
            texts[row_id] = text.casefold()
        return list(map(texts.__getitem__, ids))

    def load(self, rows: Iterable[tuple[str, R]]) -> Steps:
        """Replace all rows, and discard what was held back."""
        records: dict[str, R] = {}
        rest = iter(rows)
        while chunk := list(islice(rest, CHUNK)):
            records.update(chunk)
            yield
        draft = self._draft()
        draft.records = records
        draft._search_texts = {}
        yield from self._rebuild(draft)

    def apply(self, upserts: Iterable[tuple[str, R]], removed: Iterable[str]) -> Steps:
        """Add or replace rows, and remove others; unknown ids in `removed` are ignored."""
        records = dict(upserts)
        removed_ids = [
            row_id
            for row_id in dict.fromkeys(removed)
            if row_id in self.records and row_id not in records
        ]
        for row_id in (*records, *removed_ids):
            self._search_texts.pop(row_id, None)
        if self.frozen:
            self._hold_back(records, removed_ids)
        else:
            yield from self._apply_now(records, removed_ids)

    def _hold_back(self, records: dict[str, R], removed_ids: list[str]) -> None:
        """Store changed records, but leave `order` and `shown` unchanged until the release."""
        for row_id, record in records.items():
            if self._removed.pop(row_id, None) is not None:
                self.tombstones.pop(row_id, None)
                self._held_back[row_id] = False
            self._held_back.setdefault(row_id, row_id not in self.records)
            self.records[row_id] = record
        for row_id in removed_ids:
            record = self.records.pop(row_id)
            was_new = self._held_back.pop(row_id, False)
            if not was_new:
                self._removed[row_id] = record

    def release(self) -> Steps:
        """End the freeze, and put into effect what was held back."""
        self.frozen = False
        records = {row_id: self.records[row_id] for row_id in self._held_back}
        yield from self._apply_now(records, list(self._removed))

    def sort(self, column: int | None, descending: bool) -> Steps:
        """Sort by a column, or by order of arrival (None); held-back changes take effect, too."""
        draft = self._draft()
        draft.sort_column = column
        draft.descending = descending
        yield from self._rebuild(draft)

    def refilter(self, wanted: Filter) -> Steps:
        """Show the rows that pass a filter; held-back changes take effect, too."""
        is_sorted = not self.has_held_back_changes
        draft = self._draft()
        draft.filter = wanted
        yield from self._rebuild(draft, is_sorted=is_sorted)

    def warm(self) -> Steps:
        """Read the search texts of all rows ahead, so that the first filter finds them ready."""
        for chunk in chunks(self.order):
            self._read_search_texts(chunk)
            yield

    # ---- order

    def _draft(self) -> TableModel[R]:
        """Return a copy to work on, in which held-back changes have taken effect."""
        draft = copy.copy(self)
        draft._removed = {}
        draft._held_back = {}
        draft.tombstones = {}
        return draft

    def _rebuild(self, draft: TableModel[R], *, is_sorted: bool = False) -> Steps:
        """Sort a draft, unless its order is right already, filter it, and take over its state."""
        if not is_sorted:
            yield from draft._sort()
        draft.shown = draft.order
        if draft.filter:
            draft.shown = []
            for chunk in chunks(draft.order):
                draft.shown += draft.filter.select(draft.read_values, chunk)
                yield
        vars(self).update(vars(draft))

    def _sort(self) -> Steps:
        """Sort all rows; in place, so call it on a draft only."""
        ids = list(self.records)
        if self.sort_column is None:
            self.order = ids[::-1] if self.descending else ids
            return
        yield from self._number_rows(ids)
        yield from self._compute_sort_keys()
        # Row numbers are sorted and not ids: visiting a hundred thousand strings in another order
        # than they have in memory takes longer than everything else here.
        keys = self._sort_keys
        known = self._numbers_by_id
        unknown: list[int] = []
        if None in keys:
            known = [number for number in self._numbers_by_id if keys[number] is not None]
            unknown = [number for number in self._numbers_by_id if keys[number] is None]
        yield
        if known and not isinstance(keys[known[0]], int | float):
            # Ranks compare far faster than other keys, and many rows may share a key.
            distinct = list({key for key in keys if key is not None})
            distinct = yield from sorted_in_runs(distinct)
            ranks = dict(zip(distinct, range(len(distinct)), strict=True))
            keys = list(map(ranks.get, keys))
            yield
        numbers = yield from sorted_in_runs(known, keys.__getitem__, self.descending)
        self.order = []
        for chunk in chunks(numbers + unknown):
            self.order += map(ids.__getitem__, chunk)
            yield

    def _number_rows(self, ids: list[str]) -> Steps:
        """Give each row its number, unless the rows are those that were numbered last."""
        if ids == self._ids_by_number:
            return
        self._ids_by_number = ids
        self._numbers = {}
        for chunk in chunks(ids):
            start = len(self._numbers)
            self._numbers.update(zip(chunk, range(start, start + CHUNK), strict=False))
            yield
        numbers_by_id = yield from sorted_in_runs(range(len(ids)), ids.__getitem__)
        self._numbers_by_id = array("L", numbers_by_id)

    def _compute_sort_keys(self) -> Steps:
        assert self.sort_column is not None
        column = self.columns[self.sort_column]
        read_key = column.sort_reader() if column.sort_reader else column.sort_key or _no_key
        self._sort_keys = []
        rest = iter(self.records.values())
        while chunk := list(islice(rest, CHUNK)):
            self._sort_keys += map(read_key, chunk)
            yield

    def _apply_now(self, records: dict[str, R], removed_ids: list[str]) -> Steps:
        """Put changed rows where they belong; if they are many, sort everything again."""
        change_count = len(records) + len(removed_ids)
        has_many_unused_keys = len(self._sort_keys) > 2 * len(self.records) + FEW
        if self.sort_column is None or has_many_unused_keys or change_count > FEW:
            draft = self._draft()
            draft.records = {**self.records, **records}
            for row_id in removed_ids:
                draft.records.pop(row_id, None)
            yield from self._rebuild(draft)
            return
        keys = self._sort_keys
        numbers = self._numbers
        read_key = self.columns[self.sort_column].sort_key or _no_key
        new_keys = {row_id: read_key(record) for row_id, record in records.items()}
        added_ids = [row_id for row_id in records if row_id not in numbers]
        moved_ids = [
            row_id
            for row_id, key in new_keys.items()
            if row_id in numbers and keys[numbers[row_id]] != key
        ]
        # Taken out while the old keys, by which they are found, are still there.
        order = self._without(self.order, [*moved_ids, *removed_ids])
        shown = self._without(self.shown, [*records, *removed_ids]) if self.filter else order
        self.records.update(records)
        self._removed = {}
        self._held_back = {}
        self.tombstones = {}
        for row_id in removed_ids:
            self.records.pop(row_id, None)
            del numbers[row_id]
        if added_ids or removed_ids:
            self._ids_by_number = None
        for row_id in added_ids:
            numbers[row_id] = len(keys)
            keys.append(new_keys[row_id])
        for row_id in moved_ids:
            keys[numbers[row_id]] = new_keys[row_id]
        self.order = self._with_inserted(order, [*moved_ids, *added_ids])
        if self.filter:
            passing_ids = self.filter.select(self.read_values, list(records))
            shown = self._with_inserted(shown, passing_ids)
        else:
            shown = self.order
        if shown != self.shown:
            self.shown = shown

    def _insertion_index(self, ids: list[str], row_id: str) -> int:
        """Return the index at which a row belongs in sorted `ids`; its key must be known."""
        keys = self._sort_keys
        numbers = self._numbers
        key = keys[numbers[row_id]]

        def is_not_before(other_id: str) -> bool:
            other_key = keys[numbers[other_id]]
            if other_key == key:
                return other_id >= row_id
            if other_key is None or key is None:
                return other_key is None
            return bool(other_key < key if self.descending else other_key > key)

        return bisect_left(ids, True, key=is_not_before)

    def _without(self, ids: list[str], excluded: Iterable[str]) -> list[str]:
        """Return `ids` without those excluded; the same list if none of them is in it."""
        indexes = [self.index_of(row_id, ids) for row_id in excluded]
        present = [index for index in indexes if index is not None]
        if not present:
            return ids
        rest = ids.copy()
        for index in sorted(present, reverse=True):
            del rest[index]
        return rest

    def _with_inserted(self, ids: list[str], new_ids: list[str]) -> list[str]:
        """Return `ids` with new ones in their places; the same list if there are none.

        The sort keys of the new ones must be known.
        """
        if not new_ids:
            return ids
        extended = ids.copy()
        for row_id in new_ids:
            extended.insert(self._insertion_index(extended, row_id), row_id)
        return extended


def sorted_in_runs(
    items: Sequence[T], key: Callable[[T], Any] | None = None, descending: bool = False
) -> Generator[None, None, list[T]]:
    """Return `items` sorted, with pauses; equal ones keep their order.

    Short runs are sorted, then merged by eights: Python's sort merges the sorted runs that it finds
    in a list.
    """
    runs = [list(items[start : start + RUN]) for start in range(0, len(items), RUN)]
    for run in runs:
        run.sort(key=key, reverse=descending)
        yield
    while len(runs) > 1:
        groups = [runs[start : start + RUNS_MERGED] for start in range(0, len(runs), RUNS_MERGED)]
        runs = []
        for group in groups:
            merged = list(chain.from_iterable(group))
            merged.sort(key=key, reverse=descending)
            runs.append(merged)
            yield
    return runs[0] if runs else []


def _no_key(_: object) -> None:
    """Return None: the sort key in a column that cannot be sorted by."""


def chunks(items: list[T]) -> Iterator[list[T]]:
    """Yield the items in lists that are short enough to pause after each."""
    return (items[start : start + CHUNK] for start in range(0, len(items), CHUNK))
