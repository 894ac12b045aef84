"""`agentco-tui demo` as a newcomer runs it: all of the house on the screen, and nothing left."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.terminal.dashboard import assert_restored, command, leave, ready
from tests.terminal.platform_process import PlatformProcess, own_folders
from tests.terminal.processes import children_of, command_lines, gone
from tests.terminal.pty_session import PtySession


def demo(folder: Path, *arguments: str) -> PtySession:
    temporary = folder / "temporary"
    temporary.mkdir()
    env = {**own_folders(folder), "TMPDIR": str(temporary)}
    return PtySession(command("demo", *arguments), env=env, size=(120, 40))


def latest(screen: str) -> list[str]:
    """The lines under LATEST, without their ages."""
    rows = screen.split("\n")
    at = next(number for number, row in enumerate(rows) if " LATEST" in row)
    column = rows[at].index(" LATEST")
    return [row[column:].strip().partition(" ")[2] for row in rows[at + 1 : -1]]


def test_the_demo_shows_the_whole_house_and_leaves_nothing(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    with demo(tmp_path, "--speed", "40", "--refresh", "0.5") as session:
        ready(session)
        # The queue comes first; the money and the log have feeds of their own.
        session.wait_for(lambda now: re.search(r"Acme Robotics .*8\d %", now) is not None)
        screen = session.wait_for(lambda now: any(latest(now)) and "loading" not in latest(now)[0])
        assert " demo " in screen.split("\n")[0]
        assert "1 Overview" in screen
        assert re.search(r"\d+ tasks wait, the oldest", screen)
        assert "Refund 214 customers" in screen
        first = latest(screen)[0]
        session.wait_for(lambda now: latest(now)[0] != first)
        (child,) = children_of(session.pid)
        shown = command_lines(session.pid)
        assert b"--until-stdin-closes" in shown, "the platform's own line is among them"
        leave(session)
        gone(child)
        assert not list((tmp_path / "temporary").iterdir())
        # Keys follow from the seed, which is the same.
        for searched in (shown, session.raw):
            assert platform.full_key.encode() not in searched


@pytest.mark.parametrize("end", ["SIGTERM", "SIGKILL"])
def test_the_platform_goes_with_the_dashboard_however_that_ends(end: str, tmp_path: Path) -> None:
    with demo(tmp_path, "--speed", "0") as session:
        ready(session)
        (child,) = children_of(session.pid)
        session.signal(signal.Signals[end])
        assert session.wait_gone() == 128 + signal.Signals[end]
        gone(child)
        assert not list((tmp_path / "temporary").iterdir())
        if end == "SIGTERM":
            assert_restored(session)
            assert session.after_screen() == ""


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--fault", "tasks:nonsense"), "can't read the fault 'tasks:nonsense'"),
        (
            ("--platform", "papreclip"),
            'no demo of a platform "papreclip" (nearest valid name: paperclip; all: paperclip)',
        ),
        *(
            (("--platform", "paperclip", *flag.split()), f"takes no {flag.split()[0]}")
            for flag in (
                *("--fault reads:status=503", "--serve", "--port 0", "--seed 0", "--speed 0"),
                *("--tasks 0", "--refresh 5", "--record a.rec", "--company acme"),
            )
        ),
    ],
)
def test_a_demo_that_cannot_start_says_why(
    arguments: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    with demo(tmp_path, *arguments) as session:
        assert session.wait_gone() == 2
        assert reason in " ".join(session.text.split())
        assert "Traceback" not in session.text
        assert_restored(session)


def test_a_recorded_platform_is_played_and_nothing_can_be_sent(tmp_path: Path) -> None:
    with demo(tmp_path, "--platform", "paperclip") as session:
        ready(session)
        assert " demo " in session.screen[0]
        assert "REPLAY" in session.screen[39]
        session.wait_for("Answer ACM-3: Refund 214")
        assert children_of(session.pid) == []
        session.press("P")
        session.wait_for("paused")
        for key, words in (("4", "Strategy: Spend less"), ("3", "idle"), ("6", "created issue")):
            session.press(key)
            session.wait_for(words)
        # A minute later an agent works, another is over its limit, and somebody is to be hired.
        session.press("]")
        session.wait_for("Hire Cleo")
        session.press("3")
        session.wait_for(lambda now: "running" in now and "paused (budget)" in now)
        session.press("4")
        session.wait_for("Hire Cleo, Finance lead")
        session.press("a")
        session.wait_for("writing is off (a replay)")
        leave(session)
    assert not list((tmp_path / "temporary").iterdir())
