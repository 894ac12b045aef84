"""Long work that does not delay the user's keys: done in slices, and paused after each key.

The effect of a key takes several turns of the event loop before it is painted. A slice of other
work in each turn would add up to tens of milliseconds, so after a key all sliced work waits for
`QUIET`. No slice waits longer than that: a key that is held down slows the work, but does not stop
it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from math import inf
from time import perf_counter
from typing import Final, TypeVar, cast

T = TypeVar("T")

SLICE: Final = 0.004
"""Seconds of work after which other tasks get their turn."""
QUIET: Final = 0.03
"""Seconds without sliced work after each key."""
ASKED_SLICE: Final = 0.016
"""Seconds of work in one go while the user waits for the result."""

_quiet_until: Final = [-inf]
"""One element: the time of the last key plus `QUIET`, by `perf_counter`."""


def person_acts() -> None:
    """Note that a key or a click has come, so that sliced work pauses. For use in any thread."""
    _quiet_until[0] = perf_counter() + QUIET


async def turn() -> None:
    """Let other tasks run, and wait after a key. Awaited between two slices."""
    await asyncio.sleep(0)
    wait = _quiet_until[0] - perf_counter()
    if wait > 0:
        await asyncio.sleep(wait)


def turn_of_thread() -> None:
    """Wait after a key, in a thread, which shares the interpreter with the event loop."""
    wait = _quiet_until[0] - perf_counter()
    if wait > 0:
        time.sleep(wait)


async def while_wanted(work: Callable[[int], T]) -> T:
    """Run `work` in a thread. It gets a file descriptor that becomes readable if the caller is
    cancelled, by which it can stop early.
    """
    read_end, write_end = os.pipe()

    def run() -> T:
        with os.fdopen(read_end):
            return work(read_end)

    try:
        return await asyncio.to_thread(run)
    finally:
        os.close(write_end)


def _new_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="reading")


_executor: Final = [_new_executor()]
"""One element: what runs the background thread."""


def renew_background_thread() -> None:
    """End the background thread after the piece of work that it does now; drop what waits.

    A thread holds the standard error output of its start, which is the app's while an app runs. The
    next `beside` starts another.
    """
    _executor[0].shutdown(cancel_futures=True)
    _executor[0] = _new_executor()


def beside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Begin `work` in the one background thread, which decodes long responses, among other things.

    Calls are carried out in order.
    """
    return asyncio.get_running_loop().run_in_executor(_executor[0], work)


async def in_slices(steps: Generator[None, None, T], *, asked: bool = False) -> T:
    """Run a generator of short steps to its end, in slices, and return its result.

    Work that the user has `asked` for does not pause after keys.
    """
    slice_seconds = ASKED_SLICE if asked else SLICE
    while True:
        if asked:
            await asyncio.sleep(0)
        else:
            await turn()
        until = perf_counter() + slice_seconds
        try:
            next(steps)
            while perf_counter() < until:
                next(steps)
        except StopIteration as end:
            return cast("T", end.value)


def at_once(steps: Generator[None, None, T]) -> T:
    """Run a generator of steps to its end in one go, and return its result."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return cast("T", end.value)


async def sleep_unless(
    event: asyncio.Event, seconds: float, sleep: Callable[[float], Awaitable[None]]
) -> None:
    """Sleep for so many seconds, or until the event is set."""
    sleeping = asyncio.ensure_future(sleep(seconds))
    woken = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({sleeping, woken}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiting in (sleeping, woken):
            waiting.cancel()
        await asyncio.gather(sleeping, woken, return_exceptions=True)
