"""The period that a limit is for: as the platform tells it, else the calendar's."""

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
    """From when to when a limit holds."""

    start: float
    end: float
    start_told: bool = True  # False if it is worked out here, and the figure may not begin there
    end_told: bool = True


def period_of(budget: Budget, now: float) -> Period:
    """The period that now is in; in UTC the calendar's, by default its month, if none is told.

    A period that the platform told and that is over is taken to go on in the same way; one that no
    calendar has is as good as none.
    """
    try:
        return _told(budget, now)
    except (ValueError, OverflowError, OSError):
        return _told(Budget(id=budget.id, scope=budget.scope), now)


def _told(budget: Budget, now: float) -> Period:
    start = budget.period_start.at if budget.period_start else None
    end = budget.resets.at if budget.resets else None
    word = (budget.period or "").casefold()
    length = next((days for part, days in _LENGTHS if part in word), 0)
    is_told = start is not None or (end is not None and bool(word))
    if start is not None and end is not None and start < end:
        if not start <= now < end:
            turns = math.floor((now - start) / (end - start))
            if end - start > 27 * DAY and end - start < 32 * DAY:
                return _turns(start, 0, now, is_told, end_told=True)
            start, end = start + turns * (end - start), end + turns * (end - start)
        return Period(start, end)
    anchor = end if end is not None else start
    if anchor is None:
        today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        days = {1: today, 7: today - timedelta(today.weekday())}
        anchor = days.get(length, today.replace(day=1)).timestamp()
    return _turns(anchor, length, now, is_told, end_told=end is not None)


_LENGTHS: Final = (("dai", 1), ("day", 1), ("24h", 1), ("week", 7), ("7d", 7))


def _turns(anchor: float, length: int, now: float, start_told: bool, end_told: bool) -> Period:
    """The period round now of those that turn at `anchor`: of so many days, or of months (0)."""
    if length:
        start = anchor + math.floor((now - anchor) / (length * DAY)) * length * DAY
        return Period(start, start + length * DAY, start_told, end_told)
    first, today = datetime.fromtimestamp(anchor, UTC), datetime.fromtimestamp(now, UTC)
    months = 12 * today.year + today.month - 1
    turns = [
        first.replace(year=month // 12, month=month % 12 + 1, day=min(first.day, 28)).timestamp()
        for month in range(months - 1, months + 3)
    ]
    return next(
        Period(start, end, start_told, end_told) for start, end in pairwise(turns) if end > now
    )
