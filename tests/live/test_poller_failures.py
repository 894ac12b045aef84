"""Back-off and recovery, each feed by itself, and what is told meanwhile."""

from __future__ import annotations

import logging
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api import errors
from agentco_tui.live.feeds import (
    SLOWER,
    Clock,
    FeedName,
    Freshness,
    Pace,
    Phase,
    began_at,
    paces_of_screen,
)
from agentco_tui.live.poll_timing import (
    BACK_OFF_CEILING,
    LONGEST_RETRY_AFTER,
    after_failure,
    poll_spacing,
)
from agentco_tui.live.store import Change
from agentco_tui.text import mark_safe
from tests.live.poller_harness import EVERYTHING, Stage, stage
from tests.platform import EmbeddedPlatform

ON = [feed for feed in FeedName if feed is not FeedName.TASKS]


def phases(on: Stage) -> set[Phase]:
    return {on.freshness(feed).phase for feed in FeedName if on.poller.pace(feed) is not Pace.OFF}


async def test_back_off_grows_and_touches_no_other_feed(platform: EmbeddedPlatform) -> None:
    fault = platform.faults.add("alerts:status=503")
    async with stage(platform, wanted=paces_of_screen("overview"), refresh=1.0) as on:
        waits: list[float] = []
        for turn in range(9):
            await on.until(lambda: on.freshness(FeedName.ALERTS).failures == turn + 1)  # noqa: B023
            waits.append(on.wait(FeedName.ALERTS))
            await on.settled()  # a request under way would time out in the leap
            await on.go_by(waits[-1] * 0.9)
            await on.arrived()
            assert fault.struck == turn + 1, "asked before its time"
            on.hours.go_by(waits[-1] * 0.1 + 0.01)
        others = [on.freshness(feed) for feed in ON if feed is not FeedName.ALERTS]
    for turn, wait in enumerate(waits):
        full = min(BACK_OFF_CEILING, 2.0**turn)
        # What was waited for since, in slow motion, is a few thousandths.
        assert full * 0.9 - 0.05 <= wait <= full
    assert len({round(wait / min(BACK_OFF_CEILING, 2.0**n), 3) for n, wait in enumerate(waits)}) > 5
    assert all(freshness.phase is Phase.LIVE for freshness in others)
    assert all(freshness.failures == 0 for freshness in others)


@pytest.mark.parametrize(
    ("spec", "least", "most"),
    [
        ("status=429,retry_after=120", 120, 121),
        ("status=503,retry_after=120", 120, 121),
        ("status=429,retry_after=date+90", 88, 91),
        ("status=429,retry_after=86400", LONGEST_RETRY_AFTER, LONGEST_RETRY_AFTER + 1),
        ("status=429,retry_after=0", 0.9, 1.0),
        ("status=429,retry_after=in a moment", 0.9, 1.0),
    ],
)
async def test_asked_waits(
    platform: EmbeddedPlatform, spec: str, least: float, most: float
) -> None:
    fault = platform.faults.add(f"agents:{spec},times=1")
    async with stage(platform, wanted=paces_of_screen("agents"), refresh=1.0) as on:
        await on.until(lambda: on.freshness(FeedName.AGENTS).failures == 1)
        wait = on.wait(FeedName.AGENTS)
        assert least - 0.05 <= wait <= most
        await on.go_by(wait - 0.2)
        await on.arrived()
        assert fault.matched == 1
        await on.go_by(0.3)
        await on.until(lambda: on.freshness(FeedName.AGENTS).phase is Phase.LIVE)


async def test_a_rejected_key_slows_but_goes_on(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("overview"), refresh=1.0) as on:
        await on.settled()
        held = dict(on.store.agents.records)
        platform.keys.revoke("full")
        for _ in range(12):
            await on.go_by(BACK_OFF_CEILING)
        assert phases(on) == {Phase.STALE}
        failure = on.freshness(FeedName.AGENTS).failure
        assert isinstance(failure, errors.KeyRejected)
        assert "AGENTCO_API_KEY" in str(failure)
        assert on.wait(FeedName.AGENTS) > BACK_OFF_CEILING * 0.8
        assert dict(on.store.agents.records) == held
        platform.requests.clear()
        await on.go_by(BACK_OFF_CEILING * 10)
        await on.arrived()
        assert set(on.asked().values()) == {1}
        platform.keys.restore("full")
        on.hours.go_by(min(on.wait(feed) for feed in ON) + 0.01)
        # The first that gets through tells the others.
        await on.until(lambda: phases(on) == {Phase.LIVE})


