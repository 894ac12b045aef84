"""The dashboard killed with SIGKILL in the middle of approving a set, and started again.

    AGENTCO_KILLS=20 pytest tests/terminal/test_dashboard_killed.py

What the platform counted and what the journal holds are compared afterwards: nothing was applied
or sent twice, no attempt is left without an outcome, and every outcome is true.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from agentco_tui.actions.journal_lines import Attempt, Settled, from_line
from agentco_tui.actions.outcome import OutcomeKind
from agentco_tui.screens.dialogs.router import MOST_NOTICES
from tests.terminal.dashboard import dashboard, leave, ready, say_yes_to_set, show
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession

KILLS = int(os.environ.get("AGENTCO_KILLS", "2"))
SET = 30
"""Tasks approved by each decision."""
APPLIED = {OutcomeKind.APPROVED_HERE, OutcomeKind.APPROVED}
NOT_APPLIED = {OutcomeKind.NOT_DONE, OutcomeKind.NOT_SENT, OutcomeKind.REFUSED}


class Journal:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.attempts: dict[str, Attempt] = {}
        self.settled: dict[str, list[Settled]] = {}
        self.lines = 0

    def read(self) -> Journal:
        """Read it; a line torn by the kill may be the last only until something follows it."""
        self.attempts.clear()
        self.settled.clear()
        content = self.path.read_bytes() if self.path.exists() else b""
        self.lines = content.count(b"\n")
        for line in content.split(b"\n")[:-1]:
            entry = from_line(line) if line else None
            if isinstance(entry, Attempt):
                self.attempts[entry.attempt] = entry
            elif isinstance(entry, Settled):
                self.settled.setdefault(entry.attempt, []).append(entry)
        return self

    @property
    def unsettled(self) -> set[str]:
        return self.attempts.keys() - self.settled.keys()


def messages(screen: str) -> str:
    """The words of the messages on the screen, their lines put together."""
    rows = (row.rpartition("▌")[2] for row in screen.split("\n")[-22:] if "▌" in row)
    return re.sub(r"\s+", " ", " ".join(rows))


def approve_a_set(session: PtySession) -> None:
    """Mark the longest waits and say yes to all of them."""
    show(session, 4)
    session.press(*["space"] * SET)
    session.wait_for(f"{SET} marked")
    session.press("a")
    # Those of another type than the rest are left out of the set.
    wanted = re.search(r"type (\d+), then", session.wait_for(re.compile(r"type \d+, then")))
    assert wanted is not None
    say_yes_to_set(session, wanted[1])


def kill_during(session: PtySession, journal: Journal, chance: Random) -> None:
    """Kill the dashboard when the journal has a drawn number of lines more, or a little later: the
    moment is drawn, not waited for.
    """
    until = journal.read().lines + chance.randrange(1, 2 * SET - 8)
    while journal.read().lines < until:
        assert session.alive
        time.sleep(0.002)
    time.sleep(chance.uniform(0.0, 0.06))
    session.signal(signal.SIGKILL)
    assert session.wait_gone() == 128 + signal.SIGKILL


def told_of(session: PtySession, left: int, *, settled: bool = False) -> None:
    """Wait until the screen tells of what the last run left open, and what became of it."""
    ready(session)
    if not left:
        return
    count = "1 write" if left == 1 else f"{left} writes"
    session.wait_for(lambda screen: f"{count} of an earlier run" in messages(screen))
    if settled:
        what = "left unsettled" if left <= MOST_NOTICES else "of an earlier run: "
        session.wait_for(lambda screen: what in messages(screen))


def check(platform: PlatformProcess, journal: Journal, decisions: list[set[str]]) -> Counter[str]:
    """Compare the platform's counts with the journal; returns how many came to which outcome."""
    journal.read()
    applied: dict[str, int] = platform.world()["applied"]
    sent = Counter(
        value
        for request in platform.requests()
        for name, value in request["headers"]
        if request["operation"] == "approve" and name.lower() == "idempotency-key"
    )
    assert max(sent.values()) == 1, "an attempt was sent twice"
    assert max(applied.values()) == 1, "a task was approved twice"
    assert not journal.unsettled
    assert all(len(settled) == 1 for settled in journal.settled.values())
    for attempts in decisions:
        tasks = Counter(journal.attempts[attempt].task for attempt in attempts)
        assert max(tasks.values(), default=0) <= 1, "one decision, two attempts"
    outcomes = {attempt: settled[0].outcome for attempt, settled in journal.settled.items()}
    assert set(outcomes.values()) <= APPLIED | NOT_APPLIED
    done = [str(journal.attempts[one].task) for one, told in outcomes.items() if told in APPLIED]
    assert len(done) == len(set(done)), "what is known to be approved is not decided again"
    assert {task for task, count in applied.items() if count} == set(done), "all accounted for"
    return Counter(outcomes.values())


@pytest.mark.timeout(60 + 40 * KILLS)
def test_killed_while_approving_it_accounts_for_every_task(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state" / "agentco-tui" / "journal.jsonl")
    decisions: list[set[str]] = []
    left_open = 0
    with PlatformProcess("--tasks", str(100 + KILLS * 320), "--seed", "3") as platform:
        platform.fault("approve:latency=60ms")
        for number in range(KILLS):
            chance = Random(number)
            known = set(journal.read().attempts)
            with dashboard(platform, tmp_path) as session:
                # The next set is begun while what the last one left is still being read.
                told_of(session, len(journal.unsettled))
                approve_a_set(session)
                kill_during(session, journal, chance)
            decisions.append(set(journal.read().attempts) - known)
            left_open += len(journal.unsettled)
        with dashboard(platform, tmp_path) as session:
            told_of(session, len(journal.read().unsettled), settled=True)
            session.wait_for(lambda _: not journal.read().unsettled)
            leave(session)
        outcomes = check(platform, journal, decisions)
    sys.stdout.write(f"{KILLS} kills, {left_open} left open: {dict(outcomes)}\n")
