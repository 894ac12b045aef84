"""One request a feed at a time, four at once, nothing made up for, reads that are waited for."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterable
from functools import partial

import pytest

from agentco_tui.api.errors import PlatformFailed
from agentco_tui.live.feeds import Clock, FeedName, Pace, Phase, paces_of_screen
from agentco_tui.live.poll_timing import CLOCK_CHECK
from agentco_tui.live.poller import AT_ONCE
from agentco_tui.model import Listing
from tests.api.canary import failure
from tests.live.poller_harness import EVERYTHING, name_of, stage
from tests.platform import EmbeddedPlatform, LoggedRequest

REFRESH = 1_000.0
ONLY_ALERTS = {**dict.fromkeys(FeedName, Pace.OFF), FeedName.ALERTS: Pace.REFRESH}


def most_at_once(requests: Iterable[LoggedRequest]) -> int:
    """How many requests the platform had in hand together at most."""
    edges = [
        edge for seen in requests for edge in ((seen.started, 1), (seen.started + seen.took, -1))
    ]
    most = now = 0
    for _, step in sorted(edges):
        now += step
        most = max(most, now)
    return most


async def test_at_most_four_requests_at_once_and_one_a_feed(platform: EmbeddedPlatform) -> None:
    platform.faults.add("reads:latency=20ms")
    async with stage(platform, wanted=EVERYTHING) as on:
        await on.settled()
        for _ in range(3):
            for _ in range(20):
                on.poller.poll_now()
                await asyncio.sleep(0)
            await asyncio.gather(*map(on.poller.read_again, FeedName))
    requests = list(platform.requests)
    assert most_at_once(requests) == AT_ONCE
    for feed in {name_of(seen) for seen in requests}:
        assert most_at_once(seen for seen in requests if name_of(seen) == feed) == 1
    assert len(requests) <= 9 * (1 + 3 * 3), "pressing a key often asks once more, not often"


async def test_a_late_tick_is_dropped(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=ONLY_ALERTS, refresh=1.0) as on:
        await on.settled()
        held = platform.faults.add("alerts:latency=50ms,times=1")
        platform.requests.clear()
        on.hours.go_by(2.0)
        await on.until(lambda: held.struck == 1)
        on.hours.go_by(9.0)  # nine more would have been due
        await on.settled()
        await on.arrived()
        assert on.asked() == {"alerts": 1}


async def test_after_a_sleep_each_feed_is_asked_once(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("overview"), refresh=5.0) as on:
        await on.settled()
        platform.requests.clear()
        on.hours.sleep(8 * 3600.0)
        assert on.freshness(FeedName.ALERTS).age(on.hours.monotonic()) >= 8 * 3600.0  # type: ignore[operator]
        on.hours.go_by(CLOCK_CHECK)
        await on.settled()
        await on.arrived()
        asked = on.asked()
        assert set(asked.values()) == {1}
        assert len(asked) == 8


async def test_a_sleep_in_the_middle_of_a_poll_is_no_slowness(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=ONLY_ALERTS, refresh=REFRESH) as on:
        await on.settled()
        held = platform.faults.add("alerts:latency=50ms,times=1")
        platform.requests.clear()
        on.poller.poll_now()
        await on.until(lambda: held.struck == 1)
        on.hours.sleep(8 * 3600.0)
        await on.until(lambda: len(platform.requests) == 2)  # what came may be eight hours old
        await on.settled()
        await on.arrived()
        assert on.asked() == {"alerts": 2}
        assert not on.freshness(FeedName.ALERTS).slow_answers


def test_the_clock_goes_on_in_a_sleep_and_never_back() -> None:
    clock = Clock()
    first = clock.monotonic()
    if hasattr(time, "CLOCK_BOOTTIME"):
        assert 0 <= time.clock_gettime(time.CLOCK_BOOTTIME) - first < 60
    assert clock.monotonic() >= first
    for skew, ahead in ((None, 0), (2.0, 0), (90.0, 90)):
        corrected = Clock(deque([skew]).pop)
        assert round(corrected.now() - time.time(), -1) == ahead


async def test_a_slow_platform_is_asked_less_and_it_is_told(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=ONLY_ALERTS, refresh=1.0) as on:
        await on.settled()
        assert not on.freshness(FeedName.ALERTS).slow_answers
        held = platform.faults.add("alerts:latency=50ms,times=1")
        on.poller.poll_now()
        await on.until(lambda: held.struck == 1)
        on.hours.go_by(5.0)
        await on.until(lambda: (on.freshness(FeedName.ALERTS).took or 0) >= 5.0)
        assert on.freshness(FeedName.ALERTS).slow_answers
        assert on.freshness(FeedName.ALERTS).phase is Phase.LIVE
        # Busy for at most a quarter of the time, less the jitter.
        assert on.wait(FeedName.ALERTS) >= 5.0 * 4 * 0.9 - 5.0 - 0.1
        await on.go_by(on.wait(FeedName.ALERTS))
        await on.until(lambda: not on.freshness(FeedName.ALERTS).slow_answers)


async def test_poll_now_asks_at_once_whatever_the_back_off(platform: EmbeddedPlatform) -> None:
    for feed in ("alerts", "budget"):
        platform.faults.add(f"{feed}:status=429,retry_after=500")
    async with stage(platform, wanted=paces_of_screen("budget")) as on:
        await on.settled()
        assert min(on.wait(FeedName.ALERTS), on.wait(FeedName.BUDGET)) > 400
        on.poller.set_paces({FeedName.BUDGET: Pace.OFF})
        platform.faults.clear()
        platform.requests.clear()
        on.poller.poll_now([FeedName.ALERTS, FeedName.BUDGET])
        await on.until(lambda: on.freshness(FeedName.ALERTS).phase is Phase.LIVE)
        await on.arrived()
        assert on.asked() == {"alerts": 1}, "what is off stays off"
        on.show("budget")  # and has no back-off any more
        await on.until(lambda: on.freshness(FeedName.BUDGET).phase is Phase.LIVE)


async def test_what_was_to_be_polled_while_it_was_off_is_asked_once_it_is_on(
    platform: EmbeddedPlatform,
) -> None:
    async with stage(platform, wanted=paces_of_screen("tasks", all_tasks=True)) as on:
        await on.settled()
        on.show("tasks")
        on.poller.poll_now([FeedName.TASKS])
        platform.requests.clear()
        on.show("tasks", all_tasks=True)
        await on.until(lambda: on.asked()["tasks"] == 1)


@pytest.mark.parametrize("feed", FeedName)
@pytest.mark.parametrize("wanted", [EVERYTHING, dict.fromkeys(FeedName, Pace.OFF)])
async def test_read_again_brings_what_came_after_the_call(
    platform: EmbeddedPlatform, feed: FeedName, wanted: dict[FeedName, Pace]
) -> None:
    async with stage(platform, wanted=wanted) as on:
        before = on.hours.monotonic()
        freshness = await on.poller.read_again(feed)
        assert freshness.phase is Phase.LIVE
        assert freshness.answered_at is not None
        assert freshness.answered_at >= before


@pytest.mark.parametrize("by_poller", [True, False])
async def test_an_answer_under_way_is_not_taken_once_another_read_began(by_poller: bool) -> None:
    with EmbeddedPlatform(seed=7, companies=1, agents=1, tasks=1, speed=0.0) as platform:
        async with stage(platform, wanted=paces_of_screen("tasks")) as on:
            await on.settled()
            # This one reads before the task is approved and answers after that.
            held = platform.faults.add("tasks:drip=2ms,times=1")
            platform.requests.clear()
            on.poller.poll_now([FeedName.PENDING])
            await on.until(lambda: held.struck == 1)
            task_id = next(iter(platform.world.state.pending))
            platform.world.approve(task_id)
            if by_poller:
                freshness = await on.poller.read_again(FeedName.PENDING)
                assert freshness is on.freshness(FeedName.PENDING)
                assert freshness.phase is Phase.LIVE
                assert on.store.pending.get(task_id) is None
                return
            shown: list[bool] = []
            on.store.subscribe(lambda _: shown.append(task_id in on.store.pending.records))
            began = on.hours.monotonic()
            listing = await on.client.for_decisions().tasks(status="pending")
            take = partial(on.store.take, FeedName.PENDING, listing)
            on.poller.supersede(FeedName.PENDING, began, take)
            assert on.freshness(FeedName.PENDING).phase is Phase.LIVE
            await on.until(lambda: len(platform.requests) == 3)
            await on.settled()
            assert shown
            assert not any(shown)


async def test_what_began_before_what_is_shown_changes_nothing(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("tasks")) as on:
        began = on.hours.monotonic() - 1
        await on.settled()
        before = on.freshness(FeedName.PENDING), dict(on.store.pending.records)
        refused = await failure(on.client.task_trace("no such task"))
        nothing = partial(on.store.take, FeedName.PENDING, Listing(records=()))
        for found in (nothing, refused):
            on.poller.supersede(FeedName.PENDING, began, found)
        assert before == (on.freshness(FeedName.PENDING), dict(on.store.pending.records))
        on.poller.supersede(FeedName.PENDING, on.hours.monotonic(), refused)
        assert on.freshness(FeedName.PENDING).failure is refused
        assert len(on.store.pending)


@pytest.mark.parametrize("on_screen", [True, False])
async def test_read_again_tells_a_failure(platform: EmbeddedPlatform, on_screen: bool) -> None:
    wanted = EVERYTHING if on_screen else dict.fromkeys(FeedName, Pace.OFF)
    async with stage(platform, wanted=wanted) as on:
        platform.faults.add("alerts:status=503")
        freshness = await on.poller.read_again(FeedName.ALERTS)
        assert isinstance(freshness.failure, PlatformFailed)
        assert (freshness.next_try_at is not None) is on_screen


async def test_a_poller_that_ends_lets_go_of_those_who_wait(platform: EmbeddedPlatform) -> None:
    platform.faults.add("reads:hang")
    async with stage(platform, wanted=EVERYTHING) as on:
        callers = [asyncio.create_task(on.poller.read_again(feed)) for feed in FeedName]
        await on.until(lambda: len(platform.requests) == AT_ONCE)
        on.running.cancel()
        told = await asyncio.gather(*callers)
        assert all(freshness.phase is Phase.LOADING for freshness in told)


@pytest.mark.parametrize("fault", ["reads:hang", "reads:latency=10ms", "reads:status=503"])
async def test_no_task_is_left(
    platform: EmbeddedPlatform, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    caplog.set_level(logging.WARNING)
    before = asyncio.all_tasks()
    for turn in range(4):
        platform.requests.clear()
        platform.faults.clear()
        platform.faults.add(fault)
        async with stage(platform, wanted=EVERYTHING) as on:
            await on.until(lambda: len(platform.requests) >= turn)  # noqa: B023
        assert asyncio.all_tasks() == before
    assert not caplog.records
