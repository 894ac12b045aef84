"""A key that is rotated while the dashboard runs, as a person sees it at a real terminal."""

from __future__ import annotations

import os
import re
import shlex
import signal
from pathlib import Path

import pytest

from tests.terminal.dashboard import (
    LIVE,
    approve,
    assert_restored,
    back,
    dashboard,
    files_below,
    leave,
    ready,
)
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.processes import gone
from tests.terminal.pty_session import PtySession

NEW = "ag_canary_of_today_e7d1"
TITLE = "Refund 214 customers"
REFUSED = "the key is missing or invalid"


class Kept:
    """Where the key is kept: a file, in a folder that is no part of what the program writes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "the-key"

    def put(self, key: str) -> None:
        """Let the file hold this key, never half of it."""
        new = self.path.with_suffix(".new")
        new.touch(0o600)
        new.write_text(key)
        new.rename(self.path)

    def dashboard(
        self, platform: PlatformProcess, folder: Path, source: str, *arguments: str
    ) -> PtySession:
        """The dashboard, whose profile says that the key comes from `source`."""
        config = self.path.with_name("config.toml")
        config.write_text(
            f'[profiles.prod]\nbase_url = "{platform.base_url}"\nrefresh = 0.5\n{source}\n'
        )
        env: dict[str, str | None] = {"AGENTCO_API_KEY": None, "AGENTCO_BASE_URL": None}
        return dashboard(platform, folder, "--config", str(config), *arguments, env=env)


@pytest.fixture
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def live(screen: str) -> bool:
    return bool(LIVE.search(screen)) and TITLE in screen and REFUSED not in screen


def test_a_permission_that_was_missing_comes_back_and_a_new_key_is_taken_up(
    platform: PlatformProcess, tmp_path: Path, kept: Kept
) -> None:
    """The permission with `r`; another key in the file with no key pressed at all."""
    kept.put(platform.read_key)
    source, log = f'api_key_file = "{kept.path}"', tmp_path / "log"
    with kept.dashboard(
        platform, tmp_path, source, "--screen", "tasks", "--log-file", str(log)
    ) as session:
        session.wait_for(TITLE)
        approve(session)
        session.wait_for("403")
        session.wait_for("lacks")
        session.press("a")
        session.wait_for("this key may not approve")
        assert "APPROVE 1 task" not in session.text
        session.press("?")
        session.wait_for("now: this key may not approve")
        back(session, "Keys on")
        assert len([seen for seen in platform.requests() if seen["method"] != "GET"]) == 1
        assert platform.world()["applied"] == {}
        kept.put(platform.full_key)
        session.press("r")
        session.wait_for("the key was read again")
        approve(session)
        session.wait_for(lambda _: bool(platform.world()["applied"]))
        session.wait_for("approved here")  # what is not settled would be told at the end
        session.press("1")
        ready(session)
        platform.change(replace={"which": "full", "key": NEW})
        session.wait_for(REFUSED)
        session.wait_for(re.compile(r"; r reads the\s+key again"))
        kept.put(NEW)
        session.wait_for(lambda screen: LIVE.search(screen) is not None and REFUSED not in screen)
        leave(session)
        searched = session.raw + files_below(tmp_path)
    assert b"the key was read again from api_key_file of profile prod" in searched
    for key in (platform.read_key, platform.full_key, NEW):
        assert key.encode() not in searched
    assert log.stat().st_mode & 0o077 == 0


def test_a_command_is_run_on_r_without_the_terminal_and_ends_with_the_program(
    platform: PlatformProcess, tmp_path: Path, kept: Kept
) -> None:
    """At the start it has one, and may ask there; then nothing of it reaches the screen."""
    hang, notes = kept.path.with_name("hang"), kept.path.with_name("notes")
    script = kept.path.with_name("script.sh")
    script.write_text(
        'if (printf "DISTURBED\n" >/dev/tty) 2>/dev/null; then word=terminal; else word=none; fi\n'
        f"echo $word >>{shlex.quote(str(notes))}\n"
        "echo DISTURBED >&2\n"
        f"if test -e {shlex.quote(str(hang))}\n"
        f"then echo $$ >{shlex.quote(str(hang))}; sleep 60; fi\n"
        f"cat {shlex.quote(str(kept.path))}\n"
    )
    kept.put(platform.full_key)
    source = f'api_key_command = ["sh", "{script}"]'
    with kept.dashboard(platform, tmp_path, source) as session:
        ready(session)
        assert notes.read_text() == "terminal\n"
        started = session.mark()
        platform.change(replace={"which": "full", "key": NEW})
        session.wait_for(REFUSED)
        kept.put(NEW)
        session.press("r")
        session.wait_for("the key was read again")
        session.wait_for(live)
        assert notes.read_text() == "terminal\nnone\n"
        platform.change(revoke="full")
        session.wait_for(REFUSED)
        hang.touch()
        session.press("r")
        session.wait_for(lambda _: hang.read_text().endswith("\n"))
        running = int(hang.read_text())
        assert os.getsid(running) == running
        assert b"DISTURBED" not in session.since(started)
        session.signal(signal.SIGTERM)
        assert session.wait_gone() == 128 + signal.SIGTERM
        assert_restored(session)
        assert NEW.encode() not in session.raw
        gone(running)
