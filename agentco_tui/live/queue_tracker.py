"""Counts the tasks that wait for the user: in one place, for the needs and for the history.

A `QueueTracker` notes the ids that change in the store's pending list and among its agents. Whoever
needs the counts first runs `steps`, which takes those ids into a `WaitingQueue`. Nobody passes over
all tasks, except once after the company in scope has changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Final

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change, Store
from agentco_tui.live.waiting_queue import Owner, WaitingQueue
from agentco_tui.model import Ref

_CHUNK: Final = 50  # ids between two pauses
_FEEDS: Final = (FeedName.AGENTS, FeedName.PENDING)
"""Agents first, because a task that names no company belongs to that of its agent."""


class QueueChanges:
    """What changed in the queue since one follower last cleared these sets."""

    def __init__(self) -> None:
        self.owners: set[Owner] = set()
        """Owners whose count or oldest wait changed."""
        self.departed: set[str] = set()
        """Ids of tasks that waited, and do not any more."""


class QueueTracker:
    """Keeps the queue of one company, or of all, up to date with the store."""

    def __init__(self, store: Store, scope: Callable[[], str | None]) -> None:
        """`scope` returns the id of the company in scope, or None for all."""
        self.queue = WaitingQueue(scope())
        """As of the last `steps`. Another object after another company has come into scope."""
        self._store = store
        self._scope_now = scope
        self._changes: deque[tuple[FeedName, Iterator[str]]] = deque()
        self._followers: list[QueueChanges] = []
        self._note_all_records()
        store.subscribe(self._note_change, _FEEDS)

    def follow(self) -> QueueChanges:
        """Sets that every change from now on is added to; the caller clears them."""
        changes = QueueChanges()
        changes.owners.update(self.queue.waiting_by_owner)
        self._followers.append(changes)
        return changes

    def steps(self) -> Generator[None, None, None]:
        """Take in all changes; pauses often. Several of these may run at the same time."""
        taken = 0
        while True:
            if self._scope_now() != self.queue.scope:
                self._start_over()
            if not self._changes:
                return
            feed, ids = self._changes[0]
            record_id = next(ids, None)
            if record_id is None:
                self._changes.popleft()
                continue
            if feed is FeedName.AGENTS:
                self._take_agent(record_id)
            else:
                self._take_task(record_id)
            taken += 1
            if taken % _CHUNK == 0:
                yield

    def _note_change(self, change: Change) -> None:
        for ids in (change.added, change.changed, change.removed):
            if ids:
                self._changes.append((change.feed, iter(ids)))

    def _note_all_records(self) -> None:
        for feed in _FEEDS:
            self._changes.append((feed, iter(tuple(self._store.collections[feed].records))))

    def _start_over(self) -> None:
        """Count the queue of the company that is in scope now."""
        for changes in self._followers:
            changes.owners.update(self.queue.waiting_by_owner)
        self.queue = WaitingQueue(self._scope_now())
        self._changes.clear()
        self._note_all_records()

    def _take_agent(self, agent_id: str) -> None:
        """Take in which company the store's agent of this id belongs to now."""
        agent = self._store.agents.get(agent_id)
        company = None if agent is None else agent.company
        self.queue.set_company(agent_id, (company or Ref()).id or "")
        self._hand_on_owners()

    def _take_task(self, task_id: str) -> None:
        """Take in what the store's pending list has under this id now."""
        queue = self.queue
        was_waiting = task_id in queue
        queue.update(task_id, self._store.pending.get(task_id))
        is_waiting = task_id in queue
        for changes in self._followers:
            if is_waiting:
                changes.departed.discard(task_id)
            elif was_waiting:
                changes.departed.add(task_id)
        self._hand_on_owners()

    def _hand_on_owners(self) -> None:
        for changes in self._followers:
            changes.owners |= self.queue.changed_owners
        self.queue.changed_owners.clear()
