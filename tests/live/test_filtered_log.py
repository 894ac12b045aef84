"""A part of the log that one reader asked for, apart from the store's own log."""

from __future__ import annotations

import ast
import asyncio
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import fields

from agentco_tui.api.errors import Invalid
from agentco_tui.api.generic import CAPABILITIES
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import NO_LOG_FILTER, ActivityFilter, FeedName, Pace, Phase, Query
from agentco_tui.live.fetch import ACTIVITY_LIMIT
from agentco_tui.live.filtered_log import FilteredLog, is_about_agent
from agentco_tui.live.names import Names
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Activity, Agent, Listing, Moment, Ref
from agentco_tui.text import mark_safe
from tests.live.poller_harness import ChoosyPlatform, Stage, stage
from tests.platform import EmbeddedPlatform

PACKAGE = Path(__file__).parents[2] / "agentco_tui"
NONE = dict.fromkeys(FeedName, Pace.OFF)
MAY_FILTER = {"screens/plain_views.py", "screens/pages.py", "commands/get.py", "commands/tail.py"}
"""The Activity screen and two commands. Pages of agents take a rule from there, and no log."""


def imports_of(module: Path, name: str) -> set[str]:
    """What a module imports from the module of that dotted name."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    nodes = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    return {alias.name for each in nodes if each.module == name for alias in each.names}


def test_the_store_is_asked_for_a_company_and_for_no_part_of_the_log() -> None:
    assert [field.name for field in fields(Query)] == ["company"]


@pytest.mark.slow
def test_only_the_screen_that_shows_a_filtered_log_has_one() -> None:
    taken = {
        str(module.relative_to(PACKAGE)): names
        for module in sorted(PACKAGE.rglob("*.py"))
        if (names := imports_of(module, "agentco_tui.live.filtered_log"))
    }
    assert set(taken) == MAY_FILTER
    assert taken["screens/pages.py"] == {"is_about_agent"}
    tree = ast.parse((PACKAGE / "screens/plain_views.py").read_text(encoding="utf-8"))
    users = {
        part.name
        for part in tree.body
        if isinstance(part, ast.ClassDef)
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and node.id == "FilteredLog"
    }
    assert users == {"ActivityView"}


def open_log(on: Stage, asked: ActivityFilter, changes: list[Change] | None = None) -> FilteredLog:
    told = [] if changes is None else changes
    return FilteredLog(on.client, on.hours, asked, Names(on.store), on_change=told.append)


def agent_of(platform: EmbeddedPlatform, place: int) -> str:
    return [*platform.world.state.agents][place]


def log_of(platform: EmbeddedPlatform, agent: str) -> list[str]:
    """The ids of the entries of an agent, oldest first."""
    entries = platform.world.state.entries
    return [each.id for each in entries if each.agent is not None and each.agent.id == agent]


async def test_the_filter_goes_out_and_nothing_of_it_reaches_the_store(
    platform: EmbeddedPlatform,
) -> None:
    agent = agent_of(platform, 0)
    company = platform.world.state.agents[agent].company.id
    day = datetime.fromtimestamp(platform.world.now, UTC).date()
    asked = ActivityFilter(
        company=company, agent=agent, from_date=day - timedelta(days=2), to_date=day, limit=7
    )
    async with stage(platform, wanted=NONE) as on:
        await on.poller.read_again(FeedName.ACTIVITY)
        before = list(on.store.activity)
        on.store.subscribe(lambda change: pytest.fail(f"the store has changed: {change}"))
        log = open_log(on, asked)
        await log.read()
        assert set(platform.requests[-1].query.split("&")) == {
            f"company_id={company}",
            f"agent_id={agent}",
            f"from={day - timedelta(days=2)}",
            f"to={day}",
            "limit=7",
        }
        assert [entry.id for entry in log] == log_of(platform, agent)[-7:]
        assert list(on.store.activity) == before
        # And the store's own poll asks for all, as before.
        await on.poller.read_again(FeedName.ACTIVITY)
        assert platform.requests[-1].query == f"limit={ACTIVITY_LIMIT}"
        assert log.limitations() == []


async def test_where_the_platform_ignores_the_filter_its_answer_is_filtered_here() -> None:
    def ignore(path: str, query: dict[str, str]) -> dict[str, str]:
        is_log = path == "/api/activity"
        return {"limit": query["limit"]} if is_log else query

    with ChoosyPlatform(ignore, companies=2, agents=6, tasks=10) as platform:
        first, second = agent_of(platform, 0), agent_of(platform, 1)
        with platform.world.locked() as state:
            for number in range(40):
                at = platform.world.time() + number / 1_000
                for agent in (first, second):
                    state.log(at, "info", "note", f"entry {number}", agent=state.agents[agent])
        async with stage(platform, wanted=NONE) as on:
            log = open_log(on, ActivityFilter(agent=first, limit=50))
            await log.read()
            newest = [entry.id for entry in platform.world.state.entries][-50:]
            wanted = [each for each in log_of(platform, first) if each in newest]
            assert [entry.id for entry in log] == wanted
            assert len(wanted) == 25
            assert [str(words) for words in log.limitations()] == [
                "25 entries that do not match left out"
            ]
            # Two answers join by the entries of others, too: no gap is claimed.
            with platform.world.locked() as state:
                for number in range(45):
                    at = platform.world.time() + 1 + number / 1_000
                    state.log(at, "info", "note", f"more {number}", agent=state.agents[second])
            await log.read()
            assert not any(is_gap(entry) for entry in log)


async def test_a_failure_is_the_logs_own_and_a_change_is_reported(
    platform: EmbeddedPlatform,
) -> None:
    agent = agent_of(platform, 0)
    changes = list[Change]()
    async with stage(platform, wanted=NONE) as on:
        await on.poller.read_again(FeedName.ACTIVITY)
        log = open_log(on, ActivityFilter(agent=agent), changes)
        platform.faults.add("activity:status=422,times=1")
        running = asyncio.create_task(log.run(lambda: Pace.REFRESH, lambda: 5.0))
        await on.until(lambda: log.freshness.failure is not None)
        assert isinstance(log.freshness.failure, Invalid)
        assert log.freshness.phase is Phase.FAILED
        assert on.freshness(FeedName.ACTIVITY).phase is Phase.LIVE
        log.poll_now()
        await on.until(lambda: log.freshness.phase is Phase.LIVE)
        assert {key for change in changes for key in change.added} == {each.id for each in log}
        assert [entry.id for entry in log] == log_of(platform, agent)[-ACTIVITY_LIMIT:]
        running.cancel()
        await asyncio.wait({running})
        asked = len(list(platform.requests.matching("activity")))
        on.hours.go_by(600.0)
        await on.arrived()
        assert len(list(platform.requests.matching("activity"))) == asked, (
            "who has closed it asks nothing"
        )


async def test_what_polls_missed_is_read_with_the_same_filter() -> None:
    asked = list[dict[str, str]]()

    def keep(path: str, query: dict[str, str]) -> dict[str, str]:
        if path == "/api/activity":
            asked.append(query)
        return query

    with ChoosyPlatform(keep, companies=1, agents=2, tasks=2) as platform:
        agent = agent_of(platform, 0)

        def happen(count: int) -> None:
            with platform.world.locked() as state:
                for _ in range(count):
                    at = platform.world.time() + state.numbers["entry"] / 1_000
                    state.log(at, "info", "note", "step", agent=state.agents[agent])

        happen(60)
        async with stage(platform, wanted=NONE) as on:
            log = open_log(on, ActivityFilter(agent=agent, limit=20))
            running = asyncio.create_task(log.run(lambda: Pace.REFRESH, lambda: 5.0))
            await on.until(lambda: len(log) == 20)
            happen(50)
            log.poll_now()
            await on.until(lambda: any(is_gap(entry) for entry in log))
            on.hours.go_by(2.0)
            await on.until(lambda: len(log) == 70 and not any(map(is_gap, log)))
            assert [entry.id for entry in log] == log_of(platform, agent)[-70:]
            assert {query["agent_id"] for query in asked} == {agent}
            running.cancel()
            await asyncio.wait({running})


def entry(**about: object) -> Activity:
    return Activity(id="e", text=mark_safe("step"), at=Moment(0.0), **about)  # type: ignore[arg-type]


def test_whose_an_entry_is_is_read_and_not_guessed() -> None:
    store = Store()
    store.take(FeedName.AGENTS, Listing(records=(Agent(id="ag_2", name=mark_safe("Linus")),)))
    names = Names(store)
    person = {"actor": Ref(id="usr_1"), "actor_type": mark_safe("user")}
    known: list[tuple[Activity, bool | None]] = [
        (entry(agent=Ref(id="ag_1")), True),
        (entry(actor=Ref(id="ag_1")), True),
        (entry(agent=Ref(id="ag_1"), **person), True),
        (entry(agent=Ref(id="ag_2")), False),
        (entry(actor=Ref(id="ag_2")), False),
        (entry(actor=Ref(id="ag_9"), actor_type=mark_safe("agent")), False),
        (entry(**person), None),
        (entry(actor=Ref(id="x")), None),
        (entry(agent=Ref(name=mark_safe("Ada"))), None),
        (entry(), None),
    ]
    for each, verdict in known:
        assert is_about_agent(each, "ag_1", names) is verdict, each


async def read_days(asked: ActivityFilter, *hours: float) -> list[str]:
    """The ids of the entries, so many hours after a midnight, that are part of the log."""
    midnight = datetime(2026, 11, 2, tzinfo=UTC).timestamp()
    records = tuple(
        Activity(id=f"{hour:g}", text=mark_safe("step"), at=Moment(midnight + hour * 3_600))
        for hour in hours
    )

    class Client:
        capabilities = CAPABILITIES

        async def activity(self, *_: object, **__: object) -> Listing[Activity]:
            return Listing(records=records)

    log = FilteredLog(Client(), Stopped(), asked, Names(Store()))  # type: ignore[arg-type]
    await log.read()
    return [each.id for each in log]


class Stopped:
    """A clock for what is read once."""

    def monotonic(self) -> float:
        return 0.0


async def test_a_platforms_days_may_begin_elsewhere_unless_it_ignores_them() -> None:
    asked = ActivityFilter(from_date=date(2026, 11, 2), to_date=date(2026, 11, 2))
    assert await read_days(asked, -13, 1, 23, 30) == ["-13", "1", "23", "30"]
    # Days of no zone: from then on only what is of the day here counts.
    assert await read_days(asked, -40, -13, 1, 23, 30) == ["1", "23"]
    last = ActivityFilter(to_date=date.max)
    assert await read_days(last, -40, 1) == ["-40", "1"]
    assert await read_days(NO_LOG_FILTER, -40, 1) == ["-40", "1"]
