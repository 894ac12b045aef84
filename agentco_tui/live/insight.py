"""What needs a person, and how badly: pure functions from records to findings.

Used by the Overview, by the signs in every table and by `agentco-tui status`, so that they agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum, StrEnum
from itertools import islice
from math import inf
from typing import Protocol, TypeVar

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.names import Names
from agentco_tui.live.store import Change, Store
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

_CHUNK = 250
"""Records between two pauses."""


class Level(IntEnum):
    """How badly a person is needed; higher is worse."""

    OK = 0
    UNKNOWN = 1
    """The platform did not send what would tell."""
    WARNING = 2
    CRITICAL = 3


class Thresholds(Protocol):
    """From where on things need a person; the settings' `[alerts]`."""

    @property
    def warn_percent(self) -> float | Decimal:
        """Share of a budget, in per cent."""

    @property
    def critical_percent(self) -> float | Decimal:
        """Share of a budget, in per cent."""

    @property
    def waiting_warning(self) -> float:
        """Seconds a task waits for its person."""

    @property
    def waiting_critical(self) -> float:
        """Seconds a task waits for its person."""


PRIORITY_RANKS: Mapping[str, int] = {
    word: rank
    for rank, words in enumerate(
        (
            ("urgent", "critical", "highest", "blocker", "p0", "immediate", "emergency"),
            ("high", "p1", "major", "important"),
            ("medium", "normal", "default", "moderate", "p2", "standard"),
            ("low", "minor", "p3"),
            ("lowest", "trivial", "p4", "none", "background"),
        )
    )
    for word in words
}
UNKNOWN_PRIORITY = 2.5
"""An unknown word is neither hidden at the end nor pushed to the front."""


def priority_rank(priority: str | None) -> float:
    """Where a priority word stands: 0 is the most urgent, 4 the least."""
    if priority is None:
        return UNKNOWN_PRIORITY
    word = priority.casefold().strip().replace("priority", "").strip(" _-")
    return PRIORITY_RANKS.get(word, UNKNOWN_PRIORITY)


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
    return task_levels(now, limits)(task)


def task_levels(now: float, limits: Thresholds) -> Callable[[Task], Level]:
    """The same for many tasks, with what they share worked out once."""
    warning, critical = limits.waiting_warning, limits.waiting_critical
    urgent: dict[str | None, bool] = {}

    def level(task: Task) -> Level:
        priority = task.priority
        is_urgent = urgent.get(priority)
        if is_urgent is None:
            is_urgent = urgent[priority] = priority_rank(priority) == 0
        since = task.waiting_since or task.created
        if since is None:
            return Level.WARNING if is_urgent else Level.UNKNOWN
        waited = now - since.at
        if waited >= critical or (is_urgent and waited >= warning):
            return Level.CRITICAL
        return Level.WARNING if waited >= warning or is_urgent else Level.OK

    return level


def budget_level(budget: Budget, limits: Thresholds) -> Level:
    """How badly a budget needs a person: by its share, and by the platform's own warning point."""
    return budget_levels(limits)(budget)


def budget_levels(limits: Thresholds) -> Callable[[Budget], Level]:
    """The same for many budgets."""
    critical = Decimal(str(limits.critical_percent))
    warning = Decimal(str(limits.warn_percent))

    def level(budget: Budget) -> Level:
        if budget.unlimited:
            return Level.OK
        if budget.share is None:
            return Level.UNKNOWN
        percent = budget.share * 100
        if percent >= critical:
            return Level.CRITICAL
        warn_at = warning if budget.warn_at is None else min(warning, budget.warn_at * 100)
        return Level.WARNING if percent >= warn_at else Level.OK

    return level


def is_failing(agent: Agent) -> bool:
    """Whether an agent by itself needs a person."""
    return agent.state is AgentState.ERROR


def is_open(alert: Alert) -> bool:
    """Whether an alert still stands; one that doesn't say is taken to stand."""
    return alert.open is not False


def alert_level(alert: Alert, limits: Thresholds) -> Level:
    """How bad an alert is: by its severity, else its share; being an alert, at least a warning."""
    if not is_open(alert):
        return Level.OK
    match alert.severity:
        case Severity.CRITICAL:
            return Level.CRITICAL
        case Severity.INFO:
            return Level.OK
        case Severity.WARNING:
            return Level.WARNING
        case Severity.UNKNOWN:
            critical = Decimal(str(limits.critical_percent))
            over = alert.share is not None and alert.share * 100 >= critical
            return Level.CRITICAL if over else Level.WARNING


