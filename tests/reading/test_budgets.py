"""Budgets and the overview: names, units, periods and owners beyond the golden bodies."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.model import Budget, Money, extra_fields
from tests.reading import decode
from tests.reading.decode import parsed, plain


def agent_budgets(*rows: Any) -> list[Budget]:
    page = decode.decode_page(decode.AGENT_BUDGETS, parsed(list(rows)))
    assert page.unread == 0, page.unread_reasons
    return list(page.records)


def agent_budget(**fields: Any) -> Budget:
    (found,) = agent_budgets({"agent_id": "a1", **fields})
    assert found.id == "a1"
    return found


def amount(money: Money | None) -> str | None:
    return None if money is None else f"{money.amount.normalize():f}"


@pytest.mark.parametrize(
    ("fields", "limit", "spent", "remaining"),
    [
        ({"monthly_limit": 100, "spent": 40, "remaining": 60}, "100", "40", "60"),
        ({"budgetMonthlyCents": 10000, "spentMonthlyCents": 2550}, "100", "25.5", "74.5"),
        ({"max_budget": 25.0, "spend": 10.0}, "25", "10", "15"),
        ({"limit": 100, "usage": 120}, "100", "120", "-20"),
        ({"budget_cap_usd": 50, "total_cost_usd": "12.34"}, "50", "12.34", "37.66"),
        ({"hard_limit_usd": 50, "spend_usd": 12}, "50", "12", "38"),
        ({"cap_minor": 5000, "spent_minor": 1200, "currency": "EUR"}, "50", "12", "38"),
        ({"cap_minor": 5000, "spent_minor": 1200, "currency": "JPY"}, "5000", "1200", "3800"),
        ({"max_daily_usd": 5, "daily_cost_usd": 1}, "5", "1", "4"),
        ({"totalBudget": "$1,000.00", "totalSpent": "$250.50"}, "1000", "250.5", "749.5"),
        ({"budget": {"limit": 100, "spent": 40}}, "100", "40", "60"),
        ({"budget": {"limit_usd_cents": 500, "spentMicroUsd": 1_000_000}}, "5", "1", "4"),
        ({"limit_usd": 10, "usage": {"used_tokens": 900, "cost": "$3"}}, "10", "3", "7"),
        ({"limit_eur": 5, "limit": 700, "spent_eur": 1}, "5", "1", "4"),
        ({"spend": 245.5, "budget": {"max_budget": 500.0, "soft_budget": None}}, "500", "245.5",
         "254.5"),
        ({"limits": {"monthly": 100, "daily": 5}, "spend": {"monthly": 40, "daily": 1}}, "100",
         "40", "60"),
        ({"monthly": {"limit": 100, "spent": 40}, "daily": {"limit": 5, "spent": 1}}, "100", "40",
         "60"),
        ({"limit": {"amount": "100", "currency": "usd"}, "spent": {"value": 40, "currency": "usd"}},
         "100", "40", "60"),
        ({"monthlyLimitMicros": 100_000_000, "spentMicros": 40_000_000}, "100", "40", "60"),
        ({"quota": 100, "used": 40, "left": 60}, "100", "40", "60"),
        ({"allowance": 100, "consumed": 40}, "100", "40", "60"),
        ({"spending_limit": 100, "spending": 40}, "100", "40", "60"),
        ({"budget_limit": 100, "budget_used": 40, "budget_remaining": 60}, "100", "40", "60"),
        ({"monthly-budget": 100, "month-to-date-spend": 40}, "100", "40", "60"),
        ({"MonthlyLimit": 100, "CurrentSpend": 40}, "100", "40", "60"),
        ({"usage": {"limit": 100, "used": 40}}, "100", "40", "60"),
        ({"limit": 100, "remaining": 40}, "100", "60", "40"),
        ({"capTokens": 1000, "usedTokens": 400}, "1000", "400", "600"),
        ({"monthly_limit": 100, "spent": 40, "capTokens": 1000, "usedTokens": 400}, "100", "40",
         "60"),
        ({"cost_microdollars": 40_000_000, "cost_dollars": 40, "limit_dollars": 100}, "100", "40",
         "60"),
        ({"hourly_limit": 1, "daily_limit": 10, "monthly_limit": 100, "hourly_spend": 0.1,
          "daily_spend": 4, "monthly_spend": 40}, "100", "40", "60"),
        ({"hourly_limit": 0, "daily_limit": 10, "monthly_limit": 0, "daily_spend": 4,
          "monthly_spend": 40}, "10", "4", "6"),
        ({"spent": 5}, None, "5", None),
        ({"limit": 5}, "5", None, None),
        ({"remaining": 5}, None, None, "5"),
    ],
)  # fmt: skip
def test_limit_spent_and_remaining(
    fields: dict[str, Any], limit: str | None, spent: str | None, remaining: str | None
) -> None:
    found = agent_budget(**fields)
    assert (amount(found.limit), amount(found.spent), amount(found.remaining)) == (
        limit,
        spent,
        remaining,
    )


def test_what_was_worked_out_is_marked() -> None:
    assert plain(agent_budget(limit=100, spent=40, remaining=60).remaining) == "60"
    worked_out = agent_budget(limit=100, spent=40)
    assert (plain(worked_out.spent), plain(worked_out.remaining)) == ("40", "60 derived")
    assert plain(agent_budget(limit=100, remaining=40).spent) == "60 derived"


@pytest.mark.parametrize(
    "fields",
    [{"limit": 0, "spent": 5, "remaining": 0, "percent": 0, "status": "ok"},
     {"limit": -1, "spent": 5}, {"limit": "unlimited", "spent": 5},
     {"unlimited": True, "spent": 5},
     {"has_limit": False, "limit": 100, "spent": 5}, {"state": "no_budget", "spent": 5},
     {"budgetMonthlyCents": 0, "spentMonthlyCents": 500}, {"limit": "No limit", "spent": 5}],
)  # fmt: skip
def test_no_limit_in_every_form(fields: dict[str, Any]) -> None:
    found = agent_budget(**fields)
    assert found.unlimited
    assert found.limit is None
    assert found.remaining is None
    assert found.share is None
    assert amount(found.spent) == "5"


def test_a_limit_that_was_not_sent_is_not_no_limit() -> None:
    assert not agent_budget(spent=5).unlimited
    assert not agent_budget(limit=None, spent=None, remaining=None).unlimited


@pytest.mark.parametrize(
    ("fields", "share", "derived"),
    [
        ({"limit": 100, "spent": 40}, "0.4", True),
        ({"limit": 100, "spent": 40, "utilizationPercent": 40}, "0.4", False),
        ({"limit": 100, "spent": 40, "pct": 0.4}, "0.4", False),
        ({"limit": 100, "spent": 1, "pct": 1}, "0.01", False),
        ({"limit": 100, "spent": 100, "pct": 1}, "1", False),
        ({"limit": 3, "spent": 1, "used_percent": 33}, None, False),
        ({"limit": 100, "spent": 130}, "1.3", True),
        ({"utilizationPercent": 85}, "0.85", False),
        ({"usage_ratio": 1.2}, "1.2", False),
        ({"utilization": 0.85, "alert_threshold": 0.8}, "0.85", False),
        ({"utilization": 85}, "0.85", False),
        ({"used_percent": "85 %"}, "0.85", False),
        ({"used_percent": "0.5%"}, "0.005", False),
        ({"remaining_percent": 15}, "0.85", True),
        ({"pct": 0.8, "alert_threshold": 0.9}, "0.8", False),
    ],
)
def test_shares(fields: dict[str, Any], share: str | None, derived: bool) -> None:
    found = agent_budget(**fields)
    if share is not None:
        assert found.share == Decimal(share)
    assert found.share_derived is derived


def test_other_rows_prove_the_scale() -> None:
    as_ratios = agent_budgets(
        {"agent_id": "a1", "pct": 1}, {"agent_id": "a2", "pct": 0.3}, {"agent_id": "a3", "pct": 0.7}
    )
    assert [budget.share for budget in as_ratios] == [1, Decimal("0.3"), Decimal("0.7")]
    as_percent = agent_budgets({"agent_id": "a1", "pct": 1}, {"agent_id": "a2", "pct": 62.5})
    assert [budget.share for budget in as_percent] == [Decimal("0.01"), Decimal("0.625")]


@pytest.mark.parametrize(
    ("fields", "warn_at"),
    [
        ({"warnPercent": 80}, "0.8"), ({"alert_threshold": 0.8}, "0.8"),
        ({"alert_at_pct": 75}, "0.75"),
        ({"limit": 100, "soft_budget": 60}, "0.6"), ({"limit": 100, "softLimit": 60}, "0.6"),
        ({"limit": 50, "threshold": 40, "thresholdType": "ABSOLUTE_VALUE"}, "0.8"),
        ({"threshold": 80, "thresholdType": "PERCENTAGE"}, "0.8"),
        ({"warning_threshold": "80%"}, "0.8"),
        ({"limit": 5}, None),
    ],
)  # fmt: skip
def test_the_warning_point(fields: dict[str, Any], warn_at: str | None) -> None:
    found = agent_budget(**fields)
    assert found.warn_at == (None if warn_at is None else Decimal(warn_at))


def test_units_are_told_or_assumed() -> None:
    assumed = agent_budget(limit=100, spent=40)
    assert assumed.limit is not None
    assert assumed.limit.unit_assumed
    beside = agent_budget(limit=100, spent=40, currency="usd")
    assert beside.limit is not None
    assert (beside.limit.currency, beside.limit.unit_assumed) == ("USD", True)
    for fields in ({"limit_usd": 100}, {"limit": 100, "unit": "USD"}, {"limit": "$100"}):
        told = agent_budget(**fields).limit
        assert told is not None
        assert (told.currency, told.unit_assumed) == ("USD", False)
    metric = agent_budget(amount=10000, observedAmount=2550, metric="billed_cents")
    assert (amount(metric.limit), amount(metric.spent)) == ("100", "25.5")


def test_the_rest_of_a_budget() -> None:
    found = agent_budget(
        agent_name="Scout", company={"id": "c1", "name": "Acme"}, limit=100, spent=90,
        projected=140, windowKind="calendar_month_utc", resets_at="2026-12-01T00:00:00Z",
        status="warning", paused=False, hardStopEnabled=True,
    )  # fmt: skip
    assert (found.name, found.company and found.company.name) == ("Scout", "Acme")
    assert amount(found.forecast) == "140"
    assert found.period == "calendar_month_utc"
    assert found.resets is not None
    assert (found.status, found.paused) == ("warning", False)
    assert extra_fields(found.extra) == {"hardStopEnabled": True}


def test_lifetime_windows_have_no_end() -> None:
    found = agent_budget(limit=5, windowStart="1970-01-01", windowEnd="9999-01-01T00:00:00Z")
    assert found.resets is None


@pytest.mark.parametrize(
    "row",
    [
        {"agent_id": "a1", "name": "Scout"}, {"id": "a1", "name": "Scout"},
        {"agent": {"id": "a1", "name": "Scout"}},
        {"id": "b9", "agentId": "a1", "agentName": "Scout"},
        {"scopeType": "agent", "scopeId": "a1", "scopeName": "Scout"},
        {"agent": {"id": "a1", "name": "Scout"}, "budget": {"limit": 5, "spent": 1}},
        {"AgentId": "a1", "Name": "Scout"},
    ],
)  # fmt: skip
def test_whom_a_budget_is_for(row: dict[str, Any]) -> None:
    (found,) = agent_budgets({"limit": 5, "spent": 1, **row})
    assert (found.id, found.name) == ("a1", "Scout")
    assert (amount(found.limit), amount(found.spent)) == ("5", "1")


def test_budgets_by_id_in_a_map() -> None:
    page = decode.decode_page(
        decode.AGENT_BUDGETS,
        parsed({"agents": {"a1": {"limit": 5, "spent": 1}, "a2": {"limit": 7}}}),
    )
    assert [budget.id for budget in page.records] == ["a1", "a2"]


def test_names_that_are_no_figures_stay_unparsed() -> None:
    found = agent_budget(
        limit=5, rate_limit=100, max_retries=3, token_limit_type="x", budget_id="b1"
    )
    assert amount(found.limit) == "5"
    assert set(extra_fields(found.extra)) >= {"rate_limit", "max_retries", "token_limit_type"}


def test_a_budget_for_nobody_is_unparsed() -> None:
    page = decode.decode_page(decode.AGENT_BUDGETS, parsed([{"limit": 5, "spent": 1}]))
    assert (page.records, page.unread) == ((), 1)


CENTS: dict[str, Any] = {"limit": 10000, "spent": 4000}


@pytest.mark.parametrize(
    "body",
    [
        [{"agent_id": "a", "currency": "USD", "unit": "cents", **CENTS}],
        [{"agent_id": "a", "unit": "cents", "currency": "USD", **CENTS}],
        [{"agent_id": "a", "currency": "USD", "in_cents": True, **CENTS}],
        [{"agent_id": "a", "currency": "USD", "amounts_in": "cents", **CENTS}],
        [{"agent_id": "a", "currency": "USD", "minor_units": 2, **CENTS}],
        {"meta": {"currency": "USD", "unit": "cents"}, "data": [{"agent_id": "a", **CENTS}]},
        {"data": {"unit": "usd_cents", "agents": {"a": CENTS}}},
        *(
            [
                {"agent_id": "a", "limit": {"amount": 10000, **unit},
                 "spent": {"amount": 4000, **unit}}
            ]
            for unit in (
                {"currency": "USD", "unit": "cents"},
                {"currency": "USD", "minor_units": 2},
                {"currency": "USD", "exponent": -2},
                {"currency": "USD", "scale": 2},
            )
        ),
    ],
)  # fmt: skip
def test_all_that_tells_the_unit_counts(body: Any) -> None:
    (found,) = decode.decode_page(decode.AGENT_BUDGETS, parsed(body)).records
    for money, told in ((found.limit, "100"), (found.spent, "40")):
        assert money is not None
        assert (amount(money), money.currency, money.unit_assumed) == (told, "USD", False)


def test_figures_of_something_else_are_not_the_records_own() -> None:
    more: dict[str, Any] = {
        "rate_limit": {"limit": 60, "remaining": 10, "used": 50}, "seats": {"limit": 5, "used": 3},
        "previous": {"limit": 80, "spent": 70}, "by_model": {"gpt": {"spent": 30}},
        "company": {"id": "cmp_1", "limit": 1000, "spent": 400}, "company_limit": 900,
        "forecast": {"spent": 120}, "team": {"name": "T", "limit": 900, "spent": 800},
        "max_limit": 1000,
    }  # fmt: skip
    for fields in ({"limit": 100, "spent": 40, **more}, {**more, "spent": 40, "limit": 100}):
        found = agent_budget(**fields)
        assert (amount(found.limit), amount(found.spent)) == ("100", "40")
    assert agent_budget(limit=100, **more).spent is None


# -- the overview -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "limit", "spent"),
    [
        ({"limit": 100, "spent": 40}, "100", "40"),
        ({"budget": {"limit": 100, "spent": 40}}, "100", "40"),
        ({"success": True, "data": {"total_limit": 100, "total_spent": 40}}, "100", "40"),
        ({"data": {"overview": {"monthly_limit": 100, "spent": 40}}}, "100", "40"),
        ({"agents": {"active": 11}, "tasks": {"open": 20},
          "costs": {"monthSpendCents": 4000, "monthBudgetCents": 10000}}, "100", "40"),
        ({"total": {"limit": 100, "spent": 40}, "companies": [{"id": "c1", "limit": 5}]}, "100",
         "40"),
        ([{"limit": 100, "spent": 40}], "100", "40"),
        ({"hourly_limit": 0, "hourly_spend": 1, "monthly_limit": 100, "monthly_spend": 40}, "100",
         "40"),
        ({"data": {"attributes": {"limit": 100, "spent": 40}}}, "100", "40"),
        ({"companies": [{"id": "c1", "limit": 5, "spent": 1}]}, None, None),
    ],
)  # fmt: skip
def test_the_whole(body: Any, limit: str | None, spent: str | None) -> None:
    found = decode.decode_overview(parsed(body))
    assert found.whole.id == decode.WHOLE_ID
    assert (amount(found.whole.limit), amount(found.whole.spent)) == (limit, spent)


def test_parts_are_read_and_never_summed_up() -> None:
    body = {
        "data": {
            "companies": [
                {"company_id": "c1", "limit": 60, "spent": 1},
                {"company_id": "c2", "limit": 40},
            ],
            "agents": [{"agent_id": "a1", "limit": 5, "spent": 1}],
        }
    }
    found = decode.decode_overview(parsed(body))
    assert [(part.scope, part.id) for part in found.parts] == [
        ("company", "c1"), ("company", "c2"), ("agent", "a1"),
    ]  # fmt: skip
    assert found.whole.limit is None
    assert found.whole.spent is None
    assert found.shape


@pytest.mark.parametrize("body", [{"uptime": 3}, "x", 5, {"version": {"a": 1}}])
def test_no_overview_is_told(body: Any) -> None:
    with pytest.raises(decode.Unshaped):
        decode.decode_overview(parsed(body))


def test_an_empty_overview_is_empty() -> None:
    assert decode.decode_overview(None).whole.limit is None


def test_a_field_without_a_name_is_no_envelope() -> None:
    with pytest.raises(decode.Unshaped):
        decode.decode_overview({"data": {"": {}}})


@pytest.mark.parametrize("holder", ["agents", "data", "budgets", "by_agent"])
def test_the_figures_of_a_lone_record_are_no_records(holder: str) -> None:
    figures = {"limit": {"amount": 5, "unit": "USD"}, "spent": {"amount": 1, "unit": "USD"}}
    body = {holder: {"ag_1": {"budget": figures}}}
    (found,) = decode.decode_page(decode.AGENT_BUDGETS, parsed(body)).records
    assert (found.id, amount(found.limit), amount(found.spent)) == ("ag_1", "5", "1")
