"""Collects the metrics of a workspace for prometheus_client.

The words are Prometheus's: a family is a metric with a name, a series is one set of its labels with
a value. The number of series is bounded, because Prometheus stores each of them forever.

A `Workspace` is what is known in memory of the platform, the service that is watched. A feed is one
list that is read from it; a need is something that needs the user (an urgent task, a stopped AI
agent, a budget, ...); the queue is the tasks that wait for approval. An owner is a company or an
agent, or all companies. A budget burns if its limit is reached too soon at the present rate. A
budget's share is the spent part of its limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from agentco_tui.attention.needs import NeedKind
from agentco_tui.history.forecast import Forecast
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level
from agentco_tui.model import Budget, BudgetScope
from agentco_tui.text import clean_line
from agentco_tui.workspace.workspace import FEEDS, Workspace

COLLECT_TIMEOUT: Final = 10.0
"""Seconds that the HTTP server's thread waits for the event loop."""
MOST_SERIES: Final = 10_000
"""So many series are exported; the rest is only counted."""
_LONGEST_LABEL: Final = 120  # terminal cells
_OWNER: Final = ("scope", "id", "name")
"""Labels that name all companies, a company or an agent."""
_BUDGET: Final = (*_OWNER, "company", "currency")
"""Labels that name a budget by its owner."""
FAMILIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "feed_up": ("1 if the last request of a feed was answered, else 0", ("feed",)),
    "feed_age_seconds": ("Time since a feed was last answered", ("feed",)),
    "needs": ("Number of things that need you", ("level", "kind")),
    "tasks_waiting": ("Number of tasks that wait for approval", _OWNER),
    "oldest_wait_seconds": ("How long the oldest waiting task has waited", _OWNER),
    "budget_limit": ("Limit, in whole units of the currency", _BUDGET),
    "budget_spent": ("Amount spent of the limit", _BUDGET),
    "budget_share_ratio": ("Amount spent divided by the limit", _BUDGET),
    "budget_burn_factor": ("How many times too fast money is spent; 0 if it is not", _BUDGET),
    "budget_rate_per_hour": ("Current spending per hour", _BUDGET),
    "budget_forecast_low": ("10 % quantile of the amount at the end of the period", _BUDGET),
    "budget_forecast_high": ("90 % quantile of the amount at the end of the period", _BUDGET),
    "budget_hit_probability_ratio": ("Probability that the limit will be reached", _BUDGET),
    "budget_gone_seconds": ("Time until the limit is reached, if that is likely", _BUDGET),
    "series_left_out": ("Number of series left out because there are too many", ()),
}
"""The help text and the labels of each family; `agentco_` is put before its name."""


class MetricsBuilder:
    """Fills the metric families, with each series once and at most `MOST_SERIES` in all."""

    def __init__(self) -> None:
        self._left_out = 0
        self._added: set[tuple[str, tuple[str, ...]]] = set()
        self._families = {
            name: GaugeMetricFamily(f"agentco_{name}", f"{words}.", labels=labels)
            for name, (words, labels) in FAMILIES.items()
        }

    def add(self, family: str, value: object, *labels: object) -> None:
        """Add a series, unless its value is None or it was added before. Labels are cleaned."""
        clean_labels = tuple(clean_line(str(label or ""), _LONGEST_LABEL) for label in labels)
        if value is None or (family, clean_labels) in self._added:
            return
        if len(self._added) >= MOST_SERIES - 1:
            self._left_out += 1
            return
        self._added.add((family, clean_labels))
        self._families[family].add_metric(clean_labels, float(str(value)))

    def families(self) -> Iterable[Metric]:
        """The families for prometheus_client."""
        self._families["series_left_out"].add_metric((), self._left_out)
        return self._families.values()


