"""Lists of ids in the order of their keys. No records, no Textual.

Equal keys stand in the order of their ids; a key of None stands last, whichever way is up. The
lists are never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, Final

_RUN: Final = 25_000
"""Ids sorted in one go."""


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
        """Any ids, sorted; at once."""
        steps = self.sorting(sorted(ids))
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: list[str] = end.value
                return found

    def sorting(self, by_id: list[str]) -> Generator[None, None, list[str]]:
        """Ids that stand in the order of the ids themselves, sorted by their keys, with pauses."""
        keys = self.of
        known = [row_id for row_id in by_id if keys[row_id] is not None]
        order = yield from in_runs(known, keys.__getitem__, self.descending)
        if len(known) < len(by_id):
            order += [row_id for row_id in by_id if keys[row_id] is None]
        return order


def in_runs(
    ids: list[str], key: Callable[[str], Any] | None = None, descending: bool = False
) -> Generator[None, None, list[str]]:
    """`ids` sorted, equal ones in the order they came, with pauses: short runs are sorted, then
    merged by twos (which is what Python's sort does with two sorted runs in one list).
    """
    runs = [ids[start : start + _RUN] for start in range(0, len(ids), _RUN)]
    for run in runs:
        run.sort(key=key, reverse=descending)
        yield
    while len(runs) > 1:
        merged = []
        for first, second in zip(runs[::2], [*runs[1::2], []], strict=False):
            run = first + second
            if second:
                run.sort(key=key, reverse=descending)
                yield
            merged.append(run)
        runs = merged
    return runs[0] if runs else []
