"""One task approved: asked first, sent once, told (law 2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.feeds import FeedName
from tests.screens.harness import WIDE, Stage, stage

FIRST = "Share the Q2 churn report"


async def ask(s: Stage) -> str:
    """Open the question for the task under the cursor; its id."""
    await s.press("a")
    await s.sees("APPROVE")
    assert s.cursor is not None
    return s.cursor


async def test_the_question_tells_what_is_approved(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        await s.press("j")
        await ask(s)
        await s.sees("demo", "APPROVE", "Refund 214 customers", "Globex", "Linus", "high", "3 h")
        await s.sees("trust 38", "trace", "steps", "y", "n, esc")
        assert not s.writes


async def test_a_yes_typed_before_the_question_could_be_read_is_dropped(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        s.main.run_command("tasks.approve")
        await s.wait_until(lambda: s.app.screen is not s.main, "the question")
        if not getattr(s.app.screen, "armed", True):
            await s.press("y")
        await s.armed()
        await s.sees("APPROVE")
        assert not s.writes


@pytest.mark.parametrize("key", ["n", "escape"])
async def test_no_sends_nothing(platform: EmbeddedPlatform, tmp_path: Path, key: str) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        task = await ask(s)
        await s.armed()
        await s.press(key)
        await s.sees_no("APPROVE")
        assert s.cursor == task
        await s.poll(FeedName.PENDING)
        assert not s.writes
        assert platform.world.task(task).status == "pending"


async def test_yes_sends_one_request_without_a_body(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        task = await ask(s)
        await s.yes()
        await s.sees_no("APPROVE")
        await s.press("y", "y", "enter")
        await s.sees("approved", FIRST)
        await s.wait_until(lambda: platform.world.task(task).status != "pending", "the approval")
        await s.press("r")
        await s.wait_until(lambda: task not in s.rows, "the task to leave the queue")
        (sent,) = s.writes
        assert (sent.method, sent.path) == ("POST", f"/api/tasks/{task}/approve")
        assert sent.body == b""
        assert sent.query == ""
        assert platform.world.applied[task] == 1
        await s.sees("4 Tasks 39")


async def test_a_conflict_is_explained(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    """The task is decided between the last read and the approval."""
    async with stage(platform, tmp_path, place="tasks") as s:
        task = await ask(s)
        await s.armed()
        platform.faults.add("approve:latency=300ms")
        await s.press("y")
        await s.wait_until(lambda: s.platform.faults.in_force()[0].struck, "the request")
        platform.world.another_operator(task, "reject", "Wanda")
        await s.wait_until(
            lambda: any(words in s.text for words in ("rejected", "Wanda", "elsewhere")),
            "what became of it",
        )
        assert len(s.writes) == 1
        assert platform.world.applied[task] == 0


async def test_the_trace_is_read_from_the_question(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        await ask(s)
        await s.armed()
        await s.press("t")
        await s.sees("TRACE", FIRST)
        await s.press("escape")
        await s.sees("APPROVE", "n, esc")
        assert not s.writes


async def test_the_trace_goes_on_to_the_question(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        await s.press("t")
        await s.sees("TRACE", FIRST, "llm" if s.shows("llm") else "1 ")
        await s.press("a")
        await s.sees("APPROVE", FIRST)
        await s.press("escape")
        await s.sees("TASKS")
        assert not s.writes


async def test_a_trace_that_fails_is_told_and_read_again(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    platform.faults.add("trace:status=503,times=1")
    async with stage(platform, tmp_path, place="tasks") as s:
        await s.press("t")
        await s.sees("the trace could not be read", "503")
        await s.press("r")
        await s.sees_no("could not be read")
        await s.sees("TRACE", FIRST)


async def test_marks_stay_with_their_records(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        first, second = s.rows[0], s.rows[1]
        await s.press("space", "space")
        await s.press("s", "s")
        assert set(s.view.table.marked) == {first, second}
        platform.world.another_operator(first, "approve")
        await s.press("r")
        await s.wait_until(lambda: first not in s.rows, "it to go")
        assert s.view.table.marked == (second,)
        await s.sees("1 marked")


@pytest.mark.parametrize("over", ["t", "n"])
async def test_a_yes_that_something_follows_at_once_is_none(
    platform: EmbeddedPlatform, tmp_path: Path, over: str
) -> None:
    """The trace opened over the question, or a no, before the yes was taken as one by itself."""
    async with stage(platform, tmp_path, place="tasks") as s:
        await ask(s)
        await s.armed()
        await s.tap("y", over)
        await s.sees("TRACE" if over == "t" else "by waiting")
        await s.press("escape")
        await s.press("escape")
        await s.sees_no("APPROVE")
        await s.poll(FeedName.PENDING)
        assert not s.writes


async def test_line_and_detail_agree_on_what_was_approved(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        await ask(s)
        await s.yes()
        await s.sees("approved here")
        await s.wait_until(
            lambda: "approved" in s.line_with(" status "), "the detail to show what was read since"
        )
        assert "pending" not in s.line_with(" status ")
