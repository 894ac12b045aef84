"""Signals and lost terminals with the real dashboard: gone in time, all restored.

Every way to end meets another moment; with an approval on its way they are in tests/safety.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.terminal.calm import gone_after
from tests.terminal.dashboard import assert_restored, dashboard, leave, ready
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession


def be_at(moment: str, session: PtySession, platform: PlatformProcess) -> None:
    """Bring the dashboard to a moment: not yet connected, a fault in force, or a question open."""
    if moment == "connecting":
        session.wait_for("connecting")
        return
    ready(session)
    if moment.startswith("*:"):
        platform.fault(moment)
        session.press("r", "5")
        session.wait_for(lambda _: any(seen["fault"] for seen in platform.requests()))
    else:
        session.press("a")
        session.wait_for("APPROVE 1 task")


@pytest.mark.parametrize(
    ("end", "moment"),
    [
        ("q", "*:hang"),
        ("SIGHUP", "*:drip=100ms"),
        ("SIGTERM", "question"),
        ("SIGINT", "connecting"),
        ("hang-up", "*:hang"),
    ],
)
def test_it_ends_at_any_moment(
    end: str, moment: str, platform: PlatformProcess, tmp_path: Path
) -> None:
    if moment == "connecting":
        platform.fault("*:hang")
    with dashboard(platform, tmp_path, "--refresh", "0.5") as session:
        be_at(moment, session, platform)
        if end == "q":
            leave(session)
        elif end == "hang-up":
            assert gone_after(session, session.hang_up) == 128 + signal.SIGHUP
        else:
            number = signal.Signals[end]
            assert gone_after(session, lambda: session.signal(number)) == 128 + number
            assert_restored(session)
            assert session.after_screen() == ""
    assert platform.world()["applied"] == {}
    assert not list((tmp_path / "state").rglob("crash*"))
