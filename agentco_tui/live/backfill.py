"""Reads parts of the activity log in the background, between the polls.

The log is the platform's record of what the AI agents did (the platform is the remote service that
is polled). `GapFiller` reads the entries that polls have missed: an `ActivityWindow` marks each
place where two polls did not overlap with a gap. `Backfill` runs a GapFiller for the store's log;
it also reads the last 24 hours of all companies once, if the history file, which keeps samples
across restarts, is new and wants them (`want_past`). `LogReader` sends the requests; each waits
until no poll is under way (`wait_until_idle`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from math import inf
from typing import TYPE_CHECKING, Final

from agentco_tui.api.errors import ApiError
from agentco_tui.live.activity_window import GAP_PREFIX, ActivityWindow
from agentco_tui.live.feeds import NO_LOG_FILTER, ActivityFilter, Clock, FeedName, Query
from agentco_tui.live.log_reader import LogReader, WaitUntilIdle
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Activity, Listing

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

PAST: Final = 24 * 3_600.0  # seconds of the log that are read for a history that is new
PAUSE: Final = 1.0  # seconds before each request; doubled after each that brought nothing
_LONGEST_WAIT: Final = 600.0  # seconds

log = logging.getLogger(__name__)

TakePast = Callable[[Listing[Activity], float], object]
"""Takes one answer of the log, and the time (seconds since 1970) since which entries are wanted."""


class GapFiller:
    """Reads what is missing at the gaps of one window, and marks gaps that can't be filled."""

    def __init__(
        self,
        reader: LogReader,
        window: ActivityWindow,
        clock: Clock,
        asked: Callable[[], ActivityFilter],
        *,
        wait_until_idle: WaitUntilIdle,
        publish: Callable[[tuple[str, ...], tuple[str, ...], tuple[str, ...]], object],
    ) -> None:
        """`asked` returns the filter of the window as of now; an answer for another is dropped.

        `publish` is called with the ids that were added, changed and removed.
        """
        self.reader = reader
        self._window = window
        self._clock = clock
        self._asked = asked
        self._wait_until_idle = wait_until_idle
        self._publish = publish
        self._in_vain = 0  # gaps in a row that could not be filled
        self._due = -inf  # steady clock: when a gap may be tried again

    async def fill_gaps(self) -> None:
        """Fill the gaps of the window, the newest first, and mark those that can't be filled.

        After a gap that could not be filled there is a pause, longer each time. Raises ApiError.
        """
        while self._clock.monotonic() >= self._due:
            gaps = self._window.untried_gaps()
            if not gaps:
                return
            await self._fill_gap(*gaps[0])

    def put_off(self, at_least: float = 0.0) -> None:
        """Try no gap for at least so many seconds, twice as long each time."""
        self._in_vain += 1
        pause = max(PAUSE * 2.0 ** min(self._in_vain, 10), at_least)
        self._due = self._clock.monotonic() + min(pause, _LONGEST_WAIT)

    def seconds_until_due(self) -> float:
        """Seconds until a gap may be tried again, at least `PAUSE`."""
        return max(PAUSE, self._due - self._clock.monotonic())

    async def _fill_gap(self, left: Activity, gap: Activity, right: Activity) -> None:
        window = self._window
        asked = self._asked()
        since = left.at.at if left.at is not None else None
        until = right.at.at if right.at is not None else None
        tried = {gap.id}  # and the gaps that remain behind what was read

        def is_wanted() -> bool:
            return asked == self._asked() and any(key in window for key in tried)

        async def wait_while_wanted() -> bool:
            return await self._wait_until_idle() and is_wanted()

        reading = self.reader.read_back(asked, since, until, wait_while_wanted)
        async with aclosing(reading) as answers:
            async for listing in answers:
                if is_wanted():
                    part = Listing(records=entries_within(listing, since, until))
                    added, changed, removed = window.merge(part, is_poll=False)
                    tried |= {key for key in added if key.startswith(GAP_PREFIX)}
                    self._publish(added, changed, removed)
                if not is_wanted():
                    break
        unfilled = window.give_up(tried)
        if unfilled:
            self.put_off()
            self._publish((), unfilled, ())
        else:
            self._in_vain = 0


