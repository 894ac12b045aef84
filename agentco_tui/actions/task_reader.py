"""Reads the tasks again for a decision: the pending list, all tasks, the log.

By requests of its own, which wait for no poll. Where the screen is about the same company, what was
read goes into the store, so that the screen shows what the decision was taken on.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from agentco_tui.actions.shared_read import SharedRead
from agentco_tui.actions.waits import Waits
from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, Unreadable
from agentco_tui.live.clock import Clock
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.live.fetch import Take, whole
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store, Told, told_by
from agentco_tui.model.records import Activity, Listing, Task
from agentco_tui.text import plain

log = logging.getLogger(__name__)

ACTIVITY_LIMIT = 200
"""Entries of the log read to find out who decided a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What one read of a list of tasks brought, or why it brought nothing."""

    began: float
    """Steady clock: what it shows is not older than this."""
    tasks: Mapping[str, Task] = field(default_factory=lambda: MappingProxyType({}))
    told: Told = field(default_factory=Told)
    blank: bool = False
    """True if the answer was nothing at all, where an empty list may be meant or an answer lost."""
    error: ApiError | None = None

    @property
    def whole(self) -> bool:
        """Whether a task that is not in it is not in the platform's list either."""
        told = self.told
        partial = told.capped or told.more or told.unread or self.blank
        return self.error is None and not partial


class TaskReader:
    """Every method gives what a read brought that began after the call, shared by all who ask.

    `company` limits it to a company, None asks about all. Without a poller, reads of the scope
    `company` given here go into the store.
    """

    def __init__(
        self,
        client: Client,
        store: Store,
        clock: Clock,
        *,
        poller: Poller | None = None,
        company: str | None = None,
        waits: Waits | None = None,
    ) -> None:
        self._client = client
        self._store = store
        self._clock = clock
        self._poller = poller
        self._company = company
        self._sleep = (waits or Waits()).sleep
        self.every_took: float | None = None
        """Seconds that the last read of all tasks took; None before the first."""
        self._lists: dict[tuple[FeedName, str | None], SharedRead[Picture]] = {}
        self._logs: dict[str | None, SharedRead[tuple[Activity, ...]]] = {}

    @property
    def scope(self) -> str | None:
        """The company that the screen is about now; None for all."""
        return self._company if self._poller is None else self._poller.query.company

    async def pending(self, company: str | None, spacing: float = 0.0) -> Picture:
        """GET /api/tasks?status=pending."""
        return await self._shared(FeedName.PENDING, company).after_now(spacing)

    async def every(self, company: str | None, spacing: float = 0.0) -> Picture:
        """GET /api/tasks, whatever their status."""
        return await self._shared(FeedName.TASKS, company).after_now(spacing)

    async def log(self, company: str | None, spacing: float = 0.0) -> tuple[Activity, ...]:
        """GET /api/activity, its newest entries; nothing if it can't be read."""
        if company not in self._logs:

            async def read() -> tuple[Activity, ...]:
                return await self._activity(company)

            self._logs[company] = SharedRead(read, self._clock, self._sleep)
        return await self._logs[company].after_now(spacing)

    async def close(self) -> None:
        """End reads that are under way."""
        for shared in self._lists.values():
            await shared.close()
        for log_read in self._logs.values():
            await log_read.close()

    def _shared(self, feed: FeedName, company: str | None) -> SharedRead[Picture]:
        key = (feed, company)
        if key not in self._lists:

            async def guarded() -> Picture:
                began = self._clock.monotonic()
                try:
                    return await self._list(feed, company)
                except Exception as error:
                    # A bug in reading must not pass for knowledge: nothing is concluded from it.
                    log.exception("reading the list of tasks failed")
                    words = plain(
                        f"the list can't be read, by a fault here ({type(error).__name__})"
                    )
                    return Picture(began=began, error=Unreadable(words, path="/api/tasks"))

            self._lists[key] = SharedRead(guarded, self._clock, self._sleep)
        return self._lists[key]

    async def _list(self, feed: FeedName, company: str | None) -> Picture:
        is_pending = feed is FeedName.PENDING
        began = self._clock.monotonic()
        found: Take | ApiError
        try:
            status = "pending" if is_pending else None
            listing = await self._client.tasks(company_id=company, status=status)
            if not is_pending:
                self.every_took = self._clock.monotonic() - began
            picture = _picture(listing, began)
            if not self._is_shown(feed, company):
                return picture
            collection = self._store.pending if is_pending else self._store.tasks
            found = await whole(self._store, collection, listing)
        except ApiError as error:
            found, picture = error, Picture(began=began, error=error)
        if self._is_shown(feed, company):
            if self._poller is not None:
                self._poller.supersede(feed, began, found)
            elif not isinstance(found, ApiError):
                found()
        return picture

    def _is_shown(self, feed: FeedName, company: str | None) -> bool:
        """Whether the store holds this list, and it is kept up to date."""
        if company != self.scope or self._poller is None:
            return company == self.scope and feed is FeedName.PENDING
        return feed is FeedName.PENDING or self._poller.pace(feed) is not Pace.OFF

    async def _activity(self, company: str | None) -> tuple[Activity, ...]:
        try:
            listing = await self._client.activity(company_id=company, limit=ACTIVITY_LIMIT)
        except ApiError as error:
            log.info("the log could not be read to find out who decided: %r", error)
            return ()
        return listing.records


_NOTHING = frozenset({"", "null", "{}"})
"""Shapes of answers without a list: no body, null, an empty object (SHAPES A: seen for empty lists,
and what a proxy makes of an answer that it lost)."""


def _picture(listing: Listing[Task], began: float) -> Picture:
    return Picture(
        began=began,
        tasks={task.id: task for task in listing.records},
        told=told_by(listing),
        blank=not listing.records and listing.shape in _NOTHING,
    )
