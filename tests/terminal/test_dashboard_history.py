"""The real dashboard remembers what it saw, to the last moment, and the command tells it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from tests.terminal.dashboard import command, dashboard, leave, ready
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import REPOSITORY


def run_history(platform: PlatformProcess, folder: Path, *words: str) -> list[dict[str, Any]]:
    """What `agentco-tui history --json` tells."""
    own = {name: value or "" for name, value in settings(platform, folder).items()}
    done = subprocess.run(
        command("history", "--json", *words),
        env={**os.environ, **own},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def seen_until(path: Path) -> Any:
    """Up to when it has been written."""
    if not path.exists():
        return 0.0
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as file,
        suppress(sqlite3.OperationalError),  # there is no table yet
    ):
        return file.execute("SELECT max(until) FROM seen").fetchone()[0] or 0.0
    return 0.0


def test_what_was_seen_is_there_when_it_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "state/agentco-tui/history.sqlite3"
    with PlatformProcess(speed=1.0) as platform:
        with dashboard(platform, tmp_path) as session:
            ready(session)
            session.wait_for(lambda _: seen_until(path) > 0)
            began, before = seen_until(path), len(platform.requests())
            # Four are under way at a time: of five one has been answered.
            session.wait_for(lambda _: len(platform.requests()) > before + 4)
            [agent, *_] = platform.api("/api/agents")
            session.signal(signal.SIGHUP)
            assert session.wait_gone() == 128 + signal.SIGHUP
        told = run_history(platform, tmp_path, "--agent", agent["name"])
    assert seen_until(path) > began, "the last batch is written at the end"
    assert path.stat().st_mode & 0o077 == 0
    held = b"".join(each.read_bytes() for each in path.parent.glob("history*"))
    assert platform.full_key.encode() not in held
    assert {row["agent"] for row in told if row["what"] == "agent"} == {agent["id"]}
    assert {"budget", "activity", "seen"} <= {row["what"] for row in told}


def test_where_nothing_can_be_remembered_that_is_told(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    env = settings(platform, tmp_path)
    (Path(env["XDG_STATE_HOME"] or "") / "agentco-tui/history.sqlite3").mkdir(parents=True)
    with dashboard(platform, tmp_path) as session:
        ready(session)
        session.wait_for("nothing can be remembered")
        leave(session)
