"""What needs a person, and how badly: pure functions from records to findings.

Used by the Overview, by the signs in every table and by `agentco-tui status`, so that they agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from functools import lru_cache
from itertools import islice

import msgspec
from msgspec.structs import replace

from agentco_tui.model import (
    Agent,
    AgentState,
    Alert,
    AlertLimits,
    Budget,
    BudgetScope,
    Ref,
    Severity,
    Task,
    TaskState,
)

_MONTHLY = ("monthly", "month", "1mo", "calendar_month")
_CHUNK = 250  # records between two pauses


class Level(IntEnum):
    """How badly a person is needed; higher is worse."""

    OK = 0
    UNKNOWN = 1
    WARNING = 2
    CRITICAL = 3


_PRIORITIES = (
    ("urgent", "critical", "highest", "blocker", "p0", "immediate", "emergency"),
    ("high", "p1", "major", "important"),
    ("medium", "normal", "default", "moderate", "p2", "standard"),
    ("low", "minor", "p3"),
    ("lowest", "trivial", "p4", "none", "background"),
)

# Neither hidden at the end nor pushed to the front.
UNKNOWN_PRIORITY = 2.5


@lru_cache(maxsize=256)
def priority_rank(priority: str | None) -> float:
    """Where a priority word stands: 0 is the most urgent, 4 the least."""
    word = (priority or "").casefold().replace("priority", "").strip().strip(" _-")
    return next((rank for rank, of in enumerate(_PRIORITIES) if word in of), UNKNOWN_PRIORITY)


def waiting_since(task: Task) -> float | None:
    """Since when a task waits for a person, seconds since 1970; None if the platform didn't say."""
    moment = task.waiting_since or task.created
    return None if moment is None else moment.at


def waits_for_person(task: Task) -> bool:
    """Whether a task of the pending list really waits.

    A platform may ignore the status filter, so a task that says it is past waiting is left out;
    one that says nothing, or a word we don't know, is believed to be where the platform listed it.
    """
    if task.needs_approval is not None:
        return task.needs_approval
    return task.state in (None, TaskState.PENDING, TaskState.QUEUED, TaskState.OTHER)


def task_level(task: Task, now: float, limits: AlertLimits) -> Level:
    """How badly a waiting task needs its person: by its wait, sooner if it is urgent."""
    since, is_urgent = waiting_since(task), priority_rank(task.priority) == 0
    if since is None:
        return Level.WARNING if is_urgent else Level.UNKNOWN
    waited = now - since
    is_late = waited >= limits.waiting_warning
    if waited >= limits.waiting_critical or (is_urgent and is_late):
        return Level.CRITICAL
    return Level.WARNING if is_urgent or is_late else Level.OK


def budget_level(budget: Budget, limits: AlertLimits) -> Level:
    """How badly a budget needs a person: by its share, and by the platform's own warning point."""
    if budget.unlimited:
        return Level.OK
    if budget.share is None:
        return Level.UNKNOWN
    percent = budget.share * 100
    if percent >= limits.critical_percent:
        return Level.CRITICAL
    warn_at = limits.warn_percent
    if budget.warn_at is not None:
        warn_at = min(warn_at, budget.warn_at * 100)
    return Level.WARNING if percent >= warn_at else Level.OK


def period_passed(budget: Budget, now: float) -> float | None:
    """How much of a budget's period is over, 0 to 1; None if its start or end isn't known."""
    if budget.resets is None:
        return None
    end, start = budget.resets.at, budget.period_start.at if budget.period_start else None
    if start is None and (budget.period or "").casefold() in _MONTHLY:
        try:
            last = datetime.fromtimestamp(end, UTC)
            month = (last.replace(day=1) - timedelta(1)).replace(day=1)
            start = month.replace(day=last.day).timestamp()
        except (ValueError, OverflowError, OSError):  # a month without that day
            return None
    if start is None or not start <= now <= end or start == end:
        return None
    return (now - start) / (end - start)


def is_failing(agent: Agent) -> bool:
    return agent.state is AgentState.ERROR


def is_open(alert: Alert) -> bool:
    """Whether an alert still stands; one that doesn't say is taken to stand."""
    return alert.open is not False


def alert_level(alert: Alert, limits: AlertLimits) -> Level:
    """How bad an alert is: by its severity, else its share; being an alert, at least a warning."""
    if not is_open(alert) or alert.severity is Severity.INFO:
        return Level.OK
    is_over = alert.share is not None and alert.share * 100 >= limits.critical_percent
    if alert.severity is Severity.CRITICAL or (alert.severity is Severity.UNKNOWN and is_over):
        return Level.CRITICAL
    return Level.WARNING


class NeedKind(StrEnum):
    BUDGET = "budget"
    TASK = "task"
    ALERT = "alert"
    AGENT = "agent"


