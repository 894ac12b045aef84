"""What a thin line leaves out, and what it never takes away by itself."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from agentco_tui.demo.server import EmbeddedPlatform
from tests.screens.harness import WIDE, settings_for, stage


async def test_no_detail_stands_beside_a_list_on_a_thin_line(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    settings = replace(settings_for(platform), thin=True)
    async with stage(platform, tmp_path, size=WIDE, place="tasks", settings=settings) as s:
        await s.wait_until(lambda: s.rows, "the queue")
        await s.wait_until(lambda: not s.listed.detail.display, "a list alone")
        await s.sees(" thin ")
        await s.tap("enter")
        await s.wait_until(lambda: s.listed.detail.display and s.listed.reading, "the detail alone")
        await s.tap("escape")
        await s.wait_until(lambda: not s.listed.detail.display, "a list alone again")


async def test_a_terminal_that_falls_behind_keeps_the_detail(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, size=WIDE, place="tasks") as s:
        await s.wait_until(lambda: s.rows, "the queue")
        await s.wait_until(lambda: s.listed.detail.display, "the detail beside the list")
        await s.sees_no("  thin ")
        s.session.thin.set_slow(True)
        assert s.view.table.view.thin
        await s.settle()
        assert s.listed.detail.display
