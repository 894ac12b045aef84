"""Detects a slow line to the terminal (over SSH) by the time that writes to it take.

The driver writes through a `TimedFile`; the app asks `SPEED` about once a second, and paints less
while the line is slow.

A write to a terminal on a slow or stalled line blocks once the buffers on the way are full. The
driver writes in a separate thread, so nothing else notices until the queue to it is full, too.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import IO, Any, Final, TypeVar

T = TypeVar("T")

LONG_WRITE: Final = 0.25
"""Seconds; a longer write is a sign of a slow line."""
HUNG_WRITE: Final = 1.0
"""Seconds; after one write of this length the line counts as slow at once."""
QUICK_WRITE: Final = 0.05
"""Seconds; a shorter write is a sign of a quick line."""
SLOW_CHECKS: Final = 2
"""After so many checks in a row with a long write, the line counts as slow."""
QUICK_CHECKS: Final = 20
"""After so many checks in a row with quick writes only, it does no longer."""


class LineSpeed:
    """Times every write. About once a second, `update` gets the result of `longest_write`."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._began: float | None = None
        """When the current write began; None if there is none."""
        self._longest: float | None = None
        self.slow = False
        self._in_a_row = 0
        """Consecutive checks that contradict `slow`."""

    def time_write(self, work: Callable[..., T], *arguments: str) -> T:
        """Call a function that writes to the terminal, in the writing thread; return its result."""
        began = self._clock()
        self._began = began
        try:
            return work(*arguments)
        finally:
            self._longest = max(self._longest or 0.0, self._clock() - began)
            self._began = None

    def longest_write(self) -> float | None:
        """Return the seconds of the longest write since the last call; None if there was none.

        A write that has not ended is included.
        """
        longest = self._longest
        self._longest = None
        began = self._began
        if began is not None:
            longest = max(longest or 0.0, self._clock() - began)
        return longest

    def update(self, longest: float | None) -> bool:
        """Set `slow` by the seconds of the longest write since the last check, and return it.

        One slow or quick write is usually not enough to change it.
        """
        if longest is None:
            return self.slow
        contradicts = longest > LONG_WRITE
        checks_needed = SLOW_CHECKS
        if self.slow:
            contradicts = longest < QUICK_WRITE
            checks_needed = QUICK_CHECKS
        if contradicts:
            self._in_a_row += 1
        else:
            self._in_a_row = 0
        # While the queue to the writing thread is full, no check runs: one hung write is enough.
        is_hung = not self.slow and longest >= HUNG_WRITE
        if is_hung or self._in_a_row >= checks_needed:
            self.slow = not self.slow
            self._in_a_row = 0
        return self.slow


class TimedFile:
    """A text stream to the terminal whose writes are timed; otherwise the same as the stream."""

    def __init__(self, file: IO[str], speed: LineSpeed) -> None:
        self._file = file
        self._speed = speed

    def write(self, text: str) -> int:
        return self._speed.time_write(self._file.write, text)

    def flush(self) -> None:
        """Flush the stream; one that buffers blocks here, and not in `write`."""
        self._speed.time_write(self._file.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


SPEED: Final = LineSpeed()
"""The speed of this process's terminal."""
