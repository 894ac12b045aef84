"""Other processes (Linux): who started whom, what the process list shows, and if one is gone."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from pathlib import Path


def children_of(pid: int) -> list[int]:
    return [
        int(word)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for word in (task / "children").read_text().split()
    ]


def wait_for_state(pid: int, letters: str, timeout: float = 15.0) -> None:
    """Wait until the kernel gives a process one of these states: R, S, T (stopped), Z (ended),
    X (no more).
    """
    end, state = time.monotonic() + timeout, ""
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            state = "X"
        if state in letters:
            return
        time.sleep(0.01)
    raise AssertionError(f"{state}, not {letters}")


def gone(pid: int, within: float = 15.0) -> None:
    """Wait until a process that is not a child of ours has ended; it may be there no more."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ended, _, _ = select.select([handle], [], [], within)
        if not ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert ended, f"process {pid} still runs after {within} s"
    finally:
        os.close(handle)


def command_lines(pid: int) -> bytes:
    """What the process list shows of a process and of all that it started, one a line."""
    shown = b""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        shown = Path(f"/proc/{pid}/cmdline").read_bytes() + b"\n"
        for child in children_of(pid):
            shown += command_lines(child)
    return shown
