"""What the program costs while nothing changes: bytes, processor time, memory, and wakes."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks import stage
from tests.benchmarks.stage import Plan, Row
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession

TASKS = 1_000
ON_TASKS = ["--screen", "tasks"]
SETTLED = 12.0
"""Seconds until what is remembered of what shows was looked through."""
WAKES_WINDOW = 30.0


def idle(plan: Plan) -> Iterator[Row]:
    """Bytes, processor time and memory with 1,000 tasks, polled every 2 s; nothing changes.

    All programs at once, so that one wait does for all: each uses a few per cent of a core.
    """
    refresh = ["--refresh", "2"]
    frozen: dict[str, str | None] = {"FROZEN_AGES": "1"}
    programs: dict[str, tuple[list[str], dict[str, str | None]]] = {
        "frozen": ([*stage.WATCHED, *ON_TASKS, *refresh], frozen),
        "frozen overview": ([*stage.WATCHED, *refresh], frozen),
        "ours": ([*stage.PROGRAM, *ON_TASKS, *refresh], {}),
        "overview": ([*stage.PROGRAM, *refresh], {}),
        "naive": (["-m", "tests.benchmarks.peers.polling"], {}),
    }
    if (htop := shutil.which("htop")) is not None:
        programs["htop"] = (["-c", f"import os; os.execv({htop!r}, ['htop', '-d', '10'])"], {})
    with PlatformProcess("--tasks", str(TASKS)) as at, ExitStack() as stack:
        sessions = {
            name: stack.enter_context(stage.program(argv, at, extra=extra))
            for name, (argv, extra) in programs.items()
        }
        time.sleep(SETTLED)
        before = {name: (one.mark(), one.cpu_seconds()) for name, one in sessions.items()}
        began = time.perf_counter()
        time.sleep(plan.window)
        took = time.perf_counter() - began
        # The mean of all: ages tick now and then, and a median would leave them out.
        sent = {name: (one.mark() - before[name][0]) / took for name, one in sessions.items()}
        share = {
            name: (one.cpu_seconds() - before[name][1]) / took * 100
            for name, one in sessions.items()
        }
        held = {name: stage.memory(one.pid) for name, one in sessions.items()}
    frozen_bytes = max(sent["frozen"], sent["frozen overview"])
    yield Row(
        "polls bring nothing new: bytes besides ages",
        f"{frozen_bytes:.1f} B/s",
        "0 B/s",
        frozen_bytes == 0,
        f"naive dashboard {sent['naive']:,.0f} B/s",
    )
    yield Row(
        "polls bring nothing new: bytes with ages",
        f"{sent['ours']:.1f} B/s; Overview {sent['overview']:.1f}",
        "30 B/s",
        max(sent["ours"], sent["overview"]) <= 30,
        f"htop {sent['htop']:,.0f} B/s" if htop else "htop is not installed",
    )
    for name, what, target in (("ours", "Tasks", 0.6), ("overview", "Overview", 1.0)):
        yield Row(
            f"CPU, {TASKS:,} tasks, 2 s polling, {what}",
            f"{share[name]:.2f} %, {share[name] / share['naive']:.2f}x the naive dashboard",
            f"{target} %",
            share[name] <= target,
            f"naive dashboard {share['naive']:.1f} %"
            + (f", htop {share['htop']:.1f} %" if htop else ""),
        )
    yield Row(
        f"memory (RSS), {TASKS:,} tasks, Tasks",
        f"{held['ours']:.0f} MB; Overview {held['overview']:.0f}",
        "50 MB",
        held["ours"] <= 50,
        f"naive dashboard {held['naive']:.0f} MB",
    )


def wakes(plan: Plan) -> Iterator[Row]:
    """How often the event loop wakes up on Tasks with 5-second polls, when no key is pressed."""
    programs = {
        "ours": [*stage.PROGRAM, *ON_TASKS, "--refresh", "5"],
        "smallest": ["-m", "tests.benchmarks.peers.smallest"],
    }
    with PlatformProcess("--tasks", "200") as at, ExitStack() as stack:
        sessions = {
            name: stack.enter_context(stage.program(argv, at)) for name, argv in programs.items()
        }
        time.sleep(SETTLED)
        before = {name: _waits(session) for name, session in sessions.items()}
        began = time.perf_counter()
        time.sleep(WAKES_WINDOW)
        took = time.perf_counter() - began
        rates = {
            name: (_waits(session) - before[name]) / took for name, session in sessions.items()
        }
    yield Row(
        "wakes of the event loop at rest, 5 s polling",
        f"{rates['ours']:.1f} a second",
        "2 a second",
        rates["ours"] <= 2,
        f"smallest app, which polls nothing, {rates['smallest']:.1f}",
    )


def _waits(session: PtySession) -> int:
    """How often the main thread of a program has waited for something so far."""
    status = Path(f"/proc/{session.pid}/task/{session.pid}/status").read_text()
    found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)
    assert found is not None
    return int(found[1])
