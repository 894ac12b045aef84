"""Every key of the contract once, on every screen: dialogs open and close, nothing is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentco_tui.keys.commands import COMMANDS, UNBOUND
from agentco_tui.keys.places import Place
from tests.terminal.dashboard import assert_restored, back, dashboard, leave, ready, show
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession

SCREENS: tuple[Place, ...] = ("overview", "companies", "agents", "tasks", "budget", "activity")
TYPED = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "asterisk": "*",
    "escape": "esc",
    "minus": "-",
}
"""Textual's names of keys as this harness calls them; the others are the same."""

HARMLESS = (
    *("j", "k", "down", "up", "G", "end", "g", "home", "pagedown", "pageup"),
    *("s", "S", "x", "r", "ctrl+l"),
)
"""Keys of every list that open nothing."""

OPENS: dict[Place, tuple[tuple[str, str], ...]] = {
    "overview": (("a", "APPROVE 1 task"), ("t", "read again"), ("l", "SET LIMIT"), ("z", "SNOOZE")),
    "companies": (("n", "Create a company"), ("c", "CLONE")),
    "agents": (("l", "SET LIMIT"), ("enter", "esc back")),
    "tasks": (
        ("a", "APPROVE 1 task"),
        ("t", "read again"),
        ("n", "Create a task"),
        ("enter", "esc back"),
    ),
    "budget": (("l", "SET LIMIT"), ("enter", "esc back")),
    "activity": (("f", "FILTER"), ("e", "EXPORT"), ("enter", "esc back")),
}
"""On each screen: a key, and what shows that it has opened something that escape closes."""

EVERYWHERE = (
    ("?", "Keys on"),
    ("/", "words  !not"),
    ("ctrl+p", "any command"),
    ("L", "H hand over"),
    ("H", "HAND OVER"),
    ("w", "SAVE"),
    ("C", "Columns"),
)
"""Keys that open something on every screen."""

DONE = {
    "q": "the end of every walk",
    "1 2 3 4 5 6": "how each walk begins",
    "esc": "how everything is closed",
    "0 -": "after enter on Companies",
    "y Y": "on Tasks",
    "o": "in tests/terminal/test_pager.py",
    "7 8 9": "in tests/terminal/test_dashboard_views.py and tests/screens/test_views.py",
    "p": "on Activity",
    "v u": "on Tasks",
    "space m M *": "marks, on Tasks",
    "y n": "answers, in the questions",
    "tab": "on Budget",
    ":": "the same as ctrl+p, and where words are entered",
}


@pytest.mark.parametrize("places", [SCREENS[:3], SCREENS[3:]], ids=" ".join)
def test_every_key_of_every_screen(
    places: tuple[Place, ...], platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path) as session:
        ready(session)
        for place in places:
            show(session, SCREENS.index(place) + 1)
            prepare(session, place)
            for key, shown in (*OPENS[place], *EVERYWHERE):
                session.press(key)
                session.wait_for(shown)
                if shown in {"SET LIMIT", "Create a task", "Create a company", "CLONE"}:
                    session.press("tab", "down", "up")
                back(session, shown)
            special(session, place)
            session.press(*HARMLESS)
        leave(session)
        assert {seen["method"] for seen in platform.requests()} == {"GET"}
        assert platform.world()["attempts"] == {}


def prepare(session: PtySession, place: Place) -> None:
    """Put the cursor on a record that the keys can act on."""
    session.press("g")
    if place == "overview":
        session.press(*"jj")
        session.wait_for(re.compile("^▌ .{3} +urgent ", re.MULTILINE))
    if place == "budget":
        session.press(*"jj")
        session.wait_for(re.compile("^▌ .{3} +Ada ", re.MULTILINE))


