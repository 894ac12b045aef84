"""The queue and the alerts in figures: how many wait, since when the oldest does, how many stand.

Told on every screen, every second, so it is worked out once a change of the queue (law 5).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agentco_tui.api.records import Task, TaskState
from agentco_tui.live.insight import Level, alert_level, in_scope, waits_for_person
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits; `oldest` is seconds since 1970, None if no task says since when it waits."""

    count: int
    oldest: float | None


class Waiting:
    """Counts the pending tasks and the alerts of a scope, again only when they have changed, or
    the agents, from whom they may take their company.
    """

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._names = names
        self._known: tuple[object, object, str | None] | None = None
        self._queue = Queue(0, None)
        self._alerts_of: tuple[object, object, str | None] | None = None
        self._alerts = (0, 0)

    def of(self, scope: str | None) -> Queue:
        """The queue of a company, or of all."""
        # A task may take its company from its agent.
        agents = self._store.agents.version if scope is not None else None
        wanted = (self._store.pending.version, agents, scope)
        known = self._known
        if (
            known is None
            or known[2] != scope
            or known[0] is not wanted[0]
            or known[1] is not agents
        ):
            self._queue = self._counted(scope)
            self._known = wanted
        return self._queue

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

    def _counted(self, scope: str | None) -> Queue:
        tasks: Iterable[Task] = self._store.pending
        if scope is not None:
            company_of = self._names.company_of
            tasks = [task for task in tasks if in_scope(company_of(task), scope)]
        pending = TaskState.PENDING
        waiting = [
            task
            for task in tasks
            if (task.state is pending and task.needs_approval is None) or waits_for_person(task)
        ]
        moments = [task.waiting_since or task.created for task in waiting]
        oldest = min([at.at for at in moments if at is not None], default=None)
        return Queue(len(waiting), oldest)
