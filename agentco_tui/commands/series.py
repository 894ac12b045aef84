"""What `metrics` tells of the picture: families of series with labels, of a bounded number."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from prometheus_client.core import GaugeMetricFamily, Metric

from agentco_tui import __version__
from agentco_tui.api.client import Client
from agentco_tui.api.errors import KeyRejected
from agentco_tui.background import at_once
from agentco_tui.commands.status import judge
from agentco_tui.config import Settings
from agentco_tui.config.validators import WrongError
from agentco_tui.live.feeds import Clock, FeedName, Pace, Phase, Query
from agentco_tui.live.forecast import Forecast
from agentco_tui.live.history import History
from agentco_tui.live.insight import Level, in_scope, waiting_since, waits_for_person
from agentco_tui.live.log_findings import read_log
from agentco_tui.live.needs import NeedKind
from agentco_tui.live.outlook import Outlook
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Names, Store, named
from agentco_tui.model import Budget, BudgetScope, Ref
from agentco_tui.text import safe

PATIENCE: Final = 10.0  # seconds for what is told of the picture
FEEDS: Final = sorted(set(FeedName) - {FeedName.TASKS})
_LONGEST: Final = 120  # cells of a label
_BUDGET: Final = ("scope", "id", "name", "company", "currency")
_QUEUE: Final = _BUDGET[:3]
FAMILIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "build_info": ("The program and the platform that it asks", ("version", "profile", "platform")),
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
    "series_left_out": ("Companies and agents without series, so that there aren't too many",
        ("scope",)),
}  # fmt: skip
"""What is told: words and labels of each family, `agentco_` before its name."""

Told = dict[tuple[str, tuple[str, ...]], float]
"""Figures by family and labels."""


def tell(told: Told, name: str, value: object, *labels: object) -> None:
    """Add a figure; None is not told. Labels are cleaned here, and what is told first stays."""
    if value is not None:
        words = tuple(safe(str(label or ""), _LONGEST) for label in labels)
        told.setdefault((name, words), float(str(value)))


class Watch:
    """A poller without a screen; prometheus_client collects what is to be told of its picture."""

    def __init__(
        self,
        settings: Settings,
        client: Client,
        company: str | None,
        history: History | None,
        most: int,
    ) -> None:
        """`most` is how many series are told at most."""
        self._most = most - len(BudgetScope)  # for what was left out
        self._settings, self._key = settings, client.transport.key
        self._store, self._loop = Store(), asyncio.get_running_loop()
        self._clock = Clock(lambda: client.transport.measured.clock_skew)
        query, refresh = Query(company=company), settings.refresh
        self.poller = Poller(client, self._store, self._clock, refresh=refresh, query=query)
        self.outlook = Outlook(self._store, history, self._clock, settings.alerts)
        self._store.on_freshness = self._answered
        self.poller.set_paces(dict.fromkeys(FEEDS, Pace.REFRESH))

    def _answered(self, feed: FeedName) -> None:
        """Ask by the id of the company in scope, once its name is known to be one; and with the key
        that is in its file by now, once the one in use is refused.
        """
        scope, place = self.poller.query.company, self._settings.key_place
        if feed is FeedName.COMPANIES and scope is not None:
            found = named(scope, self._store.companies)
            if len(found) == 1 and found[0].id != scope:
                self.poller.set_query(Query(company=found[0].id))
        is_refused = isinstance(self._store.freshness[feed].failure, KeyRejected)
        if is_refused and place is not None and place.is_file:
            with suppress(WrongError):  # it may just be being written
                if (key := place.read()) != self._key.key:
                    self._key.replace(key)
                    self.poller.poll_now()

    async def first_answers(self) -> None:
        """Wait until every feed has been answered, or has failed."""
        await asyncio.gather(*map(self.poller.read_again, FEEDS))

    def is_up(self) -> bool:
        """Whether anything was answered."""
        return any(fresh.answered_at is not None for fresh in self._store.freshness.values())

    def subjects(self, companies: Iterable[str] = ()) -> list[Budget]:
        """The budgets of what is in scope: of the whole, companies, then agents, each the worst
        share first; of these companies also where none is known, then without figures.
        """
        store, scope = self._store, self.poller.query.company
        every = {key: Budget(id=key, scope=BudgetScope.COMPANY) for key in companies}
        found = [*store.budget] or [Budget(id="", scope=BudgetScope.ALL)]
        for budgets in ({**every, **store.company_budgets.records}, store.agent_budgets.records):
            found += sorted(budgets.values(), key=lambda each: -(each.share or 0))
        if scope is None:
            return found
        company_of = Names(store).company_of
        return [each for each in found[1:] if in_scope(company_of(each), scope)]

    def collect(self) -> Iterable[Metric]:
        """For prometheus_client, which asks in a thread of its own."""
        return asyncio.run_coroutine_threadsafe(self._collected(), self._loop).result(PATIENCE)

    async def _collected(self) -> Iterable[Metric]:
        """What is known now, also of feeds that fail by now."""
        told, store, settings = Told(), self._store, self._settings
        tell(told, "build_info", 1, __version__, settings.profile, settings.base_url)
        for feed in FEEDS:
            fresh = store.freshness[feed]
            tell(told, "feed_up", int(fresh.phase is Phase.LIVE), feed)
            tell(told, "feed_age_seconds", fresh.age(self._clock.monotonic()), feed)
        for (level, kind), times in self._needs().items():
            tell(told, "needs", times, level, kind)
        waiting, names, left_out = self._waiting(), Names(store), Counter[str]()
        subjects = self.subjects(filter(None, waiting))
        for at, budget in enumerate(subjects):
            of, sum_, company = budget.scope, budget.limit or budget.spent, names.company_of(budget)
            subject = "" if of is BudgetScope.ALL else budget.id
            figures = self._figures(budget)
            if of is not BudgetScope.AGENT:
                figures |= waiting.get(subject, {})
            if len(told) + len(figures) > self._most:
                left_out.update(each.scope for each in subjects[at:])
                subjects = subjects[:at]
                break
            owner = names.company(company) if company and of is BudgetScope.AGENT else None
            about = of, subject, names.budget(budget), owner, sum_ and sum_.currency
            for name, value in figures.items():
                tell(told, name, value, *about[: len(FAMILIES[name][1])])
        for scope in (BudgetScope.COMPANY, BudgetScope.AGENT):
            tell(told, "series_left_out", left_out[scope], scope)
        self.outlook.want(subjects)
        families = {
            name: GaugeMetricFamily(f"agentco_{name}", f"{words}.", labels=labels)
            for name, (words, labels) in FAMILIES.items()
        }
        for (name, labels), value in told.items():
            families[name].add_metric(labels, value)
        return families.values()

    def _needs(self) -> Counter[tuple[str, str]]:
        """How many of each level and kind, by the rules of the dashboard."""
        store, scope, limits = self._store, self.poller.query.company, self._settings.alerts
        failed = {feed: why for feed in FEEDS if (why := store.freshness[feed].failure)}
        log = at_once(read_log(reversed(store.activity)))
        now, outlook = self._clock.now(), self.outlook
        judged = judge(store, failed, scope, now, limits, outlook=outlook, log=log)
        levels = (Level.WARNING, Level.CRITICAL)
        found = Counter({(of.name.lower(), str(kind)): 0 for of in levels for kind in NeedKind})
        found.update((each.level.name.lower(), str(each.kind)) for each in judged.findings)
        return found

    def _waiting(self) -> dict[str, dict[str, float]]:
        """What waits, by the id of its company, and of all ("")."""
        store, now, scope = self._store, self._clock.now(), self.poller.query.company
        if store.freshness[FeedName.PENDING].answered_at is None:
            return {}
        since: dict[str, list[float]] = {"": [], **{each.id: [] for each in store.companies}}
        company_of = Names(store).company_of
        for task in filter(waits_for_person, store.pending):
            for key in {"", (company_of(task) or Ref()).id or scope or ""}:
                since.setdefault(key, []).append(waiting_since(task) or now)
        return {
            key: {
                "tasks_waiting": len(times),
                "oldest_wait_seconds": max(0.0, now - min(times, default=now)),
            }
            for key, times in since.items()
        }

    def _figures(self, budget: Budget) -> dict[str, Any]:
        """The figures of a budget by family; what isn't known is left out."""
        forecast, burn = self.outlook.forecast(budget), self.outlook.burn(budget)
        figures: dict[str, Any] = {
            "budget_limit": budget.limit and budget.limit.amount,
            "budget_spent": budget.spent and budget.spent.amount,
            "budget_share_ratio": budget.share,
            "budget_burn_factor": burn.factor if burn else 0 if burn is None else None,
        }
        if isinstance(forecast, Forecast):
            gone = forecast.gone
            figures |= {
                "budget_rate_per_hour": forecast.rate,
                "budget_forecast_low": forecast.low,
                "budget_forecast_high": forecast.high,
                "budget_hit_probability_ratio": forecast.hit,
                "budget_gone_seconds": gone and max(0.0, gone[1] - self._clock.now()),
            }
        return {name: figure for name, figure in figures.items() if figure is not None}
