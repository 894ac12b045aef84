"""The world by itself: deterministic, alive, and believable from the first moment."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import DemoAgent, DemoTask, RefusedError
from tests.demo.conftest import NOW
from tests.platform import decide_elsewhere


def frozen(seed: int = 7, **sizes: Any) -> World:
    return World(seed, speed=0, now=NOW, **sizes)


def picture(world: World) -> list[object]:
    """Everything that can be seen of a world."""
    return [
        [(e.id, round(e.at, 6), e.level, e.action, e.message, e.cost) for e in world.activity()],
        [(t.id, t.title, t.status, t.priority, t.cost, t.updated) for t in world.tasks()],
        [(a.id, a.name, a.spent, a.limit, a.status, a.completed) for a in world.agents()],
        [(a.id, a.message, a.created, a.resolved) for a in world.alerts()],
    ]


def named(world: World, name: str) -> DemoAgent:
    return next(agent for agent in world.agents() if agent.name == name)


def titled(world: World, title: str) -> DemoTask:
    return next(task for task in world.tasks() if task.title == title)


def test_the_same_seed_gives_the_same_world() -> None:
    assert picture(frozen()) == picture(frozen())
    assert picture(frozen(7)) != picture(frozen(8))


def test_what_happens_depends_on_time_and_not_on_how_often_one_looks() -> None:
    seldom, often = frozen(), frozen()
    seldom.advance(1_800)
    for _ in range(600):
        often.advance(3)
        often.tasks(status="pending")
    assert picture(seldom) == picture(often)


def test_the_opening_is_believable() -> None:
    world = frozen()
    pending = world.tasks(status="pending")
    assert len(world.state.companies) == 3
    assert len(world.agents()) == 24
    assert len(world.tasks()) == 120
    assert len(pending) == 40
    assert {task.priority for task in pending} == {"urgent", "high", "medium", "low"}
    waits = [world.now - task.created for task in pending]
    assert min(waits) < 120
    assert max(waits) > 2 * 3_600
    assert all(0 <= agent.trust <= 100 for agent in world.agents())
    assert {"Refund 214 customers", "Publish pricing page", "Send Q4 invoice batch"} <= {
        task.title for task in pending
    }
    assert all("{" not in task.title for task in world.tasks())
    assert all("{" not in entry.message for entry in world.activity())
    assert {"running", "completed", "failed", "rejected"} <= {t.status for t in world.tasks()}
    assert {a.name for a in world.agents() if a.pause_reason == "budget"} == {"Ada", "Nora"}
    for owner in world.state.companies.values():
        assert owner.spent == sum(agent.spent for agent in world.agents(owner.id))
        assert owner.pending == len(world.tasks(owner.id, "pending"))


def test_an_approved_task_is_worked_on_and_done() -> None:
    world = frozen()
    task = titled(world, "Refund 214 customers")
    spent = task.agent.spent
    world.approve(task.id)
    assert (task.status, task.decided, task.decided_by) == ("approved", NOW, "operations desk")
    assert task.id not in world.state.pending
    world.advance(10)
    assert task.status == "running"
    world.advance(120)
    assert task.status == "completed"
    assert task.agent.spent > spent
    told = [entry.message for entry in reversed(world.activity()) if entry.task is task]
    assert told[1:] == [
        "operations desk approved: Refund 214 customers",
        "Started: Refund 214 customers",
        "payments.refund(batch=214, total=18,240.00)",
        "214 refunds booked, 18,240.00 in all",
        "mail.send_batch(template=refund-notice, recipients=214)",
        "Refunded 214 customers, 18,240.00 in all",
    ]


def test_alerts_rise_and_resolve_with_the_limit() -> None:
    world = frozen()
    grace = named(world, "Grace")

    def standing() -> list[tuple[str, bool]]:
        mine = [alert for alert in world.alerts() if alert.agent is grace]
        return [(a.severity, a.resolved is None) for a in sorted(mine, key=lambda a: a.id)]

    assert standing() == []
    world.set_limit(grace.id, 110)
    assert standing() == [("warning", True)]
    world.set_limit(grace.id, 50)
    assert Counter(standing()) == Counter([("warning", False), ("critical", True)])
    assert (grace.status, grace.pause_reason) == ("paused", "budget")
    world.set_limit(grace.id, 0)
    assert all(not is_open for _, is_open in standing())
    assert (grace.status, grace.limit) == ("active", None)


def test_a_decided_task_cannot_be_approved() -> None:
    world = frozen()
    task = world.tasks(status="pending")[0]
    decide_elsewhere(world, task.id, "reject", "Theo")
    with pytest.raises(RefusedError) as caught:
        world.approve(task.id)
    assert caught.value.code == "already_decided"
    assert (task.status, task.decided_by, task.decided) == ("rejected", "Theo", NOW)
    assert (world.applied[task.id], world.attempts[task.id]) == (0, 1)
    with pytest.raises(RefusedError, match="task not found"):
        world.approve("tsk_nothing")


def test_created_tasks_are_checked_and_join_the_queue() -> None:
    world = frozen()
    grace, linus = named(world, "Grace"), named(world, "Linus")
    task = world.create_task(grace.company.id, "Say {hello} to 3 customers", grace.id, "high")
    assert world.tasks(status="pending")[0] is task
    assert task.title == "Say {hello} to 3 customers"
    world.approve(task.id)
    world.advance(200)
    assert task.status in {"completed", "failed"}
    with pytest.raises(RefusedError) as caught:
        world.create_task(linus.company.id, " ", grace.id, "soon")
    assert [name for name, _ in caught.value.fields] == ["title", "agent_id", "priority"]


@pytest.mark.parametrize(
    "sizes", [{"companies": 0}, {"companies": 1, "agents": 0}, {"companies": 1, "tasks": 0}]
)
def test_empty_worlds_live_too(sizes: dict[str, int]) -> None:
    sizes = {"agents": 0, "tasks": 0, **sizes} if sizes.get("agents") == 0 else sizes
    world = frozen(**sizes)
    world.advance(300)
    assert world.now == NOW + 300
    with pytest.raises(ValueError, match="need"):
        frozen(agents=0, tasks=3)


def told(world: World, action: str) -> list[Any]:
    return [entry for entry in world.activity() if entry.action == action]


def test_an_agent_runs_away_until_its_budget_stops_it() -> None:
    world = frozen()
    world.advance(280)
    before = {agent.id: agent.spent for agent in world.agents()}
    world.advance(1_600)
    runaway = max(world.agents(), key=lambda agent: agent.spent - before[agent.id])
    grown = runaway.spent - before[runaway.id]
    others = [a.spent - before[a.id] for a in world.agents() if a is not runaway]
    assert grown > 5 * max(others)
    assert runaway.reached or grown > (runaway.limit or 0) // 2


def test_the_same_failure_comes_over_and_over() -> None:
    world = frozen()
    world.advance(1_000)
    failures = told(world, "tool.failed")
    assert len(failures) > 10
    assert len({entry.agent.id for entry in failures}) == 1


def test_the_work_on_a_task_stands_still_for_hours_and_then_goes_on() -> None:
    world = frozen()
    world.advance(2 * 3_600)
    running = [t for t in world.tasks(status="running") if t.agent.status == "active"]
    stuck = [task for task in running if world.now - task.updated > 3_600]
    assert len(stuck) == 1
    world.advance(3 * 3_600)
    assert stuck[0].status != "running" or stuck[0].agent.status != "active"


def test_a_limit_is_raised() -> None:
    world = frozen()
    world.advance(1_600)
    assert told(world, "budget.limit_set")


def test_a_new_month_begins_at_nothing() -> None:
    state = frozen().state
    resets = state.resets
    # private: advancing to the reset would run a month of other events, too.
    assert [at for at, _, what, _ in state._queue if what == "reset"] == [resets]
    state._on_reset(resets, "")
    assert sum(agent.spent for agent in state.agents.values()) == 0
    assert (state.period_start, state.resets) == (resets, resets + 30 * 86_400)
    assert state.entries[-1].action == "budget.reset"
