"""What `status` makes of the answers: how bad it is, and the lines that say why. Pure.

Critical beats unknown, unknown beats warning, warning beats well. That is how plugins for
monitoring mostly rank: what is known to be bad must not be hidden by what could not be asked, and
what could not be asked may be worse than a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from typing import TypeVar

from agentco_tui import format as figures
from agentco_tui.api.errors import ApiError
from agentco_tui.config import AlertLimits
from agentco_tui.live.insight import (
    Level,
    Need,
    alert_level,
    in_scope,
    needs,
    waiting_since,
    waits_for_person,
)
from agentco_tui.model.records import (
    Agent,
    Alert,
    Budget,
    BudgetOverview,
    BudgetScope,
    Company,
    Listing,
    Record,
    Ref,
    Task,
)
from agentco_tui.text import SafeText, safe, signs

_R = TypeVar("_R", bound=Record)


class State(IntEnum):
    """The exit codes of monitoring plugins."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_RANK = {State.OK: 0, State.WARNING: 1, State.UNKNOWN: 2, State.CRITICAL: 3}
_STATES = {Level.WARNING: State.WARNING, Level.CRITICAL: State.CRITICAL}


@dataclass(frozen=True)
class Finding:
    """One thing that is not well."""

    state: State
    kind: str
    """What sort: task, budget, alert or agent, and part for what could not be asked or read."""
    id: str | None
    text: str
    """For people; holds text of the platform, cleaned."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What was asked of the platform; an ApiError stands where no answer came."""

    companies: Listing[Company] | ApiError
    agents: Listing[Agent] | ApiError
    pending: Listing[Task] | ApiError
    overview: BudgetOverview | ApiError
    company_budgets: Listing[Budget] | ApiError
    agent_budgets: Listing[Budget] | ApiError
    alerts: Listing[Alert] | ApiError


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The state, its reasons (the worst first), and the figures; None is what is not known."""

    state: State
    findings: tuple[Finding, ...] = ()
    companies: int | None = None
    agents: int | None = None
    pending: int | None = None
    pending_is_least: bool = False
    """True if more may be pending than were counted."""
    oldest_wait: float | None = None
    """Seconds."""
    alerts: dict[str, int] | None = None
    """Open alerts by level: critical, warning, info."""
    budget: Budget | None = None
    """The budget of all, or of the company that was asked for."""
    failed: tuple[tuple[str, ApiError], ...] = field(default_factory=tuple)
    """(part, error) of each question without an answer."""


def judge(answers: Answers, company: str | None, now: float, limits: AlertLimits) -> Judgement:
    """Judge the answers for all companies, or for the one with the id `company`.

    `now` is the platform's time, seconds since 1970.
    """
    companies, agents = _known(answers.companies), _known(answers.agents)
    pending = [task for task in _records(answers.pending) if waits_for_person(task)]
    scoped = [task for task in pending if in_scope(task.company, company)]
    alerts = _alerts_in_scope(answers, company)
    names = _Names(companies or (), agents or ())
    needed = needs(
        pending=scoped,
        budgets=_budgets(answers, company),
        alerts=alerts,
        agents=[agent for agent in agents or () if in_scope(agent.company, company)],
        now=now,
        limits=limits,
    )
    findings = [*_failures(answers), *(_finding(need, names, now) for need in needed)]
    findings.sort(key=lambda finding: -_RANK[finding.state])
    waits = [now - since for task in scoped if (since := waiting_since(task)) is not None]
    listing = None if isinstance(answers.pending, ApiError) else answers.pending
    return Judgement(
        state=max((finding.state for finding in findings), key=_RANK.__getitem__, default=State.OK),
        findings=tuple(findings),
        companies=None if companies is None else 1 if company else len(companies),
        agents=None if agents is None else sum(in_scope(each.company, company) for each in agents),
        pending=None if listing is None else len(scoped),
        pending_is_least=listing is not None and (listing.capped or listing.more),
        oldest_wait=max(0.0, *waits) if waits else None,
        alerts=None if isinstance(answers.alerts, ApiError) else _by_level(alerts),
        budget=_whole(answers, company),
        failed=tuple(_failed(answers)),
    )


# -- what is not well


def _failures(answers: Answers) -> Iterator[Finding]:
    for part, error in _failed(answers):
        yield Finding(State.UNKNOWN, "part", None, f"{part}: {error}")
    for part in ("pending", "company_budgets", "agent_budgets", "alerts"):
        listing = getattr(answers, part)
        if not isinstance(listing, ApiError) and listing.unread:
            why = f": {listing.unread_reasons[0]}" if listing.unread_reasons else ""
            text = f"{_PARTS[part]}: {listing.unread} could not be read{why}"
            yield Finding(State.UNKNOWN, "part", None, text)


_PARTS = {
    "companies": "companies",
    "agents": "agents",
    "pending": "pending tasks",
    "overview": "budget",
    "company_budgets": "budgets of companies",
    "agent_budgets": "budgets of agents",
    "alerts": "alerts",
}


def _failed(answers: Answers) -> Iterator[tuple[str, ApiError]]:
    for name, words in _PARTS.items():
        answer = getattr(answers, name)
        if isinstance(answer, ApiError):
            yield words, answer


def _finding(need: Need, names: _Names, now: float) -> Finding:
    match need.record:
        case Task() as task:
            text = _task_words(task, names, now)
        case Budget() as budget:
            text = _budget_words(budget, names)
        case Alert() as alert:
            whose = names.agent(alert.agent) or names.company(alert.company)
            text = f"alert: {alert.text}" + (f" ({whose})" if whose else "")
        case Agent() as agent:
            text = f"agent in trouble: {agent.name or agent.id} says {agent.status}"
    return Finding(_STATES[need.level], need.kind, need.record.id, text)


def _task_words(task: Task, names: _Names, now: float) -> str:
    since = waiting_since(task)
    wait = "" if since is None else f" {figures.age(now - since)}"
    facts = (task.priority, names.company(task.company), names.agent(task.agent))
    about = ", ".join(fact for fact in facts if fact)
    return f"task waits{wait}: {task.title}" + (f" ({about})" if about else "")


def _budget_words(budget: Budget, names: _Names) -> str:
    share = figures.percent(budget.share, derived=budget.share_derived)
    ref = Ref(id=budget.id, name=budget.name)
    whose = {
        BudgetScope.ALL: "all companies",
        BudgetScope.COMPANY: names.company(ref),
        BudgetScope.AGENT: names.agent(ref),
    }[budget.scope]
    spent, limit = figures.money(budget.spent), figures.money(budget.limit)
    return f"budget spent to {share}: {whose}, {spent} of {limit}"


# -- which records count


def _alerts_in_scope(answers: Answers, company: str | None) -> list[Alert]:
    """The alerts of the company: those that name it, or an agent of it, or neither."""
    agents = _known(answers.agents)
    ours = None if agents is None else {agent.id for agent in agents}
    return [
        alert
        for alert in _records(answers.alerts)
        if in_scope(alert.company, company)
        and (
            company is None
            or ours is None
            or alert.company is not None
            or alert.agent is None
            or alert.agent.id is None
            or alert.agent.id in ours
        )
    ]


def _budgets(answers: Answers, company: str | None) -> Iterator[Budget]:
    if company is None and not isinstance(answers.overview, ApiError):
        yield answers.overview.whole
    for budget in _records(answers.company_budgets):
        if company is None or budget.id == company:
            yield budget
    for budget in _records(answers.agent_budgets):
        if in_scope(budget.company, company):
            yield budget


def _whole(answers: Answers, company: str | None) -> Budget | None:
    if company is None:
        return None if isinstance(answers.overview, ApiError) else answers.overview.whole
    ours = [budget for budget in _records(answers.company_budgets) if budget.id == company]
    return ours[0] if ours else None


def _by_level(alerts: Iterable[Alert]) -> dict[str, int]:
    counts = {"critical": 0, "warning": 0, "info": 0}
    for alert in alerts:
        if alert.open is not False:
            level = alert_level(alert)
            name = {Level.CRITICAL: "critical", Level.WARNING: "warning"}.get(level, "info")
            counts[name] += 1
    return counts


def _records(answer: Listing[_R] | ApiError) -> tuple[_R, ...]:
    return () if isinstance(answer, ApiError) else answer.records


def _known(answer: Listing[_R] | ApiError) -> tuple[_R, ...] | None:
    return None if isinstance(answer, ApiError) else answer.records


class _Names:
    """Names for the ids that records carry."""

    def __init__(self, companies: Sequence[Company], agents: Sequence[Agent]) -> None:
        self._companies = {record.id: record.name for record in companies}
        self._agents = {record.id: record.name for record in agents}

    def company(self, ref: Ref | None) -> str | None:
        return self._name(ref, self._companies)

    def agent(self, ref: Ref | None) -> str | None:
        return self._name(ref, self._agents)

    @staticmethod
    def _name(ref: Ref | None, known: Mapping[str, SafeText | None]) -> str | None:
        if ref is None:
            return None
        return ref.name or known.get(ref.id or "") or (safe(ref.id) if ref.id else None)


# -- the first line


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
        missing = signs.missing
        of = ", no limit" if judged.budget.unlimited else f" of {figures.money(limit)}"
        if figures.money(spent) != missing or limit is not None:
            parts.append(f"spent {figures.money(spent)}{of}")
    if judged.failed:
        count = len(judged.failed)
        parts.append(f"{count} of {len(_PARTS)} questions without an answer")
    return "; ".join(parts)


def performance(judged: Judgement, limits: AlertLimits) -> str:
    """The figures as monitoring plugins pass them on: `name=value[unit];warn;critical;min`."""
    fields: list[str] = []

    def add(name: str, value: int | float | Decimal | None, rest: str = "") -> None:
        if value is not None:
            text = f"{value:f}" if isinstance(value, Decimal) else f"{value:.0f}"
            fields.append(f"{name}={text}{rest}")

    add("pending", judged.pending, ";;;0")
    add(
        "oldest_wait",
        judged.oldest_wait,
        f"s;{limits.waiting_warning:g};{limits.waiting_critical:g};0",
    )
    for name, number in (judged.alerts or {}).items():
        add(f"alerts_{name}", number, ";;;0")
    add("companies", judged.companies, ";;;0")
    add("agents", judged.agents, ";;;0")
    budget = judged.budget
    add("spent", budget.spent.amount if budget and budget.spent else None, ";;;0")
    add("limit", budget.limit.amount if budget and budget.limit else None, ";;;0")
    return " ".join(fields)
