"""The first start of all, in an empty home: the welcome, the login, and what is left of the key."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.commands.keyring_program import put_program
from tests.platforms.recorded_paperclip import KEY, RecordedPaperclip
from tests.terminal.dashboard import assert_restored, command, leave, ready
from tests.terminal.platform_process import PlatformProcess, own_folders
from tests.terminal.pty_session import REPOSITORY, NotSeenError, PtySession

WRONG = "ag_canary_of_nobody_31c4"
Start = Callable[..., PtySession]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """The program with nothing configured, and with a keyring that keeps what it gets in a file."""
    modules = tmp_path / "modules"
    env: dict[str, str | None] = {**own_folders(tmp_path), **put_program(modules)}
    env["PYTHONPATH"] = f"{modules}:{REPOSITORY}"
    return lambda *words: PtySession(command(*words), env=env, size=(200, 60))


def answer(session: PtySession, question: str, typed: str) -> None:
    """Type a line when the last question that stands there is this one."""
    session.wait_for(lambda screen: question in screen.rstrip().split("\n")[-1])
    session.write(f"{typed}\r")


def ended(session: PtySession, end: Callable[[], object]) -> int:
    """End it, again where that came just before Python began to read, which it then doesn't notice;
    gives the exit code.
    """
    while True:
        with suppress(ProcessLookupError):
            end()
        with suppress(NotSeenError):
            return session.wait_gone(2.0)


def holding(folder: Path, key: str) -> list[str]:
    """The files below that hold a key."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if key.encode() in path.read_bytes()]


def test_from_the_welcome_by_login_to_the_dashboard_and_out_again(
    platform: PlatformProcess, tmp_path: Path, start: Start
) -> None:
    config = tmp_path / "config" / "agentco-tui" / "config.toml"
    with start("--read-only") as session:
        answer(session, "d, l, e or q", "x")
        answer(session, "d, l, e or q", "L")
        answer(session, "Address (https", "platform.example")
        session.wait_for("must begin with https://")
        answer(session, "Address (https", "http://platform.example")
        answer(session, "Send the key unencrypted anyway? (y/n)", "")
        answer(session, "Address (https", platform.base_url)
        answer(session, "API key (it is not shown):", WRONG)
        answer(session, "Type them again? (y/n)", "y")
        assert "the key is missing or invalid" in session.text
        answer(session, f"Address (enter: {platform.base_url}):", "")
        answer(session, "API key (it is not shown):", platform.full_key)
        answer(session, "Show which of its fields", "n")
        told = session.text
        assert "11 of 11 reads answered" in told
        assert re.search(r"GET /api/tasks +\d+ ms", told)
        assert "the key may read everything that was requested" in told
        assert "writes were not tried" in told
        answer(session, "in the system's keyring? (y/n)", "n")
        answer(session, "which only you can read? (y/n)", "y")
        assert not config.exists()
        answer(session, f"Write this to {config}? (y/n)", "y")
        answer(session, "Open it now? (y/n)", "y")
        assert "read-only" in ready(session), "as was said at the very beginning"
        leave(session)
        raw = session.raw
    assert platform.full_key.encode() not in raw
    assert WRONG.encode() not in raw
    assert holding(tmp_path, WRONG) == []
    assert holding(tmp_path, platform.full_key) == ["default"]
    file = config.parent / "keys" / "default"
    assert (file.stat().st_mode | config.stat().st_mode) & 0o777 == 0o600
    assert f'base_url = "{platform.base_url}"\napi_key_file = "keys/default"' in config.read_text()
    with start("logout") as session:
        answer(session, f"Remove the key of profile default from {file}? (y/n)", "y")
        assert session.wait_gone() == 0
    assert holding(tmp_path, platform.full_key) == []
    with start() as session:
        assert session.wait_gone() == 2
        # The terminal breaks the line anywhere, also at a blank.
        assert "agentco-tuilogin--profiledefault" in "".join(session.text.split())


