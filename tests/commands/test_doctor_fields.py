"""`agentco-tui doctor --fields`: a platform with names of its own is mapped by what it prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.commands.conftest import Command, Ran
from tests.live.poller_harness import ChoosyPlatform

SECRET = "sk-live-0123456789abcdef"
TASKS: list[dict[str, Any]] = [
    {
        "id": "t1",
        "work": {"headlineText": "Pay the invoice", "stateWord": "needs_ok"},
        "steps": [{"costUsd": "1.50"}, {"costUsd": "7"}],
        "meta.info": {"priorityCode": "high", "auth_token": SECRET},
        "colour": None,
    },
    {"id": "t2", "work": {"headlineText": "Hire", "stateWord": None}, "steps": []},
]
EMPTY = {"page": {"size": 20, "totalElements": 0, "number": 0}, "_links": {}}


class Platform(ChoosyPlatform):
    """A platform that answers some reads with these bodies, all others as usual."""

    def __init__(self, bodies: Mapping[str, object]) -> None:
        answers = {path: json.dumps(body).encode() for path, body in bodies.items()}
        super().__init__(answers.get)


def run_with(command: Command, platform: Platform, profile: str, *words: str) -> Ran:
    """Run the command with a config file whose profile `prod` says `profile`."""
    config = command.home / "config.toml"
    config.write_text(
        f'profile = "prod"\n[profiles.prod]\nbase_url = "{platform.base_url}"\n'
        f'api_key_env = "PROD_KEY"\n{profile}\n'
    )
    env = {"PROD_KEY": platform.full_key, "AGENTCO_CONFIG": str(config)}
    return command(*words, env=env)


def section(ran: Ran, kind: str) -> list[str]:
    """What is printed of one kind."""
    lines = ran.lines
    first = next(
        at for at, line in enumerate(lines) if line.removeprefix("▲ ").startswith(f"{kind} (/api/")
    )
    kinds = [at for at, line in enumerate(lines) if " (/api/" in line and at > first]
    return lines[first : kinds[0] if kinds else len(lines)]


def pasted(lines: list[str]) -> str:
    """The table with its lines, as one would copy them."""
    first = next(at for at, line in enumerate(lines) if "[profiles.prod.fields." in line)
    table = []
    for line in lines[first:]:
        if not line.strip() or line.startswith("  not read"):
            break
        table.append(line.strip())
    return "\n".join(table)


def test_the_lines_that_are_printed_map_the_platform(command: Command) -> None:
    with Platform({"/api/tasks": {"items": TASKS}}) as platform:
        ran = run_with(command, platform, "", "doctor", "--fields")
        assert ran.code == 0, ran.out
        lines = section(ran, "task")
        assert SECRET not in ran.out
        assert platform.full_key not in ran.out
        table = pasted(lines)
        assert table.splitlines()[0] == "[profiles.prod.fields.task]"
        for line in (
            'title = "work.headlineText"  # "Pay the invoice"',
            'status = "work.stateWord"  # "needs_ok"',
            'cost = "steps[0].costUsd"  # "1.50"',
            """priority = '"meta.info".priorityCode'  # "high\"""",
        ):
            assert any(each.startswith(line) for each in table.splitlines()), line
        assert "  # null in every record: colour" in lines
        assert not any("soft" in line.split() or "of_sums" in line.split() for line in ran.lines)

        words = '[profiles.prod.status.task]\npending = ["needs_ok"]\nnull = "pending"'
        profile = f"{table}\n{words}"
        checked = run_with(command, platform, profile, "config", "check")
        assert checked.code == 0, checked.out + checked.err
        got = run_with(command, platform, profile, "get", "tasks", "--json")
        first, second = json.loads(got.out)
        assert (first["title"], first["state"], first["priority"]) == (
            "Pay the invoice", "pending", "high",
        )  # fmt: skip
        assert first["cost"]["amount"] == "1.50"
        assert (second["title"], second["state"]) == ("Hire", "pending")
        again = section(run_with(command, platform, profile, "doctor", "--fields"), "task")
        assert any(line.split()[:2] == ["title", "work.headlineText:"] for line in again)
        assert not any("stateWord" in line and "=" in line for line in again)


def test_a_path_that_leads_nowhere_is_reported(command: Command) -> None:
    with Platform({"/api/tasks": {"items": TASKS}}) as platform:
        profile = (
            '[profiles.prod.fields.task]\ntitle = "work.headlinText"\ncreated = "work.stateWord"\n'
            'cost = "steps[4].costUsd"\nstatus = "work.stateWord"\n'
        )
        lines = section(run_with(command, platform, profile, "doctor", "--fields"), "task")
    told = {line.split()[1]: line for line in lines if line.startswith("  ▲ ")}
    assert set(told) == {"title", "created", "cost"}
    assert "no record has a value there; the nearest path is work.headlineText" in told["title"]
    assert 'cannot be read for this field: "needs_ok"' in told["created"]


