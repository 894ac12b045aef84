"""Summarises a set of tasks for the question before all of them are approved.

AI agents on the platform (the remote service) ask the user to approve their tasks; a set is the
tasks that the user has marked to approve together. This module sorts the tasks for review, adds up
their costs, names what is unusual about each, and excludes tasks that can't be approved together
with the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import IntEnum
from statistics import median
from typing import Final

import msgspec

from agentco_tui.live.insight import priority_rank, waiting_since, waits_for_person
from agentco_tui.live.names import Names
from agentco_tui.model import Money, Task, extra_fields
from agentco_tui.model.format import money
from agentco_tui.text import SafeText, clean_line, mark_safe, signs

USUAL_SHARE: Final = Decimal("0.75")
"""The share of a set that must agree on a value before the other values count as unusual."""
SMALLEST_SET: Final = 4  # tasks; in a smaller set, nothing is unusual
EXPENSIVE: Final = 5  # times the median cost
TYPE_FIELDS: Final = ("type", "kind", "tasktype", "approvaltype", "requesttype", "actiontype")
"""Fields that tell what type of decision a task without a kind wants, by their folded names."""
PAYLOAD_TYPE_FIELDS: Final = ("type", "kind", "action")
"""The same inside a task's payload, if the task itself has none of them."""


class Familiarity(IntEnum):
    """How well the user knows a task; the least known first."""

    CHANGED = 0  # the user opened it, and it has changed since
    UNREAD = 1  # the user has not opened it
    READ = 2


class ListedTask(msgspec.Struct, frozen=True):
    """A task of a set, as the question about the set lists it."""

    task: Task
    familiarity: Familiarity
    unusual: Sequence[SafeText]
    """How it differs from most of the set, such as: priority urgent, most are low."""


class Excluded(msgspec.Struct, frozen=True):
    """A task that was marked, but can't be approved with the set."""

    task: Task
    reason: SafeText


def list_for_review(
    tasks: Sequence[Task], names: Names, read: Mapping[str, bytes]
) -> list[ListedTask]:
    """Return all tasks of a set: those that the user knows least first; among them the most
    unusual, then the most urgent, the most expensive, and those that wait longest.

    `read` has the digests of tasks (`Task.content`), by id, as the user read them.
    """
    unusual = _unusual_values(tasks, names)
    listed = [
        ListedTask(task, _familiarity_of(task, read), unusual.get(task.id, [])) for task in tasks
    ]
    return sorted(listed, key=_review_order)


def _familiarity_of(task: Task, read: Mapping[str, bytes]) -> Familiarity:
    if task.id not in read:
        return Familiarity.UNREAD
    if read[task.id] == task.content:
        return Familiarity.READ
    return Familiarity.CHANGED


def _review_order(listed: ListedTask) -> tuple[float, ...]:
    task = listed.task
    cost = float(task.cost.amount) if task.cost is not None else 0.0
    since = waiting_since(task)
    return (
        listed.familiarity,
        -len(listed.unusual),
        priority_rank(task.priority),
        -cost,
        float("inf") if since is None else since,
    )


def total_costs(tasks: Iterable[Task]) -> list[Money]:
    """Return the sum of the tasks' costs for each currency, the largest first."""
    return sum_by_currency(task.cost for task in tasks if task.cost is not None)


def sum_by_currency(costs: Iterable[Money]) -> list[Money]:
    """Return the sum for each currency, the largest first."""
    sums: dict[SafeText | None, Decimal] = defaultdict(Decimal)
    for cost in costs:
        sums[cost.currency] += cost.amount
    totals = [Money(amount, currency) for currency, amount in sums.items()]
    return sorted(totals, key=lambda total: -total.amount)


def split_by_type(tasks: Sequence[Task]) -> tuple[list[Task], list[Excluded]]:
    """Return the tasks that may be approved together, and the others with the reason.

    Excluded are those that can't be approved here, and of the others all whose type is not the one
    that most have: a decision about one type of task is none about another.
    """
    excluded: list[Excluded] = []
    typed: list[tuple[Task, SafeText | None]] = []
    for task in tasks:
        reason = _why_not_approvable(task)
        if reason is not None:
            excluded.append(Excluded(task, reason))
        else:
            typed.append((task, type_of(task)))
    if not typed:
        return [], excluded
    usual = Counter(task_type for _, task_type in typed).most_common(1)[0][0]
    chosen: list[Task] = []
    for task, task_type in typed:
        if task_type == usual:
            chosen.append(task)
            continue
        words = f"{_type_words(task_type)}, the set has {_type_words(usual)}: approve it by itself"
        excluded.append(Excluded(task, mark_safe(words)))
    return chosen, excluded


def _type_words(task_type: SafeText | None) -> str:
    return f"type {task_type}" if task_type else "no type"


def type_of(task: Task) -> SafeText | None:
    """Return the platform's word for the type of decision a task wants; None if it has none."""
    if task.kind is not None:
        return clean_line(task.kind.casefold(), 60)
    fields = extra_fields(task.extra)
    own = _first_text(fields, TYPE_FIELDS)
    if own is not None:
        return own
    return _first_text(fields.get("payload"), PAYLOAD_TYPE_FIELDS)


def _first_text(fields: object, names: Sequence[str]) -> SafeText | None:
    """Return the text of the first of these fields that has one; None if none has."""
    if not isinstance(fields, Mapping):
        return None
    folded = {name.casefold().replace("_", ""): value for name, value in fields.items()}
    for name in names:
        value = folded.get(name)
        if isinstance(value, str) and value.strip():
            return clean_line(value.strip().casefold(), 60)
    return None


def _why_not_approvable(task: Task) -> SafeText | None:
    if task.unwritable is not None:
        return task.unwritable
    if task.cut is not None:
        return mark_safe(f"not all of it can be shown: {task.cut}")
    if not waits_for_person(task):
        return mark_safe(f"it doesn't wait for approval: {task.status or signs.missing}")
    return None


def _unusual_values(tasks: Sequence[Task], names: Names) -> dict[str, list[SafeText]]:
    """Return, by task id, in what tasks differ from most of the set."""
    unusual: dict[str, list[SafeText]] = defaultdict(list)
    if len(tasks) < SMALLEST_SET:
        return unusual
    aspects: dict[str, Callable[[Task], SafeText]] = {
        "priority": lambda task: task.priority or signs.missing,
        "company": lambda task: names.company(names.company_of(task)),
        "agent": lambda task: names.agent(task.agent),
        "status": lambda task: task.status or signs.missing,
    }
    for aspect, value_of in aspects.items():
        values = {task.id: value_of(task) for task in tasks}
        usual, count = Counter(values.values()).most_common(1)[0]
        if count < USUAL_SHARE * len(tasks):
            continue
        for task_id, value in values.items():
            if value != usual:
                unusual[task_id].append(mark_safe(f"{aspect} {value}, most are {usual}"))
    for task_id, words in _unusual_costs(tasks).items():
        unusual[task_id].append(words)
    return unusual


def _unusual_costs(tasks: Sequence[Task]) -> dict[str, SafeText]:
    """Return, by task id, which costs are far above the median; none in several currencies."""
    costs = {task.id: task.cost for task in tasks if task.cost is not None}
    currencies = {cost.currency for cost in costs.values()}
    if len(costs) < SMALLEST_SET or len(currencies) != 1:
        return {}
    threshold = EXPENSIVE * median(cost.amount for cost in costs.values())
    if threshold <= 0:
        return {}
    return {
        task_id: mark_safe(f"costs {money(cost)}, more than {EXPENSIVE} times the usual")
        for task_id, cost in costs.items()
        if cost.amount > threshold
    }
