"""Detects a slow line to the terminal by the time that writes to it take.

A write to a terminal on a slow or stalled line blocks once the buffers on the way are full. The
driver writes in its own thread, so nothing else notices until its queue is full, too. On a slow
line the app paints less.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import IO, Any, Final, TypeVar

T = TypeVar("T")

LONG: Final = 0.25
"""Seconds: a longer write is a sign of a slow line."""
HANG: Final = 1.0
"""Seconds: a write that takes as long makes the line slow at once."""
QUICK: Final = 0.05
"""Seconds: a shorter write is a sign of a quick line."""
SLOW_TO_BEGIN: Final = 2
"""Checks in a row with a long write after which the line is slow, and less is painted."""
QUICK_TO_END: Final = 20
"""Checks in a row with quick writes only after which the line is no longer slow."""


class LineSpeed:
    """Times every write. About once a second, `update` gets the result of `longest_write`."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._began: float | None = None
        """When the write that is under way began."""
        self._longest: float | None = None
        self.slow = False
        self._in_a_row = 0
        """Checks in a row that speak against `slow`."""

    def time(self, work: Callable[..., T], *arguments: str) -> T:
        """Call a function that writes, in the writing thread, and return its result."""
        began = self._clock()
        self._began = began
        try:
            return work(*arguments)
        finally:
            self._longest = max(self._longest or 0.0, self._clock() - began)
            self._began = None

    def longest_write(self) -> float | None:
        """Seconds of the longest write since the last call, one that still hangs included.

        None if nothing was written.
        """
        longest = self._longest
        self._longest = None
        began = self._began
        if began is not None:
            longest = max(longest or 0.0, self._clock() - began)
        return longest

    def update(self, longest: float | None) -> bool:
        """Take the longest write since the last check, and return whether the line is slow.

        The answer does not change at every hiccup.
        """
        if longest is None:
            return self.slow
        if self.slow:
            self._in_a_row = self._in_a_row + 1 if longest < QUICK else 0
            is_change = self._in_a_row >= QUICK_TO_END
        else:
            self._in_a_row = self._in_a_row + 1 if longest > LONG else 0
            # A hang is no hiccup, and while the queue was full there could be no check.
            is_change = longest >= HANG or self._in_a_row >= SLOW_TO_BEGIN
        if is_change:
            self.slow = not self.slow
            self._in_a_row = 0
        return self.slow


class TimedFile:
    """A stream to the terminal whose writes are timed; all else is passed on to the stream."""

    def __init__(self, file: IO[str], speed: LineSpeed) -> None:
        self._file = file
        self._speed = speed

    def write(self, text: str) -> int:
        return self._speed.time(self._file.write, text)

    def flush(self) -> None:
        """Flush: a stream that buffers blocks here."""
        self._speed.time(self._file.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


SPEED: Final = LineSpeed()
"""The speed of this process's terminal."""
