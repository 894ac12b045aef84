"""A setting is declared in one place, and everything that deals with settings follows.

Each test adds one field to `config/settings.py` in a copy of the program, and nothing else.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import agentco_tui
from tests.config import settings_page

PROGRAM = Path(agentco_tui.__file__).parent
TESTS = Path(settings_page.__file__).parents[1]


class Added(NamedTuple):
    """A setting that is added, and where it is found then."""

    before: str
    """The field that it is added above, as it is written in `config/settings.py`."""
    tables: str
    """The argument `tables` of its `Setting`."""
    attribute: str
    """Where `Settings` has it."""
    table: str
    """The table of the config file that may hold it; empty for the top."""
    name: str
    """What `config show` calls it."""


PROFILE = Added("    theme: Annotated[\n", "(PROFILE,)", "greeting", "profiles.x", "greeting")
TOP = Added("    theme: Annotated[\n", "(TOP,)", "greeting", "", "greeting")
BOTH = Added("    theme: Annotated[\n", "(TOP, PROFILE)", "greeting", "profiles.x", "greeting")
NEW_TABLE = Added(
    "    theme: Annotated[\n", '("parlour",)', "greeting", "parlour", "parlour.greeting"
)
IN_ALERTS = Added(
    "    warn_percent: Annotated[\n", "None", "alerts.greeting", "alerts", "alerts.greeting"
)
IN_NOTIFY = Added("    bell: Annotated[\n", "None", "notify.greeting", "notify", "notify.greeting")
EVERY = (TOP, PROFILE, BOTH, NEW_TABLE, IN_ALERTS, IN_NOTIFY)
IDS = ["top", "profile", "both", "new table", "alerts", "notify"]

DECLARATION = """\
    greeting: Annotated[
        str,
        Setting(
            "What is said first.",
            validators.text,
            tables={tables},
            takes_effect=TakesEffect.{effect},
        ),
    ] = "hello"
"""
LOAD = """
import operator, sys
from msgspec.structs import replace
from agentco_tui.config.resolve import load, reread
given, env = {"config": sys.argv[1]}, {"KEY_X": "acp_live_0123456789abcdef"}
settings = load(given, env)
attribute = sys.argv[2]
print(operator.attrgetter(attribute)(settings), "|", settings.sources[sys.argv[3]])
if len(sys.argv) > 4:
    text = open(sys.argv[1]).read()
    open(sys.argv[1], "w").write(text.replace("ahoy", "moin"))
    now, kept = reread(settings, given, env)
    print(operator.attrgetter(attribute)(now), "|", *kept)
"""
COMMAND = "import sys; from agentco_tui.cli.main import main; sys.exit(main(sys.argv[1:]))"
PAGE = "from tests.config.settings_page import table; print(table())"


class Copy:
    """A copy of the program, run in processes of its own."""

    def __init__(self, folder: Path) -> None:
        ignored = shutil.ignore_patterns("__pycache__")
        self.folder = folder
        self.config = folder / "config.toml"
        shutil.copytree(PROGRAM, folder / "agentco_tui", ignore=ignored)
        for name in ("__init__.py", "config/__init__.py", "config/settings_page.py"):
            copied = folder / "tests" / name
            copied.parent.mkdir(exist_ok=True, parents=True)
            shutil.copy(TESTS / name, copied)

    def declare(self, added: Added, effect: str = "AT_ONCE") -> None:
        """Add the setting, in the one place where settings are declared."""
        file = self.folder / "agentco_tui/config/settings.py"
        text = file.read_text()
        assert text.count(added.before) == 1
        declaration = DECLARATION.format(tables=added.tables, effect=effect)
        file.write_text(text.replace(added.before, declaration + added.before))

    def write_config(self, added: Added, line: str) -> int:
        """Write a config file with a line in the setting's table; returns the line's number."""
        tables = {
            "": [],
            "profiles.x": ['base_url = "https://x.example"', 'api_key_env = "KEY_X"'],
        }
        tables.setdefault(added.table, []).append(line)
        lines = []
        for table, settings in tables.items():
            lines += [f"[{table}]", *settings] if table else settings
        self.config.write_text("\n".join(lines) + "\n")
        return lines.index(line) + 1

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=self.folder,
            env={"HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )

    def out(self, program: str, *arguments: str) -> str:
        ran = self.run(program, *arguments)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.parametrize("added", EVERY, ids=IDS)
def test_the_program_reads_it(copy: Copy, added: Added) -> None:
    copy.declare(added)
    where = (str(copy.config), added.attribute, added.name)
    copy.write_config(added, "# nothing")
    assert copy.out(LOAD, *where) == "hello | default\n"
    line = copy.write_config(added, 'greeting = "ahoy"')
    source = "profile x" if added.table == "profiles.x" else "config file"
    expected = f"ahoy | {source}, {copy.config}:{line}\nmoin |\n"
    assert copy.out(LOAD, *where, "and read it again") == expected


@pytest.mark.parametrize("added", [PROFILE, IN_ALERTS], ids=["profile", "alerts"])
def test_a_running_dashboard_keeps_it_if_it_says_so(copy: Copy, added: Added) -> None:
    copy.declare(added, effect="NEXT_START")
    copy.write_config(added, 'greeting = "ahoy"')
    read = copy.out(LOAD, str(copy.config), added.attribute, added.name, "and read it again")
    assert read.splitlines()[1] == f"ahoy | {added.name}"


@pytest.mark.parametrize("added", EVERY, ids=IDS)
def test_the_config_commands_have_it(copy: Copy, added: Added) -> None:
    copy.declare(added)
    line = copy.write_config(added, 'greeting = "ahoy"')
    config = ("--config", str(copy.config))
    shown = json.loads(copy.run(COMMAND, "config", "show", "--json", *config).stdout)
    row = next(row for row in shown["settings"] if row["name"] == added.name)
    assert row["value"] == "ahoy"
    assert row["source"].endswith(f"{copy.config}:{line}")
    line = copy.write_config(added, "greeting = 5")
    checked = copy.run(COMMAND, "config", "check", *config)
    place = f"{copy.config}:{line}: {added.table}{'.' if added.table else ''}greeting"
    assert f"{place}: must be a text in quotes, is the number 5" in checked.stdout
    copy.write_config(added, "greting = 5")
    checked = copy.run(COMMAND, "config", "check", *config)
    assert "unknown setting (nearest valid name: greeting)" in checked.stdout


@pytest.mark.parametrize("added", EVERY, ids=IDS)
def test_a_first_file_and_the_manual_have_it(copy: Copy, added: Added) -> None:
    copy.declare(added)
    path = copy.folder / "first.toml"
    copy.out(COMMAND, "config", "init", "--config", str(path))
    assert re.search(r'^# greeting = "hello" +## What is said first\.$', path.read_text(), re.M)
    table = copy.out(PAGE)
    [row] = [line for line in table.splitlines() if "greeting" in line]
    assert row.split(" | ")[2:] == ['`"hello"`', "a text", "at once", "What is said first. |"]


def test_a_field_without_a_table_is_refused_at_the_start(copy: Copy) -> None:
    copy.declare(PROFILE._replace(tables="None"))
    ran = copy.run(LOAD, str(copy.config), "greeting", "greeting")
    assert ran.returncode != 0
    assert "greeting needs tables" in ran.stderr
