"""The queue: the tasks that wait for the user's approval, counted by owner, urgency and time.

`QueueTracker` feeds it with what changes in the store. The "needs you" list (what the user should
look at), the screens, the command `metrics` and the history file all take their counts from it. The
store is the snapshot of the remote service that runs AI agents; its pending list has the tasks that
may wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from heapq import heappop, heappush
from math import inf
from typing import Final

from agentco_tui.config import AlertLimits
from agentco_tui.live.insight import Level, priority_rank, waiting_since, waits_for_person
from agentco_tui.live.ordered_collections import SortedKeys
from agentco_tui.live.ownership import cause_of
from agentco_tui.model import BudgetScope, Ref, Task

Owner = tuple[BudgetScope, str]
"""An agent or a company by its id, "" where tasks name none; or everything."""
EVERYTHING: Final[Owner] = (BudgetScope.ALL, "")

URGENT: Final = 0
HIGH: Final = 1
ORDINARY: Final = 2
_URGENCIES: Final = (URGENT, HIGH, ORDINARY)
_BEHIND_ALL_IDS: Final = "\U0010ffff"
_MOST_STALE: Final = 64  # removed numbers that are kept at least before a heap is cleaned up


class WaitingQueue:
    """The tasks of the pending list that wait for the user, of one company or of all.

    An added, changed or removed task costs the same however long the queue is. No clock is needed
    to keep it: within one urgency, tasks are sorted by the time since which they wait, so the
    critical ones come first, then those with a warning, and two positions say how many there are.

    Tasks with the same cause (`ownership.cause_of`) count as one, for each owner and in all. If
    they are set aside, `count_levels` and `worst_tasks` leave them out: whoever set them aside
    shows them as one need.
    """

    def __init__(self, scope: str | None = None) -> None:
        """`scope`: the id of the company whose tasks are counted, or None for all.

        Tasks of which no company is known are counted in every scope.
        """
        self.scope = scope
        self.count = 0
        """How many tasks wait, as of the last `settle_counts`; those of one cause are one.

        So it never counts only a part of a long list that has just come.
        """
        self.listed = 0
        """The same of all tasks, those of one cause each."""
        self.oldest: float | None = None
        """Since when the oldest of them waits, in seconds since 1970; None if no task says."""
        self.revision = 0
        """Grows with every task that is added to the queue or leaves it."""
        self.waiting_by_owner = Counter[Owner]()
        """How many tasks wait with an owner; those of one cause are one."""
        self.changed_owners: set[Owner] = set()
        """Owners whose count or oldest wait changed; the `QueueTracker` clears the set."""
        self.ids_by_cause: dict[str, dict[str, None]] = {}
        """Ids of the counted tasks of each cause."""
        self.changed_causes: set[str] = set()
        """Causes whose tasks changed; the `NeedsModel` clears the set."""
        self._tasks: dict[str, Task] = {}  # all that wait, of whatever company
        self._company_by_agent: dict[str, str] = {}
        self._tasks_by_agent: dict[str, dict[str, None]] = {}
        """Ids of tasks without a company of their own: it is their agent's, and may change."""
        # For each urgency the counted tasks: since when each waits, and its id.
        self._by_urgency = tuple(SortedKeys[tuple[float, str]]() for _ in _URGENCIES)
        self._set_aside = SortedKeys[tuple[float, str]]()  # the same of tasks of these causes:
        self._causes_set_aside: set[str] = set()
        self._tasks_by_cause = Counter[tuple[Owner, str]]()
        self._waits_by_owner: dict[Owner, _Minimum] = {}  # since when their tasks wait

    def __contains__(self, task_id: object) -> bool:
        """Whether a task of this id waits, of whatever company."""
        return task_id in self._tasks

    def ids(self) -> frozenset[str]:
        """The ids of all tasks that wait, of whatever company."""
        return frozenset(self._tasks)

    def settle_counts(self) -> None:
        """Let `count`, `listed` and `oldest` show all changes taken in up to now."""
        self.count = self.waiting_by_owner[EVERYTHING]
        self.listed = sum(map(len, (*self._by_urgency, self._set_aside)))
        self.oldest = self.oldest_now()

    def oldest_now(self) -> float | None:
        """As `oldest`, but of all changes up to now, not only up to the last `settle_counts`."""
        sections = (*self._by_urgency, self._set_aside)
        first = [key for tasks in sections for key in tasks.slice(0, 1)]
        since, _ = min(first, default=(inf, ""))
        if since == inf:
            return None
        return since

    def oldest_of(self, owner: Owner) -> float | None:
        """Since when the oldest task of an owner waits; None if that is not known."""
        if owner == EVERYTHING:
            return self.oldest
        waits = self._waits_by_owner.get(owner)
        if waits is None:
            return None
        return waits.smallest()

    def counted_task(self, task_id: str) -> Task | None:
        """The task with this id, if it is counted."""
        task = self._tasks.get(task_id)
        if task is None or not self._is_counted(task):
            return None
        return task

    def update_task(self, task_id: str, task: Task | None) -> None:
        """Take in what the pending list has under this id now; None if it has nothing."""
        before = self._tasks.get(task_id)
        if before is not None:
            if before is task:
                return
            self._uncount_task(before)
            del self._tasks[task_id]
            self._unlink_from_agent(before)
        if task is not None and waits_for_person(task):
            self._tasks[task_id] = task
            if task.company is None and task.agent is not None and task.agent.id is not None:
                self._tasks_by_agent.setdefault(task.agent.id, {})[task_id] = None
            self._count_task(task)

    def set_aside(self, cause: str, *, is_aside: bool) -> None:
        """Set the tasks of a cause aside, those to come among them, or rank them again."""
        if (cause in self._causes_set_aside) is is_aside:
            return
        tasks = [self._tasks[each] for each in self.ids_by_cause.get(cause, ())]
        for task in tasks:
            self._section_of(task).remove(_place_of(task))
        if is_aside:
            self._causes_set_aside.add(cause)
        else:
            self._causes_set_aside.remove(cause)
        for task in tasks:
            self._section_of(task).add(_place_of(task))
        self.revision += 1

    def is_aside(self, task: Task) -> bool:
        """Whether a counted task is one of those that are set aside."""
        return cause_of(task) in self._causes_set_aside

    def set_company(self, agent_id: str, company_id: str) -> None:
        """Note the company of an agent, "" if it has none: its tasks may name none themselves."""
        if self._company_by_agent.get(agent_id, "") == company_id:
            return
        tasks = [self._tasks[each] for each in self._tasks_by_agent.get(agent_id, ())]
        for task in tasks:
            self._uncount_task(task)
        if company_id:
            self._company_by_agent[agent_id] = company_id
        else:
            del self._company_by_agent[agent_id]
        for task in tasks:
            self._count_task(task)

    def company_of(self, task: Task) -> str:
        """The id of a task's company, else of its agent's company; "" if neither is known."""
        if task.company is not None:
            return task.company.id or ""
        return self._company_by_agent.get(agent_id_of(task), "")

    def is_oldest_of_agent(self, task: Task) -> bool:
        """Whether no task of the same agent waits longer; False if its wait is not known."""
        since = waiting_since(task)
        return since is not None and since == self.oldest_of((BudgetScope.AGENT, agent_id_of(task)))

    def count_levels(self, now: float, limits: AlertLimits) -> Counter[Level]:
        """How many tasks need the user: by level, only warning and critical."""
        counts = Counter[Level]()
        for urgency in _URGENCIES:
            critical, needed = self._section_ends(urgency, now, limits)
            counts[Level.CRITICAL] += critical
            counts[Level.WARNING] += needed - critical
        return +counts

    def worst_tasks(
        self, most: int, now: float, limits: AlertLimits, left_out: Collection[str] = ()
    ) -> list[tuple[Level, list[Task]]]:
        """The tasks that need the user, the worst first, at most `most`, in runs of one level.

        Critical ones come first, then urgent ones, then high ones, then the longest wait. Those
        with the ids `left_out` take no place.
        """
        sections = [self._section_ends(urgency, now, limits) for urgency in _URGENCIES]
        runs = [(Level.CRITICAL, urgency, 0, sections[urgency][0]) for urgency in _URGENCIES]
        runs += [(Level.WARNING, urgency, *sections[urgency]) for urgency in _URGENCIES]
        found: list[tuple[Level, list[Task]]] = []
        room = most
        for level, urgency, start, stop in runs:
            keys = self._by_urgency[urgency].slice(start, min(stop, start + room + len(left_out)))
            ids = [task_id for _, task_id in keys if task_id not in left_out][:room]
            found.append((level, [self._tasks[task_id] for task_id in ids]))
            room -= len(ids)
        return found

    def _is_counted(self, task: Task) -> bool:
        return self.scope is None or self.company_of(task) in ("", self.scope)

    def _count_task(self, task: Task) -> None:
        self.revision += 1
        if not self._is_counted(task):
            return
        since = waiting_since(task)
        section = self._by_urgency[urgency_of(task)]
        cause = None if task.cause is None else cause_of(task)
        if cause is not None:
            section = self._section_of(task)
            self.ids_by_cause.setdefault(cause, {})[task.id] = None
            self.changed_causes.add(cause)
        section.add(_place_of(task))
        for owner in self._note_owners(task):
            if cause is None or self._count_of_cause(owner, cause, 1):
                self.waiting_by_owner[owner] += 1
            if since is None or owner is EVERYTHING:
                continue
            waits = self._waits_by_owner.get(owner)
            if waits is None:
                waits = self._waits_by_owner[owner] = _Minimum()
            waits.add(since)

    def _uncount_task(self, task: Task) -> None:
        self.revision += 1
        if not self._is_counted(task):
            return
        since = waiting_since(task)
        section = self._by_urgency[urgency_of(task)]
        cause = None if task.cause is None else cause_of(task)
        if cause is not None:
            section = self._section_of(task)
            self._uncount_cause(cause, task.id)
        section.remove(_place_of(task))
        for owner in self._note_owners(task):
            if cause is None or self._count_of_cause(owner, cause, -1):
                self.waiting_by_owner[owner] -= 1
            if since is not None and owner is not EVERYTHING:
                self._waits_by_owner[owner].remove(since)
            if not self.waiting_by_owner[owner]:
                del self.waiting_by_owner[owner]
                self._waits_by_owner.pop(owner, None)

    def _section_of(self, task: Task) -> SortedKeys[tuple[float, str]]:
        return self._set_aside if self.is_aside(task) else self._by_urgency[urgency_of(task)]

    def _uncount_cause(self, cause: str, task_id: str) -> None:
        self.changed_causes.add(cause)
        ids = self.ids_by_cause[cause]
        del ids[task_id]
        if not ids:
            del self.ids_by_cause[cause]

    def _count_of_cause(self, owner: Owner, cause: str, step: int) -> bool:
        """Count one task of a cause more or less; returns whether it was the first, or the last."""
        before = self._tasks_by_cause[owner, cause]
        after = before + step
        if after:
            self._tasks_by_cause[owner, cause] = after
        else:
            del self._tasks_by_cause[owner, cause]
        return not before or not after

    def _note_owners(self, task: Task) -> Iterable[Owner]:
        owners = (
            EVERYTHING,
            (BudgetScope.AGENT, agent_id_of(task)),
            (BudgetScope.COMPANY, self.company_of(task)),
        )
        self.changed_owners.update(owners)
        return owners

    def _unlink_from_agent(self, task: Task) -> None:
        """Forget that a task's company is that of its agent."""
        agent_id = agent_id_of(task)
        dependent = self._tasks_by_agent.get(agent_id)
        if dependent is not None:
            dependent.pop(task.id, None)
            if not dependent:
                del self._tasks_by_agent[agent_id]

    def _section_ends(self, urgency: int, now: float, limits: AlertLimits) -> tuple[int, int]:
        """How many tasks of an urgency are critical, and how many need the user at all.

        Both are counted from the longest wait on. This is `task_level` for all of them at once.
        """
        critical_after = limits.waiting_critical
        if urgency == URGENT:
            critical_after = min(critical_after, limits.waiting_warning)
        critical = self._waiting_at_least(critical_after, urgency, now)
        if urgency == URGENT:
            return critical, len(self._by_urgency[urgency])
        late = self._waiting_at_least(limits.waiting_warning, urgency, now)
        return critical, max(critical, late)

    def _waiting_at_least(self, seconds: float, urgency: int, now: float) -> int:
        """How many tasks of an urgency wait for at least so long."""
        tasks = self._by_urgency[urgency]
        count = tasks.count_below((now - seconds, _BEHIND_ALL_IDS))
        # Subtraction rounds: at the limit itself, the comparison that `task_level` makes decides.
        while count < len(tasks) and now - tasks.slice(count, count + 1)[0][0] >= seconds:
            count += 1
        while count and now - tasks.slice(count - 1, count)[0][0] < seconds:
            count -= 1
        return count


