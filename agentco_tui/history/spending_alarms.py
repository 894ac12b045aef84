"""Detects spending that is too fast: a budget that burns, and an agent far above its own habit.

`burn` follows "Alerting on SLOs" in Google's SRE workbook, chapter 5: multiple windows and multiple
burn rates. A burn rate of 1 spends the limit evenly over its period. `runaway` compares the last
hours of an AI agent with the two weeks before: with the maximum and with the mean of windows of the
same length. Both work on the flows of `history.spending` (begin, end, amount) and on `seen`, the
spans in which the platform (the remote service that reports the spending) was polled.
docs/forecast.md tells how the thresholds were chosen.

Times are seconds since 1970. Amounts are whole units, which are money, tokens or log entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, Literal, NamedTuple

import msgspec

from agentco_tui.config import AlertLimits
from agentco_tui.history.observations import Span
from agentco_tui.history.spending import (
    Spending,
    count_flows_since,
    is_half_seen,
    spent_by_slot,
)
from agentco_tui.live.spend_rate import Flow
from agentco_tui.model.period import DAY, HOUR, Period

HABIT_DAYS: Final = 14  # days before the last one that make an agent's habit
MIN_FLOWS: Final = 3  # amounts that an alarm needs: one large job is no trend
_SETTLING_SECONDS: Final = HOUR  # after a change of the limit, for which `burn` says nothing
_MIN_HABIT_HOURS: Final = 4 * 24  # hours that must be known of an agent


class NoData(msgspec.Struct, frozen=True):
    """The platform was polled for less than half of a window: nothing can be said.

    It is falsy, as is None, which says that all is well.
    """

    def __bool__(self) -> Literal[False]:
        return False


class Burn(msgspec.Struct, frozen=True, kw_only=True):
    """A budget that is spent too fast."""

    factor: float  # the burn rate: 1 would spend the limit evenly over the period
    rate: float  # units an hour in the long window
    gone_in: float  # seconds until the limit is reached at that rate
    critical: bool


class Runaway(msgspec.Struct, frozen=True, kw_only=True):
    """An agent far above its own habit, in one window of some hours."""

    what: str  # "cost", "entries" or "failures"
    now: float  # the sum in that window
    most: float  # the largest sum of any such window in the habit
    mean: float  # the mean sum of such windows in the habit
    since: Span  # the window: its begin and end


class _BurnTier(NamedTuple):
    """One pair of windows in which a budget may burn."""

    setting: str  # the field of AlertLimits that holds the least burn rate
    long_window: float  # seconds
    short_window: float  # seconds; it ends the alarm soon after the spending has stopped
    gone_within_days: float  # the limit must be reached within so many days at that rate
    is_critical: bool


_BURN_TIERS: Final = (
    _BurnTier("burn_1h", HOUR, HOUR / 4, 1.0, is_critical=True),
    _BurnTier("burn_6h", 6 * HOUR, HOUR / 2, 2.0, is_critical=True),
    _BurnTier("burn_24h", DAY, 2 * HOUR, 4.0, is_critical=False),
)
"""The worst tier first. The workbook's tier of three days is missing, because to spend all of a
budget by the end of its period is the plan: at that scale the forecast warns."""

_HABIT_WINDOWS: Final = ((1, 4.0), (3, 3.0), (6, 3.0), (24, 2.5))
"""(hours, least multiple of the mean of such windows)."""


def burn(
    spending: Spending, period: Period, now: float, limits: AlertLimits
) -> Burn | NoData | None:
    """The worst tier in which a budget burns.

    Returns None if none does, and NoData if one of the windows was seen for less than half.
    """
    if spending.limit is None or spending.spent >= spending.limit:
        return None  # what is spent already can't be saved
    if now - spending.limit_since < _SETTLING_SECONDS:
        return NoData()
    verdict: NoData | None = None
    recent = [flow for flow in spending.flows if flow[1] > now - DAY]
    even_rate = spending.limit / (period.end - period.start)
    remaining = spending.limit - spending.spent
    for tier in _BURN_TIERS:
        begin = now - tier.long_window
        if not is_half_seen(spending.seen, begin, now):
            verdict = NoData()
            continue
        long_rate = _rate_in_window(recent, now, tier.long_window)
        short_rate = _rate_in_window(recent, now, tier.short_window)
        least_factor: float = getattr(limits, tier.setting)
        if min(long_rate, short_rate) < least_factor * even_rate:
            continue
        is_gone_soon = remaining <= long_rate * tier.gone_within_days * DAY
        if is_gone_soon and count_flows_since(recent, begin) >= MIN_FLOWS:
            return Burn(
                factor=long_rate / even_rate,
                rate=long_rate * HOUR,
                gone_in=remaining / long_rate,
                critical=tier.is_critical,
            )
    return verdict


def _rate_in_window(flows: Sequence[Flow], now: float, seconds: float) -> float:
    """Units a second in the window of so many seconds that ends now."""
    return spent_by_slot(flows, now, seconds, 1)[0] / seconds


def runaway(
    what: str,
    flows: Sequence[Flow],
    seen: Sequence[Span],
    now: float,
    *,
    least: float,
    factor: float,
) -> Runaway | NoData | None:
    """The first window in which an agent is far above its own habit.

    The sum in the window must exceed the habit's maximum by `factor`, its mean by `least` units,
    and a multiple of the mean. `what` names what is summed up. Returns None if no window does, and
    NoData if less than four days are known of the agent, or less than half of a window was seen.
    """
    habit_begin = now - (HABIT_DAYS + 1) * DAY
    begin = max(habit_begin, seen[0][0] if seen else now)
    hours = int((now - begin) / HOUR)
    if hours < _MIN_HABIT_HOURS:
        return NoData()
    sums_by_hour = spent_by_slot(flows, now, HOUR, hours)  # the newest first
    # The last day is no part of the habit, or a runaway would soon be one.
    running_totals = [0.0, *accumulate(sums_by_hour[24:])]
    verdict: NoData | None = None
    for window_hours, mean_factor in _HABIT_WINDOWS:
        since = now - window_hours * HOUR
        if not is_half_seen(seen, since, now):
            verdict = NoData()
            continue
        sum_now = sum(sums_by_hour[:window_hours])
        mean = running_totals[-1] / (hours - 24) * window_hours
        ends_of_windows = zip(running_totals, running_totals[window_hours:], strict=False)
        most = max(end - start for start, end in ends_of_windows)
        is_far_above = sum_now > max(mean + least, mean_factor * mean, factor * most)
        if is_far_above and count_flows_since(flows, since) >= MIN_FLOWS:
            return Runaway(what=what, now=sum_now, most=most, mean=mean, since=(since, now))
    return verdict
