"""The real program records, is killed, and its recording replays to the picture it died with."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

from agentco_tui.api.recording import Recording
from agentco_tui.api.recording_format import RecordingError
from tests.terminal.dashboard import command, dashboard, leave, ready
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import PATIENCE

AGES = re.compile(r" *\b(\d+ [smhd]|\d+h\d\d|\d\d:\d\d:\d\d)\b *")


def picture(screen: str) -> list[str]:
    """What stands between the frame's lines, without what grows by itself."""
    return [AGES.sub(" ", row).rstrip() for row in screen.split("\n")[1:39]]


def recorded(path: Path) -> float:
    """Seconds."""
    try:
        recording = Recording(path)
    except RecordingError:
        return 0.0
    return recording.ends - recording.begins


def test_killed_in_the_middle_it_replays_to_the_last_picture(tmp_path: Path) -> None:
    path = tmp_path / "shift.rec"
    record = ("--read-only", "--refresh", "0.5", "--record", str(path))
    with PlatformProcess() as platform:
        with dashboard(platform, tmp_path, *record) as session:
            ready(session)
            session.wait_raw(b"recording to")  # the notice may be over before the lists are there
            session.wait_for(lambda screen: "recording to" not in screen)
            end = time.monotonic() + PATIENCE
            while recorded(path) < 3.0:
                assert time.monotonic() < end
                time.sleep(0.05)
            last = picture(session.text)
            session.signal(signal.SIGKILL)
            session.wait_gone()
        again = subprocess.run(
            command(*record[:-1], str(path)),
            env={"TERM": "xterm", **{k: v for k, v in settings(platform, tmp_path).items() if v}},
            capture_output=True,
            text=True,
            check=False,
        )
        assert again.returncode == 2
        data = path.read_bytes()
        assert path.stat().st_mode & 0o777 == 0o600
        assert platform.full_key.encode() not in data
        platform.forget_requests()
        with dashboard(platform, tmp_path, "replay", str(path), size=(120, 41)) as session:
            ready(session)
            session.press("P")
            session.wait_for("paused")
            session.press("]")
            session.wait_for("at the end")
            session.wait_for(lambda screen: picture(screen) == last)
            assert "REPLAY" in session.screen[40]
            session.press("a")
            session.wait_for("writing is off (a replay)")
            leave(session)
        assert platform.requests() == []
    assert path.read_bytes() == data
