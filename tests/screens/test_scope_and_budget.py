from __future__ import annotations

import re
from collections import Counter
from functools import partial
from urllib.parse import parse_qs

import pytest
from msgspec.structs import replace

from agentco_tui.demo.world_state import DemoCompany
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Listing
from agentco_tui.screens.budget_view import BudgetView
from tests.screens.harness import NARROW, NOW, PLACES, WIDE, Stage, Staging, text_of


async def scope_to(s: Stage, name: str) -> str:
    """Go to Companies and press enter on one; its id."""
    company = next(c for c in s.platform.world.state.companies.values() if c.name == name)
    await s.go("companies")
    assert s.view.go_to(company.id)
    await s.press("enter")
    await s.wait_until(lambda: s.workspace.poller.query.company == company.id, "the scope")
    return company.id


async def test_enter_scopes_every_screen_and_0_shows_all_again(on: Staging) -> None:
    async with on(size=WIDE) as s:
        await s.poll()
        company = await scope_to(s, "Globex")
        await s.sees("Companies › Globex")
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
        assert s.workspace.poller.query.company is None


@pytest.mark.parametrize(("size", "least"), [(NARROW, 7), (WIDE, 11), ((200, 50), 21)])
async def test_one_gauge_is_drawn_everywhere_with_the_mark_of_today(
    on: Staging, size: tuple[int, int], least: int
) -> None:
    def gauge(line: str) -> str:
        found = re.search(r"[█▏▎▍▌▋▊▉─]+│[█▏▎▍▌▋▊▉─]+▶?", line)
        assert found, line
        return found[0]

    async with on(size=size) as s:
        for place in PLACES[size == NARROW :]:
            if place in ("tasks", "activity"):
                continue
            await s.go(place)
            await s.poll()
            await s.press("g")
            name = "Ada" if place in ("agents", "budget") else "Acme"
            drawn = gauge(next(x for x in s.lines if name in x and "█│" in x))
            assert drawn.endswith("▶") is (name == "Ada"), "119 % sticks out"
            # On the Overview the log stands beside it where there is room for both.
            assert len(drawn) >= (min(least, 13) if place == "overview" else least)
            state = s.platform.world.state
            passed = (NOW - state.period_start) / (state.resets - state.period_start)
            whole = len(drawn.removesuffix("▶"))
            assert drawn.index("│") == int(passed * whole)
        await s.go("agents")
        await s.press("enter")
        await s.sees("▶ 119 %")
        page = next(x for x in text_of(s.view.detail).splitlines() if "119 %" in x)
        assert gauge(page).endswith("▶"), "on its page"


async def test_what_is_not_read_of_a_company_is_missing_and_not_none(on: Staging) -> None:
    async with on(place="companies", size=(200, 50)) as s:
        await s.poll()
        store = s.workspace.store
        silent = [replace(c, agent_count=None, pending_count=None) for c in store.companies]
        store.publish(store.companies.replace(Listing(records=tuple(silent))))
        waiting = Counter(
            task.agent.company.name for task in s.platform.world.tasks(None, "pending")
        )

        def told(name: str, *counts: str) -> bool:
            return re.search(rf"{name} +active +{' +'.join(counts)} ", s.text) is not None

        for name, count in waiting.items():
            await s.wait_until(partial(told, name, "~8", f"~{count}"), f"what {name} has")
        s.main.set_scope(company_named(s, "Globex").id)
        await s.wait_until(partial(told, "Acme Robotics", "–", "–"), "that nothing of it is read")
        assert told("Globex", "~8", f"~{waiting['Globex']}")


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
        globex = await scope_to(s, "Globex")
        await s.go("tasks")
        wanted = {task.id for task in s.platform.world.tasks(globex, "pending")}
        assert set(s.rows) == wanted, "which the answer for all had"
        s.main.set_scope(next(c for c in s.platform.world.state.companies if c != globex))
        await s.sees("loading")
        assert s.rows == []


# ---- a company that there is not


def company_named(s: Stage, name: str) -> DemoCompany:
    return next(c for c in s.platform.world.state.companies.values() if c.name == name)


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_company_that_is_none_is_an_error_on_every_screen(
    on: Staging, size: tuple[int, int]
) -> None:
    async with on(company="umbrella", size=size) as s:
        for place in PLACES:
            await s.go(place)
            await s.poll()
            assert "✖ umbrella" in s.lines[0]
            await s.sees("✖ no company has the name or id umbrella (--company); 0 shows all")
            for green in ("nothing needs you", "no task waits", "0 tasks wait", "● no", "Tasks 0"):
                assert green not in s.text, place
            if place not in ("companies", "budget"):
                assert s.rows == []
                await s.sees("there is no such company")
        await s.press("0")
        await s.sees_no("umbrella", "no such company")
        await s.go("tasks")
        await s.sees("Refund 214 customers")


