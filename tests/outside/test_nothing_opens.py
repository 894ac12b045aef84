"""What comes back from the network is a line and a notice: no question opens by itself.

Each time a task changes between the yes and the read before it is sent, while the person does
something else in which `y` has a meaning of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.outside.console import NO_HOLD, Console, cases, scene
from tests.outside.platform import Platform, pending


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
    console.press("1", "1")
    console.box_shows("press y to approve")


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
            console.box_shows("CREATE 1 task")
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
