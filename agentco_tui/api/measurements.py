"""Measures the platform's latency and clock skew from the answers to ordinary requests.

The platform is the remote service; its clock is known from the Date headers.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from agentco_tui.api.header_times import http_date

_NEWEST_WEIGHT: Final = 0.3
"""Share of the newest latency in the smoothed one."""
_LEAST_CHANGE: Final = 0.05
"""Seconds: a smaller change of the latency is not shown."""
_LEAST_RATIO: Final = 2
"""A change of the latency by a smaller factor is not shown."""
_KEPT_SKEWS: Final = 5
"""The clock skew is the median of so many answers."""
_HALF_SECOND: Final = 0.5


class Measurements:
    """Latency and clock skew of one platform, updated by each answer."""

    def __init__(self) -> None:
        self.smoothed_latency: float | None = None
        """Seconds from a request to the headers of its answer, newer ones weighing more."""
        self.steady_latency: float | None = None
        """The smoothed latency when it last changed enough to be noticed: the one to show."""
        self.reached = False
        """Whether the address has answered a request with what was asked for."""
        # The median of a few: one slow answer must not move it.
        self._skews: deque[float] = deque(maxlen=_KEPT_SKEWS)

    @property
    def clock_skew(self) -> float | None:
        """Seconds by which the platform's clock is ahead of ours, to about half a second."""
        if not self._skews:
            return None
        # Not by the module statistics: importing it would be the longest part of this.
        skews = sorted(self._skews)
        middle = len(skews) // 2
        if len(skews) % 2:
            return skews[middle]
        return (skews[middle - 1] + skews[middle]) / 2

    def add_answer(self, latency: float, date: str, now: float) -> None:
        """Count an answer whose headers came `latency` seconds after the request.

        `date` is its Date header, which may be empty; `now` is the time by our clock, in seconds
        since 1970.
        """
        self._add_latency(latency)
        platform_time = http_date(date) if date else None
        if platform_time is not None:
            # The header is cut to whole seconds, and was written between the request and now.
            written_at = now - latency / 2
            self._skews.append(platform_time + _HALF_SECOND - written_at)

    def _add_latency(self, latency: float) -> None:
        smoothed = latency
        if self.smoothed_latency is not None:
            change = latency - self.smoothed_latency
            smoothed = self.smoothed_latency + _NEWEST_WEIGHT * change
        self.smoothed_latency = smoothed
        if self.steady_latency is None or _is_noticeable(self.steady_latency, smoothed):
            self.steady_latency = smoothed


def _is_noticeable(shown: float, latency: float) -> bool:
    """Whether a latency differs enough from the shown one, both in seconds."""
    if abs(latency - shown) < _LEAST_CHANGE:
        return False
    return not 1 / _LEAST_RATIO <= latency / shown <= _LEAST_RATIO
