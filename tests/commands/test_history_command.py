"""`agentco-tui history`: read from the file alone."""

from __future__ import annotations

import csv
import json
import sqlite3
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from agentco_tui.history.history import History
from agentco_tui.history.observations import (
    AgentSample,
    AlertLife,
    BudgetSample,
    Counted,
    Observed,
    QueueSample,
    TaskLife,
)
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import BudgetScope, Severity, TaskState
from agentco_tui.text import clean_line
from tests.commands.conftest import Command

ORIGIN = "https://platform.example"


@pytest.fixture
def seen(command: Command) -> Path:
    """What was seen of a platform in the last hour; that can't be reached."""
    path = command.home / ".local/state/agentco-tui/history.sqlite3"
    command.env["AGENTCO_BASE_URL"] = ORIGIN
    now = time.time() - 60
    sums = [BudgetSample(now - 900 + at, Decimal(at) / 4, Decimal(5000)) for at in (0, 300, 900)]
    life = TaskLife(
        id="t1",
        title=clean_line('=cmd("refund")'),
        agent="ag_1",
        company="cmp_1",
        first_seen=now - 600,
        waiting_since=now - 600,
        decided=now - 500,
        decided_by=clean_line("Wanda"),
        ended=now - 440,
        state=TaskState.DONE,
        estimate=Decimal(5),
        cost=Decimal("4.25"),
        currency=clean_line("USD"),
    )
    queue = [QueueSample(now - 900, 7, now - 960), QueueSample(now, 2, None)]
    agents = [
        AgentSample(now - at, clean_line("active"), Decimal(71), 20 - at // 60) for at in (65, 0)
    ]
    alert = AlertLife(
        id="al_1",
        scope=BudgetScope.AGENT,
        subject="ag_1",
        severity=Severity.CRITICAL,
        first_seen=now,
    )
    history = History(path, "default", ORIGIN)
    observed = Observed(
        samples=[
            *((FeedName.AGENT_BUDGETS, "ag_1", "USD", each) for each in sums),
            *((FeedName.BUDGET, "", "EUR?", each) for each in sums),
            *((FeedName.PENDING, "cmp_1", "", each) for each in queue),
            *((FeedName.AGENTS, "ag_1", "", each) for each in agents),
            (FeedName.AGENTS, "ag_2", "", agents[0]),
        ],
        seen=[(feed, "", (now - 900, now)) for feed in FeedName],
        names=[
            ("company", "cmp_1", clean_line("Acme"), None),
            ("agent", "ag_1", clean_line("Ada"), "cmp_1"),
            ("agent", "ag_2", clean_line("Bo"), "cmp_2"),
        ],
        counts=[Counted(now // 60 * 60, "ag_1", None, "tool used", Severity.WARNING, 3)],
        lives=[life],
        alerts=[alert],
    )
    history.write([observed])
    history.close(60)
    return path


def test_people_get_a_line_each(command: Command, seen: Path) -> None:
    ran = command("history")
    assert ran.code == 0, ran.err
    assert ran.lines[0].startswith(f"default  {ORIGIN}")
    lines = [" ".join(line.split()[1:]) for line in ran.lines[1:]]
    assert "budget spent 225 limit 5000 currency EUR?" in lines
    assert any(line.startswith("queue Acme waiting 7 oldest 2") for line in lines)
    assert "agent Acme Ada status active trust 71 completed 20" in lines
    assert "activity Acme Ada kind tool used severity warning count 3" in lines
    [task] = [line for line in lines if line.startswith("task Acme Ada id t1")]
    assert task.endswith("estimate 5 cost 4.25 currency USD")
    assert "Ada" not in command("history", "--agent", "bo").out
    assert "nothing" in command("history", env={"AGENTCO_BASE_URL": "https://b.example"}).out
    assert not command("history", "--json", env={"AGENTCO_BASE_URL": "https://b.example"}).out


def test_scripts_get_everything(command: Command, seen: Path) -> None:
    told = [json.loads(line) for line in command("history", "--json").lines]
    kinds = [row["what"] for row in told]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "budget": 6,
        "seen": 9,
        "queue": 2,
        "agent": 3,
        "activity": 1,
        "task": 1,
        "alert": 1,
    }
    [task] = [row for row in told if row["what"] == "task"]
    assert task["cost"] == 4.25
    assert task["decided"].endswith("+00:00")
    assert "waiting" not in task
    [money, *_] = [row for row in told if row["what"] == "budget" and row.get("agent") == "ag_1"]
    assert (money["agent_name"], money["company_name"], money["limit"]) == ("Ada", "Acme", 5000)
    of_ada = [json.loads(line) for line in command("history", "--json", "--agent", "Ada").lines]
    assert {row["agent"] for row in of_ada if row["what"] != "seen"} == {"ag_1"}
    of_acme = [json.loads(line) for line in command("history", "--json", "--company", "acme").lines]
    assert {row["what"] for row in of_acme} == {*kinds}
    assert len(command("history", "--json", "--since", "30s").lines) < len(told)


def test_a_spreadsheet_runs_nothing(command: Command, seen: Path) -> None:
    rows = [*csv.DictReader(command("history", "--csv").lines)]
    [task] = [row for row in rows if row["what"] == "task"]
    assert task["title"] == '\'=cmd("refund")'
    assert {row["limit"] for row in rows if row["what"] == "budget"} == {"5000"}
    assert command("history", "--csv", "--json").code == 2


def test_whoever_was_not_seen_is_told(command: Command, seen: Path) -> None:
    ran = command("history", "--company", "Initech")
    assert (ran.code, ran.out) == (2, "")
    assert "no company in the history has the name or id Initech" in ran.err


def test_it_reads_while_another_writes_and_not_what_is_newer(command: Command, seen: Path) -> None:
    with closing(sqlite3.connect(seen, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert command("history").code == 0
        other.execute("PRAGMA user_version = 99")
        other.execute("COMMIT")
        ran = command("history")
    assert (ran.code, ran.out) == (1, "")
    assert "newer agentco-tui" in ran.err
    seen.write_bytes(b"no database" * 1_000)
    assert command("history").code == 1
    seen.unlink()
    assert command("history").out.startswith("nothing has been observed yet")
    assert not seen.exists()


def test_every_profile_of_a_platform_tells_the_same(command: Command, seen: Path) -> None:
    """It was seen by the profile "default"; another address is another platform."""
    config = command.home / "config.toml"
    config.write_text(
        f'[profiles.night]\nbase_url = "{ORIGIN}:443/"\n'
        '[profiles.moved]\nbase_url = "https://elsewhere.example"\n'
    )
    del command.env["AGENTCO_BASE_URL"]

    def told(profile: str) -> list[str]:
        ran = command("history", "--json", "--profile", profile, "--config", str(config))
        assert ran.code == 0, ran.err
        return ran.lines

    assert len(told("night")) > 5
    assert told("moved") == []
