"""Which figures are a record's own, and in what unit, where more stands round them (SHAPES D)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentco_tui.api import decode
from agentco_tui.model.records import Budget, Money
from agentco_tui.reading import json_body


def read(body: Any) -> Any:
    return json_body.parse_json(json.dumps(body).encode())


def money(found: Money | None) -> str | None:
    return None if found is None else f"{found.amount.normalize():f} {found.currency or ''}".strip()


def agent_budget(body: Any) -> Budget:
    (found,) = decode.decode_page(decode.AGENT_BUDGETS, read(body)).records
    return found


OWN: dict[str, Any] = {"limit": 100, "spent": 40}


@pytest.mark.parametrize(
    "more",
    [
        {"rate_limit": {"limit": 60, "remaining": 10, "used": 50}},
        {"requests": {"limit": 1000, "used": 900}},
        {"seats": {"limit": 5, "used": 3}},
        {"previous": {"limit": 80, "spent": 70}},
        {"last_month": {"limit": 80, "spent": 70}},
        {"yesterday": {"spent": 9}},
        {"average": {"spent": 5}},
        {"defaults": {"limit": 50}},
        {"by_model": {"gpt": {"spent": 30}}},
        {"company": {"id": "cmp_1", "limit": 1000, "spent": 400}},
        {"company": {"id": "cmp_1", "budget": {"limit": 1000, "spent": 400}}},
        {"forecast": {"spent": 120, "remaining": -20}},
        {"soft": {"limit": 80}},
        {"next_month": {"limit": 200}},
        {"scheduled": {"limit": 200}},
        {"team": {"name": "T", "limit": 900, "spent": 800}},
        {"parent_budget": {"limit": 900, "spent": 800}},
        {"company_limit": 900, "company_spent": 800},
        {"max_limit": 1000, "min_limit": 1},
    ],
)
def test_figures_of_something_else_are_not_the_records_own(more: dict[str, Any]) -> None:
    for row in ({"agent_id": "a", **OWN, **more}, {"agent_id": "a", **more, **OWN}):
        found = agent_budget([row])
        assert [money(each) for each in (found.limit, found.spent, found.remaining)] == [
            "100", "40", "60"
        ]  # fmt: skip
    if "max_limit" in more:
        return
    alone = agent_budget([{"agent_id": "a", "limit": 100, **more}])
    assert (money(alone.limit), alone.spent) == ("100", None)


def test_one_record_inside_counts_if_it_is_alone_and_of_parts_none_is_the_whole() -> None:
    row = {"agent_id": "a", "plan": {"id": "p", **OWN}}
    assert money(agent_budget([row]).spent) == "40"
    parts: dict[str, Any] = {"openai": {"spent": 30}, "other": {"spent": 10}}
    assert agent_budget([{"agent_id": "a", "limit": 100, **parts}]).spent is None
    assert money(agent_budget([{"agent_id": "a", "spent": 40, **parts}]).spent) == "40"


def test_what_is_expected_was_not_spent_and_where_to_warn_is_no_share() -> None:
    found = agent_budget([{"agent_id": "a", "limit": 100, "forecast": {"spent": 120}}])
    assert (money(found.forecast), found.spent) == ("120", None)
    found = agent_budget([{"agent_id": "a", "limit": 100, "alert": {"percent": 80}}])
    assert (found.share, f"{found.warn_at:f}") == (None, "0.8")


def test_last_months_figures_are_not_the_wholes() -> None:
    body: dict[str, Any] = {"previous_month": {"limit": 900, "spent": 800}, "current_month": OWN}
    whole = decode.decode_overview(read(body)).whole
    assert (money(whole.limit), money(whole.spent)) == ("100", "40")
    body = {"top_agent": {"id": "ag_1", "spent": 9, "limit": 10}, "budgets": 12, **OWN}
    whole = decode.decode_overview(read(body)).whole
    assert (money(whole.limit), money(whole.spent)) == ("100", "40")


def test_a_per_cent_sign_makes_a_share() -> None:
    found = agent_budget([{"agent_id": "a", "limit": 100, "usage": "40%"}])
    assert (f"{found.share:f}", found.spent) == ("0.4", None)


CENTS: dict[str, Any] = {"limit": 10000, "spent": 4000}


@pytest.mark.parametrize(
    "body",
    [
        [{"agent_id": "a", "currency": "USD", "unit": "cents", **CENTS}],
        [{"agent_id": "a", "unit": "cents", "currency": "USD", **CENTS}],
        [{"agent_id": "a", "currency": "USD", "in_cents": True, **CENTS}],
        [{"agent_id": "a", "currency": "USD", "amounts_in": "cents", **CENTS}],
        [{"agent_id": "a", "currency": "USD", "minor_units": 2, **CENTS}],
        [{"agent_id": "a", "limit_currency": "USD", "spent_currency": "USD", "limit": 100,
          "spent": 40}],
        [{"agent.id": "a", "budget.currency": "USD", "budget.limit": 100, "budget.spent": 40}],
        {"currency": "USD", "agents": [{"agent_id": "a", "limit": 100, "spent": 40}]},
        {"meta": {"currency": "USD", "unit": "cents"}, "data": [{"agent_id": "a", **CENTS}]},
        {"data": {"unit": "usd_cents", "agents": {"a": CENTS}}},
        *(
            [{"agent_id": "a", "limit": {key: 10000, **unit}, "spent": {key: 4000, **unit}}]
            for key in ("amount", "value")
            for unit in (
                {"currency": "USD", "unit": "cents"},
                {"currency": "USD", "minor_units": 2},
                {"currency": "USD", "exponent": -2},
                {"currency": "USD", "decimals": 2},
            )
        ),
        [{"agent_id": "a", "limit": {"amount": "10000", "scale": 2, "currency": "USD"},
          "spent": {"amount": "4000", "scale": 2, "currency": "USD"}}],
    ],
)  # fmt: skip
def test_all_that_tells_the_unit_counts(body: Any) -> None:
    found = agent_budget(body)
    assert (money(found.limit), money(found.spent)) == ("100 USD", "40 USD")


def test_the_answers_unit_serves_where_the_record_names_none() -> None:
    body = {"currency": "EUR", "agents": [{"id": "a", "limit_usd": 5}, {"id": "b", "limit": 6}]}
    found = decode.decode_page(decode.AGENT_BUDGETS, read(body)).records
    assert [money(each.limit) for each in found] == ["5 USD", "6 EUR"]
    row = {"agent_id": "a", "limit": 5, "limit_currency": "USD", "spent": 4,
           "spent_currency": "EUR"}  # fmt: skip
    budget = agent_budget([row])
    told = (money(budget.limit), money(budget.spent), budget.remaining, budget.share)
    assert told == ("5 USD", "4 EUR", None, None)


def test_units_round_tasks_agents_alerts_and_the_overview() -> None:
    round_it = {"currency": "EUR", "unit": "cents"}
    body = read({**round_it, "tasks": [{"id": "t", "title": "x", "estimated_cost": 1250}]})
    assert money(decode.decode_page(decode.TASKS, body).records[0].cost) == "12.5 EUR"
    body = read({**round_it, "agents": [{"id": "a", "name": "S", "budget_remaining": 6050}]})
    assert money(decode.decode_page(decode.AGENTS, body).records[0].budget_remaining) == "60.5 EUR"
    body = read({**round_it, "alerts": [{"id": "x", "message": "m", "limit": 10000}]})
    assert money(decode.decode_page(decode.ALERTS, body).records[0].limit) == "100 EUR"
    body = {"meta": round_it, "data": {**CENTS, "companies": [{"id": "c", **CENTS}]}}
    overview = decode.decode_overview(read(body))
    assert [money(each.limit) for each in (overview.whole, *overview.parts)] == ["100 EUR"] * 2


def test_whose_figures_they_are_is_told_by_what_was_asked_for() -> None:
    row = {"company_limit": 900, "company_spent": 800, "agent_limit": 100, "agent_spent": 40}
    budget = agent_budget([{"agent_id": "a", **row}])
    assert (money(budget.limit), money(budget.spent)) == ("100", "40")
    body = read([{"company_id": "c", "company_limit": 900, "company_spent": 800}])
    (budget,) = decode.decode_page(decode.COMPANY_BUDGETS, body).records
    assert (money(budget.limit), money(budget.spent)) == ("900", "800")


def test_what_names_no_period_is_a_months() -> None:
    for body in (
        {"this_month": {"spent": 40}, "last_month": {"spent": 80}, "limit": 100},
        {"spent_last_month": 80, "spent_this_month": 40, "spent_today": 1, "limit": 100},
    ):
        assert money(decode.decode_overview(read(body)).whole.spent) == "40"
    assert agent_budget([{"agent_id": "a", "limit": 100, "spent_today": 2}]).spent is None


def test_of_a_cost_in_money_and_tokens_the_money_is_read() -> None:
    body = read([{"id": "t", "title": "x", "cost": {"tokens": 1500, "usd": 0.25}}])
    assert money(decode.decode_page(decode.TASKS, body).records[0].cost) == "0.25 USD"


@pytest.mark.parametrize(
    "row",
    [
        {"limit": {"raw": 10000, "formatted": "$100.00"}},
        {"limit": {"amount": 10000, "currency": "USD", "display": "$100.00"}},
        {"limit": {"amount": 100, "currency": "USD", "display": "$100"}},
        {"limit": {"display_value": "$100.00", "value": "100"}},
        {"limit": 10000, "limit_formatted": "$100.00"},
        {"limit": 10000, "formattedLimit": "USD 100.00"},
    ],
)
def test_the_same_sum_written_out_proves_its_unit(row: dict[str, Any]) -> None:
    assert money(agent_budget([{"agent_id": "a", **row}]).limit) == "100 USD"


def test_a_sum_written_out_in_other_words_proves_nothing() -> None:
    row = {"agent_id": "a", "limit": {"amount": 10000, "currency": "USD", "label": "$7 a day"}}
    assert money(agent_budget([row]).limit) == "10000 USD"


def test_costs_of_steps_take_the_unit_of_the_trace() -> None:
    step = {"name": "x", "cost": 250}
    for body in (
        {"unit": "cents", "currency": "USD", "steps": [step]},
        {"meta": {"unit": "usd_cents"}, "steps": [step]},
    ):
        assert money(decode.decode_trace(read(body)).steps[0].cost) == "2.5 USD"
    body = {"unit": "ms", "steps": [{**step, "currency": "EUR", "unit": "ms"}]}
    assert money(decode.decode_trace(read(body)).steps[0].cost) == "250 EUR"
