"""How long the terminal takes to swallow what is written to it.

A write to a terminal on a slow or stalled line blocks once the buffers on the way are full. The
driver writes from a thread of its own, so nothing else notices until its queue is full too; this
looks at the writes themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import IO, Any, Final, TypeVar

T = TypeVar("T")

LONG: Final = 0.25  # seconds that a write may take before the line counts as slow
HANG: Final = 1.0
QUICK: Final = 0.05
SLOW_TO_BEGIN: Final = 2  # looks in a row with a long write after which less is painted
QUICK_TO_END: Final = 20
"""Looks in a row, with something written, without one, after which all is painted again."""


class LineSpeed:
    """Times every write; `took` is asked about once a second, and `look` told."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._began: float | None = None
        self._longest: float | None = None
        self.slow = False
        self._in_a_row = 0

    def time(self, work: Callable[..., T], *arguments: str) -> T:
        """Do a piece of work that writes, on the thread that writes."""
        self._began = began = self._clock()
        try:
            return work(*arguments)
        finally:
            self._longest = max(self._longest or 0.0, self._clock() - began)
            self._began = None

    def took(self) -> float | None:
        """Seconds of the longest write since this was asked last, also of one that still hangs.

        None if nothing was written.
        """
        longest, self._longest = self._longest, None
        if (began := self._began) is not None:
            longest = max(longest or 0.0, self._clock() - began)
        return longest

    def look(self, took: float | None) -> bool:
        """Take the longest write since the last look; True if the line counts as slow now, without
        a change of mind at every hiccup.
        """
        if took is not None:
            against = took < QUICK if self.slow else took > LONG
            # A hang of a second is no hiccup, and nobody could look while the queue was full.
            weight = SLOW_TO_BEGIN if not self.slow and took >= HANG else 1
            self._in_a_row = self._in_a_row + weight if against else 0
            if self._in_a_row >= (QUICK_TO_END if self.slow else SLOW_TO_BEGIN):
                self.slow, self._in_a_row = not self.slow, 0
        return self.slow


class TimedFile:
    """A stream to the terminal whose writes are timed; everything else is the stream's own."""

    def __init__(self, file: IO[str], speed: LineSpeed) -> None:
        self._file, self._speed = file, speed

    def write(self, text: str) -> int:
        return self._speed.time(self._file.write, text)

    def flush(self) -> None:
        """Flush, which is where a stream that buffers waits."""
        self._speed.time(self._file.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


SPEED: Final = LineSpeed()  # of this process's terminal
