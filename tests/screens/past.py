"""A dashboard that remembers: an outlook with figures for everything, as if from a history."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from agentco_tui.live.forecast import Burn, Forecast, NoData, Runaway, TooLittle
from agentco_tui.live.history import BudgetSample, History, HistoryError, Reader, Track
from agentco_tui.live.outlook import Day, Outlook
from agentco_tui.model import Budget, BudgetScope
from tests.screens.harness import NOW, Stage

HOUR, DAY = 3_600.0, 86_400.0


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

    def waiting_by_hour(self, company: str | None) -> Day:
        return day_of(company or "all", 40.0) if self.known else ()

    def entries_by_hour(self, agent: str | None) -> Day:
        return day_of(agent or "all", 30.0) if self.known else ()


class KnownReader(Reader):
    """A month in which each budget grew to what is spent of it now, but for two days of gap."""

    def __init__(self, spent: dict[str, Decimal]) -> None:
        self.spent = spent

    def budget(
        self,
        scope: BudgetScope,
        subject: str,
        since: float,
        until: float | None = None,
        *,
        every: float = 0.0,
    ) -> Track[BudgetSample]:
        spent, hours = self.spent.get(f"{scope}:{subject}", Decimal(0)), int((NOW - since) / HOUR)
        samples = [
            BudgetSample(since + at * HOUR, spent * at * at / (hours * hours), None)
            for at in range(hours + 1)
        ]
        return Track(tuple(samples), ((since, NOW - 9 * DAY), (NOW - 7 * DAY, NOW)))


class KnownHistory(History):
    def __init__(self, spent: dict[str, Decimal]) -> None:
        self.spent = spent
        self.asked = 0
        self.waits: asyncio.Event | None = None  # what it waits for before it answers
        self.fails = False

    async def ask(self, read: Callable[[Reader], Any]) -> Any:
        self.asked += 1
        if self.fails:
            raise HistoryError("the disk is full")
        if self.waits is not None:
            await self.waits.wait()
        return read(KnownReader(self.spent))

    def close(self, patience: float = 0.0) -> None: ...


@contextmanager
def remembering() -> Iterator[None]:
    """Sessions that are made now know a past."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("agentco_tui.screens.session.Outlook", KnownOutlook)
        yield


def remember(s: Stage) -> KnownHistory:
    """From now on the dashboard has a history."""
    budgets = [budget for each in s.session.store.budgets.values() for budget in each]
    spent = {
        f"{b.scope}:{'' if b.scope is BudgetScope.ALL else b.id}": b.spent.amount
        for b in budgets
        if b.spent
    }
    s.session.history = history = KnownHistory(spent)
    return history