class WorkspaceCollector:
    """Collects the metrics of one workspace for prometheus_client."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._loop = asyncio.get_running_loop()

    def collect(self) -> Iterable[Metric]:
        """The families; prometheus_client calls this in another thread."""
        collecting = asyncio.run_coroutine_threadsafe(self._collect(), self._loop)
        return collecting.result(COLLECT_TIMEOUT)

    async def _collect(self) -> Iterable[Metric]:
        """The metrics of the workspace now, with the last known data of feeds that fail."""
        workspace = self._workspace
        builder = MetricsBuilder()
        monotonic = workspace.clock.monotonic()
        for feed in FEEDS:
            freshness = workspace.store.freshness[feed]
            if not freshness.is_offered:
                continue  # a feed that the platform does not have is not down
            builder.add("feed_up", int(freshness.phase is Phase.LIVE), feed)
            builder.add("feed_age_seconds", freshness.age(monotonic), feed)
        await workspace.refresh_needs()
        self._add_needs(builder)
        # Until the pending tasks were read once, their number is unknown, and not 0.
        if workspace.store.freshness[FeedName.PENDING].answered_at is not None:
            self._add_queue(builder)
        for budget in workspace.budgets():
            self._add_budget(builder, budget)
        return builder.families()

    def _add_needs(self, builder: MetricsBuilder) -> None:
        """Add the number of needs of each level and kind, as the dashboard counts them."""
        counts = self._workspace.needs.counts(self._workspace.clock.now())
        for level in (Level.WARNING, Level.CRITICAL):
            for kind in NeedKind:
                builder.add("needs", counts[level, kind], level.name.lower(), kind)

    def _add_queue(self, builder: MetricsBuilder) -> None:
        """Add the waiting tasks of all companies, and of each company in scope."""
        workspace = self._workspace
        company_in_scope = workspace.poller.query.company
        queue = workspace.needs.queue
        now = workspace.clock.now()
        # Owners by scope and id, as the queue counts them.
        names: dict[tuple[BudgetScope, str], str] = {(BudgetScope.ALL, ""): "all"}
        for company in workspace.store.companies:
            names[BudgetScope.COMPANY, company.id] = company.name or company.id
        for owner, name in names.items():
            # With one company in scope the queue counts only its tasks.
            if company_in_scope not in (None, owner[1]):
                continue
            builder.add("tasks_waiting", queue.waiting_by_owner[owner], *owner, name)
            since = queue.oldest_of(owner)
            oldest_wait = 0.0 if since is None else max(0.0, now - since)
            builder.add("oldest_wait_seconds", oldest_wait, *owner, name)

    def _add_budget(self, builder: MetricsBuilder, budget: Budget) -> None:
        names = self._workspace.names
        company_name: str | None = None
        if budget.scope is BudgetScope.AGENT:
            company = names.company_of(budget)
            company_name = names.company(company) if company is not None else None
        sum_with_currency = budget.limit or budget.spent
        currency = sum_with_currency.currency if sum_with_currency is not None else None
        labels = (budget.scope, budget.subject, names.budget(budget), company_name, currency)
        for name, value in self._budget_figures(budget).items():
            builder.add(f"budget_{name}", value, *labels)

    def _budget_figures(self, budget: Budget) -> dict[str, object]:
        """The values of a budget by the name of the family; None is unknown."""
        forecasts = self._workspace.outlook.of(budget)
        figures: dict[str, object] = {
            "limit": budget.limit and budget.limit.amount,
            "spent": budget.spent and budget.spent.amount,
            "share_ratio": budget.share,
        }
        # None: it is not spent too fast. A burn that is false: not enough history to say.
        if forecasts.burn is None:
            figures["burn_factor"] = 0
        elif forecasts.burn:
            figures["burn_factor"] = forecasts.burn.factor
        forecast = forecasts.forecast
        if isinstance(forecast, Forecast):
            figures["rate_per_hour"] = forecast.rate
            figures["forecast_low"] = forecast.low
            figures["forecast_high"] = forecast.high
            figures["hit_probability_ratio"] = forecast.hit
            if forecast.gone:
                # The earliest, the likely and the latest time, in seconds since 1970.
                gone_at = forecast.gone[1]
                figures["gone_seconds"] = max(0.0, gone_at - self._workspace.clock.now())
        return figures
