"""What needs a person, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.background import at_once
from agentco_tui.live import insight
from agentco_tui.live.insight import Level
from agentco_tui.model import (
    Agent,
    AgentState,
    Alert,
    Budget,
    BudgetScope,
    Moment,
    Ref,
    Severity,
    Task,
    TaskState,
)
from agentco_tui.text import plain

NOW = 1_000_000.0
MINUTE = 60.0


@dataclass(frozen=True)
class Limits:
    warn_percent: Decimal = Decimal(80)
    critical_percent: Decimal = Decimal(100)
    waiting_warning: float = 15 * MINUTE
    waiting_critical: float = 60 * MINUTE


LIMITS = Limits()


def task(id: str, minutes: float | None, priority: str | None = "medium") -> Task:
    return Task(
        id=id,
        title=plain(id),
        state=TaskState.PENDING,
        priority=None if priority is None else plain(priority),
        created=None if minutes is None else Moment(NOW - minutes * MINUTE),
    )


def budget(id: str, share: str | None, scope: BudgetScope = BudgetScope.AGENT) -> Budget:
    return Budget(id=id, scope=scope, share=None if share is None else Decimal(share))


def alert(id: str = "a", **more: Any) -> Alert:
    return Alert(id=id, text=plain("x"), **more)


@pytest.mark.parametrize(
    ("minutes", "priority", "level"),
    [(5, "medium", Level.OK), (15, "medium", Level.WARNING), (60, "medium", Level.CRITICAL),
     (0, "urgent", Level.WARNING), (20, "URGENT", Level.CRITICAL), (None, "low", Level.UNKNOWN)],
)  # fmt: skip
def test_a_task_is_as_urgent_as_its_wait_and_sooner_if_its_priority_says_so(
    minutes: float | None, priority: str, level: Level
) -> None:
    assert insight.task_level(task("t", minutes, priority), NOW, LIMITS) is level


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
        told = Task(id="t", title=plain("t"), state=state, needs_approval=needs_approval)
        assert insight.waits_for_person(told) is waits


def test_the_worst_comes_first_and_an_alert_about_a_budget_is_not_told_twice() -> None:
    found = insight.needs(
        pending=[task("waits long", 300), task("high", 90, "high"), task("new", 1)],
        budgets=[
            budget("ag_1", "0.85"), budget("ag_2", "1.2"),
            budget("cmp_1", "1.01", BudgetScope.COMPANY),
        ],
        alerts=[
            alert("al_1", severity=Severity.CRITICAL, agent=Ref(id="ag_1")),
            alert("al_2", severity=Severity.WARNING),
        ],
        agents=[Agent(id="ag_9", state=AgentState.ERROR), Agent(id="ag_1")],
        now=NOW, limits=LIMITS,
    )  # fmt: skip
    worst_first = ["cmp_1", "high", "ag_2", "ag_1", "waits long", "al_2", "ag_9"]
    assert [need.record.id for need in found] == worst_first
    assert [need.level for need in found] == sorted((n.level for n in found), reverse=True)
    assert len({need.key for need in found}) == len(found)


def test_the_worst_tasks_are_the_first_that_need_a_person() -> None:
    done = Task(id="done", title=plain("x"), state=TaskState.DONE, created=Moment(NOW - 9e6))
    timed = [task(f"{n} {p}", n, p) for n in range(0, 120, 5) for p in (None, "high", "urgent")]
    tasks = [done, task("untimed", None, "urgent"), task("unknown", None), *timed]
    needed = insight.needs(pending=tasks, budgets=(), alerts=(), agents=(), now=NOW, limits=LIMITS)
    worst, counted = at_once(insight.worst_tasks(tasks, NOW, LIMITS, 50))
    assert {need.level for need in needed} == {Level.WARNING, Level.CRITICAL} == {*counted}
    assert counted.total() == len(needed)
    assert [each.id for each in worst] == [need.record.id for need in needed[:50]]
    assert not {"unknown", "done"} & {need.record.id for need in needed}


def test_scope_hides_other_companies_and_nothing_else() -> None:
    one, named = Ref(id="cmp_1"), Ref(name=plain("Acme"))
    hides = [insight.in_scope(ref, "cmp_1") for ref in (one, None, named, Ref(id="cmp_2"))]
    assert hides == [True, True, True, False]
    assert insight.in_scope(one, None)
