"""What `metrics` tells of the picture: families of series with labels, of a bounded number."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from agentco_tui import __version__
from agentco_tui.background import at_once
from agentco_tui.commands.status import judge
from agentco_tui.config import Settings
from agentco_tui.live.feeds import Clock, FeedName, Freshness, Pace, Phase, Query
from agentco_tui.live.forecast import Forecast
from agentco_tui.live.history import History
from agentco_tui.live.insight import Level, in_scope, waiting_since, waits_for_person
from agentco_tui.live.log_findings import LogFindings, read_log
from agentco_tui.live.needs import NeedKind
from agentco_tui.live.outlook import Outlook
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Change, Names, Store, named
from agentco_tui.model import AgentState, Budget, BudgetScope, Ref
from agentco_tui.text import safe

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from agentco_tui.api.client import Client

_LONGEST: Final = 120  # cells of a label

_BUDGET: Final = ("scope", "id", "name", "company", "currency")
_QUEUE: Final = ("scope", "id", "name")
FAMILIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "build_info": ("The program and the platform that it asks", ("version", "profile", "platform")),
    "feed_up": ("1 if the last question of a feed was answered", ("feed",)),
    "feed_age_seconds": ("Since a feed was last answered", ("feed",)),
    "http_errors": ("Questions without a usable answer, by the sort of error", ("feed", "error")),
    "needs": ("What needs a person", ("level", "kind")),
    "agents": ("Agents by their state", ("state",)),
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
COUNTER: Final = "http_errors"  # the only family that counts; all others may fall, too


class Series:
    """Values by family and labels, `most` of them at most, each told once."""

    def __init__(self, most: int) -> None:
        self._most = most - len(BudgetScope)  # for what was left out
        self._values: dict[tuple[str, tuple[str, ...]], float] = {}
        self._is_full = False
        self.left_out = Counter[str]({"company": 0, "agent": 0})

    def add(self, name: str, value: object, *labels: object) -> None:
        """Tell a figure; None is not told. Labels are cleaned here."""
        if value is not None:
            words = tuple("" if label is None else safe(str(label), _LONGEST) for label in labels)
            self._values.setdefault((name, words), float(str(value)))

    def add_all(self, scope: str, figures: Mapping[str, object], *labels: object) -> bool:
        """Tell all of one company or agent, or nothing of it or any after it where it is too much;
        whether it was told.

        `figures`: by family; of the families of the queue the first three labels count.
        """
        told = {name: value for name, value in figures.items() if value is not None}
        self._is_full = self._is_full or len(self._values) + len(told) > self._most
        if self._is_full:
            self.left_out[scope] += 1
            return False
        for name, value in told.items():
            self.add(name, value, *labels[: len(FAMILIES[name][1])])
        return True

    def families(self) -> Iterator[Metric]:
        """As prometheus_client takes them."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415

        for name, (words, labels) in FAMILIES.items():
            kind = CounterMetricFamily if name == COUNTER else GaugeMetricFamily
            family = kind(f"agentco_{name}", f"{words}.", labels=labels)
            for (of, values), value in self._values.items():
                if of == name:
                    family.add_metric(values, value)
            yield family


