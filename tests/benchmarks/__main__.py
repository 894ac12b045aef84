"""`python -m tests.benchmarks`: every figure of what the program costs, as one table.

python -m tests.benchmarks [--only start,idle,cells,large,scripts] [--runs 7] [--largest 100000]
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time

from tests.benchmarks.measurements import cells, idle, large, start
from tests.benchmarks.script_commands import scripts
from tests.benchmarks.stage import Plan

ALL = {"start": start, "idle": idle, "cells": cells, "large": large, "scripts": scripts}


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
