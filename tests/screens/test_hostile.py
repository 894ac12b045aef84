"""Whatever agents write, the screen shows characters and nothing else happens (law 3)."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from tests.screens.harness import NARROW, PLACES, WIDE, Stage, settings_for, stage

BIDI = set("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])


def check(s: Stage) -> None:
    """Nothing on the screen can do anything."""
    for line in s.lines:
        bad = [c for c in line if unicodedata.category(c) in {"Cc", "Cs"} or c in BIDI]
        assert not bad, (line, bad)
        assert all(unicodedata.category(c) != "Cf" or c == "\u200d" for c in line), line
    for strip in s.app.screen._compositor.render_strips():
        assert strip.cell_length == s.app.size.width
        for segment in strip:
            assert segment.control is None
            meta = segment.style.meta if segment.style else {}
            clicks = {name for name in meta if str(name).startswith("@")}
            assert clicks <= {"@mouse.down"}, "the scroll bars' own alone"
            assert meta.get("@mouse.down", "grab") in {"grab", "scroll_up", "scroll_down"}
            assert segment.style is None or segment.style.link is None


@SIZES
async def test_every_screen(
    platform: EmbeddedPlatform, tmp_path: Path, size: tuple[int, int]
) -> None:
    platform.faults.add("*:hostile")
    async with stage(platform, tmp_path, size=size) as s:
        for place in PLACES:
            await s.go(place)
            await s.poll()
            check(s)
            for keys in ("jj", ("enter",), "x", "xG", ("escape", "S")):
                await s.press(*keys)
                check(s)
                if s.app.screen is not s.main:
                    await s.press("escape")
            if s.session.company is not None:
                await s.press("0")
        assert s.app.return_code is None, "[@click=app.quit] was only text"


@SIZES
async def test_dialogs_and_messages(
    platform: EmbeddedPlatform, tmp_path: Path, size: tuple[int, int]
) -> None:
    platform.faults.add("*:hostile")
    async with stage(platform, tmp_path, place="tasks", size=size) as s:
        for keys in (("a",), ("t", "x"), ("n",), ("y",), ("?",)):
            await s.press(*keys)
            await s.settle()
            check(s)
            await s.press("escape")
        await s.go("companies")
        await s.poll()
        for keys in (("c",), ("enter",)):
            await s.press(*keys)
            await s.settle()
            check(s)
            await s.press("escape")
        await s.go("agents")
        await s.poll()
        await s.press("l")
        await s.settle()
        check(s)
        assert not s.writes


async def test_clicking_on_hostile_text(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    platform.faults.add("*:hostile")
    async with stage(platform, tmp_path, place="overview") as s:
        await s.poll()
        for y in range(3, 23):
            await s.pilot.click(offset=(55, y))
            check(s)
            if s.app.screen is not s.main:
                await s.press("escape")
            if s.main.place != "overview":
                await s.press("escape")
                await s.go("overview")
        assert s.app.return_code is None


async def test_a_hostile_profile_and_refusal(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    platform.faults.add("*:status=503")
    platform.faults.add("*:hostile")
    settings = settings_for(platform, profile="[bold]prod\x1b[31m\u202e")
    async with stage(platform, tmp_path, settings=settings, wait=False) as s:
        await s.sees("[bold]prod", "503")
        check(s)


async def test_messages_are_no_markup(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path) as s:
        s.main.say("[bold]not bold[/bold] [@click=app.quit]x[/] \x1b[31mred")
        await s.sees("[bold]not bold[/bold]")
        check(s)
