"""What is remembered of what the store is told, and what is not."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest

from agentco_tui.history import history as history_module
from agentco_tui.history.history import History
from agentco_tui.history.log_counts import observe_log
from agentco_tui.history.observations import BudgetSample, HistoryError
from agentco_tui.history.reader import Reader
from agentco_tui.history.sampler import Sampler
from agentco_tui.live.feeds import Clock, FeedName, Freshness, Query
from agentco_tui.live.log_findings import state_from_verb
from agentco_tui.live.queue_tracker import QueueTracker
from agentco_tui.live.store import Change, Store
from agentco_tui.model import (
    Activity,
    Agent,
    Alert,
    Budget,
    BudgetOverview,
    BudgetScope,
    Company,
    Listing,
    Moment,
    Money,
    Record,
    Ref,
    Severity,
    Task,
    TaskState,
)
from agentco_tui.system.background import at_once
from agentco_tui.text import SafeText, clean_line
from tests.history.observed_file import ObservedDatabase
from tests.live.poller_harness import stage
from tests.platform import EmbeddedPlatform

T = TypeVar("T")
NOON = 1_700_049_600.0
USD = SafeText("USD")


@pytest.fixture(autouse=True, params=["at once", "when others have had their turn"])
def taken_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """When changes become rows: on a busy machine several answers may have come by then."""
    if request.param != "at once":
        # private: how much is done at once is no parameter.
        monkeypatch.setattr(history_module, "AT_ONCE", -1.0)


class Hand(Clock):
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.at = NOON

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at - NOON + 1


class Watched:
    """A store that is told what a poller would tell it, and its history."""

    def __init__(self, path: Path, store: Store | None = None) -> None:
        self.path, self.store, self.clock, self.query = path, store or Store(), Hand(), Query()
        self.history = History(path, "prod", "https://p.example")
        self.tracker = QueueTracker(self.store, lambda: self.query.company)
        Sampler(self.history, self.store, lambda: self.query, self.clock, self.tracker)

    def answer(self, feed: FeedName, *records: Record, after: float = 5.0, **about: Any) -> None:
        """A poll has brought these."""
        self.clock.at += after
        if feed is FeedName.ACTIVITY:
            merged = self.store.activity.merge(Listing(records=records))  # type: ignore[arg-type]
            self.store.publish(Change(feed, *merged))
        else:
            self.store.take(feed, Listing(records=records, **about))
        self.fresh(feed)

    def fresh(self, feed: FeedName) -> None:
        now = self.clock.monotonic()
        self.store.set_freshness(feed, Freshness(now, next_try_at=now + 5))

    def scope(self, company: str | None) -> None:
        """As `Poller.set_query` does."""
        before, self.query = self.query, Query(company=company)
        for feed in (FeedName.AGENTS, FeedName.PENDING, FeedName.AGENT_BUDGETS):
            if before.company is None and company is not None:
                self.store.narrow_to_company(feed, company)
            else:
                self.store.forget_feed(feed)

    async def written(self) -> None:
        """All that was observed is written, or could not be."""
        with suppress(HistoryError):
            await self.history.ask(lambda reader: None, up_to_now=True)

    async def remembered(self) -> Reader:
        """All of it, once it is written."""
        await asyncio.sleep(0)
        self.history.close(60)
        file = ObservedDatabase(self.path, "prod", "https://p.example")
        return file.read(lambda reader: reader)


@pytest.fixture
async def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "history.sqlite3")


def budget(agent: str, spent: int | None, company: str = "cmp_1", **about: Any) -> Budget:
    money = None if spent is None else Money(Decimal(spent), about.pop("unit", USD), **about)
    of = Ref(id=company)
    return Budget(id=agent, scope=BudgetScope.AGENT, spent=money, company=of)


def task(task_id: str, company: str | None = "cmp_1", **told: Any) -> Task:
    of = None if company is None else Ref(id=company)
    return Task(id=task_id, title=clean_line(f"task {task_id}"), company=of, **told)


def entry(entry_id: str, at: float, verb: str = "tool.used", **told: Any) -> Activity:
    return Activity(id=entry_id, at=Moment(NOON + at), verb=SafeText(verb), **told)


def spent(reader: Reader, agent: str) -> list[tuple[float, int | None]]:
    samples = reader.budget(BudgetScope.AGENT, agent, 0).samples
    return [(each.at - NOON, None if each.spent is None else int(each.spent)) for each in samples]


def waiting(reader: Reader, company: str | None) -> list[tuple[float, int]]:
    return [(each.at - NOON, each.waiting) for each in reader.queue(company, 0).samples]


async def test_what_a_platform_answers_is_remembered(
    platform: EmbeddedPlatform, tmp_path: Path
) -> None:
    path = tmp_path / "history.sqlite3"
    async with stage(platform) as on:
        history = History(path, "prod", platform.base_url)
        tracker = QueueTracker(on.store, lambda: on.poller.query.company)
        Sampler(history, on.store, lambda: on.poller.query, on.hours, tracker)
        on.poller.poll_now()
        await on.settled()
        history.close(60)
        store = on.store
    file = ObservedDatabase(path, "prod", platform.base_url)
    reader = file.read(lambda reader: reader)
    for scope, collection in store.budgets.items():
        for one in collection:
            subject = "" if scope is BudgetScope.ALL else one.id
            [sample] = reader.budget(scope, subject, 0).samples
            assert (sample.spent, sample.limit) == tuple(
                each and each.amount for each in (one.spent, one.limit)
            )
    with closing(sqlite3.connect(path)) as connection:
        named = {*connection.execute("SELECT kind, key, name FROM subject")}
        query = "SELECT subject, a, b, c FROM sample JOIN series ON id = series WHERE feed = ?"
        agents = {
            (*of, Decimal(trust), n) for *of, trust, n in connection.execute(query, ("agents",))
        }
    assert named == {
        *(("agent", each.id, each.name) for each in store.agents),
        *(("company", each.id, each.name) for each in store.companies),
    }
    assert agents == {
        (each.id, each.status, each.trust, each.tasks_completed) for each in store.agents
    }
    assert {life.id for life in reader.lives(0)} >= {*store.tasks.records}
    counts, seen = reader.activity(0)
    assert sum(count.count for count in counts) == len(store.activity)
    assert len(seen) == 1
    pending = {life.id for life in reader.lives(0) if life.state is TaskState.PENDING}
    assert reader.queue(None, 0).samples[0].waiting == len(pending)
    assert sum(reader.queue(each, 0).samples[-1].waiting for each in store.companies.records) == (
        len(pending)
    )


async def test_a_scope_hides_nothing_that_is_remembered(watched: Watched) -> None:
    """While one company is looked at, nothing is said of the others; and that is a gap."""
    agents = [budget("ag_1", 1), budget("ag_2", 2, "cmp_2")]
    tasks = [task("t1"), task("t2", "cmp_2")]
    for _ in range(2):
        watched.answer(FeedName.AGENT_BUDGETS, *agents)
        watched.answer(FeedName.PENDING, *tasks)
    watched.scope("cmp_1")
    for _ in range(20):
        watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 5))
        watched.answer(FeedName.PENDING, task("t1"))
    watched.scope(None)
    watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 5), agents[1])
    watched.answer(FeedName.PENDING, *tasks)
    reader = await watched.remembered()
    assert spent(reader, "ag_1") == [(25, 5)], "the last of the minute"
    assert spent(reader, "ag_2") == [(5, 2)]
    assert waiting(reader, None) == [(10, 2)]
    assert waiting(reader, "cmp_2") == [(10, 1)]
    assert waiting(reader, "cmp_1") == [(10, 1)]
    gap = [(each[0] - NOON, each[1] - NOON) for each in reader.queue("cmp_2", 0).seen]
    assert gap == [(10, 20), (230, 230)]
    assert len(reader.budget(BudgetScope.AGENT, "ag_1", 0).seen) == 1
    assert len(reader.budget(BudgetScope.AGENT, "ag_2", 0).seen) == 2


async def test_what_is_not_whole_has_no_count(watched: Watched) -> None:
    watched.answer(FeedName.PENDING, task("t1"), task("t2"))
    for partly in ({"more": True}, {"capped": True}, {"unread": 1}):
        watched.answer(FeedName.PENDING, task("t1"), **partly)
    reader = await watched.remembered()
    assert waiting(reader, None) == [(5, 2)]
    assert [(each[0] - NOON, each[1] - NOON) for each in reader.queue(None, 0).seen] == [(5, 5)]


async def test_a_company_has_no_count_before_it_is_known_whose_tasks_wait(
    watched: Watched,
) -> None:
    tasks = [task("t1", None, agent=Ref(id="ag_1")), task("t2", None, agent=Ref(id="ag_2"))]
    watched.answer(FeedName.COMPANIES, Company(id="cmp_1"), Company(id="cmp_2"))
    watched.answer(FeedName.PENDING, *tasks)
    agents = [Agent(id=f"ag_{at}", company=Ref(id="cmp_1")) for at in (1, 2)]
    watched.answer(FeedName.AGENTS, *agents)
    watched.answer(FeedName.PENDING, *tasks)
    reader = await watched.remembered()
    assert waiting(reader, None) == [(10, 2)]
    assert waiting(reader, "cmp_1") == [(20, 2)]
    assert waiting(reader, "cmp_2") == [(20, 0)]


async def test_a_new_start_is_no_gap(watched: Watched) -> None:
    watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 1))
    watched.history.close(60)
    later = Watched(watched.path)
    later.clock.at = watched.clock.at
    later.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 3))
    reader = await later.remembered()
    assert spent(reader, "ag_1") == [(10, 3)], "the last of the minute"
    assert len(reader.budget(BudgetScope.AGENT, "ag_1", 0).seen) == 1


async def test_where_nothing_answers_for_long_there_is_a_gap(watched: Watched) -> None:
    for after in (5, 50, 60, 61, 200, 5):
        watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 1), after=after)
    failed = watched.store.freshness[FeedName.AGENT_BUDGETS]
    watched.clock.at += 50
    watched.store.set_freshness(FeedName.AGENT_BUDGETS, failed)
    reader = await watched.remembered()
    seen = reader.budget(BudgetScope.AGENT, "ag_1", 0).seen
    assert [(each[0] - NOON, each[1] - NOON) for each in seen] == [(5, 115), (176, 176), (376, 381)]


async def test_parts_of_the_overview_stand_in(watched: Watched) -> None:
    whole = Budget(id="", scope=BudgetScope.ALL, spent=Money(Decimal(9)))
    for amount in (1, 2):
        watched.clock.at += 5
        watched.store.take_overview(BudgetOverview(whole=whole, parts=(budget("ag_1", amount),)))
        watched.fresh(FeedName.BUDGET)
    reader = await watched.remembered()
    assert spent(reader, "ag_1") == [(10, 2)], "the last of the minute"
    assert [each[1] - NOON for each in reader.budget(BudgetScope.AGENT, "ag_1", 0).seen] == [10]
    assert reader.budget(BudgetScope.ALL, "", 0).samples == (
        BudgetSample(NOON + 5, Decimal(9), None),
    )


async def test_an_assumed_unit_is_a_series_of_its_own(watched: Watched) -> None:
    watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 900, unit_assumed=True))
    watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 9))
    reader = await watched.remembered()
    assert spent(reader, "ag_1") == [(10, 9)]


async def test_the_life_of_a_task_from_lists_writes_and_log(watched: Watched) -> None:
    about: dict[str, Any] = {"agent": Ref(id="ag_1"), "cost": Money(Decimal(5), USD)}
    watched.answer(FeedName.PENDING, task("t1", created=Moment(NOON - 60), **about))
    approved = task("t1", state=TaskState.APPROVED, decided=Moment(NOON + 7), **about)
    watched.clock.at += 5
    watched.store.publish(watched.store.tasks.put(approved))  # read after a write
    about["task"] = Ref(id="t1")
    by = Ref(id="u1", name=clean_line("Wanda"))
    watched.answer(
        FeedName.ACTIVITY,
        entry("e1", 7, "task.approved", task=about["task"], actor=by),
        entry("e2", 9, "task.mused_about", task=about["task"]),
        entry("e3", 12, "task_completed", task=about["task"], agent=Ref(id="ag_1")),
    )
    reader = await watched.remembered()
    [life] = reader.lives(0)
    assert (life.title, life.agent, life.company) == ("task t1", "ag_1", "cmp_1")
    assert (life.waiting_since, life.first_seen) == (NOON - 60, NOON + 5)
    assert (life.decided, life.decided_by, life.ended) == (NOON + 7, "Wanda", NOON + 12)
    assert (life.state, life.estimate, life.currency) == (TaskState.DONE, Decimal(5), "USD")


async def test_the_log_is_counted_by_the_minute_however_often_it_is_polled(
    watched: Watched,
) -> None:
    about: dict[str, Any] = {"agent": Ref(id="ag_1"), "severity": Severity.WARNING}
    entries = [entry(f"e{at}", at, **about) for at in range(0, 100, 10)]
    for last in (4, 7, 7, 10):
        watched.answer(FeedName.ACTIVITY, *entries[:last], after=30)
    other = Watched(watched.path)
    other.answer(FeedName.ACTIVITY, *entries[3:], after=100)
    await other.remembered()
    reader = await watched.remembered()
    counts, seen = reader.activity(0)
    assert [(each.at - NOON, each.kind, each.count) for each in counts] == [
        (0, "tool used", 6),
        (60, "tool used", 4),
    ]
    assert {(each.agent, each.severity) for each in counts} == {("ag_1", Severity.WARNING)}
    assert [(each[0] - NOON, each[1] - NOON) for each in seen] == [(0, 120)]


async def test_a_gap_of_the_log_is_a_gap(watched: Watched) -> None:
    watched.answer(FeedName.ACTIVITY, entry("e1", 0), entry("e2", 4))
    watched.answer(FeedName.ACTIVITY, entry("e3", 300), entry("e4", 310), after=400)
    _, seen = (await watched.remembered()).activity(0)
    assert [(each[0] - NOON, each[1] - NOON) for each in seen] == [(0, 5), (300, 405)]


async def test_alerts_come_and_go(watched: Watched) -> None:
    alert = Alert(id="a", text=clean_line("over"), agent=Ref(id="ag_1"), severity=Severity.CRITICAL)
    watched.answer(FeedName.ALERTS, alert)
    watched.answer(FeedName.ALERTS, more=True)
    watched.answer(FeedName.ALERTS)
    [life] = (await watched.remembered()).alerts(0)
    assert (life.scope, life.subject) == (BudgetScope.AGENT, "ag_1")
    assert (life.first_seen, life.gone) == (NOON + 5, NOON + 15)


async def test_what_is_there_when_it_begins_is_taken_up(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "history.sqlite3")
    watched.answer(FeedName.PENDING, task("t1"))
    watched.answer(FeedName.ACTIVITY, entry("e1", 0))
    late = Watched(tmp_path / "late.sqlite3", watched.store)
    reader = await late.remembered()
    assert [life.id for life in reader.lives(0)] == ["t1"]
    assert waiting(reader, None) == [(0, 1)]
    assert [count.count for count in reader.activity(0)[0]] == [1]
    await watched.remembered()


async def test_a_file_that_is_begun_anew_is_told_everything(watched: Watched) -> None:
    watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 1))
    await watched.written()
    for each in watched.path.parent.iterdir():
        each.unlink()
    for _ in range(2):
        watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 1))
        await watched.written()
    assert spent(await watched.remembered(), "ag_1") == [(15, 1)]


async def test_what_was_dropped_is_told_anew(tmp_path: Path) -> None:
    """After a failure that lasts the oldest go, and what still holds is written with the next."""
    (tmp_path / "way").write_text("a file is in the way")
    watched = Watched(tmp_path / "way" / "history.sqlite3")
    with patch("agentco_tui.history.history_thread.MOST_WAITING", 0):
        watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 1), budget("ag_2", 2))
        await watched.written()
        (tmp_path / "way").unlink()
        watched.answer(FeedName.AGENT_BUDGETS, budget("ag_1", 3), budget("ag_2", 2))
        reader = await watched.remembered()
    assert spent(reader, "ag_1") == [(10, 3)]
    assert spent(reader, "ag_2") == [(10, 2)]


@pytest.mark.parametrize(
    ("verb", "state"),
    [
        ("task.approved", TaskState.APPROVED),
        ("task_failed", TaskState.FAILED),
        ("TaskCompleted", TaskState.DONE),
        ("approval.granted", TaskState.APPROVED),
        ("rejected", TaskState.REJECTED),
        ("tool.failed", None),
        ("error", None),
        ("task.created", None),
        ("task", None),
        ("", None),
    ],
)
def test_what_a_verb_says_of_a_task(verb: str, state: TaskState | None) -> None:
    assert state_from_verb(verb) is state


def test_a_log_read_elsewhere_is_counted_as_a_poll_is() -> None:
    entries: Sequence[Activity] = [entry("e1", 0), entry("e2", 59), entry("e3", 60)]
    assert [(each.at - NOON, each.count) for each in observe_log(entries).counts] == [
        (0, 2),
        (60, 1),
    ]


def calls_of(work: Callable[[], None]) -> int:
    """How many functions of Python are called."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


