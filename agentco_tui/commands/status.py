"""`agentco-tui status`: one look at everything that needs a person, with an exit code.

Critical beats unknown, unknown beats warning, warning beats well. That is how plugins for
monitoring mostly rank: what is known to be bad must not be hidden by what could not be asked, and
what could not be asked may be worse than a warning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import IntEnum
from typing import NamedTuple

import msgspec

from agentco_tui import format as figures
from agentco_tui.api.errors import ApiError, TimedOut
from agentco_tui.commands.running import connected, error_json, running, say, say_json
from agentco_tui.config import AlertLimits, Given, Settings, SettingsError
from agentco_tui.live.feeds import FeedName, Query, SystemClock
from agentco_tui.live.insight import (
    Level,
    Need,
    alert_level,
    in_scope,
    is_open,
    needs,
    waiting_since,
    waits_for_person,
)
from agentco_tui.live.poller import AT_ONCE, Take, fetch
from agentco_tui.live.store import Names, Store
from agentco_tui.model import Agent, Alert, Budget, Ref, Task
from agentco_tui.text import SafeText, plain, safe, signs

SECONDS = 25.0
"""For all questions together: schedulers of monitoring give up on a plugin after a while."""
TOLD = 20
"""How many reasons are written out below the first line; `--json` has all of them."""


class State(IntEnum):
    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_RANK = {State.OK: 0, State.WARNING: 1, State.UNKNOWN: 2, State.CRITICAL: 3}
PARTS: Mapping[FeedName, str] = {
    FeedName.COMPANIES: "companies",
    FeedName.AGENTS: "agents",
    FeedName.PENDING: "pending tasks",
    FeedName.BUDGET: "budget",
    FeedName.COMPANY_BUDGETS: "budgets of companies",
    FeedName.AGENT_BUDGETS: "budgets of agents",
    FeedName.ALERTS: "alerts",
}
"""What is asked, and how it is called where it fails. Parts of the overview stand in for budgets
until those have come, so it comes before them."""


class Finding(NamedTuple):
    state: State
    kind: str
    """What sort: task, budget, alert or agent, and part for what could not be asked or read."""
    id: str | None
    text: str


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The state, its reasons (the worst first), and the figures; None is what is not known."""

    state: State
    findings: tuple[Finding, ...] = ()
    companies: int | None = None
    agents: int | None = None
    pending: int | None = None
    pending_is_least: bool = False
    """True if more may be pending than were counted."""
    oldest_wait: float | None = None
    alerts: dict[str, int] | None = None
    """Open alerts by level: critical, warning, info."""
    budget: Budget | None = None
    """The budget of all, or of the company that was asked for."""
    failed: Mapping[FeedName, ApiError] = msgspec.field(default_factory=dict)


def run(given: Given, env: Mapping[str, str]) -> int:
    """Look once, tell, and return 0 all well, 1 warning, 2 critical, 3 unknown.

    Unknown is also where the settings are wrong, since 2 would say that the platform is critical.
    JSON then: {"status": "unknown", "exit_code": 3, "settings": [str]}.
    """
    try:
        with running(given, env) as settings:
            judged = asyncio.run(_look(settings))
            if given["json"]:
                say_json(_as_json(judged, settings))
            else:
                # The first line as monitoring plugins write it, then a line for each reason.
                told = performance(judged, settings.alerts)
                first = f"{judged.state.name} - {_unpiped(headline(judged))}"
                say(f"{first} | {told}" if told else first)
                mark = {State.WARNING: signs.warning, State.CRITICAL: signs.critical}
                for finding in judged.findings[:TOLD]:
                    say(f"{mark.get(finding.state, signs.unknown)} {_unpiped(finding.text)}")
                if len(judged.findings) > TOLD:
                    say(f"{signs.ellipsis} and {len(judged.findings) - TOLD} more")
            return judged.state
    except SettingsError as error:
        problems = [safe(str(problem)) for problem in error.problems]
    if given["json"]:
        say_json({"status": "unknown", "exit_code": int(State.UNKNOWN), "settings": problems})
    else:
        say(f"UNKNOWN - the settings cannot be used: {_unpiped(problems[0])}")
        say(*(f"{signs.unknown} {_unpiped(problem)}" for problem in problems[1:]))
    return State.UNKNOWN


