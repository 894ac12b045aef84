"""When a request is tried again, how fast the platform answers, and what its clock says."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from statistics import median
from typing import Final

from agentco_tui.api.errors import (
    ApiError,
    Broken,
    PlatformFailed,
    RateLimited,
    TimedOut,
    TlsFailure,
    Unreachable,
)
from agentco_tui.patterns import lazy_pattern

_LONGEST_WAIT: Final = 86_400.0
"""Seconds: nothing longer than a day is believed."""

_PASSING: Final = (Unreachable, TimedOut, Broken, RateLimited)
"""Failures that may be over soon; a bad certificate, a refusal or a 404 is not."""
_PASSING_STATUSES: Final = frozenset({500, 502, 503, 504})
_FIRST: Final = 0.25
_HIGHEST: Final = 8.0
"""Seconds: the ceilings of the first wait before another attempt, and of any."""
_LONGEST_RETRY_AFTER: Final = 60.0
_BUDGET: Final = 75.0
"""Seconds after the start of the first attempt in which another one may still begin."""
_DATE: Final = lazy_pattern(
    r"[a-z]{3,9},? [a-z0-9 -]{6,12} \d\d:\d\d:\d\d (GMT|\d{4})", re.ASCII | re.IGNORECASE
)
_SECONDS: Final = lazy_pattern(r"\d{1,9}(\.\d{1,6})?", re.ASCII)
_COUNT: Final = lazy_pattern(r"\d{1,14}", re.ASCII)
_RESETS: Final = ("ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset")
_DRAFT_RESET: Final = lazy_pattern(r"\b(?:reset|t)=(\d{1,9})\b", re.ASCII)

_NOTICED: Final = 0.05
"""Seconds of latency that a person would notice."""
_SMOOTHING: Final = 0.3
"""The weight of the newest latency in the smoothed one."""


def retry_wait(error: ApiError, failed: int, elapsed: float) -> float | None:
    """Seconds until a read is sent again that failed so often, or None to tell the error.

    Back-off with full jitter: each wait is drawn between 0 and a ceiling that doubles. A long
    Retry-After is left to the caller, who finds it in the error.
    """
    if isinstance(error, PlatformFailed):
        is_passing = error.status in _PASSING_STATUSES
    else:
        is_passing = isinstance(error, _PASSING) and not isinstance(error, TlsFailure)
    asked = error.retry_after or 0.0
    if not is_passing or asked > _LONGEST_RETRY_AFTER:
        return None
    # After what was asked for, so that not all who were told the same come back at once.
    ceiling = min(_HIGHEST, _FIRST * 2.0 ** min(failed - 1, 30))
    wait = asked + ceiling * random.random()  # noqa: S311 (jitter, not secrecy)
    return wait if elapsed + wait <= _BUDGET else None


class Measured:
    """What the requests themselves show: how fast the platform answers, what its clock says."""

    def __init__(self) -> None:
        self.smoothed_latency: float | None = None
        """Seconds from the start of a request to the headers of its answer, newer ones weighing
        more."""
        self.steady_latency: float | None = None
        """As it was when it last became another that a person would notice: it is not to be drawn
        anew after every answer."""
        # The median of a few: one slow answer must not move it.
        self._skews: deque[float] = deque(maxlen=5)

    @property
    def clock_skew(self) -> float | None:
        """Seconds that the platform's clock is ahead of ours, to about half a second."""
        return median(self._skews) if self._skews else None

    def answer(self, latency: float, date: str = "", now: float = 0.0) -> None:
        """Headers came after `latency` seconds, at `now` by our clock, with this Date header."""
        before, steady = self.smoothed_latency, self.steady_latency
        smooth = latency if before is None else before + _SMOOTHING * (latency - before)
        self.smoothed_latency = smooth
        if steady is None or (
            abs(smooth - steady) >= _NOTICED and not steady / 2 <= smooth <= steady * 2
        ):
            self.steady_latency = smooth
        if date and (said := http_date(date)) is not None:
            # The header was cut to whole seconds, and written somewhere between question and now.
            self._skews.append(said + 0.5 - (now - latency / 2))


def asked_wait(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Seconds the answer asks us to wait, at most a day; None if it asks nothing readable.

    A date is counted from the platform's own Date header where there is one, so that a wrong clock
    on either side does not matter. Digits first: a lenient date parser reads "-3" as a year.
    """
    here = http_date(headers.get("date", ""))
    clock = now if here is None else here
    value = headers.get("retry-after", "").strip()
    wait: float | None = None
    if _SECONDS.fullmatch(value):
        wait = float(value)
    elif value.isascii() and value.isdigit():
        wait = _LONGEST_WAIT
    elif (at := http_date(value)) is not None:
        wait = at - clock
    elif status == 429 and (match := _DRAFT_RESET.search(headers.get("ratelimit", "")[:200])):
        wait = float(match[1])
    elif status == 429:
        values = (headers.get(name, "").strip() for name in _RESETS)
        if told := next((text for text in values if _COUNT.fullmatch(text)), None):
            # Seconds from now, epoch seconds or epoch milliseconds: told apart by size.
            wait = float(told) / (1000 if float(told) >= 1e11 else 1)
            wait = wait - clock if wait >= 1e8 else wait
    return None if wait is None else min(max(wait, 0.0), _LONGEST_WAIT)


def http_date(text: str) -> float | None:
    """Seconds since 1970 UTC for one of the three forms of RFC 9110 5.6.7; None for any other."""
    from email.utils import parsedate_tz  # noqa: PLC0415 - only who asks a platform needs it

    parts = parsedate_tz(text) if _DATE.fullmatch(text) else None
    try:
        # Its zone is GMT, said or not; sixty is a leap second.
        when = None if parts is None else (*parts[:5], parts[5] - (parts[5] == 60))
        seconds = -1.0 if when is None else datetime(*when, tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return seconds if seconds >= 0 else None