async def test_a_poll_costs_the_same_however_long_the_lists_are(tmp_path: Path) -> None:
    """One new task, one new entry and one changed budget, beside few records and beside many."""
    costs = list[int]()
    for size in (20, 2_000):
        watched = Watched(tmp_path / f"{size}.sqlite3")
        tasks = [task(f"t{number}") for number in range(size)]
        entries = [entry(f"e{number}", float(number)) for number in range(size)]
        budgets = [budget(f"ag_{number}", number) for number in range(size)]
        watched.answer(FeedName.PENDING, *tasks)
        watched.answer(FeedName.ACTIVITY, *entries)
        watched.answer(FeedName.AGENT_BUDGETS, *budgets)
        await watched.written()
        watched.store.pending.put(task("new"))
        watched.store.agent_budgets.put(budget("ag_1", 1_000))
        watched.store.activity.merge(Listing(records=(entries[-1], entry("new", size + 1.0))))

        def poll(watched: Watched = watched) -> None:
            watched.store.publish(Change(FeedName.PENDING, added=("new",)))
            watched.store.publish(Change(FeedName.AGENT_BUDGETS, changed=("ag_1",)))
            watched.store.publish(Change(FeedName.ACTIVITY, added=("new",)))
            for feed in (FeedName.PENDING, FeedName.AGENT_BUDGETS, FeedName.ACTIVITY):
                watched.fresh(feed)

        watched.clock.at += 5
        with patch("agentco_tui.history.history.AT_ONCE", 60.0):  # no slices: all is counted
            costs.append(calls_of(poll))
        reader = await watched.remembered()
        assert waiting(reader, None)[-1][1] == size + 1
    few, many = costs
    assert abs(few - many) <= few / 10


