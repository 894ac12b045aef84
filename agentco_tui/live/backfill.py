"""Behind all other reads: what the polls of the log missed, and the day before the first poll."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from itertools import takewhile
from math import inf
from typing import Final

from agentco_tui.api.errors import ApiError
from agentco_tui.live.activity_window import GAP_PREFIX
from agentco_tui.live.feeds import ActivityFilter, Clock, FeedName
from agentco_tui.live.history import Span
from agentco_tui.live.log_reader import LogReader, Rest, day_of
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Activity, Listing

PAST: Final = 24 * 3_600.0  # seconds of the log that are read at the first start on a platform
TRIES: Final = 3
PAUSE: Final = 1.0  # seconds before each question; doubled after each failure
_LONGEST_WAIT: Final = 600.0

Give = Callable[[Sequence[Activity], Span], object]
"""Takes entries, each once, and the time of which they are all that there are."""

log = logging.getLogger(__name__)


class Backfill:
    """Reads one part of the log after the other, each question when `rest` has returned."""

    def __init__(
        self,
        reader: LogReader,
        store: Store,
        clock: Clock,
        asked: Callable[[], ActivityFilter],
        rest: Rest,
    ) -> None:
        """`asked` says what the polls of the log ask for."""
        self.reader = reader
        self._store, self._clock, self._asked, self._rest = store, clock, asked, rest
        self._wanted = asyncio.Event()
        self._give: Give | None = None
        self._failures = 0
        self._given: tuple[float, set[str]] = inf, set()
        """The time of the oldest entry of the past that was given, and the ids of that time."""

    async def run(self) -> None:
        """Do what is wanted until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self.fill()
                if self._give is not None:
                    await self._read_past(self._give)
                    self._give = None
            except ApiError as error:
                log.info("a part of the log could not be read: %r", error)
                pause = max(PAUSE * 2**self._failures, min(error.retry_after or 0, _LONGEST_WAIT))
                await asyncio.sleep(pause)
                self._wanted.set()

    def look(self, change: Change) -> None:
        """A poll of the log has been taken: begin if it left a gap."""
        if any(key.startswith(GAP_PREFIX) for key in change.added):
            self._wanted.set()

    def want_past(self, give: Give) -> None:
        """Read the last 24 hours, of all companies, for the history."""
        self._give = give
        self._wanted.set()

    async def fill(self) -> None:
        """Fill the gaps of the window, the newest first. Raises ApiError."""
        while gaps := self._store.activity.gaps():
            await self._fill(*gaps[0])

    async def _fill(self, left: Activity, right: Activity) -> None:
        """Read what is missing between two entries; what can't be had is marked so."""
        window, of = self._store.activity, self._asked()
        since = None if left.at is None else left.at.at
        until = None if right.at is None else right.at.at
        day = None if until is None or self.reader.ignores_days else day_of(until)
        newer = takewhile(lambda entry: entry.id != right.id, reversed(window))
        skip = sum(day is None or each.at is None or day_of(each.at.at) == day for each in newer)

        async def rest() -> bool:
            return await self._rest() and of == self._asked() and right.id in window

        back = self.reader.back(of, until, since, rest, skip=skip, exists=True)
        try:
            if self.reader.reaches(since, until, skip):
                async with aclosing(back) as parts:
                    async for listing, _ in parts:
                        part = within(listing, since, until)
                        if of == self._asked() and right.id in window:
                            self._publish(*window.merge(part, is_poll=False))
                        has_left = any(entry.id == left.id for entry in part.records)
                        if has_left or not window.gaps_between(left.id, right.id):
                            break
        except ApiError:
            self._failures += 1
            if self._failures < TRIES:
                raise
        self._failures = 0
        if right.id in window:
            self._publish((), window.give_up(left.id, right.id), ())

    def _publish(self, *ids: tuple[str, ...]) -> None:
        self._store.publish(Change(FeedName.ACTIVITY, *ids))

    async def _read_past(self, give: Give) -> None:
        since, (bound, at_bound) = self._clock.now() - PAST, self._given
        until = None if bound == inf else bound
        try:
            async for listing, span in self.reader.back(ActivityFilter(), until, since, self._rest):
                new = [
                    entry
                    for entry in within(listing, since, bound).records
                    if entry.at and not (entry.at.at == bound and entry.id in at_bound)
                ]
                if new or span[1] > since:
                    give(new, (max(since, span[0]), span[1]))
                if new:
                    times = [entry.at.at for entry in new if entry.at]
                    at_bound = at_bound if min(times) == bound else set()
                    bound = min(times)
                    at_bound |= {entry.id for entry in new if entry.at and entry.at.at == bound}
                    self._given, self._failures = (bound, at_bound), 0
        except ApiError:
            self._failures += 1
            if self._failures < TRIES:
                raise
        self._failures = 0


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
