"""Lists of ids in the order of their keys. No records, no Textual.

Equal keys stand in the order of their ids; a key of None stands last, whichever way is up. The
lists are never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T")

_RUN: Final = 12_500
"""Rows sorted in one go."""
_FAST: Final = (int, float)
"""Keys that are compared as fast as anything could be."""


class Keys:
    """What each id is sorted by, and which way."""

    def __init__(self, descending: bool = False) -> None:
        self.of: dict[str, Any] = {}
        """Keys by id, of one comparable type or None."""
        self.descending = descending

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
        if row_id not in self.of:
            return None
        place = self.bisect(ids, self.of[row_id], row_id)
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


def arranged(
    keys: Sequence[Any], by_id: Sequence[int], descending: bool
) -> Generator[None, None, list[int]]:
    """The places of all rows sorted by the keys that stand at them, with pauses.

    `by_id` holds the same places in the order of the rows' ids. Places and not ids, because going
    through a hundred thousand strings in another order than they lie in the memory takes longer
    than all else here.
    """
    known: Sequence[int] = by_id
    unknown: list[int] = []
    if any(key is None for key in keys):
        known = [place for place in by_id if keys[place] is not None]
        unknown = [place for place in by_id if keys[place] is None]
    yield
    if keys and type(keys[known[0]] if known else None) not in _FAST:
        keys = yield from _ranks(keys)
    order = yield from in_runs(known, keys.__getitem__, descending)
    return order + unknown


def _ranks(keys: Sequence[Any]) -> Generator[None, None, list[int | None]]:
    """For each key its place among those that differ: numbers in the same order, but far faster
    to compare than texts, and many rows may share a key.
    """
    differing = {key for key in keys if key is not None}
    yield
    ordered = yield from in_runs(list(differing))
    rank_of: dict[Any, int | None] = dict(zip(ordered, range(len(ordered)), strict=True))
    rank_of[None] = None
    yield
    return list(map(rank_of.__getitem__, keys))


def in_runs(
    ids: Sequence[T], key: Callable[[T], Any] | None = None, descending: bool = False
) -> Generator[None, None, list[T]]:
    """`ids` (or places) sorted, equal ones in the order they came, with pauses: short runs are
    sorted, then merged by twos (as Python's sort does with two sorted runs in one list).
    """
    runs = [list(ids[start : start + _RUN]) for start in range(0, len(ids), _RUN)]
    for run in runs:
        _sort(run, key, descending)
        yield
    while len(runs) > 1:
        merged = []
        for first, second in zip(runs[::2], [*runs[1::2], []], strict=False):
            run = first + second
            if second:
                _sort(run, key, descending)
                yield
            merged.append(run)
        runs = merged
    return runs[0] if runs else []


def _sort(run: list[Any], key: Callable[[Any], Any] | None, descending: bool) -> None:
    run.sort(key=key, reverse=descending)
