"""Many tasks by one decision, as a person goes through it: question, hold, progress, results."""

from __future__ import annotations

import re
from collections import Counter
from math import inf

from agentco_tui.actions.outcome import OutcomeKind
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waiting_since
from agentco_tui.screens.dialogs.approve_dialog import BatchProgress, BatchQuestion
from tests.screens.harness import Stage, Staging, text_of


async def ask(s: Stage, count: int) -> BatchQuestion:
    """Mark so many and ask about them."""
    await s.press(*["space"] * count, "a")
    await s.wait_until(lambda: isinstance(s.app.screen, BatchQuestion), "the question")
    await s.armed()
    question = s.app.screen
    assert isinstance(question, BatchQuestion)
    return question


async def approve(s: Stage, count: int) -> BatchProgress:
    """Mark so many, and say yes to all of them."""
    await ask(s, count)
    if count > 10:
        await s.type(str(count))
    await s.press("y")
    await s.wait_until(lambda: isinstance(s.app.screen, BatchProgress), "the progress")
    progress = s.app.screen
    assert isinstance(progress, BatchProgress)
    return progress


async def ended(s: Stage) -> None:
    """Wait until all is known."""
    await s.wait_until(lambda: s.shows("esc close") and not s.shows("it is read on"), "the end")


async def test_what_is_unlike_the_rest_stands_out(on: Staging) -> None:
    async with on(place="tasks") as s:
        rows = s.rows[:8]
        with s.platform.world.living() as state:
            for row in rows:
                state.tasks[row].priority = "low"
                state.changed_task(state.tasks[row], s.platform.world.now)
            state.tasks[rows[4]].priority = "urgent"
            state.changed_task(state.tasks[rows[4]], s.platform.world.now)
        await s.poll()
        await ask(s, 8)
        await s.sees("priority urgent, most are low")
        question = s.app.screen
        assert isinstance(question, BatchQuestion)
        listed = question.decision.listed
        assert listed[0].task.id == rows[4], "what is odd stands first"
        tasks, names = [one.task for one in listed], s.session.names
        companies = Counter(names.company(names.company_of(task)) for task in tasks)
        oldest = min(tasks, key=lambda task: waiting_since(task) or inf)
        told = text_of(question.pane)
        for name, count in companies.items():
            assert f"{name} {count}" in told
        assert "low 7, urgent 1" in told
        assert re.search(rf"oldest +\d.*{re.escape(oldest.title[:20])}", told)


async def test_over_ten_the_number_is_typed_and_a_wrong_one_does_nothing(on: Staging) -> None:
    async with on(place="tasks", running=True) as s:
        question = await ask(s, 11)
        await s.press("y")
        await s.sees("type 11 first")
        await s.press("enter", "1", "2", "enter")
        await s.anew()
        await s.press("y")
        await s.sees("not 12")
        assert s.app.screen is question
        assert not s.writes
        await s.anew()
        await s.press("1", "2", "backspace", "1", "y")
        await ended(s)
        assert len(s.writes) == 11


async def test_escape_stops_what_is_not_sent(on: Staging) -> None:
    async with on(place="tasks", running=True) as s:
        s.platform.faults.add("approve:latency=120ms")
        await approve(s, 20)
        await s.wait_until(lambda: len(s.writes) >= 2, "the first")
        await s.sees("esc stop what is not yet sent", "of 20")
        await s.press("escape")
        await ended(s)
        sent = len(s.writes)
        assert 2 <= sent <= 12
        await s.sees("stopped by you", f"{sent} approved here", f"{20 - sent} not sent")
        assert sum(s.platform.world.applied.values()) == sent


async def test_each_has_its_result_and_f_asks_about_clear_failures_only(on: Staging) -> None:
    async with on(place="tasks", running=True) as s:
        refused, changed, elsewhere = s.rows[1], s.rows[3], s.rows[4]
        question = await ask(s, 8)
        s.platform.faults.add(f"/api/tasks/{refused}/approve:status=422,times=1")
        s.platform.world.another_operator(elsewhere, "approve", "Wanda")
        with s.platform.world.living() as state:
            state.tasks[changed].title = "Something else"
            state.changed_task(state.tasks[changed], s.platform.world.now)
        await s.press("y")
        await ended(s)
        await s.sees("5 approved here", "1 refused", "1 changed", "1 decided elsewhere")
        await s.sees("f ask again: 2", "because it changed")
        assert s.platform.world.applied[changed] == 0
        before = len(s.writes)
        assert before == 6
        await s.press("f")
        await s.wait_until(
            lambda: isinstance(s.app.screen, BatchQuestion) and s.app.screen is not question,
            "the question about what failed",
        )
        await s.sees("APPROVE 2 tasks", "2 you have not read", "Something else")
        assert len(s.writes) == before, "nothing is sent again without a new yes"
        await s.yes()
        await ended(s)
        again = {f"/api/tasks/{task}/approve" for task in (refused, changed)}
        assert {seen.path for seen in s.writes[before:]} == again
        assert s.platform.world.applied[refused] == s.platform.world.applied[changed] == 1


