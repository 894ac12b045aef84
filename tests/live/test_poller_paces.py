"""What is asked, and how often: what the screen shows, what is always needed, nothing else."""

from __future__ import annotations

import time

import pytest

from agentco_tui.live.feeds import SLOWER, Clock, FeedName, Pace, paces_of_screen
from tests.live.poller_harness import Stage, stage
from tests.platform import EmbeddedPlatform

REFRESH = 1_000.0

SHOWN = {
    "overview": {"pending", "alerts", "budget", "company_budgets", "activity"},
    "companies": {"companies"},
    "agents": {"agents"},
    "tasks": {"pending"},
    "budget": {"budget", "company_budgets", "agent_budgets", "alerts"},
    "activity": {"activity"},
}
SPENDING = {"budget", "company_budgets", "agent_budgets"}
BESIDE = {
    "overview": {"companies", "agents", "agent_budgets"},
    "companies": {"agents", *SPENDING, "pending", "alerts", "activity"},
    "agents": {"companies", *SPENDING, "pending", "alerts", "activity"},
    "tasks": {"companies", "agents", *SPENDING, "alerts", "activity"},
    "budget": {"companies", "agents", "pending", "activity"},
    "activity": {"companies", "agents", *SPENDING, "pending", "alerts"},
}
"""Slowly: names, what a detail pane shows beside, what the tabs count, and what burns."""


async def watch(on: Stage, refreshes: int) -> None:
    """Let so many intervals pass in small steps, and count the requests in them."""
    await on.settled()
    on.platform.requests.clear()
    for _ in range(refreshes * 4):
        await on.go_by(REFRESH / 4)
    await on.arrived()


@pytest.mark.parametrize("screen", sorted(SHOWN))
async def test_a_screen_polls_what_it_shows(platform: EmbeddedPlatform, screen: str) -> None:
    async with stage(platform, wanted=paces_of_screen(screen), refresh=REFRESH) as on:
        await watch(on, 12)
        asked = on.asked()
    assert set(asked) == SHOWN[screen] | BESIDE[screen]
    # An interval is jittered by a tenth, and the steps of this test add up to a quarter to it.
    for feed in SHOWN[screen]:
        assert 12 / 1.35 - 1 <= asked[feed] <= 12 / 0.9 + 1, feed
    for feed in BESIDE[screen]:
        assert 12 / (SLOWER * 1.1 + 0.25) - 1 <= asked[feed] <= 12 / (SLOWER * 0.9) + 1, feed


async def test_all_tasks_are_asked_for_only_while_they_show(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("tasks"), refresh=REFRESH) as on:
        await watch(on, 4)
        assert on.asked()["tasks"] == 0
        on.show("tasks", all_tasks=True)
        await watch(on, 4)
        assert on.asked()["tasks"] >= 2
        on.show("tasks")
        await watch(on, 4)
        assert on.asked()["tasks"] == 0


async def test_another_screen_is_asked_at_once_the_old_no_more(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("companies"), refresh=REFRESH) as on:
        await on.settled()
        assert on.asked()["tasks"] == 0
        platform.requests.clear()
        on.show("tasks", all_tasks=True)
        await on.settled()
        await on.arrived()
        # Nothing was known of these; the rest is fresh.
        assert on.asked() == {"tasks": 1}
        on.show("companies")
        await watch(on, 6)
        assert on.asked()["tasks"] == 0


async def test_a_feed_that_speeds_up_is_asked_if_it_is_old(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("tasks"), refresh=REFRESH) as on:
        await on.settled()
        platform.requests.clear()
        on.hours.go_by(REFRESH / 2)
        on.show("agents")
        await on.settled()
        await on.arrived()
        assert on.asked() == {}, "half an interval old is not old"
        on.show("tasks")
        await on.go_by(REFRESH)
        await on.settled()
        platform.requests.clear()
        on.show("agents")  # agents are one and a half intervals old by now
        await on.settled()
        await on.arrived()
        assert on.asked()["agents"] == 1


