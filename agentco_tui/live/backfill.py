"""Behind all other reads: what the polls of the log missed, and the day before the first poll."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from functools import partial
from itertools import takewhile
from math import inf
from typing import Final

from agentco_tui.api.errors import ApiError
from agentco_tui.background import turn
from agentco_tui.live.activity_window import GAP_PREFIX
from agentco_tui.live.feeds import ActivityFilter, Clock, FeedName, Query
from agentco_tui.live.history import History, HistoryError, Observed, Reader, Span
from agentco_tui.live.log_reader import LogReader, Rest, day_of
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Activity, Listing

PAST: Final = 24 * 3_600.0  # seconds of the log that are read at the first start on a platform
TRIES: Final = 3
PAUSE: Final = 1.0  # seconds before each question; doubled after each failure
_LONGEST_WAIT: Final = 600.0
_SLICE: Final = 500  # entries that are put into the window in one go

log = logging.getLogger(__name__)


class Backfill:
    """Reads one part of the log after the other, each question when `rest` has returned."""

    def __init__(
        self,
        reader: LogReader,
        store: Store,
        clock: Clock,
        query: Callable[[], Query],
        rest: Rest,
    ) -> None:
        """`query` says what the feeds are asked about now."""
        self.reader = reader
        self._store, self._clock, self._query, self._rest = store, clock, query, rest
        self._wanted = asyncio.Event()
        self._failures = self._in_vain = 0
        self._due = -inf  # steady clock: when a gap may be asked about again
        self._new: History | None = None  # where the past of the platform goes

    async def remember(self, history: History) -> None:
        """Begin to observe the store for a history. Of a platform that it doesn't know yet the last
        24 hours of the log are read.
        """
        from agentco_tui.live.history_sampler import Sampler  # noqa: PLC0415 (once, off the start)

        is_new = False
        with suppress(HistoryError):  # told where it is written
            is_new = await history.ask(Reader.first_seen) is None
        Sampler(history, self._store, self._query, self._clock)
        if is_new:
            self._new = history
            self._wanted.set()

    async def run(self) -> None:
        """Do what is wanted until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self.fill()
                if self._new is not None:
                    await self._read_past(self._new)
                    self._new = None
                if self._store.activity.gaps():
                    await asyncio.sleep(max(PAUSE, self._due - self._clock.monotonic()))
                    self._wanted.set()
            except ApiError as error:
                log.info("a part of the log could not be read: %r", error)
                pause = max(PAUSE * 2**self._failures, min(error.retry_after or 0, _LONGEST_WAIT))
                await asyncio.sleep(pause)
                self._wanted.set()
            except Exception:
                # A bug of ours here must not end what keeps the picture; the gap stays.
                log.exception("reading a part of the log failed")
                self._new = None

    def look(self, change: Change) -> None:
        """A poll of the log has been taken: begin if it left a gap."""
        if any(key.startswith(GAP_PREFIX) for key in change.added):
            self._wanted.set()

    async def fill(self) -> None:
        """Fill the gaps of the window, the newest first; after one that was asked about in vain
        none for a while, longer each time. Raises ApiError.
        """
        while self._clock.monotonic() >= self._due and (gaps := self._store.activity.gaps()):
            await self._fill(*gaps[0])

    async def _fill(self, left: Activity, right: Activity) -> None:
        """Read what is missing between two entries; what can't be had is marked so."""
        window, of = self._store.activity, self._query().log
        since = None if left.at is None else left.at.at
        until = None if right.at is None else right.at.at
        day = None if until is None or self.reader.ignores_days else day_of(until)
        newer = takewhile(lambda entry: entry.id != right.id, reversed(window))
        skip = sum(day is None or each.at is None or day_of(each.at.at) == day for each in newer)

        async def rest() -> bool:
            return await self._rest() and of == self._query().log and right.id in window

        can_help = self.reader.reaches(since, until, skip)
        back = self.reader.back(of, until, since, rest, skip=skip, exists=True)
        try:
            if can_help:
                async with aclosing(back) as parts:
                    async for listing, _ in parts:
                        part = within(listing, since, until).records
                        for start in range(0, len(part), _SLICE):
                            await turn()
                            if of == self._query().log and right.id in window:
                                # One more, so that it joins the slice after it.
                                some = Listing(records=part[start : start + _SLICE + 1])
                                self._publish(*window.merge(some, is_poll=False))
                        has_left = any(entry.id == left.id for entry in part)
                        if has_left or not window.gaps_between(left.id, right.id):
                            break
        except ApiError:
            self._failures += 1
            if self._failures < TRIES:
                raise
        self._failures = 0
        if right.id in window:
            lacking = window.give_up(left.id, right.id)
            self._in_vain = self._in_vain + can_help if lacking else 0
            pause = min(PAUSE * 2**self._in_vain, _LONGEST_WAIT) if lacking and can_help else 0.0
            self._due = self._clock.monotonic() + pause
            self._publish((), lacking, ())

    def _publish(self, *ids: tuple[str, ...]) -> None:
        self._store.publish(Change(FeedName.ACTIVITY, *ids))

    async def _read_past(self, history: History) -> None:
        """Read the last 24 hours of all companies, for the history; raises ApiError. What is read
        twice is counted once there, for minutes are told whole.
        """
        since = self._clock.now() - PAST
        try:
            async for listing, span in self.reader.back(ActivityFilter(), None, since, self._rest):
                past = within(listing, since, inf)
                history.hand(partial(_observe, past.records, (max(since, span[0]), span[1])))
        except ApiError:
            self._failures += 1
            if self._failures < TRIES:
                raise
        self._failures = 0


def _observe(entries: Sequence[Activity], span: Span) -> Iterator[Observed]:
    from agentco_tui.live.history_sampler import observe_log  # noqa: PLC0415 (once in a history)

    observed = observe_log(entries)
    if span[0] < span[1]:
        observed.seen.append((FeedName.ACTIVITY, "", span))
    yield observed


def within(
    listing: Listing[Activity], since: float | None, until: float | None
) -> Listing[Activity]:
    """The part of an answer between two times, both included; all, if an entry or an end has none.

    To merge all of it would take longer, for what is mostly known.
    """
    if since is None or until is None or any(entry.at is None for entry in listing.records):
        return listing
    kept = (entry for entry in listing.records if entry.at and since <= entry.at.at <= until)
    return Listing(records=tuple(kept))
