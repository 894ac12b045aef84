"""Records when keys came from the terminal, to tell which of them were pressed alone.

`KeyArrivals` is filled by the thread that reads the terminal (`textual_patches.driver`) and asked
by the confirmation dialogs.

A `y` that confirms something, such as the approval of an AI agent's task, must have been pressed as
an answer, so it must come alone: no other key in the same read, and none within `QUIET` seconds
before or after it. Text that is pasted without brackets (GNU screen's own paste), typed by a macro,
or delivered late by a stalled line comes as a burst, and so do the repeats of a key that is held
down.

The times are those of the reads; event handlers run later, by a delay that depends on the load. All
that is known of a key is that it came after the terminal was last seen to be empty and before the
read ended. Both bounds are kept, and two keys count as apart only if they were `QUIET` seconds
apart at any times within these bounds. So a reader that is delayed by other programs may refuse a
`y` that was pressed alone, and never accepts one that was not.

Unknown keys and bracketed pastes count as keys. Reports of mouse and focus, and the terminal's
answers to queries, do not: the terminal sends them without a key being pressed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from threading import Lock
from time import monotonic
from typing import Final

QUIET: Final = 0.08  # seconds before and after a key in which no other key may come
MARGIN: Final = 0.001  # seconds added to a wait of `QUIET`, so that one wait is enough
MOST_READS: Final = 256  # reads that are remembered; a key of an older one counts as a burst


class Arrival(Enum):
    """How a key came from the terminal."""

    ALONE = auto()
    BURST = auto()
    UNDECIDED = auto()
    """It is too early to tell: another key may still come within `QUIET` seconds."""


class _Read:
    """One read of the terminal that brought keys."""

    def __init__(self, ended_at: float, *, is_alone: bool) -> None:
        self.ended_at = ended_at
        self.is_alone = is_alone


class KeyArrivals:
    """The latest reads of the terminal that brought keys. Safe for use by several threads.

    All times are those of `clock`, in seconds. `watched` says whether a reader records its reads.
    If none does (in a headless app, or with another driver), every key counts as a read at the time
    of its event.
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
        """Seconds for which the reader must wait for input, to see that no key follows the last
        one; 0 if that was seen already.
        """
        with self._lock:
            if self._empty_at - self._last_key_at >= QUIET:
                return 0.0
            return max(0.0, self._last_key_at + QUIET - self._clock()) + MARGIN

    def record_empty(self, at: float) -> None:
        """Record that at a time the terminal had no input left to read."""
        with self._lock:
            self._empty_at = max(self._empty_at, at)

    def record_keys(self, count: int, at: float) -> None:
        """Record that a read which ended at `at` brought `count` keys and pastes."""
        with self._lock:
            self._record(count, not_before=self._empty_at, at=at)

    def record_event(self, at: float) -> None:
        """Record a key event of that time; does nothing if a reader records its reads."""
        if not self.watched:
            with self._lock:
                self._record(1, not_before=at, at=at)

    def _record(self, count: int, *, not_before: float, at: float) -> None:
        is_apart = not_before - self._last_key_at >= QUIET
        if self._reads and not is_apart:
            self._reads[-1].is_alone = False
        self._reads.append(_Read(at, is_alone=is_apart and count == 1))
        self._last_key_at = at

    def came_together(self, first_at: float, second_at: float) -> bool:
        """Return whether two reads, by the times at which they ended, were less than `QUIET` apart.

        Then both keys may be of one paste. False if one of them is not remembered.
        """
        with self._lock:
            read_times = {read.ended_at for read in self._reads}
        are_remembered = first_at in read_times and second_at in read_times
        return are_remembered and second_at - first_at < QUIET

    def arrival_of(self, at: float) -> Arrival:
        """Return how the key came that was read by the read which ended at `at`."""
        with self._lock:
            reads = [read for read in self._reads if read.ended_at == at]
            if not reads or not reads[-1].is_alone:
                return Arrival.BURST
            quiet_until = self._clock()
            if self.watched:
                quiet_until = self._empty_at
            is_latest = reads[-1] is self._reads[-1]
            if is_latest and quiet_until - at < QUIET:
                return Arrival.UNDECIDED
            return Arrival.ALONE
