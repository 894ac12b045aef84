"""Only a `y` that was pressed as an answer approves: not enter, not one too early, not a held one.

A keyboard that repeats sends the same key every 30 ms, first after a quarter to two thirds of a
second. The events carry the moments at which they were read, so nothing here waits for time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.feeds import FeedName
from agentco_tui.screens.dialogs.approve_dialog import ApproveQuestion
from agentco_tui.screens.dialogs.base import ARMING, Question
from agentco_tui.screens.key_app import REPEAT
from tests.screens.harness import Stage, key_event, stage

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


async def test_enter_held_down_confirms_nothing(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        armed = await asked(s)
        for number in range(60):
            await press_at(s, armed - 0.5 + number * EVERY, "enter")
        assert isinstance(s.app.screen, ApproveQuestion)
        await s.press("escape")
        await s.poll(FeedName.PENDING)
        assert not s.writes
        assert not platform.world.applied


@pytest.mark.parametrize("early", [ARMING, 0.2, 0.001])
async def test_a_yes_before_300_ms_is_dropped_whenever_its_turn_comes(
    platform: EmbeddedPlatform, tmp_path: Path, early: float
) -> None:
    """The screen may be busy: what counts is when the key was pressed."""
    assert ARMING == 0.3
    async with stage(platform, tmp_path, place="tasks") as s:
        armed = await asked(s)
        await s.armed()
        await press_at(s, armed - early, "y")
        await s.sees("that came too soon", "n, esc")
        assert isinstance(s.app.screen, ApproveQuestion)
        assert not s.writes
        await press_at(s, armed + REPEAT, "y")
        await s.sees_no("n, esc")
        await s.wait_until(lambda: len(s.writes) == 1, "the approval")


async def test_a_yes_held_after_it_was_meant_sends_once(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        armed = await asked(s)
        await press_at(s, armed, "y")
        await s.wait_until(lambda: s.app.screen is s.main, "the question to be answered")
        for number in range(100):
            await press_at(s, armed + 0.25 + number * EVERY, "y")
        await s.wait_until(lambda: platform.world.applied, "the approval")
        await s.poll(FeedName.PENDING)
        assert len(s.writes) == 1
        assert sum(platform.world.applied.values()) == 1
        assert not s.app.clipboard, "nor does it do what y does on the list"
