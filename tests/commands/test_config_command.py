"""`agentco-tui config path|check|show`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands.conftest import Command

KEY = "ag_0123456789abcdef"


def _config(command: Command, text: str) -> Path:
    path = command.home / "c.toml"
    path.write_text(text)
    command.env["AGENTCO_CONFIG"] = str(path)
    return path


def test_path_is_only_the_path(command: Command) -> None:
    ran = command("config", "path")
    assert ran.code == 0
    assert ran.out == f"{command.home}/.config/agentco-tui/config.toml\n"
    assert "does not exist yet" in ran.err
    path = _config(command, "")
    assert command("config", "path").out == f"{path}\n"
    other = command("config", "path", "--config", "other.toml", "--json")
    assert json.loads(other.out) == {
        "path": str(command.home / "other.toml"),
        "source": "--config",
        "exists": False,
    }


def test_check_tells_every_problem_and_exits_2(command: Command) -> None:
    path = _config(command, "thme = 1\n[profiles.p]\nbase_url = 'https://x'\nrefresh = 0\n")
    ran = command("config", "check", env={"AGENTCO_API_KEY": KEY})
    assert ran.code == 2
    assert ran.lines[0] == f"{path}:1: thme: unknown setting (nearest valid name: theme)"
    assert ran.lines[1].startswith(f"{path}:4: profiles.p.refresh: must be a number")
    told = json.loads(command("config", "check", "--json").out)
    assert [problem["line"] for problem in told["problems"]] == [1, 4, None]
    assert path.read_text().startswith("thme")
    path = _config(command, 'theme = "nord"\n')
    ran = command("config", "check")
    assert (ran.code, ran.out) == (0, f"{path}: nothing is wrong\n")


def test_show_tells_sources_and_masks_the_key(command: Command) -> None:
    path = _config(command, "[profiles.p]\nbase_url = 'https://x.example'\nrefresh = 2\n")
    env = {"AGENTCO_API_KEY": KEY, "AGENTCO_READ_ONLY": "yes"}
    ran = command("config", "show", "--screen", "tasks", env=env)
    assert ran.code == 0
    rows = {line.split()[0]: line for line in ran.lines[1:]}
    assert rows["refresh"].endswith(f"2  (profile p, {path}:3)")
    assert rows["read_only"].endswith("true  (AGENTCO_READ_ONLY)")
    assert rows["screen"].endswith("tasks  (--screen)")
    assert rows["api_key"].endswith("****  (AGENTCO_API_KEY)")
    assert KEY not in ran.out + ran.err
    told = json.loads(command("config", "show", "--json", env=env).out)
    assert {"name": "refresh", "value": "2", "source": f"profile p, {path}:3"} in told["settings"]


def test_problems_are_told_clean_and_beside_what_can_be_shown(command: Command) -> None:
    _config(command, '"x\\u001b]0;owned\\u0007" = 1\nthme = 1\n')
    ran = command("config", "show")
    assert ran.code == 2
    assert "nearest valid name: theme" in ran.err
    assert "refresh" in ran.out
    assert "\x1b" not in ran.err + command("config", "check").out