def _place_of(task: Task) -> tuple[float, str]:
    """Where a task stands among those of its urgency: the longest wait first, unknown ones last."""
    since = waiting_since(task)
    return inf if since is None else since, task.id


def agent_id_of(task: Task) -> str:
    """The id of a task's agent; "" if it names none."""
    return (task.agent or Ref()).id or ""


def urgency_of(task: Task) -> int:
    """URGENT, HIGH, or ORDINARY for all other priorities, also unknown ones."""
    rank = priority_rank(task.priority)
    if rank == URGENT:
        return URGENT
    if rank <= HIGH:
        return HIGH
    return ORDINARY


class _Minimum:
    """The smallest of some numbers, of which any may be removed."""

    __slots__ = ("_heap", "_removed")

    def __init__(self) -> None:
        self._heap: list[float] = []
        self._removed: list[float] | None = None
        """A heap, too: equal tops cancel each other. None, as of most agents, until one is."""

    def add(self, number: float) -> None:
        heappush(self._heap, number)

    def remove(self, number: float) -> None:
        removed = self._removed = self._removed or []
        heappush(removed, number)
        if len(removed) > max(_MOST_STALE, len(self._heap) // 2):
            self._heap = sorted((Counter(self._heap) - Counter(removed)).elements())
            self._removed = None

    def smallest(self) -> float | None:
        while self._removed and self._removed[0] == self._heap[0]:
            heappop(self._heap)
            heappop(self._removed)
        if not self._heap:
            return None
        return self._heap[0]
