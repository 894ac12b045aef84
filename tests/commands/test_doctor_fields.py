"""`agentco-tui doctor --fields`: what is read from where, what is missing, what is left over."""

from __future__ import annotations

import json

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from tests.commands.conftest import Command


def test_each_kind_tells_its_names_units_and_samples(
    command: Command, still: EmbeddedPlatform
) -> None:
    ran = command.on(still)("doctor", "--fields")
    assert ran.code == 0, ran.out
    (limit,) = [line for line in ran.lines if line.startswith("  limit ") and "monthly" in line][:1]
    assert "monthly_limit, unit assumed of USD: " in limit
    assert any(line.startswith("agent_budget (/api/budget/agents), ") for line in ran.lines)
    assert any(line.startswith("  missing:   ") for line in ran.lines)
    assert any("pause_reason" in line for line in ran.lines if line.startswith("  left over: "))
    assert still.full_key not in ran.out
    assert {request.method for request in still.requests} == {"GET"}


def test_as_json(command: Command, still: EmbeddedPlatform) -> None:
    told = json.loads(command.on(still)("doctor", "--fields", "--json").out)["kinds"]
    read = told["agent_budget"]["read"]
    assert read["spent"]["name"] == "spent"
    assert read["agent_id"]["sample"].startswith('"')
    assert "soft" in told["agent_budget"]["missing"]
    assert "paused_agents" in told["budget"]["left_over"]


@pytest.mark.parametrize("flag", [(), ("--json",)])
def test_what_cannot_be_read_is_told(
    command: Command, still: EmbeddedPlatform, flag: tuple[str, ...]
) -> None:
    still.faults.add("GET /api/budget/alerts:status=403")
    ran = command.on(still)("doctor", "--fields", *flag)
    assert ran.code == 3
    assert "lacks the permission" in ran.out