class Need(msgspec.Struct, frozen=True):
    """One thing that needs a person, with the record that shows it."""

    level: Level
    kind: NeedKind
    record: Task | Budget | Alert | Agent
    rank: tuple[float, ...]  # order among the needs of one level: smaller first
    alike: tuple[Task, ...] = ()  # all that it stands for, where several tasks are alike

    @property
    def key(self) -> str:
        """Stays the same while the need does."""
        scope = f":{self.record.scope}" if isinstance(self.record, Budget) else ""
        return f"{self.kind}{scope}:{self.record.id}"


def needs(
    *,
    tasks: Iterable[Need],
    budgets: Iterable[Budget],
    alerts: Iterable[Alert],
    agents: Iterable[Agent],
    limits: AlertLimits,
) -> list[Need]:
    """Everything that needs a person, the worst first; the needs of `tasks` as `queue` finds them.

    Within a level: money that stops a whole company, then urgent and high tasks, then single
    agents out of money, then the other tasks by how long they wait, then the rest. An alert about
    a budget that is itself in need raises that need's level and is not told twice.
    """
    found: list[Need] = []
    by_subject: dict[tuple[str, str], int] = {}
    for budget in budgets:
        level = budget_level(budget, limits)
        if level >= Level.WARNING:
            is_single = budget.scope is BudgetScope.AGENT
            of = "" if budget.scope is BudgetScope.ALL else budget.id
            by_subject[budget.scope, of] = len(found)
            rank = (2.0 if is_single else 0.0, -float(budget.share or 0))
            found.append(Need(level, NeedKind.BUDGET, budget, rank))
    for alert in alerts:
        level = alert_level(alert, limits)
        if level < Level.WARNING:
            continue
        subject = (BudgetScope.ALL, "")
        if (about := alert.agent or alert.company) is not None:
            scope = BudgetScope.COMPANY if alert.agent is None else BudgetScope.AGENT
            subject = (scope, about.id or about.name or "")
        place = by_subject.get(subject)
        if place is None:
            at = 0.0 if alert.at is None else alert.at.at
            found.append(Need(level, NeedKind.ALERT, alert, (2.5, -at)))
        elif level > found[place].level:
            found[place] = replace(found[place], level=level)
    found += tasks
    found += (
        Need(Level.WARNING, NeedKind.AGENT, agent, (4.0,)) for agent in filter(is_failing, agents)
    )
    return sorted(found, key=_order)


def _order(need: Need) -> tuple[int, tuple[float, ...], str]:
    return -need.level, need.rank, need.record.id


def grouped(found: Iterable[Need], apart: Collection[str]) -> list[Need]:
    """Tasks of one title and level as one need, in the place of the worst of them; but for those
    of the ids `apart`, and those that share an id.
    """
    groups: dict[object, list[Need]] = {}
    for need in found:
        task, alike = need.record, None
        if isinstance(task, Task) and not task.shared_id and task.id not in apart:
            alike = need.level, task.title
        groups.setdefault(alike or need.key, []).append(need)
    return [
        replace(group[0], alike=tuple(n.record for n in group if isinstance(n.record, Task)))
        if len(group) > 1
        else group[0]
        for group in groups.values()
    ]


def _task_rank(task: Task, now: float) -> tuple[float, ...]:
    """Among the needs of a level: high and urgent ones early, then by how long they wait."""
    rank, since = priority_rank(task.priority), waiting_since(task)
    first = (1.0, rank) if rank <= 1 else (3.0, 2.0)
    return (*first, 0.0 if since is None else since - now)


def in_scope(company: Ref | None, scope: str | None) -> bool:
    """Whether something of that company belongs to the scope; what names none is not hidden."""
    return scope is None or company is None or company.id is None or company.id == scope


class Queue(msgspec.Struct):
    """What waits for a person: how much of it, and its worst."""

    count: int = 0
    oldest: float | None = None  # seconds since 1970; None if no task says since when it waits
    levels: Counter[Level] = msgspec.field(default_factory=Counter)  # from a warning on
    held: Counter[str | None] = msgspec.field(default_factory=Counter)  # by the agent's id
    worst: list[Need] = []


def queue(
    pending: Iterable[Task], now: float, limits: AlertLimits, most: int
) -> Generator[None, None, Queue]:
    """What waits, with the `most` tasks that come first, in the order of `needs`; pauses often."""
    rest, found, kept = iter(pending), Queue(), list[Need]()
    last: tuple[float, ...] | None = None
    while chunk := list(islice(rest, _CHUNK)):
        for task in filter(waits_for_person, chunk):
            found.count += 1
            since = waiting_since(task)
            if since is not None and (found.oldest is None or since < found.oldest):
                found.oldest = since
            if task.agent is not None:
                found.held[task.agent.id] += 1
            level = task_level(task, now, limits)
            if level >= Level.WARNING:
                found.levels[level] += 1
                rank = _task_rank(task, now)
                # What comes after the last of those kept can't be among the first.
                if last is None or (-level, *rank) <= last:
                    kept.append(Need(level, NeedKind.TASK, task, rank))
        if len(kept) > 2 * most:
            kept = sorted(kept, key=_order)[:most]
            last = (-kept[-1].level, *kept[-1].rank)
        yield
    found.worst = sorted(kept, key=_order)[:most]
    return found
