"""What is on its way, unknown or was tried before is seen at its task, and acted on once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.outside.console import NO_HOLD, Console, scene
from tests.outside.platform import approves, every, pending

FOOTER = re.compile(r"1 (?:in flight|sending|unknown|approv\w+)|(?:in flight|unknown|sent)\D*1")


def test_in_flight_and_unknown_are_seen_everywhere(tmp_path: Path) -> None:
    with scene(tmp_path, {"t1": "Case1", "t2": "Case2"}, config=NO_HOLD) as (platform, console):
        held = console.approve_held("Case1", approves("t1"))
        seen_in_flight(console, r"sending <?\d[\d.]* s")
        # The answer is lost; what became of it can't be read either.
        platform.answer(pending, 500, {"error": "down"}, times=None)
        held.drop()
        console.line_shows("Case1", r"unknown: reading <?\d[\d.]* s")
        seen_in_flight(console, r"unknown: reading <?\d[\d.]* s")
        assert len(platform.posts()) == 1

        # It was never applied: that is read, told, and corrected nowhere.
        platform.clear()
        console.line_shows("Case1", "not done")
        assert "approved" not in console.line("Case1")
        assert console.outcomes("t1") == ["not done"]
        assert platform.record("t1")["status"] == "pending"


def seen_in_flight(console: Console, note: str) -> None:
    """On the line, in the detail, on the Overview and in the footer; `a` asks nothing."""
    console.line_shows("Case1", note)
    console.until(lambda: FOOTER.search(console.footer()), "a count in the footer")
    console.to("Case1")
    console.press("enter")
    console.until(lambda: len(re.findall(note, console.text)) >= 1, "the detail says so")
    console.press("esc")
    console.wait_quiet(0.1)
    console.press("a")
    console.pause()
    box = console.box()
    assert "y approve" not in box
    console.press("y")
    console.pause()
    if console.box():
        console.no()
    console.press("1")
    console.wait_for("NEEDS YOU")
    console.line_shows("Case1", note)
    console.until(lambda: FOOTER.search(console.footer()), "a count in the Overview's footer")
    console.press("4")
    console.wait_for("TASKS pending")


@pytest.mark.parametrize("end", ["approved", "rejected"])
def test_a_second_attempt_shows_the_first_a_late_end_mends_both(tmp_path: Path, end: str) -> None:
    with scene(tmp_path, {"t1": "Case1", "t2": "Case2"}, config=NO_HOLD) as (platform, console):
        console.ask("Case1")
        platform.drop(approves("t1"))
        console.yes()
        console.line_shows("Case1", "not done")
        # The platform took its time: it is carried out only now.
        assert re.search("(?i)not done|attempt|before", console.ask("Case1"))
        console.no()
        console.press("g")
        platform.answer(every, 503, {"error": "not now"}, times=3)  # what tells is read again
        platform.decide("t1", end, by="this key")
        if end == "approved":
            line = console.line_shows("Case1", r"approved after all, at \d\d:\d\d:\d\d")
        else:
            line = console.line_shows("Case1", "rejected")
        assert "not done" not in line
        assert "approved" not in line or end == "approved"
        told = console.journal()
        assert len(told) == 1
        assert ("approved after all" in str(told)) == (end == "approved")
        assert len(platform.posts()) == 1


def test_a_second_dashboard_of_the_machine_sees_it_too(tmp_path: Path) -> None:
    """From the journal; it neither asks nor sends anything of its own."""
    with (
        scene(tmp_path, {"t1": "Case1", "t2": "Case2"}, config=NO_HOLD) as (platform, console),
        Console(platform, tmp_path, "--screen", "tasks", config=NO_HOLD) as other,
    ):
        held = console.approve_held("Case1", approves("t1"))
        seen_in_flight(other, "sending|in flight|another dashboard")
        held.release()
        other.line_shows("Case1", "approved")
        assert len(platform.posts()) == len(platform.approvals) == 1
