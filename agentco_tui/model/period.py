"""The period that a limit is for: as the platform sends it, otherwise the calendar's."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

import msgspec

from agentco_tui.model import Budget

HOUR: Final = 3_600.0
DAY: Final = 86_400.0


class Period(msgspec.Struct, frozen=True):
    """From when to when a limit holds, in seconds since 1970."""

    start: float
    end: float
    start_told: bool = True
    """Whether the platform sent the start; otherwise it is derived, and the figure of what was
    spent may not begin there."""


_LENGTHS: Final = (("dai", 1), ("day", 1), ("24h", 1), ("week", 7), ("7d", 7))
"""Parts of the words for periods, with the number of days."""


def period_of(budget: Budget, now: float) -> Period:
    """Returns the present period of a budget: without any information the calendar's month in UTC.

    A period that the platform sent and that is over is assumed to repeat.
    """
    start = budget.period_start.at if budget.period_start else None
    end = budget.resets.at if budget.resets else None
    word = (budget.period or "").casefold()
    length = DAY * next((days for part, days in _LENGTHS if part in word), 0)
    if start is not None and end is not None and start < end:
        if start <= now < end:
            return Period(start, end)
        length = 0.0 if 27 * DAY < end - start < 32 * DAY else end - start
    anchor = end if start is None else start
    if anchor is None:
        today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        days = {DAY: today, 7 * DAY: today - timedelta(today.weekday())}
        anchor = days.get(length, today.replace(day=1)).timestamp()
    is_told = start is not None or (end is not None and bool(length or "mo" in word))
    if length:
        begin = anchor + math.floor((now - anchor) / length) * length
        return Period(begin, begin + length, is_told)
    first, today = datetime.fromtimestamp(anchor, UTC), datetime.fromtimestamp(now, UTC)
    months = 12 * today.year + today.month - 1
    turns = [
        first.replace(year=month // 12, month=month % 12 + 1, day=min(first.day, 28)).timestamp()
        for month in range(months - 1, months + 3)
    ]
    return next(Period(begin, end, is_told) for begin, end in pairwise(turns) if end > now)
