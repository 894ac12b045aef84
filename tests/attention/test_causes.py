"""What has one cause is one need, whichever lists report it, and nothing of it is lost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from agentco_tui.attention.need_words import sentence_of, words_of
from agentco_tui.attention.needs import Need, NeedKind, RankReason, group_alike_tasks
from agentco_tui.attention.needs_model import FEEDS, NeedsModel
from agentco_tui.attention.snooze import Snooze, Snoozes
from agentco_tui.config import AlertLimits
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.feeds import Clock, FeedName, Freshness
from agentco_tui.live.insight import Level
from agentco_tui.live.names import Names
from agentco_tui.live.ownership import cause_of
from agentco_tui.live.store import Store
from agentco_tui.live.waiting_queue import EVERYTHING
from agentco_tui.model import (
    Agent,
    AgentState,
    Alert,
    Budget,
    BudgetScope,
    IdDoubt,
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
from agentco_tui.text import mark_safe

NOW = 1_790_000_000.0
MINUTE = 60.0
ACME, GLOBEX = Ref("acme", mark_safe("Acme")), Ref("globex", mark_safe("Globex"))
ELSEWHERE = IdDoubt(reason=mark_safe("decide this elsewhere"))


class Desk:
    """The needs of records that a test puts there."""

    def __init__(self) -> None:
        self.now = NOW
        self.store = Store()
        self.outlook = ForecastService(self.store, None, Clock(machine=lambda: self.now))
        self.snoozes = Snoozes(None, "")
        self.decided: list[Task] = []
        self.scope: str | None = None
        self.model = NeedsModel(
            self.outlook, self.snoozes, lambda: self.scope, lambda: self.decided
        )

    def show(self, feed: FeedName, *records: Record) -> list[Need]:
        """Take an answer with these records; returns the needs after it."""
        self.store.take(feed, Listing(records=records))
        return self.refresh()

    def refresh(self) -> list[Need]:
        at_once(self.model.refresh_steps())
        return self.model.shown

    def sentence(self, need: Need) -> str:
        return sentence_of(need, Names(self.store), self.outlook, self.now)


def task(
    id: str,
    minutes: float = 20,
    *,
    cause: str | None = "GLO-7",
    decidable: bool = False,
    **more: Any,
) -> Task:
    more.setdefault("company", ACME)
    return Task(
        id=id,
        title=mark_safe(f"Do {id}"),
        state=TaskState.PENDING,
        created=Moment(NOW - minutes * MINUTE),
        id_doubt=None if decidable else ELSEWHERE,
        cause=cause,
        **more,
    )


def ids(needs: list[Need]) -> list[str]:
    return [need.record.id for need in needs]


def levels(desk: Desk) -> tuple[int, int]:
    return desk.model.levels[Level.CRITICAL], desk.model.levels[Level.WARNING]


def test_the_worst_is_shown_and_names_the_others() -> None:
    desk = Desk()
    (need,) = desk.show(FeedName.PENDING, task("blocked", 30), task("recovery", 20))
    assert ids([need]) == ["blocked"]
    assert [other.key for other in need.others] == ["task:recovery"]
    assert desk.sentence(need) == "task waits 30 m: Do blocked (Acme); also: Do recovery"
    assert levels(desk) == (0, 1)
    assert desk.model.queue.count == 1
    assert desk.model.queue.listed == 2
    assert need.count == 0, "no agent has this queue"
    assert desk.model.queue.oldest == NOW - 30 * MINUTE
    assert desk.model.counts(NOW) == {(Level.WARNING, NeedKind.TASK): 1}


def test_what_can_be_decided_comes_first_with_the_level_of_the_worst() -> None:
    desk = Desk()
    blocked, question = task("blocked", 600), task("question", 1, decidable=True)
    (need,) = desk.show(FeedName.PENDING, blocked, question)
    assert ids([need]) == ["question"]
    assert need.level is Level.CRITICAL
    assert levels(desk) == (1, 0)
    assert desk.model.critical() == [need]
    (need,) = desk.show(FeedName.PENDING, question, blocked, task("review", 20, decidable=True))
    assert ids([need]) == ["review"]
    assert [other.record.id for other in need.others] == ["blocked", "question"]


def test_each_company_has_its_own_causes() -> None:
    desk = Desk()
    shown = desk.show(FeedName.PENDING, task("one"), task("two", company=GLOBEX))
    assert sorted(ids(shown)) == ["one", "two"]
    assert not any(need.others for need in shown)
    desk.scope = "acme"
    assert ids(desk.refresh()) == ["one"]


def test_a_cause_is_none_where_none_is_said() -> None:
    desk = Desk()
    shown = desk.show(FeedName.PENDING, task("one", cause=None), task("two", cause=None))
    assert sorted(ids(shown)) == ["one", "two"]


def stopped_agent(desk: Desk) -> None:
    """Ada is stopped by her budget: the platform says it in four lists."""
    agent = Agent(id="ada", name=mark_safe("Ada"), state=AgentState.PAUSED, company=ACME)
    budget = Budget(
        id="ada",
        scope=BudgetScope.AGENT,
        company=ACME,
        share=Decimal("1.19"),
        spent=Money(Decimal(119)),
        limit=Money(Decimal(100)),
    )
    incident = Alert(
        id="incident",
        text=mark_safe("over"),
        severity=Severity.CRITICAL,
        agent=Ref("ada"),
        company=ACME,
        at=Moment(NOW),
    )
    desk.show(FeedName.AGENTS, replace(agent, cause="ada"))
    desk.show(FeedName.AGENT_BUDGETS, replace(budget, cause="ada"))
    desk.show(FeedName.ALERTS, replace(incident, cause="ada"))


def test_a_stopped_agent_is_one_need_with_what_asks_to_let_it_go_on() -> None:
    desk = Desk()
    stopped_agent(desk)
    override = task("override", 20, cause="ada")
    (need,) = desk.show(FeedName.PENDING, override)
    assert need.key == "agent:ada"
    assert [other.record for other in need.others] == [override]
    assert desk.sentence(need).endswith("no agent is blocked; also: Do override")
    assert levels(desk) == (1, 0)
    assert desk.model.money_levels[Level.CRITICAL] == 1
    (need,) = desk.show(FeedName.PENDING, replace(override, id_doubt=None))
    assert need.key == "task:override"
    assert need.level is Level.CRITICAL
    assert need.rank_reason is RankReason.ONE
    assert words_of(need, Names(desk.store), desk.outlook, NOW).also == "also: Ada stopped"
    assert levels(desk) == (1, 0)
    (need,) = desk.show(FeedName.PENDING)
    assert need.key == "agent:ada"
    assert need.others == ()


def test_when_the_shown_one_is_over_the_next_appears_at_once() -> None:
    desk = Desk()
    rows = [task("question", decidable=True), task("blocked", 30), task("recovery", 20)]
    seen = []
    while rows:
        (need,) = desk.show(FeedName.PENDING, *rows)
        seen.append(need.record.id)
        assert levels(desk) == (0, 1)
        rows = [row for row in rows if row.id != need.record.id]
    assert seen == ["question", "blocked", "recovery"]
    assert desk.show(FeedName.PENDING) == []
    assert levels(desk) == (0, 0)


def test_a_task_whose_cause_changes_is_a_need_of_its_own() -> None:
    desk = Desk()
    one, two, three = task("one", 40), task("two", 30), task("three", 20, cause="GLO-8")
    assert ids(desk.show(FeedName.PENDING, one, two, three)) == ["one", "three"]
    moved = replace(one, cause="GLO-8")
    assert ids(desk.show(FeedName.PENDING, moved, two, three)) == ["one", "two"]
    assert levels(desk) == (0, 2)
    alone = replace(one, cause=None)
    assert ids(desk.show(FeedName.PENDING, alone, two, three)) == ["one", "two", "three"]
    assert levels(desk) == (0, 3)


def test_nothing_of_a_cause_is_a_need_before_its_worst_is() -> None:
    desk = Desk()
    assert desk.show(FeedName.PENDING, task("one", 5), task("two", 10, decidable=True)) == []
    desk.now += 6 * MINUTE
    (need,) = desk.refresh()
    assert ids([need]) == ["two"]
    desk.outlook.limits = AlertLimits(waiting_warning=30 * MINUTE)
    assert desk.refresh() == []
    desk.outlook.limits = AlertLimits(waiting_warning=MINUTE)
    assert ids(desk.refresh()) == ["two"]


def test_what_is_said_of_a_task_follows_the_queue_of_its_agent() -> None:
    desk = Desk()
    ada = Ref("ada", mark_safe("Ada"))
    one, two = task("one", 30, agent=ada), task("two", 20, agent=ada)
    (need,) = desk.show(FeedName.PENDING, one, two)
    assert need.count == 1
    assert need.waits_longest
    more = task("more", 40, cause=None, agent=ada)
    need = next(n for n in desk.show(FeedName.PENDING, one, two, more) if n.others)
    assert need.count == 2
    assert not need.waits_longest


def test_an_agent_blocks_each_cause_once() -> None:
    desk = Desk()
    stopped_agent(desk)
    ada = Ref("ada")
    of_ada = [task("one", agent=ada), task("two", agent=ada), task("x", cause=None, agent=ada)]
    needs = desk.show(FeedName.PENDING, *of_ada)
    assert "2 tasks stay blocked" in desk.sentence(needs[0])
    assert desk.model.queue.waiting_by_owner[BudgetScope.AGENT, "ada"] == 2
    desk.show(FeedName.PENDING, of_ada[1], of_ada[2])
    assert desk.model.queue.waiting_by_owner[BudgetScope.AGENT, "ada"] == 2
    desk.show(FeedName.PENDING, of_ada[2])
    assert desk.model.queue.waiting_by_owner[EVERYTHING] == 1


def test_all_of_a_cause_is_put_off_together() -> None:
    desk = Desk()
    stopped_agent(desk)
    desk.snoozes.set(["agent:ada"], Snooze(Level.CRITICAL))
    desk.refresh()
    desk.model.end_snoozes()  # this one was met
    (need,) = desk.show(FeedName.PENDING, task("override", 20, cause="ada", decidable=True))
    assert need.keys == ["task:override", "agent:ada"]
    desk.snoozes.set(need.keys, Snooze(need.level))
    (need,) = desk.refresh()
    assert need.snooze is not None
    assert levels(desk) == (0, 0)
    desk.model.end_snoozes()
    for feed in FEEDS:
        desk.store.freshness[feed] = Freshness(answered_at=0.0)
    desk.model.end_snoozes()
    assert {*desk.snoozes.all} == {"agent:ada", "task:override"}
    desk.show(FeedName.AGENT_BUDGETS)
    desk.show(FeedName.ALERTS)
    (need,) = desk.show(FeedName.AGENTS)
    assert need.key == "task:override"
    assert need.snooze is not None


def test_what_can_be_decided_ends_no_snooze_of_the_rest_but_is_shown() -> None:
    desk = Desk()
    (need,) = desk.show(FeedName.PENDING, task("blocked", 30), task("recovery"))
    desk.snoozes.set(need.keys, Snooze(need.level))
    desk.refresh()
    assert levels(desk) == (0, 0)
    rows = task("blocked", 30), task("recovery"), task("question", decidable=True)
    (need,) = desk.show(FeedName.PENDING, *rows)
    assert ids([need]) == ["question"]
    assert need.snooze is None
    assert levels(desk) == (0, 1)


def test_an_open_decision_is_shown_though_its_cause_has_another_need() -> None:
    desk = Desk()
    first, second = task("first", 30, decidable=True), task("second", 20, decidable=True)
    desk.show(FeedName.PENDING, first, second)
    desk.decided = [first]
    (need,) = desk.refresh()
    assert ids([need]) == ["first"]
    assert ids(list(need.others)) == ["second"]
    desk.decided = [second]
    undecided, need = desk.refresh()
    assert undecided.rank_reason is RankReason.DECIDED
    assert ids([undecided, need]) == ["second", "first"]


def test_tasks_alike_are_one_line_only_if_each_is_all_of_its_cause() -> None:
    title = mark_safe("Spend $40")
    alike = [Need(Level.WARNING, NeedKind.TASK, replace(task(id, decidable=True), title=title),
        RankReason.WAIT, own_key=f"task:{id}") for id in "abc"]  # fmt: skip
    assert [len(need.alike) for need in group_alike_tasks(alike, ())] == [3]
    alike[1] = replace(alike[1], others=(alike[2],))
    grouped = group_alike_tasks(alike[:2], ())
    assert [need.alike for need in grouped] == [(), ()]


def test_several_stuck_tasks_have_no_one_cause() -> None:
    one, two = task("one"), task("two", cause="GLO-8")
    stuck = Need(Level.WARNING, NeedKind.STUCK, one, RankReason.STUCK, own_key="stuck:ada")
    assert stuck.cause == cause_of(one)
    assert replace(stuck, related=(two,)).cause is None
    agent = Agent(id="ada", company=ACME)
    idle = Need(Level.WARNING, NeedKind.AGENT, agent, RankReason.STOPS, related=(one,))
    assert idle.cause is None
    assert replace(idle, record=replace(agent, cause="ada")).cause == "acme\nada"


def test_many_others_are_counted() -> None:
    desk = Desk()
    (need,) = desk.show(FeedName.PENDING, *(task(f"t{n}", 90 - n) for n in range(6)))
    also = words_of(need, Names(desk.store), desk.outlook, NOW).also
    assert also == "also: Do t1; Do t2; Do t3; and 2 more"
