"""`--help`, `status` and `tail` start without the screen toolkit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import REPOSITORY, clean_environment

SCREEN_ONLY = ("textual", "agentco_tui.screens", "agentco_tui.widgets", "agentco_tui.app")


def imported(platform: PlatformProcess, folder: Path, *arguments: str) -> tuple[int, str, set[str]]:
    """Exit code, what was printed, and the modules that a run of the program imported."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "agentco_tui", *arguments],
        env=clean_environment(platform.env(folder)),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    lines = [line for line in ran.stderr.splitlines() if line.startswith("import time:")]
    names = {line.rpartition("|")[2].strip() for line in lines}
    assert "argparse" in names, "the imports were told"
    return ran.returncode, ran.stdout, names


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--help",), 0, "usage: agentco-tui"),
        (("status",), 2, "critical"),
        (("tail", "--limit", "5"), 0, "Tidied notes"),
        (("export", "activity"), 0, "Tidied notes"),
        (("config", "path"), 0, "config.toml"),
        (("doctor",), 0, "reads answered"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_does_not_import_the_screens(
    platform: PlatformProcess, arguments: tuple[str, ...], code: int, says: str, tmp_path: Path
) -> None:
    ended, said, names = imported(platform, tmp_path, *arguments)
    assert ended == code
    assert says in said
    assert not [name for name in names if name.startswith(SCREEN_ONLY)]
    if arguments == ("--help",):
        assert not names & {"httpx", "ssl", "asyncio"}, "nothing that talks to a network"


LATER = (
    "agentco_tui.screens.dialogs.router",
    "agentco_tui.screens.dialogs.form_dialog",
    "agentco_tui.screens.dialogs.progress_dialog",
    "agentco_tui.screens.dialogs.trace_dialog",
    "agentco_tui.screens.reload_key",
    "agentco_tui.actions.approve",
    "agentco_tui.actions.write_flow",
    "importlib.metadata",
    "zipfile",
)
"""What no first picture needs."""


def test_what_no_first_picture_needs_is_not_read_before_it() -> None:
    code = (
        "import sys, agentco_tui.app;"
        "import agentco_tui.screens.tasks_view, agentco_tui.screens.overview_view;"
        f"print([name for name in {LATER!r} if name in sys.modules]);"
        "agentco_tui.app.read_the_rest();"
        "print([name for name in sys.modules if name in"
        " ('agentco_tui.screens.dialogs.router', 'agentco_tui.actions.writes')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    before, after = ran.stdout.splitlines()
    assert before == "[]"
    assert after.count("agentco_tui") == 2, "a key finds it read"
