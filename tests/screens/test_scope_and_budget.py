from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.keys import Place
from tests.screens.harness import NARROW, PLACES, WIDE, Stage, stage


async def scope_to(s: Stage, name: str) -> str:
    """Go to Companies and press enter on one; its id."""
    company = next(c for c in s.platform.world.state.companies.values() if c.name == name)
    await s.go("companies")
    assert s.view.go_to(company.id)
    await s.press("enter")
    await s.wait_until(lambda: s.session.company == company.id, "the scope")
    return company.id


async def test_enter_scopes_every_screen(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, size=WIDE) as s:
        await s.poll()
        company = await scope_to(s, "Globex")
        await s.sees("every screen shows Globex now")
        assert "Globex" in s.lines[0]
        others = {
            agent.name
            for agent in platform.world.state.agents.values()
            if agent.company.id != company
        }
        wanted: dict[Place, set[str]] = {
            "agents": {a.id for a in platform.world.agents(company)},
            "tasks": {t.id for t in platform.world.tasks(company, "pending")},
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


async def test_requests_carry_the_company_where_the_interface_has_it(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path) as s:
        await s.poll()
        company = await scope_to(s, "Globex")
        for place in PLACES:
            await s.go(place)
            await s.settle()
        await s.poll()
        platform.requests.clear()
        for place in PLACES:
            await s.go(place)
            await s.poll()
        for operation in ("agents", "tasks", "activity", "agent_budgets"):
            asked = platform.requests.matching(operation)
            assert asked, operation
            assert {tuple(parse_qs(seen.query)["company_id"]) for seen in asked} == {(company,)}
        for operation in ("companies", "budget", "company_budgets", "alerts"):
            asked = platform.requests.matching(operation)
            assert asked, operation
            assert {seen.query for seen in asked} == {""}


async def test_0_shows_all_again(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path) as s:
        await s.poll()
        await scope_to(s, "Globex")
        await s.go("tasks")
        await s.wait_until(lambda: 0 < len(s.rows) < 40, "the company's tasks")
        await s.press("0")
        await s.sees("all companies")
        await s.wait_until(lambda: len(s.rows) == 40, "all tasks")
        await s.press("0")
        await s.settle()
        assert s.session.company is None


async def test_the_old_scopes_rows_go_at_once(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    """While the new scope's answer is on its way, nothing of another company is shown as its."""
    async with stage(platform, tmp_path) as s:
        await s.go("tasks")
        await s.poll()
        platform.faults.add("*:hang")
        await scope_to(s, "Globex")
        await s.go("tasks")
        await s.sees("loading")
        assert s.rows == []


# ---- budget


async def test_the_whole_companies_and_agents(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="budget") as s:
        await s.poll()
        state = platform.world.state
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


async def test_alerts_beside_the_gauges(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    for size in (NARROW, WIDE):
        async with stage(platform, tmp_path, place="budget", size=size) as s:
            await s.poll()
            await s.sees("ALERTS 9", "Nora has spent")
            lines = s.lines
            worst = next(at for at, line in enumerate(lines) if "Nora has spent" in line)
            mild = next(at for at, line in enumerate(lines) if "Diego has spent" in line)
            assert worst < mild, "the worst first"
            await s.press("tab")
            await s.press("j")
            alerts = s.view.alerts  # type: ignore[attr-defined]
            assert alerts.has_focus
            assert alerts.cursor_id == alerts.rows.shown[1]
            await s.press("l")
            await s.sees("SET LIMIT", "Ada")
            await s.press("escape")


async def test_limits_are_for_agents(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="budget") as s:
        await s.poll()
        await s.press("g", "l")
        await s.sees("limits can be set for agents")
        assert s.app.screen is s.main
        await s.press("j", "j", "j", "j", "l")
        await s.sees("SET LIMIT", "Ada")


async def test_no_limit_is_not_a_limit_of_nothing(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="budget", size=WIDE) as s:
        await s.poll()
        jonas = s.line_with("Jonas ")[: s.view.table.region.right]
        assert "no limit" in jonas
        assert "%" not in jonas
        assert "$0.00" not in jonas


async def test_the_detail_of_a_budget(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="budget") as s:
        await s.poll()
        await s.press("g", "enter")
        await s.sees("forecast", "resets", "$3,497.09", "esc back")
        await s.press("escape")
        await s.sees("ALERTS 9")
