from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from agentco_tui.keys import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.budget_view import BudgetView
from tests.screens.harness import NARROW, PLACES, WIDE, Stage, Staging


async def scope_to(s: Stage, name: str) -> str:
    """Go to Companies and press enter on one; its id."""
    company = next(c for c in s.platform.world.state.companies.values() if c.name == name)
    await s.go("companies")
    assert s.view.go_to(company.id)
    await s.press("enter")
    await s.wait_until(lambda: s.session.poller.query.company == company.id, "the scope")
    return company.id


async def test_enter_scopes_every_screen_and_0_shows_all_again(on: Staging) -> None:
    async with on(size=WIDE) as s:
        await s.poll()
        company = await scope_to(s, "Globex")
        await s.sees("every screen shows Globex now")
        assert "Globex" in s.lines[0]
        others = {
            agent.name
            for agent in s.platform.world.state.agents.values()
            if agent.company.id != company
        }
        wanted: dict[Place, set[str]] = {
            "agents": {a.id for a in s.platform.world.agents(company)},
            "tasks": {t.id for t in s.platform.world.tasks(company, "pending")},
        }
        for place in PLACES:
            if place == "companies":
                continue
            await s.go(place)
            await s.poll()
            body = s.lines[2:]
            assert not any(name in line for name in others for line in body), place
            if place in wanted:
                assert set(s.rows) == wanted[place]
        await s.go("companies")
        assert len(s.rows) == 3, "one can go on to another company"
        await s.go("tasks")
        await s.wait_until(lambda: 0 < len(s.rows) < 40, "the company's tasks")
        await s.press("0")
        await s.sees("all companies")
        await s.wait_until(lambda: len(s.rows) == 40, "all tasks")
        await s.press("0")
        await s.settle()
        assert s.session.poller.query.company is None


async def test_requests_carry_the_company_where_the_interface_has_it(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        company = await scope_to(s, "Globex")
        for place in PLACES:
            await s.go(place)
            await s.settle()
        await s.poll()
        s.platform.requests.clear()
        for place in PLACES:
            await s.go(place)
            await s.poll()
        for operation in ("agents", "tasks", "activity", "agent_budgets"):
            asked = s.platform.requests.matching(operation)
            assert asked, operation
            assert {tuple(parse_qs(seen.query)["company_id"]) for seen in asked} == {(company,)}
        for operation in ("companies", "budget", "company_budgets", "alerts"):
            asked = s.platform.requests.matching(operation)
            assert asked, operation
            assert {seen.query for seen in asked} == {""}


async def test_the_old_scopes_rows_go_at_once(on: Staging) -> None:
    """While the new scope's answer is on its way, nothing of another company is shown as its."""
    async with on() as s:
        await s.go("tasks")
        await s.poll()
        s.platform.faults.add("*:hang")
        await scope_to(s, "Globex")
        await s.go("tasks")
        await s.sees("loading")
        assert s.rows == []


# ---- budget


async def test_the_whole_companies_and_agents(on: Staging) -> None:
    async with on(place="budget") as s:
        await s.poll()
        state = s.platform.world.state
        wanted = {"all:all"}
        wanted |= {f"company:{company}" for company in state.companies}
        wanted |= {f"agent:{agent}" for agent in state.agents}
        assert set(s.rows) == wanted
        assert s.rows[0] == "all:all"
        ada = s.line_with("Ada ")
        assert "✖" in ada
        assert "119 %" in ada
        assert "$118.80" in ada
        assert "▲" in s.line_with("Acme Robotics")
        await s.resize(*WIDE)
        await s.sees("Jonas ")
        jonas = s.line_with("Jonas ")[: s.view.table.region.right]
        assert "no limit" in jonas, "which is not a limit of nothing"
        assert "%" not in jonas
        assert "$0.00" not in jonas


async def test_limits_are_for_agents(on: Staging) -> None:
    async with on(place="budget") as s:
        await s.poll()
        await s.press("g", "enter")
        await s.sees("forecast", "resets", "$3,497.09", "esc back")
        await s.press("escape")
        await s.sees("ALERTS 9")
        await s.press("l")
        await s.sees("limits can be set for agents")
        assert s.app.screen is s.main
        await s.press("j", "j", "j", "j", "l")
        await s.sees("SET LIMIT", "Ada")


def budget(s: Stage) -> BudgetView:
    view = s.main.view
    assert isinstance(view, BudgetView)
    return view


@pytest.mark.parametrize("size", [NARROW, (100, 30), WIDE])
async def test_alerts_stand_beside_the_gauges_and_tab_leads_there_and_back(
    on: Staging, size: tuple[int, int]
) -> None:
    async with on(place="budget", size=size) as s:
        await s.poll()
        await s.sees("ALERTS 9", "Nora has spent", "tab alerts", "tab to these")
        assert s.text.index("Nora has spent") < s.text.index("Diego has spent"), "the worst first"
        await s.press("j", "tab")
        await s.sees("tab back")
        alerts = budget(s).alerts
        assert alerts.has_focus
        if size == WIDE:
            await s.sees("DETAIL of the alert", "threshold")
        await s.press("j")
        assert alerts.view.cursor == alerts.rows.shown[1]
        await s.press("l")
        await s.sees("SET LIMIT", "Ada")
        await s.press("escape")
        await s.sees_no("SET LIMIT")
        await s.press("tab")
        await s.sees("tab to these")
        if size == WIDE:
            await s.sees("DETAIL of the budget")
            await s.sees_no("threshold")
        assert budget(s).table.has_focus
        assert s.cursor == s.rows[1]
        await s.press("?")
        await s.sees("To the alerts, and back")


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_an_alert_is_read_until_it_is_left(on: Staging, size: tuple[int, int]) -> None:
    """Answers that come meanwhile don't put the budget's detail in its place."""
    async with on(place="budget", size=size) as s:
        await s.poll()
        await s.press("tab", "enter")
        await s.sees("DETAIL of the alert", "threshold", "esc back")
        s.platform.world.advance(60)
        await s.poll(FeedName.BUDGET, FeedName.AGENT_BUDGETS, FeedName.COMPANY_BUDGETS)
        await s.sees("DETAIL of the alert", "threshold")
        await s.press("tab")
        await s.sees("DETAIL of the alert", "threshold")
        await s.press("escape")
        await s.wait_until(lambda: budget(s).alerts.has_focus, "the alerts")


async def test_another_key_is_named(on: Staging) -> None:
    for key, words in (("f6", "f6 to these"), ("unbound", "ALERTS")):
        async with on(place="budget", keys={"budget.alerts": key}) as s:
            await s.poll()
            await s.sees(words)
            assert "tab" not in s.text
