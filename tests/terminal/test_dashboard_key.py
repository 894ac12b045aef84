"""A key that is rotated while the dashboard runs, as a person sees it at a real terminal."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.dashboard import (
    LIVE,
    assert_restored,
    back,
    dashboard,
    files_below,
    leave,
    ready,
    say_yes,
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
        self.config = folder / "config.toml"
        self.notes = folder / "notes"

    def put(self, key: str) -> None:
        """Let the file hold this key, never half of it."""
        new = self.path.with_suffix(".new")
        new.touch(0o600)
        new.write_text(key)
        new.rename(self.path)

    @contextlib.contextmanager
    def dashboard(
        self, platform: PlatformProcess, folder: Path, source: str, *arguments: str
    ) -> Iterator[PtySession]:
        """The dashboard, whose profile says that the key comes from `source`."""
        self.config.write_text(
            f'[profiles.prod]\nbase_url = "{platform.base_url}"\nrefresh = 0.5\n{source}\n'
        )
        env: dict[str, str | None] = {"AGENTCO_API_KEY": None, "AGENTCO_BASE_URL": None}
        with dashboard(
            platform, folder, "--config", str(self.config), *arguments, env=env
        ) as session:
            yield session

    def command(self, script: str) -> str:
        """The setting that has this script print the key."""
        path = self.path.with_name("script.sh")
        path.write_text(script)
        return f'api_key_command = ["sh", "{path}"]'


@pytest.fixture
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def live(screen: str) -> bool:
    return bool(LIVE.search(screen)) and TITLE in screen and REFUSED not in screen


def test_a_key_in_a_file_is_taken_up_with_no_key_pressed(
    platform: PlatformProcess, tmp_path: Path, kept: Kept
) -> None:
    log = tmp_path / "log"
    kept.put(platform.full_key)
    source = f'api_key_file = "{kept.path}"'
    with kept.dashboard(platform, tmp_path, source, "--log-file", str(log)) as session:
        ready(session)
        platform.change(replace={"which": "full", "key": NEW})
        session.wait_for(lambda screen: REFUSED in screen and TITLE in screen)
        session.wait_for(re.compile(r"; r reads the\s+key again"))
        session.press("r")
        session.wait_for("the key is still the one that was")
        kept.put(NEW)
        session.wait_for(live)
        session.wait_for("the key was read again")
        leave(session)
        assert platform.full_key.encode() not in session.raw
        assert NEW.encode() not in session.raw
    searched = files_below(tmp_path)
    assert b"the key was read again from api_key_file of profile prod" in searched
    assert platform.full_key.encode() not in searched
    assert NEW.encode() not in searched
    assert log.stat().st_mode & 0o077 == 0


def test_a_permission_that_was_missing_comes_back(
    platform: PlatformProcess, tmp_path: Path, kept: Kept
) -> None:
    kept.put(platform.read_key)
    source = f'api_key_file = "{kept.path}"'
    with kept.dashboard(platform, tmp_path, source, "--screen", "tasks") as session:
        session.wait_for(TITLE)
        session.press("a")
        session.wait_for("APPROVE 1 task")
        say_yes(session, "APPROVE 1 task")
        session.wait_for("403")
        session.wait_for(re.compile(r"lacks\s+the\s+permission"))
        session.press("a")
        session.wait_for("this key may not approve tasks")
        assert "APPROVE 1 task" not in session.text
        session.press("?")
        session.wait_for("now: this key may not approve")
        back(session, "Keys on")
        writes = [seen for seen in platform.requests() if seen["method"] != "GET"]
        assert len(writes) == 1
        assert platform.world()["applied"] == {}
        kept.put(platform.full_key)
        session.press("r")
        session.wait_for("the key was read again")
        session.press("a")
        session.wait_for("APPROVE 1 task")
        say_yes(session, "APPROVE 1 task")
        session.wait_for(lambda _: bool(platform.world()["applied"]))
        session.wait_for("approved here")  # what is not settled would be told at the end
        leave(session)


@pytest.mark.parametrize("end", ["q", "SIGTERM"])
def test_a_command_is_run_on_r_without_the_terminal_and_ends_with_the_program(
    end: str, platform: PlatformProcess, tmp_path: Path, kept: Kept
) -> None:
    """At the start it has one, and may ask there; then nothing of it reaches the screen."""
    hang = kept.path.with_name("hang")
    script = (
        'if (printf "DISTURBED\n" >/dev/tty) 2>/dev/null; then word=terminal; else word=none; fi\n'
        f"echo $word >>{shlex.quote(str(kept.notes))}\n"
        "echo DISTURBED >&2\n"
        f"if test -e {shlex.quote(str(hang))}\n"
        f"then echo $$ >{shlex.quote(str(hang))}; sleep 60; fi\n"
        f"cat {shlex.quote(str(kept.path))}\n"
    )
    kept.put(platform.full_key)
    with kept.dashboard(platform, tmp_path, kept.command(script)) as session:
        ready(session)
        assert kept.notes.read_text() == "terminal\n"
        started = session.mark()
        platform.change(replace={"which": "full", "key": NEW})
        session.wait_for(REFUSED)
        if end == "q":
            kept.put(NEW)
            session.press("r")
            session.wait_for("the key was read again")
            session.wait_for(live)
            assert kept.notes.read_text() == "terminal\nnone\n"
            platform.change(revoke="full")
            session.wait_for(REFUSED)
        hang.touch()
        session.press("r")
        session.wait_for(lambda _: hang.read_text().endswith("\n"))
        running = int(hang.read_text())
        assert os.getsid(running) == running
        assert b"DISTURBED" not in session.since(started)
        if end == "q":
            leave(session)
            assert NEW.encode() not in session.raw
        else:
            session.signal(signal.SIGTERM)
            assert session.wait_gone() == 128 + signal.SIGTERM
            assert_restored(session)
        gone(running)
