"""A feed's place in time: how often it is asked, when next, and who waits for its answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from math import inf

from agentco_tui.live.feeds import Pace


@dataclass(slots=True)
class Turn:
    """Times are readings of the steady clock, in seconds."""

    pace: Pace = Pace.OFF
    """As the screen wishes it; a terminal without focus is served more slowly."""
    due_at: float = 0.0
    begun_at: float = 0.0
    """When the last answered poll began."""
    shown_from: float = -inf
    """When the read began that brought what is shown."""
    asked: bool = False
    """True if it is to be polled now, whatever its pace and its back-off say."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when anything above has changed."""
    busy: bool = False
    started: int = 0
    """Polls begun."""
    ended: int = 0
    """The last poll, as `started` counts them, that brought an answer or a failure to keep."""
    waiting: int = 0
    """Callers that wait for a poll to end."""
    settled: asyncio.Condition = field(default_factory=asyncio.Condition)

    def ask(self) -> None:
        """Have it polled now."""
        self.asked = True
        self.woken.set()

    def is_due(self, now: float) -> bool:
        """Whether it is to be polled now."""
        return self.asked or (self.pace is not Pace.OFF and self.due_at <= now)

    async def settle(self) -> None:
        """Tell those who wait that the poll begun last has ended."""
        async with self.settled:
            self.ended = self.started
            self.settled.notify_all()