async def test_a_platform_that_comes_back_is_live_soon(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=paces_of_screen("overview"), refresh=5.0) as on:
        await on.settled()
        answered = {feed: on.freshness(feed).answered_at for feed in ON}
        platform.stop()
        for _ in range(6):
            await on.go_by(BACK_OFF_CEILING)
        for feed in ON:
            freshness = on.freshness(feed)
            assert freshness.phase is Phase.STALE
            assert isinstance(freshness.failure, errors.Refused)
            assert freshness.answered_at == answered[feed]
            assert freshness.age(on.hours.monotonic()) >= 6 * BACK_OFF_CEILING  # type: ignore[operator]
            assert 0 < on.wait(feed) <= BACK_OFF_CEILING
        platform.start()
        on.hours.go_by(min(on.wait(feed) for feed in ON) + 0.01)
        await on.until(lambda: phases(on) == {Phase.LIVE})


async def test_a_recovery_spares_those_told_to_wait(platform: EmbeddedPlatform) -> None:
    platform.faults.add("agents:status=429,retry_after=300")
    platform.faults.add("alerts:cut,times=1")
    platform.faults.add("activity:cut,times=1")
    async with stage(platform, wanted=paces_of_screen("agents"), refresh=1.0) as on:
        await on.settled()
        assert isinstance(on.freshness(FeedName.ALERTS).failure, errors.Broken)
        assert isinstance(on.freshness(FeedName.ACTIVITY).failure, errors.Broken)
        on.poller.poll_now([FeedName.ALERTS])
        await on.until(lambda: on.freshness(FeedName.ACTIVITY).phase is Phase.LIVE)
        await on.arrived()
        assert isinstance(on.freshness(FeedName.AGENTS).failure, errors.RateLimited)
        assert on.asked()["agents"] == 1


async def test_what_hangs_holds_up_no_other(platform: EmbeddedPlatform) -> None:
    """Six feeds hang for as long as they may; those that answer are live all the while."""
    names = ("companies", "agents", "budget", "company_budgets", "agent_budgets", "activity")
    hanging = [platform.faults.add(f"{name}:hang") for name in names]
    answering = (FeedName.PENDING, FeedName.TASKS, FeedName.ALERTS)
    async with stage(platform, wanted=EVERYTHING, refresh=5.0) as on:

        def is_live(feed: FeedName) -> bool:
            freshness, now = on.freshness(feed), on.hours.monotonic()
            return freshness.phase is Phase.LIVE and (freshness.wait(now) or 0) > 0

        def in_hand(struck: int, live: int) -> bool:
            asked = sum(fault.struck for fault in hanging)
            return asked == struck and sum(map(is_live, answering)) >= live

        # Nobody knows yet that they hang: each takes its time once.
        await on.until(lambda: in_hand(4, 2))
        on.hours.go_by(31.0)
        await on.until(lambda: in_hand(6, 3))
        assert sum(isinstance(f.failure, errors.TimedOut) for f in on.store.freshness.values()) == 4
        on.hours.go_by(31.0)
        await on.until(lambda: in_hand(8, 3))
        for feed in answering * 3:
            assert (await on.poller.read_again(feed)).phase is Phase.LIVE
        assert in_hand(8, 3), "all that hang are due, and two of them may try"


async def test_what_never_answered_is_loading_and_then_failed(platform: EmbeddedPlatform) -> None:
    platform.faults.add("alerts:status=403")
    async with stage(platform, wanted=dict.fromkeys(FeedName, Pace.OFF)) as on:
        loading = on.freshness(FeedName.ALERTS)
        assert (loading.phase, loading.wait(on.hours.monotonic())) == (Phase.LOADING, None)
        failed = await on.poller.read_again(FeedName.ALERTS)
        assert (loading.age(on.hours.monotonic()), failed.age(on.hours.monotonic())) == (None, None)
        assert failed.phase is Phase.FAILED
        assert isinstance(failed.failure, errors.NotAllowed)
        assert "platform: Forbidden" in str(failed.failure)