async def test_what_shows_comes_first_and_what_went_off_in_the_queue_is_not_asked(
    platform: EmbeddedPlatform,
) -> None:
    slow = platform.faults.add("reads:hang")
    async with stage(platform, wanted=paces_of_screen("overview")) as on:
        await on.until(lambda: slow.struck == 4)
        assert {name for name, count in on.asked().items() if count} <= SHOWN["overview"]
        on.poller.set_paces(dict.fromkeys(FeedName, Pace.OFF))
        platform.faults.clear()
        on.hours.go_by(60)
        await on.until(lambda: sum(f.failures for f in on.store.freshness.values()) == 4)
        await on.arrived()
        assert sum(on.asked().values()) == 4


async def test_next_try_is_told_only_for_what_is_polled(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("budget")) as on:
        await on.settled()
        assert on.freshness(FeedName.BUDGET).next_try_at is not None
        on.poller.set_paces({FeedName.BUDGET: Pace.OFF})
        assert on.freshness(FeedName.BUDGET).next_try_at is None
        again = await on.poller.read_again(FeedName.BUDGET)
        assert again.answered_at is not None
        assert again.next_try_at is None
        on.show("budget")
        assert on.freshness(FeedName.BUDGET).next_try_at is not None


async def test_without_focus_the_screen_is_polled_slowly(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("agents"), refresh=REFRESH) as on:
        await on.settled()
        on.poller.set_attention(False)
        assert on.poller.pace(FeedName.AGENTS) is Pace.SLOW
        await watch(on, 12)
        asked = on.asked()
        assert set(asked) == SHOWN["agents"] | BESIDE["agents"]
        assert 3 <= asked["agents"] <= 6
        on.poller.set_attention(True)
        assert on.poller.pace(FeedName.AGENTS) is Pace.REFRESH
        await watch(on, 12)
        assert on.asked()["agents"] >= 8


async def test_where_somebody_is_notified_nothing_is_slowed(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("agents"), refresh=REFRESH) as on:
        await on.settled()
        with_focus = {feed: on.poller.pace(feed) for feed in FeedName}
        on.poller.set_attention(False, notifies=True)
        unfocused_interval = [on.poller.unfocused_interval]
        without = {feed: on.poller.pace(feed) for feed in FeedName}
        changed = {feed for feed in FeedName if without[feed] is not with_focus[feed]}
        assert changed == {FeedName.PENDING, FeedName.ALERTS}, "asked more often"
        await watch(on, 12)
        asked = on.asked()
        assert asked["agents"] >= 8
        assert asked["pending"] >= 8
        on.poller.set_attention(False, notifies=False)
        unfocused_interval.append(on.poller.unfocused_interval)
        on.poller.set_attention(True)
        unfocused_interval.append(on.poller.unfocused_interval)
        assert unfocused_interval == [None, REFRESH * SLOWER, None]


async def test_with_the_focus_back_what_is_overdue_is_asked(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("agents"), refresh=REFRESH) as on:
        await on.settled()
        on.poller.set_attention(False)
        platform.requests.clear()
        await on.go_by(REFRESH / 2)
        on.poller.set_attention(True)
        on.poller.set_attention(True)
        await on.arrived()
        assert not on.asked(), "half an interval is not old"
        on.poller.set_attention(False)
        await on.go_by(REFRESH)
        await on.arrived()
        assert not on.asked()
        on.poller.set_attention(True)
        await on.until(lambda: on.asked() == {"agents": 1})


def test_a_clock_does_not_turn_back_with_the_error_of_its_skew() -> None:
    skew = 3600.0
    clock = Clock(lambda: skew)
    then = clock.now()
    assert then > time.time() + 3590
    skew -= 1.0
    assert clock.now() == then, "what has an age keeps it"
    skew += 2.0
    assert clock.now() > then
    skew = 60.0
    assert clock.now() < then - 3000, "another clock than it seemed"
