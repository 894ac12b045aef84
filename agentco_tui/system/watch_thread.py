"""Checks something once in a while in a thread, so that the event loop wakes only for news.

Whether a file was changed is not reported by the operating system in a way that works everywhere,
so it has to be checked again and again, and on a network drive a check may hang. A check that the
event loop awaited would wake it twice each time, although there is hardly ever anything new.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def watch_in_thread(
    check: Callable[[], T | None], interval: float, name: str
) -> AsyncGenerator[T]:
    """Call `check` in a thread of that name, and yield each result that is not None.

    The next call comes `interval` seconds after the last one, or after its result was dealt with.
    Raises what `check` raises. The thread ends when the generator is closed.
    """
    loop = asyncio.get_running_loop()
    results: asyncio.Queue[T | Exception] = asyncio.Queue()
    dealt_with = threading.Semaphore(0)
    is_closed = threading.Event()

    def deliver(result: T | Exception) -> None:
        loop.call_soon_threadsafe(results.put_nowait, result)
        dealt_with.acquire()

    def check_repeatedly() -> None:
        while not is_closed.is_set():
            result: T | Exception | None
            try:
                result = check()
            except Exception as error:
                result = error
            if result is not None:
                deliver(result)
            is_closed.wait(interval)

    def run() -> None:
        with suppress(RuntimeError):  # the event loop was closed meanwhile
            check_repeatedly()

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        while True:
            result = await results.get()
            if isinstance(result, Exception):
                raise result
            yield result
            dealt_with.release()
    finally:
        is_closed.set()
        dealt_with.release()
