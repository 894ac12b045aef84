"""`agentco-tui status` against a real server: every exit code, lines and JSON."""

from __future__ import annotations

import json

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from tests.commands.conftest import Command

READS = 7


@pytest.fixture
def quiet() -> EmbeddedPlatform:
    """A platform in which there is nothing that could be wrong."""
    return EmbeddedPlatform(speed=0, companies=0, agents=0, tasks=0)


def test_a_busy_world_is_critical(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still)("status")
    assert ran.code == 2
    first = ran.lines[0]
    assert first.startswith("CRITICAL - ")
    pending = len(still.world.tasks(status="pending"))
    assert f" - {pending} pending, oldest " in first
    assert f"| pending={pending};;;0 oldest_wait=" in first
    assert "companies=3;;;0" in first
    assert any(line.startswith("✖ ") for line in ran.lines[1:])
    assert "|" not in "".join(ran.lines[1:])
    assert ran.err == ""
    asked = {(request.method, request.path, request.query) for request in still.requests}
    assert len(asked) == len(still.requests) == READS
    assert {method for method, _, _ in asked} == {"GET"}
    assert ("GET", "/api/tasks", "status=pending") in asked


def test_an_empty_world_is_well(command: Command, quiet: EmbeddedPlatform) -> None:
    with quiet:
        ran = command.on(quiet)("status")
    assert ran.code == 0, ran.out
    assert ran.lines[0].startswith("OK - 0 pending; no alerts")
    assert len(ran.lines) == 1


def test_a_warning_is_1(command: Command, quiet: EmbeddedPlatform) -> None:
    config = command.home / "c.toml"
    config.write_text('[alerts]\nwaiting_warning = "1m"\nwaiting_critical = "300d"\n')
    with quiet:
        company = quiet.world.create_company("Acme", "support", "Help")
        agent = quiet.world.agents(company.id)[0]
        quiet.world.create_task(company.id, "Look at | this", agent.id, "medium")
        quiet.world.advance(120)
        ran = command.on(quiet)("status", "--config", str(config))
    assert ran.code == 1, ran.out
    assert ran.lines[0].startswith("WARNING - ")
    assert any("Look at / this" in line for line in ran.lines)


def test_unreachable_is_unknown(command: Command, still: EmbeddedPlatform) -> None:
    command.on(still)
    still.stop()
    ran = command("status")
    still.start()
    assert ran.code == 3
    assert ran.lines[0].startswith(f"UNKNOWN - {READS} of {READS} questions without an answer")
    assert len(ran.lines) == 1 + READS
    ran = command.on(still, key="ag_wrong-key-0123456789")("status")
    assert (ran.code, "AGENTCO_API_KEY" in ran.out) == (3, True)
    assert "ag_wrong" not in ran.out + ran.err


def test_a_part_that_cannot_be_read_is_unknown_unless_something_is_critical(
    command: Command, quiet: EmbeddedPlatform, still: EmbeddedPlatform
) -> None:
    with quiet:
        quiet.faults.add("alerts:status=403")
        ran = command.on(quiet)("status")
    assert ran.code == 3
    assert ran.lines[0].startswith("UNKNOWN - ")
    assert any(line.startswith("◌ alerts: ") for line in ran.lines)
    still.faults.add("companies:bad_json")
    assert command.on(still)("status").code == 2


def test_json_for_scripts(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still)("status", "--json")
    told = json.loads(ran.out)
    assert ran.code == told["exit_code"] == 2
    assert told["status"] == "critical"
    assert told["companies"] == 3
    assert told["pending"]["count"] == len(still.world.tasks(status="pending"))
    assert told["pending"]["oldest_seconds"] > 0
    assert set(told["alerts"]) == {"critical", "warning", "info"}
    assert told["budget"]["spent"] > 0
    assert told["budget"]["currency"] == "USD"
    assert (told["failed"], told["company"]) == ([], None)
    assert told["findings"][0]["status"] == "critical"
    assert still.full_key not in ran.out
    company = still.world.tasks(status="pending")[0].agent.company.id
    told = json.loads(command("status", "--json", "--company", company).out)
    assert (told["company"], told["companies"]) == (company, 1)
    assert told["pending"]["count"] == len(still.world.tasks(company, "pending"))


def test_settings_that_cannot_be_used_are_unknown_not_critical(command: Command) -> None:
    ran = command("status")
    assert ran.code == 3
    assert ran.lines[0].startswith("UNKNOWN - the settings cannot be used: ")
    assert "AGENTCO_BASE_URL" in ran.out
    told = json.loads(command("status", "--json").out)
    assert (told["status"], told["exit_code"], len(told["settings"])) == ("unknown", 3, 2)
