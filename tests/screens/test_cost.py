"""A poll that brings nothing new paints nothing (law 5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Region
from textual.screen import Screen

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.keys import Place
from tests.screens.harness import PLACES, WIDE, stage


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


@pytest.mark.parametrize("place", PLACES)
async def test_nothing_new_paints_nothing(
    platform: EmbeddedPlatform, tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(platform, tmp_path, place=place, size=WIDE) as s:
        await s.poll()
        await s.press("j")
        await s.at_rest()
        painted = Painted(monkeypatch)
        for _ in range(3):
            await s.poll()
            s.main.tick()
            await s.settle()
        assert painted.regions == []


async def test_one_changed_cell_paints_about_one_cell(
    platform: EmbeddedPlatform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(platform, tmp_path, place="companies", size=WIDE) as s:
        await s.poll()
        await s.settle()
        painted = Painted(monkeypatch)
        with platform.world.living() as state:
            company = list(state.companies.values())[-1]
            company.name = "Initech Kontent"
            state.changed_company(company)
        await s.poll()
        await s.settle()
        assert 0 < painted.cells < 200, painted.regions


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
