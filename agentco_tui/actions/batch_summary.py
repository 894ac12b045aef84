"""What a person is told of a set of tasks before saying yes to all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import IntEnum
from statistics import median

import msgspec

from agentco_tui.live.insight import priority_rank, waiting_since, waits_for_person
from agentco_tui.live.names import Names
from agentco_tui.model import Money, Task, extra_fields
from agentco_tui.model.format import money
from agentco_tui.text import SafeText, plain, safe, signs

MOST = Decimal("0.75")  # a share of the set that must agree before the others count as unlike it
SMALLEST_SET = 4
DEARER = 5
KINDS = ("type", "kind", "tasktype", "approvaltype", "requesttype", "actiontype")
"""Fields that tell what sort of decision a task wants, by their folded names."""
IN_PAYLOAD = ("type", "kind", "action")
"""The same inside its payload, where the task itself has none of them."""


class Standing(IntEnum):
    """What the person knows of a task; the least known first."""

    CHANGED = 0  # it was read, and is not as it was then
    UNREAD = 1
    READ = 2


class Listed(msgspec.Struct, frozen=True):
    task: Task
    standing: Standing
    odd: Sequence[SafeText]
    """In what it differs from most of the set, such as: priority urgent, most are low."""


class Aside(msgspec.Struct, frozen=True):
    task: Task
    reason: SafeText


def listed_of(tasks: Sequence[Task], names: Names, read: Mapping[str, bytes]) -> list[Listed]:
    """Every task of a set: those the person knows least first, among them the worst first.

    `read` has the contents of tasks as they were read.
    """
    odd, listed = _odd(tasks, names), list[Listed]()
    for task in tasks:
        standing = Standing.CHANGED if task.id in read else Standing.UNREAD
        standing = Standing.READ if read.get(task.id) == task.content else standing
        listed.append(Listed(task, standing, odd.get(task.id, [])))

    def least_known(listed: Listed) -> tuple[float, ...]:
        """First what the person knows least; then what is odd, urgent, dear, and waits long."""
        task, since = listed.task, waiting_since(listed.task)
        cost = 0.0 if task.cost is None else -float(task.cost.amount)
        waits = float("inf") if since is None else since
        return listed.standing, -len(listed.odd), priority_rank(task.priority), cost, waits

    return sorted(listed, key=least_known)


def costs_of(tasks: Iterable[Task]) -> list[Money]:
    """What those that say it cost together, for each currency, the largest first."""
    return added_up(task.cost for task in tasks if task.cost is not None)


def added_up(costs: Iterable[Money]) -> list[Money]:
    """The sum for each currency, the largest first."""
    sums: dict[SafeText | None, Decimal] = defaultdict(Decimal)
    for cost in costs:
        sums[cost.currency] += cost.amount
    found = [Money(amount, currency) for currency, amount in sums.items()]
    return sorted(found, key=lambda money: -money.amount)


def of_one_kind(tasks: Sequence[Task]) -> tuple[list[Task], list[Aside]]:
    """The tasks that may be approved together, and those that may not, with the reason.

    Those that can't be approved here are left out, and of the others all whose type is not the one
    that most have: a decision about one sort of thing is none about another.
    """
    refusals = [(task, _refusal(task)) for task in tasks]
    aside = [Aside(task, why) for task, why in refusals if why is not None]
    kinds = [(task, kind_of(task)) for task, why in refusals if why is None]
    usual = next((kind for kind, _ in Counter(kind for _, kind in kinds).most_common(1)), None)
    chosen = []
    for task, kind in kinds:
        if kind == usual:
            chosen.append(task)
        else:
            told, most = (plain(f"type {k}" if k else "no type") for k in (kind, usual))
            aside.append(Aside(task, plain(f"{told}, the set has {most}: approve it by itself")))
    return chosen, aside


def kind_of(task: Task) -> SafeText | None:
    """The platform's word for the sort of decision that a task wants; None if it sent none."""
    fields = extra_fields(task.extra)
    payload = fields.get("payload")
    for names, place in ((KINDS, fields), (IN_PAYLOAD, payload)):
        if isinstance(place, Mapping):
            folded = {name.casefold().replace("_", ""): told for name, told in place.items()}
            for name in names:
                told = folded.get(name)
                if isinstance(told, str) and told.strip():
                    return safe(told.strip().casefold(), 60)
    return None


def _refusal(task: Task) -> SafeText | None:
    if task.unwritable is not None:
        return task.unwritable
    if task.cut is not None:
        return plain(f"not all of it can be shown: {task.cut}")
    if not waits_for_person(task):
        return plain(f"it doesn't wait for approval: {task.status or signs.missing}")
    return None


def _odd(tasks: Sequence[Task], names: Names) -> dict[str, list[SafeText]]:
    """In what tasks differ from most of the set, by id."""
    reasons: dict[str, list[SafeText]] = defaultdict(list)
    if len(tasks) < SMALLEST_SET:
        return reasons
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
                reasons[task_id].append(plain(f"{aspect} {its}, most are {usual}"))
    costs = {task.id: task.cost for task in tasks if task.cost is not None}
    if len(costs) >= SMALLEST_SET and len({cost.currency for cost in costs.values()}) == 1:
        most = DEARER * median(cost.amount for cost in costs.values())
        for task_id, cost in costs.items():
            if cost.amount > most > 0:
                words = f"costs {money(cost)}, more than {DEARER} times the usual"
                reasons[task_id].append(plain(words))
    return reasons
