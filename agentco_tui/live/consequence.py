"""What happens to a budget if nothing is done, in one sentence that all screens and commands share.

What is worked out here carries `~`; what the platform forecasts is named as the platform's.
"""

from __future__ import annotations

from datetime import tzinfo
from decimal import Decimal

from agentco_tui.history.forecast import Forecast, TooLittle
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.spend_rate import FastSpend
from agentco_tui.model import Budget, Money
from agentco_tui.model import format as figures
from agentco_tui.text import SafeText, plain, signs


def consequence(
    budget: Budget, outlook: ForecastService, now: float, tz: tzinfo | None = None
) -> SafeText | None:
    """What happens to a budget if nothing is done, in one of:

    "limit reached in ~12 min at ~$18/min", "gone in ~5 h at ~$12.40/h", "gone ~Tue 24 Nov",
    "~$1,310 to ~$1,480 of $1,390.00 by 1 Dec", "early: ~$900 to ~$2,100 by 1 Dec",
    "too little data: 1 d 04 h more"; behind it, where the platform has a forecast of its own,
    ", platform's forecast $1,813.00". None if nothing is known.
    """
    parts = [own_forecast(budget, outlook, now, tz), platforms_forecast(budget)]
    known = [part for part in parts if part is not None]
    return plain(", ".join(known)) if known else None


def platforms_forecast(budget: Budget) -> SafeText | None:
    """The forecast that the platform sent: "platform's forecast $1,813.00"; None without one."""
    if budget.forecast is None:
        return None
    return plain(f"platform's forecast {figures.money(budget.forecast)}")


def own_forecast(
    budget: Budget, outlook: ForecastService, now: float, tz: tzinfo | None = None
) -> SafeText | None:
    """What is worked out here of what happens to a budget, as in `consequence`.

    None if nothing is, or if there is too little data while the platform has a forecast.
    """
    fast = outlook.fast_spend(budget)
    if fast is not None:
        left = until_limit(fast, now)
        return plain(f"limit reached in {left} at {per_minute(budget, fast)}")
    found = outlook.of(budget).forecast
    if burn := outlook.of(budget).burn:
        left = figures.age(max(0.0, burn.gone_in))
        return plain(f"gone in {signs.derived}{left} at {_per_hour(budget, burn.rate)}")
    if isinstance(found, TooLittle):
        if budget.forecast is not None:
            return None
        # In whole hours: what is said should stand for a while.
        needed = figures.duration(-(-found.needed // 3600) * 3600)
        return plain(f"too little data: {needed} more")
    if not isinstance(found, Forecast):
        return None
    if found.gone is not None:
        return plain(f"gone {signs.derived}{figures.day(found.gone[1], now, tz)}")
    early = "early: " if found.early else ""
    limit = ""
    if budget.limit is not None and not budget.unlimited:
        limit = f" of {figures.money(budget.limit)}"
    low = about(budget, found.low)
    high = about(budget, found.high)
    spread = low if low == high else f"{low} to {high}"
    return plain(f"{early}{spread}{limit} by {figures.day(found.ends, now, tz)}")


def until_limit(fast: FastSpend, now: float) -> SafeText:
    """The time until the limit is reached at the rate of the last minutes: "~12 min"."""
    minutes = max(1, round((fast.reached_at - now) / 60))
    left = f"{minutes} min"
    if minutes >= 60:
        left = f"{minutes // 60} h {minutes % 60:02d} min"
    return plain(f"{signs.derived}{left}")


def per_minute(budget: Budget, fast: FastSpend) -> SafeText:
    """What is spent a minute, in two digits: "~$18/min"."""
    rounded = float(f"{fast.rate * 60:.1e}")
    sum_ = about(budget, rounded)
    if rounded >= 10:
        sum_ = plain(sum_.replace(".00", "", 1))
    return plain(f"{sum_}/min")


def rate_now(budget: Budget, outlook: ForecastService) -> SafeText | None:
    """What is spent an hour, now: "~$12.40/h"; None if that isn't known."""
    found = outlook.of(budget).forecast
    return _per_hour(budget, found.rate) if isinstance(found, Forecast) else None


def _per_hour(budget: Budget, rate: float) -> SafeText:
    return plain(f"{about(budget, rate)}/h")


def about(budget: Budget, figure: float, *, derived: bool = True) -> SafeText:
    """A figure in a budget's unit, roughly."""
    known = budget.spent or budget.limit
    unit = None if known is None else known.currency
    return figures.money(Money(Decimal(repr(figure)), unit, derived=derived), rough=True)
