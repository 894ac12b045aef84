"""The README keeps what it says: its commands, and the table of keys and endpoints."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

OPERATIONS = (
    "GET /api/companies",
    "GET /api/companies/:id",
    "POST /api/companies",
    "POST /api/companies/:id/clone",
    "GET /api/agents",
    "GET /api/agents/:id",
    "GET /api/tasks",
    "POST /api/tasks",
    "POST /api/tasks/:id/approve",
    "GET /api/tasks/:id/trace",
    "GET /api/activity",
    "GET /api/activity/export",
    "GET /api/budget",
    "GET /api/budget/companies",
    "GET /api/budget/agents",
    "POST /api/budget/agents/:id",
    "GET /api/budget/alerts",
)
"""Every operation of the interface."""


def section(heading: str) -> str:
    """The text below a heading, up to the next of its level."""
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    assert found is not None, f"there is no section {heading}"
    return found[1]


def rows(table: str) -> list[list[str]]:
    """The cells of a Markdown table's rows, without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def test_a_line_from_a_fresh_machine_installs_what_the_project_offers() -> None:
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = found["optional-dependencies"]
    assert found["scripts"]["agentco-tui"] == "agentco_tui.__main__:main"
    assert any(need.startswith("pytest") for need in extras["dev"])
    assert extras["demo"] == [], "the embedded platform needs nothing else"
    for extra, ending in (("demo", "agentco-tui demo"), ("dev", "python -m pytest")):
        line = re.escape(
            f"python3 -m venv .venv && .venv/bin/pip install -q '.[{extra}]' && .venv/bin/{ending}"
        )
        assert len(re.findall(f"^{line}$", README, re.MULTILINE)) == 1


def test_every_operation_is_reached_by_a_key_or_a_command() -> None:
    table = rows(section("Keys and endpoints"))
    reached: dict[str, str] = {}
    for cells in table:
        for operation in re.findall(r"`((?:GET|POST) /api[^`]*)`", " ".join(cells)):
            assert operation not in reached, f"{operation} stands in the table twice"
            reached[operation] = cells[0]
    assert set(reached) == set(OPERATIONS)
    for operation, way in reached.items():
        assert re.search(r"`[^`]+`", way), f"{operation} has no key and no command"


def test_every_key_of_the_table_is_a_key_of_the_program() -> None:
    from agentco_tui.cli.arguments import parse
    from agentco_tui.keys.commands import COMMANDS

    known = {name for key in COMMANDS for name in key.keys.split(",")}
    for cells in rows(section("Keys and endpoints")):
        for word in re.findall(r"`([^`]+)`", cells[0]):
            if word.startswith("agentco-tui "):
                assert parse([*word.split()[1:]])["command"] is not None
            else:
                assert word in known, f"{word} is no key"


def test_what_a_key_asks_for_stands_beside_it() -> None:
    from agentco_tui.api.generic import CAPABILITIES
    from agentco_tui.keys.commands import COMMANDS

    keys = {
        operation: re.findall(r"`([^`]+)`", cells[0])
        for cells in rows(section("Keys and endpoints"))
        for operation in re.findall(r"`((?:GET|POST) /api[^`]*)`", cells[-1])
    }
    for command in COMMANDS:
        assert CAPABILITIES.why_not(command.operation) is None, command.id
        for name, request in CAPABILITIES.requests.items():
            if name == command.operation:
                assert command.keys in keys[request], command.id


def test_every_command_of_the_program_stands_in_the_readme() -> None:
    from agentco_tui.cli.grammar import COMMANDS

    said = " ".join(cells[0] for cells in rows(section("Commands")))
    for name in COMMANDS:
        assert f"agentco-tui {name}" in said


def test_its_pictures_are_there() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README)
    assert pictures
    assert [name for name in pictures if not (ROOT / name).is_file()] == []
