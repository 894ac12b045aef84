"""A sorted collection in which adding and removing one key costs the same at any size."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K", bound=tuple[Any, ...])

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
