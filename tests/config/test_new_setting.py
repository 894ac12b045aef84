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
from typing import Any, NamedTuple

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
PROGRAM_TO_RUN = """
import contextlib, io, json, operator, sys
from pathlib import Path
from agentco_tui.cli.main import main
from agentco_tui.config.resolve import load, reread
from tests.config.settings_page import table

folder, given = Path.cwd(), json.loads(sys.argv[1])
env = {"KEY_X": "acp_live_0123456789abcdef"}
value = operator.attrgetter(given["attribute"])

def write(line):
    path = folder / "config.toml"
    path.write_text(given["config"].replace("LINE", line))
    return {"config": str(path)}

def run(*words):
    out = io.StringIO()
    out.isatty = lambda: False
    with contextlib.redirect_stdout(out):
        main(["config", *words, "--config", str(folder / "config.toml")])
    return out.getvalue()

unset = load(write("# nothing"), env)
ahoy = load(write('greeting = "ahoy"'), env)
shown = run("show", "--json")
moin, postponed = reread(ahoy, write('greeting = "moin"'), env)
wrong = write("greeting = 5") and run("check")
misspelt = write('greting = "moin"') and run("check")
(folder / "config.toml").unlink()
run("init")
print(json.dumps({
    "unset": [value(unset), unset.sources[given["name"]]],
    "set": [value(ahoy), ahoy.sources[given["name"]]],
    "reread": [value(moin), postponed],
    "shown": json.loads(shown)["settings"],
    "wrong": wrong,
    "misspelt": misspelt,
    "first file": (folder / "config.toml").read_text(),
    "manual": table(),
}))
"""


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

    def run(self, added: Added) -> subprocess.CompletedProcess[str]:
        """Have a program write config files with and without the setting, and read them."""
        given = {"config": config_of(added), "attribute": added.attribute, "name": added.name}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM_TO_RUN, json.dumps(given)],
            cwd=self.folder,
            env={"HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )

    def report(self, added: Added) -> dict[str, Any]:
        ran = self.run(added)
        assert ran.returncode == 0, ran.stderr
        found: dict[str, Any] = json.loads(ran.stdout)
        return found


def config_of(added: Added) -> str:
    """A config file with LINE in the table of the setting."""
    tables = {
        "": list[str](),
        "profiles.x": ['base_url = "https://x.example"', 'api_key_env = "KEY_X"'],
    }
    tables.setdefault(added.table, []).append("LINE")
    lines = []
    for table, settings in tables.items():
        lines += [f"[{table}]", *settings] if table else settings
    return "\n".join(lines)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("added", EVERY, ids=IDS)
def test_it_is_found_wherever_settings_are(copy: Copy, added: Added) -> None:
    copy.declare(added)
    report = copy.report(added)
    line = config_of(added).splitlines().index("LINE") + 1
    place = f"{copy.config}:{line}"
    table = "profile x" if added.table == "profiles.x" else "config file"
    assert report["unset"] == ["hello", "default"]
    assert report["set"] == ["ahoy", f"{table}, {place}"]
    assert report["reread"] == ["moin", []], "a running dashboard takes it over"
    row = {"name": added.name, "value": "ahoy", "source": f"{table}, {place}"}
    assert row in report["shown"]
    setting = f"{added.table}.greeting".removeprefix(".")
    assert f"{place}: {setting}: must be a text in quotes, is the number 5" in report["wrong"]
    assert "unknown setting (nearest valid name: greeting)" in report["misspelt"]
    first_line = r'^# greeting = "hello" +## What is said first\.$'
    assert re.search(first_line, report["first file"], re.MULTILINE)
    [manual] = [line for line in report["manual"].splitlines() if "greeting" in line]
    assert manual.split(" | ")[2:] == ['`"hello"`', "a text", "at once", "What is said first. |"]


@pytest.mark.slow
@pytest.mark.parametrize("added", [PROFILE, IN_ALERTS], ids=["profile", "alerts"])
def test_a_running_dashboard_keeps_it_if_it_says_so(copy: Copy, added: Added) -> None:
    copy.declare(added, effect="NEXT_START")
    assert copy.report(added)["reread"] == ["ahoy", [added.name]]


def test_a_field_without_a_table_is_refused_at_the_start(copy: Copy) -> None:
    copy.declare(PROFILE._replace(tables="None"))
    ran = copy.run(PROFILE)
    assert ran.returncode != 0
    assert "greeting needs tables" in ran.stderr
