"""Ctrl-Z and fg with the real dashboard in a real shell, polls going on before and after."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from agentco_tui.demo.server import EmbeddedPlatform
from tests.safety.patient import PtySession
from tests.terminal.platform_process import own_folders
from tests.terminal.pty_session import REPOSITORY
from tests.terminal.test_job_control import back_in_the_shell, settings

BASH = shutil.which("bash")


@pytest.mark.skipif(BASH is None, reason="needs bash for job control")
def test_ctrl_z_and_fg(tmp_path: Path) -> None:
    assert BASH is not None
    with EmbeddedPlatform(companies=1, agents=2, tasks=6, speed=0) as platform:
        env = {
            **own_folders(tmp_path),
            "AGENTCO_BASE_URL": platform.base_url,
            "AGENTCO_API_KEY": platform.full_key,
            "PS1": "prompt> ",
            "HISTFILE": "",
            "PYTHONPATH": str(REPOSITORY),
        }
        shell = [BASH, "--noprofile", "--norc", "-i"]
        with PtySession(shell, size=(120, 30), env=env) as session:
            session.wait_for("prompt>")
            before = settings(session, "one")
            session.press(f"{sys.executable} -m agentco_tui --refresh 0.5", "enter")
            session.wait_for(re.compile(r"live +<?\d"))
            session.press("ctrl+z")
            session.wait_for("Stopped")
            back_in_the_shell(session)
            assert settings(session, "two") == before
            asked = platform.requests.count
            session.press("fg", "enter")
            session.wait_for(re.compile(r"live +<?\d"))
            session.wait_for(lambda _: platform.requests.count > asked)
            session.press("2")
            session.wait_for("COMPANIES all")
            session.press("q")
            session.wait_for("prompt>")
            back_in_the_shell(session)
            assert settings(session, "three") == before
