"""What a yes adds to budgets: sums that belong together only, and the limits that they pass."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.live.decision_money import Added, added_by, after, stakes, standstill
from agentco_tui.live.insight import Level
from agentco_tui.live.precedent import Precedent
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Agent,
    AgentState,
    AlertLimits,
    Budget,
    BudgetScope,
    Listing,
    Money,
    Ref,
    Task,
)
from agentco_tui.text import plain

LIMITS = AlertLimits()
USD, EUR = plain("USD"), plain("EUR")


def usd(amount: str, **more: bool) -> Money:
    return Money(Decimal(amount), USD, **more)


def budget(spent: Money | None, limit: Money | None = None, **more: Any) -> Budget:
    share = spent.amount / limit.amount if spent and limit and limit.amount else None
    told: Any = {"scope": BudgetScope.AGENT, "spent": spent, "limit": limit, "share": share, **more}
    return Budget(id="a1", **told)


def task(cost: Money | None = None, estimate: Money | None = None, number: int = 1) -> Task:
    of: Any = {"agent": Ref(id=f"a{number}"), "company": Ref(id="c1")}
    return Task(id=f"t{number}", title=plain("Refund 3"), cost=cost, estimate=estimate, **of)


@pytest.mark.parametrize(
    ("cost", "estimate", "adds", "most"),
    [
        ("0.30", "0.89", "0.59", False),  # what it has cost so far is booked
        (None, "0.89", "0.89", True),
        ("0.89", None, "0.89", True),
        ("0.89", "0.89", "0.89", True),  # one figure under two names
        ("1.20", "0.89", "0.89", True),
        ("0", "0.89", "0.89", True),
        ("-1", None, None, False),
    ],
)
def test_what_a_task_adds_by_its_own_figures(
    cost: str | None, estimate: str | None, adds: str | None, most: bool
) -> None:
    own = task(cost and usd(cost), estimate and usd(estimate))  # type: ignore[arg-type]
    found = added_by(own, None)
    assert (found and found.sum.amount, found and found.most) == (
        (Decimal(adds), most) if adds else (None, None)
    )


def test_without_figures_of_its_own_tasks_like_it_tell() -> None:
    derived = usd("0.42", derived=True)
    like = added_by(task(), Precedent(cost=derived))
    assert like == Added(derived, "what tasks like it cost")
    other = added_by(task(), Precedent(cost=derived, of_agent=True))
    assert other is not None
    assert "this agent" in other.by
    assert added_by(task(), Precedent()) is None
    assert added_by(task(), None) is None


SPENT = st.decimals("0", "1000", places=2)
SUMS = st.builds(Money, SPENT, st.sampled_from([USD, EUR, None]), st.booleans())


@given(SUMS, st.none() | SUMS, st.lists(st.none() | SUMS, max_size=6))
def test_sums_never_mix_currencies_or_units(
    spent: Money, limit: Money | None, costs: list[Money | None]
) -> None:
    yes = [None if cost is None else Added(cost, "its cost") for cost in costs]
    found = after(budget(spent, limit), yes, LIMITS)
    known = [cost for cost in costs if cost is not None]
    if found.spent is None:
        assert found.unlike == len(known)
        assert found.passes is None
        return
    unit = spent if spent.amount or limit is None else limit
    fits = [
        cost
        for cost in known
        if (cost.unit_assumed is unit.unit_assumed or not cost.amount)
        and (unit.currency is None or cost.currency in (None, unit.currency))
    ]
    assert found.spent.amount == spent.amount + sum(cost.amount for cost in fits)
    assert found.unlike == len(known) - len(fits)
    assert len({cost.currency for cost in fits} - {None}) <= 1
    assert found.spent.derived


@pytest.mark.parametrize(
    ("spent", "adds", "level", "passes"),
    [
        ("70", "5", Level.OK, None),
        ("79.99", "0.01", Level.WARNING, "warning point"),
        ("82", "5", Level.WARNING, None),
        ("99.50", "0.49", Level.WARNING, None),
        ("99.50", "0.50", Level.CRITICAL, "limit"),
        ("10", "95", Level.CRITICAL, "limit"),
        ("118", "1", Level.CRITICAL, None),
    ],
)
def test_what_is_passed_by_the_yes(spent: str, adds: str, level: Level, passes: str | None) -> None:
    found = after(budget(usd(spent), usd("100")), [Added(usd(adds), "its cost")], LIMITS)
    assert (found.level, found.passes) == (level, passes)


def test_a_critical_point_of_its_own_is_no_limit() -> None:
    limits = AlertLimits(critical_percent=Decimal(90))
    found = after(budget(usd("85"), usd("100")), [Added(usd("6"), "its cost")], limits)
    assert (found.level, found.passes) == (Level.CRITICAL, "critical point")


def test_what_is_not_known_passes_nothing() -> None:
    adds = [Added(usd("95"), "its cost"), None]
    endless = after(budget(usd("10"), unlimited=True), adds, LIMITS)
    assert endless.spent == usd("105", derived=True)
    assert (endless.level, endless.passes) == (Level.OK, None)
    unspent = after(budget(None, usd("100")), adds, LIMITS)
    assert (unspent.spent, unspent.unlike, unspent.passes) == (None, 1, None)
    other_limit = after(budget(usd("10"), Money(Decimal(100), EUR), share=None), adds, LIMITS)
    assert (other_limit.spent, other_limit.passes) == (usd("105", derived=True), None)
    nothing = after(budget(usd("0"), usd("100", unit_assumed=True)), adds, LIMITS)
    assert nothing.unlike == 1, "what the limit is in isn't known, and so what nothing is"


def test_agents_and_companies_each_with_the_sum_of_their_own_the_worst_first() -> None:
    store, tasks = Store(), [task(usd("4"), number=number) for number in (1, 2, 3, 1)]
    store.agents.replace(Listing(records=(Agent(id="a3", state=AgentState.PAUSED),)))
    one = budget(usd("10"), usd("100"))
    two = Budget(id="a2", scope=BudgetScope.AGENT, spent=usd("98"), limit=usd("100"),
                 share=Decimal("0.98"))  # fmt: skip
    whole = Budget(id="c1", scope=BudgetScope.COMPANY, spent=usd("70"), limit=usd("100"),
                   share=Decimal("0.7"))  # fmt: skip
    store.agent_budgets.replace(Listing(records=(one, two)))
    store.company_budgets.replace(Listing(records=(whole,)))
    found = stakes(tasks, [added_by(each, None) for each in tasks], store, LIMITS)
    assert [stake.ref.id for stake in found] == ["a2", "c1", "a1", "a3"]
    assert [stake.tasks for stake in found] == [1, 4, 2, 1]
    assert [stake.then and stake.then.spent and stake.then.spent.amount for stake in found] == [
        *(Decimal(102), Decimal(86), Decimal(18)),
        None,
    ]
    assert found[3].still == "paused"
    alone = stakes(tasks[:1], [None], store, LIMITS)
    assert [stake.ref.id for stake in alone] == ["a1", "c1"], "of one task its agent comes first"


def test_why_approved_work_waits() -> None:
    stopped = Agent(id="a1", status=plain("stopped"), state=AgentState.STOPPED)
    assert standstill(stopped, None) == "stopped"
    assert standstill(None, budget(usd("1"), usd("2"), paused=True)) == "paused"
    assert standstill(stopped, budget(usd("3"), usd("2"))) == "out of money"
    assert standstill(Agent(id="a1", state=AgentState.ACTIVE), budget(usd("1"), usd("2"))) is None
    assert standstill(None, None) is None
