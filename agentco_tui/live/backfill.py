"""Reads in the background what the polls of the log missed, and the day before the first start."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import aclosing, suppress
from math import inf
from typing import Final

from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError
from agentco_tui.history.departures import DepartureReader
from agentco_tui.history.history import History
from agentco_tui.history.observations import HistoryError, Observed
from agentco_tui.history.reader import Reader
from agentco_tui.live.activity_window import GAP_PREFIX, ActivityWindow
from agentco_tui.live.feeds import NO_LOG_FILTER, ActivityFilter, Clock, FeedName, Query
from agentco_tui.live.log_reader import LogReader, WaitUntilIdle, ends
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Activity, Listing

PAST: Final = 24 * 3_600.0  # seconds of the log that are read at the first start on a platform
PAUSE: Final = 1.0  # seconds before each request; doubled after each that brought nothing
_LONGEST_WAIT: Final = 600.0

log = logging.getLogger(__name__)


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
        """`asked` returns which part of the log the window holds now.

        `publish` is called with the ids that were added, changed and removed.
        """
        self.reader = reader
        self._window = window
        self._clock = clock
        self._asked = asked
        self._wait_until_idle = wait_until_idle
        self._publish = publish
        self._in_vain = 0
        self._due = -inf  # steady clock: when a gap may be tried again

    async def fill(self) -> None:
        """Fill the gaps of the window, the newest first, and mark those that can't be filled.

        After a gap that could not be filled there is a pause, longer each time. Raises ApiError.
        """
        while self._clock.monotonic() >= self._due and (gaps := self._window.gaps()):
            await self._fill(*gaps[0])

    def put_off(self, at_least: float = 0.0) -> None:
        """Try no gap for at least so many seconds, twice as long each time."""
        self._in_vain += 1
        pause = max(PAUSE * 2.0 ** min(self._in_vain, 10), at_least)
        self._due = self._clock.monotonic() + min(pause, _LONGEST_WAIT)

    def seconds_until_due(self) -> float:
        """Seconds until a gap may be tried again, at least `PAUSE`."""
        return max(PAUSE, self._due - self._clock.monotonic())

    async def _fill(self, left: Activity, gap: Activity, right: Activity) -> None:
        window, asked = self._window, self._asked()
        since = None if left.at is None else left.at.at
        until = None if right.at is None else right.at.at
        tried = {gap.id}  # and the gaps that remain behind what was read

        def is_wanted() -> bool:
            return asked == self._asked() and any(key in window for key in tried)

        async def wait_while_wanted() -> bool:
            return await self._wait_until_idle() and is_wanted()

        async with aclosing(self.reader.back(asked, since, until, wait_while_wanted)) as answers:
            async for listing in answers:
                if is_wanted():
                    part = Listing(records=_within(listing, since, until))
                    added, changed, removed = window.merge(part, is_poll=False)
                    tried |= {key for key in added if key.startswith(GAP_PREFIX)}
                    self._publish(added, changed, removed)
                if not is_wanted():
                    break
        if lacking := window.give_up(tried):
            self.put_off()
            self._publish((), lacking, ())
        else:
            self._in_vain = 0


class Backfill:
    """Background reads of the log, one after the other."""

    def __init__(
        self,
        client: Client,
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
            self._asked,
            wait_until_idle=wait_until_idle,
            publish=self._publish,
        )
        self._wanted = asyncio.Event()
        self._new: History | None = None  # where the past of the platform goes
        self._client = client
        self._departures: DepartureReader | None = None
        self._is_remembering = asyncio.Event()
        store.subscribe(self._look)

    @property
    def reader(self) -> LogReader:
        return self._gaps.reader

    @reader.setter
    def reader(self, reader: LogReader) -> None:
        self._gaps.reader = reader

    def _asked(self) -> ActivityFilter:
        """Which part of the log the store holds: that of the company in scope."""
        return ActivityFilter(company=self._query().company)

    async def remember(self, history: History) -> None:
        """Begin to write what the store gets to a history.

        For a platform that is new to the history, the last 24 hours of the log are read.
        """
        from agentco_tui.history.sampler import Sampler  # noqa: PLC0415 (once, off the start)

        is_new = False
        with suppress(HistoryError):  # told where it is written
            is_new = await history.ask(Reader.first_seen) is None
        sampler = Sampler(history, self._store, self._query, self._clock, on_queue=self._note_queue)
        self._departures = DepartureReader(
            self._client,
            history,
            self._clock,
            query=self._query,
            wait_until_idle=self._wait_until_idle,
            life_of=sampler.life_of_record,
        )
        # What left the queue in an earlier run may not have been looked up yet.
        self._departures.note_change()
        self._is_remembering.set()
        if is_new:
            self._new = history
            self._wanted.set()

    async def run(self) -> None:
        """Do what is wanted until cancelled."""
        async with asyncio.TaskGroup() as work:
            work.create_task(self._read_log(), name="backfill of the log")
            work.create_task(self._follow_departures(), name="departures")

    def _note_queue(self) -> None:
        if self._departures is not None:
            self._departures.note_change()

    async def _follow_departures(self) -> None:
        await self._is_remembering.wait()
        if self._departures is not None:
            await self._departures.run()

    async def _read_log(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self.fill()
                if self._new is not None:
                    await self._read_past(self._new)
                    self._new = None
            except ApiError as error:
                log.info("a part of the log could not be read: %r", error)
                self._gaps.put_off(error.retry_after or 0.0)
            except Exception:
                # A bug of ours here must not end what keeps the picture; the gap stays.
                log.exception("reading a part of the log failed")
                self._new = None
                continue
            if self._new is not None or self._store.activity.gaps():
                await asyncio.sleep(self._gaps.seconds_until_due())
                self._wanted.set()

    async def fill(self) -> None:
        """Fill the gaps of the store's log, as `GapFiller.fill`. Raises ApiError."""
        await self._gaps.fill()

    def _look(self, change: Change) -> None:
        """Begin if the log has got a gap."""
        if any(key.startswith(GAP_PREFIX) for key in change.added):
            self._wanted.set()

    def _publish(self, *ids: tuple[str, ...]) -> None:
        self._store.publish(Change(FeedName.ACTIVITY, *ids))

    async def _read_past(self, history: History) -> None:
        """Read the last 24 hours of all companies, for the history; raises ApiError. What is read
        twice is counted once there, for minutes are told whole.
        """
        of, since = NO_LOG_FILTER, self._clock.now() - PAST
        await self._wait_until_idle()
        await self.reader.try_days(of, Listing(records=tuple(self._store.activity)), 0)
        async for listing in self.reader.back(of, since, None, self._wait_until_idle):
            history.observe(_observe(listing, since))


def _observe(listing: Listing[Activity], since: float) -> Iterator[Observed]:
    from agentco_tui.history.log_counts import observe_log  # noqa: PLC0415 (once in a history)

    observed, (oldest, newest) = observe_log(_within(listing, since, inf)), ends(listing)
    if oldest is not None and newest is not None and newest > since:
        observed.seen.append((FeedName.ACTIVITY, "", (max(oldest, since), newest)))
    yield observed


def _within(
    listing: Listing[Activity], since: float | None, until: float | None
) -> tuple[Activity, ...]:
    """The entries of an answer between two times, both included.

    All, if an entry or an end has no time. Merging all of an answer would take longer, and most of
    it is known already.
    """
    if since is None or until is None or any(entry.at is None for entry in listing.records):
        return listing.records
    return tuple(e for e in listing.records if e.at and since <= e.at.at <= until)
