"""Completion in real shells: flags, commands and names, also of who has chosen an evil one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentco_tui.history.observations import Observed
from agentco_tui.text import clean_line
from tests.history.observed_file import ObservedDatabase
from tests.terminal.pty_session import REPOSITORY, PtySession

EVIL = "Evil $(touch pwned) `touch pwned`; touch pwned & *'\"\\ {a,b}"
SHELLS: dict[str, tuple[list[str], str]] = {
    "bash": (["--norc", "--noprofile"], "PS1='ready> '; eval \"$(agentco-tui completion bash)\""),
    "zsh": (
        ["-f"],
        "PS1='ready> '; autoload compinit; compinit -uD; eval \"$(agentco-tui completion zsh)\"",
    ),
    "fish": (
        ["--no-config"],
        "function fish_prompt; echo -n 'ready> '; end; agentco-tui completion fish | source",
    ),
}
PROGRAM = """#!/bin/sh
if [ "$_ARGCOMPLETE" ] || [ "$1" = completion ]; then
    PYTHONPATH={folder} exec {python} -m agentco_tui "$@"
fi
printf '%s\\n' "$@" >"$HOME/given"; echo told
"""
"""Completes, and else writes down what it was given."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which somebody was seen, with the program on the path."""
    path = tmp_path / ".local/state/agentco-tui/history.sqlite3"
    history = ObservedDatabase(path, "prod", "https://platform.example")
    names: list[Any] = [
        ("agent", "ag_1", clean_line("Linus"), "cmp_1"),
        ("company", "cmp_1", clean_line(EVIL), None),
    ]
    history.store([Observed(names=names)])
    history.close()
    program = tmp_path / "bin/agentco-tui"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(folder=REPOSITORY, python=sys.executable))
    program.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_commands_flags_and_names(shell: str, home: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    options, setup = SHELLS[shell]
    env = {"HOME": str(home), "PATH": f"{home}/bin:{os.environ['PATH']}", "TERM": "xterm"}
    with PtySession([shell, *options, "-i"], env=env, cwd=home, size=(150, 24)) as session:

        def complete(typed: str, shown: str) -> None:
            session.write(f"{typed}\t")
            session.wait_for(shown)

        session.write(f"{setup}\r")
        session.wait_for(lambda text: any(line.startswith("ready>") for line in text.splitlines()))
        complete("agentco-tui hist", "tui history")
        complete("--ag", "--agent")
        complete("Lin", "--agent Linus")
        complete("--company Ev", "pwned")
        session.write("\r")
        session.wait_for("told")
    given = ["history", "--agent", "Linus", "--company", EVIL]
    assert (home / "given").read_text().splitlines() == given
    assert not (home / "pwned").exists()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("--scr", {"--screen"}),
        ("--screen=ta", {"--screen=tasks"}),
        ("config ch", {"check"}),
        ("help rep", {"replay"}),
        ("help rec", {"record-and-replay"}),
        ("demo --theme agentco-l", {"agentco-light"}),
        ("status --profile ", {"prod", "test"}),
        ("tail --agent li", {"Linus"}),
        ("get agent li", {"Linus"}),
        ("get task li", set()),
        ("tail --profile test --agent li", set()),
        ("replay b", {"bin/"}),
        ("tail --limit ", set()),
        ("demo --until", set()),
        ("demo --platform ", {"paperclip"}),
        ("demo --platf", {"--platform"}),
    ],
)
def test_what_a_line_can_become(line: str, found: set[str], home: Path) -> None:
    config = home / ".config/agentco-tui/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[profiles.prod]\n[profiles.test]\n")
    line = f"agentco-tui {line}"
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": ""}
    asked |= {"_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), **asked}
    ran = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m agentco_tui 8>&1 9>/dev/null', sys.executable],
        env=env,
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert set(ran.stdout.split()) == found
    assert ran.stderr == ""


def test_nothing_of_the_dashboard_is_imported_for_it() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import sys, agentco_tui.commands.completion; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    slow = {"textual", "httpx", "asyncio", "agentco_tui.config", "agentco_tui.reading"}
    assert not slow & set(told.stdout.split())
