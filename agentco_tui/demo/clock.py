"""The clock of the embedded world: real time, faster, frozen, or moved by hand."""

from __future__ import annotations

import time
from collections.abc import Callable


class VirtualClock:
    """Seconds since 1970-01-01 UTC in the world; `speed` of them pass in each real second."""

    def __init__(
        self,
        start: float,
        speed: float = 1.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._base = start
        self._since = monotonic()
        self.speed = speed

    def now(self) -> float:
        """The present moment of the world."""
        return self._base + (self._monotonic() - self._since) * self._speed

    def advance(self, seconds: float) -> None:
        """Move the clock forward by hand; the past can't be reached.

        Raises ValueError for a negative step.
        """
        if seconds < 0:
            raise ValueError("the clock only moves forward")
        self._base += seconds

    @property
    def speed(self) -> float:
        """Virtual seconds in a real one; 0 freezes."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        if not 0 <= speed <= 1_000_000:
            raise ValueError("speed must be from 0 to 1,000,000")
        if hasattr(self, "_speed"):
            self._base = self.now()
        self._since = self._monotonic()
        self._speed = float(speed)