async def _look(settings: Settings) -> Judgement:
    """Read each feed once, several at a time, by the same rules as the dashboard's."""
    store, failed = Store(), dict[FeedName, ApiError]()
    async with connected(settings) as client:
        query = Query(company=settings.company)
        deadline = asyncio.get_running_loop().time() + SECONDS
        places = asyncio.Semaphore(AT_ONCE)

        async def read(feed: FeedName) -> Take | ApiError:
            try:
                async with asyncio.timeout_at(deadline), places:
                    return await fetch(feed, client, store, query)
            except ApiError as error:
                return error
            except TimeoutError:
                return TimedOut(plain(f"no answer within {SECONDS:g} seconds"))

        for feed, answer in zip(PARTS, await asyncio.gather(*map(read, PARTS)), strict=True):
            if isinstance(answer, ApiError):
                failed[feed] = answer
            else:
                answer()
        now = SystemClock(lambda: client.transport.measured.clock_skew).now()
        return judge(store, failed, settings.company, now, settings.alerts)


def judge(
    store: Store,
    failed: Mapping[FeedName, ApiError],
    company: str | None,
    now: float,
    limits: AlertLimits,
) -> Judgement:
    """For all companies, or for the one with the id `company`; `now` is the platform's time."""
    names = Names(store)

    def ours(record: Task | Agent | Budget | Alert) -> bool:
        return in_scope(names.company_of(record), company)

    def known(feed: FeedName, value: int) -> int | None:
        return None if feed in failed else value

    def of_known_agent(alert: Alert) -> bool:
        """False for an alert about an agent that is not among those of the company asked for."""
        if company is None or alert.company is not None or not len(store.agents):
            return True
        about = alert.agent
        return about is None or about.id is None or about.id in store.agents.records

    pending = [task for task in store.pending if waits_for_person(task) and ours(task)]
    agents = [agent for agent in store.agents if ours(agent)]
    alerts = [alert for alert in store.alerts if ours(alert) and of_known_agent(alert)]
    budgets = [*store.company_budgets, *store.agent_budgets]
    found = needs(
        pending=pending,
        budgets=[
            *(store.budget if company is None else ()),
            *(budget for budget in budgets if ours(budget)),
        ],
        alerts=alerts,
        agents=agents,
        now=now,
        limits=limits,
    )
    findings = [_finding(need, names, now) for need in found]
    for feed, error in failed.items():
        findings.append(Finding(State.UNKNOWN, "part", None, f"{PARTS[feed]}: {error}"))
    for each in (store.pending, store.company_budgets, store.agent_budgets, store.alerts):
        if unread := each.listing.unread:
            why = f": {each.listing.unread_reasons[0]}" if each.listing.unread_reasons else ""
            text = f"{PARTS[each.feed]}: {unread} could not be read{why}"
            findings.append(Finding(State.UNKNOWN, "part", None, text))
    findings.sort(key=lambda finding: -_RANK[finding.state])
    waits = [now - since for task in pending if (since := waiting_since(task)) is not None]
    told = store.pending.listing
    levels = [alert_level(alert, limits) for alert in alerts if is_open(alert)]
    critical = sum(level >= Level.CRITICAL for level in levels)
    warning = sum(level >= Level.WARNING for level in levels) - critical
    by_level = {"critical": critical, "warning": warning}
    by_level["info"] = len(levels) - critical - warning
    return Judgement(
        state=max((finding.state for finding in findings), key=_RANK.__getitem__, default=State.OK),
        findings=tuple(findings),
        companies=known(FeedName.COMPANIES, 1 if company else len(store.companies)),
        agents=known(FeedName.AGENTS, len(agents)),
        pending=known(FeedName.PENDING, len(pending)),
        pending_is_least=told.capped or told.more,
        oldest_wait=max(0.0, *waits) if waits else None,
        alerts=None if FeedName.ALERTS in failed else by_level,
        budget=store.whole_budget if company is None else store.company_budgets.get(company),
        failed=failed,
    )


def _finding(need: Need, names: Names, now: float) -> Finding:
    def named(name: Callable[[Ref | None], SafeText], ref: Ref | None) -> str:
        return "" if ref is None else name(ref)

    match need.record:
        case Task() as task:
            since = waiting_since(task)
            wait = "" if since is None else f" {figures.age(now - since)}"
            company, agent = named(names.company, task.company), named(names.agent, task.agent)
            about = ", ".join(fact for fact in (task.priority, company, agent) if fact)
            text = f"task waits{wait}: {task.title}" + (f" ({about})" if about else "")
        case Budget() as budget:
            share = figures.percent(budget.share, derived=budget.share_derived)
            whose = "all companies" if budget.scope == "all" else names.budget(budget)
            spent, limit = figures.money(budget.spent), figures.money(budget.limit)
            text = f"budget spent to {share}: {whose}, {spent} of {limit}"
        case Alert() as alert:
            about = named(names.agent, alert.agent) or named(names.company, alert.company)
            text = f"alert: {alert.text}" + (f" ({about})" if about else "")
        case Agent() as each:
            text = f"agent in trouble: {each.name or each.id} says {each.status}"
    state = State.CRITICAL if need.level >= Level.CRITICAL else State.WARNING
    return Finding(state, need.kind, need.record.id, text)