async def test_a_long_list_is_taken_up_in_slices(watched: Watched) -> None:
    """The event loop runs on meanwhile, and all of it is there in the end."""
    size = 20_000
    watched.answer(FeedName.PENDING, *(task(f"t{number}") for number in range(size)))
    turns = 0
    reading = asyncio.ensure_future(watched.written())
    while not reading.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 10
    reader = await watched.remembered()
    assert len(reader.lives(0)) == size
    assert waiting(reader, None)[-1][1] == size


async def test_a_count_has_the_time_of_the_answer_that_it_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The needs may have counted a later answer before the rows of an earlier one are made."""
    # private: how much is done at once is no parameter.
    monkeypatch.setattr(history_module, "AT_ONCE", -1.0)
    watched = Watched(tmp_path / "history.sqlite3")
    watched.answer(FeedName.PENDING, task("t_1"))
    await watched.written()
    watched.answer(FeedName.PENDING, task("t_1"), task("t_2"))
    watched.answer(FeedName.PENDING, task("t_1"), task("t_2"), task("t_3"))
    at_once(watched.tracker.take_in_steps())
    reader = await watched.remembered()
    assert reader.queue(None, 0).samples[-1].at == NOON + 15
    assert reader.queue(None, 0).samples[-1].waiting == 3


async def test_a_task_that_leaves_the_queue_is_noted_between_two_polls(watched: Watched) -> None:
    watched.answer(FeedName.PENDING, task("t1"), task("t2"))
    watched.answer(FeedName.PENDING, task("t2"), more=True)
    watched.answer(FeedName.PENDING, task("t1"), task("t2"))
    watched.answer(FeedName.PENDING, task("t2"))
    lives = {life.id: life for life in (await watched.remembered()).lives(0)}
    assert (lives["t1"].departed, lives["t1"].departed_after) == (NOON + 20, NOON + 15)
    assert lives["t2"].departed is None
