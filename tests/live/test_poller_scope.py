"""Another company or another filter while answers to the old question are under way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence

import pytest

from agentco_tui.api import transport
from agentco_tui.live.feeds import SCOPED, FeedName, Freshness, Pace, Phase, Query
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Activity, Budget, Task
from agentco_tui.reading import stream
from agentco_tui.text import mark_safe
from tests.live.poller_harness import EVERYTHING, OPERATIONS, ChoosyPlatform, Stage, stage
from tests.platform import EmbeddedPlatform


def companies(platform: EmbeddedPlatform) -> tuple[str, str]:
    first, second = platform.world.state.companies
    return first, second


def held(store: Store, feed: FeedName) -> dict[str, str | None]:
    """The records of a feed, each with its company."""
    records: Iterable[Task | Activity | Budget] = {
        FeedName.AGENTS: store.agents,
        FeedName.PENDING: store.pending,
        FeedName.TASKS: store.tasks,
        FeedName.AGENT_BUDGETS: store.agent_budgets,
        FeedName.ACTIVITY: store.activity,
    }[feed]  # type: ignore[assignment]
    return {record.id: record.company.id if record.company else None for record in records}


def only(*feeds: FeedName) -> dict[FeedName, Pace]:
    return {feed: Pace.REFRESH if feed in feeds else Pace.OFF for feed in FeedName}


async def start(on: Stage, spec: str) -> None:
    """Have every feed asked, and wait until the fault has struck the request."""
    fault = on.platform.faults.add(spec)
    on.poller.poll_now()
    await on.until(lambda: fault.struck == 1)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("feed", SCOPED)
async def test_an_answer_to_the_old_question_never_shows_as_the_new(
    platform: EmbeddedPlatform, feed: FeedName, known: bool
) -> None:
    old, new = companies(platform)
    told: list[Change] = []
    slow = f"{OPERATIONS[feed]}:latency=30ms,times=1"
    if not known:
        platform.faults.add(slow)
    async with stage(platform, wanted=only(feed), query=Query(company=old)) as on:
        if known:
            await on.settled()
            assert set(held(on.store, feed).values()) == {old}
            await start(on, slow)
        else:
            await on.until(lambda: platform.faults.armed[0].struck == 1)
        on.store.subscribe(told.append)
        before = held(on.store, feed)
        on.poller.set_query(Query(company=new))
        assert not held(on.store, feed), "emptied at once"
        assert on.freshness(feed) == Freshness()
        assert {record_id for change in told for record_id in change.removed} == set(before)
        told.clear()
        await on.until(lambda: on.freshness(feed).phase is not Phase.LOADING)
        shown = held(on.store, feed)
        assert set(shown.values()) == {new}
        assert [set(change.added) for change in told] == [set(shown)]


@pytest.mark.parametrize("feed", SCOPED)
async def test_a_failure_of_the_old_is_no_news(platform: EmbeddedPlatform, feed: FeedName) -> None:
    old, new = companies(platform)
    seen: list[Freshness] = []
    async with stage(platform, wanted=only(feed), query=Query(company=old)) as on:
        await on.settled()
        await start(on, f"{OPERATIONS[feed]}:drip=5ms,times=1")
        on.poller.set_query(Query(company=new))
        on.store.on_freshness = lambda told: seen.append(on.freshness(told))
        on.hours.go_by(60.0)  # the dripping answer has used up its time
        await on.until(lambda: on.freshness(feed).phase is Phase.LIVE)
    assert [freshness.phase for freshness in seen] == [Phase.LIVE]


async def test_what_is_asked_about_all_outlives_a_scope(platform: EmbeddedPlatform) -> None:
    old, new = companies(platform)
    rest = [feed for feed in FeedName if feed not in SCOPED]
    async with stage(platform, wanted=EVERYTHING, query=Query(company=old)) as on:
        await on.settled()
        before = {feed: on.freshness(feed) for feed in rest}
        platform.requests.clear()
        on.poller.set_query(Query(company=new))
        await on.settled()
        await on.arrived()
        assert {feed: on.freshness(feed) for feed in rest} == before
        assert set(on.asked()) == {"agents", "pending", "tasks", "agent_budgets", "activity"}


async def test_read_again_answers_the_question_of_now(platform: EmbeddedPlatform) -> None:
    old, new = companies(platform)
    async with stage(platform, wanted=only(), query=Query(company=old)) as on:
        platform.faults.add("agents:latency=30ms,times=1")
        task = asyncio.create_task(on.poller.read_again(FeedName.AGENTS))
        await on.until(lambda: platform.faults.armed[0].struck == 1)
        on.poller.set_query(Query(company=new))
        assert (await task).phase is Phase.LIVE
        assert set(held(on.store, FeedName.AGENTS).values()) == {new}


async def test_agents_of_other_companies_never_stand_in_for_those_in_scope() -> None:
    """Some platforms send the agents' budgets inside the overview."""

    def choice(path: str, query: dict[str, str]) -> dict[str, str] | bytes:
        if path != "/api/budget":
            return query
        parts = [
            {"id": agent.id, "name": agent.name, "limit": 100, "spent": 7}
            for agent in platform.world.agents()
        ]
        return json.dumps({"limit": 500, "spent": 70, "agents": parts}).encode()

    with ChoosyPlatform(choice, companies=2, agents=16, tasks=20) as platform:
        old, new = companies(platform)
        wanted = only(FeedName.BUDGET, FeedName.AGENTS)
        async with stage(platform, wanted=wanted, query=Query(company=old)) as on:
            await on.settled()
            # Until the agents are known, nobody can say whose these are.
            assert set(held(on.store, FeedName.AGENT_BUDGETS)) <= {
                agent.id for agent in platform.world.agents(old)
            }
            for company in (new, old, None):
                on.poller.poll_now([FeedName.BUDGET])
                asked = len(platform.asked)
                await on.until(lambda: len(platform.asked) > asked)  # noqa: B023
                on.poller.set_query(Query(company=company))
                await on.settled()
                await on.poller.read_again(FeedName.BUDGET)
                agents = {agent.id for agent in platform.world.agents(company)}
                assert set(held(on.store, FeedName.AGENT_BUDGETS)) == agents


