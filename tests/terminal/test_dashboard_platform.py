"""The dashboard of a platform that is described by a file, at a real terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.platforms.recorded_paperclip import KEY, VIEWER_KEY, RecordedPaperclip
from tests.terminal.dashboard import command, dashboard, leave, ready, show
from tests.terminal.platform_process import PlatformProcess, own_folders
from tests.terminal.pty_session import PtySession

PROGRAM = """
from agentco_tui.platforms import declared_platform
from agentco_tui.__main__ import main
declared_platform.SAME_MOMENT = 600.0
raise SystemExit(main())
"""
"""The command, for which everything on the slowest machine is of one moment."""


def start(
    folder: Path, server: RecordedPaperclip, key: str | None, *words: str, profile: str = ""
) -> PtySession:
    """The dashboard of a profile, to which `profile` adds lines; it polls only once."""
    config = folder / "config.toml"
    config.write_text(
        f'[profiles.pc]\nbase_url = "{server.base}"\nplatform = "paperclip"\nrefresh = 3600\n'
        f"{profile}\n"
    )
    env = {**own_folders(folder), "AGENTCO_CONFIG": str(config), "AGENTCO_API_KEY": key}
    return PtySession([sys.executable, "-c", PROGRAM, *words], env=env, size=(120, 40))


def paths_asked(platform: PlatformProcess) -> set[str]:
    return {each["path"] for each in platform.requests()}


@pytest.mark.parametrize("key", [None, KEY], ids=["keyless", "key"])
def test_a_start_sends_no_request_twice(tmp_path: Path, key: str | None) -> None:
    """The first request is under way before the screens are imported, and serves all lists."""
    with RecordedPaperclip(needs_key=key is not None) as server:
        with start(tmp_path, server, key) as session:
            assert "live" in ready(session)
            leave(session)
        assert server.requests[0].line == "GET /api/companies"
        assert {seen.authorization for seen in server.requests} == {key and f"Bearer {key}"}
        sockets = [seen for seen in server.requests if seen.path.endswith("/ws")]
        assert {seen.status for seen in sockets} == {101 if key is None else 403}
        # Once a web socket is open, everything is read again: it may have changed before.
        end = len(server.requests) if key else server.requests.index(sockets[0])
        reads = [seen for seen in server.requests[:end] if seen not in sockets]
        assert {seen.status for seen in reads} == {200}
        sent = [seen.line for seen in reads]
        assert sorted(set(sent)) == sorted(sent)


def test_the_usual_interface_was_asked_for_a_platform_that_has_another(tmp_path: Path) -> None:
    """Only an address and a key are known: the first answer says what is wrong, and what to do."""
    with RecordedPaperclip() as server:
        env = {**own_folders(tmp_path), "AGENTCO_BASE_URL": server.base, "AGENTCO_API_KEY": KEY}
        with PtySession(command("--refresh", "3600"), env=env, size=(160, 40)) as session:
            told = session.wait_for("or start with --platform paperclip")
            assert "this is Paperclip: put platform =" in " ".join(told.split())
            leave(session)
        asked = [seen.authorization for seen in server.requests if seen.path == "/api/health"]
        assert asked == [None]
        session = PtySession(command("--platform", "paperclip"), env=env, size=(160, 40))
        with session:
            assert "GLO-7" in ready(session)
            leave(session)


@pytest.mark.parametrize("key", [None, "ag_wrong_key_of_nobody"])
def test_the_usual_interface_is_asked_for_nothing_else(
    platform: PlatformProcess, tmp_path: Path, key: str | None
) -> None:
    """Unless the tasks that wait were refused; then nothing is said, as nothing is recognised."""
    with dashboard(platform, tmp_path, "--refresh", "3600", key=key) as session:
        if key is None:
            ready(session)
        else:
            session.wait_for("the key is missing or invalid")
            session.wait_for(lambda _: "/api/health" in paths_asked(platform))
        leave(session)
    assert ("/api/health" in paths_asked(platform)) == (key is not None)
    assert "this is" not in session.text


def test_a_viewer_sees_everything_and_is_told_why_nothing_can_be_changed(tmp_path: Path) -> None:
    """Until another key is put in place of the viewer's, which r reads."""
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_text(VIEWER_KEY)
    with RecordedPaperclip() as server:
        words = ("--refresh", "0.5")
        with start(tmp_path, server, None, *words, profile=f'api_key_file = "{key}"') as session:
            session.wait_for("writing off")
            show(session, 4)
            session.press("n")
            # The notice has two lines: "r reads the key again".
            session.wait_for("your role there is viewer: it may not change anything; r")
            key.write_text(KEY)
            session.press("r")
            session.wait_for(lambda screen: "writing off" not in screen)
            leave(session)
        assert {seen.method for seen in server.requests} == {"GET"}
        roles = [seen for seen in server.requests if seen.path == "/api/cli-auth/me"]
        assert roles[0].authorization == f"Bearer {VIEWER_KEY}"


def test_read_only_stays_whatever_the_role_is(tmp_path: Path) -> None:
    with RecordedPaperclip() as server, start(tmp_path, server, KEY, "--read-only") as session:
        assert "read-only" in ready(session)
        session.wait_for(
            lambda _: "GET /api/cli-auth/me" in {seen.line for seen in server.requests}
        )
        show(session, 4)
        session.press("n")
        session.wait_for("writing is off (--read-only)")
        leave(session)
