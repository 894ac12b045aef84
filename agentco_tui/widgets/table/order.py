"""Lists of ids in the order of their keys. No records, no Textual.

Equal keys stand in the order of their ids; a key of None stands last, whichever way is up. The
lists are never changed in place. What takes long is a generator that yields False between two
pieces of work (`table_rows.Steps`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import chain, islice
from typing import Any, Final, TypeVar

T = TypeVar("T")

_RUN: Final = 12_500
"""Rows sorted in one go."""
_MERGED: Final = 8
"""Runs merged in one go: each merging asks for all keys again, which takes longest of all."""
_CHUNK: Final = 5_000
"""Rows put in their places between two pauses."""
_FAST: Final = (int, float)
"""Keys that are compared as fast as anything could be."""


class _ReadLater(dict[str, Any]):
    """Keys by id, of which those that aren't put in yet are read when they are asked for."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[str], Any]) -> None:
        super().__init__()
        self.read: Callable[[str], Any] | None = read

    def __missing__(self, row_id: str) -> Any:
        if self.read is None:
            raise KeyError(row_id)
        key = self[row_id] = self.read(row_id)
        return key


class Keys:
    """What each id is sorted by, and which way."""

    def __init__(self, descending: bool = False, read: Callable[[str], Any] | None = None) -> None:
        """`read` gives the key of an id that isn't put in yet, and KeyError if there is none."""
        self.of: dict[str, Any] = {} if read is None else _ReadLater(read)
        """Keys by id, of one comparable type or None."""
        self.descending = descending

    def put_in(self, rows: Iterable[tuple[str, Any]]) -> Generator[bool, None, None]:
        """The keys of all ids there are; what is asked for meanwhile is read. Nothing to do where
        they are in already.
        """
        if not isinstance(self.of, _ReadLater):
            return
        rest = iter(rows)
        while chunk := list(islice(rest, _CHUNK)):
            self.of.update(chunk)
            yield False
        self.of.read = None

    def bisect(self, ids: list[str], key: Any, row_id: str) -> int:
        """The first place in `ids` that doesn't stand above this key and id."""
        low, high = 0, len(ids)
        keys, descending = self.of, self.descending
        while low < high:
            middle = (low + high) // 2
            other = ids[middle]
            other_key = keys[other]
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

    def find(self, ids: list[str], row_id: str) -> int | None:
        """Where the id stands in `ids`, or None if it doesn't."""
        try:
            key = self.of[row_id]
        except KeyError:
            return None
        place = self.bisect(ids, key, row_id)
        return place if place < len(ids) and ids[place] == row_id else None

    def without(self, ids: list[str], out: Iterable[str]) -> list[str]:
        """`ids` without those of `out` that are in it; the same list if there are none."""
        places = sorted(place for row_id in out if (place := self.find(ids, row_id)) is not None)
        if not places:
            return ids
        kept: list[str] = []
        start = 0
        for place in places:
            kept += ids[start:place]
            start = place + 1
        kept += ids[start:]
        return kept

    def having(self, ids: list[str], new: Iterable[str]) -> list[str]:
        """`ids` with new ones, whose keys are known by now, in their places; the same list if
        there are none.
        """
        added = [(self.bisect(ids, self.of[row_id], row_id), row_id) for row_id in self.sorted(new)]
        if not added:
            return ids
        grown: list[str] = []
        start = 0
        for place, row_id in added:
            if place > start:
                grown += ids[start:place]
                start = place
            grown.append(row_id)
        grown += ids[start:]
        return grown

    def sorted(self, ids: Iterable[str]) -> list[str]:
        """Some ids, sorted."""
        by_id, keys = sorted(ids), self.of
        known = [row_id for row_id in by_id if keys[row_id] is not None]
        known.sort(key=keys.__getitem__, reverse=self.descending)
        return known + [row_id for row_id in by_id if keys[row_id] is None]


class ById:
    """The places of rows in the order of their ids, which decides between equal keys."""

    __slots__ = ("_ids", "places")

    def __init__(self, ids: list[str] | None = None, places: Sequence[int] = ()) -> None:
        self._ids: list[str] = [] if ids is None else ids
        """In their turn."""
        self.places = places

    def of(self, ids: list[str]) -> Generator[bool, None, ById]:
        """The same for these ids."""
        if ids == self._ids:
            return self
        places = yield from in_runs(range(len(ids)), ids.__getitem__)
        return ById(ids, array("L", places))


def arranged(
    keys: Sequence[Any], by_id: Sequence[int], descending: bool
) -> Generator[bool, None, list[int]]:
    """The places of all rows sorted by the keys that stand at them, with pauses.

    `by_id` holds the same places in the order of the rows' ids. Places and not ids, because going
    through a hundred thousand strings in another order than they lie in the memory takes longer
    than all else here.
    """
    known: Sequence[int] = by_id
    unknown: list[int] = []
    if None in keys:
        known = [place for place in by_id if keys[place] is not None]
        unknown = [place for place in by_id if keys[place] is None]
    yield False
    if keys and type(keys[known[0]] if known else None) not in _FAST:
        keys = yield from _ranks(keys)
    order = yield from in_runs(known, keys.__getitem__, descending)
    return order + unknown


def gathered(ids: Sequence[str], order: Sequence[int]) -> Generator[bool, None, list[str]]:
    """The ids at these places, each place once, with pauses.

    Each id is taken in the turn in which it lies in the memory and put where it belongs; to take
    them in the order wanted is shorter to write, and waits for the memory a hundred thousand times.
    """
    turns = [0] * len(order)
    for start in range(0, len(order), _CHUNK):
        for turn, place in enumerate(order[start : start + _CHUNK], start):
            turns[place] = turn
        yield False
    found = [""] * len(order)
    for start in range(0, len(order), _CHUNK):
        stop = start + _CHUNK
        for row_id, turn in zip(ids[start:stop], turns[start:stop], strict=True):
            found[turn] = row_id
        yield False
    return found


def _ranks(keys: Sequence[Any]) -> Generator[bool, None, list[int | None]]:
    """For each key its place among those that differ: numbers in the same order, but far faster
    to compare than texts, and many rows may share a key.
    """
    differing = {key for key in keys if key is not None}
    yield False
    ordered = yield from in_runs(list(differing))
    rank_of: dict[Any, int | None] = dict(zip(ordered, range(len(ordered)), strict=True))
    rank_of[None] = None
    yield False
    return list(map(rank_of.__getitem__, keys))


def in_runs(
    ids: Sequence[T], key: Callable[[T], Any] | None = None, descending: bool = False
) -> Generator[bool, None, list[T]]:
    """`ids` (or places) sorted, equal ones in the order they came, with pauses: short runs are
    sorted, then merged by eights, as Python's sort does with sorted runs in one list.
    """
    runs = [list(ids[start : start + _RUN]) for start in range(0, len(ids), _RUN)]
    for run in runs:
        _sort(run, key, descending)
        yield False
    while len(runs) > 1:
        few = [runs[start : start + _MERGED] for start in range(0, len(runs), _MERGED)]
        runs = []
        for some in few:
            run = list(chain.from_iterable(some))
            _sort(run, key, descending)
            runs.append(run)
            yield False
    return runs[0] if runs else []


def _sort(run: list[Any], key: Callable[[Any], Any] | None, descending: bool) -> None:
    run.sort(key=key, reverse=descending)
