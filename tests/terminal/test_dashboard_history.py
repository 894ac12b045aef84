"""The real dashboard remembers what it saw, to the last moment, and the command tells it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

from tests.terminal.dashboard import command, dashboard, ready
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import REPOSITORY


def test_what_was_seen_is_there_when_it_is_ended(platform: PlatformProcess, tmp_path: Path) -> None:
    def files() -> list[Path]:
        return [*tmp_path.rglob("history.sqlite3")]

    with dashboard(platform, tmp_path) as session:
        ready(session)
        session.wait_for(lambda _: bool(files()))
        [agent, *_] = platform.api("/api/agents")
        session.signal(signal.SIGHUP)
        assert session.wait_gone() == 128 + signal.SIGHUP
    assert files()[0].stat().st_mode & 0o077 == 0
    held = b"".join(each.read_bytes() for each in files()[0].parent.glob("history*"))
    assert platform.full_key.encode() not in held
    env = {
        **os.environ,
        **{name: value or "" for name, value in settings(platform, tmp_path).items()},
    }
    done = subprocess.run(
        command("history", "--json", "--agent", agent["name"]),
        env=env,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    [found] = [row for row in told if row["what"] == "agent"]
    assert (found["id"], found["status"]) == (agent["id"], agent["status"])
    assert {"budget", "activity", "seen"} <= {row["what"] for row in told}
