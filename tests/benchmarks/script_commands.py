"""What a run of a command costs in a script, as ratios to the smallest program of its sort.

The programs of a row run in turn, so that a machine that becomes slower changes no ratio. Times are
processor time, user and system: what else the machine does hardly counts. With many tasks the time
by the clock is compared too: in it the platform's own work is a part of both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.benchmarks.stage import PROGRAM, Plan, Row
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import REPOSITORY, clean_environment

BARE = ("-c", "pass")
IMPORT_HTTPX = ("-c", "import httpx")
TRANSFER = ("-m", "tests.benchmarks.peers.transfer")
FEW_TASKS = 200
MANY_TASKS = 20_000
MOST_TASKS = 100_000
PAGE = 1_000
"""Tasks in one page of the platform that sends pages."""
MOST_MEGABYTES = 90
"""What a command with many tasks may take at its peak."""
FEW_RUNS = 3
"""Runs with many tasks, each of which takes long."""


class Cost(NamedTuple):
    """What one run of a program cost."""

    processor: float
    """Seconds, user and system."""
    clock: float
    """Seconds from its start to its end."""
    peak: float
    """Megabytes at its peak; at least those of this process when it started the program."""


def scripts(plan: Plan) -> Iterator[Row]:
    """`--help` and `version`, `status` and `get` with few tasks, and `get` with many."""
    with tempfile.TemporaryDirectory() as folder:
        env = clean_environment()
        for words in ("--help", "version"):
            yield ratio_row(words, BARE, 2.7, env, plan.runs)
        with PlatformProcess("--tasks", str(FEW_TASKS)) as platform:
            env = environment(platform, Path(folder))
            for words, target in (("status", 2.0), ("get tasks --json", 1.65)):
                yield ratio_row(words, IMPORT_HTTPX, target, env, plan.runs)
        with PlatformProcess("--tasks", str(MANY_TASKS)) as platform:
            env = environment(platform, Path(folder))
            yield from rows_with_many_tasks(f"{MANY_TASKS:,} tasks", TRANSFER, env)
        if plan.largest < MOST_TASKS:
            return
        pages = ("--shape", "cursor", "--page-size", str(PAGE))
        with PlatformProcess("--tasks", str(MOST_TASKS), *pages) as platform:
            env = environment(platform, Path(folder))
            peer = (*TRANSFER, "--pages")
            yield from rows_with_many_tasks(f"{MOST_TASKS:,} tasks in pages", peer, env)


def rows_with_many_tasks(tasks: str, peer: Sequence[str], env: Mapping[str, str]) -> Iterator[Row]:
    """`get` with many tasks as JSON and as CSV: by the clock, by processor time, and its memory."""
    for words in ("get tasks --status all --json", "get tasks --status all --csv"):
        ours, peers = run_in_turn([*PROGRAM, *words.split()], peer, env, FEW_RUNS)
        what = f"`{words}`, {tasks}"
        clocks = [cost.clock for cost in ours], [cost.clock for cost in peers]
        yield compared(f"{what}, by the clock", *clocks, peer, 1.3)
        processors = [cost.processor for cost in ours], [cost.processor for cost in peers]
        yield compared(f"{what}, processor time", *processors, peer)
        peak = max(cost.peak for cost in ours)
        yield Row(
            f"{what}, memory",
            f"{peak:.0f} MB",
            f"{MOST_MEGABYTES} MB",
            peak < MOST_MEGABYTES,
            f"`{' '.join(peer)}` {max(cost.peak for cost in peers):.0f} MB",
        )


def environment(platform: PlatformProcess, home: Path) -> dict[str, str]:
    """The environment of a command that is run on a platform."""
    variables = {**clean_environment(), **settings(platform, home)}
    return {name: value for name, value in variables.items() if value is not None}


def ratio_row(
    words: str, peer: Sequence[str], target: float, env: Mapping[str, str], runs: int
) -> Row:
    """Compare the processor time of a command with that of its peer."""
    ours, peers = run_in_turn([*PROGRAM, *words.split()], peer, env, runs)
    processors = [cost.processor for cost in ours], [cost.processor for cost in peers]
    return compared(f"`{words}`, processor time", *processors, peer, target)


def compared(
    what: str,
    ours: Sequence[float],
    peers: Sequence[float],
    peer: Sequence[str],
    target: float | None = None,
) -> Row:
    """The row with the ratio of the medians of two lists of seconds."""
    median_ours = median(ours)
    median_peer = median(peers)
    ratio = median_ours / median_peer
    return Row(
        what,
        f"{ratio:.2f}x ({median_ours * 1000:.0f} ms)",
        "" if target is None else f"{target:.2f}x",
        None if target is None else ratio <= target,
        f"`{' '.join(peer)}` {median_peer * 1000:.0f} ms",
    )


def run_in_turn(
    ours: Sequence[str], peer: Sequence[str], env: Mapping[str, str], runs: int
) -> tuple[list[Cost], list[Cost]]:
    """Run two programs in turn; the first run of each warms the machine's caches, and is left out.

    Returns the costs of each.
    """
    costs_of_ours: list[Cost] = []
    costs_of_peer: list[Cost] = []
    for _ in range(runs + 1):
        costs_of_ours.append(run(ours, env))
        costs_of_peer.append(run(peer, env))
    return costs_of_ours[1:], costs_of_peer[1:]


def run(arguments: Sequence[str], env: Mapping[str, str]) -> Cost:
    """Run Python with these arguments; its output goes nowhere."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(env),
        cwd=REPOSITORY,
    )
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # it has been waited for
    clock = time.perf_counter() - started
    return Cost(usage.ru_utime + usage.ru_stime, clock, usage.ru_maxrss / 1000)
