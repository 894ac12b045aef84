"""Single-flight reads: one at a time, shared by all callers that ask before it begins.

A caller never gets the result of a read that began before its call, as that may be stale. `Poller`
has one for each feed (a list that is polled); `TaskReader`, which checks tasks before they are
approved, has one for each list that it reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Generic, TypeVar

from agentco_tui.live.feeds import Clock
from agentco_tui.system.background import sleep_unless

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Runs one read at a time; a caller always gets a read that began after its call.

    A read that hangs delays the next one for `longest_wait` seconds at most; with None, until it
    ends.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[T]],
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        *,
        longest_wait: float | None = 2.0,
        slot: Callable[[], AbstractAsyncContextManager[object]] = nullcontext,
    ) -> None:
        """`slot` is entered around the read; while it waits, the read has not begun."""
        self._read = read
        self._clock = clock
        self._sleep = sleep
        self._longest_wait = longest_wait
        self._slot = slot
        self._next: asyncio.Task[T] | None = None  # the read that has not begun yet
        self.under_way: asyncio.Task[T] | None = None  # the last one that began
        self._tasks: set[asyncio.Task[T]] = set()
        self._began_at: float | None = None  # steady clock
        self._due_at = 0.0  # steady clock: when the next read may begin
        self._became_due_sooner = asyncio.Event()

    def next_read(self, spacing: float = 0.0, gather: float = 0.0) -> asyncio.Task[T]:
        """The task of a read that begins after this call.

        It begins at least `spacing` seconds after the last one began, and `gather` seconds from
        now, so that other callers can join it. The shortest wait that any caller wants counts.
        """
        due_at = 0.0
        if gather:
            due_at = self._clock.monotonic() + gather
        if self._began_at is not None:
            due_at = max(due_at, self._began_at + spacing)
        if self._next is None or self._next.done():
            self._due_at = due_at
            self._next = asyncio.create_task(self._run_read(self.under_way))
            self._tasks.add(self._next)
            self._next.add_done_callback(self._tasks.discard)
        elif due_at < self._due_at:
            self._due_at = due_at
            self._became_due_sooner.set()
        return self._next

    async def close(self) -> None:
        """Cancel every read, and wait until all have ended."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run_read(self, previous: asyncio.Task[T] | None) -> T:
        this_task = asyncio.current_task()
        try:
            if previous is not None:
                await asyncio.wait({previous}, timeout=self._longest_wait)
            await self._wait_until_due()
            async with self._slot():
                self._next = None
                self.under_way = this_task
                self._began_at = self._clock.monotonic()
                return await self._read()
        finally:
            if self.under_way is this_task:
                self.under_way = None
            if self._next is this_task:
                self._next = None

    async def _wait_until_due(self) -> None:
        while True:
            seconds_left = self._due_at - self._clock.monotonic()
            if seconds_left <= 0:
                return
            self._became_due_sooner.clear()
            await sleep_unless(self._became_due_sooner, seconds_left, self._sleep)
            if not self._became_due_sooner.is_set():
                # The sleep is over: a test's clock need not have moved with it.
                return