class NeedKind(StrEnum):
    """What sort of thing needs a person."""

    BUDGET = "budget"
    TASK = "task"
    ALERT = "alert"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that needs a person, with the record that shows it."""

    level: Level
    kind: NeedKind
    record: Task | Budget | Alert | Agent
    rank: tuple[float, ...]
    """Order among the needs of one level: smaller first."""

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
    level_of_budget = budget_levels(limits)
    for budget in budgets:
        level = level_of_budget(budget)
        if level >= Level.WARNING:
            by_subject[subject_of_budget(budget)] = len(found)
            found.append(Need(level, NeedKind.BUDGET, budget, budget_rank(budget)))
    for alert in alerts:
        level = alert_level(alert, limits)
        if level < Level.WARNING:
            continue
        place = by_subject.get(subject_of_alert(alert))
        if place is None:
            at = 0.0 if alert.at is None else alert.at.at
            found.append(Need(level, NeedKind.ALERT, alert, (2.5, -at)))
        elif level > found[place].level:
            known = found[place]
            found[place] = Need(level, known.kind, known.record, known.rank)
    level_of_task = task_levels(now, limits)
    for task in pending:
        level = level_of_task(task)
        if waits_for_person(task) and level >= Level.WARNING:
            found.append(Need(level, NeedKind.TASK, task, task_rank(task, now)))
    for agent in agents:
        if is_failing(agent):
            found.append(Need(Level.WARNING, NeedKind.AGENT, agent, (4.0,)))
    found.sort(key=lambda need: (-need.level, need.rank, need.key))
    return found


def task_rank(task: Task, now: float) -> tuple[float, ...]:
    """Among the needs of a level: high and urgent ones early, then by how long they wait."""
    rank = priority_rank(task.priority)
    since = waiting_since(task)
    waited = 0.0 if since is None else now - since
    return (1.0 if rank <= 1 else 3.0, rank if rank <= 1 else 2.0, -waited)


def budget_rank(budget: Budget) -> tuple[float, ...]:
    """Among the needs of a level: the whole and companies first, single agents later."""
    share = -float(budget.share or 0)
    return (2.0 if budget.scope is BudgetScope.AGENT else 0.0, share)


def subject_of_budget(budget: Budget) -> tuple[str, str]:
    """What a budget is for, comparable with `subject_of_alert`."""
    return (budget.scope, "" if budget.scope is BudgetScope.ALL else budget.id)


def subject_of_alert(alert: Alert) -> tuple[str, str]:
    """What an alert is about: an agent, else a company, else the whole."""
    if alert.agent is not None:
        return (BudgetScope.AGENT, alert.agent.id or alert.agent.name or "")
    if alert.company is not None:
        return (BudgetScope.COMPANY, alert.company.id or alert.company.name or "")
    return (BudgetScope.ALL, "")


def in_scope(company: Ref | None, scope: str | None) -> bool:
    """Whether something of that company belongs to the scope; what names none is not hidden."""
    return scope is None or company is None or company.id is None or company.id == scope


@dataclass(frozen=True, slots=True)
class Worst:
    """What was found."""

    tasks: tuple[Task, ...]
    """The worst, in no order."""
    critical: int = 0
    warning: int = 0


def worst_tasks(
    pending: Iterable[Task], now: float, limits: Thresholds, most: int
) -> Generator[None, None, Worst]:
    """The `most` tasks that come first, and how many there are of each level; pauses often."""
    rest = iter(pending)
    kept: list[tuple[tuple[float, ...], str, Task]] = []
    last: tuple[float, ...] | None = None
    critical = warning = 0
    ranks: dict[str | None, float] = {}
    level_of = task_levels(now, limits)
    while chunk := list(islice(rest, _CHUNK)):
        for task in chunk:
            level = level_of(task)
            if level < Level.WARNING or not waits_for_person(task):
                continue
            if level is Level.CRITICAL:
                critical += 1
            else:
                warning += 1
            rank = ranks.get(task.priority)
            if rank is None:
                rank = ranks[task.priority] = priority_rank(task.priority)
            at = task.waiting_since or task.created
            since = now if at is None else at.at
            first = (1.0, rank) if rank <= 1 else (3.0, 2.0)
            place = (-level, *first, since)
            if last is None or place <= last:
                kept.append((place, task.id, task))
        if len(kept) > 2 * most:
            kept.sort()
            del kept[most:]
            # What comes after the last of these can't be among the first.
            last = kept[-1][0]
        yield
    kept.sort()
    return Worst(tuple(task for *_, task in kept[:most]), critical, warning)


def picked(records: Iterable[T], wanted: Callable[[T], bool]) -> Generator[None, None, list[T]]:
    """Those that are wanted, in their order; pauses often."""
    rest = iter(records)
    found: list[T] = []
    while chunk := list(islice(rest, _CHUNK)):
        found += filter(wanted, chunk)
        yield
    return found


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits; `oldest` is seconds since 1970, None if no task says since when it waits."""

    count: int
    oldest: float | None


