"""Many polls at speed, with changing data and faults: python -m tests.benchmarks.soak.

python -m tests.benchmarks.soak [--polls 100000]

The live picture (poller, store, client) polls every feed of an embedded platform in a process of
its own, as fast as it answers, while the world changes and a part of the answers is faulty. Every
4,000 polls the platform is killed and begins anew: connections break, and every record is replaced.

Memory is compared between the ends of such eras. The world goes on by a fixed time at each round
of polls and grows without end, as a real one does; only at the same age does it hold the same.

Prints memory, tasks, sockets, descriptors and threads at the end of every era. Exits 1 if the last
fifth of the eras holds 5 % more memory than the second fifth (the first is warm-up), or if more
tasks, sockets or descriptors were left behind.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import threading
import time
from collections.abc import Sized
from contextlib import suppress
from pathlib import Path
from statistics import fmean

from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import ApiError
from agentco_tui.api.limits import Limits
from agentco_tui.live.feeds import Clock, FeedName, Pace
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from tests.benchmarks.stage import memory
from tests.terminal.platform_process import PlatformProcess

FAULTS = (
    "reads:status=503,p=0.02,seed=1",
    "reads:drop_before,p=0.02,seed=2",
    "reads:cut,p=0.02,seed=3",
    "reads:bad_json,p=0.02,seed=4",
    "reads:odd_rows,p=0.01,seed=5",
    "reads:gzip_bomb=8,p=0.005,seed=6",
    "reads:status=200,body=empty,p=0.01,seed=7",
    "reads:status=200,body=html,p=0.01,seed=8",
    "reads:hostile,p=0.02,seed=9",
    "reads:hang_body,p=0.001,seed=10",
)
WORLD = ("--agents", "12", "--tasks", "400")
"""Its list of tasks grows past the size from which bodies are read in threads and in slices."""
LIMITS = Limits(connect=5, read=1, total=2)
ERA = 4_000
"""Polls."""
STEP = 10.0
"""Seconds that the world goes on between two rounds of polls."""
SPARE = 4
"""Connections and the like that may be open at one moment and not at another."""
MOST_GROWTH = 0.05


class Figures:
    """What the process holds now."""

    def __init__(self, store: Store) -> None:
        gc.collect()
        self.rss = memory(os.getpid())
        self.tasks = len(asyncio.all_tasks())
        links = []
        for entry in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                links.append(str(entry.readlink()))
        self.sockets = sum(link.startswith("socket:") for link in links)
        self.files = len(links)
        self.threads = threading.active_count()
        lists: tuple[Sized, ...] = (store.companies, store.agents, store.pending, store.tasks)
        self.records = sum(map(len, (*lists, store.alerts, store.activity)))

    def __str__(self) -> str:
        return (
            f"{self.rss:.1f} MB, {self.tasks} tasks, {self.sockets} sockets, "
            f"{self.files} descriptors, {self.threads} threads, {self.records:,} records"
        )

    def left_behind(self, before: Figures, spare: int = 0) -> bool:
        """Whether there is more of anything than before, memory apart."""
        return self.tasks > before.tasks or self.files > before.files + spare


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


class Soak:
    """One run."""

    def __init__(self, platform: PlatformProcess) -> None:
        self.platform = platform
        self.done = self.failed = 0
        self.eras: list[Figures] = []

    async def run(self, polls: int) -> int:
        """Poll, and compare; returns the exit code."""
        before, started = Figures(Store()), time.monotonic()
        _say(f"before the first poll: {before}")
        await self._poll(polls)
        closed = Figures(Store())
        _say(f"closed: {closed}")
        fifth = max(1, len(self.eras) // 5)
        settled, last = self.eras[fifth : 2 * fifth] or self.eras, self.eras[-fifth:]
        early, late = (fmean(era.rss for era in eras) for eras in (settled, last))
        growth = late / early - 1
        _say(
            f"{self.done:,} polls in {time.monotonic() - started:.0f} s, {self.failed:,} failed; "
            f"memory went from {early:.1f} to {late:.1f} MB: "
            f"{growth * 100:+.1f} %"
        )
        leaked = closed.left_behind(before) or last[-1].left_behind(settled[0], SPARE)
        return int(growth >= MOST_GROWTH or leaked)

    async def _poll(self, polls: int) -> None:
        platform, store = self.platform, Store()
        base, key = BaseUrl.parse(platform.base_url), ApiKey(platform.full_key)
        async with open_client(base, key, attempts=1, limits=LIMITS) as client:
            poller = Poller(client, store, Clock(), refresh=3600)
            poller.set_paces(dict.fromkeys(FeedName, Pace.REFRESH))
            running = asyncio.create_task(poller.run())
            while self.done < polls:
                await self._round(poller)
                if self.done >= ERA * (len(self.eras) + 1):
                    self.eras.append(Figures(store))
                    _say(f"after {self.done:,} polls: {self.eras[-1]}")
                    platform.kill()
                    platform.start()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def _round(self, poller: Poller) -> None:
        """Ask every feed once, and let the world go on."""
        outcomes = await asyncio.gather(
            *(poller.read_again(feed) for feed in FeedName), return_exceptions=True
        )
        self.done += len(outcomes)
        self.failed += sum(one.failure is not None for one in poller.store.freshness.values())
        for one in outcomes:
            if isinstance(one, BaseException) and not isinstance(one, ApiError):
                raise one
        self.platform.change(advance=STEP)


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--polls", type=int, default=100_000)
    wanted = parser.parse_args()
    if wanted.polls < 3 * ERA:
        parser.error(f"fewer than {3 * ERA:,} polls show nothing")
    arguments = [word for spec in FAULTS for word in ("--fault", spec)]
    with PlatformProcess(*WORLD, *arguments) as platform:
        return asyncio.run(Soak(platform).run(wanted.polls))


if __name__ == "__main__":
    sys.exit(main())
