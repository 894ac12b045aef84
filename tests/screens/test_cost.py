"""A poll that brings nothing new paints nothing (law 5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Region
from textual.screen import Screen

from agentco_tui.demo.server import EmbeddedPlatform
from tests.screens.harness import WIDE, stage


class Painted:
    """Counts what Textual asks the terminal to be written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cells = 0
        self.regions: list[Region] = []
        before = Screen._compositor_refresh

        def counting(screen: Screen[object]) -> None:
            compositor = screen._compositor
            if screen is screen.app.screen:
                found = list(compositor._dirty_regions)
                self.regions += found
                self.cells += sum(region.area for region in found)
            before(screen)

        monkeypatch.setattr(Screen, "_compositor_refresh", counting)

    def forget(self) -> None:
        """Begin anew."""
        self.cells, self.regions = 0, []


async def test_a_second_passing_paints_ages_only(
    platform: EmbeddedPlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        await s.poll()
        await s.settle()
        painted = Painted(monkeypatch)
        platform.world.clock.advance(1)
        s.main.tick()
        await s.settle()
        assert painted.cells < 60, painted.regions
