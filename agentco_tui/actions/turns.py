"""Whose turn it is in a set: a few are in flight, the next few are being read meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from agentco_tui.actions.approve import FreshRead, LastRead
from agentco_tui.api.errors import ApiError
from agentco_tui.live.clock import Clock

AT_ONCE = 4
"""Approvals in flight together, and tasks that are read for those that follow them."""
AGED = 0.25
"""Seconds that a task which has been read may wait until it may be sent; after more it is read
again."""


class Turns:
    """Turns of the tasks of one set. A task is read not earlier than its turn begins.

    As soon as some are on their way the turn of as many others begins, so that the reads and the
    sending of a set take place side by side, and what is sent was read a round trip before.
    """

    def __init__(
        self, lists: FreshRead, clock: Clock, may_go_on: Callable[[], Awaitable[None]]
    ) -> None:
        self.lists = lists
        self.clock = clock
        self.may_go_on = may_go_on
        """Returns when there is no reason to wait before anything more is sent."""
        self.reading = asyncio.Semaphore(AT_ONCE)
        self.sending = asyncio.Semaphore(AT_ONCE)

    async def next(self) -> Turn:
        """Wait for a turn, which begins when this returns; it must be ended."""
        await self.reading.acquire()
        return Turn(self)


class Turn:
    """One task's turn: its reads, and its place among those in flight, from the first of them."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._may_send = False
        self.failure: ApiError | None = None
        """Why the last read failed, if it did."""

    @property
    def scope(self) -> str | None:
        """The company whose list is read; None for all."""
        return self._turns.lists.scope

    async def after_now(self) -> LastRead:
        """A read that begins after this call, once the task may be sent. Raises JournalError."""
        turns = self._turns
        last = await turns.lists.after_now()
        if not self._may_send:
            read_at = turns.clock.monotonic()
            await turns.sending.acquire()
            turns.reading.release()
            self._may_send = True
            await turns.may_go_on()
            if turns.clock.monotonic() - read_at > AGED:
                last = await turns.lists.after_now()
        self.failure = last.picture.error
        return last

    def end(self) -> None:
        """It has been sent and answered, or is not sent."""
        (self._turns.sending if self._may_send else self._turns.reading).release()
