"""What is put off, what happened meanwhile, and what is handed over."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from agentco_tui.attention.needs import Need, NeedKind
from agentco_tui.history.history import History
from agentco_tui.history.observations import BudgetSample, Observed
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import Level
from agentco_tui.screens.overview_view import OverviewView
from agentco_tui.system.state_folder import Remembered
from tests.platform import EmbeddedPlatform, decide_elsewhere
from tests.screens.harness import NOW, WIDE, Stage, Staging, settings_for
from tests.screens.test_copying import read


def need_at(s: Stage, kind: NeedKind, level: Level) -> Need:
    found = [n for n in s.workspace.needs.shown if (n.kind, n.level) == (kind, level)]
    return next(need for need in found if not need.alike and not need.snooze)


async def snooze(s: Stage, need: Need, how_long: str, note: str = "") -> None:
    """Through the form, as a person does."""
    assert isinstance(s.view, OverviewView)
    s.view.table.move_cursor_to(need.key)
    await s.press("z")
    await s.sees("SNOOZE", "for", "note")
    await s.type(how_long)
    await s.press("tab")
    await s.type(note)
    await s.press("enter")
    await s.wait_until(lambda: s.app.screen is s.main, "the form to go")
    await s.settle()


async def test_a_need_is_put_off_with_a_promise(on: Staging, platform: EmbeddedPlatform) -> None:
    async with on(settings=settings_for(platform, profile="prod")) as s:
        await s.poll()
        need = need_at(s, NeedKind.TASK, Level.WARNING)
        before = s.workspace.needs.levels[Level.WARNING]
        where = s.rows.index(need.key)
        await snooze(s, need, "4h", "ask Linus [b]first")
        assert s.rows[-1] == need.key, "at the bottom"
        assert s.cursor == s.rows[where], "the cursor is on what comes next"
        await s.sees(f"▲ {before - 1} ", "1 snoozed")
        s.view.table.move_cursor_to(need.key)
        await s.sees("snoozed", "back 18:13")
        line = next(line for line in s.lines if line.startswith("▌  "))
        assert "back 18:13" in line
        assert "▲" not in line
        folder = s.dashboard.services.journal.path.parent
        await s.wait_until((folder / "snoozed.json").exists, "the file")
        s.view.table.move_cursor_to(need_at(s, NeedKind.TASK, Level.CRITICAL).key)
        await s.press("z")
        for typed, told in (("99d", "give 15m"), ("worse", "can't get worse")):
            await s.press("ctrl+u")
            await s.type(typed)
            await s.press("enter")
            await s.sees(told)
        await s.press("escape")
        assert len(s.workspace.snoozes.all) == 1
        (folder / "snoozed.json").unlink()
        (folder / "snoozed.json").mkdir()
        await snooze(s, need_at(s, NeedKind.TASK, Level.WARNING), "1h")
        await s.sees("what is snoozed holds")


async def test_its_time_or_that_it_is_worse_brings_it_back(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        timed = need_at(s, NeedKind.BUDGET, Level.WARNING)
        await snooze(s, timed, "15m")
        assert s.rows[-1] == timed.key
        task = need_at(s, NeedKind.TASK, Level.WARNING)
        await snooze(s, task, "worse")
        s.view.table.move_cursor_to(task.key)
        await s.sees("until worse")
        s.platform.world.advance(14 * 60.0)
        s.dashboard.needs_refresh.start(s.main)
        assert set(s.workspace.snoozes.all) == {timed.key}
        found = next(n for n in s.workspace.needs.shown if n.key == task.key)
        assert found.level is Level.CRITICAL
        s.platform.world.advance(59.5)
        s.main.ticker.tick()
        assert set(s.workspace.snoozes.all) == {timed.key}, "half a second before its time"
        s.platform.world.advance(0.5)
        s.main.ticker.tick()
        assert s.workspace.snoozes.all == {}
        assert not s.workspace.needs.snoozed


async def test_enter_submits_a_snooze_as_it_stands(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        need = need_at(s, NeedKind.TASK, Level.WARNING)
        s.view.table.move_cursor_to(need.key)
        await s.press("z")
        await s.sees("SNOOZE", "enter: snooze")
        await s.press("enter")
        await s.wait_until(lambda: s.app.screen is s.main, "the form to go")
        assert s.workspace.snoozes.all[need.key].until == s.workspace.clock.now() + 3_600


async def test_a_snooze_ends_to_the_moment(on: Staging) -> None:
    """By a timer of its own, not by the next tick: that of a second is late by half of it."""
    async with on() as s:
        await s.poll()
        need = need_at(s, NeedKind.TASK, Level.WARNING)
        await snooze(s, need, "15m")
        waits = list[float]()
        s.main.set_timer = lambda delay, *_, **__: waits.append(delay)  # type: ignore
        s.platform.world.advance(15 * 60 - 30.0)
        s.main.ticker.tick()
        assert not waits, "a timer of half a minute would be wrong once the clock is corrected"
        s.platform.world.advance(29.75)
        s.main.ticker.tick()
        s.main.ticker.tick()
        assert waits == [pytest.approx(0.25)]
        s.platform.world.advance(0.25)
        s.main.ticker.snooze_timer.fire()
        assert not s.workspace.needs.snoozed


async def test_z_again_takes_it_off_and_what_is_over_is_no_more(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    async with on() as s:
        agent = next(iter(platform.world.state.agents.values()))
        for _ in range(3):
            platform.world.create_task(agent.company.id, "Pay Bob", agent.id, "urgent")
        await s.poll()
        group = next(need for need in s.workspace.needs.shown if need.alike)
        task = need_at(s, NeedKind.TASK, Level.CRITICAL)
        order = s.rows
        await snooze(s, group, "1h")
        assert len(s.workspace.snoozes.all) == len(group.alike) == len(s.workspace.needs.snoozed)
        s.view.table.move_cursor_to(group.key)
        await s.press("z")
        assert s.workspace.snoozes.all == {}
        assert s.rows == order
        await snooze(s, task, "1h")
        decide_elsewhere(platform.world, task.record.id, "reject")
        await s.poll()
        await s.wait_until(lambda: not s.workspace.snoozes.all, "a snooze of nothing is none")


HOUR = 3_600.0


async def test_the_page_tells_what_happened_and_each_line_opens(
    on: Staging, tmp_path: Path
) -> None:
    history = History(tmp_path / "history.sqlite3", "demo", "https://p.example")
    async with on(size=WIDE) as s:
        await s.poll()
        await s.press("L")
        await s.sees("SINCE 06:13 (8 h 00 m)", "without a history", "Decided 14", "Mirela")
        await s.sees("the log was not read from 06:13 to 10:30")
        await s.press("minus", "minus", "minus")
        await s.sees("SINCE 13:13 (1 h 00 m)", "Decided 6")
        await s.press("plus", "plus", "plus")
        await s.sees("SINCE 06:13 (8 h 00 m)", "and 9 more")
        await s.press("j", "enter")
        await s.wait_until(lambda: s.main.place == "activity" and s.view.reading, "the entry")
        opened = s.cursor
        await s.press("escape")
        assert s.main.place == "overview"
        await s.sees("SINCE 06:13", "and 9 more")
        await s.press("enter")
        await s.wait_until(lambda: s.view.reading, "the entry again")
        assert s.cursor == opened, "the cursor was where it had been"
        await s.press("escape")
        await s.sees("and 9 more")
        await s.press("j", "j", "j", "j", "enter")
        await s.sees_no("and 9 more")
        await s.press("escape")
        assert s.app.screen is s.main

        company = next(c for c in s.workspace.store.companies if c.name == "Globex")
        figures = (NOW - 9 * HOUR, 1_000), (NOW - 5 * HOUR, 1_200), (NOW - HOUR, 1_255)
        samples = [BudgetSample(at, Decimal(spent), Decimal(4_330)) for at, spent in figures]
        feed, seen = FeedName.COMPANY_BUDGETS, (NOW - 9 * HOUR, NOW)
        told = [(feed, company.id, "USD", sample) for sample in samples]
        feeds = (FeedName.ACTIVITY, FeedName.PENDING, FeedName.ALERTS, feed)
        history.write([Observed(samples=[*told], seen=[(each, "", seen) for each in feeds])])
        s.workspace.history = history
        await s.press("L")
        await s.sees("Globex", "~$255.00, now $1,255.60 of $4,330.00")
        await s.sees_no("not read")
    history.close()


async def test_an_absence_is_a_notice_and_takes_no_key(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        await s.press("j")
        assert s.main.remembered().left_at == NOW, "the last sign of a person"
        s.platform.world.advance(1.9 * HOUR)
        await s.press("k")
        assert "since you left" not in s.text
        s.platform.world.advance(7 * HOUR + 40 * 60.0)
        before = s.cursor
        await s.press("j")
        await s.sees("7 h 40 m since you left: L shows")
        assert s.cursor != before, "the key did what it was meant for"
        assert s.app.screen is s.main
        await s.press("L")
        await s.sees("SINCE 16:07 (7 h 40 m)")


async def test_when_it_was_left_is_remembered(on: Staging) -> None:
    before = Remembered(left_at=NOW - 9 * HOUR)
    async with on(remembered=before, faults=["tasks:hang"], wait=False) as s:
        assert s.main.remembered().left_at == before.left_at, "nothing was seen in this run"
        s.platform.faults.clear()
    async with on(remembered=before) as s:
        await s.sees("9 h 00 m since you left")
        await s.press("L")
        await s.sees("SINCE 05:13 (9 h 00 m)")


async def test_a_hand_over_is_written_to_a_new_file_or_copied(
    on: Staging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clipboard: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    async with on(size=WIDE) as s:
        await s.poll()
        await snooze(s, need_at(s, NeedKind.BUDGET, Level.WARNING), "4h", "ask `Bob` <now>")
        path = tmp_path / "shift.md"
        path.write_text("mine")
        await s.press("H")
        await s.sees("HAND OVER", "since 06:13", "handover-2026-09-21-1413.md")
        await s.press("ctrl+u")
        await s.type("shift.md")
        await s.press("enter")
        await s.sees("choose another name")
        assert path.read_text() == "mine"
        await s.press("ctrl+u")
        await s.type("new.md")
        await s.press("enter")
        await s.sees("the hand-over was written")
        text = (tmp_path / "new.md").read_text()
        assert text.startswith("# Hand-over: `demo, all companies`")
        for words in (
            "- ✖ `stopped 101 % of $100.00: Nora (Initech Content);",
            "4 tasks stay blocked",
            "back 18:13: ask 'Bob' <now>",
            "approved Ask 45 customers",
        ):
            assert words in text
        assert s.platform.full_key not in text
        await s.press("H")
        await s.press("ctrl+u")
        await s.type("clipboard")
        await s.press("enter")
        await s.sees("copied with wl-copy: # Hand-over")
        copied = read(clipboard).splitlines()
        assert copied[0] == text.splitlines()[0]
        assert len(copied) == len(text.splitlines())
