"""What each command imports: the user of a script waits for it at every run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

HELP_MODULES = {
    "agentco_tui",
    "agentco_tui.__main__",
    "agentco_tui.cli",
    "agentco_tui.cli.arguments",
    "agentco_tui.cli.grammar",
    "agentco_tui.cli.main",
    "agentco_tui.keys",
    "agentco_tui.keys.places",
}
"""All of this package that `--help` and `version` may import."""
SLOW_FOR_HELP = ("asyncio", "datetime", "logging", "msgspec", "pathlib", "shutil", "httpx")
"""Modules that take longer to import than the help takes."""
FOR_DASHBOARDS = (
    "agentco_tui.app",
    "agentco_tui.cli.dashboard",
    "agentco_tui.cli.launch",
    "agentco_tui.screens",
    "agentco_tui.terminal",
    "agentco_tui.textual_patches",
    "agentco_tui.widgets",
    "rich",
    "textual",
)
"""Packages and modules that only a dashboard needs."""
OFFLINE = ("httpx", "agentco_tui.api.client", "agentco_tui.workspace", "agentco_tui.live.poller")
"""Modules of the connection, which commands that send no request do not need."""


def modules_after(arguments: Iterable[str], home: Path) -> set[str]:
    """The modules that are imported when the command line with these arguments has run."""
    code = (
        "import sys; from agentco_tui.__main__ import main;"
        "main(); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


def imported(modules: set[str], names: Iterable[str]) -> set[str]:
    """Those of `names` that were imported, also as a package of an imported module."""
    return {
        name
        for name in names
        if any(module == name or module.startswith(f"{name}.") for module in modules)
    }


@pytest.mark.parametrize(
    "arguments", [["--help"], ["version"], ["--version"], ["help"], ["status", "--help"]]
)
def test_help_and_version_import_only_the_grammar(arguments: list[str], tmp_path: Path) -> None:
    modules = modules_after(arguments, tmp_path)
    ours = {name for name in modules if name.split(".")[0] == "agentco_tui"}
    assert ours <= HELP_MODULES
    assert imported(modules, SLOW_FOR_HELP) == set()


@pytest.mark.parametrize("command", ["status", "get", "tail", "doctor", "watch", "approve"])
def test_a_command_imports_nothing_of_a_dashboard(command: str, tmp_path: Path) -> None:
    arguments = {
        "get": ["get", "tasks"],
        "approve": ["approve", "t1", "--expect", "00" * 15],
    }.get(command, [command])
    modules = modules_after(arguments, tmp_path)
    assert f"agentco_tui.commands.{command}" in modules or command == "approve"
    allowed = {"agentco_tui.terminal"} if command == "doctor" else set()
    assert imported(modules, FOR_DASHBOARDS) <= allowed


@pytest.mark.parametrize("arguments", [["journal"], ["history"], ["config", "path"]])
def test_a_command_without_requests_imports_no_connection(
    arguments: list[str], tmp_path: Path
) -> None:
    assert imported(modules_after(arguments, tmp_path), OFFLINE) == set()
