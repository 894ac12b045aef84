"""What needs a person, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from math import inf
from typing import Any

import pytest
from msgspec.structs import replace

from agentco_tui.attention.needs import Need, group_alike_tasks
from agentco_tui.attention.needs_model import NeedsModel
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.config import AlertLimits
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live import insight
from agentco_tui.live.feeds import Clock
from agentco_tui.live.insight import Level
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Agent,
    AgentState,
    Alert,
    Budget,
    BudgetScope,
    Company,
    IdDoubt,
    Listing,
    Moment,
    Ref,
    Severity,
    Task,
    TaskState,
)
from agentco_tui.system.background import at_once
from agentco_tui.text import mark_safe

NOW = 1_000_000.0
MINUTE = 60.0


LIMITS = AlertLimits()


def task(id: str, minutes: float | None, priority: str | None = "medium") -> Task:
    return Task(
        id=id,
        title=mark_safe(id),
        state=TaskState.PENDING,
        priority=None if priority is None else mark_safe(priority),
        created=None if minutes is None else Moment(NOW - minutes * MINUTE),
    )


def budget(id: str, share: str | None, scope: BudgetScope = BudgetScope.AGENT) -> Budget:
    return Budget(id=id, scope=scope, share=None if share is None else Decimal(share))


def alert(id: str = "a", **more: Any) -> Alert:
    return Alert(id=id, text=mark_safe("x"), **more)


@pytest.mark.parametrize(
    ("minutes", "priority", "level"),
    [(5, "medium", Level.OK), (15, "medium", Level.WARNING), (60, "medium", Level.CRITICAL),
     (0, "urgent", Level.WARNING), (20, "URGENT", Level.CRITICAL), (None, "low", Level.UNKNOWN)],
)  # fmt: skip
def test_a_task_is_as_urgent_as_its_wait_and_sooner_if_its_priority_says_so(
    minutes: float | None, priority: str, level: Level
) -> None:
    assert insight.task_level(task("t", minutes, priority), NOW, LIMITS) is level


@pytest.mark.parametrize(
    ("minutes", "priority", "changes_in"),
    [(5, "medium", 10), (15, "medium", 45), (60, "medium", None), (0, "urgent", 15),
     (20, "urgent", 40), (None, "low", None)],
)  # fmt: skip
def test_time_alone_changes_a_level_when_it_is_said_to(
    minutes: float | None, priority: str, changes_in: int | None
) -> None:
    changes_at = insight.task_level_changes_at(task("t", minutes, priority), NOW, LIMITS)
    assert changes_at == (inf if changes_in is None else NOW + changes_in * MINUTE)


def test_priority_words_are_ranked_and_unknown_ones_stand_in_the_middle() -> None:
    rank = insight.priority_rank
    ranks = [rank(word) for word in ("urgent", "High", "medium", "whatever", "low")]
    assert ranks == sorted(ranks)
    assert rank(None) == rank("whatever")
    assert rank("priority_high") == rank("high")


def test_a_budget_is_judged_by_its_share_and_the_platforms_own_warning_point() -> None:
    levels = {None: Level.UNKNOWN, "0.79": Level.OK, "0.8": Level.WARNING, "0.999": Level.WARNING}
    for share, level in (levels | {"1": Level.CRITICAL, "1.4": Level.CRITICAL}).items():
        assert insight.budget_level(budget("a", share), LIMITS) is level
    boundless = Budget(id="a", scope=BudgetScope.AGENT, unlimited=True)
    assert insight.budget_level(boundless, LIMITS) is Level.OK
    early = Budget(id="a", scope=BudgetScope.AGENT, share=Decimal("0.6"), warn_at=Decimal("0.5"))
    assert insight.budget_level(early, LIMITS) is Level.WARNING


AT = {day: datetime.fromisoformat(f"2026-{day}T00:00Z").timestamp() for day in (
    "02-12", "02-22", "03-04", "03-31", "04-04")}  # fmt: skip


@pytest.mark.parametrize(
    ("start", "end", "period", "now", "passed"),
    [
        ("02-12", "03-04", None, "02-22", 0.5),
        ("02-12", "03-04", None, "02-12", 0.0),
        ("02-12", "03-04", None, "03-04", None),
        ("02-12", "03-04", None, "04-04", None),  # the next one has begun
        ("03-04", "03-04", None, "03-04", None),
        (None, "03-04", "Monthly", "02-22", 18 / 28),
        (None, "03-31", "monthly", "03-04", None),  # February has no such day
        (None, "03-04", "weekly", "02-22", None),
        (None, "03-04", "yearly", "02-22", None),
        (None, "03-04", None, "02-22", None),
        ("02-12", None, "monthly", "02-22", None),
    ],
)
def test_the_part_of_a_period_that_is_over_is_known_by_its_start_and_end_or_not_at_all(
    start: str | None, end: str | None, period: str | None, now: str, passed: float | None
) -> None:
    known = replace(
        budget("a", "0.5"),
        period=None if period is None else mark_safe(period),
        period_start=None if start is None else Moment(AT[start]),
        resets=None if end is None else Moment(AT[end]),
    )
    assert insight.period_passed(known, AT[now]) == (
        passed if passed is None else pytest.approx(passed)
    )


def test_a_closed_alert_needs_nobody() -> None:
    for told, level in (
        (alert(severity=Severity.CRITICAL), Level.CRITICAL), (alert(), Level.WARNING),
        (alert(severity=Severity.CRITICAL, open=False), Level.OK),
        (alert(share=Decimal(1)), Level.CRITICAL),
    ):  # fmt: skip
        assert insight.alert_level(told, LIMITS) is level


def test_what_is_past_waiting_does_not_wait() -> None:
    for state, needs_approval, waits in (
        (TaskState.PENDING, None, True), (TaskState.DONE, None, False), (None, None, True),
        (TaskState.PENDING, False, False),
    ):  # fmt: skip
        told = Task(id="t", title=mark_safe("t"), state=state, needs_approval=needs_approval)
        assert insight.waits_for_person(told) is waits


def needs_of(store: Store) -> NeedsModel:
    """What needs a person of what is in a store."""
    outlook = ForecastService(store, None, Clock(machine=lambda: NOW), LIMITS)
    model = NeedsModel(outlook, Snoozes(None, ""), lambda: None)
    at_once(model.refresh_steps())
    return model


def queue_of(tasks: Sequence[Task]) -> NeedsModel:
    """What needs a person of these tasks."""
    store = Store()
    store.pending.replace(Listing(records=tuple(tasks)))
    return needs_of(store)


def waiting(*tasks: Task) -> list[Need]:
    """What of these tasks needs a person."""
    return queue_of(tasks).ranked(len(tasks))


def place(need: Need) -> tuple[object, ...]:
    """By level, then the urgent and high ones, then by how long they wait; an id decides last."""
    task = need.record
    assert isinstance(task, Task)
    urgent = ["urgent", "high", None].index(task.priority)
    since = insight.waiting_since(task)
    return -need.level, urgent, 0.0 if since is None else since - NOW, task.id


def test_the_worst_comes_first_and_an_alert_about_a_budget_is_not_told_twice() -> None:
    store = Store()
    tasks = task("waits long", 300), task("high", 90, "high"), task("new", 1)
    store.pending.replace(Listing(records=tasks))
    agents = budget("ag_1", "0.85"), budget("ag_2", "1.2")
    store.agent_budgets.replace(Listing(records=agents))
    company = budget("cmp_1", "1.01", BudgetScope.COMPANY)
    store.company_budgets.replace(Listing(records=(company,)))
    about = alert("al_1", severity=Severity.CRITICAL, agent=Ref(id="ag_1"))
    store.alerts.replace(Listing(records=(about, alert("al_2", severity=Severity.WARNING))))
    failing = Agent(id="ag_9", state=AgentState.ERROR), Agent(id="ag_1")
    store.agents.replace(Listing(records=failing))
    found = needs_of(store).ranked(100)
    worst_first = ["cmp_1", "high", "ag_2", "ag_1", "waits long", "ag_9", "al_2"]
    assert [need.record.id for need in found] == worst_first
    assert [need.level for need in found] == sorted((n.level for n in found), reverse=True)
    assert len({need.key for need in found}) == len(found)


def test_the_worst_tasks_are_the_first_that_need_a_person() -> None:
    done = Task(id="done", title=mark_safe("x"), state=TaskState.DONE, created=Moment(NOW - 9e6))
    timed = [
        replace(task(f"{n} {p}", n, p), agent=Ref(id=str(p)))
        for n in range(0, 120, 5)
        for p in (None, "high", "urgent")
    ]
    tasks = [done, task("untimed", None, "urgent"), task("unknown", None), *timed]
    needed = waiting(*tasks)
    model = queue_of(tasks)
    queue = model.queue
    levels = queue.count_levels(NOW, LIMITS)
    assert {need.level for need in needed} == {Level.WARNING, Level.CRITICAL} == {*levels}
    assert levels.total() == len(needed)
    waits = {"None": 24, "high": 24, "urgent": 24}
    by_owner = queue.waiting_by_owner
    by_agent = {of: n for (scope, of), n in by_owner.items() if scope is BudgetScope.AGENT and of}
    assert by_agent == waits, "also those that needn't be hurried"
    assert queue.count == len(tasks) - 1
    assert queue.oldest == NOW - 115 * MINUTE
    assert model.ranked(50) == needed[:50] == sorted(needed, key=place)[:50]
    assert not {"unknown", "done"} & {need.record.id for need in needed}


def test_of_tasks_that_wait_alike_the_first_by_id_is_kept_wherever_it_stands() -> None:
    tasks = [*(task(f"b{n}", 60) for n in range(300)), task("a", 60)]
    assert [need.key for need in queue_of(tasks).ranked(1)] == ["task:a"]


def test_tasks_of_one_title_and_level_are_one_need_unless_they_stand_apart() -> None:
    late = [replace(task(f"t{n}", 60 + n), title=mark_safe("Publish")) for n in range(4)]
    early = replace(task("t9", 20), title=mark_safe("Publish"))
    doubt = IdDoubt(reason=mark_safe("2 tasks with this id"), sharers=2, nth=1, sent_id="t8")
    shared = replace(late[0], id="t8", id_doubt=doubt)
    tasks = [*late, early, shared, task("t7", 90)]
    found = waiting(*tasks)
    groups = group_alike_tasks(found, {"t1"})
    (group,) = [need for need in groups if need.alike]
    assert [each.id for each in group.alike] == ["t3", "t2", "t0"], "the worst first"
    assert group.key == "task:t3"
    assert {need.record.id for need in groups if not need.alike} == {"t1", "t9", "t8", "t7"}
    order = [need.key for need in found]
    assert [order.index(need.key) for need in groups] == sorted(
        order.index(need.key) for need in groups
    )


def test_scope_hides_other_companies_and_nothing_else() -> None:
    one, named = Ref(id="cmp_1"), Ref(name=mark_safe("Acme"))
    hides = [insight.in_scope(ref, "cmp_1") for ref in (one, None, named, Ref(id="cmp_2"))]
    assert hides == [True, True, True, False]
    assert insight.in_scope(one, None)


@pytest.mark.parametrize(
    ("status", "stopped", "words"),
    [
        ("active", None, None),
        ("active", False, None),
        (None, None, None),
        ("sabbatical", None, None),  # what the word means is not known
        ("paused", None, "paused"),
        ("Archived", False, "Archived"),
        ("paused", True, "paused (budget)"),
        ("active", True, "paused (budget)"),
        (None, True, "paused (budget)"),
    ],
)
def test_a_company_does_not_work_by_its_status_or_its_budget(
    status: str | None, stopped: bool | None, words: str | None
) -> None:
    company = Company(id="c1", status=None if status is None else mark_safe(status))
    budget = Budget(id="c1", scope=BudgetScope.COMPANY, paused=stopped)
    found = insight.idleness(company, budget)
    assert (None if found is None else found.words) == words
    assert insight.idleness(None, budget) is None


@pytest.mark.parametrize(
    ("state", "reason"),
    [(AgentState.ERROR, "it crashed"), (AgentState.PAUSED, "manual")],
)
def test_the_reason_is_that_of_the_state(state: AgentState, reason: str) -> None:
    agent = Agent(
        id="a1", state=state, pause_reason=mark_safe("manual"), error_reason=mark_safe("it crashed")
    )
    assert insight.with_reason("so", agent) == f"so ({reason})"
    assert insight.with_reason("so", replace(agent, pause_reason=None, error_reason=None)) == "so"