def test_an_empty_list_is_no_fault(command: Command) -> None:
    empty = {"/api/tasks": EMPTY, "/api/agents": {"agents": []}, "/api/budget/alerts": []}
    with Platform(empty) as platform:
        ran = run_with(command, platform, "", "doctor", "--fields")
        told = json.loads(run_with(command, platform, "", "doctor", "--fields", "--json").out)
    assert ran.code == 0, ran.out
    for kind in ("task", "agent", "alert"):
        (head,) = [line for line in ran.lines if line.startswith(f"{kind} (")]
        assert head.endswith(", 0 records")
        assert told["kinds"][kind]["records"] == 0
        assert "error" not in told["kinds"][kind]


BALANCE = {"is_available": True, "balance_infos": [{"currency": "CNY", "total_balance": "110.00"}]}


def test_what_the_client_cannot_read_is_unreadable_here_too_until_it_is_mapped(
    command: Command,
) -> None:
    with Platform({"/api/budget": BALANCE}) as platform:
        ran = run_with(command, platform, "", "doctor", "--fields")
        got = run_with(command, platform, "", "get", "budget", "--json")
        assert (ran.code, got.code) == (3, 3)
        lines = section(ran, "budget")
        assert lines[0].startswith("▲ budget (/api/budget): ")
        assert "no known shape" in lines[0]
        assert "no known shape" in got.out + got.err
        assert any('= "balance_infos[0].total_balance"  # "110.00"' in line for line in lines)

        profile = (
            '[profiles.prod.fields.budget]\nremaining = "balance_infos[0].total_balance"\n'
            'currency = "balance_infos[0].currency"\n'
        )
        mended = run_with(command, platform, profile, "doctor", "--fields")
        got = run_with(command, platform, profile, "get", "budget", "--json")
    assert section(mended, "budget")[0] == "budget (/api/budget), 1 record"
    assert json.loads(got.out)[0]["remaining"]["amount"] == "110.00"


def test_no_sample_shows_the_key(command: Command) -> None:
    with Platform({}) as platform:
        key = platform.full_key
        rows = [{"id": "t1", "remark": f"called with {key}", "sub": [{"remark": key}]}]
        body = json.dumps(rows).encode()
        platform.choice = lambda path, query: body if path == "/api/tasks" else query
        for flag in ((), ("--json",)):
            ran = run_with(command, platform, "", "doctor", "--fields", *flag)
            assert "remark" in ran.out
            assert key not in ran.out


@pytest.mark.parametrize(
    ("row", "risk"),
    [
        ({"run_id": "r1", "flow_id": "f1", "title": "x"}, "run_id, flow_id"),
        ({"id": "t1", "run_id": "r1", "flow_id": "f1", "title": "x"}, None),
        ({"task_id": "t1", "run_id": "r1", "title": "x"}, None),
        ({"run_id": "r1", "title": "x"}, None),
    ],
)
def test_an_id_that_may_be_another_records_is_flagged(
    command: Command, row: dict[str, str], risk: str | None
) -> None:
    with Platform({"/api/tasks": [row]}) as platform:
        ran = run_with(command, platform, "", "doctor", "--fields")
    warnings = [line for line in section(ran, "task") if "the id is read from" in line]
    assert len(warnings) == (risk is not None)
    if risk is not None:
        assert f"and a record has {risk}: check which of them names the task" in warnings[0]


def test_records_that_cannot_be_read_are_counted_and_their_fields_shown(command: Command) -> None:
    rows = [{"employee_number": 7, "name": "Scout"}, {"employee_number": 8, "name": "Quill"}]
    with Platform({"/api/agents": {"agents": rows}}) as platform:
        lines = section(run_with(command, platform, "", "doctor", "--fields"), "agent")
        assert lines[0] == (
            "agent (/api/agents), 0 records, 2 could not be read (an agent without an id)"
        )
        assert any('"employee_number"  # 7' in line for line in lines)
        profile = '[profiles.prod.fields.agent]\nid = "employee_number"\n'
        got = run_with(command, platform, profile, "get", "agents", "--json")
    assert [record["id"] for record in json.loads(got.out)] == ["7", "8"]


def test_a_row_that_cannot_be_written_to_is_flagged_with_its_reason(command: Command) -> None:
    rows = [{"id": "b1", "name": "Scout", "owner": {"id": "u_7"}, "monthly_limit": 5}]
    with Platform({"/api/budget/agents": {"data": rows}}) as platform:
        lines = section(run_with(command, platform, "", "doctor", "--fields"), "agent_budget")
    (warning,) = [line for line in lines if "no write" in line]
    assert "whether its own id or owner is whom the budget is for is not known" in warning
    assert 'say so: agent_id = "…"' in warning


def test_fields_of_later_entries_of_a_list_are_shown(command: Command) -> None:
    rows = [{"id": "t1", "custom": [{"colour": "red"}, {"colour": "blue", "shade": "dark"}]}]
    with Platform({"/api/tasks": rows}) as platform:
        lines = section(run_with(command, platform, "", "doctor", "--fields"), "task")
    assert any('"custom[0].colour"' in line for line in lines)
    assert any('"custom[1].shade"' in line for line in lines)
    assert not any("custom[1].colour" in line for line in lines)
