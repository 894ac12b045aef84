"""Who decided the tasks that left the queue: read from their records, once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agentco_tui.history.departures import GATHER
from agentco_tui.history.history import History
from agentco_tui.history.history_keeper import HistoryKeeper
from agentco_tui.history.observations import TaskLife
from agentco_tui.live.queue_tracker import QueueTracker
from tests.live.poller_harness import Stage, stage
from tests.platform import EmbeddedPlatform, decide_elsewhere

LOOKS = 100
STEP = GATHER + 40  # seconds: longer than a poll's interval


async def lives(history: History) -> dict[str, TaskLife]:
    found = await history.ask(lambda reader: reader.lives(0), up_to_now=True)
    return {life.id: life for life in found}


def reads_of_all_tasks(platform: EmbeddedPlatform) -> int:
    return sum(
        seen.operation == "tasks" and "status" not in seen.query for seen in platform.requests
    )


@asynccontextmanager
async def remembering(history: History, on: Stage) -> AsyncIterator[None]:
    """What the stage's poller reads is remembered."""
    tracker = QueueTracker(on.store, lambda: on.poller.query.company)
    keeper = HistoryKeeper(history, on.poller, tracker)
    await keeper.start()
    work = asyncio.ensure_future(keeper.run())
    try:
        yield
    finally:
        work.cancel()


async def wait_for_departures(on: Stage, history: History, ids: list[str]) -> dict[str, TaskLife]:
    """Let time pass until it is remembered that these left the queue, and who decided."""
    for _ in range(LOOKS):
        await on.go_by(STEP)
        known = await lives(history)
        if all(known[task].departed and known[task].decided_by for task in ids):
            return known
    raise AssertionError("it was never learnt who decided")


async def test_one_read_tells_of_all_departures(platform: EmbeddedPlatform, tmp_path: Path) -> None:
    platform.faults.add("activity:status=404")
    history = History(tmp_path / "history.sqlite3", "prod", platform.base_url)
    async with stage(platform) as on, remembering(history, on):
        on.show("tasks")
        await on.settled()
        platform.requests.clear()
        ids = [*on.store.pending.records][:3]
        for _ in range(3):
            await on.go_by(STEP)
        assert reads_of_all_tasks(platform) == 0, "where nothing left, nothing is asked"
        for task in ids[:2]:
            decide_elsewhere(platform.world, task, "approve", "Bob")
        decide_elsewhere(platform.world, ids[2], "reject", "Bob")
        known = await wait_for_departures(on, history, ids)
        assert [known[task].decided_by for task in ids] == ["Bob"] * 3
        assert [str(known[task].state) for task in ids] == ["approved", "approved", "rejected"]
        before = reads_of_all_tasks(platform)
        assert before == 1
        for _ in range(20):
            await on.go_by(STEP)
        assert reads_of_all_tasks(platform) == before, "nobody asks again"
    history.close()


async def test_where_the_log_tells_nothing_more_is_asked(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    history = History(tmp_path / "history.sqlite3", "prod", platform.base_url)
    async with stage(platform) as on, remembering(history, on):
        on.show("overview")
        await on.settled()
        platform.requests.clear()
        [task, *_] = on.store.pending.records
        decide_elsewhere(platform.world, task, "approve", "Bob")
        known = await wait_for_departures(on, history, [task])
        assert known[task].decided_by == "Bob"
        for _ in range(10):
            await on.go_by(STEP)
        assert reads_of_all_tasks(platform) == 0
    history.close()
