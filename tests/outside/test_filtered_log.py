"""A filter of the activity log is one screen's: no other screen shows less because of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.outside.console import AT_ONCE, Console
from tests.outside.platform import Platform, Request

THINGS = (
    *("alder", "birch", "cedar", "dogwood", "elder", "fir", "ginkgo", "hazel", "ironwood"),
    *("juniper", "katsura", "larch", "maple", "nutmeg", "oak", "pine", "quince", "rowan"),
)


def of_ada(request: Request) -> bool:
    return request.path == ("activity",) and request.query.get("agent_id") == "ag_ada"


@pytest.fixture(params=[True, False], ids=["filter obeyed", "filter ignored"])
def platform(request: pytest.FixtureRequest) -> object:
    with Platform() as platform:
        platform.obeys_log_filters = request.param
        for number, thing in enumerate(THINGS):
            ago = timedelta(minutes=50 - number)
            platform.happened("ag_ada", f"planted a {thing}", ago)
            platform.happened("ag_linus", f"felled a {thing}", ago)
        yield platform


def filter_by_agent(console: Console, name: str) -> None:
    console.press("f")
    console.wait_for("FILTER")
    console.press("tab", name, *["enter"] * 4)
    console.wait_for(f"agent {name}")


def shows_only(console: Console, text: str, other: str) -> None:
    """Wait until one text is on the screen and another isn't."""
    console.until(lambda: text in console.text and other not in console.text, f"{text} only")


def shows(console: Console, *texts: str) -> None:
    """Wait until all these texts are on the screen at once."""
    console.until(lambda: all(text in console.text for text in texts), " and ".join(texts))


def go_to_line(console: Console, text: str) -> None:
    """Move the cursor of a page down onto a line; each key is pressed when the last has shown."""
    while not is_on(console, text):
        press_and_wait(console, "j")


def is_on(console: Console, text: str) -> bool:
    [line] = [row for row in console.text.split("\n") if text in row]
    return "▌" in line.partition(text)[0]


def press_and_wait(console: Console, key: str) -> None:
    """Press a key and wait until the screen differs."""
    before = console.text
    console.press(key)
    console.until(lambda: console.text != before, "the cursor moved")


def test_a_filter_of_activity_leaves_every_other_screen_whole(
    platform: Platform, tmp_path: Path
) -> None:
    with Console(platform, tmp_path, "--screen", "activity", env=AT_ONCE) as console:
        console.wait_for("felled a rowan")
        filter_by_agent(console, "Ada")
        shows_only(console, "planted a rowan", "felled")
        assert platform.seen(of_ada)
        # The Overview shows what every agent does, also after polls that came meanwhile.
        console.press("1")
        platform.happened("ag_linus", "felled a spruce", timedelta(minutes=2))
        shows(console, "felled a spruce", "planted a rowan")
        # So does the page of another agent, which leads to that agent's own log.
        console.press("3")
        console.wait_for("AGENTS all")
        console.until(lambda: "Ada" in console.cursor_line(), "the first agent")
        console.press("j")
        console.until(lambda: "Linus" in console.cursor_line(), "the second agent")
        console.press("enter")
        shows_only(console, "felled a spruce", "planted")
        console.wait_for("11 more")
        go_to_line(console, "11 more")
        console.press("enter")
        console.wait_for("agent Linus")
        shows_only(console, "felled a alder", "planted")
        # Escape removes the filter, and then goes back to the page.
        console.press("esc")
        console.until(lambda: "agent Linus" not in console.text, "no filter")
        console.wait_for("planted a rowan")
        console.press("esc")
        console.wait_for("11 more")
        console.press("6")
        console.wait_for("planted a rowan")
        assert "agent Ada" not in console.text
