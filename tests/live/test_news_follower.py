"""What is told makes the poller read: soon, not too often, and never that alone."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from agentco_tui.api import errors
from agentco_tui.live.feeds import FeedName, Query, paces_of_screen
from agentco_tui.live.news_follower import (
    GATHER,
    LEAST_SPACING,
    LONGEST_WAIT,
    MOST_COMPANIES,
    NewsFollower,
)
from agentco_tui.text import mark_safe
from tests.live.poller_harness import Stage, stage
from tests.platform import EmbeddedPlatform

REFRESH = 1_000.0


class Longest(Random):
    """The jitter that makes waits longest."""

    def uniform(self, a: float, b: float) -> float:
        return max(a, b)


class Teller:
    """Takes the place of a client's news: a test says what is told, and how it ends."""

    def __init__(self, on: Stage) -> None:
        self.on = on
        self.asked = Counter[str]()
        """How often each company's news was asked for."""
        self.asked_at: list[float] = []
        self.open: dict[str, asyncio.Queue[Exception | None]] = {}
        self.refuses: Exception | None = None
        """With what it is refused to tell anything."""
        self.polls: list[tuple[float, bool]] = []
        """When the follower had polled, and whether that was everything."""
        on.client.news_of = self.news_of  # type: ignore[method-assign]
        self._poll_soon = on.poller.poll_soon
        on.poller.poll_soon = self.poll_soon  # type: ignore[method-assign]

    async def news_of(self, company_id: str) -> AsyncGenerator[None]:
        self.asked[company_id] += 1
        self.asked_at.append(self.on.hours.monotonic())
        if self.refuses is not None:
            raise self.refuses
        told = self.open[company_id] = asyncio.Queue()
        try:
            yield
            while True:
                news = await told.get()
                if news is not None:
                    raise news
                yield
        finally:
            del self.open[company_id]

    def poll_soon(self, *, every: bool = False) -> None:
        self.polls.append((self.on.hours.monotonic(), every))
        self._poll_soon(every=every)

    def tell(self, news: Exception | None = None) -> None:
        """Say that something has changed in each company, or how the news ends."""
        for told in list(self.open.values()):
            told.put_nowait(news)

    async def go_on(self, seconds: float, *, is_telling: bool = False) -> None:
        """Let time pass in small steps, and with `is_telling` something change in each."""
        steps = round(seconds / STEP)
        for _ in range(steps):
            if is_telling:
                self.tell()
            self.on.hours.go_by(STEP)
            # What a timer starts needs a few turns of the loop.
            for _ in range(10):
                await asyncio.sleep(0)

    @property
    def gaps(self) -> list[float]:
        """Seconds between polls, to whole tenths."""
        times = [at for at, _ in self.polls]
        return [round(b - a, 1) for a, b in pairwise(times)]


STEP = 0.05


@asynccontextmanager
async def following(
    platform: EmbeddedPlatform, *, screen: str = "tasks", **chosen: Any
) -> AsyncIterator[tuple[Stage, Teller]]:
    """A poller that has read all, and follows what is told; by the clock it reads in hours."""
    chosen.setdefault("refresh", REFRESH)
    async with stage(platform, wanted=paces_of_screen(screen), **chosen) as on:
        await on.settled()
        teller = Teller(on)
        running = asyncio.create_task(NewsFollower(on.poller, Longest()).run())
        try:
            yield on, teller
            assert not running.done(), "it has ended"
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def has_opened(on: Stage, teller: Teller, count: int = 2) -> None:
    """Wait until all is open, everything was read for that, and the pause after it is over."""
    await on.until(lambda: len(teller.open) == count)
    await has_polled(on, teller)
    await teller.go_on(5 * LEAST_SPACING)


async def has_polled(on: Stage, teller: Teller) -> None:
    """Wait until what was told has been followed."""
    await teller.go_on(GATHER + STEP)
    await on.until(lambda: not on.poller.asked_since())
    await on.arrived()


