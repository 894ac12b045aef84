"""`python -m tests.benchmarks`: every figure of what the program costs, as one table.

python -m tests.benchmarks [--only NAME,NAME] [--runs 7] [--window 45] [--largest 100000]

Each NAME is one of `ALL`; docs/benchmarks.md says what each measures.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time

from tests.benchmarks.measurements import cells, large, start
from tests.benchmarks.rest import idle, wakes
from tests.benchmarks.script_commands import scripts
from tests.benchmarks.sizes import first, held, keys, scroll
from tests.benchmarks.ssh import ssh
from tests.benchmarks.stage import Plan

ALL = {
    "start": start,
    "idle": idle,
    "wakes": wakes,
    "cells": cells,
    "keys": keys,
    "held": held,
    "first": first,
    "scroll": scroll,
    "ssh": ssh,
    "large": large,
    "scripts": scripts,
}


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--only", default=",".join(ALL), help=f"any of {', '.join(ALL)}")
    parser.add_argument("--runs", type=int, default=7, help="runs each median is taken of")
    parser.add_argument("--window", type=float, default=45.0, help="seconds that are idle")
    parser.add_argument("--largest", type=int, default=100_000, help="tasks at most")
    wanted = parser.parse_args()
    began = time.monotonic()
    plan = Plan(wanted.runs, wanted.largest, wanted.window)
    _say(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores,"
        f" Python {platform.python_version()}, load {os.getloadavg()[0]:.1f},"
        f" terminal 120x40, medians of {plan.runs} runs, {time.strftime('%Y-%m-%d %H:%M')}\n"
    )
    _say("| what | measured | to reach | reached | peers |\n| --- | --- | --- | --- | --- |")
    for name in wanted.only.split(","):
        for row in ALL[name](plan):
            reached = {True: "yes", False: "NO", None: ""}[row.reached]
            _say(f"| {row.what} | {row.measured} | {row.target} | {reached} | {row.peers} |")
    _say(f"\nmeasured in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
