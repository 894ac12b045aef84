"""`--help`, `status` and `tail` start without the screen toolkit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import REPOSITORY, clean_environment

SCREEN_ONLY = ("textual", "agentco_tui.screens", "agentco_tui.widgets", "agentco_tui.app")
LATER = (
    "agentco_tui.screens.dialogs.router",
    "agentco_tui.screens.dialogs.form_dialog",
    "agentco_tui.screens.dialogs.approve_dialog",
    "agentco_tui.screens.dialogs.trace_dialog",
    "agentco_tui.screens.reload_key",
    "agentco_tui.actions.approve",
    "agentco_tui.actions.write_flow",
    "importlib.metadata",
    "zipfile",
    # Only where a platform's file declares news.
    "agentco_tui.live.news_follower",
    "agentco_tui.api.web_socket",
    "websockets",
)
"""What no first picture needs."""


def ran(*arguments: str, **env: str | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=clean_environment(env),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("--help", 0, "usage: agentco-tui"),
        ("status", 2, "critical"),
        ("tail --limit 5", 0, "Tidied notes"),
        ("export activity", 0, "Tidied notes"),
        ("config path", 0, "config.toml"),
        ("doctor", 0, "reads answered"),
    ],
)
def test_a_command_does_not_import_the_screens(
    platform: PlatformProcess, line: str, code: int, says: str, tmp_path: Path
) -> None:
    told = ran(
        *("-X", "importtime", "-m", "agentco_tui", *line.split()), **settings(platform, tmp_path)
    )
    assert told.returncode == code
    assert says in told.stdout
    names = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
    assert "argparse" in names, "the imports were told"
    assert not [name for name in names if name.startswith(SCREEN_ONLY)]
    if line == "--help":
        assert not names & {"httpx", "ssl", "asyncio"}, "nothing that talks to a network"


def test_what_no_first_picture_needs_is_not_read_before_it() -> None:
    told = ran(
        "-c",
        "import sys, agentco_tui.cli.dashboard;"
        "import agentco_tui.screens.tasks_view, agentco_tui.screens.overview_view;"
        f"print([name for name in {LATER!r} if name in sys.modules]);"
        "from agentco_tui.screens.preload import preload_dialogs; preload_dialogs();"
        "print([name for name in sys.modules if name in"
        " ('agentco_tui.screens.dialogs.router', 'agentco_tui.actions.recovery')]);"
        "print([name for name in sys.modules if name.startswith('agentco_tui.demo')])",
    )
    before, after, demo = told.stdout.splitlines()
    assert before == demo == "[]"
    assert after.count("agentco_tui") == 2, "a key finds it read"
