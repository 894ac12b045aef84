"""A shift on the real program: what was left, what is snoozed, what is handed over."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from tests.terminal.dashboard import dashboard, leave, ready
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PATIENCE, PtySession


def decisions(platform: PlatformProcess, since: str) -> list[dict[str, Any]]:
    """The tasks that were decided after that time, by their records."""
    return [task for task in platform.api("/api/tasks") if (task["decided_at"] or "") > since]


def let_others_decide(platform: PlatformProcess, since: str) -> list[dict[str, Any]]:
    """Let time pass until colleagues have decided at least one task: those that they decided."""
    for _ in range(100):
        platform.change(advance=20)
        if found := decisions(platform, since):
            return found
    raise AssertionError("nobody decides anything")


def wait_for_decisions(session: PtySession, decided: list[dict[str, Any]]) -> None:
    """Open `L` again and again, until it has each of these with who decided."""
    wanted = [
        (f"{'rejected' if task['status'] == 'rejected' else 'approved'} {task['title']}", task)
        for task in decided
    ]
    end = time.monotonic() + PATIENCE
    missing = wanted
    while missing:
        assert time.monotonic() < end, (missing, session.text)
        session.press("L")
        session.wait_for("Newly waiting")
        session.wait_quiet()
        rows = session.screen
        missing = [
            (words, task)
            for words, task in wanted
            if not any(words in row and task["decided_by"].split()[0] in row for row in rows)
        ]
        session.press("esc")
        session.wait_for("NEEDS YOU")


def test_who_decided_is_learnt_from_the_records_where_the_log_tells_nothing(tmp_path: Path) -> None:
    """Also of what was decided while no dashboard ran."""
    with PlatformProcess("--fault", "activity:status=404") as platform:
        began = max(task["updated_at"] for task in platform.api("/api/tasks"))
        size = (160, 60)
        with dashboard(platform, tmp_path, "--refresh", "0.5", size=size) as session:
            session.wait_for("40 tasks wait")
            session.wait_for(lambda _: waiting_in_history(tmp_path) == 40)
            seen = let_others_decide(platform, began)
            wait_for_decisions(session, seen)
            waiting = len(platform.api("/api/tasks?status=pending"))
            session.wait_for(lambda _: waiting_in_history(tmp_path) == waiting)
            leave(session)
        now = max(task["updated_at"] for task in platform.api("/api/tasks"))
        unseen = let_others_decide(platform, now)
        with dashboard(platform, tmp_path, "--refresh", "0.5", size=size) as session:
            session.wait_for("tasks wait")
            wait_for_decisions(session, unseen)
            leave(session)


def waiting_in_history(folder: Path) -> int:
    """How many tasks wait, as far as has been written."""
    path = folder / "state/agentco-tui/history.sqlite3"
    if not path.exists():
        return 0
    with (
        suppress(sqlite3.OperationalError),  # there is no table yet
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as file,
    ):
        (count,) = file.execute("SELECT count(*) FROM life WHERE waits").fetchone()
        return int(count)
    return 0


def test_a_shift_from_coming_back_to_handing_over(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path) as session:
        ready(session)
        session.press("z")
        session.wait_for("SNOOZE")
        session.press(*"4h", "tab", *"ask Ada", "enter")
        session.wait_for("1 snoozed")
        leave(session)
    (remembered,) = tmp_path.rglob("remembered.json")
    (snoozed,) = tmp_path.rglob("snoozed.json")
    assert [s["note"] for each in json.loads(snoozed.read_bytes()).values() for s in each.values()]
    known = json.loads(remembered.read_bytes())
    (profile,) = known.values()
    assert abs(profile["left_at"] - time.time()) < 3_600
    # Five minutes more than is looked for: the platform's clock stands still while the test runs.
    profile["left_at"] -= 8 * 3_600 + 5 * 60
    remembered.write_text(json.dumps(known))
    with dashboard(platform, tmp_path) as session:
        ready(session)
        session.wait_for("since you left: L shows what happened")
        session.wait_for("1 snoozed")
        session.press("L")
        session.wait_for("(8 h 0")
        session.wait_for("Decided")
        session.press("H")
        session.wait_for("HAND OVER")
        session.write(f"\x15{tmp_path}/shift.md\r")
        session.wait_for("was written to")
        text = (tmp_path / "shift.md").read_text()
        assert "# Hand-over: `default" in text
        assert ": ask Ada: " in text
        assert platform.full_key not in text
        session.press("esc")
        session.wait_for("NEEDS YOU")
        leave(session)
