"""One task approved: asked first, sent once, told (law 2)."""

from __future__ import annotations

from pathlib import Path

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.screens.dialogs.approve_dialog import ApproveQuestion
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


async def test_a_question_that_is_gone_follows_nothing(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        store, decisions = s.session.store, s.session.decisions

        def followers() -> int:
            return len(store._listeners) + len(decisions._listeners)

        before = followers()
        await s.press("a")
        await s.wait_until(lambda: isinstance(s.app.screen, ApproveQuestion), "the question")
        assert followers() == before + 2, "the store and the decisions, each once"
        await s.press("escape")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.wait_until(lambda: followers() == before, "nobody to listen")
