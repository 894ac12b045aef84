"""What a thin line leaves out, and that it comes back."""

from __future__ import annotations

from pathlib import Path

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.screens.thin_paint import paint_as_told
from tests.screens.harness import WIDE, stage


async def test_no_detail_stands_beside_a_list_on_a_thin_line(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, size=WIDE, place="tasks") as s:
        await s.wait_until(lambda: s.rows, "the queue")
        await s.wait_until(lambda: s.listed.detail.display, "the detail beside the list")
        s.session.thin.asked = True
        paint_as_told(s.main)
        await s.wait_until(lambda: not s.listed.detail.display, "a list alone")
        await s.sees(" thin ")
        await s.tap("enter")
        await s.wait_until(lambda: s.listed.reading, "the detail alone")
        await s.tap("escape")
        await s.wait_until(lambda: not s.listed.detail.display, "a list alone again")
        s.session.thin.asked = False
        paint_as_told(s.main)
        await s.wait_until(lambda: s.listed.detail.display, "the detail beside the list again")
        await s.sees_no("  thin ")
