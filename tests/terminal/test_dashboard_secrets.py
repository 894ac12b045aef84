"""The key is in nothing the program writes or shows to others, whatever happens."""

from __future__ import annotations

from pathlib import Path

from tests.terminal.dashboard import back, dashboard, leave, ready, say_yes, show
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.processes import command_lines
from tests.terminal.pty_session import PtySession


def files_below(folder: Path) -> bytes:
    """The names and contents of all files the program may have written."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    assert found, "the program remembers something, or there is nothing to search"
    return b"\n".join(str(path).encode() + b"\n" + path.read_bytes() for path in found)


def test_the_key_is_nowhere(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with PlatformProcess() as platform:
        key = platform.full_key.encode()
        arguments = ("--log-file", str(log), "--refresh", "0.5")
        with dashboard(platform, tmp_path, *arguments) as session:
            ready(session)
            show(session, 4)
            session.press("a")
            session.wait_for("APPROVE 1 task")
            say_yes(session, "APPROVE 1 task")
            session.wait_for(lambda _: bool(platform.world()["applied"]))
            shown = command_lines(session.pid)
            assert str(log).encode() in shown, "the process list was searched"
            assert key not in shown
            # Faults that tempt a program to quote what it sent.
            tempting = ("redirect=http://127.0.0.1:9/", "status=500", "status=200,body=html")
            for fault in (f"*:{kind}" for kind in tempting):
                platform.fault(fault)
                session.press("r")
                wait_struck(session, platform, fault)
                platform.clear_faults()
            platform.change(revoke="full")
            session.press("r")
            session.wait_for("key is missing or invalid")
            platform.change(restore="full")
            session.press("?")
            session.wait_for("Keys on")
            back(session, "Keys on")
            leave(session)
            assert key not in session.raw
        assert key not in files_below(tmp_path)
        assert (tmp_path / "state" / "agentco-tui" / "journal.jsonl").stat().st_mode & 0o077 == 0
        assert log.stat().st_mode & 0o077 == 0


def wait_struck(session: PtySession, platform: PlatformProcess, fault: str) -> None:
    """Wait until a fault of this kind has struck."""
    kind = fault.partition(":")[2].partition("=")[0]
    session.wait_for(lambda _: any(seen["fault"] == kind for seen in platform.requests()))


def test_the_key_of_the_demo_is_nowhere_either(tmp_path: Path) -> None:
    with PlatformProcess("--seed", "7") as platform:
        key = platform.full_key.encode()
        with dashboard(platform, tmp_path, "demo", "--seed", "7", "--speed", "0") as session:
            ready(session)
            shown = command_lines(session.pid)
            assert b"--until-stdin-closes" in shown, "the platform's own line is among them"
            assert key not in shown
            leave(session)
            assert key not in session.raw
