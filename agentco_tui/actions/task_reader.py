"""Reads the tasks again for a decision; what a read shows of one task, and who decided it.

By requests of its own, which wait for no poll. Where the screen is about the same company, what was
read goes into the store, so that the screen shows what the decision was taken on.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any

import msgspec

from agentco_tui.actions.outcome import Check, Found
from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, Unreadable
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.live.fetch import Take
from agentco_tui.live.insight import waits_for_person
from agentco_tui.live.poller import Poller
from agentco_tui.live.single_flight import SingleFlight
from agentco_tui.model import Activity, Task, TaskState
from agentco_tui.model import format as form
from agentco_tui.text import SafeText, plain

log = logging.getLogger(__name__)

ACTIVITY_LIMIT = 200  # entries of the log read to find out who decided a task
CLOCK_SLACK = 5.0  # seconds by which our idea of the platform's time may be wrong
_NO_LIST = frozenset({"", "null", "{}"})
"""Shapes of answers without a list: of empty lists, and of what a proxy lost."""
_IN_PART = plain(
    "the platform's list of pending tasks came only in part, and it isn't in that part"
)
_NOTHING = plain("the platform answered with nothing where its list of pending tasks was due")


class TaskList(msgspec.Struct, frozen=True, kw_only=True):
    """What one read of a list of tasks brought, or why it brought nothing."""

    began: float
    tasks: Mapping[str, Task] = {}
    why: SafeText | None = None
    """Why a task that is not in it may be in the platform's list all the same."""
    error: ApiError | None = None

    def check(self, task_id: str) -> Check[Task]:
        """What it, as the list of those that wait, shows of a task."""
        began, error, task = self.began, self.error, self.tasks.get(task_id)
        if error is not None:
            return Check(found=Found.FAILED, began=began, error=error, why=error.sentence)
        if task is not None and task.unwritable is not None:
            return Check(found=Found.PARTIAL, began=began, why=task.unwritable)
        if task is not None:
            # What says itself that it is past waiting was not filtered out.
            found = Found.BEFORE if waits_for_person(task) else Found.DONE
            return Check(found=found, began=began, record=task)
        found = Found.DONE if self.why is None else Found.PARTIAL
        return Check(found=found, began=began, why=self.why)