async def test_a_company_that_is_deleted_is_told(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        company = await scope_to(s, "Globex")
        await s.go("tasks")
        await s.poll()
        assert s.rows
        state = s.platform.world.state
        state.changed(state.companies.pop(company))
        await s.poll()
        await s.sees(f"✖ no company has the name or id {company}; 0 shows all companies")


async def test_a_company_may_be_named(on: Staging) -> None:
    async with on(place="tasks", company="globex") as s:
        globex = company_named(s, "Globex")
        await s.wait_until(lambda: s.workspace.poller.query.company == globex.id, "its id")
        await s.wait_until(lambda: len(s.rows) == globex.pending, "its tasks")
        assert "✖" not in s.lines[0].partition("Globex")[0]


async def test_until_it_is_known_nothing_is_called_good(on: Staging) -> None:
    """While the companies are on their way, and where they can't be read."""
    quiet = on(company="globex", faults=["companies:hang"], wait=False)
    async with quiet as s:
        await s.wait_until(
            lambda: s.workspace.store.freshness[FeedName.PENDING].answered_at, "tasks"
        )
        await s.settle()
        await s.sees("loading…")
        assert "nothing needs you" not in s.text
        assert "Tasks 0" not in s.text
    s.platform.faults.clear()
    async with on(company="cmp_none", faults=["companies:status=403"], wait=False) as s:
        await s.sees("◌ nothing needs you in cmp_none, if there is such a company")
        assert "● nothing" not in s.text


async def test_an_empty_list_says_of_what_there_is_nothing(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.poll()
        await s.press("colon", *"tasks urgent", "enter")
        await s.sees("✖ no task with status urgent; 40 wait")
        await s.press("colon", *"tasks urgent", "enter")
        await s.sees("nothing here is called tasks urgent: did you mean tasks ")
        await s.press("escape")
        alone = s.platform.world.create_company("Umbrella Weather", "consulting", "Rain.")
        await s.poll()
        s.main.set_scope(alone.id)
        await s.poll()
        await s.sees("no task with status urgent in Umbrella Weather; 0 wait")
        await s.go("overview")
        await s.sees("● nothing needs you in Umbrella Weather")


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
        assert "–" not in jonas, "which would be said of what was not sent"
        await s.go("agents")
        assert "no limit" in s.line_with("Jonas ")[: s.view.table.region.right]


def tree(s: Stage) -> list[tuple[int, str]]:
    """The rows of the budget as they are drawn: how far each is set in, and its name."""
    # private: a table does not say which columns have room.
    name = next(one for one in s.view.table._painter.places if one.column.key == "name")
    cells = [name.column.cell(s.view.table.model.record(row)).text for row in s.rows]
    return [(len(text) - len(text.lstrip()), text.strip()) for text in cells]


async def test_a_tree_the_worst_branch_first_with_agents_below_their_company(on: Staging) -> None:
    async with on(place="budget", size=(100, 60)) as s:
        await s.poll()
        await s.sees("worst first", "  Ada", "  Bruno")
        state, below = s.platform.world.state, ""
        for depth, name in tree(s)[1:]:
            below = below if depth else name
            agent = next((a for a in state.agents.values() if a.name == name), None)
            assert (agent is not None) == (depth == 2), name
            assert agent is None or state.companies[agent.company.id].name == below
        names = [name for _, name in tree(s)]
        assert names[:6] == ["all", "Acme Robotics", "Ada", "Kofi", "Maya", "Ines"]
        assert names.index("Initech Content") < names.index("Globex"), "of which no agent is over"
        bruno = next(agent for agent in state.agents.values() if agent.name == "Bruno")
        s.platform.world.set_limit(bruno.id, 20)
        await s.poll(FeedName.AGENT_BUDGETS)
        await s.wait_until(lambda: tree(s)[1:3] == [(0, "Globex"), (2, "Bruno")], "another worst")
        assert (len(tree(s)), s.rows[0], s.cursor) == (28, "all:all", "all:all")


async def test_every_other_order_and_a_filter_are_flat_and_name_the_company(on: Staging) -> None:
    async with on(place="budget", size=(100, 60)) as s:
        await s.poll()
        await s.press("j", "j")
        ada = s.cursor
        await s.press("s")
        await s.sees("by name", "Ada · Acme Robotics")
        assert s.cursor == ada
        assert not any(depth for depth, _ in tree(s))
        await s.press("slash", *"globex", "enter")
        await s.sees("9 of 28", "Bruno · Globex")
        await s.press("escape")
        while s.view.table.sort != ("level", True):
            await s.press("s")
        await s.press("slash", *"ada", "enter")
        await s.sees("1 of 28", "Ada · Acme Robotics")
        await s.press("escape")
        await s.sees("   Ada ")
        await s.press("S")
        await s.sees("worst last", "Ada · Acme Robotics")


async def test_an_agent_of_no_listed_company_stands_by_itself(on: Staging) -> None:
    async with on(place="budget", size=(100, 60)) as s:
        await s.poll()
        company = next(c for c in s.workspace.store.companies if c.name == "Globex")
        s.workspace.store.publish(s.workspace.store.company_budgets.drop(company.id))
        await s.wait_until(lambda: (0, "Linus") in tree(s), "no company to hang below")
        assert tree(s)[-1][0] == 0
        assert (2, "Ada") in tree(s)


@pytest.mark.parametrize(("place", "first"), [("agents", "Ada"), ("companies", "Acme Robotics")])
async def test_lists_open_with_the_worst_first(on: Staging, place: Place, first: str) -> None:
    async with on(place="tasks") as s:
        await s.go(place)
        await s.poll()
        await s.sees("worst first")
        assert first in s.lines[4]
        await s.press("S")
        await s.sees("worst last")
        assert first not in s.lines[4]


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
        assert alerts.viewport.cursor == alerts.model.shown[1]
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