class Watch:
    """A poller without a screen, and what is to be told of its picture."""

    def __init__(
        self,
        settings: Settings,
        client: Client,
        query: Query,
        history: History | None,
        feeds: Collection[FeedName],
        *,
        most: int,
    ) -> None:
        """`feeds` are polled, `most` is how many series are told at most."""
        self._settings, self._feeds, self._most = settings, feeds, most
        self._store, self._errors = Store(), Counter[tuple[FeedName, str]]()
        self._known = dict.fromkeys(FeedName, Freshness())
        self._log, self._log_of = LogFindings(), self._store.activity.listing
        self._clock = Clock(lambda: client.transport.measured.clock_skew)
        self.poller = Poller(
            client, self._store, self._clock, refresh=settings.refresh, query=query
        )
        self.outlook = Outlook(self._store, history, self._clock, settings.alerts)
        self.answered = asyncio.get_running_loop().create_future()
        """Done when every feed has been answered, or has failed."""
        self._store.on_freshness = self._take_freshness
        self._store.subscribe(self._take)
        self.poller.set_paces(dict.fromkeys(feeds, Pace.REFRESH))

    def _take_freshness(self, feed: FeedName) -> None:
        fresh, before = self._store.freshness[feed], self._known[feed]
        self._known[feed] = fresh
        if fresh.failure is not None and fresh.failures != before.failures:
            self._errors[feed, fresh.failure.kind] += 1
        known = (self._known[each] for each in self._feeds)
        if not self.answered.done() and all(each.phase is not Phase.LOADING for each in known):
            self.answered.set_result(None)

    def _take(self, change: Change) -> None:
        """Ask by the id of the company in scope, once its name is known to be one."""
        scope = self.poller.query.company
        if change.feed is FeedName.COMPANIES and scope is not None:
            found = named(scope, self._store.companies)
            if len(found) == 1 and found[0].id != scope:
                self.poller.set_query(Query(company=found[0].id))

    def is_up(self) -> bool:
        """Whether anything was answered."""
        return any(fresh.answered_at is not None for fresh in self._known.values())

    def budgets(self) -> list[Budget]:
        """Of what is in scope: the whole, companies, then agents, each the worst share first."""
        scope, company_of = self.poller.query.company, Names(self._store).company_of
        found = list[Budget]()
        for of, collection in self._store.budgets.items():
            if of is not BudgetScope.ALL or scope is None:
                ours = (each for each in collection if in_scope(company_of(each), scope))
                found += sorted(ours, key=lambda each: -(each.share or 0))
        return found

    def text(self) -> tuple[bytes, str]:
        """All of it in the OpenMetrics format, and the media type of that."""
        from prometheus_client import CollectorRegistry  # noqa: PLC0415 (an extra)
        from prometheus_client.exposition import choose_encoder  # noqa: PLC0415

        registry = CollectorRegistry()
        registry.register(self)
        encode, media = choose_encoder("application/openmetrics-text; version=1.0.0")
        return encode(registry), media

    def collect(self) -> Iterator[Metric]:
        """For prometheus_client: what is known now, also of feeds that fail by now."""
        series, store, settings = Series(self._most), self._store, self._settings
        steady = self._clock.monotonic()
        series.add("build_info", 1, __version__, settings.profile, settings.base_url)
        for feed in sorted(self._feeds):
            fresh = self._known[feed]
            series.add("feed_up", int(fresh.phase is Phase.LIVE), feed)
            series.add("feed_age_seconds", fresh.age(steady), feed)
        for (feed, error), times in self._errors.items():
            series.add(COUNTER, times, feed, error)
        self._needs(series)
        names, waiting = Names(store), self._queue(series)
        states = Counter(each.state for each in store.agents)
        for state in AgentState if self._is_known(FeedName.AGENTS) else ():
            series.add("agents", states[state], state)
        series.add("agents", states[None] or None, "unknown")
        told = list[Budget]()
        for budget in self.budgets():
            of, sum_, company = budget.scope, budget.limit or budget.spent, None
            figures, subject = self._figures(budget), "" if of is BudgetScope.ALL else budget.id
            if of is BudgetScope.AGENT:
                self._rest_of(series, waiting)
                company = names.company_of(budget)
            elif of is BudgetScope.COMPANY:
                figures |= waiting.pop(budget.id, {})
            owner = None if company is None else names.company(company)
            about = names.budget(budget), owner, None if sum_ is None else sum_.currency
            if series.add_all(of, figures, of, subject, *about):
                told.append(budget)
        self._rest_of(series, waiting)
        for scope, times in series.left_out.items():
            series.add("series_left_out", times, scope)
        self.outlook.want(told)
        return series.families()

    def _rest_of(self, series: Series, waiting: dict[str, dict[str, object]]) -> None:
        """What waits in companies without a budget, before the first agent."""
        while waiting:
            key, figures = waiting.popitem()
            name = Names(self._store).company(Ref(id=key))
            series.add_all("company", figures, "company", key, name)

    def _is_known(self, feed: FeedName) -> bool:
        return self._known[feed].answered_at is not None

    def _needs(self, series: Series) -> None:
        """By the rules of the dashboard."""
        failed = {feed: why for feed in self._feeds if (why := self._known[feed].failure)}
        scope, now = self.poller.query.company, self._clock.now()
        listing, of = self._store.activity.listing, self._settings.alerts
        if listing is not self._log_of:
            self._log, self._log_of = at_once(read_log(reversed(self._store.activity))), listing
        about = self._store, failed, scope, now, of
        judged = judge(*about, outlook=self.outlook, log=self._log)
        found = Counter((finding.level, str(finding.kind)) for finding in judged.findings)
        for level in (Level.WARNING, Level.CRITICAL):
            for kind in NeedKind:
                found.setdefault((level, str(kind)), 0)
        for (level, what), times in found.items():
            series.add("needs", times, level.name.lower(), what)

    def _queue(self, series: Series) -> dict[str, dict[str, object]]:
        """What waits: told of the whole, and returned for each company by its id."""
        names, scope, now = Names(self._store), self.poller.query.company, self._clock.now()
        if not self._is_known(FeedName.PENDING):
            return {}
        waiting, oldest = Counter[str](), dict[str, float]()
        for task in filter(waits_for_person, self._store.pending):
            company = names.company_of(task)
            since = waiting_since(task)
            for key in {"", (company.id if company else None) or ""}:
                if in_scope(company, scope):
                    waiting[key] += 1
                    if since is not None:
                        oldest[key] = min(since, oldest.get(key, since))
        known = {each.id for each in self._store.companies if scope in (None, each.id)}
        found: dict[str, dict[str, object]] = {
            key: {
                "tasks_waiting": waiting[key],
                "oldest_wait_seconds": max(0.0, now - oldest[key]) if key in oldest else 0,
            }
            for key in {"", *known, *waiting}
        }
        series.add_all("all", found.pop(""), "all", "", "all")
        return found

    def _figures(self, budget: Budget) -> dict[str, Any]:
        """The figures of a budget by family; None is what isn't known."""
        look, now = self.outlook, self._clock.now()
        forecast, burn = look.forecast(budget), look.burn(budget)
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
                "budget_gone_seconds": None if gone is None else max(0.0, gone[1] - now),
            }
        return figures
