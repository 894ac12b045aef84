"""What a yes adds to budgets: sums that belong together only, and the limits that they pass."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.attention.decision_money import (
    AddedCost,
    BudgetImpact,
    budget_impacts,
    cost_added_by,
)
from agentco_tui.config import AlertLimits
from agentco_tui.history.precedent import Precedent
from agentco_tui.live.insight import Level
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Budget,
    BudgetScope,
    Listing,
    Money,
    Ref,
    Task,
)
from agentco_tui.text import mark_safe

LIMITS = AlertLimits()
USD, EUR = mark_safe("USD"), mark_safe("EUR")


def usd(amount: str, **more: bool) -> Money:
    return Money(Decimal(amount), USD, **more)


def budget(spent: Money | None, limit: Money | None = None, **more: Any) -> Budget:
    share = spent.amount / limit.amount if spent and limit and limit.amount else None
    told: Any = {"scope": BudgetScope.AGENT, "spent": spent, "limit": limit, "share": share, **more}
    return Budget(id="a1", **told)


def task(cost: Money | None = None, estimate: Money | None = None, number: int = 1) -> Task:
    of: Any = {"agent": Ref(id=f"a{number}"), "company": Ref(id="c1")}
    return Task(id=f"t{number}", title=mark_safe("Refund 3"), cost=cost, estimate=estimate, **of)


@pytest.mark.parametrize(
    ("cost", "estimate", "adds"),
    [
        ("0.30", "0.89", "0.59"),  # what it has cost so far is booked
        (None, "0.89", "0.89"),
        ("0.89", None, "0.89"),
        ("0.89", "0.89", "0.89"),  # one figure under two names
        ("1.20", "0.89", "0.89"),
        ("0", "0.89", "0.89"),
        ("-1", None, None),
    ],
)
def test_what_a_task_adds_by_its_own_figures(
    cost: str | None, estimate: str | None, adds: str | None
) -> None:
    own = task(cost and usd(cost), estimate and usd(estimate))  # type: ignore[arg-type]
    found = cost_added_by(own, None)
    assert (found and found.sum.amount) == (adds and Decimal(adds))


def test_without_figures_of_its_own_tasks_like_it_tell() -> None:
    derived = usd("0.42", derived=True)
    like = cost_added_by(task(), Precedent(cost=derived))
    assert like == AddedCost(derived, "what tasks like it cost")
    assert cost_added_by(task(), Precedent()) is None
    assert cost_added_by(task(), None) is None


def after(own: Budget, costs: list[Money]) -> BudgetImpact:
    """The agent's budget after a yes to tasks that cost so much."""
    store = Store()
    store.agent_budgets.replace(Listing(records=(own,)))
    tasks = [task(number=1) for _ in costs]
    return budget_impacts(tasks, [AddedCost(cost, "its cost") for cost in costs], store, LIMITS)[0]


SPENT = st.decimals("0", "1000", places=2)
SUMS = st.builds(Money, SPENT, st.sampled_from([USD, EUR, None]), st.booleans())


@given(SUMS, st.none() | SUMS, st.lists(SUMS, min_size=1, max_size=6))
def test_sums_never_mix_currencies_or_units(
    spent: Money, limit: Money | None, costs: list[Money]
) -> None:
    found = after(budget(spent, limit), costs)
    if found.spent_after is None:
        assert found.excluded_costs == len(costs)
        assert not found.passes_limit
        return
    unit = spent if spent.amount or limit is None else limit
    fits = [
        cost
        for cost in costs
        if (cost.unit_assumed is unit.unit_assumed or not cost.amount or not unit.amount)
        and (unit.currency is None or cost.currency in (None, unit.currency))
    ]
    assert found.spent_after.amount == spent.amount + sum(cost.amount for cost in fits)
    assert found.excluded_costs == len(costs) - len(fits)
    assert len({cost.currency for cost in fits} - {None}) <= 1
    assert found.spent_after.derived


@pytest.mark.parametrize(
    ("spent", "adds", "level", "passes"),
    [
        ("70", "5", Level.OK, False),
        ("79.99", "0.01", Level.WARNING, False),
        ("82", "5", Level.WARNING, False),
        ("99.50", "0.49", Level.WARNING, False),
        ("99.50", "0.50", Level.CRITICAL, True),
        ("10", "95", Level.CRITICAL, True),
        ("118", "1", Level.CRITICAL, False),
    ],
)
def test_what_is_passed_by_the_yes(spent: str, adds: str, level: Level, passes: bool) -> None:
    found = after(budget(usd(spent), usd("100")), [usd(adds)])
    assert (found.level, found.passes_limit) == (level, passes)


def test_what_is_not_known_passes_nothing() -> None:
    adds = [usd("95")]
    endless = after(budget(usd("10"), unlimited=True), adds)
    assert endless.spent_after == usd("105", derived=True)
    assert (endless.level, endless.passes_limit) == (Level.OK, False)
    unspent = after(budget(None, usd("100")), adds)
    assert (unspent.spent_after, unspent.excluded_costs, unspent.passes_limit) == (None, 1, False)
    other_limit = after(budget(usd("10"), Money(Decimal(100), EUR), share=None), adds)
    assert (other_limit.spent_after, other_limit.passes_limit) == (usd("105", derived=True), False)
    nothing = after(budget(usd("0"), usd("100", unit_assumed=True)), adds)
    assert nothing.excluded_costs == 1, "what the limit is in isn't known, and so what nothing is"


def test_agents_and_companies_each_with_the_sum_of_their_own_the_worst_first() -> None:
    store, tasks = Store(), [task(usd("4"), number=number) for number in (1, 2, 3, 1)]
    one = budget(usd("10"), usd("100"))
    two = Budget(id="a2", scope=BudgetScope.AGENT, spent=usd("98"), limit=usd("100"),
                 share=Decimal("0.98"))  # fmt: skip
    whole = Budget(id="c1", scope=BudgetScope.COMPANY, spent=usd("70"), limit=usd("100"),
                   share=Decimal("0.7"))  # fmt: skip
    store.agent_budgets.replace(Listing(records=(one, two)))
    store.company_budgets.replace(Listing(records=(whole,)))
    found = budget_impacts(tasks, [cost_added_by(each, None) for each in tasks], store, LIMITS)
    assert [stake.ref.id for stake in found] == ["a2", "c1", "a1", "a3"]
    assert [stake.spent_after and stake.spent_after.amount for stake in found] == [
        *(Decimal(102), Decimal(86), Decimal(18)),
        None,
    ]
    alone = budget_impacts(tasks[:1], [None], store, LIMITS)
    assert [stake.ref.id for stake in alone] == ["a1", "c1"], "of one task its agent comes first"
