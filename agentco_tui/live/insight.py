"""What needs a person, and how badly: pure functions from records to findings.

Used by the Overview, by the signs in every table and by `agentco-tui status`, so that they agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from decimal import Decimal
from enum import IntEnum, StrEnum
from functools import lru_cache
from itertools import islice
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change, Names, Store
from agentco_tui.model import (
    Agent,
    AgentState,
    Alert,
    Budget,
    BudgetScope,
    Ref,
    Severity,
    Task,
    TaskState,
)

T = TypeVar("T")

_CHUNK = 250  # records between two pauses


class Level(IntEnum):
    """How badly a person is needed; higher is worse."""

    OK = 0
    UNKNOWN = 1
    WARNING = 2
    CRITICAL = 3


class Thresholds(Protocol):
    """From where on things need a person; the settings' `[alerts]`."""

    @property
    def warn_percent(self) -> Decimal: ...
    @property
    def critical_percent(self) -> Decimal: ...
    @property
    def waiting_warning(self) -> float: ...  # seconds that a task waits for its person
    @property
    def waiting_critical(self) -> float: ...


_PRIORITIES = (
    ("urgent", "critical", "highest", "blocker", "p0", "immediate", "emergency"),
    ("high", "p1", "major", "important"),
    ("medium", "normal", "default", "moderate", "p2", "standard"),
    ("low", "minor", "p3"),
    ("lowest", "trivial", "p4", "none", "background"),
)


@lru_cache(maxsize=256)
def priority_rank(priority: str | None) -> float:
    """Where a priority word stands: 0 is the most urgent, 4 the least."""
    word = (priority or "").casefold().replace("priority", "").strip().strip(" _-")
    # An unknown word is neither hidden at the end nor pushed to the front.
    return next((rank for rank, of in enumerate(_PRIORITIES) if word in of), 2.5)


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


def task_level(task: Task, now: float, limits: Thresholds) -> Level:
    """How badly a waiting task needs its person: by its wait, sooner if it is urgent."""
    since, is_urgent = task.waiting_since or task.created, priority_rank(task.priority) == 0
    if since is None:
        return Level.WARNING if is_urgent else Level.UNKNOWN
    waited = now - since.at
    is_late = waited >= limits.waiting_warning
    if waited >= limits.waiting_critical or (is_urgent and is_late):
        return Level.CRITICAL
    return Level.WARNING if is_urgent or is_late else Level.OK


def budget_level(budget: Budget, limits: Thresholds) -> Level:
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


def is_failing(agent: Agent) -> bool:
    return agent.state is AgentState.ERROR


def is_open(alert: Alert) -> bool:
    """Whether an alert still stands; one that doesn't say is taken to stand."""
    return alert.open is not False


def alert_level(alert: Alert, limits: Thresholds) -> Level:
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

    @property
    def key(self) -> str:
        """Stays the same while the need does."""
        scope = f":{self.record.scope}" if isinstance(self.record, Budget) else ""
        return f"{self.kind}{scope}:{self.record.id}"


