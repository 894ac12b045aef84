"""A dashboard that remembers: an outlook with figures for everything, as if from a history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import nan
from random import Random

import pytest

from agentco_tui.live.forecast import Burn, Forecast, NoData, Runaway, TooLittle
from agentco_tui.live.outlook import Day, Outlook
from agentco_tui.model import Budget
from tests.screens.harness import NOW

DAY = 86_400.0


def day_of(name: str, most: float) -> Day:
    """24 figures that are the same in each run, with two hours that nobody saw."""
    random = Random(name)
    figures: list[float | None] = [round(most * random.random(), 2) for _ in range(24)]
    figures[5] = figures[6] = None
    return tuple(figures)


class KnownOutlook(Outlook):
    """Knows a past and what lies ahead of every budget that has spent something."""

    wanted: tuple[str, ...] = ()
    known = True

    def want(self, subjects: object) -> None:
        assert not isinstance(subjects, str)
        self.wanted = tuple(f"{b.scope}:{b.id}" for b in subjects)  # type: ignore[attr-defined]

    def forecast(self, budget: Budget) -> Forecast | TooLittle | None:
        if not self.known or budget.spent is None:
            return None
        if budget.limit is None:
            return TooLittle(needed=DAY)
        spent, ends = float(budget.spent.amount), NOW + 10 * DAY
        middle, limit = spent * 1.5, float(budget.limit.amount)
        hit = 0.95 if spent < limit < middle else 0.1
        gone = (NOW + 2 * DAY, NOW + 3 * DAY, NOW + 5 * DAY) if hit > 0.9 else None
        return Forecast(
            made=NOW,
            rate=spent / 480,
            low=middle * 0.9,
            middle=middle,
            high=middle * 1.1,
            ends=ends,
            hit=hit,
            gone=gone,
        )

    def burn(self, budget: Budget) -> Burn | NoData | None:
        return None

    def runaway(self, agent: str) -> Runaway | NoData | None:
        return None

    def spent_by_hour(self, budget: Budget) -> Day:
        return day_of(budget.id, 9.0) if self.known and budget.spent else ()

    def spent_in_period(self, budget: Budget) -> Sequence[float]:
        """A month in which it grew to what is spent now, but for two days that nobody saw."""
        if not self.known or budget.spent is None:
            return ()
        spent = float(budget.spent.amount)
        return [nan if 70 <= at < 80 else spent * (at / 119) ** 2 for at in range(120)]

    def waiting_by_hour(self, company: str | None) -> Day:
        return day_of(company or "all", 40.0) if self.known else ()

    def entries_by_hour(self, agent: str | None) -> Day:
        return day_of(agent or "all", 30.0) if self.known else ()


@contextmanager
def remembering() -> Iterator[None]:
    """Sessions that are made now know a past."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("agentco_tui.screens.session.Outlook", KnownOutlook)
        yield
