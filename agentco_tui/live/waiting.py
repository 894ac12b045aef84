"""The queue in figures: how many tasks wait for a person, and since when the oldest does.

Told on every screen, every second, so it is worked out once a change of the queue (law 5).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agentco_tui.api.records import Task, TaskState
from agentco_tui.live.insight import in_scope, waits_for_person
from agentco_tui.live.names import Names
from agentco_tui.live.store import Store


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits; `oldest` is seconds since 1970, None if no task says since when it waits."""

    count: int
    oldest: float | None


class Waiting:
    """Counts the pending tasks of a scope, again only when they, or the agents, have changed."""

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._names = names
        self._known: tuple[object, object, str | None] | None = None
        self._queue = Queue(0, None)

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
