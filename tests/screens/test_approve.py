"""One task approved: asked first, sent once, told (law 2)."""

from __future__ import annotations

import pytest

from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.dialogs.approve_dialog import ApproveQuestion
from agentco_tui.screens.dialogs.base import ARMING, Question
from agentco_tui.screens.key_app import REPEAT
from tests.screens.harness import WIDE, Stage, Staging, key_event

FIRST = "Share the Q2 churn report"


async def ask(s: Stage) -> str:
    """Open the question for the task under the cursor; its id."""
    await s.press("a")
    await s.sees("APPROVE")
    assert s.cursor is not None
    return s.cursor


async def test_the_trace_is_read_from_the_question(on: Staging) -> None:
    async with on(place="tasks") as s:
        await ask(s)
        await s.armed()
        await s.press("t")
        await s.sees("TRACE", FIRST)
        await s.press("escape")
        await s.sees("APPROVE", "n, esc")
        assert not s.writes


async def test_the_trace_goes_on_to_the_question(on: Staging) -> None:
    async with on(place="tasks") as s:
        await s.press("t")
        await s.sees("TRACE", FIRST, "llm" if s.shows("llm") else "1 ")
        await s.press("a")
        await s.sees("APPROVE", FIRST)
        await s.press("escape")
        await s.sees("TASKS")
        assert not s.writes


async def test_a_trace_that_fails_is_told_and_read_again(on: Staging) -> None:
    async with on(faults=["trace:status=503,times=1"], place="tasks") as s:
        await s.press("t")
        await s.sees("the trace could not be read", "503")
        await s.press("r")
        await s.sees_no("could not be read")
        await s.sees("TRACE", FIRST)


async def test_line_and_detail_agree_on_what_was_approved(on: Staging) -> None:
    async with on(place="tasks", size=WIDE) as s:
        await ask(s)
        await s.yes()
        await s.sees("approved here")
        await s.wait_until(
            lambda: "approved" in s.line_with(" status "), "the detail to show what was read since"
        )
        assert "pending" not in s.line_with(" status ")


async def test_a_question_that_is_gone_follows_nothing(on: Staging) -> None:
    async with on(place="tasks") as s:
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


EVERY = 0.03
"""Seconds between two events of a key that is held down."""


async def press_at(s: Stage, at: float, key: str) -> None:
    """A key that was read from the terminal at a moment."""
    event = key_event(key)
    event.time = at
    s.app.post_message(event)
    await s.settle()


async def asked(s: Stage) -> float:
    """Open the question for the task under the cursor; from when on it can be answered."""
    await s.press("a")
    await s.wait_until(lambda: isinstance(s.app.screen, Question), "the question")
    question = s.app.screen
    assert isinstance(question, Question)
    await s.wait_until(lambda: question._arms_at is not None, "the question on the screen")
    assert question._arms_at is not None
    return question._arms_at


async def test_enter_held_down_confirms_nothing(on: Staging) -> None:
    async with on(place="tasks") as s:
        armed = await asked(s)
        for number in range(60):
            await press_at(s, armed - 0.5 + number * EVERY, "enter")
        assert isinstance(s.app.screen, ApproveQuestion)
        await s.press("escape")
        await s.poll(FeedName.PENDING)
        assert not s.writes
        assert not s.platform.world.applied


@pytest.mark.parametrize("early", [ARMING, 0.2, 0.001])
async def test_a_yes_before_300_ms_is_dropped_whenever_its_turn_comes(
    on: Staging, early: float
) -> None:
    """The screen may be busy: what counts is when the key was pressed."""
    assert ARMING == 0.3
    async with on(place="tasks") as s:
        armed = await asked(s)
        await s.armed()
        await press_at(s, armed - early, "y")
        await s.sees("that came too soon", "n, esc")
        assert isinstance(s.app.screen, ApproveQuestion)
        assert not s.writes
        await press_at(s, armed + REPEAT, "y")
        await s.sees_no("n, esc")
        await s.wait_until(lambda: len(s.writes) == 1, "the approval")
