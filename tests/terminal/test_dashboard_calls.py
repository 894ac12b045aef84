"""The dashboard calls: bytes of bell, notification and title, in a terminal, tmux and screen."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from tests.commands.test_watch import calm, limit
from tests.platform import EmbeddedPlatform
from tests.terminal.dashboard import command, dashboard, leave, ready
from tests.terminal.platform_process import settings
from tests.terminal.pty_session import NotSeenError, PtySession
from tests.terminal.test_job_control import shell

__all__ = ["calm"]

BLUR, FOCUS = b"\x1b[O", b"\x1b[I"
PUSH, POP = b"\x1b[22;2t", b"\x1b]2;\x07\x1b[23;2t"
NOTICE = re.compile(rb"\x1b\]777;notify;agentco-tui default;([^\x07]*)\x07")
ASK = "import os, sys; from agentco_tui import osc; sys.stdout.write(osc.{})"
SHOW = ASK.format("notification('It', 'says; this', os.environ)")
FORMS = (
    b"\x1b]9;says, this\x07",
    b"\x1b]777;notify;It;says, this\x07",
    b":p=body:o=unfocused;says",
)


def bells(raw: bytes) -> int:
    return re.sub(rb"\x1b[]P][^\x07]*\x07", b"", raw).count(b"\x07")


class Room:
    """A dashboard on a platform whose agents come to their limits one by one."""

    def __init__(self, session: PtySession, platform: EmbeddedPlatform) -> None:
        self.session, self.platform = session, platform
        self.next = self.critical = 0

    def worse(self, number: int | None = None) -> str:
        """One more is critical, and the title says so; whose name it has."""
        if number is None:
            self.next, number = self.next + 1, self.next
        mark, self.critical = self.session.mark(), self.critical + 1
        name = limit(self.platform, number, 0.01)
        self.session.wait_raw(f" {self.critical} critical\x07".encode(), mark=mark)
        return name

    def better(self, number: int) -> None:
        mark, self.critical = self.session.mark(), self.critical - 1
        limit(self.platform, number, 1_000_000)
        self.session.wait_raw(f" {self.critical} critical\x07".encode(), mark=mark)


def test_away_it_calls_once_and_the_title_is_given_back(
    calm: EmbeddedPlatform, tmp_path: Path
) -> None:
    env: dict[str, str | None] = {"TERM_PROGRAM": "ghostty"}
    with dashboard(calm, tmp_path, "--refresh", "0.5", env=env) as session:
        ready(session)
        session.wait_raw(b"\x1b]2;default")
        room = Room(session, calm)
        session.write(BLUR)
        names = [room.worse(), room.worse()]
        session.wait_for(lambda _: len(NOTICE.findall(session.raw)) == 2)
        room.better(0)
        room.worse(0)  # it flaps
        session.write(FOCUS)
        room.worse()
        session.write(BLUR)
        names.append(room.worse())
        session.wait_for(lambda _: len(NOTICE.findall(session.raw)) == 3)
        notices = NOTICE.findall(session.raw)
        assert [name.encode() in told for name, told in zip(names, notices, strict=True)] == [
            True
        ] * 3
        assert all(b"critical: " in told and len(told) <= 200 for told in notices)
        assert bells(session.raw) == 1  # not twice within a minute
        session.write(FOCUS)
        leave(session)
        raw = session.raw
    assert (raw.count(PUSH), raw.count(POP)) == (1, 1)
    assert raw.index(b"\x1b[?1049h") < raw.index(PUSH) < raw.index(POP) < raw.rindex(b"\x1b[?1049l")
    titles = re.findall(rb"\x1b\]2;([^\x07]+)\x07", raw)
    assert titles[0] == b"default"
    assert all(one != other for one, other in pairwise(titles))


def test_the_title_goes_and_comes_with_the_screen(calm: EmbeddedPlatform, tmp_path: Path) -> None:
    with shell((100, 30), **settings(calm, tmp_path)) as session:
        session.press(" ".join(command()), "enter")
        session.wait_raw(b"\x1b]2;default")
        assert (session.raw.count(PUSH), session.raw.count(POP)) == (1, 0)
        session.press("ctrl+z")
        session.wait_for("Stopped")
        assert (session.raw.count(PUSH), session.raw.count(POP)) == (1, 1)
        session.press("fg", "enter")
        ready(session)
        session.press("q")
        session.wait_for(lambda screen: screen.rstrip().endswith("prompt>"))
        assert (session.raw.count(PUSH), session.raw.count(POP)) == (2, 2)


def test_a_forced_end_gives_it_back_once(calm: EmbeddedPlatform, tmp_path: Path) -> None:
    with dashboard(calm, tmp_path) as session:
        session.wait_raw(b"\x1b]2;default")
        session.hold()
        while session.alive:
            session.signal(signal.SIGTERM)
            session.write(b"12" * 50)
        session.release()
        session.wait_gone()
        assert session.raw.count(POP) == 1


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_in_tmux(calm: EmbeddedPlatform, tmp_path: Path) -> None:
    (tmp_path / "tmux.conf").write_text(
        "set -g allow-passthrough on\nset -g focus-events on\nset -g bell-action any\n"
    )
    (tmp_path / "config.toml").write_text("[notify]\ndesktop = true\n")
    tmux = ("tmux", "-S", str(tmp_path / "socket"), "-f", str(tmp_path / "tmux.conf"))
    words = " ".join(command("--refresh", "0.5", "--config", str(tmp_path / "config.toml")))
    inner = f"printf '\\033]2;before\\007'; {words}; echo it ended; exec cat"
    env = {**settings(calm, tmp_path), "PYTHONPATH": str(Path.cwd())}

    def title() -> str:
        asked = (*tmux, "display", "-p", "#{pane_title}")
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()

    try:
        with PtySession([*tmux, "new", inner], env=env, size=(120, 40)) as session:
            ready(session)
            session.write(FOCUS + BLUR)
            number = 0
            while b"\x1b]777;" not in session.raw:
                # The first may count as seen: tmux and the dashboard take a while for the focus.
                limit(calm, number, 0.01)
                number += 1
                session.wait_for(f"  ✖ {number} ")
                with suppress(NotSeenError):
                    session.wait_raw(b"\x1b]777;", timeout=3.0)
            assert "critical" in title()
            assert re.search(rb"\x1b\]9;critical: [^\x07]*\x07", session.raw)
            assert b"\x1b]99;i=agentco:p=body" in session.raw
            assert bells(session.raw) == 1
            session.press("q")
            session.wait_for("it ended")
            assert title() == "before"
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)


@pytest.mark.skipif(shutil.which("screen") is None, reason="needs GNU screen")
def test_in_screen(calm: EmbeddedPlatform, tmp_path: Path) -> None:
    sockets = tmp_path / "sockets"
    sockets.mkdir(mode=0o700)
    (tmp_path / "rc").write_text("defhstatus off\n")
    script = tmp_path / "it.sh"
    (tmp_path / "show.py").write_text(SHOW)
    shown, run = f"{sys.executable} {tmp_path / 'show.py'}", " ".join(command())
    script.write_text(f"{shown}\n{run}\necho it ended\ncat\n")
    env = {**settings(calm, tmp_path), "PYTHONPATH": str(Path.cwd()), "SCREENDIR": str(sockets)}
    argv = ["screen", "-c", str(tmp_path / "rc"), "-S", "calls", "sh", str(script)]
    with PtySession(argv, env=env, size=(120, 40)) as session:
        session.wait_raw(b"\x1b]2;default")
        assert all(form in session.raw for form in FORMS)
        session.press("q")
        session.wait_for("it ended")
        titles = re.findall(rb"\x1b\][02];([^\x07]*)\x07", session.raw)
        assert not titles[-1].startswith(b"default")
