"""What a person is told of a set of tasks before saying yes to all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from agentco_tui.api.records import Task
from agentco_tui.format import money
from agentco_tui.live.insight import waiting_since
from agentco_tui.live.names import Names
from agentco_tui.text import SafeText, plain, signs

TYPED_FROM = 11
"""From so many tasks on the number must be typed."""
MOST = Decimal("0.75")
"""A share of the set that must agree before the others count as unlike it."""
SMALLEST_SET = 4
"""In fewer nothing stands out."""
DEARER = 5
"""So many times the usual cost stands out."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many tasks of the set belong to somebody."""

    name: SafeText
    count: int


@dataclass(frozen=True, slots=True)
class Unlike:
    """A task that differs from most of the set, and in what."""

    task: Task
    reasons: tuple[SafeText, ...]
    """Such as: priority urgent, most are low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A set of tasks at a glance."""

    count: int
    by_company: tuple[Share, ...]
    """The largest share first."""
    by_agent: tuple[Share, ...]
    by_priority: tuple[Share, ...]
    oldest: Task | None
    """The one that waits longest, of those that say since when."""
    unlike: tuple[Unlike, ...]
    not_read: tuple[Task, ...]
    """Those whose details or trace nobody has opened."""

    @property
    def number_to_type(self) -> int | None:
        """The number a person must type; None for a set small enough to be seen."""
        return self.count if self.count >= TYPED_FROM else None


def summary(tasks: Sequence[Task], not_read: Collection[str], names: Names) -> Summary:
    """Sum up a set. `not_read` holds the ids of those that were never opened."""
    return Summary(
        count=len(tasks),
        by_company=_shares(tasks, lambda task: names.company(names.company_of(task))),
        by_agent=_shares(tasks, lambda task: names.agent(task.agent)),
        by_priority=_shares(tasks, lambda task: task.priority or signs.missing),
        oldest=min(
            (task for task in tasks if waiting_since(task) is not None),
            key=lambda task: waiting_since(task) or 0.0,
            default=None,
        ),
        unlike=_unlike(tasks, names),
        not_read=tuple(task for task in tasks if task.id in not_read),
    )


def _shares(tasks: Sequence[Task], name: Callable[[Task], SafeText]) -> tuple[Share, ...]:
    return tuple(Share(who, count) for who, count in Counter(map(name, tasks)).most_common())


def _unlike(tasks: Sequence[Task], names: Names) -> tuple[Unlike, ...]:
    if len(tasks) < SMALLEST_SET:
        return ()
    reasons: dict[str, list[SafeText]] = {}
    aspects: tuple[tuple[str, Callable[[Task], SafeText]], ...] = (
        ("priority", lambda task: task.priority or signs.missing),
        ("company", lambda task: names.company(names.company_of(task))),
        ("agent", lambda task: names.agent(task.agent)),
        ("status", lambda task: task.status or signs.missing),
    )
    for aspect, value in aspects:
        values = {task.id: value(task) for task in tasks}
        usual, count = Counter(values.values()).most_common(1)[0]
        if count < MOST * len(tasks):
            continue
        for task_id, its in values.items():
            if its != usual:
                reasons.setdefault(task_id, []).append(plain(f"{aspect} {its}, most are {usual}"))
    for task_id, reason in _dear(tasks):
        reasons.setdefault(task_id, []).append(reason)
    return tuple(Unlike(task, tuple(reasons[task.id])) for task in tasks if task.id in reasons)


def _dear(tasks: Sequence[Task]) -> list[tuple[str, SafeText]]:
    """Those that cost many times what is usual in the set."""
    costs = {task.id: task.cost for task in tasks if task.cost is not None}
    if len(costs) < SMALLEST_SET or len({cost.currency for cost in costs.values()}) > 1:
        return []
    usual = median(cost.amount for cost in costs.values())
    return [
        (task_id, plain(f"costs {money(cost)}, more than {DEARER} times the usual"))
        for task_id, cost in costs.items()
        if usual > 0 and cost.amount > DEARER * usual
    ]