def needs(
    *,
    pending: Iterable[Task],
    budgets: Iterable[Budget],
    alerts: Iterable[Alert],
    agents: Iterable[Agent],
    now: float,
    limits: Thresholds,
) -> list[Need]:
    """Everything that needs a person, the worst first.

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
    for task in pending:
        level = task_level(task, now, limits)
        if level >= Level.WARNING and waits_for_person(task):
            found.append(Need(level, NeedKind.TASK, task, _task_rank(task, now)))
    found += (
        Need(Level.WARNING, NeedKind.AGENT, agent, (4.0,)) for agent in filter(is_failing, agents)
    )
    found.sort(key=lambda need: (-need.level, need.rank, need.key))
    return found


def _task_rank(task: Task, now: float) -> tuple[float, ...]:
    """Among the needs of a level: high and urgent ones early, then by how long they wait."""
    rank = priority_rank(task.priority)
    since = task.waiting_since or task.created
    first = (1.0, rank) if rank <= 1 else (3.0, 2.0)
    return (*first, 0.0 if since is None else since.at - now)


def in_scope(company: Ref | None, scope: str | None) -> bool:
    """Whether something of that company belongs to the scope; what names none is not hidden."""
    return scope is None or company is None or company.id is None or company.id == scope


def worst_tasks(
    pending: Iterable[Task], now: float, limits: Thresholds, most: int
) -> Generator[None, None, tuple[list[Task], Counter[Level]]]:
    """The `most` tasks that come first, in the order of `needs`, and how many there are of each
    level from a warning on; pauses often.
    """
    rest = iter(pending)
    kept: list[tuple[tuple[float, ...], str, Task]] = []
    last: tuple[float, ...] | None = None
    counted: Counter[Level] = Counter()
    while chunk := list(islice(rest, _CHUNK)):
        for task in chunk:
            level = task_level(task, now, limits)
            if level >= Level.WARNING and waits_for_person(task):
                counted[level] += 1
                place = (-level, *_task_rank(task, now))
                # What comes after the last of those kept can't be among the first.
                if last is None or place <= last:
                    kept.append((place, task.id, task))
        if len(kept) > 2 * most:
            kept.sort()
            del kept[most:]
            last = kept[-1][0]
        yield
    kept.sort()
    return [task for *_, task in kept[:most]], counted


def picked(records: Iterable[T], wanted: Callable[[T], bool]) -> Generator[None, None, list[T]]:
    """Those that are wanted, in their order; pauses often."""
    rest = iter(records)
    found: list[T] = []
    while chunk := list(islice(rest, _CHUNK)):
        found += filter(wanted, chunk)
        yield
    return found


class Queue(msgspec.Struct, frozen=True):
    """What waits; `oldest` is seconds since 1970, None if no task says since when it waits."""

    count: int
    oldest: float | None


class Waiting:
    """Counts the pending tasks and the alerts of a scope, again only when they or the agents, from
    whom they may take their company, have changed. Of a queue counted once only what a change names
    is looked at: looking at a hundred thousand tasks holds everything else up for 30 ms.
    """

    def __init__(self, store: Store, names: Names, limits: Thresholds) -> None:
        self._store = store
        self._names = names
        self._limits = limits
        self._counted_for: tuple[object, object, str | None] | None = None
        self._not_waiting: set[str] = set()  # listed, but past waiting or not of the scope
        self._oldest: tuple[float, str] | None = None  # since when the oldest waits, and its id
        self._alerts_for: tuple[object, ...] = ()
        self._alerts = (0, 0)
        store.subscribe(self._take)

    def of(self, scope: str | None) -> Queue:
        """The queue of a company, or of all."""
        pending = self._store.pending
        # A task may take its company from its agent.
        agents = None if scope is None else self._store.agents.version
        if self._counted_for != (pending.version, agents, scope):
            self._not_waiting.clear()
            self._oldest = None
            self._look_at(pending, scope)
            self._counted_for = (pending.version, agents, scope)
        oldest = None if self._oldest is None else self._oldest[0]
        return Queue(len(pending) - len(self._not_waiting), oldest)

    def open_alerts(self, scope: str | None) -> tuple[int, int]:
        """How many alerts of the scope are critical, and how many are warnings."""
        alerts = self._store.alerts
        wanted = (alerts.version, scope and self._store.agents.version, scope)
        if self._alerts_for != wanted:
            company_of = self._names.company_of
            ours = [alert for alert in alerts if in_scope(company_of(alert), scope)]
            levels = [alert_level(alert, self._limits) for alert in ours]
            self._alerts = levels.count(Level.CRITICAL), levels.count(Level.WARNING)
            self._alerts_for = wanted
        return self._alerts

    def _take(self, change: Change) -> None:
        """Count on from what is known; every change of the queue is published."""
        if change.feed is not FeedName.PENDING or self._counted_for is None:
            return
        gone = {*change.removed, *change.changed}
        if self._oldest is not None and self._oldest[1] in gone:
            self._counted_for = None  # the next oldest is found by looking at all
            return
        _, agents, scope = self._counted_for
        self._not_waiting -= gone
        pending = self._store.pending
        known = map(pending.get, (*change.added, *change.changed))
        self._look_at(filter(None, known), scope)
        self._counted_for = (pending.version, agents, scope)

    def _look_at(self, tasks: Iterable[Task], scope: str | None) -> None:
        company_of = self._names.company_of
        for task in tasks:
            # The first test says the same as the second, and faster, of nearly all tasks.
            plainly = task.state is TaskState.PENDING and task.needs_approval is None
            waits = plainly or waits_for_person(task)
            if not waits or (scope is not None and not in_scope(company_of(task), scope)):
                self._not_waiting.add(task.id)
                continue
            since = task.waiting_since or task.created
            if since is not None and (self._oldest is None or since.at < self._oldest[0]):
                self._oldest = (since.at, task.id)
