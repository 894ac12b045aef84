"""The period that a budget's limit is for: a month, a week, a day, or what the platform sends.

A platform is the remote service that runs companies of AI agents. Forecasts, spend rates and the
budget screen all use `period_of`. Platforms send the period as a word ("monthly"), as its start, as
the time of the next reset, or not at all.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

import msgspec

from agentco_tui.model import Budget

HOUR: Final = 3_600.0  # seconds
DAY: Final = 86_400.0  # seconds

_DAYS_BY_WORD: Final = (("dai", 1), ("day", 1), ("24h", 1), ("week", 7), ("7d", 7))
"""Parts of the words for periods, with the number of days: the first that fits counts."""
_LAST_DAY_OF_ALL_MONTHS: Final = 28


class Period(msgspec.Struct, frozen=True):
    """From when to when a limit holds, in seconds since 1970."""

    start: float
    end: float
    start_told: bool = True
    """Whether the platform sent the start. Otherwise it is derived, and the sum of what was spent
    may not begin there."""


def period_of(budget: Budget, now: float) -> Period:
    """The present period of a budget; without any information it is the calendar's month in UTC.

    A period that the platform sent and that is over is assumed to repeat.
    """
    start = None if budget.period_start is None else budget.period_start.at
    end = None if budget.resets is None else budget.resets.at
    word = (budget.period or "").casefold()
    length = _seconds_of(word)
    if start is not None and end is not None and start < end:
        if start <= now < end:
            return Period(start, end)
        length = end - start
        if 27 * DAY < length < 32 * DAY:
            length = None  # a month: the next one may be longer or shorter
    is_start_known = start is not None
    if start is None and end is not None:
        is_start_known = length is not None or "mo" in word
    anchor = end if start is None else start
    if anchor is None:
        anchor = _calendar_start(length, now)
    if length is None:
        return _month_around(now, anchor, is_start_known=is_start_known)
    begin = anchor + math.floor((now - anchor) / length) * length
    return Period(begin, begin + length, is_start_known)


def _seconds_of(word: str) -> float | None:
    """The length of the period that a word means; None for months and for unknown words."""
    for part, days in _DAYS_BY_WORD:
        if part in word:
            return days * DAY
    return None


def _calendar_start(length: float | None, now: float) -> float:
    """When the calendar's day, week (from Monday) or month of `now` begins, in UTC."""
    today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if length == DAY:
        return today.timestamp()
    if length == 7 * DAY:
        return (today - timedelta(today.weekday())).timestamp()
    return today.replace(day=1).timestamp()


def _month_around(now: float, anchor: float, *, is_start_known: bool) -> Period:
    """The month that holds `now`, of months that begin on the day and at the time of `anchor`."""
    first = datetime.fromtimestamp(anchor, UTC)
    day = min(first.day, _LAST_DAY_OF_ALL_MONTHS)
    today = datetime.fromtimestamp(now, UTC)
    this_month = 12 * today.year + today.month - 1
    starts = [
        first.replace(year=month // 12, month=month % 12 + 1, day=day).timestamp()
        for month in range(this_month - 1, this_month + 3)
    ]
    for begin, end in pairwise(starts):
        if end > now:
            return Period(begin, end, is_start_known)
    raise AssertionError("one of the months holds the present")
