"""The queue, the alerts and the agents in figures: how many wait, stand, are in which state.

Told on every screen, every second, so it is worked out once a change of the queue (law 5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import (
    Level,
    alert_level,
    in_scope,
    waiting_since,
    waits_for_person,
)
from agentco_tui.live.names import Names
from agentco_tui.live.store import Change, Store
from agentco_tui.model.records import AgentState, Task, TaskState


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits; `oldest` is seconds since 1970, None if no task says since when it waits."""

    count: int
    oldest: float | None


class Waiting:
    """Counts the pending tasks and the alerts of a scope, again only when they have changed, or
    the agents, from whom they may take their company.

    Of a queue counted once only what a change names is looked at, for looking at a hundred
    thousand tasks holds everything else up for some thirty milliseconds.
    """

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._names = names
        self._counted_for: tuple[object, object, str | None] | None = None
        self._not_waiting: set[str] = set()
        """Listed, but past waiting or not of the scope: usually none."""
        self._oldest: Task | None = None
        self._alerts_of: tuple[object, object, str | None] | None = None
        self._alerts = (0, 0)
        self._states: tuple[object, Counter[AgentState | None]] = (None, Counter())
        store.subscribe(self._take)

    def of(self, scope: str | None) -> Queue:
        """The queue of a company, or of all."""
        pending = self._store.pending
        # A task may take its company from its agent.
        agents = self._store.agents.version if scope is not None else None
        wanted = (pending.version, agents, scope)
        if self._counted_for != wanted:
            self._not_waiting.clear()
            self._oldest = None
            self._look_at(pending, scope)
            self._counted_for = wanted
        oldest = None if self._oldest is None else waiting_since(self._oldest)
        return Queue(len(pending) - len(self._not_waiting), oldest)

    def open_alerts(self, scope: str | None) -> tuple[int, int]:
        """How many alerts of the scope are critical, and how many are warnings."""
        store = self._store
        # The company of an alert may be that of its agent.
        agents = store.agents.version if scope is not None else None
        wanted = (store.alerts.version, agents, scope)
        if self._alerts_of != wanted:
            company_of = self._names.company_of
            levels = [
                alert_level(alert)
                for alert in store.alerts
                if scope is None or in_scope(company_of(alert), scope)
            ]
            self._alerts = levels.count(Level.CRITICAL), levels.count(Level.WARNING)
            self._alerts_of = wanted
        return self._alerts

    def agent_states(self) -> Counter[AgentState | None]:
        """How many agents are in each state."""
        version = self._store.agents.version
        if self._states[0] != version:
            self._states = version, Counter(agent.state for agent in self._store.agents)
        return self._states[1]

    def _take(self, change: Change) -> None:
        """Count on from what is known; every change of the queue is published."""
        if change.feed is not FeedName.PENDING or self._counted_for is None:
            return
        pending = self._store.pending
        _, agents, scope = self._counted_for
        gone = {*change.removed, *change.changed}
        if self._oldest is not None and self._oldest.id in gone:
            # The next oldest is found by looking at all.
            self._counted_for = None
            return
        self._not_waiting -= gone
        known = (pending.get(task_id) for task_id in (*change.added, *change.changed))
        self._look_at((task for task in known if task is not None), scope)
        self._counted_for = (pending.version, agents, scope)

    def _look_at(self, tasks: Iterable[Task], scope: str | None) -> None:
        company_of = self._names.company_of
        pending, not_waiting, oldest = TaskState.PENDING, self._not_waiting, self._oldest
        least = inf if oldest is None else waiting_since(oldest) or 0.0
        for task in tasks:
            # The first test says the same as the second, and faster, of nearly all tasks.
            waits = (task.state is pending and task.needs_approval is None) or waits_for_person(
                task
            )
            if not waits or (scope is not None and not in_scope(company_of(task), scope)):
                not_waiting.add(task.id)
                continue
            moment = task.waiting_since or task.created
            if moment is not None and moment.at < least:
                oldest, least = task, moment.at
        self._oldest = oldest
