"""The real dashboard on a platform whose every text is a payload, in a real pseudo-terminal.

Each place that shows platform text meets all 152 payloads at once: every row of every table, the
fields of a detail, the steps of a trace. What is judged is the raw bytes, and at which column the
tags of the rows stand in the terminal's picture.
"""

from __future__ import annotations

import base64
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.safety.hostile_world import COUNT, HostilePlatform, tags, unclean
from tests.terminal.dashboard import back, dashboard, say_yes
from tests.terminal.pty_session import PATIENCE, PtySession

pytestmark = pytest.mark.timeout(400)

SIZE = (150, COUNT + 40)
"""So many rows that a table shows every payload at once."""
FORM = "Create a task"
TABLES = {
    "1": {"C"},
    "2": {"C", "S"},
    "3": {"A", "C", "S"},
    "4": {"T", "U", "A", "C"},
    "5": {"C"},
    "6": {"E", "A", "C"},
}
"""For each screen's key the letters whose tags all stand in one column each."""


@contextmanager
def on_hostile(folder: Path) -> Iterator[tuple[HostilePlatform, PtySession]]:
    with (
        HostilePlatform() as platform,
        dashboard(platform, folder, "--refresh", "60", size=SIZE) as session,
    ):
        session.wait_raw(b"live")
        yield platform, session


def in_columns(session: PtySession, letters: set[str], least: int = COUNT) -> int:
    """Wait until each letter's tags stand in one column; how many (place, payload) pairs."""

    def standing() -> dict[str, int]:
        found = tags(session.screen)
        return {
            letter: max(map(len, found.get(letter, {}).values()), default=0) for letter in letters
        }

    end = time.monotonic() + PATIENCE
    while min((stand := standing()).values()) < least:
        assert time.monotonic() < end, f"{stand} of {least}"
        session.wait_quiet(0.1)
    return sum(stand.values())


def choose(session: PtySession, words: str) -> None:
    """Show only the lines with these words."""
    session.press("/")
    session.wait_for("words  !not")
    session.press(words)
    session.wait_for("enter keeps it")
    session.press("enter")
    session.wait_for("? help")


def test_every_table_and_every_failure(tmp_path: Path) -> None:
    """All payloads in straight columns, clicks on markup, and refusals whose every part is one."""
    pairs = clicked = 0
    with on_hostile(tmp_path) as (platform, session):
        painted = session.wait_quiet(0.2)
        for key, letters in TABLES.items():
            session.press(key)
            pairs += in_columns(session, letters)
            if key in "46":
                clicked += click_on_markup(session)
        session.press("4")
        session.wait_for("TASKS ▌pending")
        session.press("v")
        session.wait_for("a all")
        session.press("a")
        pairs += in_columns(session, {"S", "T"})
        assert platform.writes == [], "no click ran anything"
        platform.failing = True
        for key in "123456":
            session.press(key, "r")
            session.wait_for("Z00")
            session.wait_for("not available now (503)")
        platform.failing = False
        session.press("r")
        session.wait_for(lambda screen: "(503)" not in screen)
        before_leaving = session.mark()
        session.press("q")
        assert session.wait_gone() == 0
        assert session.after_screen() == ""
        assert unclean(session.raw[painted:before_leaving]) == []
    sys.stdout.write(f"pairs: {pairs}\n")
    assert pairs >= 15 * COUNT
    assert clicked >= 4


def click_on_markup(session: PtySession) -> int:
    """Click on all that would be a link or an action if it were read as markup; how often."""
    places = [
        (row, line.index(words))
        for row, line in enumerate(session.screen)
        for words in ("[@click=", "[link=")
        if words in line
    ]
    for row, column in places:
        for at in (column, column + 9):
            where = f"{at + 1};{row + 1}"
            session.write(f"\x1b[<0;{where}M\x1b[<0;{where}m\x1b[<35;{where}M")
    return 2 * len(places)


