"""How long is waited for what; one value, so that tests need not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """All in seconds."""

    still_pending: float = 10.0
    """Over how long reads must show a task as pending before a lost approval counts as not done."""
    confirm: float = 10.0
    """How long a clear yes is waited for in reads before the answer alone must do."""
    first: float = 0.4
    """The pause after the first read that settled nothing; doubles from there."""
    ceiling: float = 5.0
    """The longest pause between two reads."""
    spacing: float = 0.5
    """Between the starts of two list reads that the tasks of a set share."""
    gather: float = 0.02
    """How long a read of the list waits for more tasks of a set whose turn begins."""
    hold_one: float = 2.0
    """How long a yes to one task is held back so that it can be taken back."""
    hold: float = 5.0
    """How long a set is held back so that it can be taken back."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def pauses(self) -> Iterator[float]:
        """Pauses between reads, doubling up to the ceiling, without end."""
        pause = self.first
        while True:
            yield pause
            pause = min(self.ceiling, pause * 2)


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
