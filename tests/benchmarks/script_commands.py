"""What a run of a command costs in a script, as ratios to the smallest program of its sort.

The programs of a row run in turn, so that a machine that becomes slower changes no ratio. Times are
processor time, user and system: what else the machine does hardly counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from tests.benchmarks.stage import PROGRAM, Plan, Row
from tests.terminal.platform_process import PlatformProcess, settings
from tests.terminal.pty_session import REPOSITORY, clean_environment

BARE = ("-c", "pass")
IMPORT_HTTPX = ("-c", "import httpx")
TRANSFER = ("-m", "tests.benchmarks.peers.transfer")
FEW_TASKS = 200
MANY_TASKS = 20_000
FEW_RUNS = 3
"""Runs with many tasks, each of which takes long."""


def scripts(plan: Plan) -> Iterator[Row]:
    """`--help` and `version`, `status` and `get` with few tasks, and `get` with many."""
    with tempfile.TemporaryDirectory() as folder:
        env = clean_environment()
        for words in ("--help", "version"):
            yield ratio_row(words, words.split(), BARE, 2.7, env, plan.runs)
        with PlatformProcess("--tasks", str(FEW_TASKS)) as platform:
            env = environment(platform, Path(folder))
            for words, target in (("status", 2.0), ("get tasks --json", 1.65)):
                yield ratio_row(words, words.split(), IMPORT_HTTPX, target, env, plan.runs)
        with PlatformProcess("--tasks", str(MANY_TASKS)) as platform:
            env = environment(platform, Path(folder))
            for words in ("get tasks --status all --json", "get tasks --status all --csv"):
                yield ratio_row(words, words.split(), TRANSFER, 1.3, env, FEW_RUNS)


def environment(platform: PlatformProcess, home: Path) -> dict[str, str]:
    """The environment of a command that is run on a platform."""
    variables = {**clean_environment(), **settings(platform, home)}
    return {name: value for name, value in variables.items() if value is not None}


def ratio_row(
    what: str,
    words: Sequence[str],
    peer: Sequence[str],
    target: float,
    env: Mapping[str, str],
    runs: int,
) -> Row:
    """Run a command and its peer in turn, and compare their medians."""
    ours: list[float] = []
    peers: list[float] = []
    peak = 0.0
    for _ in range(runs + 1):  # the first of each warms the machine's caches
        seconds, megabytes = run([*PROGRAM, *words], env)
        ours.append(seconds)
        peak = max(peak, megabytes)
        peers.append(run(peer, env)[0])
    median_ours = median(ours[1:])
    median_peer = median(peers[1:])
    ratio = median_ours / median_peer
    return Row(
        f"`{what}`, processor time",
        f"{ratio:.2f}x ({median_ours * 1000:.0f} ms), peak {peak:.0f} MB",
        f"{target:.2f}x",
        ratio <= target,
        f"`{' '.join(peer)}` {median_peer * 1000:.0f} ms",
    )


def run(arguments: Sequence[str], env: Mapping[str, str]) -> tuple[float, float]:
    """Run Python with these arguments; returns its processor time in seconds and its peak in MB."""
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
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000