def test_the_keyring_and_a_config_that_is_there(
    platform: PlatformProcess, tmp_path: Path, start: Start
) -> None:
    """The config is never written into; the key is in the keyring, and in no process list."""
    config = tmp_path / "config" / "agentco-tui" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'theme = "nord"\n[profiles.lab]\nbase_url = "{platform.base_url}"\n')
    before = config.read_text()
    with start("login", "--profile", "lab") as session:
        answer(session, "API key (it is not shown):", platform.read_key)
        answer(session, "Show which of its fields", "y")
        answer(session, "in the system's keyring? (y/n)", "y")
        assert session.wait_gone() == 0
        raw = session.raw
    assert b"task (/api/tasks), 120 records" in raw, "as doctor --fields tells it"
    assert b"keyring = true\r\n" in raw
    assert b"the program does not change that file" in raw
    assert platform.read_key.encode() not in raw
    assert holding(tmp_path, platform.read_key) == ["kept.json"]
    assert config.read_text() == before
    config.write_text(f"{before}keyring = true\n")
    with start("login") as session:
        answer(session, "API key (it is not shown):", platform.full_key)
        answer(session, "Show which of its fields", "n")
        answer(session, "in the system's keyring? (y/n)", "y")
        answer(session, "Open it now? (y/n)", "y")
        ready(session)
        leave(session)
    assert holding(tmp_path, platform.full_key) == ["kept.json"]
    assert config.read_text() == f"{before}keyring = true\n"


def test_a_recognised_platform_without_keys_from_the_welcome_to_its_dashboard(
    tmp_path: Path, start: Start
) -> None:
    config = tmp_path / "config" / "agentco-tui" / "config.toml"
    with RecordedPaperclip(needs_key=False) as server:
        with start() as session:
            answer(session, "d, l, e or q", "l")
            answer(session, "Address (https", server.base)
            answer(session, "Show which of its fields", "n")
            assert "This is Paperclip 2026.916.1. It needs no key." in session.text
            assert "API key (it is not shown)" not in session.text
            answer(session, f"Write this to {config}? (y/n)", "y")
            answer(session, "Open it now? (y/n)", "y")
            assert "GLO-7" in ready(session)
            leave(session)
        assert f'base_url = "{server.base}"\nplatform = "paperclip"\n' in config.read_text()
        assert not (config.parent / "keys").exists()
        with start() as session:
            ready(session)
            leave(session)
        assert {seen.authorization for seen in server.requests} == {None}


def test_a_recognised_platform_is_asked_nothing_with_a_key_before_it_is_known(
    tmp_path: Path, start: Start
) -> None:
    with RecordedPaperclip() as server:
        with start("login", "--base-url", server.base) as session:
            session.wait_for("it is not shown")
            assert "This is Paperclip. It needs a board key" in session.text
            assert [seen.line for seen in server.requests] == ["GET /api/health"]
            answer(session, "API key (it is not shown):", "pcp_of_nobody")
            answer(session, "Type them again? (y/n)", "y")
            answer(session, f"Address (enter: {server.base}):", "")
            answer(session, "API key (it is not shown):", KEY)
            answer(session, "Show which of its fields", "n")
            answer(session, "in the system's keyring? (y/n)", "y")
            answer(session, "? (y/n)", "y")
            answer(session, "Open it now? (y/n)", "y")
            assert "GLO-7" in ready(session)
            leave(session)
            assert KEY.encode() not in session.raw
        keys = {seen.authorization for seen in server.requests if seen.path == "/api/health"}
        assert keys == {None}
    assert holding(tmp_path, KEY) == ["kept.json"]


@pytest.mark.parametrize(
    ("key", "code", "told"),
    [
        ("q\r", 2, "q                       quit"),
        ("e\r", 2, "AGENTCO_BASE_URL=https://"),
        ("\x04", 2, "d, l, e or q"),
        ("\x03", 130, "d, l, e or q"),
    ],
)
def test_the_welcome_is_left(start: Start, key: str, code: int, told: str) -> None:
    with start() as session:
        session.wait_for("then enter:")
        assert ended(session, lambda: session.write(key)) == code
        assert told in session.text
        assert b"\x1b" not in session.raw
        assert_restored(session)


def test_the_welcome_opens_the_demo(start: Start) -> None:
    with start("--screen", "tasks") as session:
        answer(session, "d, l, e or q", "d")
        assert "demo" in ready(session)
        leave(session)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_echo_comes_back(start: Start, number: signal.Signals) -> None:
    with start("login", "--base-url", "https://platform.example") as session:
        session.wait_for("it is not shown")
        assert session.termios() != session.termios_before
        assert ended(session, lambda: session.signal(number)) == 130
        assert_restored(session)
