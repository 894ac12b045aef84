"""Times at which something has to be computed again, without looking at everything each second."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf
from typing import Generic, TypeVar

K = TypeVar("K", bound=tuple[str, ...])


class DueTimes(Generic[K]):
    """At most one due time for each key, in seconds since 1970; a heap finds the earliest."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, K]] = []
        self._time_of: dict[K, float] = {}
        """The valid due times. An entry of the heap that differs was rescheduled or cancelled."""

    def schedule(self, key: K, at: float) -> None:
        """Set the due time of a key, in place of an earlier one; `inf` cancels it."""
        if at == inf:
            self._time_of.pop(key, None)
        elif self._time_of.get(key) != at:
            self._time_of[key] = at
            heappush(self._heap, (at, key))

    def clear(self) -> None:
        self._heap.clear()
        self._time_of.clear()

    def pop_due(self, now: float) -> Iterator[K]:
        """Yield the keys that are due by `now`, the earliest first, and forget their times."""
        while self._heap and self._heap[0][0] <= now:
            at, key = heappop(self._heap)
            if self._time_of.get(key) == at:
                del self._time_of[key]
                yield key
