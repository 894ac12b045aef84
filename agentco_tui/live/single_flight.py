"""A read that is made once at a time, for all who ask for it before it begins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Generic, TypeVar

from agentco_tui.live.feeds import Clock

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Makes a read at most once at a time; who asks gets one that began after the question.

    One that hangs holds up the next for `patience` seconds only, unless that is None.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[T]],
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        *,
        patience: float | None = 2.0,
        place: Callable[[], AbstractAsyncContextManager[object]] = nullcontext,
    ) -> None:
        """`place` is entered for the read, which has not begun while that waits."""
        self._read, self._clock, self._sleep = read, clock, sleep
        self._patience, self._place = patience, place
        self._next: asyncio.Task[T] | None = None
        self.under_way: asyncio.Task[T] | None = None  # the last one that began
        self._all: set[asyncio.Task[T]] = set()
        self._begun_at: float | None = None
        self._due = 0.0  # steady clock: when the next read may begin
        self._sooner = asyncio.Event()

    def next_read(self, spacing: float = 0.0, gather: float = 0.0) -> asyncio.Task[T]:
        """A read that begins after this call.

        It begins at least `spacing` seconds after the last one began, and `gather` seconds from
        now, so that others can join; who asks for the least decides.
        """
        due = self._clock.monotonic() + gather if gather else 0.0
        if self._begun_at is not None:
            due = max(due, self._begun_at + spacing)
        if self._next is None or self._next.done():
            self._due = due
            self._next = asyncio.create_task(self._turn(self.under_way))
            self._all.add(self._next)
            self._next.add_done_callback(self._all.discard)
        elif due < self._due:
            self._due = due
            self._sooner.set()
        return self._next

    async def close(self) -> None:
        """End what is under way, and wait until it has ended."""
        for task in self._all:
            task.cancel()
        await asyncio.gather(*self._all, return_exceptions=True)

    async def _turn(self, before: asyncio.Task[T] | None) -> T:
        me = asyncio.current_task()
        try:
            if before is not None:
                await asyncio.wait({before}, timeout=self._patience)
            while (rest := self._due - self._clock.monotonic()) > 0:
                self._sooner.clear()
                await sleep_unless(self._sooner, rest, self._sleep)
                if not self._sooner.is_set():
                    break
            async with self._place():
                self._next, self.under_way = None, me
                self._begun_at = self._clock.monotonic()
                return await self._read()
        finally:
            if self.under_way is me:
                self.under_way = None
            if self._next is me:
                self._next = None


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
