"""While a hand is on the list nothing moves under it, and ghosts say what became of tasks."""

from __future__ import annotations

import re

from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.list_freezer import IDLE_TIMEOUT
from tests.platform import EmbeddedPlatform, decide_elsewhere
from tests.screens.harness import WIDE, Stage, Staging


def new_task(platform: EmbeddedPlatform, title: str = "Water the plants") -> str:
    agent = next(iter(platform.world.state.agents.values()))
    return platform.world.create_task(agent.company.id, title, agent.id, "low").id


def older_than_all(platform: EmbeddedPlatform, task_id: str) -> None:
    """Make a task the longest wait, so that it sorts to the top of the queue."""
    with platform.world.locked() as state:
        task = state.tasks[task_id]
        task.created = min(other.created for other in state.tasks.values()) - 60.0
        state.changed_task(task, platform.world.now)


async def read_again(s: Stage) -> None:
    """The log, then the queue, as a poll brings them."""
    await s.poll(FeedName.PENDING)
    await s.poll(FeedName.ACTIVITY)


def pass_time(s: Stage, seconds: float) -> None:
    s.platform.world.advance(seconds)
    s.main.ticker.tick()


async def test_the_order_stands_and_one_key_brings_it_up_to_date(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.press("j", "j")
        before, cursor = s.rows, s.cursor
        decide_elsewhere(s.platform.world, before[0], "approve", "Wanda")
        decide_elsewhere(s.platform.world, before[1], "reject", "Wanda")
        added = {new_task(s.platform), new_task(s.platform, "Call the bank")}
        for row in (before[5], before[9]):
            older_than_all(s.platform, row)
        await read_again(s)
        assert s.rows == before
        assert s.cursor == cursor
        await s.sees("2 new, r shows", "approved elsewhere", "rejected elsewhere")
        await s.press("r")
        await s.sees_no("2 new", "elsewhere")
        assert s.cursor == cursor
        assert set(s.rows) == set(before) - {before[0], before[1]} | added
        assert set(s.rows[:2]) == {before[5], before[9]}


async def test_ten_seconds_without_a_key_bring_it_up_to_date(on: Staging) -> None:
    assert IDLE_TIMEOUT == 10.0
    async with on(place="tasks") as s:
        await s.press("j")
        before = s.rows
        new = new_task(s.platform)
        await read_again(s)
        pass_time(s, 9.0)
        assert s.rows == before, "nine seconds"
        await s.press("k")
        pass_time(s, 9.9)
        assert s.rows == before, "a key begins them anew"
        pass_time(s, 0.1)
        await s.wait_until(lambda: new in s.rows, "the new task")


async def test_marks_and_dialogs_keep_it_held(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.press("space")
        before = s.rows
        new_task(s.platform)
        await read_again(s)
        pass_time(s, 3_600.0)
        assert s.rows == before, "marked"
        await s.press("escape", "a")
        await s.sees("APPROVE")
        # In that hour a colleague may have decided the first one.
        new = new_task(s.platform, "Call the bank")
        await read_again(s)
        for _ in range(3):
            pass_time(s, 60.0)
        assert s.rows == before, "a dialog is open"
        await s.press("escape")
        await s.sees_no("APPROVE")
        pass_time(s, 9.0)
        assert s.rows == before, "ten seconds from when it closed"
        pass_time(s, 1.0)
        await s.wait_until(lambda: new in s.rows, "the new task")


async def test_marks_hold_the_order_after_it_was_brought_up_to_date_sorted_or_filtered(
    on: Staging,
) -> None:
    async with on(place="tasks") as s:
        marked = s.rows[3]
        await s.press("j", "j", "j", "space", "r")
        await read_again(s)
        pass_time(s, 1.0)
        for keys in ((), ("s",), ("slash", "e", "enter")):
            await s.press(*keys)
            before = s.rows
            older_than_all(s.platform, before[4])
            await s.poll(FeedName.PENDING)
            assert s.rows == before, keys
            pass_time(s, 100.0)
            assert s.rows == before, keys
        assert s.view.table.marked == (marked,)


async def test_coming_back_shows_it_as_it_is_and_then_holds_still(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.press("j")
        await s.go("agents")
        new = new_task(s.platform)
        await s.poll(FeedName.PENDING)
        await s.go("tasks")
        assert new in s.rows
        before = s.rows
        older_than_all(s.platform, before[8])
        await s.poll(FeedName.PENDING)
        pass_time(s, 1.0)
        assert s.rows == before


async def test_the_overview_is_calm_likewise(on: Staging) -> None:
    async with on() as s:
        await s.press("j")
        before, cursor = s.rows, s.cursor
        task = next(row.partition(":")[2] for row in before if row.startswith("task:"))
        decide_elsewhere(s.platform.world, task, "approve", "Wanda")
        urgent = new_task(s.platform)
        with s.platform.world.locked() as state:
            state.tasks[urgent].priority = "urgent"
            state.changed_task(state.tasks[urgent], s.platform.world.now)
        await read_again(s)
        assert s.rows == before
        assert s.cursor == cursor
        await s.sees("1 new, r shows", "approved elsewhere")
        pass_time(s, IDLE_TIMEOUT)
        await s.sees_no("1 new", "approved elsewhere")
        assert f"task:{urgent}" in s.rows
        assert f"task:{task}" not in s.rows


async def test_a_ghost_says_more_once_the_log_tells_it_and_may_come_back(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.press("j")
        gone = s.rows[2]
        decide_elsewhere(s.platform.world, gone, "reject", "Wanda")
        await s.poll(FeedName.PENDING)
        await s.sees("left the list")
        await s.poll(FeedName.ACTIVITY)
        await s.sees("rejected elsewhere")
        await s.press("j")
        before, gone = s.rows, s.rows[3]
        s.platform.faults.add("tasks:status=503,times=0")
        store = s.workspace.store
        record = store.pending.get(gone)
        assert record is not None
        store.publish(store.pending.drop(gone))
        await s.sees("left the list")
        store.publish(store.pending.put(record))
        await s.sees_no("left the list")
        assert s.rows == before


async def test_a_list_opens_on_its_first_line_whatever_comes_while_it_opens(on: Staging) -> None:
    """Then the cursor moves with its record, or by keys."""
    async with on(place="companies") as s:
        await s.poll()
        s.platform.world.advance(5.0)
        await s.go("tasks")
        first, last = s.rows[0], s.rows[-1]
        assert s.cursor == first
        older_than_all(s.platform, last)
        await s.poll(FeedName.PENDING)
        assert s.cursor == s.rows[0] == last, "the opening poll brings another first line"
        for feed in (FeedName.COMPANIES, FeedName.AGENTS):
            await s.poll(feed)
        s.main.ticker.tick()
        older_than_all(s.platform, first)
        await s.poll(FeedName.PENDING)
        assert s.cursor == s.rows[1] == last, "open: it stays with its record"


async def test_a_key_ends_the_opening(on: Staging) -> None:
    async with on(place="companies") as s:
        await s.poll()
        s.platform.world.advance(5.0)
        await s.go("tasks")
        await s.press("j", "k")
        first = s.cursor
        older_than_all(s.platform, s.rows[3])
        await s.poll(FeedName.PENDING)
        await s.press("r")
        assert s.cursor == first == s.rows[1]


async def test_the_ages_of_a_detail_are_those_of_the_line(on: Staging) -> None:
    async with on(place="tasks", size=WIDE) as s:

        def waits() -> tuple[str, str]:
            line, detail = s.lines[4], s.line_with(" waits  ")
            found = [re.findall(r"\d+h\d\d", words)[-1:] for words in (line, detail)]
            return "".join(found[0]), "".join(found[1])

        first = waits()[0]
        for _ in range(3):
            s.platform.world.advance(60)
            s.main.ticker.tick()
            await s.wait_until(lambda: waits()[0] not in ("", first), "an older line")  # noqa: B023
            await s.wait_until(lambda: waits()[0] == waits()[1], "the same in the detail")
            first = waits()[0]


async def test_a_list_is_not_held_before_the_figures_it_is_sorted_by_have_come(on: Staging) -> None:
    async with on(place="agents") as s:
        await s.poll()
        store, worst = s.workspace.store, s.rows[0]
        agents, answered = store.agents.listing, store.freshness[FeedName.AGENTS]
        s.main.set_scope("one")
        s.main.set_scope(None)
        store.publish(store.take(FeedName.AGENTS, agents))
        store.set_freshness(FeedName.AGENTS, answered)
        assert len(s.rows) == len(agents.records)
        assert s.rows[0] != worst
        s.view.on_interaction()
        await s.poll()
        await s.wait_until(lambda: s.rows[0] == s.cursor == worst, "the worst, under the cursor")
