"""Money at a decision: what a yes adds to what an agent and its company have spent.

Sums are put together only where nothing says that they are in different units or currencies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from agentco_tui.config import AlertLimits
from agentco_tui.history.precedent import Precedent
from agentco_tui.live.insight import Level, budget_level
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store
from agentco_tui.model import Budget, BudgetScope, Money, Ref, Task
from agentco_tui.reading.values.money import comparable, minus


class Added(NamedTuple):
    """What a yes to a task adds to what is spent."""

    sum: Money
    by: str  # where that is from, in words


class Stake(msgspec.Struct, frozen=True):
    """The money of an agent or a company that a yes is about, as it will be after the yes."""

    scope: BudgetScope
    ref: Ref
    budget: Budget | None = None  # as it is; None if none is known
    spent: Money | None = None  # after it, derived; None if nothing could be added
    share: Decimal | None = None  # of the limit
    level: Level = Level.OK
    passes: bool = False  # its limit, by the yes
    unlike: int = 0  # costs that were not added, for they are in another unit or currency


def added_by(task: Task, precedent: Precedent | None) -> Added | None:
    """What a task will cost: by its own figures, else by what tasks like it cost; None if unknown.

    What it has cost so far counts as booked, for both are what the platform says was used.
    """
    own, so_far = task.estimate or task.cost, task.cost
    if task.estimate is not None and so_far is not None and so_far.amount > 0:
        rest = minus(task.estimate, so_far)
        if rest is not None and rest.amount > 0:
            return Added(rest, "the rest of the estimate")
    if own is not None and own.amount >= 0:
        return Added(own, "the estimate" if task.estimate else "the cost that was sent")
    if precedent is not None and precedent.cost is not None:
        return Added(precedent.cost, "what tasks like it cost")
    return None


def stakes(
    tasks: Sequence[Task], added: Sequence[Added | None], store: Store, limits: AlertLimits
) -> list[Stake]:
    """The agents and companies of some tasks, the worst first; `added` has a place for each task.

    Of one task its agent comes first, however things are.
    """
    company_of, refs = Names(store).company_of, dict[tuple[BudgetScope, str], Ref]()
    sums = defaultdict[tuple[BudgetScope, str], list[Money]](list)
    for task, each in zip(tasks, added, strict=True):
        owners = (BudgetScope.AGENT, task.agent), (BudgetScope.COMPANY, company_of(task))
        for scope, ref in owners:
            if ref is not None and ref.id is not None:
                refs[scope, ref.id] = ref
                sums[scope, ref.id] += [] if each is None else [each.sum]
    found = list[Stake]()
    for (scope, of), ref in refs.items():
        budget, stake = store.budgets[scope].get(of), Stake(scope, ref)
        found.append(stake if budget is None else _after(stake, budget, sums[scope, of], limits))
    if len(tasks) > 1:
        found.sort(key=lambda each: (each.passes, each.level, each.share or -1), reverse=True)
    return found


def _after(stake: Stake, budget: Budget, sums: Sequence[Money], limits: AlertLimits) -> Stake:
    spent, limit = budget.spent, None if budget.unlimited else budget.limit
    # Nothing is nothing in any unit: then the limit tells it.
    known = limit if spent is not None and not spent.amount and limit is not None else spent
    fitting = [each for each in sums if known is not None and comparable(known, each)]
    currencies = {each.currency for each in sums} - {None}
    total, share, passes = None, None if budget.unlimited else budget.share, False
    if known is None or spent is None or (known.currency is None and len(currencies) > 1):
        fitting = []  # which of several currencies its own is can't be told
    elif fitting:
        amount = sum((each.amount for each in fitting), spent.amount)
        currency = known.currency or next(iter(currencies), None)
        total = Money(amount, currency, known.unit_assumed, derived=True)
        if limit is not None and limit.amount > 0 and comparable(limit, total):
            before, share = share or 0, amount / limit.amount
            passes = before < 1 <= share
    level = budget_level(replace(budget, share=share), limits)
    return replace(
        stake,
        budget=budget,
        spent=total,
        level=Level.CRITICAL if passes else level,
        share=share,
        passes=passes,
        unlike=len(sums) - len(fitting),
    )
