"""The dashboard of a platform that is described by a file, at a real terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.platforms.recorded_paperclip import KEY, RecordedPaperclip
from tests.terminal.dashboard import leave, ready
from tests.terminal.platform_process import own_folders
from tests.terminal.pty_session import PtySession

PROGRAM = """
from agentco_tui.platforms import declared_platform
from agentco_tui.__main__ import main
declared_platform.SAME_MOMENT = 600.0
raise SystemExit(main())
"""
"""The command, for which everything on the slowest machine is of one moment."""


def start(folder: Path, server: RecordedPaperclip, key: str | None, *words: str) -> PtySession:
    """The dashboard of a profile, which polls only once."""
    config = folder / "config.toml"
    config.write_text(
        f'[profiles.pc]\nbase_url = "{server.base}"\nplatform = "paperclip"\nrefresh = 3600\n'
    )
    env = {**own_folders(folder), "AGENTCO_CONFIG": str(config), "AGENTCO_API_KEY": key}
    return PtySession([sys.executable, "-c", PROGRAM, *words], env=env, size=(120, 40))


@pytest.mark.parametrize("key", [None, KEY], ids=["keyless", "key"])
def test_a_start_sends_no_request_twice(tmp_path: Path, key: str | None) -> None:
    """The first request is under way before the screens are imported, and serves all lists."""
    with RecordedPaperclip(needs_key=key is not None) as server:
        with start(tmp_path, server, key) as session:
            assert "live" in ready(session)
            leave(session)
        sent = [seen.line for seen in server.requests]
        assert sent[0] == "GET /api/companies"
        assert {seen.authorization for seen in server.requests} == {key and f"Bearer {key}"}
        assert sorted(set(sent)) == sorted(sent)
        assert {seen.status for seen in server.requests} == {200}
