"""ctrl+c, q and ctrl+z wherever one is: what stands over the list is left, and nothing is sent."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.outside.console import Console, box_in, scene
from tests.outside.platform import Platform, Request, writes
from tests.terminal.dashboard import LIVE, assert_restored
from tests.terminal.platform_process import settings
from tests.terminal.processes import children_of, wait_for_state
from tests.terminal.pty_session import NotSeenError, PtySession
from tests.terminal.test_job_control import BASH, back_in_the_shell, shell

needs_bash = pytest.mark.skipif(BASH is None, reason="needs bash for job control")

OVER = {
    "question": (("a",), "APPROVE 1 task"),
    "trace": (("t",), "TRACE"),
    "trace over a question": (("a", "t"), "TRACE"),
    "set": (("*", "a"), "APPROVE 3 tasks"),
    "form": (("n",), "Create a task"),
    "help": (("?",), "Keys on"),
    "palette": (("ctrl+p",), "any command, or a name"),
    "filter": (("/",), "words  !not"),
}
"""What stands over the list, the keys that open it, and what shows that it is there."""

TITLES = {"t0": "Pay ACME", "t1": "Pay Bolt", "t2": "Pay Cog"}

TYPED_INTO = ("form", "palette", "filter")


@contextmanager
def tasks(tmp_path: Path) -> Iterator[tuple[Platform, Console]]:
    """A dashboard on three tasks; nothing may have been written in the end."""
    with scene(tmp_path, TITLES) as (platform, console):
        yield platform, console
    assert platform.seen(writes) == []


def open_(console: PtySession, what: str) -> str:
    """Open it; gives what shows that it is there."""
    keys, shown = OVER[what]
    for key in keys:
        console.press(key)
        if key == "*":
            console.wait_for("marked")
        console.wait_quiet(0.1)
    console.wait_for(shown)
    return shown


@pytest.mark.parametrize("key", ["ctrl+c", "q"])
def test_the_first_closes_and_the_next_leaves(key: str, tmp_path: Path) -> None:
    with tasks(tmp_path) as (_, console):
        for what in OVER:
            if key == "q" and what in TYPED_INTO:
                continue
            shown = open_(console, what)
            console.press(key)
            console.wait_for(lambda screen: shown not in screen)  # noqa: B023
            if what == "trace over a question":
                console.box_shows("APPROVE 1 task")  # it may be painted a moment later
                console.press(key)
            console.no_box()
            assert console.alive
        console.press(key)
        assert console.wait_gone() == 0
        assert_restored(console)


def test_q_is_a_letter_where_one_types(tmp_path: Path) -> None:
    with tasks(tmp_path) as (_, console):
        for what in TYPED_INTO:
            shown = open_(console, what)
            console.press("q", "q", "z")
            console.wait_for("qqz")
            console.press("ctrl+c")
            console.wait_for(lambda screen: shown not in screen)  # noqa: B023
        console.press("ctrl+c")
        assert console.wait_gone() == 0


def test_two_at_once_leave(tmp_path: Path) -> None:
    with tasks(tmp_path) as (_, console):
        open_(console, "question")
        console.write(b"\x03\x03")
        assert console.wait_gone() == 0
        assert_restored(console)


@pytest.mark.parametrize("config", ['[keys]\n"app.quit" = "f10"\n', '[keys]\n"app.quit" = "Q"\n'])
def test_another_key_for_leaving_leaves_dialogs_too(config: str, tmp_path: Path) -> None:
    with Platform() as platform:
        platform.task("t1", "Pay ACME")
        key = "\x1b[21~" if "f10" in config else "Q"
        with Console(platform, tmp_path, "--screen", "tasks", config=config) as console:
            for what in ("question", "trace", "help"):
                shown = open_(console, what)
                console.press("q")
                console.wait_quiet(0.3)
                assert shown in console.text
                console.write(key)
                console.wait_for(lambda screen: shown not in screen)  # noqa: B023
            console.write(key)
            assert console.wait_gone() == 0


def test_the_palette_leaves_the_program(tmp_path: Path) -> None:
    with tasks(tmp_path) as (_, console):
        open_(console, "palette")
        console.press(*"quit")
        console.wait_for(re.compile(r"Quit .*else the program"))
        console.press("enter")
        assert console.wait_gone() == 0
        assert_restored(console)


def test_a_form_that_is_being_sent_can_be_left_and_then_the_program(tmp_path: Path) -> None:
    """What was sent can't be taken back; the form says so, and the journal has it."""

    def creates(request: Request) -> bool:
        return request.method == "POST" and request.path == ("tasks",)

    with Platform() as platform:
        platform.task("t1", "Pay ACME")
        held = platform.hold(creates)
        with Console(platform, tmp_path, "--screen", "tasks") as console:
            open_(console, "form")
            console.press(*"Pay Dora", "enter", *"high", "enter")
            console.box_shows(r"n, esc no")
            console.yes(lambda: held.request)
            console.box_shows("sending")
            console.press("ctrl+c")
            console.no_box()
            assert "the journal keeps it" in console.notice("not known yet what became of it")
            console.press("ctrl+c")
            assert console.wait_gone() == 0
            assert_restored(console)
            assert len(platform.seen(creates)) == 1
            assert [entry["verb"] for entry in console.journal()] == ["create task"]
            held.release()


