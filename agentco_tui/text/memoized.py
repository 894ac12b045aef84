"""Bounded caches of function results that can all be emptied together.

A dashboard that leaves for another profile starts the next one in the same process. Nothing that
was computed from the first platform's answers may stay in memory then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar
from weakref import WeakSet

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

R = TypeVar("R")

_caches: Final[WeakSet[_lru_cache_wrapper[object]]] = WeakSet()


def memoized(maxsize: int) -> Callable[[Callable[..., R]], _lru_cache_wrapper[R]]:
    """Return a decorator that keeps up to `maxsize` results of a function, the latest used ones."""

    def decorate(function: Callable[..., R]) -> _lru_cache_wrapper[R]:
        cached = lru_cache(maxsize)(function)
        _caches.add(cached)
        return cached

    return decorate


def forget_memoized() -> None:
    """Empty the caches of all memoized functions."""
    for cached in tuple(_caches):
        cached.cache_clear()
