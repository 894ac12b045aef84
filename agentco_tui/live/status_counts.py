"""Counts the tasks of the store by status, for the tabs over the list of all tasks.

The store is the snapshot of the platform, the remote service that runs AI agents. The scope is a
company, or all.

Changes are noted as they come, and counted when the counts are asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import attrgetter

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.ownership import company_of
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Task, TaskState
from agentco_tui.text import SafeText

Status = tuple[SafeText | None, TaskState | None]
"""The platform's word for a status, and the state that the word means."""

MOST_ONE_BY_ONE = 5_000
"""Changed tasks above which counting all of them again is faster."""

_status_of = attrgetter("status", "state")


class StatusCounts:
    """Counts of the store's list of all tasks; a change of one task costs one task."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._scope: str | None = None
        self._status_by_task: dict[str, Status] = {}  # of those that are counted
        self._counts = Counter[Status]()
        self._changed_ids: dict[str, None] = {}
        self._company_by_agent: dict[str, str | None] = {}
        self._is_recount_due = True
        store.subscribe(self._note_change, (FeedName.TASKS, FeedName.AGENTS))

    def counts(self, scope: str | None) -> Mapping[Status, int]:
        """How many tasks have each status: of a company by its id, or of all with None.

        Tasks of which no company is known belong to none.
        """
        if self._is_recount_due or scope != self._scope:
            self._count_all(scope)
        for task_id in self._changed_ids:
            self._count_task(task_id)
        self._changed_ids.clear()
        return +self._counts  # without those that are zero

    def _note_change(self, change: Change) -> None:
        if self._is_recount_due:
            return
        ids = (*change.added, *change.changed, *change.removed)
        if change.feed is FeedName.TASKS:
            self._changed_ids |= dict.fromkeys(ids)
            self._is_recount_due = len(self._changed_ids) > MOST_ONE_BY_ONE
        elif self._scope is not None:
            # A task may name its agent only: then it is of the agent's company.
            for agent_id in ids:
                company_id = self._company_of_agent(agent_id)
                if self._company_by_agent.get(agent_id) != company_id:
                    self._company_by_agent[agent_id] = company_id
                    self._is_recount_due = True

    def _count_all(self, scope: str | None) -> None:
        self._scope = scope
        tasks = self._store.tasks.records
        if scope is None:
            self._status_by_task = dict(zip(tasks, map(_status_of, tasks.values()), strict=True))
        else:
            agents = self._store.agents.records
            self._company_by_agent = {each: self._company_of_agent(each) for each in agents}
            self._status_by_task = {
                task_id: _status_of(task)
                for task_id, task in tasks.items()
                if self._is_in_scope(task)
            }
        self._counts = Counter(self._status_by_task.values())
        self._changed_ids.clear()
        self._is_recount_due = False

    def _count_task(self, task_id: str) -> None:
        before = self._status_by_task.pop(task_id, None)
        if before is not None:
            self._counts[before] -= 1
        task = self._store.tasks.get(task_id)
        if task is not None and self._is_in_scope(task):
            status = _status_of(task)
            self._status_by_task[task_id] = status
            self._counts[status] += 1

    def _is_in_scope(self, task: Task) -> bool:
        if self._scope is None:
            return True
        company = company_of(task, self._store.agents.records)
        return company is not None and company.id == self._scope

    def _company_of_agent(self, agent_id: str) -> str | None:
        agent = self._store.agents.get(agent_id)
        if agent is None or agent.company is None:
            return None
        return agent.company.id