async def test_a_fault_of_ours_in_one_feed_is_told_logged_and_survived(
    platform: EmbeddedPlatform, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken() -> None:
        raise ZeroDivisionError("a fault of ours")

    async with stage(platform, wanted=paces_of_screen("tasks"), refresh=1.0) as on:
        await on.settled()
        monkeypatch.setattr(on.client, "budget_alerts", broken)
        for _ in range(3):
            freshness = await on.poller.read_again(FeedName.ALERTS)
            assert isinstance(freshness.failure, errors.Unreadable)
            assert "fault of this program (ZeroDivisionError)" in str(freshness.failure)
            assert freshness.phase is Phase.STALE
            assert on.wait(FeedName.ALERTS) > 0
        assert len(on.store.alerts)
        assert (await on.poller.read_again(FeedName.PENDING)).phase is Phase.LIVE
        monkeypatch.undo()
        await on.go_by(on.wait(FeedName.ALERTS))
        await on.until(lambda: on.freshness(FeedName.ALERTS).phase is Phase.LIVE)
    assert [record.message for record in caplog.records] == ["reading the feed alerts failed"] * 3
    assert all(record.exc_info for record in caplog.records)


async def test_whoever_fails_to_show_a_change_hides_it_from_nobody(
    platform: EmbeddedPlatform, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    heard: list[Change] = []
    fresh: list[FeedName] = []

    def fails(_: object) -> None:
        raise ZeroDivisionError("a fault of a screen")

    def shows(feed: FeedName) -> None:
        fresh.append(feed)
        fails(feed)

    async with stage(platform, wanted=dict.fromkeys(FeedName, Pace.OFF)) as on:
        on.store.subscribe(fails)
        on.store.subscribe(fails)
        on.store.subscribe(heard.append)
        on.store.on_freshness = shows
        first = await on.poller.read_again(FeedName.COMPANIES)
        assert isinstance(first.failure, errors.Unreadable)
        second = await on.poller.read_again(FeedName.COMPANIES)
        assert second.phase is Phase.LIVE, "nothing new, nothing to show, nothing fails"
    assert [set(change.added) for change in heard] == [set(platform.world.state.companies)]
    assert fresh == [FeedName.COMPANIES] * 2
    assert len(caplog.records) == 4


# --- when a feed is due, by itself ---------------------------------------------------------

seeds = st.integers(0, 2**32)


@given(st.sampled_from([Pace.REFRESH, Pace.SLOW]), st.floats(0.5, 60), st.floats(0, 100))
def test_a_feed_is_never_asked_sooner_than_wished(pace: Pace, refresh: float, took: float) -> None:
    wished = refresh if pace is Pace.REFRESH else refresh * SLOWER
    seconds, slow_answers = poll_spacing(pace, refresh, took)
    assert seconds == max(wished, took * 4)
    assert slow_answers == (took * 4 > wished)


@given(st.integers(1, 10_000), st.floats(0.5, 20), seeds)
def test_back_off_grows_to_the_ceiling(failures: int, refresh: float, seed: int) -> None:
    error = errors.TimedOut(mark_safe("no answer"))
    delay = after_failure(error, failures, refresh, Random(seed))
    assert 0 < delay <= BACK_OFF_CEILING


@given(st.floats(0, 1e9), seeds)
def test_a_wait_that_is_asked_for_is_kept_within_reason(asked: float, seed: int) -> None:
    error = errors.RateLimited(mark_safe("slow down"), retry_after=asked)
    delay = after_failure(error, 1, 5.0, Random(seed))
    assert delay >= min(asked, LONGEST_RETRY_AFTER)
    assert delay <= max(BACK_OFF_CEILING, LONGEST_RETRY_AFTER)


class Noon(Clock):
    """A clock that stands still."""

    def monotonic(self) -> float:
        return 100.0

    def now(self) -> float:
        return 5_000.0


def test_a_read_began_as_long_before_its_answer_as_it_took() -> None:
    assert began_at(Freshness(answered_at=80.0, took=3.0), Noon()) == 4_977.0
    assert began_at(Freshness(), Noon()) == 5_000.0
