"""What a refresh of the needs costs follows what changed, not how many tasks and agents there are.

Calls of our functions are counted, not seconds, so that no result depends on the machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import FrameType

import pytest

import agentco_tui
from agentco_tui.attention.needs_model import NeedsModel
from agentco_tui.attention.snooze import Snoozes
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.live.feeds import Clock, FeedName
from agentco_tui.live.store import Store
from agentco_tui.live.waiting_queue import EVERYTHING
from agentco_tui.model import (
    Agent,
    AgentState,
    Budget,
    BudgetScope,
    Listing,
    Moment,
    Money,
    Ref,
    Task,
    TaskState,
)
from agentco_tui.system.background import at_once
from agentco_tui.text import mark_safe

NOW = 1_790_000_000.0
MINUTE = 60.0
TASKS_PER_AGENT = 5
FEW, MANY = 200, 20_000
PACKAGE = str(Path(agentco_tui.__file__).parent)


class Platform:
    """So many tasks that wait, of a fifth as many agents with a budget each, known to a model.

    It may say which cause each has: two of four tasks have the same, and an agent and its budget.
    """

    def __init__(self, task_count: int, *, says_causes: bool = False) -> None:
        self.now = NOW
        self.says_causes = says_causes
        self.store = Store()
        self.outlook = ForecastService(self.store, None, Clock(machine=lambda: self.now))
        agent_count = task_count // TASKS_PER_AGENT
        agents = [
            Agent(
                id=f"a{number}",
                # Most needs are about tasks, and some about agents.
                state=AgentState.PAUSED if number % 10 == 0 else AgentState.ACTIVE,
                company=Ref(f"c{number % 4}"),
                cause=self.cause("agent", number),
            )
            for number in range(agent_count)
        ]
        self.store.take(FeedName.AGENTS, Listing(records=tuple(agents)))
        budgets = [
            Budget(
                id=agent.id,
                scope=BudgetScope.AGENT,
                share=Decimal(number % 10) / 10,
                spent=Money(Decimal(number % 10)),
                limit=Money(Decimal(10)),
                cause=self.cause("agent", number),
            )
            for number, agent in enumerate(agents)
        ]
        self.store.take(FeedName.AGENT_BUDGETS, Listing(records=tuple(budgets)))
        self.tasks = tuple(self.task(f"t{number}", number) for number in range(task_count))
        self.store.take(FeedName.PENDING, Listing(records=self.tasks))
        self.store.take(FeedName.TASKS, Listing(records=self.tasks))
        self.model = NeedsModel(self.outlook, Snoozes(None, ""), lambda: None)
        self.refresh()

    def task(self, id: str, number: int) -> Task:
        return Task(
            id=id,
            title=mark_safe(id),
            state=TaskState.PENDING,
            agent=Ref(f"a{number // TASKS_PER_AGENT}"),
            created=Moment(NOW - (number % 180) * MINUTE),
            cause=self.cause("task", number - 1 if number % 4 == 1 else number),
        )

    def cause(self, of: str, number: int) -> str | None:
        return f"{of} {number}" if self.says_causes else None

    def refresh(self) -> None:
        """Refresh, and read what screens and commands show of it."""
        at_once(self.model.refresh_steps())
        assert self.model.shown
        assert self.model.critical()
        assert self.model.critical_tasks()
        assert self.model.queue.waiting_by_owner[EVERYTHING] == self.model.queue.count
        assert self.model.queue.oldest_of((BudgetScope.COMPANY, "c1")) is not None
        assert self.model.agents.by_company["c1"]
        assert sum(self.model.statuses.counts(None).values()) == len(self.store.tasks)

    def calls_for(self, change: Callable[[Platform], None]) -> int:
        """How many calls of our functions a change and the refresh after it take."""
        calls = 0

        def count(frame: FrameType, event: str, _: object) -> None:
            nonlocal calls
            calls += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

        sys.setprofile(count)
        try:
            change(self)
            self.refresh()
        finally:
            sys.setprofile(None)
        return calls


def add_task(platform: Platform) -> None:
    """One poll brings one new task, into the list of those that wait and into that of all."""
    for feed in (FeedName.PENDING, FeedName.TASKS):
        change = platform.store.collections[feed].put(platform.task("new", 10))
        platform.store.publish(change)


def change_agent(platform: Platform) -> None:
    """An agent that worked is paused, and belongs to another company by now."""
    agent = Agent(id="a7", state=AgentState.PAUSED, company=Ref("c0"))
    platform.store.publish(platform.store.agents.put(agent))


def let_time_pass(platform: Platform) -> None:
    """A few tasks become late, and one critical."""
    platform.now += 10.0


@pytest.mark.slow
@pytest.mark.parametrize("change", [add_task, change_agent, let_time_pass])
@pytest.mark.parametrize(("says_causes", "most"), [(False, 500), (True, 700)])
def test_a_change_costs_as_many_calls_among_many_tasks_as_among_few(
    change: Callable[[Platform], None], *, says_causes: bool, most: int
) -> None:
    calls = {}
    for task_count in (FEW, MANY):
        calls[task_count] = Platform(task_count, says_causes=says_causes).calls_for(change)
    assert calls[MANY] <= 1.1 * calls[FEW], calls
    assert calls[FEW] < most, calls
