"""Ends of life by signal or by the loss of the terminal: gone in time, all restored."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.terminal.calm import (
    RUNS,
    assert_restored,
    assert_restored_late,
    block,
    calm,
    gone_after,
    ready,
)
from tests.terminal.dashboard import dashboard, is_whole, leave, show, shows
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import NotSeenError, PtySession

SIGNALS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT]


@pytest.fixture(params=RUNS)
def run(request: pytest.FixtureRequest) -> int:
    """Once for each run asked for by AGENTCO_SIGNAL_RUNS."""
    return int(request.param)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_it_and_all_is_restored(
    number: signal.Signals, run: int, tmp_path: Path
) -> None:
    with calm(tmp_path) as session:
        ready(session)

        def twice() -> None:
            """A second signal changes nothing."""
            session.signal(number)
            session.signal(number)

        assert gone_after(session, twice) == 128 + number
        assert_restored(session)
        assert session.after_screen() == ""
    assert (tmp_path / "ended").read_text() == "once\n"
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("what", "number"), [("freeze", signal.SIGTERM), ("thread", signal.SIGHUP)]
)
def test_what_cannot_be_stopped_does_not_hold_it(
    what: str, number: signal.Signals, run: int, tmp_path: Path
) -> None:
    with calm(tmp_path, what) as session:
        ready(session)
        if what == "freeze":
            session.press("f")
            session.wait_for("pressed: f")
        assert gone_after(session, lambda: session.signal(number)) == 128 + number
        assert_restored(session)
    assert (tmp_path / "ended").read_text() == "once\n"


@pytest.mark.parametrize(
    ("ignored", "frozen"), [([], False), ([signal.SIGHUP], False), ([signal.SIGHUP], True)]
)
def test_the_terminal_closed(
    ignored: list[signal.Signals], frozen: bool, run: int, tmp_path: Path
) -> None:
    with calm(tmp_path, ignored=ignored) as session:
        ready(session)
        if frozen:
            session.press("f")
            session.wait_for("pressed: f")
        assert gone_after(session, session.hang_up) == 128 + signal.SIGHUP
    if not frozen:
        assert (tmp_path / "ended").read_text() == "once\n"
        assert not (tmp_path / "state").exists(), "a lost terminal is no error in the program"


def test_output_blocked_then_a_signal(run: int, tmp_path: Path) -> None:
    number = signal.SIGHUP
    with calm(tmp_path, "flood", size=(160, 50)) as session:
        session.wait_for("00000")
        block(session)
        assert gone_after(session, lambda: session.signal(number)) == 128 + number
        assert_restored_late(session)
    assert (tmp_path / "ended").read_text() == "once\n"


def test_output_stopped_in_the_kernel_then_a_signal(run: int, tmp_path: Path) -> None:
    with calm(tmp_path, "flood", size=(160, 50)) as session:
        session.wait_for("00000")
        session.stop_output()
        session.wait_quiet(0.3)
        assert gone_after(session, lambda: session.signal(signal.SIGTERM)) == 143
        assert_restored_late(session)


def test_output_blocked_then_the_terminal_closed(run: int, tmp_path: Path) -> None:
    with calm(tmp_path, "flood", size=(160, 50), ignored=[signal.SIGHUP]) as session:
        session.wait_for("00000")
        block(session)
        assert gone_after(session, session.hang_up) == 128 + signal.SIGHUP


@pytest.mark.parametrize("moment", [0.0, 0.2, 0.35, 0.5])
def test_a_signal_at_any_moment_of_the_start(moment: float, tmp_path: Path) -> None:
    """Before Python runs our code the default applies; from then on the terminal is restored."""
    with calm(tmp_path) as session:
        try:
            code = session.wait_gone(moment)
        except NotSeenError:
            code = gone_after(session, lambda: session.signal(signal.SIGTERM))
        assert code == 143
        assert_restored(session)
        assert session.after_screen() == ""
    assert not (tmp_path / "state").exists()


def test_ignored_signals_stay_ignored_and_at_rest_the_watch_costs_nothing(tmp_path: Path) -> None:
    with calm(tmp_path, ignored=[signal.SIGHUP, signal.SIGINT]) as session:
        ready(session)
        session.signal(signal.SIGHUP)
        session.signal(signal.SIGINT)
        session.press("k")
        session.wait_for("pressed: k")
        mark = session.wait_quiet(0.3)
        before = session.cpu_seconds()
        session.wait_quiet(1.0)
        assert session.cpu_seconds() - before <= 0.05
        assert session.since(mark) == b""
        session.press("q")
        assert session.wait_gone() == 0


# ---- the real dashboard, each end at another moment


def be_at(moment: str, session: PtySession, platform: PlatformProcess) -> None:
    """Bring the dashboard to a moment: not yet connected, a fault in force, or a question open."""
    if moment == "connecting":
        session.wait_for("connecting")
        return
    shows(session, is_whole)
    if moment.startswith("*:"):
        platform.fault(moment)
        session.press("r", "5")
        session.wait_for(lambda _: any(seen["fault"] for seen in platform.requests()))
    else:
        show(session, 4)
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