def special(session: PtySession, place: Place) -> None:
    """Keys that close by themselves, or by another key than escape."""
    if place == "companies":
        session.press("enter")
        session.wait_for("Companies › Acme Robotics")
        session.press("0")
        session.wait_for("every screen shows all companies now")
        session.press("-")
        session.wait_for("COMPANIES all companies")
    elif place == "tasks":
        session.press("g", "y")
        session.wait_for("sent to the terminal (OSC 52): tsk_")
        session.wait_raw(b"\x1b]52;c;")
        session.press("Y")
        session.wait_for("$AGENTCO_API_KEY")
        back(session, "$AGENTCO_API_KEY")
        session.press("space")
        session.wait_for("1 marked")
        session.press("j", "j", "m")
        session.wait_for("4 marked")
        session.press("M")
        session.wait_for("like “")
        session.press("*")
        session.wait_for("40 marked")
        back(session, " marked")
        session.press("v")
        session.wait_for("c completed")  # which statuses there are is read then
        session.press("c")
        session.wait_for("▌completed")
        session.press("a")
        session.wait_for("no longer waits")
        session.press("u")
        session.wait_for("nothing is held back")
        show(session, 2)
        session.write(":tasks pending\r")
        session.wait_for("TASKS ▌pending")
        session.press("a")
        session.wait_for("APPROVE 1 task")
        session.press("enter", "enter", "n")
        session.wait_for(lambda screen: "APPROVE 1 task" not in screen)
    elif place == "budget":
        session.press("tab")
        session.wait_for("DETAIL of the alert")
        session.press("tab")
        session.wait_for("DETAIL of the budget")
    elif place == "activity":
        session.press("p")
        session.wait_for("paused")
        session.press("p")
        session.wait_for("following")


def test_keys_are_taken_however_fast_they_come(platform: PlatformProcess, tmp_path: Path) -> None:
    """While it starts, faster than the screens come, and words with enter in one packet.

    While it starts the terminal still echoes, and makes a line feed of enter.
    """
    with dashboard(platform, tmp_path) as session:
        session.press(":tasks", "enter", "j", "j")
        session.wait_for("TASKS ▌pending")
        session.wait_for(on_the_third_line)
        for keys, shown in (
            ("14a", "APPROVE 1 task"),
            ("3G1g4t", "read again"),
            ("14a", "APPROVE 1 task"),
        ):
            session.write(keys)
            session.wait_for(shown)
            back(session, shown)
        for words, seen in (
            (":tasks pending", "TASKS ▌pending"),
            (":agent Linus", "› Linus"),
            (":company Globex", "│ Globex"),
            (":company all", "│ all companies"),
            (":budget", "▌5 Budget"),
        ):
            session.write(f"{words}\r")
            session.wait_for(seen)
        session.press(":")
        session.wait_for("any command")
        session.press(*"bugdet", "enter")
        session.wait_for("did you mean Budget?")
        back(session, "did you mean")
        session.write(":agents\r/linus\r")
        session.wait_for(re.compile("AGENTS all companies .*/linus"))
        session.write("\x1b[A:tasks pending\rG/grace\rg")
        session.wait_for(re.compile("TASKS ▌pending .*/grace"))
        # The filter narrows the list while it is typed; enter leaves it in the title only.
        session.wait_for(lambda screen: screen.count("grace") == 1)
        session.write(":q\r")
        assert session.wait_gone() == 0
        assert_restored(session)


def test_every_key_there_is_was_pressed_in_these_walks() -> None:
    """So that a key that is added is walked too."""
    pressed = set(HARMLESS) | {key for key, _ in EVERYWHERE}
    pressed |= {key for keys in OPENS.values() for key, _ in keys}
    pressed |= {key for keys in DONE for key in keys.split()}
    # Those of a replay are pressed in its own tests: the dashboard of now hasn't them.
    of_now = [command.keys for command in COMMANDS if command.where != "replay"]
    of_now = [keys for keys in of_now if keys != UNBOUND]
    there = {TYPED.get(name, name) for keys in of_now for name in keys.split(",")}
    assert there - pressed == set()


def on_the_third_line(screen: str) -> bool:
    """Whether the cursor is there, and the list begins with the task that waits longest."""
    rows = screen.split("\n")
    titles = next(at for at, row in enumerate(rows) if "WAITS" in row)
    return rows[titles + 3].startswith("▌") and " 3h" in rows[titles + 1]
