"""Ctrl-Z, fg, kill %1 and SIGSTOP, in a real shell with job control; signals upon signals."""

from __future__ import annotations

import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.terminal.calm import SHOWN, calm, ready
from tests.terminal.processes import children_of, wait_for_state
from tests.terminal.pty_session import PtySession

BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash for job control")


def shell(size: tuple[int, int] = (100, 30), **env: str | None) -> PtySession:
    assert BASH is not None
    session = PtySession(
        [BASH, "--noprofile", "--norc", "-i"],
        size=size,
        env={"PS1": "prompt> ", "HISTFILE": "", "PYTHONPATH": ".", **env},
    )
    session.wait_for("prompt>")
    return session


def start(session: PtySession, folder: Path, *what: str) -> None:
    words = " ".join([sys.executable, "-m", "tests.terminal.apps.calm", str(folder), *what])
    session.press(words, "enter")
    ready(session)


def back_in_the_shell(session: PtySession) -> None:
    """The shell reads lines again, echoes them, and no mode of the app is on."""
    session.wait_for(lambda screen: screen.rstrip().endswith("prompt>"))
    # The shell's own line editor uses bracketed paste.
    assert session.left_on() <= {"bracketed paste"}


def settings(session: PtySession, mark: str) -> str:
    session.press(f"echo {mark}; stty -g; echo {mark}", "enter")
    seen = session.wait_for(re.compile(rf"^{mark}\n(.+)\n{mark}$", re.MULTILINE))
    return str(re.findall(rf"^{mark}\n(.+)\n{mark}$", seen, re.MULTILINE)[-1])


def test_ctrl_z_fg_bg_and_kill(tmp_path: Path) -> None:
    with shell() as session:
        before = settings(session, "one")
        start(session, tmp_path)
        session.press("ctrl+z")
        session.wait_for("Stopped")
        back_in_the_shell(session)
        assert settings(session, "two") == before
        # Continued in the background it waits for fg.
        pid = children_of(session.pid)[0]
        session.press("bg", "enter")
        session.wait_for(re.compile(r"prompt> bg\n.*&$", re.MULTILINE | re.DOTALL))
        wait_for_state(pid, "T")
        back_in_the_shell(session)
        # Settings that are changed while it is stopped are kept.
        session.press("stty tostop", "enter")
        changed = settings(session, "three")
        assert changed != before
        session.press("fg", "enter")
        session.wait_for(SHOWN)
        session.press("k")
        session.wait_for("pressed: k")
        session.press("q")
        back_in_the_shell(session)
        assert settings(session, "four") == changed
        session.press("clear", "enter")
        session.wait_for(lambda screen: screen.strip() == "prompt>")
        start(session, tmp_path)
        session.press("ctrl+z")
        session.wait_for("Stopped")
        back_in_the_shell(session)
        pid = children_of(session.pid)[0]
        session.press("kill %1", "enter")
        wait_for_state(pid, "X")  # ended, and the shell has noticed
        session.press("enter")
        session.wait_for("Exit 143")
        back_in_the_shell(session)


def test_started_in_the_background_it_waits_for_fg(tmp_path: Path) -> None:
    with shell() as session:
        words = f"{sys.executable} -m tests.terminal.apps.calm {tmp_path} &"
        session.press(words, "enter")
        session.wait_for("[1]")
        session.press("wait %1", "enter")
        session.wait_for("Stopped")
        session.press("fg", "enter")
        ready(session)
        session.press("q")
        back_in_the_shell(session)
        session.press("echo code=$?", "enter")
        session.wait_for(re.compile(r"^code=0", re.MULTILINE))


@pytest.mark.parametrize("how", ["continued", "aside"])
def test_continued_at_a_bad_moment(how: str, tmp_path: Path) -> None:
    """While something is being written, and by way of another thread while the main one sleeps."""
    with calm(tmp_path, how) as session:
        ready(session)
        mark = session.mark()
        session.press("x")
        session.wait_raw(b"\x1b[?1049h", mark=mark)
        session.press("m")
        session.wait_for("pressed: m")
        session.press("q")
        assert session.wait_gone() == 0


def test_stopped_while_something_is_being_written(tmp_path: Path) -> None:
    with shell() as session:
        start(session, tmp_path, "stopped")
        session.press("x")
        session.wait_for("Stopped")
        back_in_the_shell(session)
        session.press("fg", "enter")
        session.wait_for(SHOWN)
        session.press("q")
        back_in_the_shell(session)


def test_without_a_shell_above_ctrl_z_does_nothing(tmp_path: Path) -> None:
    """Nobody could continue it: `ssh -t host agentco-tui`."""
    with calm(tmp_path) as session:
        ready(session)
        session.press("ctrl+z", "k")
        session.wait_for("pressed: k")
        session.signal(signal.SIGTSTP)
        session.press("m")
        session.wait_for("pressed: m")
        session.press("q")
        assert session.wait_gone() == 0


def test_a_size_that_comes_while_the_one_before_is_read(tmp_path: Path) -> None:
    with calm(tmp_path, "resized") as session:
        ready(session)
        session.press("x")
        session.wait_for("size: 60x15")
