"""Tasks approved, one and many: asked first, sent once, told; what may not be is not tried."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from itertools import pairwise
from math import inf
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentco_tui.actions.outcome import OutcomeKind
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waiting_since
from agentco_tui.screens.dialogs.approve_dialog import ApproveQuestion
from agentco_tui.screens.dialogs.base import ARMING
from agentco_tui.screens.dialogs.batch_progress import BatchProgress
from agentco_tui.screens.dialogs.batch_question import BatchQuestion
from agentco_tui.screens.key_app import REPEAT
from agentco_tui.widgets.tones import Tone
from tests.platform import EmbeddedPlatform, decide_elsewhere
from tests.screens.harness import WIDE, Stage, Staging, key_event, says, stage, text_of, tone_of

FIRST = "Share the Q2 churn report"


async def test_a_trace_that_fails_is_read_again_and_goes_on_to_the_question(on: Staging) -> None:
    async with on(faults=["trace:status=503,times=1"], place="tasks") as s:
        await s.press("t")
        await s.sees("the trace could not be read", "503")
        await s.press("r")
        await s.sees_no("could not be read")
        await s.sees("TRACE", FIRST)
        await s.press("a")
        await s.sees("APPROVE", FIRST)
        await s.press("escape")
        await s.sees("TASKS")
        assert not s.writes


async def test_line_and_detail_agree_on_what_was_approved(on: Staging) -> None:
    async with on(place="tasks", size=WIDE, advance=False) as s:
        first = s.cursor
        await s.press("a")
        await s.yes()
        await s.sees("approved here")
        await s.wait_until(
            lambda: "approved" in s.line_with(" status "), "the detail to show what was read since"
        )
        assert "pending" not in s.line_with(" status ")
        assert "waits" not in text_of(s.view.detail)
        assert s.cursor == first, "the cursor goes on only where it may"
        await s.press("j")
        gone = str(s.cursor)
        await s.wait_until(lambda: gone in text_of(s.view.detail), "its detail")
        assert "waits" in text_of(s.view.detail)
        decide_elsewhere(s.platform.world, gone, "reject", "Wanda")
        await s.poll(FeedName.ACTIVITY)
        await s.poll(FeedName.PENDING)
        await s.wait_until(lambda: "rejected elsewhere" in s.line_with(" status "), "its fate")
        assert "waits" not in text_of(s.view.detail)


async def test_after_a_yes_the_cursor_goes_on_to_the_next_that_waits(on: Staging) -> None:
    async with on(place="tasks", running=True) as s:
        rows = s.rows
        decide_elsewhere(s.platform.world, rows[1], "reject", "Wanda")
        await s.poll(FeedName.PENDING)
        await s.press("a")
        await s.yes()
        await s.wait_until(lambda: s.cursor == rows[2], "the one past what was decided elsewhere")
        await s.press("j", "j", "space", "a")
        await s.yes()
        await s.wait_until(lambda: s.outcome_of(rows[4]), "the outcome")
        assert s.cursor == rows[5], "another one was approved, by its mark"
        await s.press("G", "a")
        await s.yes()
        await s.wait_until(lambda: s.cursor == rows[-2], "the one above: none waits below")
        await s.press("k", "k", "space", "space", "k", "a")
        await s.yes()
        await s.sees("2 approved")
        await s.press("escape")
        await s.wait_until(lambda: s.cursor == rows[-2], "the next after a set")


async def test_on_the_overview_it_goes_on_to_a_task_that_waits(on: Staging) -> None:
    async with on() as s:
        await s.poll()
        tasks = [at for at, row in enumerate(s.rows) if row.startswith("task:")]
        last, after = next(pair for pair in pairwise(tasks) if pair[1] - pair[0] > 1)
        await s.press(*["j"] * last, "a")
        rows = s.rows
        await s.yes()
        await s.wait_until(lambda: s.cursor == rows[after], "the task past the money between")


async def test_approving_is_offered_where_it_means_something(on: Staging) -> None:
    async with on(place="tasks", size=WIDE) as s:
        await s.press("t")
        await s.sees("TRACE", "a approve")
        await s.press("escape", *":tasks completed", "enter")
        await s.sees("▌completed")
        await s.wait_until(lambda: "completed" in text_of(s.view.detail), "its detail")
        assert "waits" not in text_of(s.view.detail)
        await s.press("t")
        await s.sees("TRACE")
        assert "approve" not in s.text


async def press_at(s: Stage, at: float, key: str) -> None:
    """A key that was read from the terminal at a moment."""
    event = key_event(key)
    event.time = at
    s.app.post_message(event)
    await s.settle()


@pytest.mark.parametrize("early", [ARMING, 0.2, 0.001])
async def test_what_counts_is_when_a_key_was_pressed_not_when_its_turn_comes(
    on: Staging, early: float
) -> None:
    """A yes before 300 ms is dropped; enter, held down, never confirms."""
    assert ARMING == 0.3
    async with on(place="tasks") as s:
        await s.press("a")
        await s.sees("the last 3 h ago")  # the trace makes the question longer, and arms it anew
        await s.armed()
        question = s.app.screen
        assert isinstance(question, ApproveQuestion)
        armed = question.armed_at
        assert armed is not None
        await press_at(s, armed - early, "y")
        await s.sees("that came too soon", "n, esc")
        for number in range(60):
            await press_at(s, armed + number * 0.03, "enter")
        assert s.app.screen is question
        assert not s.writes
        await press_at(s, armed + 2.0 + REPEAT, "y")
        await s.sees_no("n, esc")
        await s.wait_until(lambda: len(s.writes) == 1, "the approval")


# ---- many


async def ask(s: Stage, count: int) -> BatchQuestion:
    await s.press(*["space"] * count, "a")
    await s.wait_until(lambda: isinstance(s.app.screen, BatchQuestion), "the question")
    await s.armed()
    question = s.app.screen
    assert isinstance(question, BatchQuestion)
    return question


async def test_notices_and_progress_name_the_company_where_more_than_one_is_shown(
    on: Staging,
) -> None:
    async with on(place="tasks", running=True, size=WIDE) as s:
        names, task = s.workspace.names, s.view.subject()
        name = names.company(names.company_of(task))
        await s.press("a")
        await s.yes()
        await says(s, f"{task.title} ({name}): approved")
        s.platform.faults.add("approve:status=422")
        question = await ask(s, 3)
        await s.yes()
        await s.sees("3 refused")
        told = " ".join(s.text.split())
        for one in question.tasks.values():
            assert f"({names.company(names.company_of(one))})" in told
        s.workspace.poller.query = replace(s.workspace.poller.query, company=task.company.id)
        assert s.workspace.scope.title_with_company(task.title, task) == task.title


async def test_what_is_unlike_the_rest_stands_out(on: Staging) -> None:
    async with on(place="tasks") as s:
        rows = s.rows[:8]
        with s.platform.world.locked() as state:
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
        tasks, names = question.tasks.values(), s.workspace.names
        companies = Counter(names.company(names.company_of(task)) for task in tasks)
        oldest = min(tasks, key=lambda task: waiting_since(task) or inf)
        told = text_of(question.pane)
        assert re.search(r"have not read\n.*\n.*\n\W*priority urgent", told), "what is odd is first"
        for name, count in companies.items():
            assert f"{name} {count}" in told
        assert "low 7, urgent 1" in told
        assert re.search(rf"oldest +\d.*{re.escape(oldest.title[:20])}", told)


async def test_over_ten_the_number_is_typed_and_a_wrong_one_does_nothing(on: Staging) -> None:
    async with on(place="tasks", running=True) as s:
        tasks = list(s.workspace.store.pending)
        assert not BatchQuestion(s.dashboard, tasks[:10], (), {}).text_to_type
        question = await ask(s, 11)
        await s.press("y")
        await s.sees("type 11 first")
        await s.by_hand("enter", "1", "2", "enter")
        await s.yes()
        await s.sees("not 12")
        assert s.app.screen is question
        assert not s.writes
        s.platform.faults.add("approve:hang")
        await s.by_hand("1", "2", "backspace", "1")
        await s.yes()
        await s.wait_until(lambda: len(s.writes) == 4, "as many as may be on their way")
        await s.sees("esc stop what is not yet sent", "of 11")
        await s.press("escape")
        await s.sees("stopped by you", "7 not sent")
        assert len(s.writes) == 4


async def test_while_the_list_of_another_scope_is_read_no_marked_task_is_said_to_be_gone(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    company = next(iter(platform.world.state.companies))
    async with on(place="tasks", size=WIDE) as s:
        s.main.set_scope(company)
        await s.loaded()
        await s.press("j", "space")
        platform.faults.add("reads:hang")
        try:
            s.main.set_scope(None)
            await s.press("a")
            await says(s, "the list of pending tasks is still being read")
            assert not s.shows("no longer waits")
            assert not s.shows("left the list")
        finally:
            platform.faults.clear()


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
        kinds = {found.kind for row in rows if (found := s.outcome_of(row))}
        assert kinds == {OutcomeKind.APPROVED}
        assert [s.platform.world.applied[row] for row in rows] == [1, 1, 1]


async def test_marks_survive_refreshes_a_filter_and_other_screens_but_not_their_tasks(
    on: Staging,
) -> None:
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
        await s.press("v", "a")
        await s.sees("▌all")
        await s.press("v", "p")
        await s.sees("▌pending")
        assert set(s.view.table.marked) == set(marked), "nor does a look at other statuses"
        title = s.platform.world.task(marked[1]).title
        decide_elsewhere(s.platform.world, marked[1], "reject", "Wanda")
        await s.poll(FeedName.ACTIVITY)
        await s.poll(FeedName.PENDING)
        await says(s, "not marked any more", title, "rejected elsewhere")
        await s.sees("2 marked")


# ---- what may not be done


async def test_the_first_403_dims_the_key_until_the_key_changes(
    on: Staging, platform: EmbeddedPlatform
) -> None:
    async with on(place="tasks", key=platform.read_key, size=(150, 40)) as s:
        assert tone_of(s.main.lines.footer, " approve") is Tone.PLAIN
        await s.press("a")
        await s.yes()
        await says(s, "this key may not approve", "403")
        assert tone_of(s.main.lines.footer, " approve") is Tone.DIM
        assert tone_of(s.main.lines.footer, " new task") is Tone.PLAIN, "each write is its own"
        await s.press("space", "a")
        assert s.app.screen is s.main, "nor many"
        assert len(s.writes) == 1
        s.dashboard.permissions.key_changed()
        await s.settle()
        assert tone_of(s.main.lines.footer, " approve") is Tone.PLAIN


async def test_a_journal_that_is_lost_meanwhile_stops_one_and_many(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    async with stage(platform, folder, place="tasks", running=True) as s:
        shutil.rmtree(folder)
        folder.touch()
        await s.press("a")
        await s.yes()
        await says(s, "journal", "can't be", "nothing is sent")
        await s.wait_until(lambda: s.app.screen is s.main, "the yes")  # others say so, too
        await s.press("space", "space", "space", "a")
        await s.yes()
        await s.wait_until(lambda: isinstance(s.app.screen, BatchProgress), "the progress")
        await s.sees("stopped: ", "journal", "3 not sent")
        assert not s.writes
        assert not platform.world.applied
