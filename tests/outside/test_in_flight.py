"""What is on its way, unknown or was tried before is seen at its task, and acted on once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.outside.console import NO_HOLD, Console, cases, scene
from tests.outside.platform import Platform, approves, every, pending

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
    assert "y  approve" not in box
    console.press("y")
    console.pause()
    if console.box():
        console.no()
    console.press("1")
    console.wait_for("NEEDS YOU")
    console.line_shows("Case1", note)
    console.until(lambda: FOOTER.search(console.footer()), "a count in the Overview's footer")
    console.press("4")
    console.wait_for("TASKS ▌pending")


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


def test_a_refusal_that_turns_out_differently_is_corrected(tmp_path: Path) -> None:
    """Refused with a clear no, and still waiting; then the platform carries it out."""
    with scene(tmp_path, {"t1": "Case1", "t2": "Case2"}, config=NO_HOLD) as (platform, console):
        platform.answer(approves("t1"), 422, {"error": "not yet"})
        console.approve("Case1", "refused")
        assert console.outcomes("t1") == ["refused"]
        platform.decide("t1", by="this key")
        line = console.line_shows("Case1", r"approved after all, at \d\d:\d\d:\d\d")
        assert "refused" not in line
        assert "elsewhere" not in line
        assert console.outcomes("t1") == ["approved"]
        [entry] = console.journal()
        assert [one["is"] for one in entry["corrected"]] == ["refused"]
        shown = console.run("journal").stdout
        assert re.search(r"refused, known by answer .*; corrected at .*: approved", shown)
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


# --- what comes back from the network is a line and a notice: no question opens by itself ---


@contextmanager
def changing(platform: Platform, console: Console, task_id: str, title: str) -> Iterator[None]:
    """Say yes to a task that changes while the block runs, before it is read again."""
    console.approve_held(title, pending, times=None)
    yield
    platform.change(task_id, description=f"Now to EVIL Corp: {title} {len(platform.requests)}")
    platform.clear()
    platform.wait_more(pending, 2)
    console.wait_quiet(0.5)


def eager(console: Console, *keys: str) -> None:
    """Press keys as long after each other as would answer a question."""
    for key in keys:
        console.press(key)
        console.pause()


def ask_eleven(console: Console) -> None:
    """Mark eleven tasks, ask about them, and type their number."""
    console.to("Vendor3.")
    console.press("space")
    console.to("Vendor13.")
    console.press("m", "a")
    console.box_shows("APPROVE 11 tasks")
    console.pause()
    console.type_number("11")


def test_over_what_a_person_types(tmp_path: Path) -> None:
    # Too narrow for a detail beside the list: only what is opened counts as looked at.
    options = {"size": (100, 40), "config": NO_HOLD}
    with scene(tmp_path, cases(3, "Pay Vendor{}"), **options) as (platform, console):
        with changing(platform, console, "t0", "Vendor0"):
            console.press("/")
            console.wait_for("words  !not")
            console.press("pay")
        eager(console, "y", "y")
        assert platform.posts() == []
        assert not console.box()
        console.wait_for("payyy")
        console.press("esc")
        console.wait_for(lambda screen: "payyy" not in screen)
        console.line_shows("Vendor0", "changed: description · a to look")

        with changing(platform, console, "t1", "Vendor1"):
            console.press("n")
            console.box_shows("Create a task")
            console.press("tab", "Buy honey")
            console.wait_for("Buy honey")
        eager(console, "y", "y")
        assert platform.posts() == []
        assert "APPROVE" not in console.box()
        console.press("esc")
        console.no_box()
        console.line_shows("Vendor1", "changed: description · a to look")

        # It stays on the line until it is looked at; then the question shows what it is now.
        console.line_shows("Vendor0", "changed: description · a to look")
        assert "Now to EVIL Corp" in console.ask("Vendor0")
        console.no()
        console.until(lambda: "a to look" not in console.line("Vendor0"), "looked at")
        assert platform.posts() == []


def test_over_another_question_and_a_set(tmp_path: Path) -> None:
    with scene(tmp_path, cases(14, "Vendor{}."), config=NO_HOLD) as (platform, console):
        with changing(platform, console, "t0", "Vendor0."):
            console.ask("Vendor1.")
        stood = console.box()
        assert "Vendor1." in stood
        eager(console, "y", "y")
        platform.wait_for(lambda request: request in platform.posts("t1"))
        assert platform.posts("t0") == []
        console.line_shows("Vendor0.", "changed: description")
        console.line_shows("Vendor1.", "approved here")

        with changing(platform, console, "t2", "Vendor2."):
            ask_eleven(console)
        eager(console, "y")
        console.box_shows("it begins in")
        assert platform.posts("t2") == []
        console.press("u")
        console.box_shows("taken back: nothing was sent")
        console.no()
        console.press("esc")
        console.until(lambda: "marked" not in console.text, "no marks")

        console.ask("Vendor2.")
        held = platform.hold(pending, times=None)
        console.yes()
        read = held.arrived()
        ask_eleven(console)
        console.press("y")
        console.box_shows("it begins in")
        platform.change("t2", description="To EVIL Corp")
        platform.clear()
        console.until(lambda: read.ended, "read again")
        console.pause(0.3)
        console.press("u")
        console.box_shows("taken back: nothing was sent")
        console.no()
        platform.wait_more(pending, 3)
        assert [request.path[1] for request in platform.posts()] == ["t1"]
        assert console.outcomes("t2") == []