def headline(judged: Judgement) -> str:
    """The figures in words: `37 pending, oldest 3 h; alerts: 2 critical; spent $43 of $90`."""
    parts = []
    if judged.pending is not None:
        least = "at least " if judged.pending_is_least else ""
        wait = "" if judged.oldest_wait is None else f", oldest {figures.age(judged.oldest_wait)}"
        parts.append(f"{least}{figures.count(judged.pending)} pending{wait}")
    if judged.alerts is not None:
        told = [f"{number} {name}" for name, number in judged.alerts.items() if number]
        parts.append(f"alerts: {', '.join(told)}" if told else "no alerts")
    if judged.budget is not None:
        spent, limit = judged.budget.spent, judged.budget.limit
        of = ", no limit" if judged.budget.unlimited else f" of {figures.money(limit)}"
        if figures.money(spent) != signs.missing or limit is not None:
            parts.append(f"spent {figures.money(spent)}{of}")
    if judged.failed:
        parts.append(f"{len(judged.failed)} of {len(PARTS)} questions without an answer")
    return "; ".join(parts)


def performance(judged: Judgement, limits: AlertLimits) -> str:
    """The figures as monitoring plugins pass them on: `name=value[unit];warn;critical;min`."""
    budget = judged.budget
    waits = f"s;{limits.waiting_warning:g};{limits.waiting_critical:g};0"
    values: list[tuple[str, int | float | Decimal | None, str]] = [
        ("pending", judged.pending, ";;;0"),
        ("oldest_wait", judged.oldest_wait, waits),
        *((f"alerts_{name}", number, ";;;0") for name, number in (judged.alerts or {}).items()),
        ("companies", judged.companies, ";;;0"),
        ("agents", judged.agents, ";;;0"),
        ("spent", budget.spent.amount if budget and budget.spent else None, ";;;0"),
        ("limit", budget.limit.amount if budget and budget.limit else None, ";;;0"),
    ]
    return " ".join(
        f"{name}={value:f}{rest}" if isinstance(value, Decimal) else f"{name}={value:.0f}{rest}"
        for name, value, rest in values
        if value is not None
    )


def _unpiped(text: str) -> str:
    """A `|` begins the figures for whoever reads plugins' output."""
    return text.replace("|", "/")


def _as_json(judged: Judgement, settings: Settings) -> dict[str, object]:
    """For scripts; null is what the platform did not tell."""
    return {
        "status": judged.state.name.lower(),
        "exit_code": int(judged.state),
        "profile": settings.profile,
        "base_url": str(settings.base_url),
        "company": settings.company,
        "companies": judged.companies,
        "agents": judged.agents,
        "pending": {
            "count": judged.pending,
            "at_least": judged.pending_is_least,
            "oldest_seconds": None if judged.oldest_wait is None else round(judged.oldest_wait),
        },
        "alerts": judged.alerts,
        "budget": None if judged.budget is None else _budget(judged.budget),
        "findings": [
            {"status": state.name.lower(), "kind": kind, "id": record_id, "text": safe(text)}
            for state, kind, record_id, text in judged.findings
        ],
        "failed": [
            {"part": PARTS[feed], **error_json(error)} for feed, error in judged.failed.items()
        ],
    }


def _budget(budget: Budget) -> dict[str, object]:
    sums = {"spent": budget.spent, "limit": budget.limit, "remaining": budget.remaining}
    derived = [name for name, sum_ in sums.items() if sum_ and sum_.derived]
    return {
        **{name: None if sum_ is None else sum_.amount for name, sum_ in sums.items()},
        "currency": next((sum_.currency for sum_ in sums.values() if sum_ and sum_.currency), None),
        "percent": None if budget.share is None else round(budget.share * 100, 2),
        "unlimited": budget.unlimited,
        "derived": [*derived, "percent"] if budget.share_derived else derived,
    }
