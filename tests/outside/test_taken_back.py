"""After a yes the cursor goes on; a yes that is not sent brings it back to its task."""

from __future__ import annotations

from pathlib import Path

from tests.outside.console import Console, cases, scene
from tests.outside.platform import approves, pending

LONG_HOLD = "[approve]\nhold = 60\n"


def yes_under_cursor(console: Console, title: str) -> None:
    """`a`, `y` on whatever is under the cursor; it must be that task, and be held."""
    console.press("a")
    console.box_shows(rf"APPROVE 1 task[\s\S]*{title}[\s\S]*esc no")
    console.yes()
    console.line_shows(title, "approving in")


def test_u_brings_the_cursor_back(tmp_path: Path) -> None:
    """`a y u a y` is about one task."""
    with scene(tmp_path, cases(3), config=LONG_HOLD) as (platform, console):
        console.to("Case0")
        yes_under_cursor(console, "Case0")
        console.until(lambda: "Case1" in console.cursor_line(), "the cursor goes on")
        console.press("u")
        console.until(lambda: "Case0" in console.cursor_line(), "the cursor is back")
        yes_under_cursor(console, "Case0")
        assert platform.posts() == []
        console.press("u")


def test_u_brings_it_back_from_wherever_it_is(tmp_path: Path) -> None:
    """`u` acts on the newest that is held, so that is where the cursor is afterwards."""
    with scene(tmp_path, cases(4), config=LONG_HOLD) as (platform, console):
        console.to("Case0")
        yes_under_cursor(console, "Case0")
        console.to("Case3")
        console.press("u")
        console.until(lambda: "Case0" in console.cursor_line(), "the cursor is back")
        yes_under_cursor(console, "Case0")
        console.press("3")
        console.wait_for("AGENTS")
        console.press("u")
        console.until(lambda: "1 held" not in console.footer(), "taken back")
        console.press("4")
        console.until(lambda: "Case0" in console.cursor_line(), "back in the list, too")
        assert platform.posts() == []


def test_leaving_takes_back_and_brings_the_cursor_back(tmp_path: Path) -> None:
    with scene(tmp_path, cases(3), config=LONG_HOLD) as (platform, console):
        console.to("Case0")
        yes_under_cursor(console, "Case0")
        console.until(lambda: "Case1" in console.cursor_line(), "the cursor goes on")
        console.press("q")
        console.notice("taken back, nothing was sent")
        console.until(lambda: "Case0" in console.cursor_line(), "the cursor is back")
        assert platform.posts() == []


def test_a_task_that_changed_gets_the_cursor_back_if_nothing_was_pressed(tmp_path: Path) -> None:
    with scene(tmp_path, cases(3)) as (platform, console):
        console.to("Case0")
        console.press("a")
        console.box_shows("Case0[\\s\\S]*esc no")
        read = platform.hold(pending)
        platform.change("t0", title="Case0 MALLORY")
        console.yes()
        read.release()
        console.line_shows("Case0", "changed")
        console.until(lambda: "Case0" in console.cursor_line(), "the cursor is back")
        assert platform.posts() == []


def test_where_the_cursor_was_moved_the_next_question_says_what_was_not_sent(
    tmp_path: Path,
) -> None:
    with scene(tmp_path, cases(4), config="[approve]\nhold = 3\n") as (platform, console):
        console.to("Case0")
        yes_under_cursor(console, "Case0")
        console.press("j")
        console.until(lambda: "Case2" in console.cursor_line(), "moved on")
        platform.change("t0", title="Case0 MALLORY")
        console.line_shows("Case0", "changed")
        assert "Case2" in console.cursor_line()
        console.press("a")
        console.box_shows(r"this is not Case0[\s\S]*Case2")
        console.yes()
        assert len(platform.wait_for(approves("t2"))) == 1
        assert [post.path[1] for post in platform.posts()] == ["t2"]
