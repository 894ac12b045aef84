"""When keys came from the terminal, and which of them were pressed alone.

A `y` that confirms something must have been pressed as an answer, so it must come alone: no
other key in the same read, and none within `QUIET` seconds before or after it. Text that is
pasted without brackets (GNU screen's own paste), typed by a macro, or delivered late by a stalled
line comes as a burst, and so do the repeats of a key that is held down.

The thread that reads the terminal records what it read and when; handlers run later, by how much
depends on the load, so their times decide nothing. A read only says that its keys came after the
terminal was last seen to be empty and before the read ended. Both bounds are kept, and two keys
count as apart only if even the closest times that the bounds allow are `QUIET` apart. A reader that
was kept waiting by other programs therefore refuses a `y`, and never accepts one too many.

Keys, also unknown ones, and text pasted with brackets, count. Reports of the mouse or the focus and
the terminal's answers are sent without a key being pressed: they neither count nor cancel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from threading import Lock
from time import monotonic
from typing import Final

QUIET: Final = 0.08  # seconds before and after a key in which no other may come
MARGIN: Final = 0.001  # seconds to wait longer than `QUIET`, so that one wait is enough
MOST_READS: Final = 256  # reads that are remembered; a key of an older one doesn't count as alone


class Arrival(Enum):
    """How a key came from the terminal."""

    ALONE = auto()
    BURST = auto()
    UNDECIDED = auto()
    """It is too early to say: one may still come within `QUIET`."""


class _Read:
    """One read that brought keys."""

    def __init__(self, at: float, *, alone: bool) -> None:
        self.at = at
        self.alone = alone


class KeyArrivals:
    """The latest reads of the terminal that brought keys. May be used by several threads.

    All times are those of `clock`, in seconds. Without a reader (`watched` is false: in a headless
    app, or with another driver), every key counts as a read of its own at the time of its event.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.watched = False
        self._clock = clock
        self._lock = Lock()
        self._reads: deque[_Read] = deque(maxlen=MOST_READS)
        self._last_key_at = float("-inf")
        self._empty_at = clock()

    @property
    def wait(self) -> float:
        """Seconds to wait for input from now on, to see that no key follows the last one; 0 if that
        was seen already.
        """
        with self._lock:
            if self._empty_at - self._last_key_at >= QUIET:
                return 0.0
            return max(0.0, self._last_key_at + QUIET - self._clock()) + MARGIN

    def record_empty(self, at: float) -> None:
        """Record that at that time the terminal held no key that had not been read."""
        with self._lock:
            self._empty_at = max(self._empty_at, at)

    def record_keys(self, count: int, at: float) -> None:
        """Record that a read which ended at that time brought so many keys and pastes."""
        with self._lock:
            self._record(count, not_before=self._empty_at, at=at)

    def record_event(self, at: float) -> None:
        """Record a key event made at that time; does nothing if a reader records its reads."""
        if not self.watched:
            with self._lock:
                self._record(1, not_before=at, at=at)

    def _record(self, count: int, *, not_before: float, at: float) -> None:
        apart = not_before - self._last_key_at >= QUIET
        if self._reads and not apart:
            self._reads[-1].alone = False
        self._reads.append(_Read(at, alone=apart and count == 1))
        self._last_key_at = at

    def came_together(self, first_at: float, second_at: float) -> bool:
        """Whether the keys of the reads that ended at these times came within `QUIET` seconds."""
        with self._lock:
            known_times = {read.at for read in self._reads}
        are_known = first_at in known_times and second_at in known_times
        return are_known and second_at - first_at < QUIET

    def arrival_of(self, at: float) -> Arrival:
        """Return how the key of the read that ended at that time came."""
        with self._lock:
            read = next((read for read in reversed(self._reads) if read.at == at), None)
            if read is None or not read.alone:
                return Arrival.BURST
            empty_at = self._empty_at if self.watched else self._clock()
            if read is self._reads[-1] and empty_at - at < QUIET:
                return Arrival.UNDECIDED
            return Arrival.ALONE