async def test_while_the_platform_is_away_one_can_leave_and_is_told_later(on: Staging) -> None:
    async with on(place="tasks", running=True) as s:
        rows = s.rows[:3]
        await ask(s, 3)
        s.platform.faults.add("approve:drop_after")
        s.platform.faults.add("reads:status=503,after=1")
        await s.press("y")
        await s.sees("3 unknown (being read)", "esc close")
        await s.press("escape")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.press("j", "j", "j", "j", "space")
        marked = s.view.table.marked[-1:]
        s.platform.faults.clear()
        await s.wait_until(lambda: all(s.outcome_of(row) for row in rows), "the outcomes")
        await s.sees("3 approved")
        assert s.view.table.marked == marked, "what was marked since stays marked"
        assert {found.kind for row in rows if (found := s.outcome_of(row))} == {
            OutcomeKind.APPROVED
        }
        assert [s.platform.world.applied[row] for row in rows] == [1, 1, 1]


async def says(s: Stage, *words: str) -> None:
    """Wait for a message with all these words, however its lines are broken."""
    await s.wait_until(
        lambda: any(all(word in toast.message for word in words) for toast in s.app._notifications),
        repr(words),
    )


async def test_one_a_range_all_that_the_filter_shows_and_none(on: Staging) -> None:
    async with on(place="tasks") as s:
        rows = s.rows
        await s.press("space")
        assert list(s.view.table.marked) == [rows[0]]
        await s.press("j", "j", "j", "m")
        assert set(s.view.table.marked) == set(rows[:5])
        await s.sees("5 marked")
        await s.press("escape")
        assert not len(s.view.table.marked)
        await s.press("slash")
        await s.type("priority:urgent")
        await s.press("enter", "asterisk")
        shown = s.rows
        assert 0 < len(shown) < len(rows)
        assert set(s.view.table.marked) == set(shown)
        await s.press("escape", "space")
        assert len(s.view.table.marked) in (len(shown) - 1, len(shown) + 1), "one by its own key"
        await s.press("escape")
        assert not s.view.table.marked
        assert not s.writes


async def test_marks_survive_refreshes_a_filter_and_other_screens(on: Staging) -> None:
    async with on(place="tasks") as s:
        marked = (s.rows[0], s.rows[1], s.rows[2])
        await s.press("space", "space", "space")
        await s.press("r")
        await s.poll()
        await s.press("slash")
        await s.type("zzzz no such task")
        await s.press("enter")
        assert not s.rows
        await s.sees("3 marked")
        await s.press("escape")
        for place in ("agents", "overview"):
            await s.go(place)
            await s.poll()
        await s.go("tasks")
        assert s.view.table.marked == marked
        await s.press("v")
        await s.sees("all statuses")
        while not s.shows("TASKS pending"):
            await s.press("v")
        assert set(s.view.table.marked) == set(marked), "nor does a look at other statuses"
        await s.sees("3 marked")


async def test_marked_tasks_that_vanish_are_told_and_not_sent(on: Staging) -> None:
    async with on(place="tasks", running=True) as s:
        first, second, third = s.rows[:3]
        title = s.platform.world.task(second).title
        await s.press("space", "space", "space")
        s.platform.world.another_operator(second, "reject", "Wanda")
        await s.poll(FeedName.ACTIVITY)
        await s.poll(FeedName.PENDING)
        await says(s, "not marked any more", title, "rejected elsewhere")
        await s.sees("2 marked")
        await s.press("a")
        await s.wait_until(lambda: isinstance(s.app.screen, BatchQuestion), "the question")
        await s.sees("2 tasks")
        await s.yes()
        await s.sees("2 approved here")
        assert {seen.path.split("/")[3] for seen in s.writes} == {first, third}
        lost = [toast for toast in s.app._notifications if "not marked any more" in toast.message]
        assert len(lost) == 1, "those approved from here are no surprise"
