"""Collections that keep an order while entries come and go, at the same cost at any size.

`SortedKeys` holds sorted tuples: what needs the user, the worst first, and the tasks that wait, the
longest wait first. What needs the user are the items of the "needs you" list. `DueTimes` holds when
something has to be computed again, so that not everything is looked at each second.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K", bound=tuple[Any, ...])
Name = TypeVar("Name", bound=tuple[str, ...])

_CHUNK: Final = 500
"""Keys in one list on average: a list of twice as many is split, and moving them is fast."""


class SortedKeys(Generic[K]):
    """Distinct tuples in ascending order, kept in short sorted lists.

    One long sorted list would move half of its entries for each key that is added: too slow while
    100,000 tasks arrive one after another.
    """

    def __init__(self) -> None:
        self._chunks: list[list[K]] = []
        self._last_keys: list[K] = []  # the last key of each chunk
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, key: K) -> None:
        """Insert a key that is not there yet."""
        self._count += 1
        if not self._chunks:
            self._chunks.append([key])
            self._last_keys.append(key)
            return
        at = min(bisect_left(self._last_keys, key), len(self._chunks) - 1)
        chunk = self._chunks[at]
        insort(chunk, key)
        if len(chunk) > 2 * _CHUNK:
            self._chunks[at : at + 1] = [chunk[:_CHUNK], chunk[_CHUNK:]]
            self._last_keys.insert(at, chunk[_CHUNK - 1])
            at += 1
        self._last_keys[at] = self._chunks[at][-1]

    def remove(self, key: K) -> None:
        """Remove a key. Raises KeyError if it is not there."""
        at = bisect_left(self._last_keys, key)
        if at == len(self._chunks):
            raise KeyError(key)
        chunk = self._chunks[at]
        index = bisect_left(chunk, key)
        if chunk[index] != key:
            raise KeyError(key)
        del chunk[index]
        self._count -= 1
        if chunk:
            self._last_keys[at] = chunk[-1]
        else:
            del self._chunks[at]
            del self._last_keys[at]

    def count_below(self, key: K) -> int:
        """The number of keys that come before `key`, whether that is in the collection or not."""
        at = bisect_left(self._last_keys, key)
        below = sum(map(len, self._chunks[:at]))
        if at < len(self._chunks):
            below += bisect_left(self._chunks[at], key)
        return below

    def slice(self, start: int, stop: int) -> list[K]:
        """The keys from position `start` up to, but not including, `stop`."""
        found: list[K] = []
        for chunk in self._chunks:
            if stop <= 0:
                break
            if start < len(chunk):
                found += chunk[max(0, start) : stop]
            start -= len(chunk)
            stop -= len(chunk)
        return found


class DueTimes(Generic[Name]):
    """At most one due time for each key, in seconds since 1970; a heap finds the earliest."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, Name]] = []
        self._time_of: dict[Name, float] = {}
        """The valid due times. An entry of the heap that differs was rescheduled or cancelled."""

    def schedule(self, key: Name, at: float) -> None:
        """Set the due time of a key, in place of an earlier one; `inf` cancels it."""
        if at == inf:
            self._time_of.pop(key, None)
        elif self._time_of.get(key) != at:
            self._time_of[key] = at
            heappush(self._heap, (at, key))

    def clear(self) -> None:
        self._heap.clear()
        self._time_of.clear()

    def pop_due(self, now: float) -> Iterator[Name]:
        """Yield the keys that are due by `now`, the earliest first, and forget their times."""
        while self._heap and self._heap[0][0] <= now:
            at, key = heappop(self._heap)
            if self._time_of.get(key) == at:
                del self._time_of[key]
                yield key
