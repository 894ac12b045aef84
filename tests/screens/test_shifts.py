"""What is put off, what happened meanwhile, and what is handed over."""

from __future__ import annotations

import pytest

from agentco_tui.live.insight import Level
from agentco_tui.live.needs import Need, NeedKind
from agentco_tui.screens.overview_view import OverviewView
from tests.embedded import EmbeddedPlatform, another_operator
from tests.screens.harness import NARROW, WIDE, Stage, Staging, settings_for


def need_at(s: Stage, kind: NeedKind, level: Level) -> Need:
    found = [n for n in s.session.needs.shown if (n.kind, n.level) == (kind, level)]
    return next(need for need in found if not need.alike and not need.snooze)


async def snooze(s: Stage, need: Need, how_long: str, note: str = "") -> None:
    """Through the form, as a person does."""
    assert isinstance(s.view, OverviewView)
    s.view.table.move_cursor_to(need.key)
    await s.press("z")
    await s.sees("SNOOZE", "for", "note")
    await s.type(how_long)
    await s.press("enter")
    await s.type(note)
    await s.press("enter")
    await s.wait_until(lambda: s.app.screen is s.main, "the form to go")
    await s.settle()


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_need_is_put_off_with_a_promise(
    on: Staging, platform: EmbeddedPlatform, size: tuple[int, int]
) -> None:
    async with on(size=size, settings=settings_for(platform, profile="prod")) as s:
        await s.poll()
        need = need_at(s, NeedKind.TASK, Level.WARNING)
        before = s.session.needs.levels[Level.WARNING]
        where = s.rows.index(need.key)
        await snooze(s, need, "4h", "ask Linus [b]first")
        assert s.rows[-1] == need.key, "at the bottom"
        assert s.cursor == s.rows[where], "the cursor is on what comes next"
        await s.sees(f"▲ {before - 1} ", "1 snoozed")
        s.view.table.move_cursor_to(need.key)
        await s.sees("back 18:13", "snoozed, back 18:13: ask Linus [b]first")
        line = next(line for line in s.lines if line.startswith("▌  "))
        assert "back 18:13" in line
        assert "▲" not in line
        folder = s.session.journal.path.parent
        await s.wait_until((folder / "snoozed.json").exists, "the file")


async def test_the_time_alone_brings_it_back(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        need = need_at(s, NeedKind.BUDGET, Level.WARNING)
        await snooze(s, need, "15m")
        assert s.rows[-1] == need.key
        s.platform.world.advance(14 * 60.0)
        s.session.needs.look(s.main)
        assert [n.key for n in s.session.needs.shown if n.snooze] == [need.key]
        s.platform.world.advance(61.0)
        for _ in range(10):
            s.main.tick()
        assert not [n for n in s.session.needs.shown if n.snooze]
        assert s.session.snoozes.all == {}
        await s.sees_no("snoozed")


async def test_what_is_worse_is_back_at_once(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        need = need_at(s, NeedKind.TASK, Level.WARNING)
        await snooze(s, need, "worse")
        s.view.table.move_cursor_to(need.key)
        await s.sees("until worse")
        s.platform.world.advance(3_600.0)
        s.session.needs.look(s.main)
        await s.wait_until(lambda: not s.session.snoozes.all, "the need")
        found = next(n for n in s.session.needs.shown if n.key == need.key)
        assert found.level is Level.CRITICAL


async def test_z_again_takes_it_off_and_what_is_over_is_no_more(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    async with on() as s:
        agent = next(iter(platform.world.state.agents.values()))
        for _ in range(3):
            platform.world.create_task(agent.company.id, "Pay Bob", agent.id, "urgent")
        await s.poll()
        group = next(need for need in s.session.needs.shown if need.alike)
        task = need_at(s, NeedKind.TASK, Level.CRITICAL)
        order = s.rows
        await snooze(s, group, "1h")
        assert len(s.session.snoozes.all) == len(group.alike) == s.session.needs.snoozed
        s.view.table.move_cursor_to(group.key)
        await s.press("z")
        assert s.session.snoozes.all == {}
        assert s.rows == order
        await snooze(s, task, "1h")
        another_operator(platform.world, task.record.id, "reject")
        await s.poll()
        await s.wait_until(lambda: not s.session.snoozes.all, "a snooze of nothing is none")


async def test_what_is_no_time_is_told_and_critical_needs_a_time(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        s.view.table.move_cursor_to(need_at(s, NeedKind.TASK, Level.CRITICAL).key)
        await s.press("z")
        for typed, told in (
            ("soon", "give 15m"),
            ("worse", "can't get worse"),
            ("99d", "give 15m"),
        ):
            await s.press("ctrl+u")
            await s.type(typed)
            await s.press("enter", "enter")
            await s.sees(told)
        await s.press("escape")
        assert s.session.snoozes.all == {}
