"""Forecasts what a budget will have spent at the end of its period, and when its limit is reached.

The model is a level with a weekly profile, fitted to daily sums, and a lognormal error:

1. Days are blocks of 24 hours that are counted back from the last poll, sixty at most. So the hour
   of the day needs no model.
2. The seasonal profile has two cells, weekday and weekend: exponentially weighted means with a
   half-life of 30 days, each shrunk to the overall mean by a prior of one day.
3. A change point in the logarithms of the deseasonalized days cuts off what is older.
4. The level is the exponentially weighted ratio of what is left, with a half-life of 21 days. A
   trend (least squares through the logarithms) is used only if it is significant.
5. The rest of the period is the sum of level times profile over steps of six hours. Its variance is
   that of the days, shrunk to a prior and inflated for autocorrelation, plus a random walk.
6. The range is the quantiles 0.1 and 0.9 of that distribution; the probability that the limit is
   reached follows from the same.

`ForecastService` calls it with the flows of `history.spending`: a flow is an amount that was spent
between two times. `seen` are the spans in which the service that reports the spending was polled.
`python -m tests.benchmarks.forecast` measures the accuracy; docs/forecast.md describes the method
for users. Times are seconds since 1970. Amounts are whole units, which are money or tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

import msgspec

from agentco_tui.config import AlertLimits
from agentco_tui.history.spending import Spending, count_flows_since, spent_by_slot
from agentco_tui.history.spending_alarms import MIN_FLOWS
from agentco_tui.model.period import DAY, HOUR, Period

MAX_DAYS: Final = 60  # days that a forecast looks back
MIN_DAYS: Final = 2  # days that it needs
FULL_DAYS: Final = 7  # days below which it is called early

_Z90: Final = 1.2816  # the 0.9 quantile of the standard normal distribution
_STEP_SECONDS: Final = 6 * HOUR  # of the sum over what is to come
_MAX_STEPS: Final = 240

_PROFILE_HALF_LIFE: Final = 30  # days
_MIN_PROFILE: Final = 0.05  # a weekend costs at least this share of a mean day
_LEVEL_HALF_LIFE: Final = 21  # days
_MAX_TREND_AHEAD: Final = 30.0  # days for which a trend is assumed to go on

_AUTOCORRELATION: Final = 0.2  # of one day with the day before
_VARIANCE_INFLATION: Final = (1 + _AUTOCORRELATION) / (1 - _AUTOCORRELATION)
_SCATTER_PRIOR: Final = 0.45  # standard deviation of a day, as a share of the level
_SCATTER_PRIOR_DAYS: Final = 2  # days that the prior weighs as much as
_DRIFT: Final = 0.02  # standard deviation of a day's change of level
_MAX_DRIFT_DAYS: Final = 14

_MIN_SHIFT_Z: Final = 4.0  # standard errors between the levels before and after a change point
_MIN_SHIFT_RATIO: Final = 1.6  # ratio of the levels
_SHIFT_PRIOR: Final = 0.3  # standard deviation of the logarithms of days
_SHIFT_PRIOR_DAYS: Final = 2

_MIN_TREND_DAYS: Final = 14
_MIN_TREND_T: Final = 3.5  # standard errors that the slope must differ from zero
_MAX_TREND: Final = 0.05  # logarithmic growth a day


class TooLittle(msgspec.Struct, frozen=True):
    """Too little is known for a forecast."""

    needed: float  # seconds of observed time that are still missing


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """The forecast of one budget."""

    rate: float  # units an hour, now
    low: float  # the 0.1 quantile of what is spent by the end of the period, in units
    middle: float  # its median
    high: float  # its 0.9 quantile
    ends: float  # the end of the period
    early: bool = False  # less than seven days are known
    hit: float | None = None  # probability that the limit is reached; None without a limit
    gone: tuple[float, float, float] | None = None
    """When the limit is reached: the earliest, the likely and the latest time (quantiles 0.1, 0.5
    and 0.9). None if it is not probable enough to be shown."""


def forecast(
    spending: Spending,
    period: Period,
    now: float,
    limits: AlertLimits,
    *,
    is_date_shown: bool = False,
) -> Forecast | TooLittle:
    """Forecast a budget to the end of its period.

    `limits` has the probabilities, in per cent, at which the date is shown and hidden again.
    `is_date_shown` says whether the forecast before this one had the date on which the limit is
    reached: it disappears at a lower probability than it appears (hysteresis), so that it does not
    flicker.
    """
    made_at = min(now, spending.seen[-1][1]) if spending.seen else now
    seconds_known = made_at - spending.watched_since
    if seconds_known < MIN_DAYS * DAY:
        return TooLittle(MIN_DAYS * DAY - seconds_known)
    path = _SpendingPath(_sums_by_day(spending, made_at), made_at)
    spent = spending.spent if made_at >= period.start else 0.0
    times, totals = _rest_of_period(path, max(made_at, period.start), period.end)
    rest = totals[-1]
    sigma = path.sigma(period.end)
    spread = math.exp(_Z90 * sigma)
    probability: float | None = None
    gone: tuple[float, float, float] | None = None
    if spending.limit is not None:
        remaining = spending.limit - spent
        probability = _probability_above(remaining, rest, sigma)
        least_percent = limits.forecast_off if is_date_shown else limits.forecast_on
        if remaining > 0 and probability * 100 >= least_percent:
            gone = (
                _crossing_time(path, times, totals, remaining, z=_Z90, otherwise=period.end),
                _crossing_time(path, times, totals, remaining, z=0.0, otherwise=period.end),
                _crossing_time(path, times, totals, remaining, z=-_Z90, otherwise=period.end),
            )
    return Forecast(
        rate=_units_per_hour(spending, made_at),
        low=spent + rest / spread,
        middle=spent + rest,
        high=spent + rest * spread,
        ends=period.end,
        early=seconds_known < FULL_DAYS * DAY,
        hit=probability,
        gone=gone,
    )


def _sums_by_day(spending: Spending, until: float) -> list[float]:
    """What was spent in each block of 24 hours before `until`, the newest first."""
    begin = spending.watched_since
    if spending.flows:
        begin = min(begin, spending.flows[0][0])
    day_count = min(MAX_DAYS, int((until - begin) / DAY))
    return spent_by_slot(spending.flows, until, DAY, day_count)


def _rest_of_period(
    path: _SpendingPath, begin: float, end: float
) -> tuple[Sequence[float], Sequence[float]]:
    """The median of what is spent from `begin` on: times, and the total up to each of them."""
    step_count = min(_MAX_STEPS, max(1, math.ceil((end - begin) / _STEP_SECONDS)))
    seconds = max(0.0, end - begin) / step_count
    times = [begin + (step + 0.5) * seconds for step in range(step_count)]
    totals = list(accumulate(path.units_per_day(at) * seconds / DAY for at in times))
    return times, totals


def _probability_above(remaining: float, median: float, sigma: float) -> float:
    """The probability that a lognormal amount is at least `remaining`."""
    if remaining <= 0:
        return 1.0
    if median <= 0:
        return 0.0
    return (1 + math.erf(math.log(median / remaining) / sigma / math.sqrt(2))) / 2


def _crossing_time(
    path: _SpendingPath,
    times: Sequence[float],
    totals: Sequence[float],
    remaining: float,
    *,
    z: float,
    otherwise: float,
) -> float:
    """The first time at which the quantile `z` (in sigmas) of the total reaches `remaining`.

    The sigma is that of each time, not that of the period's end. Returns `otherwise` if none does.
    """
    for at, total in zip(times, totals, strict=True):
        if total * math.exp(z * path.sigma(at)) >= remaining:
            return at
    return otherwise


def _units_per_hour(spending: Spending, now: float) -> float:
    """The rate in the last hour; in the last 6 or 24 hours if too little happened in less."""
    hours = 24
    for shorter in (6, 1):
        if count_flows_since(spending.flows, now - shorter * HOUR) >= MIN_FLOWS:
            hours = shorter
    return spent_by_slot(spending.flows, now, hours * HOUR, 1)[0] / hours


def _weekend_share(begin: float, end: float) -> float:
    """The share of a time of at most two days that is a Saturday or Sunday (UTC)."""
    week_begin = (begin + 3 * DAY) % (7 * DAY)  # seconds since Monday; 1970 began on a Thursday
    week_end = week_begin + end - begin
    weekend_seconds = max(0.0, min(week_end, 7 * DAY) - max(week_begin, 5 * DAY))
    next_weekend_seconds = max(0.0, week_end - 12 * DAY)
    return (weekend_seconds + next_weekend_seconds) / (end - begin)


class _SpendingPath:
    """The fitted model of one budget: what a day costs at any time, and how uncertain that is."""

    def __init__(self, days: Sequence[float], until: float) -> None:
        """`days` are the sums of 24 hours, the newest first, the last of which end at `until`."""
        self._until = until
        weekend_shares = [
            _weekend_share(until - (age + 1) * DAY, until - age * DAY) for age in range(len(days))
        ]
        self._weekday_factor, self._weekend_factor = _weekly_profile(days, weekend_shares)
        usual_factors = [max(_MIN_PROFILE, self._seasonal_factor(each)) for each in weekend_shares]
        deseasonalized = [day / usual for day, usual in zip(days, usual_factors, strict=True)]
        is_weekday = [share < 0.5 for share in weekend_shares]
        day_count = _days_since_shift(deseasonalized, is_weekday)

        recent = deseasonalized[:day_count]
        weights = [0.5 ** (age / _LEVEL_HALF_LIFE) for age in range(day_count)]
        usual_total = _weighted_sum(weights, usual_factors)
        level = _weighted_sum(weights, days) / usual_total
        self._effective_days = sum(weights) ** 2 / sum(weight**2 for weight in weights)  # Kish
        self._scatter = _shrunk_variance(recent, level)
        self._trend = _significant_trend(recent)
        # The level is that of the middle of the days it was taken from: move it to `until`.
        middle_age = sum(weight * age for age, weight in enumerate(weights)) / sum(weights)
        self._level = level * math.exp(self._trend * middle_age)

    def _seasonal_factor(self, weekend_share: float) -> float:
        """What a day costs as a multiple of the mean day."""
        weekday_part = self._weekday_factor * (1 - weekend_share)
        return weekday_part + self._weekend_factor * weekend_share

    def units_per_day(self, at: float) -> float:
        """The median rate at a time, in units a day."""
        days_ahead = min(_MAX_TREND_AHEAD, (at - self._until) / DAY)
        seasonal = self._seasonal_factor(_weekend_share(at, at + 1))
        return self._level * seasonal * math.exp(self._trend * days_ahead)

    def sigma(self, until: float) -> float:
        """The standard deviation of the logarithm of what is spent up to a time."""
        days = max((until - self._until) / DAY, 1 / 24)
        # The mean of the days to come scatters, and so does the level that was estimated.
        share_of_days = 1 / days + 1 / self._effective_days
        of_days = _VARIANCE_INFLATION * self._scatter * share_of_days
        of_drift = _DRIFT**2 * min(days, _MAX_DRIFT_DAYS)
        return math.sqrt(math.log1p(of_days + of_drift))


def _weekly_profile(days: Sequence[float], weekend_shares: Sequence[float]) -> tuple[float, float]:
    """What a weekday and a weekend day cost, as multiples of the mean day."""
    mean = sum(days) / len(days)
    if not mean:
        return 1.0, 1.0
    sums = [mean, mean]  # weekday, weekend: the prior is one mean day each
    weights = [1.0, 1.0]
    for age, (day, weekend_share) in enumerate(zip(days, weekend_shares, strict=True)):
        for cell, share in enumerate((1 - weekend_share, weekend_share)):
            weight = 0.5 ** (age / _PROFILE_HALF_LIFE) * share
            sums[cell] += weight * day
            weights[cell] += weight
    return sums[0] / weights[0] / mean, sums[1] / weights[1] / mean


def _weighted_sum(weights: Iterable[float], figures: Iterable[float]) -> float:
    """The sum of weight times figure, for as many figures as there are weights."""
    return sum(weight * figure for weight, figure in zip(weights, figures, strict=False))


def _shrunk_variance(deseasonalized: Sequence[float], level: float) -> float:
    """The variance of days as shares of the level, shrunk to a prior."""
    squares = 0.0
    if level:
        squares = sum((day / level - 1) ** 2 for day in deseasonalized)
    prior = _SCATTER_PRIOR_DAYS * _SCATTER_PRIOR**2
    return (squares + prior) / (len(deseasonalized) + _SCATTER_PRIOR_DAYS)


def _logarithms(days: Sequence[float]) -> list[float]:
    """The logarithms of days, each raised by a fifth of the mean so that zero has one."""
    offset = 0.2 * sum(days) / len(days)
    return [math.log(day + offset) if offset else 0.0 for day in days]


def _least_squares(figures: Sequence[float]) -> tuple[float, float]:
    """The slope of the line through equidistant figures, and its residual sum of squares."""
    count = len(figures)
    mean = sum(figures) / count
    spread = count * (count**2 - 1) / 12
    covariance = sum((at - (count - 1) / 2) * figure for at, figure in enumerate(figures))
    total_squares = sum((figure - mean) ** 2 for figure in figures)
    return covariance / spread, total_squares - covariance**2 / spread


def _days_since_shift(days: Sequence[float], is_weekday: Sequence[bool]) -> int:
    """How many of the newest days, at least two, came after the last shift of level.

    Returns their number if there is no shift. Of all change points with at least two days on either
    side, that with the largest z-score counts. Neither a weekend alone makes a shift, because the
    profile of weekends is not known well in the first weeks, nor one extreme day, nor what a
    straight line explains better.
    """
    count = len(days)
    logarithms = _logarithms(days)
    totals = [0.0, *accumulate(days)]
    log_totals = [0.0, *accumulate(logarithms)]
    log_squares = sum(each**2 for each in logarithms)
    line_residual = math.inf
    if count >= _MIN_TREND_DAYS:
        line_residual = _least_squares(logarithms)[1]
    largest_z = _MIN_SHIFT_Z
    days_since = count
    for new in range(2, count - 1):
        old = count - new
        if not (any(is_weekday[:new]) and any(is_weekday[new:])):
            continue
        new_mean = log_totals[new] / new
        old_mean = (log_totals[-1] - log_totals[new]) / old
        residual = max(0.0, log_squares - new * new_mean**2 - old * old_mean**2)
        variance = (residual + _SHIFT_PRIOR_DAYS * _SHIFT_PRIOR**2) / count
        z = abs(new_mean - old_mean) / math.sqrt(variance * (1 / new + 1 / old))
        if residual >= line_residual or z <= largest_z:
            continue
        usual_day = (totals[-1] - totals[new]) / old
        without_dearest = totals[new] - max(days[:new])
        without_cheapest = totals[new] - min(days[:new])
        is_rise = without_dearest > _MIN_SHIFT_RATIO * usual_day * (new - 1)
        is_fall = _MIN_SHIFT_RATIO * without_cheapest < usual_day * (new - 1)
        if is_rise or is_fall:
            largest_z = z
            days_since = new
    return days_since


def _significant_trend(days: Sequence[float]) -> float:
    """Logarithmic growth a day; 0 unless 14 days or more show it significantly."""
    count = len(days)
    if count < _MIN_TREND_DAYS:
        return 0.0
    slope, residual = _least_squares(_logarithms(days))  # negative for growth: newest day first
    standard_error = math.sqrt(max(residual, 1e-9) / (count - 2) * 12 / (count * (count**2 - 1)))
    if abs(slope) <= _MIN_TREND_T * standard_error:
        return 0.0
    return -min(_MAX_TREND, max(-_MAX_TREND, slope))
