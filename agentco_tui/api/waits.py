"""How long the platform asks us to wait, read from its headers (SHAPES I).

Digits first, then a strict HTTP date, then nothing: a lenient date parser reads "-3" as a year.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from typing import Final

from agentco_tui.patterns import lazy_pattern

LONGEST_WAIT: Final = 86_400.0
"""Seconds: nothing longer than a day is believed."""

_MONTHS: Final = " jan feb mar apr may jun jul aug sep oct nov dec"
_TIME: Final = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
_DATES: Final = (
    # Sun, 06 Nov 1994 08:49:37 GMT
    lazy_pattern(rf"[a-z]{{3}}, (?P<day>\d\d) (?P<month>[a-z]{{3}}) (?P<year>\d{{4}}) {_TIME} gmt"),
    # Sunday, 06-Nov-94 08:49:37 GMT
    lazy_pattern(rf"[a-z]{{6,9}}, (?P<day>\d\d)-(?P<month>[a-z]{{3}})-(?P<year>\d\d) {_TIME} gmt"),
    # Sun Nov  6 08:49:37 1994
    lazy_pattern(rf"[a-z]{{3}} (?P<month>[a-z]{{3}}) (?P<day>[ \d]\d) {_TIME} (?P<year>\d{{4}})"),
)
_SECONDS: Final = lazy_pattern(r"\d{1,9}(\.\d{1,6})?", re.ASCII)
_DRAFT_RESET: Final = lazy_pattern(r"\b(?:reset|t)=(\d{1,9})\b", re.ASCII)


def http_date(text: str) -> float | None:
    """Seconds since 1970 UTC for one of the three forms of RFC 9110 5.6.7; None for any other."""
    folded = text.strip().lower()
    if not folded.isascii() or len(folded) > 40:
        return None
    for pattern in _DATES:
        if match := pattern.fullmatch(folded):
            return _epoch(match)
    return None


def _epoch(match: re.Match[str]) -> float | None:
    year, day = int(match["year"]), int(match["day"])
    if year < 100:
        year += 2000 if year < 70 else 1900
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"])
    number = (_MONTHS.find(f" {match['month']}") + 4) // 4
    if (
        number < 1
        or not 1970 <= year <= 9999
        or not 1 <= day <= calendar.monthrange(year, number)[1]
    ):
        return None
    if hour > 23 or minute > 59 or second > 60:
        return None
    return float(calendar.timegm((year, number, day, hour, minute, second)))


def asked_wait(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Seconds the answer asks us to wait, from 0 to a day; None if it asks nothing readable.

    `headers` has lower-case names, `now` is our clock in seconds since 1970. A date is counted
    from the platform's own Date header where there is one, so that a wrong clock on either side
    does not matter. For a 429 without Retry-After the usual reset headers are read too.
    """
    here = http_date(headers.get("date", ""))
    clock = now if here is None else here
    wait = _seconds_or_date(headers.get("retry-after", ""), clock)
    if wait is None and status == 429:
        wait = _reset(headers, clock)
    return None if wait is None else min(max(wait, 0.0), LONGEST_WAIT)


def _seconds_or_date(value: str, clock: float) -> float | None:
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    if value.isascii() and value.isdigit():
        return LONGEST_WAIT
    at = http_date(value)
    return None if at is None else at - clock


def _reset(headers: Mapping[str, str], clock: float) -> float | None:
    """Seconds from now, epoch seconds or epoch milliseconds: told apart by size (SHAPES I)."""
    if match := _DRAFT_RESET.search(headers.get("ratelimit", "")[:200]):
        return float(match[1])
    for name in ("ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset"):
        value = headers.get(name, "").strip()
        if value.isascii() and value.isdigit() and len(value) <= 14:
            number = float(value)
            if number >= 1e11:
                number /= 1000
            return number - clock if number >= 1e8 else number
    return None
