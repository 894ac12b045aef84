"""The time in which a yes can be taken back, before anything of it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from agentco_tui.actions.waits import sleep_unless
from agentco_tui.live.clock import Clock

TICK = 0.2
"""Seconds between two looks at the clock."""
GAP = 1.0
"""Seconds between two looks from which the process counts as having been stopped: by ctrl+z, by
SIGSTOP, by a laptop that slept. Nobody could take anything back meanwhile."""


class Hold:
    """A hold of some seconds, for one decision; `wait` may be called once.

    It stands still while the process is stopped, and begins anew after that, so that a person who
    comes back has all of it.
    """

    def __init__(
        self, seconds: float, clock: Clock, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._sleep = sleep
        self._rest = seconds
        self._seen: float | None = None
        """Steady clock: the last look; None before `wait`."""
        self._taken_back = asyncio.Event()
        self._over = False

    def left(self) -> float:
        """Seconds in which it can still be taken back; 0 once it is over or taken back."""
        if self._over or self._taken_back.is_set():
            return 0.0
        return self._rest_at(self._clock.monotonic())

    def take_back(self) -> bool:
        """Undo the yes; False if the hold is over, or was taken back before."""
        if self._over or self._taken_back.is_set():
            return False
        self._taken_back.set()
        return True

    async def wait(self) -> bool:
        """Wait until it is over: True then, False as soon as it is taken back."""
        self._seen = self._clock.monotonic()
        while self._rest > 0 and not self._taken_back.is_set():
            await sleep_unless(self._taken_back, min(TICK, self._rest), self._sleep)
            now = self._clock.monotonic()
            self._rest, self._seen = self._rest_at(now), now
        self._over = not self._taken_back.is_set()
        return self._over

    def _rest_at(self, now: float) -> float:
        if self._seen is None:
            return self._rest
        passed = now - self._seen
        # A short stop may fall into a tick without being known as one: a tick counts for two.
        return self._seconds if passed > GAP else max(0.0, self._rest - min(passed, 2 * TICK))
