"""`agentco-tui config path|check|show|keys`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentco_tui.keys.commands import COMMANDS
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


def test_check_reports_every_problem_and_exits_2(command: Command) -> None:
    path = _config(command, "thme = 1\n[profiles.p]\nbase_url = 'https://x'\nrefresh = 0\n")
    ran = command("config", "check", env={"AGENTCO_API_KEY": KEY})
    assert ran.code == 2
    assert ran.lines[0] == f"{path}:1: thme: unknown setting (nearest valid name: theme)"
    assert ran.lines[1].startswith(f"{path}:4: profiles.p.refresh: must be a number")
    shown = json.loads(command("config", "check", "--json").out)
    assert [problem["line"] for problem in shown["problems"]] == [1, 4, None]
    assert path.read_text().startswith("thme")
    path = _config(command, 'theme = "nord"\n')
    ran = command("config", "check")
    assert (ran.code, ran.out) == (0, f"{path}: nothing is wrong\n")


def test_problems_are_cleaned_and_do_not_hide_the_settings(command: Command) -> None:
    _config(command, '"x\\u001b]0;owned\\u0007" = 1\nthme = 1\n')
    ran = command("config", "show")
    assert ran.code == 2
    assert "nearest valid name: theme" in ran.err
    assert "refresh" in ran.out
    assert "\x1b" not in ran.err + command("config", "check").out


def test_show_has_every_setting_with_its_source_and_masks_the_key(command: Command) -> None:
    path = _config(
        command,
        '[profiles.x]\nbase_url = "https://x.example"\napi_key_env = "K"\nrefresh = 2\n'
        '[alerts]\nwaiting_warning = "20m"\n[keys]\ntasks.approve = "A"\ntasks.mark = ""\n',
    )
    env = {"K": KEY, "AGENTCO_READ_ONLY": "yes"}
    ran = command("config", "show", "--screen", "tasks", env=env)
    assert (ran.code, ran.err) == (0, "")
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in ran.lines[1:]}
    assert rows["base_url"] == f"https://x.example  (profile x, {path}:2)"
    assert rows["api_key"] == "****  (api_key_env of profile x)"
    assert rows["refresh"] == f"2  (profile x, {path}:4)"
    assert rows["read_only"] == "true  (AGENTCO_READ_ONLY)"
    assert rows["screen"] == "tasks  (--screen)"
    assert rows["company"] == "not set  (default)"
    assert rows["alerts.waiting_warning"] == f"20m  (config file, {path}:6)"
    assert rows["alerts.waiting_critical"] == "1h  (default)"
    assert rows["keys.tasks.approve"] == f"A  (config file, {path}:8)"
    assert rows["keys.tasks.mark"].startswith("no key")
    assert KEY not in ran.out
    shown = json.loads(command("config", "show", "--json", env=env).out)
    assert {"name": "refresh", "value": "2", "source": f"profile x, {path}:4"} in shown["settings"]


def test_show_has_what_a_file_adds_and_the_source_of_each_setting(command: Command) -> None:
    path = _config(
        command,
        """theme = "nord"
