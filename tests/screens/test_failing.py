"""A feed that fails: the last picture stays, with its age, the reason and the next try (law 1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.keys import Place
from agentco_tui.live.feeds import FeedName, Phase
from tests.screens.harness import (
    NARROW,
    PLACES,
    Stage,
    stage,
)

SIZES = pytest.mark.parametrize("size", [NARROW], ids=["80x24"])
FIRST_ROW: dict[Place, str] = {
    "overview": "Refund 214 customers",
    "companies": "Acme Robotics",
    "agents": "Amara",
    "tasks": "Refund 214 customers",
    "budget": "$6,680.00",
    "activity": "Tidied notes",
}


def state_of(s: Stage) -> str:
    """What the table says of its rows."""
    return s.view.table.state.value


async def fail(s: Stage) -> None:
    """Let 48 seconds pass and everything asked now fail."""
    s.platform.faults.add("*:status=503")
    s.platform.world.advance(48)
    await s.poll()


@SIZES
@pytest.mark.parametrize("place", PLACES)
async def test_rows_stay_with_age_reason_and_next_try(
    platform: EmbeddedPlatform, tmp_path: Path, place: Place, size: tuple[int, int]
) -> None:
    async with stage(platform, tmp_path, place=place, size=size) as s:
        await s.poll()
        await s.sees(FIRST_ROW[place])
        rows = len(s.rows)
        await fail(s)
        await s.sees(FIRST_ROW[place], "48 s old", "again in 30 s", "503")
        assert len(s.rows) == rows
        assert state_of(s) == "stale"
        assert "live" not in s.lines[0]
        assert "failing" in s.lines[0]
        platform.faults.clear()
        await s.press("r")
        await s.sees("live", FIRST_ROW[place])
        await s.sees_no("48 s old", "503")
        assert state_of(s) == "ready"


async def test_one_feed_failing_leaves_the_others_alone(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="companies") as s:
        platform.faults.add("tasks:status=500")
        await s.poll()
        assert "live" in s.lines[0]
        assert "500" not in s.text
        await s.go("tasks")
        await s.sees("500", "Refund 214 customers")


async def test_the_dimmed_rows_look_dimmed(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    """Not by the words alone: another colour, or a dim one."""

    def style_of(s: Stage, words: str) -> object:
        for strip in s.app.screen._compositor.render_strips():
            for segment in strip:
                if words in segment.text:
                    return segment.style
        raise AssertionError(words)

    async with stage(platform, tmp_path, place="tasks") as s:
        before = style_of(s, "Publish pricing page")
        await fail(s)
        await s.wait_until(lambda: style_of(s, "Publish pricing page") != before, "dimmed rows")


async def test_the_wait_a_platform_asks_for_is_shown(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        platform.faults.add("reads:status=429,retry_after=120")
        await s.poll(FeedName.PENDING)
        await s.sees("again in 2 m", "asked to wait")


async def test_no_permission_for_one_feed(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    platform.faults.add("alerts:status=403")
    async with stage(platform, tmp_path, place="budget", wait=False) as s:
        await s.sees("$6,680.00", "the key lacks the permission", "alerts")
        assert "ALERTS 0" not in s.text, "how many stand is not known"
        await s.wait_until(
            lambda: s.session.store.freshness[FeedName.ALERTS].phase is Phase.FAILED, "the refusal"
        )


@pytest.mark.parametrize(
    "fault",
    [
        *(f"status=200,body={body}" for body in ("html", "empty", "null")),
        "bad_json",
        "cut",
        "redirect",
    ],
)
async def test_whatever_breaks_is_told_in_words(
    platform: EmbeddedPlatform, tmp_path: Path, fault: str
) -> None:
    async with stage(platform, tmp_path, place="companies") as s:
        platform.faults.add(f"*:{fault}")
        await s.poll(FeedName.COMPANIES)
        await s.go("companies")
        shows = s.text
        assert "Acme Robotics" in shows or "0 " in shows or "–" in shows
        assert "Traceback" not in shows
        assert "Error(" not in shows
        platform.faults.clear()
        await s.poll()
        await s.sees("Acme Robotics", "live")


async def test_records_that_cannot_be_read_are_counted(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, place="tasks") as s:
        told = s.session.store.pending.listing
        assert told.unread == 0
        assert "could not be read" not in s.text
