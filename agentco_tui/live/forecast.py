"""Where a budget is going: the rate, the end of the period as a range, and when the money is gone.

Pure functions of samples; times are seconds since 1970, sums whole currency units.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from agentco_tui.live.history import Span


class TooLittle(msgspec.Struct, frozen=True):
    """Too little is known for a forecast."""

    needed: float  # seconds of observed time that are still missing


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """Of one budget, as of `made`."""

    made: float
    rate: float  # whole units an hour, now
    low: float  # spent at the end of the period: 8 of 10 outcomes lie between low and high
    middle: float
    high: float
    ends: float  # the end of the period
    ends_assumed: bool = False  # True if the platform told no end, and the calendar's is taken
    early: bool = False  # less than seven days are known
    hit: float | None = None  # probability (0 to 1) that the limit is reached; None without one
    gone: tuple[float, float, float] | None = None
    """When the money is gone: earliest, likely, latest; only where that is likely enough to say."""


class NoData(msgspec.Struct, frozen=True):
    """A window was seen for less than half of its time: nothing can be said of it. It is falsy, as
    None is, which says that all is well.
    """

    def __bool__(self) -> Literal[False]:
        return False


class Burn(msgspec.Struct, frozen=True, kw_only=True):
    """A budget that burns too fast, by one tier of windows."""

    factor: float  # how many times faster than a spending that lasts to the end of the period
    window: float  # seconds of the long window
    rate: float  # whole units an hour in it
    gone_in: float  # seconds until the money is gone at that rate
    critical: bool


class Runaway(msgspec.Struct, frozen=True, kw_only=True):
    """An agent far above its own habit, in one window."""

    what: str  # "cost", "entries" or "failures"
    window: float  # seconds
    now: float  # in the window
    most: float  # the most that it ever was in such a window
    mean: float
    since: Span  # the window