async def test_when_it_is_told_of_changes_everything_is_read(platform: EmbeddedPlatform) -> None:
    async with following(platform) as (on, teller):
        platform.requests.clear()
        await has_opened(on, teller)
        assert teller.asked.keys() == on.store.companies.records.keys()
        assert [every for _, every in teller.polls] == [True]
        everything = {feed for feed, pace in paces_of_screen("tasks").items() if pace != "off"}
        assert len(on.asked()) == len(everything)
        assert set(on.asked().values()) == {1}


async def test_a_change_is_read_soon_where_it_shows(platform: EmbeddedPlatform) -> None:
    async with following(platform) as (on, teller):
        await has_opened(on, teller)
        platform.requests.clear()
        teller.tell()
        await has_polled(on, teller)
        # What the screen is about, and what notifications come from.
        assert on.asked() == {"pending": 1, "alerts": 1}


async def test_what_is_not_shown_is_read_once_it_is(platform: EmbeddedPlatform) -> None:
    async with following(platform, screen="companies") as (on, teller):
        await has_opened(on, teller)
        on.show("tasks", all_tasks=True)
        await on.settled()
        on.show("companies")
        teller.tell()
        await has_polled(on, teller)
        platform.requests.clear()
        on.show("tasks", all_tasks=True)
        await on.settled()
        await on.arrived()
        assert on.asked()["tasks"] == 1


async def test_a_burst_is_one_poll_and_what_follows_is_spaced(platform: EmbeddedPlatform) -> None:
    async with following(platform) as (on, teller):
        await has_opened(on, teller)
        teller.polls.clear()
        for _ in range(500):
            teller.tell()
        await teller.go_on(10.0)
        assert len(teller.polls) == 1
        await teller.go_on(60.0, is_telling=True)
        assert min(teller.gaps) >= LEAST_SPACING
        assert len(teller.polls) <= 7


@pytest.mark.parametrize("refresh", [5.0, 20.0])
async def test_a_busy_platform_is_hardly_polled_more_than_by_the_clock(
    platform: EmbeddedPlatform, refresh: float
) -> None:
    async with following(platform, refresh=refresh) as (_, teller):
        await teller.go_on(10 * refresh, is_telling=True)
        first_gaps, later_gaps = teller.gaps[:4], teller.gaps[4:]
        assert min(first_gaps) >= LEAST_SPACING
        assert min(later_gaps) >= refresh
        assert len(teller.polls) <= 10 + 4


async def test_after_a_quiet_time_news_is_read_soon_again(platform: EmbeddedPlatform) -> None:
    async with following(platform, refresh=10.0) as (_, teller):
        await teller.go_on(60.0, is_telling=True)
        assert teller.gaps[-1] >= 10.0
        await teller.go_on(30.0)
        teller.polls.clear()
        await teller.go_on(LEAST_SPACING + 3 * GATHER, is_telling=True)
        assert len(teller.polls) == 2


async def test_a_feed_that_backs_off_is_left_to_it(platform: EmbeddedPlatform) -> None:
    async with following(platform) as (on, teller):
        await has_opened(on, teller)
        fault = platform.faults.add("alerts:status=429")
        await on.poller.read_again(FeedName.ALERTS)
        assert fault.struck == 1
        teller.tell()
        await has_polled(on, teller)
        assert fault.struck == 1


async def test_a_platform_that_can_be_reached_again_is_read_at_once(
    platform: EmbeddedPlatform,
) -> None:
    async with following(platform) as (on, teller):
        await has_opened(on, teller)
        fault = platform.faults.add("alerts:drop_after")
        await on.poller.read_again(FeedName.ALERTS)
        assert isinstance(on.freshness(FeedName.ALERTS).failure, errors.Broken)
        platform.faults.remove(fault)
        teller.tell()
        await teller.go_on(GATHER + STEP)
        await on.until(lambda: on.freshness(FeedName.ALERTS).failure is None)


