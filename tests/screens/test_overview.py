from __future__ import annotations

from functools import partial

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.insight import Level, Need, NeedKind
from agentco_tui.model import Budget, Task
from tests.screens.harness import Stage, Staging, settings_for


def needs(s: Stage) -> list[Need]:
    table = s.view.table
    found = [table.rows.record(row_id) for row_id in s.rows]
    return [need for need in found if isinstance(need, Need)]


async def test_the_worst_comes_first_and_every_sign_is_whole(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        found = needs(s)
        levels = [need.level for need in found]
        assert levels == sorted(levels, reverse=True)
        assert levels[0] is Level.CRITICAL
        titles = [need.record.title for need in found if isinstance(need.record, Task)]
        assert titles[0] == "Rotate the staging database password", "urgent, and waits for long"
        assert "✖" in s.line_with("Rotate the staging")
        warned = next(n for n in found if n.level is Level.WARNING)
        s.view.table.move_cursor_to(warned.key)
        await s.settle()
        assert "▲" in next(line for line in s.lines if line.startswith("▌  "))
        waits = [
            need.record.waiting_since or need.record.created
            for need in found
            if isinstance(need.record, Task)
            and need.level is Level.CRITICAL
            and need.record.priority == "low"
        ]
        moments = [moment.at for moment in waits if moment is not None]
        assert len(moments) > 2
        assert moments == sorted(moments), "the longest wait first"
        await s.sees("SPEND", "83 %")
        told = [line[:40] for line in s.lines if "Acme R" in line and "budget low" not in line]
        assert any("83 %" in line and "▲" in line for line in told), "where it is narrow, too"


async def test_time_alone_makes_a_need(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        before = len(s.rows)
        s.platform.world.clock.advance(3_600)
        s.main.tick()
        for _ in range(10):
            s.main.tick()
        assert len(s.rows) > before


async def test_counts_agree_with_the_platform(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        state = s.platform.world.state
        alerts = [alert for alert in state.alerts.values() if alert.resolved is None]
        critical = sum(1 for alert in alerts if alert.severity == "critical")
        tabs, header = s.lines[1], s.lines[0]
        assert f"2 Companies {len(state.companies)} " in tabs
        assert f"3 Agents {len(state.agents)} " in tabs
        assert f"4 Tasks {len(state.pending)} " in tabs
        assert f"✖{critical}" in tabs
        assert f"✖ {critical}" in header
        assert f"▲ {len(alerts) - critical}" in header
        task = next(iter(state.pending))
        s.platform.world.another_operator(task, "reject")
        s.platform.world.create_company("Hooli", "consulting", "Make the world a better place.")
        await s.poll()
        await s.sees(f"4 Tasks {len(state.pending)} ", f"2 Companies {len(state.companies)} ")


async def test_counts_are_of_the_scope(on: Staging, platform: EmbeddedPlatform) -> None:
    company = next(c for c in platform.world.state.companies.values() if c.name == "Globex")
    async with on(settings=settings_for(platform, company=company.id)) as s:
        await s.poll()
        await s.sees("Globex", f"4 Tasks {company.pending} ")
        alerts = [
            alert
            for alert in platform.world.alerts()
            if alert.resolved is None and alert.company.id == company.id
        ]
        assert f"▲ {len(alerts)}" in s.lines[0]
        assert "Acme Robotics" not in s.text


async def test_enter_opens_the_record_and_other_keys_say_what_they_need(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        budget = next(
            n for n in needs(s) if isinstance(n.record, Budget) and n.record.name == "Acme Robotics"
        )
        s.view.table.move_cursor_to(budget.key)
        for key, words in (("a", "a task"), ("t", "a task"), ("l", "a line about")):
            await s.press(key)
            await s.sees("put the cursor on", words)
        assert s.app.screen is s.main
        await s.poll()
        for kind in (NeedKind.TASK, NeedKind.BUDGET):
            await s.go("overview")
            record = [need for need in needs(s) if need.kind is kind][-1].record
            place, row = "tasks", record.id
            if isinstance(record, Budget):
                place, row = "budget", f"{record.scope}:{record.id}"
            key = f"{kind}:{row}"
            assert s.view.table.move_cursor_to(key)
            await s.press("enter")
            opened = partial(lambda *wish: (s.main.place, s.cursor) == wish, place, row)
            await s.wait_until(opened, f"{row} on {place}")