class Waiting:
    """Counts the pending tasks and the alerts of a scope, again only when they have changed, or
    the agents, from whom they may take their company.

    Of a queue counted once only what a change names is looked at, for looking at a hundred
    thousand tasks holds everything else up for some thirty milliseconds.
    """

    def __init__(self, store: Store, names: Names, limits: Thresholds) -> None:
        self._store = store
        self._names = names
        self._limits = limits
        self._counted_for: tuple[object, object, str | None] | None = None
        self._not_waiting: set[str] = set()
        """Listed, but past waiting or not of the scope: usually none."""
        self._oldest: Task | None = None
        self._alerts_of: tuple[object, object, str | None] | None = None
        self._alerts = (0, 0)
        self._states: tuple[object, Counter[AgentState | None]] = (None, Counter())
        store.subscribe(self._take)

    def of(self, scope: str | None) -> Queue:
        """The queue of a company, or of all."""
        pending = self._store.pending
        # A task may take its company from its agent.
        agents = self._store.agents.version if scope is not None else None
        wanted = (pending.version, agents, scope)
        if self._counted_for != wanted:
            self._not_waiting.clear()
            self._oldest = None
            self._look_at(pending, scope)
            self._counted_for = wanted
        oldest = None if self._oldest is None else waiting_since(self._oldest)
        return Queue(len(pending) - len(self._not_waiting), oldest)

    def open_alerts(self, scope: str | None) -> tuple[int, int]:
        """How many alerts of the scope are critical, and how many are warnings."""
        store = self._store
        # The company of an alert may be that of its agent.
        agents = store.agents.version if scope is not None else None
        wanted = (store.alerts.version, agents, scope)
        if self._alerts_of != wanted:
            company_of = self._names.company_of
            levels = [
                alert_level(alert, self._limits)
                for alert in store.alerts
                if in_scope(company_of(alert), scope)
            ]
            self._alerts = levels.count(Level.CRITICAL), levels.count(Level.WARNING)
            self._alerts_of = wanted
        return self._alerts

    def agent_states(self) -> Counter[AgentState | None]:
        """How many agents are in each state."""
        version = self._store.agents.version
        if self._states[0] != version:
            self._states = version, Counter(agent.state for agent in self._store.agents)
        return self._states[1]

    def _take(self, change: Change) -> None:
        """Count on from what is known; every change of the queue is published."""
        if change.feed is not FeedName.PENDING or self._counted_for is None:
            return
        pending = self._store.pending
        _, agents, scope = self._counted_for
        gone = {*change.removed, *change.changed}
        if self._oldest is not None and self._oldest.id in gone:
            # The next oldest is found by looking at all.
            self._counted_for = None
            return
        self._not_waiting -= gone
        known = (pending.get(task_id) for task_id in (*change.added, *change.changed))
        self._look_at((task for task in known if task is not None), scope)
        self._counted_for = (pending.version, agents, scope)

    def _look_at(self, tasks: Iterable[Task], scope: str | None) -> None:
        company_of = self._names.company_of
        pending, not_waiting, oldest = TaskState.PENDING, self._not_waiting, self._oldest
        least = inf if oldest is None else waiting_since(oldest) or 0.0
        for task in tasks:
            # The first test says the same as the second, and faster, of nearly all tasks.
            waits = (task.state is pending and task.needs_approval is None) or waits_for_person(
                task
            )
            if not waits or (scope is not None and not in_scope(company_of(task), scope)):
                not_waiting.add(task.id)
                continue
            moment = task.waiting_since or task.created
            if moment is not None and moment.at < least:
                oldest, least = task, moment.at
        self._oldest = oldest
