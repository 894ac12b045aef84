"""How each feed is fetched from platforms that want their questions put in a certain way."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import pytest

from agentco_tui.api.errors import Invalid, NotFound
from agentco_tui.live.activity_window import NO_MORE, ActivityWindow, is_gap
from agentco_tui.live.backfill import PAUSE
from agentco_tui.live.feeds import FeedName, Pace, Phase, Query, query_key
from agentco_tui.live.fetch import ACTIVITY_LIMIT
from agentco_tui.live.log_reader import PAGE
from agentco_tui.live.store import Change, Store
from tests.live.poller_harness import EVERYTHING, Choice, ChoosyPlatform, Stage, stage
from tests.platform import EmbeddedPlatform

NONE = dict.fromkeys(FeedName, Pace.OFF)
BUDGETS = "/api/budget/agents"


def demands_a_company(status: int, *paths: str) -> Choice:
    def choice(path: str, query: dict[str, str]) -> int | dict[str, str]:
        return status if path in paths and "company_id" not in query else query

    return choice


@pytest.mark.parametrize("status", [400, 404, 422])
@pytest.mark.parametrize("companies_first", [True, False])
async def test_where_a_company_is_asked_for_each_is(status: int, companies_first: bool) -> None:
    choice = demands_a_company(status, "/api/agents", BUDGETS)
    with ChoosyPlatform(choice, companies=3, agents=24, tasks=10) as platform:
        async with stage(platform, wanted=NONE) as on:
            if companies_first:
                await on.poller.read_again(FeedName.COMPANIES)
            for feed, held in (
                (FeedName.AGENTS, on.store.agents),
                (FeedName.AGENT_BUDGETS, on.store.agent_budgets),
            ):
                platform.asked.clear()
                freshness = await on.poller.read_again(feed)
                assert freshness.phase is Phase.LIVE
                assert set(held.records) == set(platform.world.state.agents)
                asked = [query for path, query in platform.asked if "agents" in path]
                scopes = [{"company_id": known} for known in platform.world.state.companies]
                assert asked == [{}, *scopes]
                others = [path for path, _ in platform.asked if "agents" not in path]
                assert others == ([] if companies_first else ["/api/companies"])


@pytest.mark.parametrize("feed", [FeedName.AGENTS, FeedName.AGENT_BUDGETS])
async def test_a_refusal_for_another_reason(platform: EmbeddedPlatform, feed: FeedName) -> None:
    for status, error in ((422, Invalid), (404, NotFound)):
        platform.faults.clear()
        platform.faults.add(f"{feed.replace(' ', '_')}:status={status}")
        async with stage(platform, wanted=NONE) as on:
            assert isinstance((await on.poller.read_again(feed)).failure, error)
            company = next(iter(platform.world.state.companies))
            on.poller.set_query(Query(company=company))
            assert isinstance((await on.poller.read_again(feed)).failure, error)


def test_a_question_holds_what_decides_the_answer_and_nothing_else() -> None:
    every = Query()
    scoped = Query(company="a")
    for feed in FeedName:
        by_company = feed not in (
            FeedName.COMPANIES, FeedName.COMPANY_BUDGETS, FeedName.ALERTS,
        )  # fmt: skip
        assert (query_key(feed, every) != query_key(feed, scoped)) is by_company, feed


# --- the log ------------------------------------------------------------------------------------


def happen(platform: EmbeddedPlatform, entries: int) -> None:
    """Let so many entries come into the log, while all else stands still."""
    with platform.world.locked() as state:
        for number in range(entries):
            at = platform.world.time() + state.numbers["entry"] / 1_000
            state.log(at, "info", "note", f"entry {number}")


def shown(on: Stage) -> list[str]:
    return ["gap" if is_gap(entry) else entry.id for entry in on.store.activity]


def written(platform: EmbeddedPlatform) -> list[str]:
    return [entry.id for entry in platform.world.state.entries]


def limits(platform: ChoosyPlatform) -> list[str]:
    return [query["limit"] for path, query in platform.asked if path == "/api/activity"]


def as_asked(path: str, query: dict[str, str]) -> dict[str, str]:
    return query


async def polls(on: Stage, platform: ChoosyPlatform, *bursts: int) -> list[str]:
    """Poll the log before and after each burst; the limits that were asked for."""
    await on.poller.read_again(FeedName.ACTIVITY)
    platform.asked.clear()
    for burst in bursts:
        happen(platform, burst)
        assert (await on.poller.read_again(FeedName.ACTIVITY)).phase is Phase.LIVE
    return limits(platform)


SMALL = {"companies": 1, "agents": 2, "tasks": 2}


async def test_polls_join_and_what_they_missed_is_a_gap_until_it_is_read() -> None:
    with ChoosyPlatform(as_asked, **SMALL) as platform:
        happen(platform, 300)
        async with stage(platform, wanted=NONE) as on:
            bursts = 5, 150, ACTIVITY_LIMIT - 1
            assert await polls(on, platform, *bursts) == [str(ACTIVITY_LIMIT)] * 3
            held = ACTIVITY_LIMIT + sum(bursts)
            assert shown(on) == written(platform)[-held:]
            await polls(on, platform, ACTIVITY_LIMIT + 50, 5)
            log = written(platform)[-held - ACTIVITY_LIMIT - 55 :]
            assert shown(on) == [*log[:held], "gap", *log[held + 50 :]]
            platform.asked.clear()
            changes = list[Change]()
            on.store.subscribe(changes.append)
            on.hours.go_by(PAUSE)
            await on.until(lambda: "gap" not in shown(on))
            assert shown(on) == log
            # One question, of the day it happened on.
            day = str(datetime.fromtimestamp(platform.world.time(), UTC).date())
            ((path, query),) = platform.asked
            assert path == "/api/activity"
            assert query == {"from": query["from"], "to": day, "limit": str(PAGE)}
            added = {key for change in changes for key in change.added}
            assert added == set(log[held:][:50])


async def test_a_feed_that_is_refused_holds_up_no_gap() -> None:
    with ChoosyPlatform(as_asked, **SMALL) as platform:
        happen(platform, 300)
        platform.faults.add("alerts:status=404")
        wanted = {**NONE, FeedName.ALERTS: Pace.REFRESH, FeedName.ACTIVITY: Pace.REFRESH}
        async with stage(platform, wanted=wanted) as on:
            await polls(on, platform, ACTIVITY_LIMIT + 50)
            assert "gap" in shown(on)
            on.hours.go_by(PAUSE)
            await on.until(lambda: "gap" not in shown(on))


async def test_a_gap_waits_until_nothing_fails_and_is_forgotten_with_its_question() -> None:
    with ChoosyPlatform(as_asked, **SMALL) as platform:
        happen(platform, 300)
        wanted = {**NONE, FeedName.ALERTS: Pace.REFRESH, FeedName.ACTIVITY: Pace.REFRESH}
        async with stage(platform, wanted=wanted) as on:
            await on.settled()
            platform.faults.add("alerts:status=500")
            await on.poller.read_again(FeedName.ALERTS)
            await polls(on, platform, ACTIVITY_LIMIT + 50)
            platform.asked.clear()
            for _ in range(5):
                on.hours.go_by(PAUSE)
                await on.arrived()
            assert limits(platform) == []
            assert shown(on).count("gap") == 1
            company = next(iter(platform.world.state.companies))
            on.poller.set_query(Query(company=company))
            platform.faults.clear()
            await on.poller.read_again(FeedName.ALERTS)
            await on.poller.read_again(FeedName.ACTIVITY)
            for _ in range(5):
                on.hours.go_by(PAUSE)
                await on.arrived()
            asked = [query for path, query in platform.asked if path == "/api/activity"]
            assert {(query["company_id"], query["limit"]) for query in asked} == {
                (company, str(ACTIVITY_LIMIT))
            }
            newest_first = platform.world.activity(company)[:ACTIVITY_LIMIT]
            assert shown(on) == [entry.id for entry in reversed(newest_first)]


@pytest.mark.parametrize("status", [422, 500])
async def test_what_cannot_be_read_stays_a_gap(status: int) -> None:
    def choice(path: str, query: dict[str, str]) -> int | dict[str, str]:
        return status if int(query.get("limit", 0)) > ACTIVITY_LIMIT else query

    with ChoosyPlatform(choice, **SMALL) as platform:
        happen(platform, 300)
        async with stage(platform, wanted=NONE) as on:
            await polls(on, platform, ACTIVITY_LIMIT + 50, 5)
            seen, log = shown(on), written(platform)
            assert seen.count("gap") == 1
            assert seen[seen.index("gap") + 1 :] == log[-ACTIVITY_LIMIT - 5 :]
            on.hours.go_by(PAUSE)
            await on.until(lambda: str(PAGE) in limits(platform))
            assert shown(on) == seen


async def test_a_platform_that_cuts_limits_down_quietly_is_read_with_a_gap() -> None:
    def choice(path: str, query: dict[str, str]) -> dict[str, str]:
        return {**query, "limit": "20"} if "limit" in query else query

    with ChoosyPlatform(choice, **SMALL) as platform:
        happen(platform, 300)
        async with stage(platform, wanted=NONE) as on:
            await polls(on, platform, 19, 21, 3)
            seen, log = shown(on), written(platform)
            assert seen == [*log[-63:-24], "gap", *log[-23:]]
            texts = partial(map, lambda entry: entry.text, on.store.activity)
            while NO_MORE not in texts():
                on.hours.go_by(PAUSE)
                await on.arrived()
            assert shown(on) == seen


async def test_the_window_is_bounded_and_no_more_is_asked_for_than_it_holds() -> None:
    with ChoosyPlatform(as_asked, **SMALL) as platform:
        happen(platform, 900)
        store = Store()
        store.activity = ActivityWindow(capacity=150)
        async with stage(platform, wanted=NONE, store=store) as on:
            assert await polls(on, platform, 30, 400) == ["150", "150"]
            assert shown(on) == written(platform)[-150:]


async def test_an_answer_that_is_the_same_again_changes_nothing(platform: EmbeddedPlatform) -> None:
    async with stage(platform, wanted=EVERYTHING) as on:
        await on.settled()
        on.store.subscribe(lambda change: pytest.fail(f"told {change}"))
        for feed in [*FeedName] * 2:
            assert (await on.poller.read_again(feed)).phase is Phase.LIVE
