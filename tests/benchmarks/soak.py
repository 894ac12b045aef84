"""Many polls at speed, with changing data and faults: python -m tests.benchmarks.soak.

python -m tests.benchmarks.soak [--polls 100000]

The live picture (poller, store, client) polls every feed of an embedded platform in a process of
its own, as fast as it answers, while the world changes and a part of the answers is faulty. Prints
memory, tasks, sockets and files after warm-up and at the end; exits 1 if memory grew by 5 % or
more, or if anything else was left behind.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import ApiError
from agentco_tui.api.limits import Limits
from agentco_tui.live.clock import SystemClock
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from tests.benchmarks.stage import memory
from tests.terminal.platform_process import PlatformProcess

FAULTS = (
    "reads:status=503,p=0.02,seed=1",
    "reads:drop_before,p=0.02,seed=2",
    "reads:cut,p=0.02,seed=3",
    "reads:bad_json,p=0.02,seed=4",
    "reads:bad_gzip,p=0.01,seed=5",
    "reads:gzip_bomb2=8,p=0.005,seed=6",
    "reads:close,p=0.01,seed=7",
    "reads:html,p=0.01,seed=8",
    "reads:hostile,p=0.02,seed=9",
    "reads:hang_body,p=0.001,seed=10",
)
LIMITS = Limits(connect=5, read=1, total=2)
WARM_UP = 0.4
"""Share of the polls after which the first figures are taken."""
FAST, CALM = 150, 4
"""How many times faster than life the world moves until warm-up is over, and after that."""
MOST_GROWTH = 0.05


class Figures:
    """What the process holds now."""

    def __init__(self, store: Store) -> None:
        gc.collect()
        self.rss = memory(os.getpid())
        self.tasks = len(asyncio.all_tasks())
        links = [str(entry.readlink()) for entry in _descriptors()]
        self.sockets = sum(link.startswith("socket:") for link in links)
        self.files = len(links)
        self.records = sum(
            len(getattr(store, name))
            for name in ("companies", "agents", "pending", "tasks", "alerts", "activity")
        )

    def __str__(self) -> str:
        return (
            f"{self.rss:.1f} MB, {self.tasks} tasks, {self.sockets} sockets, "
            f"{self.files} descriptors, {self.records} records"
        )


def _descriptors() -> list[Path]:
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            entry.readlink()
            found.append(entry)
    return found


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


async def soak(platform: PlatformProcess, polls: int) -> int:
    """Poll, and compare."""
    store = Store()
    base, key = BaseUrl.parse(platform.base_url), ApiKey(platform.full_key)
    done = failed = changes = 0
    first: Figures | None = None
    started = time.monotonic()

    def count(_change: object) -> None:
        nonlocal changes
        changes += 1

    async with open_client(base, key, attempts=1, limits=LIMITS) as client:
        poller = Poller(client, store, SystemClock(), refresh=3600)
        store.subscribe(count)
        poller.set_paces(dict.fromkeys(FeedName, Pace.REFRESH))
        running = asyncio.create_task(poller.run())
        while done < polls:
            outcomes = await asyncio.gather(
                *(poller.read_again(feed) for feed in FeedName), return_exceptions=True
            )
            done += len(outcomes)
            failed += sum(one.failure is not None for one in store.freshness.values())
            unforeseen = [
                one
                for one in outcomes
                if isinstance(one, BaseException) and not isinstance(one, ApiError)
            ]
            if unforeseen:
                raise unforeseen[0]
            if first is None and done >= polls * WARM_UP:
                # What a world brings in hours has come; from here on it only changes.
                platform.change(speed=CALM)
                first = Figures(store)
                _say(f"after {done:,} polls: {first}")
        last = Figures(store)
        _say(f"after {done:,} polls: {last}")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert first is not None
    end = Figures(store)
    growth = last.rss / first.rss - 1
    _say(f"closed: {end}")
    _say(
        f"{done:,} polls in {time.monotonic() - started:.0f} s, {failed:,} failed, {changes:,} "
        f"changes; memory grew by {growth * 100:.1f} %"
    )
    leaked = end.tasks > 1 or last.sockets > first.sockets + 4 or last.tasks > first.tasks
    return int(growth >= MOST_GROWTH or leaked)


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--polls", type=int, default=100_000)
    wanted = parser.parse_args()
    arguments = [word for spec in FAULTS for word in ("--fault", spec)]
    with PlatformProcess("--agents", "12", "--tasks", "60", *arguments, speed=FAST) as platform:
        return asyncio.run(soak(platform, wanted.polls))


if __name__ == "__main__":
    sys.exit(main())
