"""What happens to a budget if nothing is done, in one sentence that all screens and commands share.

What is worked out here carries `~`; what the platform forecasts is named as the platform's.
"""

from __future__ import annotations

from datetime import tzinfo
from decimal import Decimal

from agentco_tui import format as figures
from agentco_tui.live.forecast import Forecast, TooLittle
from agentco_tui.live.outlook import Outlook
from agentco_tui.model import Budget, Money
from agentco_tui.text import SafeText, plain, signs


def consequence(
    budget: Budget, outlook: Outlook, now: float, tz: tzinfo | None = None
) -> SafeText | None:
    """What happens to a budget if nothing is done, in one of:

    "gone in ~5 h at ~$12.40/h", "gone ~Tue 24 Nov", "~$1,310 to ~$1,480 of $1,390.00 by 1 Dec",
    "early: ~$900 to ~$2,100 by 1 Dec", "too little data: 1 d 04 h more"; behind it, where the
    platform has a forecast of its own, ", platform says $1,813.00". None if nothing is known.
    """
    words = [*_own(budget, outlook, now, tz)]
    if budget.forecast is not None:
        words.append(f"platform says {figures.money(budget.forecast)}")
    return plain(", ".join(words)) if words else None


def rate_now(budget: Budget, outlook: Outlook) -> SafeText | None:
    """What is spent an hour, now: "~$12.40/h"; None if that isn't known."""
    found = outlook.of(budget).forecast
    return _per_hour(budget, found.rate) if isinstance(found, Forecast) else None


def _per_hour(budget: Budget, rate: float) -> SafeText:
    return plain(f"{about(budget, rate)}/h")


def _own(budget: Budget, outlook: Outlook, now: float, tz: tzinfo | None) -> list[str]:
    found = outlook.of(budget).forecast
    if burn := outlook.of(budget).burn:
        left = figures.age(max(0.0, burn.gone_in))
        return [f"gone in {signs.derived}{left} at {_per_hour(budget, burn.rate)}"]
    if isinstance(found, TooLittle):
        # In whole hours: what is said should stand for a while.
        return [f"too little data: {figures.duration(-(-found.needed // 3600) * 3600)} more"]
    if not isinstance(found, Forecast):
        return []
    if found.gone is not None:
        return [f"gone {signs.derived}{figures.day(found.gone[1], now, tz)}"]
    early = "early: " if found.early else ""
    of = "" if budget.limit is None or budget.unlimited else f" of {figures.money(budget.limit)}"
    low, high = (about(budget, figure) for figure in (found.low, found.high))
    spread = low if low == high else f"{low} to {high}"
    return [f"{early}{spread}{of} by {figures.day(found.ends, now, tz)}"]


def about(budget: Budget, figure: float, *, derived: bool = True) -> SafeText:
    """A figure in a budget's unit, roughly."""
    known = budget.spent or budget.limit
    unit = None if known is None else known.currency
    return figures.money(Money(Decimal(repr(figure)), unit, derived=derived), rough=True)
