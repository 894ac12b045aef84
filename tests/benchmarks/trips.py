"""How many of our files, functions and calls one poll and one approval pass through.

python -m tests.benchmarks.trips [--functions] [--only poll,new,ask,yes]

Runs the dashboard headless on the embedded platform over real HTTP, does everything once to warm
it up, and counts with `sys.setprofile` what of `agentco_tui/` (without the platform itself, and
without Textual, httpx and the like) runs from the cause to the last repaint. What timers start in
the meantime is counted too: of three polls the one with the fewest functions stands.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

from agentco_tui.live.feeds import FeedName
from tests.embedded import EmbeddedPlatform
from tests.screens.harness import NOW, Stage, stage

PACKAGE = Path(__file__).parents[2] / "agentco_tui"
NOT_OURS = str(PACKAGE / "demo")
TRIPS = {
    "poll": ("an unchanged poll of tasks", None, None),
    "new": ("a poll that brings one new task", 30, 140),
    "ask": ("`a` to the question", None, None),
    "yes": ("`y` to the settled outcome", 45, 220),
}
"""Name to what is counted, and the files and functions it is to stay within."""


class Trip:
    """What ran while it was watched."""

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count calls in this thread and in all that are started meanwhile."""
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.calls[frame.f_code] += 1

    def functions(self) -> Counter[str]:
        """Calls by `file:line name` of our own functions; comprehensions belong to theirs."""
        found: Counter[str] = Counter()
        for code, calls in self.calls.items():
            name = code.co_filename
            if not name.startswith(str(PACKAGE)) or name.startswith(NOT_OURS):
                continue
            if code.co_name.startswith("<") and code.co_name != "<lambda>":
                continue
            place = Path(name).relative_to(PACKAGE)
            found[f"{place}:{code.co_firstlineno} {code.co_qualname}"] += calls
        return found


async def _new_task(s: Stage, title: str) -> None:
    world = s.platform.world
    agent = world.agents()[0]
    made = world.create_task(agent.company.id, title, agent.id, "low")
    await s.poll(FeedName.PENDING)
    # Rows that come while a hand is on the list wait, so polls are counted before any key.
    assert made.id in s.rows


async def _ask(s: Stage) -> None:
    await s.anew()
    await s.press("a")
    await s.sees("APPROVE")
    await s.armed()


async def _approve(s: Stage) -> None:
    task = s.cursor
    assert task is not None
    await s.yes()
    await s.wait_until(lambda: s.outcome_of(task) is not None, "the outcome")
    await s.at_rest()


async def measure(folder: Path) -> dict[str, Trip]:
    """Count all four trips, one after the other on one dashboard."""
    runs: dict[str, list[Trip]] = {name: [Trip() for _ in range(3)] for name in TRIPS}
    with EmbeddedPlatform(speed=0, now=NOW) as platform:
        async with stage(platform, folder, place="tasks", size=(120, 40)) as s:
            await _new_task(s, "Water the plants")
            await s.poll(FeedName.PENDING)
            for unchanged, changed in zip(runs["poll"], runs["new"], strict=True):
                with unchanged.watched():
                    await s.poll(FeedName.PENDING)
                with changed.watched():
                    await _new_task(s, "Feed the cat")
            await _ask(s)
            await _approve(s)
            await s.press("j")
            await s.at_rest()
            with runs["ask"][0].watched():
                await _ask(s)
            with runs["yes"][0].watched():
                await _approve(s)
    counted = {name: [trip for trip in each if trip.calls] for name, each in runs.items()}
    return {
        name: min(each, key=lambda trip: len(trip.functions())) for name, each in counted.items()
    }


def main() -> None:
    """Count, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trips")
    parser.add_argument("--functions", action="store_true", help="list them too")
    parser.add_argument("--only", default=",".join(TRIPS), help=f"any of {', '.join(TRIPS)}")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("CONFIG", "STATE", "DATA", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = folder
        trips = asyncio.run(measure(Path(folder)))
    sys.stdout.write(
        "| trip | files | to reach | functions | to reach | calls |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
    )
    for name in wanted.only.split(","):
        what, most_files, most_functions = TRIPS[name]
        ran = trips[name].functions()
        files = {function.partition(":")[0] for function in ran}
        sys.stdout.write(
            f"| {what} | {len(files)} | {most_files or ''} | {len(ran)} |"
            f" {most_functions or ''} | {ran.total():,} |\n"
        )
    for name in wanted.only.split(",") if wanted.functions else ():
        sys.stdout.write(f"\n{TRIPS[name][0]}\n")
        for function, calls in sorted(trips[name].functions().items()):
            sys.stdout.write(f"{calls:6,}  {function}\n")


if __name__ == "__main__":
    main()
