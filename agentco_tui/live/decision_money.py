"""Money at a decision: what a yes adds to what an agent and its company have spent.

Sums are put together only where nothing says that they are in different units or currencies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import msgspec
from msgspec.structs import replace

from agentco_tui.live.insight import Level, budget_level
from agentco_tui.live.precedent import Precedent
from agentco_tui.live.store import Names, Store
from agentco_tui.model import Agent, AgentState, AlertLimits, Budget, BudgetScope, Money, Ref, Task
from agentco_tui.reading.values.money import comparable, minus

_ALL: Final = Decimal(1)


class Added(msgspec.Struct, frozen=True):
    """What a yes to a task adds to what is spent."""

    sum: Money
    by: str  # where that is from, in words
    most: bool = False  # not more than that: a part of it may be booked already


class After(msgspec.Struct, frozen=True, kw_only=True):
    """A budget as it is, and as it will be after a yes to some tasks."""

    budget: Budget
    spent: Money | None  # after it, derived; None if nothing could be added
    share: Decimal | None  # of the limit, then
    most: bool  # not more than that
    unlike: int  # costs that were not added, for they are in another unit or currency
    level: Level  # then
    passes: str | None  # "limit", "critical point" or "warning point", if the yes passes that


class Stake(msgspec.Struct, frozen=True):
    """An agent or a company whose money a yes is about."""

    scope: BudgetScope
    ref: Ref
    tasks: int  # how many of them are its own
    then: After | None  # None if no budget of it is known
    still: str | None  # why approved work of it will wait; None if it will not

    @property
    def badness(self) -> tuple[bool, Level, Decimal]:
        """The worst has the most: what the yes itself brings about comes before what is so now."""
        if self.then is None:
            return False, Level.OK, Decimal(-2)
        return self.then.passes is not None, self.then.level, self.then.share or Decimal(-1)


def added_by(task: Task, precedent: Precedent | None) -> Added | None:
    """What a task will cost: by its own figures, else by what tasks like it cost; None if unknown.

    What it has cost so far counts as booked, for both are what the platform says was used; of a
    figure alone it isn't known how much of it is.
    """
    own, so_far = task.estimate or task.cost, task.cost
    if task.estimate is not None and so_far is not None and so_far.amount > 0:
        rest = minus(task.estimate, so_far)
        if rest is not None and rest.amount > 0:
            return Added(rest, "the rest of the estimate")
    if own is not None and own.amount >= 0:
        return Added(own, "the estimate" if task.estimate else "the cost that was sent", most=True)
    if precedent is not None and precedent.cost is not None:
        whose = "tasks of this agent" if precedent.of_agent else "tasks like it"
        return Added(precedent.cost, f"what {whose} cost")
    return None


def after(budget: Budget, yes: Sequence[Added | None], limits: AlertLimits) -> After:
    """A budget after a yes to tasks that add so much; None stands for one of unknown cost."""
    added = [each for each in yes if each is not None]
    spent, limit = budget.spent, None if budget.unlimited else budget.limit
    # Nothing is nothing in any unit: then the limit tells it.
    known = limit if spent is not None and not spent.amount and limit is not None else spent
    currencies = {each.sum.currency for each in added} - {None}
    fitting = [each.sum for each in added if known is not None and _is_of(known, each.sum)]
    if known is None or spent is None or (known.currency is None and len(currencies) > 1):
        fitting = []  # which of several currencies its own is can't be told
    total, share = None, budget.share
    if fitting and known is not None and spent is not None:
        amount = sum((each.amount for each in fitting), spent.amount)
        currency = known.currency or next(iter(currencies), None)
        total = Money(amount, currency, known.unit_assumed, derived=True)
        if limit is not None and limit.amount > 0 and comparable(limit, total):
            share = amount / limit.amount
    before, level = budget_level(budget, limits), Level.OK
    if share is not None or budget.unlimited:
        level = budget_level(replace(budget, share=share), limits)
    passes = None
    if share is not None and budget.share is not None and not budget.unlimited:
        if budget.share < _ALL <= share:
            passes = "limit"
        elif level > before:
            passes = "critical point" if level is Level.CRITICAL else "warning point"
    return After(
        budget=budget,
        spent=total,
        share=share,
        most=any(each.most for each in added),
        unlike=len(added) - len(fitting),
        level=max(level, Level.CRITICAL if passes == "limit" else level),
        passes=passes,
    )


def stakes(
    tasks: Sequence[Task], added: Sequence[Added | None], store: Store, limits: AlertLimits
) -> list[Stake]:
    """The agents and companies of some tasks, the worst first; `added` has a place for each task.

    Of one task its agent comes first, however things are.
    """
    of, company_of = defaultdict[tuple[BudgetScope, str], list[int]](list), Names(store).company_of
    refs = dict[tuple[BudgetScope, str], Ref]()
    for at, task in enumerate(tasks):
        owners = (BudgetScope.AGENT, task.agent), (BudgetScope.COMPANY, company_of(task))
        for scope, ref in owners:
            if ref is not None and ref.id is not None:
                of[scope, ref.id].append(at)
                refs[scope, ref.id] = ref
    found = list[Stake]()
    for (scope, of_id), places in of.items():
        budget, still = store.budgets[scope].get(of_id), None
        if scope is BudgetScope.AGENT:
            still = standstill(store.agents.get(of_id), budget)
        yes = [added[at] for at in places]
        then = None if budget is None else after(budget, yes, limits)
        found.append(Stake(scope, refs[scope, of_id], len(places), then, still))
    return found if len(tasks) == 1 else sorted(found, key=lambda each: each.badness, reverse=True)


def _is_of(known: Money, cost: Money) -> bool:
    """Whether a cost may be added: a unit that was told to one that was, an assumed to such."""
    same = known.unit_assumed is cost.unit_assumed or not cost.amount
    return same and comparable(known, cost)


def standstill(agent: Agent | None, budget: Budget | None) -> str | None:
    """Why approved work of an agent will wait, in a word or two; None if it works."""
    if budget is not None and not budget.unlimited and (budget.share or 0) >= 1:
        return "out of money"
    if agent is not None and agent.state in (AgentState.PAUSED, AgentState.STOPPED):
        return str(agent.status or agent.state)
    return "paused" if budget is not None and budget.paused else None
