"""The command at a real terminal: how to start, and the demo from its first line to its last."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.terminal.pty_session import PtySession

COMMAND = [sys.executable, "-m", "agentco_tui"]


def test_without_any_setting_it_says_how_to_start(tmp_path: Path) -> None:
    with PtySession(COMMAND, env={"HOME": str(tmp_path)}) as session:
        assert session.wait_gone() == 2
        for words in ("agentco-tui demo", "AGENTCO_BASE_URL=", "AGENTCO_API_KEY=", "profile"):
            assert words in session.text
        assert len(session.text.strip().splitlines()) < 16
        assert session.termios() == session.termios_before


def test_half_a_setting_names_the_other_half(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "AGENTCO_BASE_URL": "http://127.0.0.1:9"}
    with PtySession(COMMAND, env=env) as session:
        assert session.wait_gone() == 2
        assert "AGENTCO_API_KEY" in session.text
        assert "agentco-tui demo" not in session.text


def test_a_terminal_that_can_draw_nothing_is_refused(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "TERM": "dumb"}
    with PtySession(COMMAND, env=env, size=(160, 24)) as session:
        assert session.wait_gone() == 2
        assert "agentco-tui status" in session.text


def test_the_demo_opens_and_leaves(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    with PtySession([*COMMAND, "demo", "--speed", "0"], env=env, size=(120, 40)) as session:
        session.wait_for("Refund 214 customers", timeout=60)
        session.press("q")
        assert session.wait_gone() == 0
        assert session.left_on() == set()
        assert session.termios() == session.termios_before
