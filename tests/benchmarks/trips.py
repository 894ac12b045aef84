"""How many of our files, functions and calls one poll and one approval pass through.

python -m tests.benchmarks.trips [--functions] [--only poll,new,ask,yes]

Runs the dashboard headless on the embedded platform over real HTTP, does everything once to warm
it up, and counts with `sys.setprofile` what of `agentco_tui/` (without the platform itself, and
without Textual, httpx and the like) runs from the cause to the last repaint. Calls of timers that
fire in the meantime are counted too; of several polls the one with the fewest functions is shown.
Python 3.11 cannot set the profile of a running thread, so the hook is set for every thread before
the dashboard starts one, and counts only while a trip is watched.
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
from tests.platform import EmbeddedPlatform
from tests.screens.harness import NOW, Stage, stage

PACKAGE = Path(__file__).parents[2] / "agentco_tui"
NOT_OURS = str(PACKAGE / "demo")
TRIPS = {
    "poll": ("an unchanged poll of tasks", None, None, None),
    "new": ("a poll that brings one new task", 45, 180, 2_500),
    "ask": ("`a` to the question", None, None, None),
    "yes": ("`y` to the settled outcome", 55, 300, 8_000),
}
"""Name to what is counted, and the files, functions and calls it is to stay within."""


POLLS = 5
"""How often a poll is counted: a timer may fire during any of them."""


class Trip:
    """What ran while it was watched, by function."""

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()

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


class CallCounter:
    """Counts calls in all threads that start after it was installed, for one trip at a time."""

    def __init__(self) -> None:
        self._trip: Trip | None = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """See every call of this thread and of those that are started meanwhile."""
        threading.setprofile(self._count)
        sys.setprofile(self._count)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def counting(self, trip: Trip) -> Iterator[None]:
        """Count what runs until the block ends, for `trip`."""
        self._trip = trip
        try:
            yield
        finally:
            self._trip = None

    def _count(self, frame: FrameType, event: str, _: object) -> None:
        trip = self._trip
        if trip is not None and event == "call":
            trip.calls[frame.f_code] += 1


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
    runs: dict[str, list[Trip]] = {name: [Trip() for _ in range(POLLS)] for name in TRIPS}
    counter = CallCounter()
    with EmbeddedPlatform(speed=0, now=NOW) as platform, counter.installed():
        async with stage(platform, folder, place="tasks", size=(120, 40)) as s:
            await _new_task(s, "Water the plants")
            await s.poll(FeedName.PENDING)
            for unchanged, changed in zip(runs["poll"], runs["new"], strict=True):
                with counter.counting(unchanged):
                    await s.poll(FeedName.PENDING)
                with counter.counting(changed):
                    await _new_task(s, "Feed the cat")
            await _ask(s)
            await _approve(s)
            await s.press("j")
            await s.at_rest()
            with counter.counting(runs["ask"][0]):
                await _ask(s)
            with counter.counting(runs["yes"][0]):
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
        "| trip | files | to reach | functions | to reach | calls | to reach |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
    )
    names = wanted.only.split(",")
    for name in names:
        what, *targets = TRIPS[name]
        ran = trips[name].functions()
        files = {function.partition(":")[0] for function in ran}
        row = [what]
        for count, target in zip((len(files), len(ran), ran.total()), targets, strict=True):
            row.append(f"{count:,}")
            row.append(f"{target:,}" if target else "")
        sys.stdout.write(f"| {' | '.join(row)} |\n")
    if not wanted.functions:
        return
    for name in names:
        sys.stdout.write(f"\n{TRIPS[name][0]}\n")
        for function, calls in sorted(trips[name].functions().items()):
            sys.stdout.write(f"{calls:6,}  {function}\n")


if __name__ == "__main__":
    main()
