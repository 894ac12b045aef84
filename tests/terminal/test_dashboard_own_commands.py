"""A person's own commands in the real terminal: lent to them, taken back, and ended with us."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.terminal.dashboard import (
    assert_restored,
    dashboard,
    is_whole,
    leave,
    ready,
    show,
    shows,
)
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.processes import gone
from tests.terminal.pty_session import PtySession

ASKS = """
import json, os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
told = [sys.argv[2:], dict(os.environ), os.getpid(), os.isatty(0), os.isatty(1), os.isatty(2)]
with open(sys.argv[1] + ".new", "w") as file:
    file.write(json.dumps(told))
os.rename(sys.argv[1] + ".new", sys.argv[1])
word = input("what now? ")
print("heard", word)
sys.exit(int(word))
"""
"""Says what it was given, and ends as it is told to."""


def configured(folder: Path, key: str = "N") -> tuple[dict[str, str | None], Path]:
    """The environment of a dashboard with one command of a person's own, and what that writes."""
    told, script = folder / "told", folder / "asks.py"
    script.write_text(ASKS)
    run = json.dumps([sys.executable, str(script), str(told), "$(touch /tmp/x)", "{id}"])
    config = folder / "own.toml"
    config.write_text(f'[commands.asks]\nkey = "{key}"\nscope = "task"\nrun = {run}\n')
    return {"AGENTCO_CONFIG": str(config)}, told


def asked(session: PtySession, told: Path) -> int:
    """Press the key, no sooner again than a held one, and wait until the command asks; its
    process.
    """
    told.unlink(missing_ok=True)
    session.press("k", "N")
    session.wait_for(lambda screen: told.exists() and "what now?" in screen)
    pid: int = json.loads(told.read_text())[2]
    return pid


def test_the_terminal_is_lent_and_taken_back(platform: PlatformProcess, tmp_path: Path) -> None:
    env, told = configured(tmp_path)
    with dashboard(platform, tmp_path, env=env) as session:
        ready(session)
        show(session, 4)
        asked(session, told)
        assert session.termios() == session.termios_before
        arguments, given, _, *ttys = json.loads(told.read_text())
        assert (arguments, ttys) == (["$(touch /tmp/x)", "{id}"], [True, True, True])
        assert given["AGENTCO_KIND"] == "task"
        assert given["AGENTCO_BASE_URL"] == platform.base_url
        assert given["AGENTCO_TASK_ID"] == given["AGENTCO_ID"]
        assert "AGENTCO_API_KEY" not in given
        assert platform.full_key not in str(given)
        # What failed can be read before the screen is taken again, which has another size by then.
        session.resize(100, 30)
        session.press("3", "enter")
        session.wait_for("ended with exit code 3: press enter to come back")
        assert "heard 3" in session.text
        session.press("q", "enter")
        shows(session, is_whole)
        session.wait_for("▌ asks ended with exit code 3")
        # ctrl+c is for the command; keys that were typed for it are none for the dashboard.
        # With ctrl+z nobody could bring it back by itself: it goes on.
        asked(session, told)
        session.press("ctrl+z", "q", "ctrl+c")
        shows(session, is_whole)
        asked(session, told)
        session.press("0", "enter")
        shows(session, is_whole)
        leave(session)


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 143), (None, 129)])
def test_it_ends_with_the_dashboard(
    how: signal.Signals | None, code: int, platform: PlatformProcess, tmp_path: Path
) -> None:
    env, told = configured(tmp_path)
    with dashboard(platform, tmp_path, env=env) as session:
        ready(session)
        show(session, 4)
        pid = asked(session, told)
        if how is None:
            session.hang_up()
        else:
            session.signal(how)
        assert session.wait_gone() == code
        gone(pid)
        if how is not None:
            assert_restored(session)
