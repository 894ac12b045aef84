"""Makes the needs of single tasks that wait: of those that come first, reused between refreshes.

A `Need` is one item of the "needs you" list, what the user should look at. The queue
(`WaitingQueue`) holds the tasks that wait for the user's approval, by their AI agents, urgency
(rank of the priority, 0 for the most urgent) and time of waiting. A need is snoozed if the user has
put it off.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from math import inf
from typing import Final

from agentco_tui.attention.needs import Need, NeedKind, RankedNeed, RankReason, rank_key
from agentco_tui.config import AlertLimits
from agentco_tui.live.insight import Level, waiting_since
from agentco_tui.live.waiting_queue import HIGH, WaitingQueue, agent_id_of, urgency_of
from agentco_tui.model import BudgetScope, Task

_CHUNK: Final = 100  # needs that are made in one step


def need_of_task(queue: WaitingQueue, level: Level, task: Task) -> RankedNeed:
    """The need of a task in the queue, with its place in the order."""
    urgency = urgency_of(task)
    since = waiting_since(task)
    rank = urgency, inf if since is None else since
    reason = RankReason.URGENT if urgency <= HIGH else RankReason.WAIT
    need = Need(
        level,
        NeedKind.TASK,
        task,
        reason,
        rank,
        own_key=f"{NeedKind.TASK}:{task.id}",
        count=queue.waiting_by_owner[BudgetScope.AGENT, agent_id_of(task)],
        waits_longest=queue.is_oldest_of_agent(task),
        since=since,
    )
    return rank_key(level, reason, rank, need.own_key), need


class TaskNeeds:
    """The needs of the tasks that come first, by their ids.

    An unchanged need stays the same object, so that a refresh makes only those that changed.
    """

    def __init__(self) -> None:
        self.by_id: Mapping[str, RankedNeed] = {}
        self._changed_agents: set[str] = set()

    def note_agent(self, agent_id: str) -> None:
        """Note that an agent has another queue: the needs of its tasks say how long that is."""
        self._changed_agents.add(agent_id)

    def update_steps(
        self,
        queue: WaitingQueue,
        most: int,
        now: float,
        limits: AlertLimits,
        snoozed_ids: Collection[str],
    ) -> Generator[None, None, None]:
        """Take the `most` tasks that come first and are not snoozed, in short steps."""
        made = 0
        # Kept at once: another update may begin before this one ends.
        before = self.by_id = self._unchanged()
        needs: dict[str, RankedNeed] = {}
        for level, tasks in queue.worst_tasks(most, now, limits, snoozed_ids):
            for task in tasks:
                ranked_need = before.get(task.id)
                if (
                    ranked_need is None
                    or ranked_need[1].record is not task
                    or ranked_need[1].level is not level
                ):
                    ranked_need = need_of_task(queue, level, task)
                    made += 1
                    if made % _CHUNK == 0:
                        yield
                needs[task.id] = ranked_need
        self.by_id = needs

    def _unchanged(self) -> Mapping[str, RankedNeed]:
        """The needs of tasks whose agent has the same queue as before."""
        if not self._changed_agents:
            return self.by_id
        kept: dict[str, RankedNeed] = {}
        for task_id, known in self.by_id.items():
            task = known[1].record
            agent_id = ""
            # Without `agent_id_of`: a call for each need that is shown would cost too much here.
            if isinstance(task, Task) and task.agent is not None:
                agent_id = task.agent.id or ""
            if agent_id not in self._changed_agents:
                kept[task_id] = known
        self._changed_agents.clear()
        return kept
