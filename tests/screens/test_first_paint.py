"""What stands there before any answer, where there is nothing, and when feeds fail: then the last
picture stays, with its age, the reason and the next try.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Resize
from textual.geometry import Size

from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import FeedName, Phase
from tests.platform import EmbeddedPlatform
from tests.screens.harness import WIDE, Staging, stage

SAYS: dict[Place, tuple[str, str, str]] = {
    "overview": ("NEEDS YOU", "nothing needs you", "Refund 214 customers"),
    "companies": ("COMPANIES", "no companies", "Acme Robotics"),
    "agents": ("AGENTS", "no agents", "Amara"),
    "tasks": ("TASKS", "no task waits for a person", "Refund 214 customers"),
    "budget": ("BUDGET", "no alerts", "$6,680.00"),
    "activity": ("ACTIVITY", "nothing happened yet", "Tidied notes"),
}
"""Heading, what is said of nothing, and something of what there is."""


@pytest.mark.parametrize("place", SAYS)
async def test_the_frame_is_there_before_any_answer(on: Staging, place: Place) -> None:
    heading, empty, _ = SAYS[place]
    async with on(faults=["*:hang"], place=place, wait=False) as s:
        await s.sees(heading, "loading", "? help", "q quit", "all companies", "connecting")
        assert "agentco" in s.lines[0]
        assert all(str(number) in s.lines[1] for number in range(1, 7))
        assert "no data" not in s.text
        assert empty not in s.text, "nothing is known, which is not the same as nothing"


@pytest.mark.parametrize("place", SAYS)
async def test_empty_is_told_as_such(
    empty_platform: EmbeddedPlatform, tmp_path: Path, place: Place
) -> None:
    async with stage(empty_platform, tmp_path, place=place) as s:
        await s.sees(*SAYS[place][:2], "live")
        await s.sees_no("loading")


@pytest.mark.parametrize("place", SAYS)
async def test_rows_stay_with_age_reason_and_next_try(on: Staging, place: Place) -> None:
    first = SAYS[place][2]
    async with on(place=place) as s:
        await s.poll()
        await s.sees(first)
        rows = len(s.rows)
        s.platform.faults.add("*:status=503")
        s.platform.world.advance(48)
        await s.poll()
        await s.sees(first, "48 s old", "again in 30 s", "503")
        assert (len(s.rows), s.view.table.viewport.stale) == (rows, True)
        assert "live" not in s.lines[0]
        assert "failing" in s.lines[0]
        s.platform.faults.clear()
        await s.press("r")
        await s.sees("live", first)
        await s.sees_no("48 s old", "503")
        assert not s.view.table.viewport.stale


async def test_one_feed_failing_leaves_the_others_alone(on: Staging) -> None:
    async with on(place="companies") as s:
        s.platform.faults.add("tasks:status=500")
        await s.poll()
        assert "live" in s.lines[0]
        assert "500" not in s.text
        await s.go("tasks")
        await s.sees("500", "Refund 214 customers")


async def test_the_wait_a_platform_asks_for_is_shown(on: Staging) -> None:
    async with on(place="tasks") as s:
        s.platform.faults.add("reads:status=429,retry_after=120")
        await s.poll(FeedName.PENDING)
        await s.sees("again in 2 m", "asked to wait")


async def test_no_permission_for_one_feed(on: Staging) -> None:
    async with on(faults=["alerts:status=403"], place="budget", wait=False) as s:
        await s.sees("$6,680.00", "the key lacks the permission", "alerts")
        assert "ALERTS 0" not in s.text, "how many stand is not known"
        await s.wait_until(
            lambda: s.workspace.store.freshness[FeedName.ALERTS].phase is Phase.FAILED,
            "the refusal",
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
async def test_whatever_breaks_is_told_in_words(on: Staging, fault: str) -> None:
    async with on(place="companies") as s:
        s.platform.faults.add(f"*:{fault}")
        await s.poll(FeedName.COMPANIES)
        await s.go("companies")
        shows = s.text
        assert "Acme Robotics" in shows or "0 " in shows or "–" in shows
        assert "Traceback" not in shows
        assert "Error(" not in shows
        s.platform.faults.clear()
        await s.poll()
        await s.sees("Acme Robotics", "live")


async def test_an_empty_scope(on: Staging, platform: EmbeddedPlatform) -> None:
    alone = platform.world.create_company("Umbrella Weather", "consulting", "Tell the weather.")
    async with on(place="tasks", company=alone.id) as s:
        await s.poll(FeedName.COMPANIES)
        await s.sees("Umbrella Weather", "no task waits for a person")
        assert "Refund" not in s.text
        await s.go("overview")
        await s.sees("nothing needs you", "Umbrella Weather was founded"[:14], "0 tasks wait")


async def test_the_echo_of_an_old_size_is_not_believed(on: Staging) -> None:
    """A screen's layout tells it its size, which may be an old one by then."""
    async with on(place="tasks", size=WIDE) as s:
        for keys in ("", "a"):
            await s.press(*keys)
            s.app.screen.post_message(Resize(Size(40, 10), Size(40, 10)))
            await s.settle()
            await s.wait_until(lambda: s.app.screen.outer_size == WIDE, "the size there is")
            await s.sees_no("this terminal is")
            assert all(screen.outer_size == WIDE for screen in s.app.screen_stack[1:])


async def test_resizing_while_a_dialog_is_open(on: Staging) -> None:
    async with on(place="tasks", size=WIDE) as s:
        for key in ("a", "question_mark", "t", "n"):
            await s.press(key)
            await s.wait_until(lambda: s.app.screen is not s.main, "the dialog")
            for size in ((80, 24), (39, 12), (120, 40), (80, 24)):
                await s.resize(*size)
            await s.press("escape")
            await s.wait_until(lambda: s.app.screen is s.main, "the list")
            await s.sees("TASKS", "Refund 214 customers", "q quit")
        assert not s.writes


async def test_a_dialog_tells_the_size_it_needs_too(on: Staging) -> None:
    """What is approved must be seen: a question that cannot be read is not answered."""
    async with on(place="tasks", size=WIDE) as s:
        await s.press("a")
        await s.armed()
        await s.resize(40, 10)
        await s.sees("needs 40x12")
        await s.press("y")
        await s.resize(120, 40)
        await s.sees("APPROVE", "Share the Q2 churn report")
        assert not s.writes


async def test_ages_go_on_without_any_answer(on: Staging) -> None:
    async with on(running=True, place="tasks") as s:
        await s.sees("3h15")
        before = s.line_with("Publish pricing page")
        assert "26 m" in before
        s.platform.faults.add("*:hang")
        with s.platform.world.lock:
            s.platform.world.advance(600)
        await s.wait_until(lambda: "36 m" in s.line_with("Publish pricing page"), "an older age")
