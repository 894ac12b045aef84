"""Signals and lost terminals with the real dashboard: gone in time, all restored."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.terminal.calm import gone_after
from tests.terminal.dashboard import assert_restored, dashboard, end_by_signal, ready
from tests.terminal.platform_process import PlatformProcess

SIGNALS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_the_platform_answers(number: signal.Signals, tmp_path: Path) -> None:
    with (
        PlatformProcess() as platform,
        dashboard(platform, tmp_path, "--refresh", "0.5") as session,
    ):
        ready(session)
        end_by_signal(session, number, tmp_path)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("fault", ["*:hang", "*:drip=100ms"])
def test_a_signal_while_the_platform_hangs(
    fault: str, number: signal.Signals, tmp_path: Path
) -> None:
    with (
        PlatformProcess() as platform,
        dashboard(platform, tmp_path, "--refresh", "0.5") as session,
    ):
        ready(session)
        platform.fault(fault)
        session.press("r", "5")
        session.wait_for(lambda _: any(seen["fault"] for seen in platform.requests()))
        end_by_signal(session, number, tmp_path)


@pytest.mark.parametrize("key", ["5", "c", "l", "t"])
def test_a_signal_while_a_screen_or_a_dialog_is_being_made(key: str, tmp_path: Path) -> None:
    with PlatformProcess() as platform, dashboard(platform, tmp_path) as session:
        ready(session)
        session.press(key)
        end_by_signal(session, signal.SIGTERM, tmp_path)


@pytest.mark.parametrize("hangs", [False, True])
def test_the_terminal_closed(hangs: bool, tmp_path: Path) -> None:
    with PlatformProcess() as platform, dashboard(platform, tmp_path) as session:
        ready(session)
        if hangs:
            platform.fault("*:hang")
            session.press("r")
            session.wait_for(lambda _: any(seen["fault"] for seen in platform.requests()))
        assert gone_after(session, session.hang_up) == 128 + signal.SIGHUP
    assert not list((tmp_path / "state").rglob("crash*"))


def test_a_signal_with_a_question_on_the_screen(tmp_path: Path) -> None:
    with (
        PlatformProcess() as platform,
        dashboard(platform, tmp_path, "--screen", "tasks") as session,
    ):
        session.wait_for("Refund 214")
        session.press("a")
        session.wait_for("APPROVE 1 task")
        assert gone_after(session, lambda: session.signal(signal.SIGTERM)) == 143
        assert_restored(session)
        assert session.after_screen() == ""
        assert platform.world()["applied"] == {}


def test_a_signal_before_the_platform_has_answered(tmp_path: Path) -> None:
    with (
        PlatformProcess("--fault", "*:hang") as platform,
        dashboard(platform, tmp_path) as session,
    ):
        session.wait_for("connecting")
        assert gone_after(session, lambda: session.signal(signal.SIGTERM)) == 143
        assert_restored(session)
        assert session.after_screen() == ""