def test_details_trace_dialogs_messages_scope_and_clipboard(tmp_path: Path) -> None:
    with on_hostile(tmp_path) as (platform, session):
        session.press("4")
        in_columns(session, {"T"})
        painted = session.mark()
        choose(session, "T000")
        # Unknown fields of the first task: names at one column, long ones on a line of their own.
        pairs = in_columns(session, {"x"}, COUNT // 2)
        session.press("enter")
        session.wait_for("esc back")
        session.press("G", "x")
        session.wait_for("u001b")
        back(session, "esc back")
        session.press("t")
        session.wait_for("task_id holds a control character")  # no request can name it
        session.press("G", "x")
        session.wait_for("u001b")
        back(session, "TRACE")
        back(session, "/T000")
        choose(session, "T003")
        session.press("a")
        session.wait_for("no write: its id holds a control character")
        back(session, "/T003")
        choose(session, "T145")  # with an id that a request can name
        session.press("t")
        pairs += in_columns(session, {"K"}, COUNT // 2)
        session.press("G", "x")
        session.wait_for("u001b")
        back(session, "TRACE")
        session.press("a")
        session.wait_for("APPROVE 1 task")
        session.wait_for("K15")  # the end of the trace
        say_yes(session, "APPROVE 1 task")
        session.wait_for(lambda _: bool(platform.writes))
        session.wait_for("Z00")  # the refusal's words, in a message
        session.press(":")
        session.wait_for("any command, or a name")
        session.press("agent A01")
        session.wait_for("agent A010")
        session.wait_for("↑↓ choose")
        back(session, "↑↓ choose")
        session.press("n")
        session.wait_for(FORM)
        session.press("t", "enter", "h", "enter", "enter", "enter")
        session.wait_for("n, esc")  # the question, for which enter is no answer
        session.press("esc")
        session.wait_for("esc: cancel")
        back(session, FORM)
        session.press("2")
        in_columns(session, {"C"})
        session.press("g", "enter")
        session.wait_for(re.compile(r"agentco  127\.0\.0\.1  . C\d\d\d"))
        assert unclean(session.since(painted)) == []
        session.press("3")
        session.wait_for("AGENTS C")
        session.wait_quiet(0.6)
        mark = session.mark()
        session.press("y")
        session.wait_raw(b"\x1b]52;c;", mark=mark)
        session.wait_for("sent to the terminal (OSC 52)")
        session.wait_quiet(0.3)
        assert unclean(session.since(mark), clipboard=True) == []
        copied = re.search(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", session.since(mark))
        assert copied is not None
        assert unclean(base64.b64decode(copied[1])) == []
        assert session.alive
    sys.stdout.write(f"pairs: {pairs}\n")


def test_the_page_of_a_shift_and_its_hand_over(tmp_path: Path) -> None:
    """All payloads on the page, and none of them more than text in the Markdown."""
    with on_hostile(tmp_path) as (_, session):
        in_columns(session, {"C"})
        painted = session.mark()
        session.press("L", *"+++")
        session.wait_for("Newly waiting")
        session.press("G")
        session.press("H")
        session.wait_for("HAND OVER")
        session.write(f"\x15{tmp_path}/shift.md\r")
        session.wait_for("was written to")
        before_leaving = session.mark()
        back(session, "H hand over")
        session.press("q")
        assert session.wait_gone() == 0
        assert unclean(session.raw[painted:before_leaving]) == []
    text = (tmp_path / "shift.md").read_text()
    assert len(tags(text.splitlines())) > 0
    tokens = [each for token in MarkdownIt("gfm-like").parse(text) for each in _all(token)]
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    assert kinds <= {
        *("heading", "paragraph", "bullet_list", "list_item"),
        *("inline", "text", "text_special", "code_inline"),
    }


def _all(token: Token) -> list[Token]:
    return [token, *(token.children or ())]
