"""The sentence about a budget: each of its forms, and that what is worked out is marked."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from agentco_tui.attention.consequence import consequence, rate_now
from agentco_tui.history.forecast import Forecast, TooLittle
from agentco_tui.history.forecast_service import ForecastService, SubjectForecast
from agentco_tui.history.spending_alarms import Burn
from agentco_tui.live.store import Store
from agentco_tui.model import Budget, BudgetScope, Money
from agentco_tui.text import SafeText

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0
USD = SafeText("USD")
RANGE = Forecast(rate=2.5, low=1308.2, middle=1395, high=1483.9, ends=NOW + 11.5 * DAY)


class Known(ForecastService):
    """An outlook that has just this to say."""

    def __init__(self, said: Forecast | TooLittle | None, burns: Burn | None = None) -> None:
        super().__init__(Store())
        self.said, self.burns = said, burns

    def of(self, budget: Budget) -> SubjectForecast:
        return SubjectForecast(computed_at=NOW, forecast=self.said, burn=self.burns)


def dollars(amount: str) -> Money:
    return Money(Decimal(amount), USD)


BUDGET = Budget(id="c", scope=BudgetScope.COMPANY, limit=dollars("1390"), spent=dollars("902.11"))
BURN = Burn(factor=20, rate=12.3987, gone_in=5.4 * 3600, critical=True)


@pytest.mark.parametrize(
    ("outlook", "said"),
    [
        (Known(None), None),
        (Known(RANGE), "~$1,310 to ~$1,480 of $1,390.00 by 1 Dec"),
        (Known(RANGE, BURN), "gone in ~5 h at ~$12.40/h"),
        (Known(TooLittle(needed=27.2 * 3600)), "not enough history yet (1 d 04 h to go)"),
    ],
)
def test_each_form(outlook: ForecastService, said: str | None) -> None:
    assert consequence(BUDGET, outlook, NOW, UTC) == said


def test_the_day_the_money_is_gone() -> None:
    for days, day in ((0.2, "16:48"), (5, "Tue 24 Nov"), (9, "28 Nov"), (400, "Dec 2027")):
        likely = NOW + days * DAY
        gone = Forecast(rate=1, low=1, middle=2, high=3, ends=NOW + DAY, gone=(NOW, likely, likely))
        assert consequence(BUDGET, Known(gone), NOW, UTC) == f"gone ~{day}"


def test_early_unlimited_and_the_platforms_own() -> None:
    budget = Budget(
        id="", scope=BudgetScope.ALL, unlimited=True, spent=dollars("5"), forecast=dollars("1813")
    )
    early = Forecast(rate=1, low=7.123, middle=8, high=2123, ends=NOW + 11.5 * DAY, early=True)
    said = "early: ~$7.12 to ~$2,120 by 1 Dec, platform's forecast $1,813.00"
    assert consequence(budget, Known(early), NOW, UTC) == said
    assert consequence(budget, Known(None), NOW, UTC) == "platform's forecast $1,813.00"


def test_the_rate_of_now() -> None:
    assert rate_now(BUDGET, Known(RANGE)) == "~$2.50/h"
    assert rate_now(BUDGET, Known(TooLittle(needed=5.0))) is None
    assert rate_now(BUDGET, Known(None)) is None


def test_too_little_data_never_replaces_the_platforms_forecast() -> None:
    budget = Budget(
        id="c",
        scope=BudgetScope.COMPANY,
        limit=dollars("1390"),
        spent=dollars("902.11"),
        forecast=dollars("1745.11"),
    )
    early = Known(TooLittle(needed=48 * 3600))
    assert consequence(budget, early, NOW, UTC) == "platform's forecast $1,745.11"
