"""What needs a person: everything that does, the worst first, and what waits in the queue.

Used by the Overview, the header, `agentco-tui status` and all else that tells it, so that they
agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable
from enum import StrEnum
from itertools import islice

import msgspec
from msgspec.structs import replace

from agentco_tui.live.insight import (
    Level,
    alert_level,
    budget_level,
    is_failing,
    priority_rank,
    task_level,
    waiting_since,
    waits_for_person,
)
from agentco_tui.live.snooze import Snooze
from agentco_tui.model import Agent, Alert, AlertLimits, Budget, BudgetScope, Task

_CHUNK = 250  # records between two pauses


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
    snooze: Snooze | None = None  # it is put off

    @property
    def key(self) -> str:
        """Stays the same while the need does."""
        scope = f":{self.record.scope}" if isinstance(self.record, Budget) else ""
        return f"{self.kind}{scope}:{self.record.id}"

    @property
    def keys(self) -> list[str]:
        """Of all that it stands for: each is snoozed by itself."""
        return [f"{self.kind}:{task.id}" for task in self.alike] or [self.key]


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
            alike = need.level, task.title, need.snooze
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