class Backfill:
    """Fills the gaps of the store's log, and reads the past; one request after the other."""

    def __init__(
        self,
        client: Platform,
        store: Store,
        clock: Clock,
        query: Callable[[], Query],
        wait_until_idle: WaitUntilIdle,
    ) -> None:
        """`query` returns the scope of the feeds; each request is sent after `wait_until_idle`."""
        self._store = store
        self._clock = clock
        self._query = query
        self._wait_until_idle = wait_until_idle
        reader = LogReader(client)
        self._gaps = GapFiller(
            reader,
            store.activity,
            clock,
            self._scope_filter,
            wait_until_idle=wait_until_idle,
            publish=self._publish_ids,
        )
        self._wanted = asyncio.Event()
        self._take_past: TakePast | None = None  # None: the past is not wanted, or was read
        store.subscribe(self._note_gap, (FeedName.ACTIVITY,))

    @property
    def reader(self) -> LogReader:
        return self._gaps.reader

    @reader.setter
    def reader(self, reader: LogReader) -> None:
        self._gaps.reader = reader

    def _scope_filter(self) -> ActivityFilter:
        """The filter of the store's log: the company in scope."""
        return ActivityFilter(company=self._query().company)

    def want_past(self, take_past: TakePast) -> None:
        """Read the last `PAST` seconds of the log once, and call `take_past` with each answer.

        If the platform fails, all of it is read again later: answers may be repeated.
        """
        self._take_past = take_past
        self._wanted.set()

    async def run(self) -> None:
        """Fill gaps and read the past, whenever one is wanted, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self.fill_gaps()
                if self._take_past is not None:
                    await self.read_past(self._take_past)
                    self._take_past = None
            except ApiError as error:
                log.info("a part of the log could not be read: %r", error)
                self._gaps.put_off(error.retry_after or 0.0)
            except Exception:
                # A bug of ours here must not end the polling; the gap stays.
                log.exception("reading a part of the log failed")
                self._take_past = None
                continue
            if self._take_past is not None or self._store.activity.untried_gaps():
                await asyncio.sleep(self._gaps.seconds_until_due())
                self._wanted.set()

    async def fill_gaps(self) -> None:
        """Fill the gaps of the store's log, as `GapFiller.fill_gaps`. Raises ApiError."""
        await self._gaps.fill_gaps()

    def _note_gap(self, change: Change) -> None:
        """Begin to fill gaps if the log has got one."""
        if any(key.startswith(GAP_PREFIX) for key in change.added):
            self._wanted.set()

    def _publish_ids(self, *ids: tuple[str, ...]) -> None:
        self._store.publish(Change(FeedName.ACTIVITY, *ids))

    async def read_past(self, take_past: TakePast) -> None:
        """Read the last `PAST` seconds of the log of all companies. Raises ApiError.

        Successive answers share entries.
        """
        since = self._clock.now() - PAST
        await self._wait_until_idle()
        # First learn whether this platform's log takes days, and how many entries it sends.
        known = Listing(records=tuple(self._store.activity))
        await self.reader.try_days(NO_LOG_FILTER, known, 0)
        answers = self.reader.read_back(NO_LOG_FILTER, since, None, self._wait_until_idle)
        async for listing in answers:
            take_past(listing, since)


def entries_within(
    listing: Listing[Activity], since: float | None, until: float | None
) -> tuple[Activity, ...]:
    """The entries of an answer between two times, both included.

    All, if an entry or an end has no time. Merging all of an answer would take longer, and most of
    it is known already.
    """
    if since is None or until is None or any(entry.at is None for entry in listing.records):
        return listing.records
    return tuple(entry for entry in listing.records if entry.at and since <= entry.at.at <= until)
