"""A terminal that takes long to swallow what is written: seen, said, and taken back."""

from __future__ import annotations

import io
import time
from pathlib import Path

from agentco_tui.terminal.line_speed import (
    LONG_WRITE,
    QUICK_CHECKS,
    SLOW_CHECKS,
    LineSpeed,
    TimedFile,
)
from tests.terminal.dashboard import dashboard, ready
from tests.terminal.platform_process import PlatformProcess

STALL = 2.5
"""Seconds that the reader takes nothing: what is tested, not what is waited for."""


class Clock(io.StringIO):
    """Moved by hand, and by a second for each write to it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now

    def write(self, text: str) -> int:
        self.now += 1.0
        return super().write(text)


def test_the_longest_write_is_told_once_and_one_that_hangs_while_it_does() -> None:
    clock = Clock()
    speed = LineSpeed(clock)
    assert speed.longest_write() is None
    file = TimedFile(clock, speed)
    assert file.write("abc") == 3
    file.flush()
    assert file.getvalue() == "abc"
    assert speed.longest_write() == 1.0
    assert speed.longest_write() is None

    def hangs() -> list[float | None]:
        told = []
        for now in (6.0, 8.0):
            clock.now = now
            told.append(speed.longest_write())
        return told

    assert speed.time_write(hangs) == [5.0, 7.0]
    assert speed.longest_write() == 7.0
    assert speed.longest_write() is None


def test_slow_begins_soon_and_ends_late() -> None:
    verdict = LineSpeed()
    for took in (LONG_WRITE * 2, 0.0, LONG_WRITE * 2, None, 0.01):
        assert not verdict.update(took), "one hiccup is no slow line"
    assert [verdict.update(0.5) for _ in range(SLOW_CHECKS)][-1]
    assert LineSpeed().update(1.5), "a hang counts at once"
    assert all(verdict.update(0.001) for _ in range(QUICK_CHECKS - 1))
    assert verdict.update(0.2), "neither slow nor quick begins the count anew"
    assert all(verdict.update(0.001) for _ in range(QUICK_CHECKS - 1))
    assert not verdict.update(0.001)


def test_a_reader_that_stalls_makes_the_dashboard_thin(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path) as session:
        ready(session)
        assert " thin" not in session.screen[0]
        stalled = session.mark()
        session.hold()
        # More than the terminal holds for a reader that is not there.
        for _ in range(20):
            session.press("4", "1")
        time.sleep(STALL)
        session.release()
        session.wait_for(lambda screen: " thin" in screen.split("\n")[0])
        session.wait_raw(b"painting less", mark=stalled)
