"""Reads the lists of tasks, and the activity log, for decisions.

A decision is the user's approval of a task. Before and after each, the platform (the remote
service) is read through `TaskReader`, with requests of its own that wait for no poll. The store is
what the screen shows of the platform; a feed is one list of it that `Poller` polls. Concurrent
decisions share reads (`SingleFlight`). Where the screen shows the same company, what was read also
goes into the store, so that the screen shows what the decision was based on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from agentco_tui.actions.evidence import Check, Observation
from agentco_tui.api.errors import ApiError, Unreadable
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.live.fetch import Take
from agentco_tui.live.insight import waits_for_person
from agentco_tui.live.poller import Poller
from agentco_tui.live.single_flight import SingleFlight
from agentco_tui.model import Activity, Listing, Task
from agentco_tui.text import SafeText, mark_safe

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

log = logging.getLogger(__name__)

ACTIVITY_LIMIT: Final = 200  # entries of the log read to find out who decided a task
_NO_LIST: Final = frozenset({"", "null", "{}"})
"""Shapes of answers without a list: sent for an empty list, and by a proxy that lost the answer."""
_INCOMPLETE_LIST: Final = mark_safe(
    "the platform's list of pending tasks came only in part, and it isn't in that part"
)
_BLANK_ANSWER: Final = mark_safe(
    "the platform answered with nothing where its list of pending tasks was due"
)


class TaskList(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading one list of tasks."""

    began: float  # when the read began, by the monotonic clock
    tasks: Mapping[str, Task] = {}
    why: SafeText | None = None
    """Why a task that is not in `tasks` may be in the platform's list all the same."""
    error: ApiError | None = None

    def check_task(self, task_id: str) -> Check[Task]:
        """Return what this list, as the list of pending tasks, shows of a task."""
        if self.error is not None:
            return Check.failed(self.began, self.error)
        task = self.tasks.get(task_id)
        if task is None:
            observation = Observation.DONE
            if self.why is not None:
                observation = Observation.INCOMPLETE
            return Check(observation=observation, began=self.began, why=self.why)
        if task.unwritable is not None:
            return Check(observation=Observation.INCOMPLETE, began=self.began, why=task.unwritable)
        # Some platforms ignore the filter: a task may say itself that it no longer waits.
        observation = Observation.UNCHANGED if waits_for_person(task) else Observation.DONE
        return Check(observation=observation, began=self.began, record=task)


class TaskReader:
    """Single-flight reads of tasks and of the log.

    A read begins after the call, and is shared by all calls that were made before it began: at
    least `spacing` seconds after the previous read of the same list, and after `gather` seconds in
    which further calls can join. `company` limits a read to one company; None reads all.
    """

    def __init__(
        self, client: Platform, poller: Poller, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._client = client
        self._poller = poller
        self._sleep = sleep
        self.every_took: float | None = None
        """Seconds that the last read of all tasks took; None before the first."""
        self._flights: dict[tuple[FeedName, str | None], SingleFlight[Any]] = {}

    async def read(
        self, feed: FeedName, company: str | None, spacing: float = 0.0, gather: float = 0.0
    ) -> Any:
        """Read the pending tasks (`FeedName.PENDING`) or all tasks (`FeedName.TASKS`), as a
        `TaskList`; or the newest entries of the log (`FeedName.ACTIVITY`), none if it can't be
        read.
        """
        if (feed, company) not in self._flights:
            once: Callable[[], Awaitable[Any]] = partial(self._read_tasks, feed, company)
            if feed is FeedName.ACTIVITY:
                once = partial(self._read_activity, company)
            self._flights[feed, company] = SingleFlight(once, self._poller.clock, self._sleep)
        # Shielded: a caller that is cancelled must not end the read of the others.
        return await asyncio.shield(self._flights[feed, company].next_read(spacing, gather))

    async def close(self) -> None:
        for flight in self._flights.values():
            await flight.close()

    async def _read_tasks(self, feed: FeedName, company: str | None) -> TaskList:
        clock = self._poller.clock
        is_pending = feed is FeedName.PENDING
        began = clock.monotonic()
        update: Take | ApiError | None = None
        try:
            status = "pending" if is_pending else None
            listing = await self._client.tasks(company_id=company, status=status)
            if not is_pending:
                self.every_took = clock.monotonic() - began
            by_id = {task.id: task for task in listing.records}
            tasks = TaskList(began=began, tasks=by_id, why=_why_incomplete(listing))
            if self.is_shown(feed, company):
                store = self._poller.store
                compared = await store.collections[feed].compare(listing)
                update = partial(store.take, feed, listing, compared)
        except ApiError as error:
            update = error
            tasks = TaskList(began=began, error=error)
        except Exception as error:
            # A bug in reading must not pass for knowledge: nothing is concluded from it.
            log.exception("reading the list of tasks failed")
            words = mark_safe(f"the list can't be read, by a fault here ({type(error).__name__})")
            path = self._client.capabilities.path("tasks")
            return TaskList(began=began, error=Unreadable(words, path=path))
        if update is not None and self.is_shown(feed, company):
            # Put it into the store in place of what polls that began earlier would bring.
            self._poller.supersede(feed, began, update)
        return tasks

    def is_shown(self, feed: FeedName, company: str | None) -> bool:
        """Whether the store holds this list and keeps it up to date."""
        if company != self._poller.query.company:
            return False
        # Pending tasks are polled always, other feeds only while something shows them.
        return feed is FeedName.PENDING or self._poller.pace(feed) is not Pace.OFF

    async def _read_activity(self, company: str | None) -> tuple[Activity, ...]:
        try:
            listing = await self._client.activity(company_id=company, limit=ACTIVITY_LIMIT)
        except ApiError as error:
            log.info("the log could not be read to find out who decided: %r", error)
            return ()
        return listing.records


def _why_incomplete(listing: Listing[Task]) -> SafeText | None:
    """Why a task that is missing in a listing may be in the platform's list; None if it is not."""
    if not listing.records and listing.shape in _NO_LIST:
        return _BLANK_ANSWER
    if listing.whole:
        return None
    return _INCOMPLETE_LIST
