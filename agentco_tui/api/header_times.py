"""Reads times in HTTP headers: dates, and how many seconds an answer asks the client to wait.

The answers come from the platform, the remote service. `to_moment` reads a date in any form and
returns a `Moment`, a point in time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agentco_tui.model import Moment
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text.patterns import lazy_pattern

_LONGEST_WAIT: Final = 86_400.0
"""Seconds: a longer wait is cut to one day."""
_SECONDS: Final = lazy_pattern(r"\d+(\.\d{1,6})?", re.ASCII)
_RESET_HEADERS: Final = ("ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset")
_RATELIMIT_RESET: Final = lazy_pattern(r"\b(?:reset|t)=(\d{1,9})\b", re.ASCII)
"""The reset in a RateLimit header: `reset=9` in older drafts of the standard, `t=9` in newer."""
_LONGEST_RATELIMIT: Final = 200
"""Characters of a RateLimit header that are searched."""
_LEAST_EPOCH_SECONDS: Final = 1e8
"""A reset of so many seconds or more is a time since 1970, not a wait."""
_LEAST_EPOCH_MILLISECONDS: Final = 1e11
"""A larger reset is in milliseconds since 1970."""


def http_date(text: str) -> float | None:
    """Seconds since 1970 for a date in a form of RFC 9110 (5.6.7) or of a JSON body, or None."""
    moment = to_moment(text)
    if not isinstance(moment, Moment):
        return None
    return moment.at


def requested_wait(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that an answer asks the client to wait, from 0 to one day; None if it does not ask.

    Header names are in lower case. A date counts from the platform's own Date header, if there is
    one, so that a wrong clock on either side does not matter; otherwise from `now`, in seconds
    since 1970. The reset headers of rate limits count for a 429 only.
    """
    platform_time = http_date(headers.get("date", ""))
    if platform_time is None:
        platform_time = now
    wait = _retry_after(headers.get("retry-after", "").strip(), platform_time)
    if wait is None and status == 429:
        wait = _rate_limit_reset(headers, platform_time)
    if wait is None:
        return None
    return min(max(wait, 0.0), _LONGEST_WAIT)


def _retry_after(value: str, platform_time: float) -> float | None:
    """Seconds that a Retry-After header asks for; None if it is neither a number nor a date."""
    # Digits first: a lenient date parser reads "-3" as a year.
    if _SECONDS.fullmatch(value):
        return float(value)
    date = http_date(value)
    if date is None:
        return None
    return date - platform_time


def _rate_limit_reset(headers: Mapping[str, str], platform_time: float) -> float | None:
    """Seconds until a rate limit is reset, by its headers; None if there is none of them."""
    reset = _RATELIMIT_RESET.search(headers.get("ratelimit", "")[:_LONGEST_RATELIMIT])
    if reset:
        return float(reset[1])
    for name in _RESET_HEADERS:
        value = headers.get(name, "").strip()
        if _SECONDS.fullmatch(value):
            return _seconds_until_reset(float(value), platform_time)
    return None


def _seconds_until_reset(value: float, platform_time: float) -> float:
    """Seconds until a reset; `value` is seconds from now, epoch seconds or epoch milliseconds.

    Its size shows which.
    """
    if value >= _LEAST_EPOCH_MILLISECONDS:
        value /= 1000
    if value >= _LEAST_EPOCH_SECONDS:
        return value - platform_time
    return value