[profiles.x]
base_url = "https://x.example"
theme = "dracula"
money.currency = "eur"
fields.task.title = "headline"
[profiles.other]
label = "Other"
[notify]
bell = false
quiet = ["22:00-06:30"]
[views.mine]
screen = "tasks"
columns = ["task", "id"]
[commands.ticket]
run = ["open", "a b"]
scope = "task"
""",
    )
    ran = command("config", "show", "--json", "--profile", "x", env={"AGENTCO_API_KEY": KEY})
    rows = {row["name"]: (row["value"], row["source"]) for row in json.loads(ran.out)["settings"]}
    assert rows["theme"] == ("dracula", f"profile x, {path}:4"), "it beats the top of the file"
    assert rows["label"] == (None, "default"), "what another profile says does not count"
    assert rows["money.currency"] == ("EUR", f"profile x, {path}:5")
    assert rows["fields.task.title"] == ("headline", f"profile x, {path}:6")
    assert rows["notify.bell"] == ("false", f"config file, {path}:10")
    assert rows["notify.title"] == ("true", "default"), "its table is in the file, and it is not"
    assert rows["notify.quiet"] == ("22:00-06:30", f"config file, {path}:11")
    assert rows["views.mine.columns"] == ("task, id", f"config file, {path}:14")
    assert rows["commands.ticket.run"] == ("open 'a b'", f"config file, {path}:16")
    assert "api_key_env" not in rows


def test_profiles_that_are_not_in_use_are_checked_and_no_command_is_run(command: Command) -> None:
    (command.home / "key").write_text(KEY)
    (command.home / "key").chmod(0o644)
    touched = command.home / "touched"
    _config(
        command,
        f'profile = "a"\n[profiles.a]\napi_key_command = "touch {touched}"\n'
        'base_url = "https://a.example"\n[profiles.b]\nbase_url = "http://b.example"\n'
        'api_key_file = "key"\nca_file = "none.pem"\n',
    )
    shown = json.loads(command("config", "check", "--json").out)
    assert [problem["line"] for problem in shown["problems"]] == [6, 7, 8]
    assert not touched.exists()


@pytest.mark.parametrize(
    ("text", "problem"), [("", "no API key"), ('api_key_env = "K"\n', ":3: profiles.a.api_key_env")]
)
def test_a_profile_in_use_that_cannot_work_is_a_problem(
    command: Command, text: str, problem: str
) -> None:
    _config(command, f'[profiles.a]\nbase_url = "https://a.example"\n{text}')
    ran = command("config", "check")
    assert (ran.code, problem in ran.out) == (2, True)


def test_keys_are_listed_as_they_are_bound_now(command: Command) -> None:
    path = _config(command, '[keys]\n"tasks.approve" = "f5,A"\n"tasks.trace" = ""\n')
    ran = command("config", "keys")
    assert ran.code == 0, ran.err
    rows = {row.split()[0]: row for row in ran.out.splitlines()}
    assert set(rows) == {one.id for one in COMMANDS if one.tooltip}
    assert rows["tasks.approve"].split()[1:3] == ["f5", "A"]
    assert "no key" in rows["tasks.trace"]
    shown = json.loads(command("config", "keys", "--json").out)
    assert (shown["config"], shown["problems"]) == (str(path), [])
    assert next(one for one in shown["keys"] if one["name"] == "tasks.approve")["keys"] == [
        "f5",
        "A",
    ]


VIEWS = """
[views.mine]
screen = "tasks"
columns = ["task", "wait"]
sort = "-trst"
filter = "agnt:ada"
[views.right]
screen = "agents"
columns = ["name", "used"]
sort = "-used"
filter = "used>=80%"
[views.mission]
screen = "companies"
sort = "mission"
"""


def test_check_compares_views_with_the_lists_that_they_are_of(command: Command) -> None:
    path = _config(command, VIEWS)
    ran = command("config", "check")
    assert ran.code == 2
    places = [line.split(" ")[0] for line in ran.lines]
    assert places == [f"{path}:4:", f"{path}:5:", f"{path}:6:", f"{path}:14:"]
    assert "views.mine.columns: there is no column wait (level, " in ran.lines[0]
    assert "views.mine.sort: there is no column trst" in ran.lines[1]
    assert "views.mine.filter: no column agnt" in ran.lines[2]
    assert "views.mission.sort: cannot be sorted by mission" in ran.lines[3]
    assert not (command.home / ".local").exists(), "nothing is written"


@pytest.mark.parametrize("screen", ["overview", "companies", "agents", "tasks", "budget"])
def test_views_of_every_screen_can_be_checked(command: Command, screen: str) -> None:
    _config(command, f'[views.one]\nscreen = "{screen}"\ncolumns = ["nothing"]\n')
    ran = command("config", "check")
    assert (ran.code, len(ran.lines)) == (2, 1), ran.out
    assert "there is no column nothing" in ran.out


def test_a_theme_file_that_is_broken_is_one_line_in_check_alone(command: Command) -> None:
    path = _config(command, "")
    theme = path.parent / "themes" / "mine.toml"
    theme.parent.mkdir()
    theme.write_text('text = "#ffffff"\ngood = "green"\nred = 1\n')
    ran = command("config", "check")
    assert ran.code == 2
    [line] = ran.lines
    assert line.startswith(f"{theme}")
    assert "this theme cannot be used" in line
    assert "more)" in line
    assert command("config", "show").code == 0
    # One that is used is what is wrong with the setting that names it.
    path.write_text('theme = "mine"\n')
    [line] = command("config", "check").lines
    assert line.startswith(f"{path}:1: theme: cannot be used: {theme}")
