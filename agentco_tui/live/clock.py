"""What time it is: here for freshness, on the platform for ages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

SKEW_THAT_MATTERS = 3.0
"""Seconds; a Date header has a resolution of one second and travels for a while."""


_STEADY: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while a laptop sleeps: data from before would otherwise show as some seconds old. On
Linux that is not CLOCK_MONOTONIC, on macOS it is."""


class Clock(Protocol):
    """Two readings: a steady one for how old our data is, and the platform's time for ages."""

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps and doesn't stand still in a sleep."""

    def now(self) -> float:
        """Seconds since 1970 as the platform would say."""


class SystemClock:
    """The machine's clock, corrected by the skew that the platform's Date headers show."""

    def __init__(self, skew: Callable[[], float | None] = lambda: None) -> None:
        self._skew = skew

    def monotonic(self) -> float:
        return time.clock_gettime(_STEADY)

    def now(self) -> float:
        skew = self._skew()
        here = time.time()
        return here if skew is None or abs(skew) < SKEW_THAT_MATTERS else here + skew
