"""Counts the tasks that wait for the user in one place, for `NeedsModel` and for the history.

`NeedsModel` keeps the "needs you" list (what the user should look at), and the history stores
samples of the counts. The store is the snapshot of the remote service; the company in scope is the
only one whose records are shown. An owner of waiting tasks is an AI agent, a company, or
everything.

A `QueueTracker` notes the ids that change in the store's pending list and among its agents. Whoever
needs the counts first runs `take_in_steps`, which takes those ids into a `WaitingQueue`. No change
costs a pass over all tasks, except that of the company in scope.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change, Store
from agentco_tui.live.waiting_queue import Owner, WaitingQueue
from agentco_tui.model import Agent, Record, Ref, Task

_CHUNK: Final = 50  # ids between two pauses
# The lists that are polled and concern the queue.
_FEEDS: Final = (FeedName.AGENTS, FeedName.PENDING)
"""Agents first, because a task that names no company belongs to that of its agent."""


class _Noted(NamedTuple):
    """A change that is still to be taken in."""

    feed: FeedName
    scope: str | None  # the company in scope as of that change
    ids: Iterator[str]
    records: Mapping[str, Record]
    """As of that change: a task that came and left meanwhile is counted, and departs."""


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
        """As of the last `take_in_steps`; a new object once another company has come into scope."""
        self._store = store
        self._scope_now = scope
        self._noted_scope = self.queue.scope
        self._changes: deque[_Noted] = deque()
        self._taken = 0  # changes that were taken in completely
        self._has_begun_next = False  # whether another one was taken in partly
        self._followers: list[QueueChanges] = []
        self._note_all_records()
        store.subscribe(self._note_change, _FEEDS)

    def collect_changes(self) -> QueueChanges:
        """Sets that every change from now on is added to; the caller clears them."""
        changes = QueueChanges()
        changes.owners.update(self.queue.waiting_by_owner)
        self._followers.append(changes)
        return changes

    def position(self) -> int:
        """The number of changes that have come up to now, for `take_in_steps`."""
        self._note_scope()
        return self._taken + len(self._changes)

    def is_beyond(self, position: int) -> bool:
        """Whether the queue shows changes that came after a `position`."""
        return self._taken > position or (self._taken == position and self._has_begun_next)

    def take_in_steps(self, up_to: int | None = None) -> Generator[None, None, None]:
        """Take in all changes, or those up to a `position`; pauses often.

        Several of these may run at the same time.
        """
        taken = 0
        while True:
            self._note_scope()
            if not self._changes or (up_to is not None and self._taken >= up_to):
                return
            noted = self._changes[0]
            if noted.scope != self.queue.scope:
                self._start_over(noted.scope)
            record_id = next(noted.ids, None)
            if record_id is None:
                self._changes.popleft()
                self._taken += 1
                self._has_begun_next = False
                continue
            self._has_begun_next = True
            record = noted.records.get(record_id)
            if noted.feed is FeedName.AGENTS:
                self._take_agent(record_id, record)
            else:
                self._take_task(record_id, record)
            taken += 1
            if taken % _CHUNK == 0:
                yield

    def _note_change(self, change: Change) -> None:
        self._note_scope()
        records = self._store.collections[change.feed].records
        ids = chain(change.added, change.changed, change.removed)
        self._changes.append(_Noted(change.feed, self._noted_scope, ids, records))

    def _note_scope(self) -> None:
        """If another company has come into scope, note that all records are counted again."""
        scope = self._scope_now()
        if scope != self._noted_scope:
            self._noted_scope = scope
            self._note_all_records()

    def _note_all_records(self) -> None:
        for feed in _FEEDS:
            records = self._store.collections[feed].records
            self._changes.append(_Noted(feed, self._noted_scope, iter(records), records))

    def _start_over(self, scope: str | None) -> None:
        """Count the queue of another company: all its records have been noted."""
        for changes in self._followers:
            changes.owners.update(self.queue.waiting_by_owner)
        self.queue = WaitingQueue(scope)

    def _take_agent(self, agent_id: str, agent: Record | None) -> None:
        """Take in which company an agent belongs to; None if there is no such agent any more."""
        company = agent.company if isinstance(agent, Agent) else None
        self.queue.set_company(agent_id, (company or Ref()).id or "")
        self._hand_on_owners()

    def _take_task(self, task_id: str, task: Record | None) -> None:
        """Take in a task of the pending list; None if it is not in the list any more."""
        queue = self.queue
        was_waiting = task_id in queue
        queue.update_task(task_id, task if isinstance(task, Task) else None)
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