@pytest.mark.parametrize("moved_on", [False, True])
async def test_the_first_rows_of_a_long_list_show_until_it_is_whole(
    platform: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch, moved_on: bool
) -> None:
    monkeypatch.setattr(transport, "LONGEST_IN_MEMORY", 1_000)
    monkeypatch.setattr(stream, "CHUNK", 1_000)
    seen: list[tuple[int, bool]] = []
    async with stage(platform, wanted=only()) as on:
        pending = on.store.pending

        def look(change: Change) -> None:
            if change.feed is FeedName.PENDING and change.added:
                seen.append((len(pending), pending.listing.more))
                assert on.freshness(FeedName.PENDING).answered_at is None

        real = on.client.tasks

        async def tasks(begins: Callable[[Sequence[Task]], None], **asked: str) -> object:
            def begin(first: Sequence[Task]) -> None:
                if moved_on:
                    on.poller.query = Query(company=companies(platform)[0])
                begins(first)
                on.poller.query = Query()

            return await real(begins=begin, **asked)

        monkeypatch.setattr(on.client, "tasks", tasks)
        on.store.subscribe(look)
        await on.poller.read_again(FeedName.PENDING)
        whole = (len(pending), False)
    first = seen.pop(0) if not moved_on else (0, True)
    assert seen == [whole]
    assert first[0] < whole[0]
    assert first[1]


@pytest.mark.parametrize("tail", [b'], "success": false}', b', {"id": "tsk'])
async def test_first_rows_go_with_the_rest(monkeypatch: pytest.MonkeyPatch, tail: bytes) -> None:
    monkeypatch.setattr(transport, "LONGEST_IN_MEMORY", 1_000)
    monkeypatch.setattr(stream, "CHUNK", 1_000)
    rows = [{"id": f"t{each}", "title": "x" * 100, "status": "pending"} for each in range(1_000)]
    bodies = [b'{"error": "no"}', b'{"data": [' + json.dumps(rows).encode()[1:-1] + tail]
    seen: list[Change] = []
    with ChoosyPlatform(lambda *_: bodies[0]) as platform:
        async with stage(platform, wanted=only()) as on:
            written = Task(id="written", title=mark_safe("by a write"))
            on.store.pending.put(written)
            await on.poller.read_again(FeedName.PENDING)
            assert list(on.store.pending) == [written], "nothing of that answer was shown"
            bodies.pop(0)
            on.store.subscribe(seen.append)
            freshness = await on.poller.read_again(FeedName.PENDING)
            assert (freshness.phase, freshness.failures) == (Phase.FAILED, 2)
            assert not on.store.pending
            assert len(seen) == 2
            assert 0 < len(seen[0].added) == len(seen[1].removed)