class TaskReader:
    """Reads that begin after the call, shared by all who ask (single-flight): at least `spacing`
    seconds after the one before, and after `gather` seconds in which others can join.

    `company` limits a read to a company, None asks about all.
    """

    def __init__(
        self, client: Client, poller: Poller, sleep: Callable[[float], Awaitable[None]]
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
        """GET /api/tasks, for `FeedName.PENDING` those that wait, for `FeedName.TASKS` all: a
        `TaskList`. For `FeedName.ACTIVITY` the newest entries of the log, none if it can't be read.
        """
        if (feed, company) not in self._flights:
            read = self._activity if feed is FeedName.ACTIVITY else partial(self._tasks, feed)
            once = partial(read, company)
            self._flights[feed, company] = SingleFlight(once, self._poller.clock, self._sleep)
        # Shielded: one who stops waiting must not end the read of the others.
        return await asyncio.shield(self._flights[feed, company].next_read(spacing, gather))

    async def close(self) -> None:
        for flight in self._flights.values():
            await flight.close()

    async def _tasks(self, feed: FeedName, company: str | None) -> TaskList:
        clock, pending = self._poller.clock, feed is FeedName.PENDING
        began = clock.monotonic()
        found: Take | ApiError | None = None
        try:
            status = "pending" if pending else None
            listing = await self._client.tasks(company_id=company, status=status)
            if not pending:
                self.every_took = clock.monotonic() - began
            why = None if listing.whole else _IN_PART
            if not listing.records and listing.shape in _NO_LIST:
                why = _NOTHING
            by_id = {task.id: task for task in listing.records}
            tasks = TaskList(began=began, tasks=by_id, why=why)
            if self.is_shown(feed, company):
                store = self._poller.store
                compared = await store.collections[feed].compare(listing)
                found = partial(store.take, feed, listing, compared)
        except ApiError as error:
            found, tasks = error, TaskList(began=began, error=error)
        except Exception as error:
            # A bug in reading must not pass for knowledge: nothing is concluded from it.
            log.exception("reading the list of tasks failed")
            words = plain(f"the list can't be read, by a fault here ({type(error).__name__})")
            return TaskList(began=began, error=Unreadable(words, path="/api/tasks"))
        if found is not None and self.is_shown(feed, company):
            self._poller.supersede(feed, began, found)
        return tasks

    def is_shown(self, feed: FeedName, company: str | None) -> bool:
        """Whether the store holds this list, and it is kept up to date."""
        return company == self._poller.query.company and (
            feed is FeedName.PENDING or self._poller.pace(feed) is not Pace.OFF
        )

    async def _activity(self, company: str | None) -> tuple[Activity, ...]:
        try:
            listing = await self._client.activity(company_id=company, limit=ACTIVITY_LIMIT)
        except ApiError as error:
            log.info("the log could not be read to find out who decided: %r", error)
            return ()
        return listing.records


# ---- who decided a task that no longer waits: by its record, and the verbs, outcomes and actors of
# the log; never by its words, which agents write

_DECISIONS = {
    **dict.fromkeys(("approve", "approved", "accept", "accepted", "allow", "allowed"), "approved"),
    **dict.fromkeys(("reject", "rejected", "decline", "declined", "deny", "denied"), "rejected"),
    **dict.fromkeys(("cancel", "canceled", "cancelled"), "cancelled"),
    **dict.fromkeys(("expire", "expired"), "expired"),
}
_NOT_YET = frozenset(
    {"request", "requested", "requires", "required", "need", "needs", "needed", "awaiting"}
    | {"pending", "waiting", "not", "failed", "un"}
)
_BY_STATE = {
    TaskState.APPROVED: "approved",
    TaskState.REJECTED: "rejected",
    TaskState.CANCELLED: "cancelled",
}


def says_it_waits(record: Task) -> bool:
    """Whether a record says of itself that it waits for a person, wherever it is listed."""
    return record.needs_approval or (
        record.needs_approval is None and record.state is TaskState.PENDING
    )


def decision(entry: Activity) -> str | None:
    """The decision that an entry tells of: approved, rejected, cancelled, expired, or None."""
    for told in (entry.verb, entry.outcome):
        words = re.findall("[a-z]+", (told or "").casefold())
        if _NOT_YET.isdisjoint(words):
            for word in words:
                if word in _DECISIONS:
                    return _DECISIONS[word]
    return None


def decision_about(
    task_id: str, entries: Iterable[Activity], waited_at: float | None = None
) -> Activity | None:
    """The newest entry that tells of a decision about the task.

    `waited_at` is when the task was last read to wait, by the platform's clock: what was decided
    before that, or at a time that is not told, has not ended this wait. None if that is not known.
    """
    found: Activity | None = None
    for entry in entries:
        if entry.task is None or entry.task.id != task_id or decision(entry) is None:
            continue
        if waited_at is not None and (entry.at is None or entry.at.at < waited_at - CLOCK_SLACK):
            continue
        if found is None or (entry.at and (found.at is None or entry.at.at >= found.at.at)):
            found = entry
    return found


def decided_as(record: Task | None, entry: Activity | None) -> str | None:
    """What a task's record, else an entry of the log, says was decided: as `decision`."""
    word = None if record is None or record.state is None else _BY_STATE.get(record.state)
    return decision(entry) if word is None and entry is not None else word


def elsewhere(record: Task | None, entry: Activity | None, now: float) -> SafeText:
    """Such as: already approved elsewhere by Wanda, 4 s ago. `now` is the platform's time.

    Without a word from the platform on the decision, only what is seen is said.
    """
    word = decided_as(record, entry)
    if word is not None:
        return plain(f"already {word} elsewhere{by_whom(record, entry, word, now)}")
    if record is None or record.status is None:
        return plain("it left the list of pending tasks")
    if says_it_waits(record):
        return plain(
            "it left the list of pending tasks, though the list of all tasks shows it as "
            f"“{record.status}”"
        )
    return plain(f"it is no longer pending: the platform shows it as “{record.status}”")


def shown_as(record: Task) -> SafeText:
    """How the platform shows a task that no longer waits, for the end of a sentence."""
    by = f", decided by {record.decided_by}" if record.decided_by else ""
    return plain(f"the platform shows it as “{record.status or 'decided'}”{by}")


def by_whom(record: Task | None, entry: Activity | None, word: str, now: float) -> str:
    """Such as: " by Wanda, 4 s ago", as far as the platform tells."""
    who = None if record is None else record.decided_by
    at = None if record is None else record.decided
    if entry is not None and decision(entry) == word:
        at = at or entry.at
        who = who or (None if entry.actor is None else entry.actor.name)
    return (f" by {who}" if who else "") + ("" if at is None else f", {form.ago(now - at.at)}")
