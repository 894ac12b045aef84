from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Resize
from textual.geometry import Size

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.keys import Place
from agentco_tui.live.feeds import FeedName
from tests.screens.harness import NARROW, PLACES, WIDE, RunningClock, settings_for, stage

HEADINGS: dict[Place, str] = {
    "overview": "NEEDS YOU",
    "companies": "COMPANIES",
    "agents": "AGENTS",
    "tasks": "TASKS",
    "budget": "BUDGET",
    "activity": "ACTIVITY",
}
EMPTY: dict[Place, str] = {
    "overview": "nothing needs you",
    "companies": "no companies",
    "agents": "no agents",
    "tasks": "no task waits for a person",
    "budget": "no alerts",
    "activity": "nothing happened yet",
}
SIZES = pytest.mark.parametrize("size", [NARROW], ids=["80x24"])


@SIZES
@pytest.mark.parametrize("place", PLACES)
async def test_the_frame_is_there_before_any_answer(
    platform: EmbeddedPlatform, tmp_path: Path, place: Place, size: tuple[int, int]
) -> None:
    platform.faults.add("*:hang")
    async with stage(platform, tmp_path, place=place, size=size, wait=False) as s:
        await s.sees(HEADINGS[place], "loading", "? help", "q quit", "all companies", "connecting")
        assert "agentco" in s.lines[0]
        assert all(str(number) in s.lines[1] for number in range(1, 7))
        assert "no data" not in s.text
        assert EMPTY[place] not in s.text, "nothing is known, which is not the same as nothing"


async def test_what_answers_later_appears_by_itself(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    platform.faults.add("*:latency=300ms,times=12")
    async with stage(platform, tmp_path, wait=False) as s:
        await s.sees("loading", "connecting")
        await s.sees("Refund 214 customers", "live")
        await s.sees_no("loading", "connecting")


@SIZES
@pytest.mark.parametrize("place", PLACES)
async def test_full(
    platform: EmbeddedPlatform, tmp_path: Path, place: Place, size: tuple[int, int]
) -> None:
    seen = {
        "overview": ("Rotate the staging datab", "SPEND", "LATEST", "119 %"),
        "companies": ("Acme Robotics", "Globex", "Initech Content", "83 %"),
        "agents": ("Ada", "paused", "$392.85", "72"),
        "tasks": ("Refund 214 customers", "Linus", "urgent", "3 h"),
        "budget": ("$6,680.00", "$3,182.91", "119 %", "ALERTS 9", "Nora has spent"),
        "activity": ("Tidied notes on battery care", "Amara", "following", "2 s"),
    }
    async with stage(platform, tmp_path, place=place, size=size) as s:
        await s.poll()
        await s.sees(HEADINGS[place], *seen[place])
        assert "loading" not in s.text
        assert len(s.lines) == size[1]
        assert all(len(line) <= size[0] for line in s.lines)


@SIZES
@pytest.mark.parametrize("place", PLACES)
async def test_empty_is_told_as_such(
    empty_platform: EmbeddedPlatform, tmp_path: Path, place: Place, size: tuple[int, int]
) -> None:
    async with stage(empty_platform, tmp_path, place=place, size=size) as s:
        await s.sees(HEADINGS[place], EMPTY[place], "live")
        await s.sees_no("loading")


async def test_an_empty_scope(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    alone = platform.world.create_company("Umbrella Weather", "consulting", "Tell the weather.")
    async with stage(
        platform, tmp_path, place="tasks", settings=settings_for(platform, company=alone.id)
    ) as s:
        await s.poll(FeedName.COMPANIES)
        await s.sees("Umbrella Weather", "no task waits for a person")
        assert "Refund" not in s.text
        await s.go("overview")
        await s.sees("nothing needs you", "Umbrella Weather was founded"[:14], "0 tasks wait")


@pytest.mark.parametrize("keys", ["", "a"])
async def test_the_echo_of_an_old_size_is_not_believed(
    platform: EmbeddedPlatform, tmp_path: Path, keys: str
) -> None:
    """A screen's layout tells it its size, which may be an old one by then."""
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        await s.press(*keys)
        s.app.screen.post_message(Resize(Size(40, 10), Size(40, 10)))
        await s.settle()
        await s.wait_until(lambda: s.app.screen.outer_size == WIDE, "the size there is")
        await s.sees_no("this terminal is")
        assert all(screen.outer_size == WIDE for screen in s.app.screen_stack[1:])


@pytest.mark.parametrize("key", ["a", "question_mark", "t", "n"])
async def test_resizing_while_a_dialog_is_open(
    platform: EmbeddedPlatform, tmp_path: Path, key: str
) -> None:
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        await s.press(key)
        await s.wait_until(lambda: s.app.screen is not s.main, "the dialog")
        for size in ((80, 24), (59, 12), (120, 40), (80, 24)):
            await s.resize(*size)
        await s.press("escape")
        await s.wait_until(lambda: s.app.screen is s.main, "the list")
        await s.sees("TASKS", "Refund 214 customers", "q quit")
        assert not s.writes


async def test_a_dialog_tells_the_size_it_needs_too(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    """What is approved must be seen: a question that cannot be read is not answered."""
    async with stage(platform, tmp_path, place="tasks", size=WIDE) as s:
        await s.press("a")
        await s.armed()
        await s.resize(40, 10)
        await s.sees("needs 60x16")
        await s.press("y")
        await s.resize(120, 40)
        await s.sees("APPROVE", "Share the Q2 churn report")
        assert not s.writes


async def test_ages_go_on_without_any_answer(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, clock=RunningClock(platform), place="tasks") as s:
        await s.sees("3 h")
        before = s.line_with("Publish pricing page")
        assert "26 m" in before
        platform.faults.add("*:hang")
        with platform.world.lock:
            platform.world.clock.advance(600)
        await s.wait_until(lambda: "36 m" in s.line_with("Publish pricing page"), "an older age")
