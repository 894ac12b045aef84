"""Long work beside a person's keys: taken in slices, and put off for a moment after each key.

What follows a key passes through several turns of the event loop before it is painted. A slice of
other work in each of them would make milliseconds into tens of them, so after a key all work in
slices waits for `QUIET`. It never waits longer than that for one slice: a key that is held down
slows the work, and does not stop it.
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

SLICE: Final = 0.004  # seconds of work after which other things get their turn
QUIET: Final = 0.03  # seconds after a key for which there is none
ASKED_SLICE: Final = 0.016  # seconds of work in one go while a person waits for it

_quiet_until: Final = [-inf]  # when a person acted last, and `QUIET` on top


def person_acts() -> None:
    """A key or a click has come; may be called from any thread."""
    _quiet_until[0] = perf_counter() + QUIET


async def turn() -> None:
    """Give everything else its turn; to be awaited between two slices."""
    await asyncio.sleep(0)
    if (wait := _quiet_until[0] - perf_counter()) > 0:
        await asyncio.sleep(wait)


def turn_of_thread() -> None:
    """The same for work in a thread, which shares the processor with the event loop."""
    if (wait := _quiet_until[0] - perf_counter()) > 0:
        time.sleep(wait)


async def while_wanted(work: Callable[[int], T]) -> T:
    """Run `work` in a thread of its own; its descriptor can be read once nobody waits for it."""
    hear, tell = os.pipe()

    def run() -> T:
        with os.fdopen(hear):
            return work(hear)

    try:
        return await asyncio.to_thread(run)
    finally:
        os.close(tell)


_thread: Final = ThreadPoolExecutor(1, thread_name_prefix="reading")


def beside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Begin `work` in the one thread that reads, beside the event loop; in the order of calls."""
    return asyncio.get_running_loop().run_in_executor(_thread, work)


async def in_slices(steps: Generator[None, None, T], *, asked: bool = False) -> T:
    """Run a generator of short steps to its end, in slices; what it returns. What a person has
    `asked` for doesn't wait until no key comes.
    """
    while True:
        await (asyncio.sleep(0) if asked else turn())
        until = perf_counter() + (ASKED_SLICE if asked else SLICE)
        try:
            next(steps)
            while perf_counter() < until:
                next(steps)
        except StopIteration as end:
            return cast("T", end.value)


def at_once(steps: Generator[None, None, T]) -> T:
    """Run a generator of steps to its end in one go; what it returns."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return cast("T", end.value)


async def sleep_unless(
    event: asyncio.Event, seconds: float, sleep: Callable[[float], Awaitable[None]]
) -> None:
    """Sleep so long, or until the event is set."""
    sleeping = asyncio.ensure_future(sleep(seconds))
    woken = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({sleeping, woken}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiting in (sleeping, woken):
            waiting.cancel()
        await asyncio.gather(sleeping, woken, return_exceptions=True)
