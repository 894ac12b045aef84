"""`memoized`: an `lru_cache` that `forget_memoized` empties together with all others.

A profile is the user's configuration of one platform, a remote service that the dashboard shows.
When the user switches to another profile, the next dashboard starts in the same process. Nothing
that was computed from the first platform's answers may stay in memory then.
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
    """Return a decorator that caches the `maxsize` most recently used results of a function."""

    def decorate(function: Callable[..., R]) -> _lru_cache_wrapper[R]:
        cached_function = lru_cache(maxsize)(function)
        _caches.add(cached_function)
        return cached_function

    return decorate


def forget_memoized() -> None:
    """Empty the cache of every memoized function."""
    for cached_function in tuple(_caches):
        cached_function.cache_clear()
