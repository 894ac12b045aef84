"""What `metrics` tells of the picture: families of series with labels, of a bounded number."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from agentco_tui.history.forecast import Forecast
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.live.needs import NeedKind
from agentco_tui.model import Budget, BudgetScope
from agentco_tui.text import safe
from agentco_tui.workspace.workspace import FEEDS, Workspace

PATIENCE: Final = 10.0  # seconds for what is told of the picture
MOST: Final = 10_000  # series that are told
_LONGEST: Final = 120  # cells of a label
_BUDGET: Final = ("scope", "id", "name", "company", "currency")
_QUEUE: Final = _BUDGET[:3]
FAMILIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "feed_up": ("1 if the last question of a feed was answered", ("feed",)),
    "feed_age_seconds": ("Since a feed was last answered", ("feed",)),
    "needs": ("What needs a person", ("level", "kind")),
    "tasks_waiting": ("Tasks that wait for a person", _QUEUE),
    "oldest_wait_seconds": ("How long the oldest of them waits", _QUEUE),
    "budget_limit": ("The limit, in whole units of the currency", _BUDGET),
    "budget_spent": ("What is spent of it", _BUDGET),
    "budget_share_ratio": ("Spent over limit", _BUDGET),
    "budget_burn_factor": ("How many times too fast, by the worst tier that burns", _BUDGET),
    "budget_rate_per_hour": ("What is spent an hour, now", _BUDGET),
    "budget_forecast_low": ("Spent at the end of the period: more in 9 of 10", _BUDGET),
    "budget_forecast_high": ("Spent at the end of the period: less in 9 of 10", _BUDGET),
    "budget_hit_probability_ratio": ("That the limit is reached before the end", _BUDGET),
    "budget_gone_seconds": ("Until the money is gone, where that is likely", _BUDGET),
    "series_left_out": ("Series that had no place, so that there aren't too many", ()),
}
"""What is told: words and labels of each family, `agentco_` before its name."""


class Told:
    """Figures by family and labels, `MOST` of them at most, each told once."""

    def __init__(self) -> None:
        self._left_out, self._told = 0, set[tuple[str, tuple[str, ...]]]()
        self._families = {
            name: GaugeMetricFamily(f"agentco_{name}", f"{words}.", labels=labels)
            for name, (words, labels) in FAMILIES.items()
        }

    def add(self, name: str, value: object, *labels: object) -> None:
        """Tell a figure; None is not told. Labels are cleaned here."""
        key = name, tuple(safe(str(label or ""), _LONGEST) for label in labels)
        if value is None or key in self._told:
            return
        if len(self._told) < MOST - 1:
            self._told.add(key)
            self._families[name].add_metric(key[1], float(str(value)))
        else:
            self._left_out += 1

    def families(self) -> Iterable[Metric]:
        """As prometheus_client takes them."""
        self._families["series_left_out"].add_metric((), self._left_out)
        return self._families.values()


class Series:
    """Of one platform that is watched; prometheus_client collects what is to be told of it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._loop = workspace, asyncio.get_running_loop()

    def collect(self) -> Iterable[Metric]:
        """For prometheus_client, which asks in a thread of its own."""
        return asyncio.run_coroutine_threadsafe(self._collected(), self._loop).result(PATIENCE)

    async def _collected(self) -> Iterable[Metric]:
        """What is known now, also of feeds that fail by now."""
        told, workspace = Told(), self._workspace
        freshness, monotonic = workspace.store.freshness, workspace.clock.monotonic()
        for feed in FEEDS:
            told.add("feed_up", int(freshness[feed].phase is Phase.LIVE), feed)
            told.add("feed_age_seconds", freshness[feed].age(monotonic), feed)
        await workspace.refresh_needs()
        self._tell_needs(told)
        for budget in workspace.budgets():
            self._tell_budget(told, budget)
        return told.families()

    def _tell_needs(self, told: Told) -> None:
        """What needs a person, by the rules of the dashboard, and what waits of all and of each
        company.
        """
        workspace = self._workspace
        store = workspace.store
        waits = workspace.needs.queue
        scope = workspace.poller.query.company
        now = workspace.clock.now()
        found = workspace.needs.counts(now)
        for level in (Level.WARNING, Level.CRITICAL):
            for kind in NeedKind:
                told.add("needs", found[level, kind], level.name.lower(), kind)
        if store.freshness[FeedName.PENDING].answered_at is None:
            return
        names = {(BudgetScope.COMPANY, each.id): each.name or each.id for each in store.companies}
        for whom, name in {(BudgetScope.ALL, ""): "all", **names}.items():
            if scope in (None, whom[1]):
                told.add("tasks_waiting", waits.waiting_by_owner[whom], *whom, name)
                since = waits.oldest_of(whom)
                oldest = 0.0 if since is None else max(0.0, now - since)
                told.add("oldest_wait_seconds", oldest, *whom, name)

    def _tell_budget(self, told: Told, budget: Budget) -> None:
        workspace, names = self._workspace, self._workspace.names
        of, sum_ = budget.scope, budget.limit or budget.spent
        company = names.company_of(budget) if of is BudgetScope.AGENT else None
        owner, currency = company and names.company(company), sum_ and sum_.currency
        forecast, burn = workspace.outlook.of(budget).forecast, workspace.outlook.of(budget).burn
        figures: dict[str, object] = {
            "limit": budget.limit and budget.limit.amount,
            "spent": budget.spent and budget.spent.amount,
            "share_ratio": budget.share,
            "burn_factor": burn.factor if burn else 0 if burn is None else None,
        }
        if isinstance(forecast, Forecast):
            gone = forecast.gone
            figures |= {
                "rate_per_hour": forecast.rate,
                "forecast_low": forecast.low,
                "forecast_high": forecast.high,
                "hit_probability_ratio": forecast.hit,
                "gone_seconds": gone and max(0.0, gone[1] - workspace.clock.now()),
            }
        for name, value in figures.items():
            told.add(
                f"budget_{name}", value, of, budget.subject, names.budget(budget), owner, currency
            )
