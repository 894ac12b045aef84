"""Notices in the corner: equal ones don't pile up."""

from __future__ import annotations

from pathlib import Path

from agentco_tui.demo.server import EmbeddedPlatform
from tests.screens.harness import settings_for, stage


async def test_an_equal_notice_is_not_added_while_it_shows(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    settings = settings_for(platform, read_only=True)
    async with stage(platform, tmp_path, place="tasks", settings=settings) as s:
        for _ in range(6):
            await s.press("a")
        await s.sees("writing is off")
        await s.settle()
        assert s.text.count("writing is off") == 1
        await s.press("j", "y")
        await s.sees("clipboard", "writing is off")
        s.app.clear_notifications()
        await s.sees_no("writing is off")
        await s.press("a")
        await s.sees("writing is off")


async def test_notices_that_differ_stand_together(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path) as s:
        for words, bad in (("one", False), ("two", False), ("one", True), ("one", False)):
            s.main.say(f"number {words}", bad=bad)
        await s.sees("number one", "number two")
        await s.settle()
        assert (s.text.count("number one"), s.text.count("number two")) == (2, 1)
