"""The calm app in a pseudo-terminal, and how long it may take to be gone."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.terminal.apps.calm import CANARY
from tests.terminal.pty_session import NotSeenError, PtySession

_ASKED = os.environ.get("AGENTCO_SIGNAL_RUNS")

RUNS = range(int(_ASKED or "1"))
"""How often each end of life is tried: one in the normal run, more (twenty) to measure."""

SOON = 1.0 if _ASKED else math.inf
"""Seconds: one is promised, and is measured when asked; in the normal run it is enough that it
ends at all, since what hangs here never does."""

SHOWN = "calm ●"
"""On the screen when the app has drawn; not in the command that starts it."""


def calm(folder: Path, *what: str, **options: Any) -> PtySession:
    return PtySession(
        [sys.executable, "-m", "tests.terminal.apps.calm", str(folder), *what], **options
    )


def ready(session: PtySession) -> None:
    session.wait_for(SHOWN)
    session.press("j")
    session.wait_for("pressed: j")


def ends(folder: Path, *what: str, keys: str, code: int, **options: Any) -> PtySession:
    """Run the app, press keys, and wait for its end with this code; the terminal is restored."""
    with calm(folder, *what, **options) as session:
        if "mount" not in what:
            ready(session)
        session.press(*keys)
        assert session.wait_gone() == code
        assert_restored(session)
    assert (folder / "ended").read_text() == "once\n"
    return session


def block(session: PtySession, keys: str = "") -> None:
    """Stop reading, and wait until the program hangs in its writes: it uses no processor then."""
    session.hold()
    before, since = session.cpu_seconds(), time.monotonic()
    while keys or time.monotonic() - since < 0.5:
        session.press(*keys[:1])
        keys = keys[1:]
        if (now := session.cpu_seconds()) != before:
            before, since = now, time.monotonic()
        with contextlib.suppress(NotSeenError):
            session.wait_gone(0.02)


def assert_restored_late(session: PtySession) -> None:
    """The same, once what was on its way to the terminal at the end has come there."""
    session.release()
    session.wait_raw(b"\x1b[?1049l")
    session.wait_quiet(0.05)
    assert_restored(session)


def gone_after(session: PtySession, cause: Callable[[], object]) -> int:
    """Do `cause`, wait for the end, and check that it came in time; gives the exit code.

    The time is printed (`pytest -s -rP`) for those who measure.
    """
    start = time.monotonic()
    cause()
    code = session.wait_gone()
    took = time.monotonic() - start
    sys.stdout.write(f"gone after {took:.3f} s\n")
    assert took < SOON
    return code


def assert_restored(session: PtySession) -> None:
    """The terminal is as it was found: every mode off again, the settings the same."""
    assert session.left_on() == set()
    assert session.termios() == session.termios_before


def assert_no_key(session: PtySession, folder: Path) -> None:
    assert CANARY.encode() not in session.raw
    for path in folder.rglob("*"):
        if path.is_file():
            assert CANARY not in path.read_text()
