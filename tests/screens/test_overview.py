from __future__ import annotations

import re
from collections import Counter
from functools import partial

import msgspec
import pytest

from agentco_tui.attention.needs import Need, NeedKind
from agentco_tui.attention.needs_model import NeedsModel
from agentco_tui.attention.snooze import Snooze
from agentco_tui.commands.status import headline, judge
from agentco_tui.live.activity_window import ActivityWindow
from agentco_tui.live.insight import Level
from agentco_tui.model import Budget, BudgetScope, Listing, Moment, Ref, Task
from agentco_tui.screens.overview_panels import is_noisy
from agentco_tui.text import mark_safe
from agentco_tui.text.signs import use_ascii
from tests.platform import EmbeddedPlatform, decide_elsewhere
from tests.screens.harness import NARROW, NOW, PLACES, WIDE, Stage, Staging, settings_for


def needs(s: Stage) -> list[Need]:
    table = s.view.table
    found = [table.model.record(row_id) for row_id in s.rows]
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
        told = [line[:40] for line in s.lines if "Acme R" in line and "money low" not in line]
        assert any("83 %" in line and "▲" in line for line in told), "where it is narrow, too"


async def test_time_alone_makes_a_need(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        before = len(s.rows)
        s.platform.world.advance(3_600)
        s.main.ticker.tick()
        for _ in range(10):
            s.main.ticker.tick()
        assert len(s.rows) > before


async def test_counts_agree_with_the_platform(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        state = s.platform.world.state
        levels = Counter(need.level for need in needs(s))
        money = [n.level for n in needs(s) if n.kind in (NeedKind.BUDGET, NeedKind.ALERT)]
        told = f"✖ {levels[Level.CRITICAL]} ", f"▲ {levels[Level.WARNING]} "
        tabs, header = s.lines[1], s.lines[0]
        assert f"2 Companies {len(state.companies)} " in tabs
        assert f"3 Agents {len(state.agents)} " in tabs
        assert f"4 Tasks {len(state.pending)} " in tabs
        assert f"5 Budget ✖{money.count(Level.CRITICAL)} " in tabs, "those of the list about money"
        for line in (header, s.lines[2]):
            assert all(word in line for word in told)
        for place in PLACES:
            await s.go(place)
            await s.poll()
            assert all(word in s.lines[0] for word in told), "one count on all screens"
        await s.go("overview")
        task = next(iter(state.pending))
        decide_elsewhere(s.platform.world, task, "reject")
        s.platform.world.create_company("Hooli", "consulting", "Make the world a better place.")
        await s.poll()
        await s.sees(f"4 Tasks {len(state.pending)} ", f"2 Companies {len(state.companies)} ")


async def test_counts_are_of_the_scope(on: Staging, platform: EmbeddedPlatform) -> None:
    company = next(c for c in platform.world.state.companies.values() if c.name == "Globex")
    async with on(settings=settings_for(platform, company=company.id)) as s:
        await s.poll()
        await s.sees("Globex", f"4 Tasks {company.pending} ")
        levels = Counter(need.level for need in needs(s))
        assert f"▲ {levels[Level.WARNING]} " in s.lines[0]
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
            key = row if isinstance(record, Budget) else f"task:{row}"
            assert s.view.table.move_cursor_to(key)
            await s.press("enter")
            opened = partial(lambda *wish: (s.main.place, s.cursor) == wish, place, row)
            await s.wait_until(opened, f"{row} on {place}")


async def test_choosing_a_company_is_a_load_and_not_a_change(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        await s.press("j", "j")
        assert s.view.table.model.frozen
        companies = {c.name: c.id for c in s.platform.world.state.companies.values()}
        hanging = s.platform.faults.add("reads:hang")
        s.main.set_scope(companies["Globex"])
        await s.settle()
        ours = s.platform.world.tasks(companies["Globex"], "pending")
        shown = {n.record.id for n in needs(s) if isinstance(n.record, Task)}
        assert shown
        assert shown <= {task.id for task in ours}, "known from the answer for all"
        assert s.cursor == s.rows[0]
        await s.sees("so far", f"{len(ours)} tasks wait")
        for chosen in (
            partial(s.main.set_scope, companies["Acme Robotics"]),
            s.main.action_unscope,
        ):
            chosen()
            await s.settle()
            assert not any(s.view.table.model.tombstones), "nothing is said to be over"
            assert "tasks wait" not in s.text
            await s.sees("so far")
        s.platform.faults.remove(hanging)
        await s.press("1", "0")
        await s.poll()
        await s.sees_no("so far", "settled", "left the list")
        levels = [need.level for need in needs(s)]
        assert levels == sorted(levels, reverse=True)
        assert levels[0] is Level.CRITICAL
        assert s.cursor == s.rows[0], "the worst stands first, whichever answer came first"


async def test_settled_is_said_only_where_it_is_seen(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        store = s.workspace.store
        by_scope = {n.record.scope: n for n in needs(s) if isinstance(n.record, Budget)}
        raised, lost = by_scope[BudgetScope.AGENT], by_scope[BudgetScope.COMPANY]
        await s.press("j")
        s.platform.world.set_limit(raised.record.id, 100_000)
        await s.poll()
        for alert in lost.related:
            store.publish(store.alerts.drop(alert.id))
        store.publish(store.company_budgets.drop(lost.record.id))
        await s.settle()
        notes = s.view.table.model.tombstones
        assert notes[raised.key].text == "settled"
        assert notes[lost.key].text == "left the list"


async def test_the_list_tells_what_its_line_is_about_and_its_last_step_where_the_cursor_rests(
    on: Staging,
) -> None:
    async with on(size=WIDE) as s:
        await s.poll()
        refund = next(n for n in needs(s) if "Refund 214" in getattr(n.record, "title", ""))
        assert isinstance(refund.record, Task)
        top = s.view.table.region
        rotate = next(n for n in needs(s) if "Rotate" in getattr(n.record, "title", ""))
        s.view.table.move_cursor_to(rotate.key)
        await s.sees("It stood in a log file for 8 hours.", "If ignored: Ada is paused")
        await s.sees("Ranked by priority (urgent) and wait (1h11).")
        assert not s.platform.requests.matching("trace"), "nobody has moved"
        for key in (*s.rows[:2], refund.key):  # as a key that is held down does
            s.view.table.viewport.user_has_moved = True
            s.view.table.move_cursor_to(key)
            s.view.cursor_rests()
        await s.sees("full refund after 10 days", "→ output  Ready to refund 214")
        await s.sees("Linus · Globex · trust 38 · 5 steps")
        (asked,) = s.platform.requests.matching("trace")
        assert refund.record.id in asked.path
        assert s.view.table.region == top, "no line has jumped"
        ada = next(n for n in needs(s) if isinstance(n.record, Budget) and n.record.name == "Ada")
        s.view.table.move_cursor_to(ada.key)
        await s.sees(
            "$118.80 of $100.00, platform's forecast $118.80, resets", "paused, holds 3 tasks"
        )
        await s.sees("If ignored: 3 tasks stay blocked. Ranked by blocked work.")
        await s.resize(80, 16)
        await s.sees_no("resets in")
    async with on(size=WIDE, thin=True) as s:
        await s.poll()
        await s.sees_no("It stood in a log file")


async def test_tasks_that_are_alike_are_one_line_and_every_one_counts(on: Staging) -> None:
    async with on(size=WIDE) as s:
        await s.poll()
        counted = Counter(s.workspace.needs.levels)
        store, lines = s.workspace.store, len(s.rows)
        late = [n.record for n in needs(s) if n.level is Level.CRITICAL and n.kind is NeedKind.TASK]
        chosen = [task for task in late if isinstance(task, Task)][-3:]
        agents = [s.workspace.names.agent(task.agent) for task in chosen]
        renamed = [
            msgspec.structs.replace(task, title=mark_safe("Publish pricing page"))
            if task in chosen
            else task
            for task in store.pending
        ]
        store.publish(store.pending.replace(Listing(records=tuple(renamed))))
        assert s.workspace.needs.levels == counted, "nothing has gone from the count"
        assert len(s.rows) == lines - 2
        line = s.line_with("×3")
        assert "✖" in line
        assert "Publish pricing page" in line
        assert agents[0] in line
        group = next(need for need in needs(s) if len(need.alike) == 3)
        what = next(each for each in s.view.table.model.columns if each.key == "what")
        assert what.cell_for_width is not None
        use_ascii()
        try:
            assert what.cell_for_width(group, 12).text == "Publish ~ x3"
        finally:
            use_ascii(False)
        s.view.table.move_cursor_to(group.key)
        await s.sees("a approve 3", ", ".join(agents))
        await s.press("a")
        await s.sees("APPROVE 3 tasks")
        await s.press("escape")
        await s.sees("NEEDS YOU")
        await s.press("enter")
        await s.sees('/task:"Publish pricing page"')
        assert set(s.rows) >= {task.id for task in chosen}
        await s.press("escape", "escape")
        await s.sees("NEEDS YOU")
        assert s.cursor == group.key
        await s.resize(60, 24)
        assert "Publish pricing page" in s.line_with("×3")


async def test_what_has_one_cause_is_one_line_and_each_task_a_row_of_its_list(on: Staging) -> None:
    async with on(size=WIDE) as s:
        await s.poll()
        waiting = s.workspace.needs.queue.count
        critical = s.workspace.needs.levels[Level.CRITICAL]
        store = s.workspace.store
        late = [n.record for n in needs(s) if n.level is Level.CRITICAL and n.kind is NeedKind.TASK]
        chosen = [task for task in late if isinstance(task, Task)][:2]
        company = next(iter(store.companies)).id
        tasks = [
            msgspec.structs.replace(task, cause="GLO-7", company=Ref(company))
            if task in chosen
            else task
            for task in store.pending
        ]
        store.publish(store.pending.replace(Listing(records=tuple(tasks))))
        need = next(need for need in needs(s) if need.others)
        (other,) = need.others
        assert {need.record.id, other.record.id} == {task.id for task in chosen}
        assert other.key not in s.rows
        assert s.workspace.needs.levels[Level.CRITICAL] == critical - 1
        await s.sees(f"{waiting - 1} tasks wait", f"4 Tasks {waiting - 1}")
        s.view.table.move_cursor_to(need.key)
        title = next(task.title for task in chosen if task.id == other.record.id)
        await s.sees(f"also: {title}")
        await s.press("4")
        await s.sees(f"TASKS ▌pending {waiting}")
        assert {task.id for task in chosen} <= set(s.rows)


@pytest.mark.parametrize("size", [NARROW, WIDE, (200, 50)])
async def test_beneath_the_list_no_line_is_empty_and_the_money_says_what_follows(
    on: Staging, size: tuple[int, int]
) -> None:
    async with on(size=size) as s:
        await s.poll()
        await s.sees("SPEND monthly, day 20 of 30", "LATEST")
        below = s.lines[next(y for y, line in enumerate(s.lines) if " SPEND " in line) : -1]
        assert all(line[: size[0] // 2].strip() for line in below)
        assert any(re.search(r"✖ Ada .*▶ 119 %", line) for line in below), "the worst agents, too"
        ada = next(line for line in below if line.startswith(" ✖ Ada "))
        if size == NARROW:
            return
        assert re.search(r"Ada +Acme Robotics +█+│█+▶ 119 % .*\$.* paused, holds 3 tasks", ada)
        titles = s.lines[3]
        assert titles.index("IF IGNORED") - titles.index("WHAT") < 45, "what belongs together"
        assert ("ABOUT" in titles) is (size[0] == 200)


async def test_of_a_noisy_log_the_latest_shows_what_went_wrong_and_all_by_a_key(
    on: Staging,
) -> None:
    def latest() -> list[str]:
        at = next(y for y, line in enumerate(s.lines) if line.startswith(" LATEST"))
        return s.lines[at + 1 : -1]

    async with on(size=WIDE) as s:
        await s.poll()
        await s.sees("✖ ▲ only  f all")
        assert all("✖" in line or "▲" in line for line in latest())
        await s.press("f")
        await s.sees("f ✖ ▲ only")
        assert not all("✖" in line or "▲" in line for line in latest())
        await s.press("f")
        await s.sees("✖ ▲ only  f all")
    activity = s.workspace.store.activity
    newest = [entry for entry in reversed(activity) if entry.at is not None]
    assert is_noisy(activity, was_noisy=False)
    spread = ActivityWindow()
    apart = enumerate(newest[:40])
    records = [msgspec.structs.replace(e, at=Moment(NOW - at * 15)) for at, e in apart]
    spread.merge(Listing(records=tuple(records)))
    assert not is_noisy(spread, was_noisy=False)
    assert is_noisy(spread, was_noisy=True), "what shows doesn't change to and fro"


async def test_the_first_line_of_status_counts_what_the_header_counts(on: Staging) -> None:
    """Also where needs are snoozed: in both places they are told apart."""
    async with on() as s:
        await s.poll()
        workspace = s.view.workspace
        for look in range(2):
            needs_found = workspace.needs
            headless = NeedsModel(workspace.outlook, workspace.snoozes, lambda: None)
            await headless.refresh()
            judged = judge(workspace.outlook, headless, {}, None, workspace.clock.now())
            for level in (Level.CRITICAL, Level.WARNING):
                assert judged.needs[level] == needs_found.levels[level] > 0
            assert judged.snoozed == len(needs_found.snoozed) == look
            first = f"{judged.needs[Level.CRITICAL]} critical"
            assert headline(judged).startswith(first)
            if look == 0:
                need = next(n for n in needs(s) if n.level is Level.CRITICAL and not n.alike)
                workspace.snoozes.set(need.keys, Snooze(Level.CRITICAL, None, ""))
                s.dashboard.needs_refresh.start(s.view)
