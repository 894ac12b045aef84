"""How many tasks wait, and since when: of all companies and of each, kept up to date by changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import heappop, heappush
from typing import Final, NamedTuple

from agentco_tui.history.observations import QueueSample

ALL: Final = ""
"""Stands for all companies where the id of one is expected."""


class _Waiting(NamedTuple):
    """A task in the queue."""

    company: str  # its id; "" if it is not known
    agent: str | None
    since: float | None  # when it began to wait


class QueueCounts:
    """Counts the tasks of the queue. Each operation costs the logarithm of their number at most."""

    def __init__(self) -> None:
        self._tasks = dict[str, _Waiting]()
        self._numbers = Counter[str]()  # by company
        self._oldest = defaultdict[str, list[tuple[float, str]]](list)
        """A heap by company of when tasks began to wait; tasks that left are still in it."""
        self._tasks_of_agent = defaultdict[str, set[str]](set)
        self.without_company = 0  # tasks of which it is not known whose they are
        self.changed = {ALL}
        """The companies whose sample differs from the one that was last taken by `take_sample`."""

    def __contains__(self, task: object) -> bool:
        return task in self._tasks

    def ids(self) -> frozenset[str]:
        """The ids of all tasks that wait."""
        return frozenset(self._tasks)

    def tasks_of_agent(self, agent: str) -> tuple[str, ...]:
        return tuple(self._tasks_of_agent.get(agent, ()))

    def put(self, task: str, company: str, agent: str | None, since: float | None) -> None:
        """Add a task, or take it up as it is now; `company` is "" if it is not known."""
        waiting = _Waiting(company, agent, since)
        if self._tasks.get(task) == waiting:
            return
        self.drop(task)
        self._tasks[task] = waiting
        if agent is not None:
            self._tasks_of_agent[agent].add(task)
        if not company:
            self.without_company += 1
        for each in {company, ALL}:
            self._numbers[each] += 1
            if since is not None:
                heappush(self._oldest[each], (since, task))
            self.changed.add(each)

    def drop(self, task: str) -> bool:
        """Take out a task; returns whether it was in the queue."""
        waiting = self._tasks.pop(task, None)
        if waiting is None:
            return False
        if waiting.agent is not None:
            self._tasks_of_agent[waiting.agent].discard(task)
        if not waiting.company:
            self.without_company -= 1
        for each in {waiting.company, ALL}:
            self._numbers[each] -= 1
            self.changed.add(each)
        return True

    def take_sample(self, company: str, at: float) -> QueueSample:
        """The figures of a company, or of `ALL`; it no longer counts as changed."""
        self.changed.discard(company)
        return QueueSample(at, self._numbers[company], self._oldest_of(company))

    def _oldest_of(self, company: str) -> float | None:
        heap = self._oldest[company]
        while heap:
            since, task = heap[0]
            waiting = self._tasks.get(task)
            is_current = waiting is not None and waiting.since == since
            if is_current and waiting is not None and company in (waiting.company, ALL):
                return since
            heappop(heap)
        return None