# ---- ctrl+z


@contextmanager
def under_a_shell(tmp_path: Path) -> Iterator[tuple[Platform, PtySession]]:
    """The dashboard as a job of a shell; nothing may have been written in the end."""
    with Platform() as platform:
        platform.add_all(TITLES)
        with shell((120, 40), **settings(platform, tmp_path)) as session:
            session.press(f"{sys.executable} -m agentco_tui --screen tasks --refresh 1", "enter")
            session.wait_for(LIVE)
            session.wait_for("Pay Cog")
            session.wait_for(re.compile("^▌", re.MULTILINE))
            yield platform, session
        assert platform.seen(writes) == []


@needs_bash
def test_ctrl_z_stops_it_whatever_stands_there(tmp_path: Path) -> None:
    """What asks for a yes is gone after `fg`, all else stands as it did."""
    with under_a_shell(tmp_path) as (_, session):
        for what in OVER:
            shown = open_(session, what)
            session.press("ctrl+z")
            session.wait_for("Stopped")
            back_in_the_shell(session)
            session.press("clear", "enter")
            session.wait_for(lambda screen: "Stopped" not in screen)
            session.press("fg", "enter")
            session.wait_for(lambda screen: "prompt>" not in screen)
            if what in ("question", "trace over a question", "set"):
                session.wait_for("TASKS ▌pending")
                session.wait_quiet(0.3)
                assert box_in(session.screen) == ""
                assert "TRACE" not in session.text
            else:
                session.wait_for(shown)
                session.press("ctrl+c")
                session.wait_for(lambda screen: shown not in screen)  # noqa: B023
            if what == "set":
                session.press("esc")
                session.wait_for(lambda screen: " marked" not in screen)
        session.press("ctrl+c")
        back_in_the_shell(session)


@needs_bash
def test_ctrl_z_in_the_hold_of_a_set_stops_the_hold(tmp_path: Path) -> None:
    """It begins anew after `fg`; nothing has gone out meanwhile."""
    with under_a_shell(tmp_path) as (platform, session):
        open_(session, "set")
        for _ in range(20):
            time.sleep(1.0)  # as a person does between two tries
            session.press("y")
            with contextlib.suppress(NotSeenError):
                session.wait_for("begins in", timeout=1.0)
                break
        session.press("ctrl+z")
        session.wait_for("Stopped")
        back_in_the_shell(session)
        time.sleep(6.0)  # longer than the hold
        assert platform.posts() == []
        session.press("clear", "enter")
        session.wait_for(lambda screen: "Stopped" not in screen)
        session.press("fg", "enter")
        session.wait_for(re.compile(r"begins in [45](\.\d)? s"))
        session.press("u")
        session.wait_for("taken back: nothing was sent")
        for _ in range(3):
            session.press("ctrl+c")
            session.wait_quiet(0.3)
        back_in_the_shell(session)


@needs_bash
@pytest.mark.parametrize("how", ["SIGTSTP", "SIGSTOP"])
def test_a_yes_typed_at_the_shell_answers_no_question(how: str, tmp_path: Path) -> None:
    with under_a_shell(tmp_path) as (platform, session):
        open_(session, "question")
        session.wait_quiet(0.5)
        pid = children_of(session.pid)[0]
        os.kill(pid, getattr(signal, how))
        session.wait_for("Stopped")
        wait_for_state(pid, "T")
        # The `y` lies in the terminal's queue when the program takes it again.
        session.write(b"fg\ny")
        session.wait_for(LIVE)
        session.wait_for("TASKS ▌pending")
        session.wait_for(lambda screen: "APPROVE" not in screen)
        asked = len(platform.requests)
        session.press("r")
        session.wait_for(lambda _: len(platform.requests) > asked)
        assert platform.posts() == []
        open_(session, "question")
        session.press("esc")
        session.wait_for(lambda screen: "APPROVE" not in screen)
        session.press("q")
        back_in_the_shell(session)
