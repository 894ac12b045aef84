"""Computes what approving tasks does to the budgets of their agents and companies.

On the platform (the remote service), AI agents ask the user to approve their tasks, each of which
has a cost or an estimate; the agent and its company have a budget each. The question before an
approval shows each `BudgetImpact`. A precedent is the outcome and the cost of earlier tasks that
are alike; it gives the cost of a task that has no estimate. Costs are added up only if nothing says
that they are in different units or currencies. A budget's share is the spent part of its limit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from agentco_tui.config import AlertLimits
from agentco_tui.history.precedent import Precedent
from agentco_tui.live.insight import Level, budget_level
from agentco_tui.live.ownership import company_of
from agentco_tui.live.store import Store
from agentco_tui.model import Budget, BudgetScope, Money, Ref, Task
from agentco_tui.reading.values.money import comparable, minus


class AddedCost(NamedTuple):
    """What approving a task adds to what is spent."""

    sum: Money
    source: str
    """Where the sum comes from, in words for the user."""


class BudgetImpact(msgspec.Struct, frozen=True):
    """The budget of an agent or a company whose tasks are to be approved, now and afterwards."""

    scope: BudgetScope
    ref: Ref
    """The agent or the company."""
    budget: Budget | None = None
    """As it is now; None if none is known."""
    spent_after: Money | None = None
    """What is spent afterwards, derived; None if no cost could be added."""
    share_after: Decimal | None = None
    """The spent share of the limit afterwards."""
    level: Level = Level.OK
    """How badly the budget needs the user afterwards."""
    passes_limit: bool = False
    """Whether approving takes it past its limit."""
    excluded_costs: int = 0
    """How many costs were not added, because their unit or currency is another one."""


def cost_added_by(task: Task, precedent: Precedent | None) -> AddedCost | None:
    """What a task will cost: by its own figures, else by what similar tasks cost; None if unknown.

    What the task has cost so far is taken to be booked already: the platform says it was used.
    """
    if task.estimate is not None and task.cost is not None and task.cost.amount > 0:
        rest = minus(task.estimate, task.cost)
        if rest is not None and rest.amount > 0:
            return AddedCost(rest, "the rest of the estimate")
    if task.estimate is not None and task.estimate.amount >= 0:
        return AddedCost(task.estimate, "the estimate")
    if task.estimate is None and task.cost is not None and task.cost.amount >= 0:
        return AddedCost(task.cost, "the cost that was sent")
    if precedent is not None and precedent.cost is not None:
        return AddedCost(precedent.cost, "what tasks like it cost")
    return None


def budget_impacts(
    tasks: Sequence[Task],
    added_costs: Sequence[AddedCost | None],
    store: Store,
    limits: AlertLimits,
) -> list[BudgetImpact]:
    """The budgets that approving some tasks concerns, the worst first.

    `added_costs` has an entry for each task, None where its cost is unknown. Of a single task its
    agent comes first, however bad its company is.
    """
    refs: dict[tuple[BudgetScope, str], Ref] = {}
    costs = defaultdict[tuple[BudgetScope, str], list[Money]](list)
    for task, added in zip(tasks, added_costs, strict=True):
        for scope, owner_id, ref in _owners_of(task, store):
            refs[scope, owner_id] = ref
            if added is not None:
                costs[scope, owner_id].append(added.sum)
    impacts: list[BudgetImpact] = []
    for (scope, owner_id), ref in refs.items():
        budget = store.budgets[scope].get(owner_id)
        if budget is None:
            impacts.append(BudgetImpact(scope, ref))
        else:
            impacts.append(_impact_on(ref, budget, costs[scope, owner_id], limits))
    if len(tasks) > 1:
        impacts.sort(key=_badness, reverse=True)
    return impacts


def _owners_of(task: Task, store: Store) -> Iterator[tuple[BudgetScope, str, Ref]]:
    """The agent and the company of a task, as far as their ids are known."""
    if task.agent is not None and task.agent.id is not None:
        yield BudgetScope.AGENT, task.agent.id, task.agent
    company = company_of(task, store.agents.records)
    if company is not None and company.id is not None:
        yield BudgetScope.COMPANY, company.id, company


def _badness(impact: BudgetImpact) -> tuple[bool, Level, Decimal]:
    return impact.passes_limit, impact.level, impact.share_after or Decimal(-1)


def _impact_on(
    ref: Ref, budget: Budget, costs: Sequence[Money], limits: AlertLimits
) -> BudgetImpact:
    """What some costs do to a budget."""
    limit = None if budget.unlimited else budget.limit
    share_after = None if budget.unlimited else budget.share
    spent_after = None
    passes_limit = False
    included = _addable_costs(costs, budget)
    if included and budget.spent is not None:
        amount = sum((cost.amount for cost in included), budget.spent.amount)
        unit = _unit_of_spending(budget) or budget.spent
        currencies = [cost.currency for cost in included if cost.currency is not None]
        currency = unit.currency or next(iter(currencies), None)
        spent_after = Money(amount, currency, unit.unit_assumed, derived=True)
        if limit is not None and limit.amount > 0 and comparable(limit, spent_after):
            share_before = share_after or 0
            share_after = amount / limit.amount
            passes_limit = share_before < 1 <= share_after
    level = budget_level(replace(budget, share=share_after), limits)
    if passes_limit:
        level = Level.CRITICAL
    return BudgetImpact(
        budget.scope,
        ref,
        budget=budget,
        spent_after=spent_after,
        share_after=share_after,
        level=level,
        passes_limit=passes_limit,
        excluded_costs=len(costs) - len(included),
    )


def _unit_of_spending(budget: Budget) -> Money | None:
    """A sum in the unit in which a budget's spending is; None if that is not known.

    Zero is zero in any unit: if nothing is spent yet, the limit tells the unit.
    """
    limit = None if budget.unlimited else budget.limit
    if budget.spent is not None and not budget.spent.amount and limit is not None:
        return limit
    return budget.spent


def _addable_costs(costs: Sequence[Money], budget: Budget) -> list[Money]:
    """The costs that are in the unit of a budget's spending; none if that can't be decided."""
    unit = _unit_of_spending(budget)
    if unit is None:
        return []
    # `comparable`: nothing says that two sums are in different units or currencies.
    currencies = {cost.currency for cost in costs if cost.currency is not None}
    if unit.currency is None and len(currencies) > 1:
        return []
    return [cost for cost in costs if comparable(unit, cost)]
