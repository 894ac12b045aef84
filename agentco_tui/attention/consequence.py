"""Says in one sentence what happens to a budget if it is ignored, for all screens and commands.

A budget is the limit and the spending of an AI agent, a company or all, as the platform (the remote
service that runs the agents) reports them. `ForecastService` forecasts each budget by its spending
in the last minutes (the alarm `FastSpend`), in the last hours (`burn`) and in the history so far
(`Forecast`, or `TooLittle` history for one). Figures that are computed here are marked `~`; a
forecast that the platform has sent is named as the platform's.
"""

from __future__ import annotations

from datetime import tzinfo
from decimal import Decimal
from math import ceil

from agentco_tui.history.forecast import Forecast, TooLittle
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.spend_rate import FastSpend
from agentco_tui.model import Budget, Money
from agentco_tui.model import format as figures
from agentco_tui.model.period import HOUR
from agentco_tui.text import SafeText, mark_safe, signs


def consequence(
    budget: Budget, forecasts: ForecastService, now: float, tz: tzinfo | None = None
) -> SafeText | None:
    """Say what happens to a budget if it is ignored. None if nothing is known.

    The sentence is one of:
    "limit reached in ~12 min at ~$18/min", "gone in ~5 h at ~$12.40/h", "gone ~Tue 24 Nov",
    "~$1,310 to ~$1,480 of $1,390.00 by 1 Dec", "early: ~$900 to ~$2,100 by 1 Dec",
    "not enough history yet (1 d 04 h to go)"; where the platform sends a forecast of its own,
    ", platform's forecast $1,813.00" follows.
    """
    parts = [own_forecast(budget, forecasts, now, tz), platforms_forecast(budget)]
    sentences = [part for part in parts if part is not None]
    if not sentences:
        return None
    return mark_safe(", ".join(sentences))


def platforms_forecast(budget: Budget) -> SafeText | None:
    """The forecast that the platform sent: "platform's forecast $1,813.00"; None without one."""
    if budget.forecast is None:
        return None
    return mark_safe(f"platform's forecast {figures.money(budget.forecast)}")


def own_forecast(
    budget: Budget, forecasts: ForecastService, now: float, tz: tzinfo | None = None
) -> SafeText | None:
    """The part of `consequence` that is computed here.

    None if there is nothing to compute it from, or if there is not enough history while the
    platform sends a forecast.
    """
    fast = forecasts.fast_spend(budget)
    if fast is not None:
        time_left = until_limit(fast, now)
        return mark_safe(f"limit reached in {time_left} at {per_minute(budget, fast)}")
    subject_forecast = forecasts.of(budget)
    if subject_forecast.burn:  # the money is spent too fast to last its period
        time_left = figures.age(max(0.0, subject_forecast.burn.gone_in))
        return mark_safe(
            f"gone in {signs.derived}{time_left} at {_per_hour(budget, subject_forecast.burn.rate)}"
        )
    if isinstance(subject_forecast.forecast, TooLittle):
        if budget.forecast is not None:
            return None
        # In whole hours, so that the sentence does not change every minute.
        hours = ceil(subject_forecast.forecast.needed / HOUR)
        return mark_safe(f"not enough history yet ({figures.duration(hours * HOUR)} to go)")
    if isinstance(subject_forecast.forecast, Forecast):
        return _forecast_words(budget, subject_forecast.forecast, now, tz)
    return None


def _forecast_words(budget: Budget, forecast: Forecast, now: float, tz: tzinfo | None) -> SafeText:
    """The day on which the money is gone, else what will be spent at the end of the period."""
    if forecast.gone is not None:
        _, likely, _ = forecast.gone  # the earliest, the likely and the latest time
        return mark_safe(f"gone {signs.derived}{figures.day(likely, now, tz)}")
    early = "early: " if forecast.early else ""
    limit = ""
    if budget.limit is not None and not budget.unlimited:
        limit = f" of {figures.money(budget.limit)}"
    low = rounded_sum(budget, forecast.low)
    high = rounded_sum(budget, forecast.high)
    spread = str(low)
    if low != high:
        spread = f"{low} to {high}"
    return mark_safe(f"{early}{spread}{limit} by {figures.day(forecast.ends, now, tz)}")


def until_limit(fast: FastSpend, now: float) -> SafeText:
    """The time until the limit is reached at the rate of the last minutes: "~12 min"."""
    minutes = max(1, round((fast.reached_at - now) / 60))
    time_left = f"{minutes} min"
    if minutes >= 60:
        time_left = f"{minutes // 60} h {minutes % 60:02d} min"
    return mark_safe(f"{signs.derived}{time_left}")


def per_minute(budget: Budget, fast: FastSpend) -> SafeText:
    """What is spent a minute, rounded to two digits: "~$18/min"."""
    rounded = float(f"{fast.rate * 60:.1e}")
    amount = rounded_sum(budget, rounded)
    if rounded >= 10:
        amount = mark_safe(amount.replace(".00", "", 1))
    return mark_safe(f"{amount}/min")


def rate_now(budget: Budget, forecasts: ForecastService) -> SafeText | None:
    """What is spent an hour now: "~$12.40/h"; None if that is not known."""
    forecast = forecasts.of(budget).forecast
    if not isinstance(forecast, Forecast):
        return None
    return _per_hour(budget, forecast.rate)


def _per_hour(budget: Budget, rate: float) -> SafeText:
    return mark_safe(f"{rounded_sum(budget, rate)}/h")


def rounded_sum(budget: Budget, figure: float, *, derived: bool = True) -> SafeText:
    """A figure as a sum in the currency of a budget, rounded: "~$1,310"."""
    sum_in_unit = budget.spent or budget.limit
    currency = None if sum_in_unit is None else sum_in_unit.currency
    return figures.money(Money(Decimal(repr(figure)), currency, derived=derived), rough=True)
