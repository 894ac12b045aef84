"""The clock of a replay: it shows the time of a recording, at a speed that the user chooses.

A recording (`agentco-tui --record FILE`) has every answer of a platform (a remote service) with the
time at which it came. Two clocks were involved: that of the machine that recorded, by which answers
are filed, and that of the platform, which the dashboard shows. `Recording.ahead` is the difference
between them.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from agentco_tui.api.recording import Recording
from agentco_tui.live.feeds import SKEW_THAT_MATTERS, Clock
from agentco_tui.text.patterns import lazy_pattern

SPEEDS: Final = (1, 2, 5, 10, 60, 600)
"""How many seconds of the recording pass in one second."""

_MARGIN: Final = 60.0
"""Seconds before the first and after the last answer that still count as in the recording."""
_OFFSET: Final = lazy_pattern(r"([+-])(\d{1,6})\s*([smh])")
_SECONDS_BY_UNIT: Final = {"s": 1, "m": 60, "h": 3600}


class ReplayClock(Clock):
    """Shows the recording's time, from its beginning to its end.

    `monotonic` advances with it, and is not affected by a jump to another time.
    """

    def __init__(
        self, recording: Recording, steady_clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`steady_clock` returns seconds that are never set back."""
        super().__init__(lambda: recording.ahead(self.time()), self.time)
        self.recording = recording
        self.speed: int = SPEEDS[0]
        self.paused = False
        self._steady_clock = steady_clock
        # These three describe the same moment, in which the clock was last set.
        self._set_at = steady_clock()
        self._time_when_set = recording.begins
        self._monotonic_when_set = 0.0

    def time(self) -> float:
        """Seconds since 1970 by the clock of the machine that recorded."""
        if self.paused:
            return self._time_when_set
        elapsed = (self._steady_clock() - self._set_at) * self.speed
        return min(self._time_when_set + elapsed, self.recording.ends)

    def monotonic(self) -> float:
        return self._monotonic_when_set + self.time() - self._time_when_set

    @property
    def ended(self) -> bool:
        return self.time() >= self.recording.ends

    def set(
        self, *, at: float | None = None, speed: int | None = None, paused: bool | None = None
    ) -> None:
        """Jump to a time, or change the speed or the pause; None leaves a value unchanged."""
        shown_time = self.time()
        self._monotonic_when_set = self.monotonic()
        if at is not None:
            shown_time = max(self.recording.begins, min(at, self.recording.ends))
            # Otherwise `now` would ignore a small step back.
            self._last_returned = 0.0
        self._time_when_set = shown_time
        self._set_at = self._steady_clock()
        if speed is not None:
            self.speed = speed
        if paused is not None:
            self.paused = paused

    def platform_time(self, at: float) -> float:
        """Convert a time by the clock that recorded to one by the platform's clock."""
        ahead = self.recording.ahead(at)
        if ahead is None or abs(ahead) < SKEW_THAT_MATTERS:
            return at
        return at + ahead

    def parse_time(self, words: str) -> float | None:
        """Parse a time that the user typed; return it by the clock that recorded.

        The words are a time by the platform's clock ("03:12"), a date with a time, or an offset
        from the time shown ("+5m", "-1h"). None if they are none of these, or if the recording
        does not have that time.
        """
        offset = _OFFSET.fullmatch(words)
        if offset is not None:
            sign, number, unit = offset.groups()
            return self.time() + int(f"{sign}{number}") * _SECONDS_BY_UNIT[unit]
        shown_time = self.now()
        candidates = [at for at in _possible_times(words, shown_time) if self._is_recorded(at)]
        if not candidates:
            return None
        return self._recorder_time(min(candidates, key=lambda at: abs(at - shown_time)))

    def _is_recorded(self, platform_time: float) -> bool:
        times = self.recording.times
        begins = self.platform_time(times[0]) - _MARGIN
        ends = self.platform_time(times[-1]) + _MARGIN
        return begins <= platform_time <= ends

    def _recorder_time(self, platform_time: float) -> float:
        """Convert a time by the platform's clock to one by the clock that recorded.

        The skew is that of the next answer, as it can change during a recording.
        """
        times = self.recording.times
        index = min(bisect_left(times, platform_time, key=self.platform_time), len(times) - 1)
        previous_answer = times[max(0, index - 1)]
        skew = self.platform_time(times[index]) - times[index]
        return max(previous_answer, platform_time - skew)


def _possible_times(words: str, shown_time: float) -> list[float]:
    """Return what the words can mean: a date with a time, or a time of a day near the one shown."""
    readings: list[float] = []
    with suppress(ValueError, OverflowError):
        readings.append(datetime.fromisoformat(words).timestamp())
    for days in (-1, 0, 1):
        day = datetime.fromtimestamp(shown_time) + timedelta(days=days)
        with suppress(ValueError, OverflowError):
            readings.append(datetime.fromisoformat(f"{day:%Y-%m-%d} {words}").timestamp())
    return readings
