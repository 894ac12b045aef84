"""A dashboard that remembers: an outlook with figures for everything, as if from a history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import nan
from random import Random

import pytest

from agentco_tui.history.forecast import Forecast, TooLittle
from agentco_tui.history.forecast_service import Day, ForecastService, SubjectForecast
from agentco_tui.model import Budget
from tests.screens.harness import NOW

DAY = 86_400.0


def day_of(name: str, most: float) -> Day:
    """24 figures that are the same in each run, with two hours that nobody saw."""
    random = Random(name)
    figures: list[float | None] = [round(most * random.random(), 2) for _ in range(24)]
    figures[5] = figures[6] = None
    return tuple(figures)


class KnownOutlook(ForecastService):
    """Knows a past and what lies ahead of every budget that has spent something."""

    wanted: tuple[str, ...] = ()
    known = True

    def want(self, subjects: object) -> None:
        assert not isinstance(subjects, str)
        self.wanted = tuple(f"{b.scope}:{b.id}" for b in subjects)  # type: ignore[attr-defined]

    def of(self, budget: Budget) -> SubjectForecast:
        """A month in which it grew to what is spent now, but for two days that nobody saw."""
        if not self.known or budget.spent is None:
            return SubjectForecast(computed_at=NOW, burn=None)
        spent, ends = float(budget.spent.amount), NOW + 10 * DAY
        forecast: Forecast | TooLittle = TooLittle(needed=DAY)
        if budget.limit is not None:
            middle, limit = spent * 1.5, float(budget.limit.amount)
            hit = 0.95 if spent < limit < middle else 0.1
            gone = (NOW + 2 * DAY, NOW + 3 * DAY, NOW + 5 * DAY) if hit > 0.9 else None
            forecast = Forecast(
                rate=spent / 480,
                low=middle * 0.9,
                middle=middle,
                high=middle * 1.1,
                ends=ends,
                hit=hit,
                gone=gone,
            )
        return SubjectForecast(
            computed_at=NOW,
            forecast=forecast,
            burn=None,
            spent_by_hour=day_of(budget.id, 9.0),
            spent_in_period=[
                nan if 70 <= at < 80 else spent * (at / 119) ** 2 for at in range(120)
            ],
        )

    def of_company(self, company: str | None) -> SubjectForecast:
        day = day_of(company or "all", 40.0) if self.known else ()
        return SubjectForecast(computed_at=NOW, waiting_by_hour=day)

    def of_agent(self, agent: str | None) -> SubjectForecast:
        day = day_of(agent or "all", 30.0) if self.known else ()
        return SubjectForecast(computed_at=NOW, runaway=None, entries_by_hour=day)


@contextmanager
def remembering() -> Iterator[None]:
    """Sessions that are made now know a past."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("agentco_tui.history.forecast_service.ForecastService", KnownOutlook)
        yield
