"""The total is the total: one company's budget is never taken for it, nor held twice."""

from __future__ import annotations

from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from msgspec.structs import replace

from agentco_tui.live.feeds import FeedName, Freshness
from agentco_tui.live.names import UNNAMED_BUDGET, Names
from agentco_tui.live.store import Store
from agentco_tui.model import Budget, BudgetOverview, BudgetScope, Company, Listing, Money
from agentco_tui.text import mark_safe

USD = mark_safe("USD")


def budget(scope: BudgetScope, of: str, spent: int, limit: int | None, **more: Any) -> Budget:
    return Budget(
        id=of,
        scope=scope,
        spent=Money(Decimal(spent), USD),
        limit=None if limit is None else Money(Decimal(limit), USD),
        **more,
    )


def company(of: str, spent: int, limit: int | None = 100) -> Budget:
    return budget(BudgetScope.COMPANY, of, spent, limit, name=mark_safe(of.title()))


def whole(spent: int, limit: int | None = 100, sent_id: str | None = None) -> Budget:
    extra = b"" if sent_id is None else f'{{"id":"{sent_id}"}}'.encode()
    return budget(BudgetScope.ALL, "all", spent, limit, extra=extra)


def polled(answer: Budget, *companies: Budget, order: tuple[int, ...] = (0, 1, 2)) -> Store:
    """A store with these answers, which come in that order."""
    store = Store()
    known = tuple(Company(id=each.id, name=each.name) for each in companies)

    def take_list() -> None:
        store.take(FeedName.COMPANY_BUDGETS, Listing(records=companies))
        store.set_freshness(FeedName.COMPANY_BUDGETS, Freshness(answered_at=1.0))

    steps = (
        lambda: store.take(FeedName.COMPANIES, Listing(records=known)),
        take_list,
        lambda: store.take_overview(BudgetOverview(whole=answer)),
    )
    for each in order:
        steps[each]()
    return store


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(whole(43, 90, sent_id="acme"), id="it has the company's id"),
        pytest.param(budget(BudgetScope.COMPANY, "acme", 43, 90), id="it says so"),
        pytest.param(whole(43, 90), id="its limit, and it lacks what others spent"),
        pytest.param(whole(42, 90), id="the same a moment earlier"),
        pytest.param(
            replace(whole(43, 95), name=mark_safe("acme")), id="it has the company's name"
        ),
        pytest.param(replace(whole(43, None), unlimited=True), id="no limit, and its spending"),
        pytest.param(replace(whole(0, 90), spent=None), id="its limit, and no spending is sent"),
    ],
)
def test_a_companys_budget_is_no_total(answer: Budget, order: tuple[int, ...]) -> None:
    acme, globex = company("acme", 43, 90), company("globex", 20)
    store = polled(answer, acme, globex, order=order)
    assert list(store.budget) == []
    assert list(store.company_budgets) == [acme, globex]
    assert store.budgets_of_scope(None) == [acme, globex]
    assert store.budgets_of_scope("globex") == [globex]


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(whole(63, 190), id="the sum"),
        pytest.param(whole(63, 90), id="a company's limit, but the sum"),
        pytest.param(whole(63, 190, sent_id="org_7"), id="an id of its own"),
    ],
)
def test_a_total_stays_one(answer: Budget, order: tuple[int, ...]) -> None:
    store = polled(answer, company("acme", 43, 90), company("globex", 20), order=order)
    assert list(store.budget) == [answer]
    assert store.budgets_of_scope(None) == [answer]


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("answer", [whole(43, 500), whole(30, 70), whole(30, None)])
def test_what_is_less_than_the_companies_together_is_not_called_the_total(
    answer: Budget, order: tuple[int, ...]
) -> None:
    acme, globex = company("acme", 43, 90), company("globex", 20)
    store = polled(answer, acme, globex, order=order)
    assert store.budgets_of_scope(None) == [answer, acme, globex]
    assert not store.is_total_known
    assert Names(store).budget_owner(answer) == UNNAMED_BUDGET
    assert Names(store).budget(answer) == UNNAMED_BUDGET


def test_what_has_no_figure_hides_no_companies() -> None:
    acme, globex = company("acme", 43, 90), company("globex", 20)
    store = polled(Budget(id="all", scope=BudgetScope.ALL), acme, globex)
    assert not store.is_total_known
    assert store.budgets_of_scope(None) == [acme, globex]


def test_a_total_of_another_period_is_not_compared() -> None:
    today = replace(whole(30, 70), period=mark_safe("daily"))
    store = polled(today, company("acme", 43, 90), company("globex", 20))
    assert store.budgets_of_scope(None) == [today]
    assert Names(store).budget_owner(today) == "all companies"


def test_where_the_others_spent_nothing_a_companys_limit_is_held_once() -> None:
    acme, globex = company("acme", 43, 90), company("globex", 0)
    assert polled(whole(43, 90), acme, globex).budgets_of_scope(None) == [acme, globex]
    more = whole(63, 90)
    assert polled(more, acme, globex).budgets_of_scope(None) == [more]


def test_where_one_of_several_companies_has_a_budget_it_is_held_once() -> None:
    store = polled(whole(43, 90), company("acme", 43, 90))
    store.take(FeedName.COMPANIES, Listing(records=(Company(id="acme"), Company(id="globex"))))
    assert [each.id for each in store.budgets_of_scope(None)] == ["acme"]


def test_where_there_is_only_one_company_its_budget_is_held_once() -> None:
    acme = company("acme", 43, 90)
    assert list(polled(whole(42, 90), acme).budget) == []
    assert list(polled(whole(43, 500), acme).budget) == [whole(43, 500)]


def test_a_company_that_only_the_overview_knows_stands_in() -> None:
    store = Store()
    store.take_overview(BudgetOverview(whole=budget(BudgetScope.COMPANY, "acme", 43, 90)))
    assert [(each.scope, each.id) for each in store.company_budgets] == [("company", "acme")]
    assert list(store.budget) == []
