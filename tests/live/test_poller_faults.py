"""Every feed under every fault: it survives, keeps what it had, recovers; the others go on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from agentco_tui.api.limits import Limits
from agentco_tui.demo.faults import ArmedFault
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.poll_timing import BACK_OFF_CEILING
from agentco_tui.live.store import Store
from agentco_tui.model import Activity, Budget
from tests.live.poller_harness import EVERYTHING, OPERATIONS, Stage, stage
from tests.platform import EmbeddedPlatform

LIMITS = Limits(body=2 * 1024 * 1024)

FAULTS = (
    "status=500", "status=502,body=html", "status=429", "status=403", "status=401",
    "status=404", "status=418,body=empty",
    "hang", "hang_body", "drip=20ms", "drop_before", "drop_after", "cut", "endless",
    "gzip_bomb=8", "bad_json", "hostile", "clock",
    "status=200,body=html", "status=200,body=empty", "status=204", "status=200,body=null",
    "redirect", "redirect=http://127.0.0.1:{trap}/",
)  # fmt: skip

SLOW = {"hang", "hang_body", "drip"}
"""Faults that end only with the client's patience."""
READABLE = {"hostile", "clock"}
"""Answers that are odd but can be read: the feed stays live with what could be made of them."""
EMPTY = {"status=204", "status=200,body=null"}
"""Answers that say that there is nothing."""


def is_readable(kind: str) -> bool:
    return kind in READABLE or kind in EMPTY


def figures(shown: list[Any]) -> list[Any]:
    """What a feed still tells where nothing came: only a log keeps its past."""
    return [
        record
        for record in shown
        if not isinstance(record, Activity)
        and not (isinstance(record, Budget) and record.limit is record.spent is None)
    ]


@pytest.fixture(scope="module")
def platform() -> Iterator[EmbeddedPlatform]:
    with EmbeddedPlatform(seed=7, companies=2, agents=12, tasks=8, speed=0.0) as platform:
        yield platform


@pytest.fixture(scope="module")
def trap() -> Iterator[socket.socket]:
    """Another origin, to which nothing must go."""
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.setblocking(False)
        yield trap


def picture(store: Store, feed: FeedName) -> list[Any]:
    held: dict[FeedName, Any] = {
        FeedName.COMPANIES: store.companies,
        FeedName.AGENTS: store.agents,
        FeedName.PENDING: store.pending,
        FeedName.TASKS: store.tasks,
        FeedName.BUDGET: store.budget,
        FeedName.COMPANY_BUDGETS: store.company_budgets,
        FeedName.AGENT_BUDGETS: store.agent_budgets,
        FeedName.ALERTS: store.alerts,
        FeedName.ACTIVITY: store.activity,
    }
    return list(held[feed])


async def asked_again(on: Stage, slow: ArmedFault | None = None, struck: int = 0) -> None:
    """Have all feeds asked, and wait until each has an outcome of its own.

    A `slow` fault strikes `struck` requests: once all else is answered, their time runs out.
    """
    before = {feed: on.freshness(feed) for feed in FeedName}
    strikes = slow.struck if slow else 0

    def outcomes() -> int:
        return sum(on.freshness(feed) is not before[feed] for feed in FeedName)

    on.poller.poll_now()
    if slow is not None:
        await on.until(lambda: slow.struck == strikes + struck)
        await on.until(lambda: outcomes() == len(FeedName) - struck)
        on.hours.go_by(LIMITS.total + 1.0)
    await on.until(lambda: outcomes() == len(FeedName))


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_costs_one_feed_its_freshness_and_nothing_else(
    platform: EmbeddedPlatform, trap: socket.socket, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    kind = fault if fault in EMPTY else fault.partition("=")[0]
    spec = fault.format(trap=trap.getsockname()[1])
    platform.faults.clear()
    async with stage(platform, wanted=EVERYTHING, limits=LIMITS) as on:
        await on.settled()
        whole = {feed: picture(on.store, feed) for feed in FeedName}
        assert all(whole.values())
        for operation in sorted(set(OPERATIONS.values())):
            struck = {feed for feed, name in OPERATIONS.items() if name == operation}
            armed = platform.faults.add(f"{operation}:{spec}")
            await asked_again(on, armed if kind in SLOW else None, len(struck))
            for feed in FeedName:
                freshness = on.freshness(feed)
                if feed not in struck:
                    assert freshness.phase is Phase.LIVE, (operation, feed)
                    assert picture(on.store, feed) == whole[feed]
                elif is_readable(kind):
                    assert freshness.phase is Phase.LIVE, (operation, freshness.failure)
                    if kind in EMPTY:
                        assert not figures(picture(on.store, feed)), operation
                else:
                    assert freshness.phase is Phase.STALE, (operation, feed)
                    assert freshness.failures == 1
                    assert len(str(freshness.failure)) > 20
                    assert 0 < on.wait(feed) <= BACK_OFF_CEILING
                    assert picture(on.store, feed) == whole[feed], operation
            assert armed.struck >= len(struck)
            platform.faults.clear()
            if is_readable(kind):
                await asked_again(on)
            else:
                on.hours.go_by(max(map(on.wait, struck)))
            await on.until(lambda: all(f.phase is Phase.LIVE for f in on.store.freshness.values()))
            assert {feed: picture(on.store, feed) for feed in FeedName} == whole, operation
    assert not caplog.records
    with pytest.raises(BlockingIOError):
        trap.accept()