async def test_a_refusal_is_final_and_is_logged(
    platform: EmbeddedPlatform, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with following(platform) as (on, teller):
        teller.refuses = errors.NotAllowed(mark_safe("not for you"), status=403)
        await teller.go_on(5 * LONGEST_WAIT)
        assert set(teller.asked.values()) == {1}
        assert len(teller.asked) == 2
        assert teller.polls == []
        assert caplog.text.count("is not followed in this run") == 2
        # Nor when the scope is left and entered again.
        company = next(iter(teller.asked))
        for query in (Query(company), Query()):
            on.poller.set_query(query)
            await on.settled()
            await teller.go_on(1.0)
        assert set(teller.asked.values()) == {1}


async def test_a_fault_of_ours_ends_the_news_and_nothing_else(
    platform: EmbeddedPlatform, caplog: pytest.LogCaptureFixture
) -> None:
    async with following(platform) as (on, teller):
        teller.refuses = TypeError("a fault")
        await teller.go_on(5 * LONGEST_WAIT)
        assert set(teller.asked.values()) == {1}
        assert "TypeError: a fault" in caplog.text
        assert not on.running.done()


async def test_what_is_lost_is_tried_again_later_and_later(platform: EmbeddedPlatform) -> None:
    async with following(platform, query=None) as (on, teller):
        await has_opened(on, teller)
        on.poller.set_query(Query(next(iter(on.store.companies.records))))
        await on.until(lambda: len(teller.open) == 1)
        teller.asked_at.clear()
        teller.refuses = errors.Broken(mark_safe("gone"))
        teller.tell(errors.Broken(mark_safe("gone")))
        began = on.hours.monotonic()
        await teller.go_on(250.0)
        times = [began, *teller.asked_at]
        waits = [round(b - a) for a, b in pairwise(times)]
        assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
        # Once it tells for long, the waits begin anew.
        teller.refuses = None
        await teller.go_on(LONGEST_WAIT)
        await has_opened(on, teller, 1)
        await teller.go_on(LONGEST_WAIT)
        teller.polls.clear()
        teller.tell(errors.TimedOut(mark_safe("no pong")))
        await teller.go_on(3.0)
        assert [every for _, every in teller.polls] == [True]


async def test_a_platform_that_asks_for_a_longer_wait_gets_it(platform: EmbeddedPlatform) -> None:
    async with following(platform) as (_, teller):
        teller.refuses = errors.RateLimited(mark_safe("wait"), retry_after=90.0)
        await teller.go_on(89.0)
        assert set(teller.asked.values()) == {1}
        await teller.go_on(2.0)
        assert set(teller.asked.values()) == {2}


async def test_only_the_company_in_scope_is_followed(platform: EmbeddedPlatform) -> None:
    async with following(platform) as (on, teller):
        await has_opened(on, teller)
        company = next(iter(on.store.companies.records))
        on.poller.set_query(Query(company))
        await on.until(lambda: list(teller.open) == [company])
        on.poller.set_query(Query())
        await on.until(lambda: len(teller.open) == 2)
        assert teller.asked[company] == 1


async def test_a_new_company_is_followed_too(platform: EmbeddedPlatform) -> None:
    async with following(platform) as (on, teller):
        await has_opened(on, teller)
        await on.client.create_company("New")
        await on.poller.read_again(FeedName.COMPANIES)
        await on.until(lambda: len(teller.open) == 3)


async def test_no_more_than_so_many_are_followed() -> None:
    with EmbeddedPlatform(companies=MOST_COMPANIES + 3, agents=1, tasks=0, speed=0) as platform:
        async with following(platform) as (on, teller):
            await has_opened(on, teller, MOST_COMPANIES)
            await teller.go_on(1.0)
            assert len(teller.asked) == MOST_COMPANIES
