"""What a platform does not offer is told, and nothing is sent for it."""

from __future__ import annotations

import json

import pytest

from agentco_tui.reading.content import SIZE
from tests.commands.conftest import Command
from tests.lesser_platform import take_away
from tests.platform import EmbeddedPlatform

WORDS = "Lesser does not offer this"


def test_a_write_that_is_not_offered_says_so_and_sends_nothing(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "approve_task", "set_agent_limit", "create_task", because="read it only")
    command.on(still)
    for words in (
        ("approve", "t1", "--expect", "0" * 2 * SIZE),
        ("set-limit", "Ada", "5"),
        ("create-task", "--agent", "Ada", "--title", "Count", "--priority", "low"),
    ):
        ran = command(*words)
        assert (ran.code, ran.err) == (3, ""), words
        assert ran.lines == [f"{'t1' if 't1' in words else 'Ada'}: {WORDS}: read it only"]
    told = json.loads(command("approve", "t1", "--expect", "0" * 2 * SIZE, "--json").out)
    assert (told["exit_code"], told["kind"], told["verb"]) == (3, "not sent", "approve")
    assert [seen for seen in still.requests if seen.method != "GET"] == []
    assert command("journal", "--json").out == ""


def test_doctor_asks_for_nothing_that_is_not_offered(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "budget_alerts", "clone_company")
    ran = command.on(still)("doctor")
    assert ran.code == 0
    assert not still.requests.matching("alerts")
    [alerts] = [line for line in ran.lines if "budget_alerts" in line]
    assert alerts.endswith(f"not sent: {WORDS}")
    assert f"  {'clone company':<15} {WORDS}" in ran.lines
    assert "writes were not tried (4 operations)" in ran.lines
    told = json.loads(command("doctor", "--json").out)
    assert "POST /api/companies/:id/clone" not in told["permissions"]


def test_status_judges_by_what_there_is(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "budget_alerts")
    ran = command.on(still)("status", "--json")
    told = json.loads(ran.out)
    assert (told["failed"], told["alerts"]) == ([], None), "no figure, and no failure"
    assert WORDS not in ran.out


def test_a_list_that_is_missing_beside_others_is_no_failure(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "budget", "activity")
    ran = command.on(still)("get", "budget", "--json")
    assert (ran.code, ran.err) == (0, "")
    scopes = {each["scope"] for each in json.loads(ran.out)}
    assert scopes == {"company", "agent"}
    ran = command("tail")
    assert (ran.code, ran.err) == (3, f"agentco-tui: activity: {WORDS}\n")
    assert not still.requests.matching("activity"), "the log is not asked for"


def test_a_limit_is_set_where_no_single_agent_or_company_is_offered(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "agent", "company")
    agent = still.world.agents()[0]
    ran = command.on(still)("set-limit", agent.id, "123")
    assert (ran.code, ran.err) == (0, "")
    [attempt] = [json.loads(line) for line in command("journal", "--json").lines]
    assert attempt["agent_name"] == agent.name
    assert attempt["company_name"] is not None
    read = [seen.path for seen in still.requests if seen.method == "GET"]
    assert not [path for path in read if path.endswith((agent.id, agent.company.id))]
