"""What the requests themselves show: how fast the platform answers, and what its clock says."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import Final

from agentco_tui.api.waits import http_date

_NOTICED: Final = 0.05
"""Seconds."""
_SMOOTHING: Final = 0.3
"""The weight of the newest latency in the smoothed one."""
_SKEWS: Final = 5
"""The clock is judged by the median of this many answers: one slow answer must not move it."""


class Measured:
    """Facts of one transport, for the header and for `doctor`. Written by the transport only."""

    def __init__(self) -> None:
        self.requests = 0
        """Attempts that were begun, retries counted."""
        self.answers = 0
        """Answers whose headers came, whatever their status."""
        self.bytes_received = 0
        """Bytes of bodies as they came over the line."""
        self.bytes_unpacked = 0
        """Bytes of bodies after unpacking."""
        self.latency: float | None = None
        """Seconds from the start of the last answered request to its headers."""
        self.smoothed_latency: float | None = None
        """Seconds, newer requests weighing more."""
        self.steady_latency: float | None = None
        """Seconds; the smoothed latency as it was when it last became another that a person would
        notice, so that whoever shows it need not draw it anew after every answer."""
        self._skews: deque[float] = deque(maxlen=_SKEWS)

    @property
    def clock_skew(self) -> float | None:
        """Seconds that the platform's clock is ahead of ours; None until an answer told.

        The Date header has whole seconds, so this is good to about half a second.
        """
        return median(self._skews) if self._skews else None

    def answer(self, latency: float, date: str, now: float, *, from_cache: bool) -> None:
        """Headers came after `latency` seconds, at `now` by our clock, with this Date header.

        The Date of an answer out of a cache is that of its making, and says nothing.
        """
        self.answers += 1
        self.latency = latency
        before = self.smoothed_latency
        self.smoothed_latency = (
            latency if before is None else before + _SMOOTHING * (latency - before)
        )
        steady, smooth = self.steady_latency, self.smoothed_latency
        if steady is None or (
            abs(smooth - steady) >= _NOTICED and not steady / 2 <= smooth <= steady * 2
        ):
            self.steady_latency = smooth
        said = None if from_cache else http_date(date)
        if said is not None:
            # The header was cut to whole seconds, and written somewhere between question and now.
            self._skews.append(said + 0.5 - (now - latency / 2))
