"""Parts of the activity log, as far as the platform gives them by `from`, `to` and `limit`.

The interface takes days, no times, and answers with the newest entries of them. So it is read
backwards, a page at a time: where a page reaches back to an earlier day, that is the next one's
last day; where one day has more than a page, only a larger limit gets behind it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Final

from agentco_tui.api.client import Client
from agentco_tui.api.errors import Invalid, NotFound, OtherStatus, TooLarge
from agentco_tui.live.feeds import ActivityFilter
from agentco_tui.live.history import Span
from agentco_tui.model import Activity, Listing
from agentco_tui.text import SafeText, plain

PAGE: Final = 500  # entries asked for at a time
MOST: Final = 4_000  # asked for at once, where one day has more than a page
LEAST: Final = 200  # a limit that is refused is halved until here: so many every poll asks for
MOST_QUESTIONS: Final = 24  # about one part of the log
_REFUSALS: Final = (Invalid, NotFound, OtherStatus, TooLarge)
_DAY: Final = timedelta(days=1)
_HALF_DAY: Final = 12 * 3_600.0
_ZONES: Final = 14 * 3_600.0  # seconds by which a platform's day may differ from one of UTC

Rest = Callable[[], Awaitable[bool]]
"""Waits until the next question may be put; False if it is wanted no more."""


class LogReader:
    """Asks for parts of the log, and remembers for the run what such questions are good for."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.cap: int | None = None
        """More entries than this no answer has, though more were asked for and exist."""
        self.ignores_days = False
        """Whether `from` and `to` were seen to leave nothing out."""
        self._days_tried = False
        self._most = MOST  # the largest limit that was not refused
        self._shift = timedelta()  # a day, where the platform's begins before that of UTC

    def told(self) -> list[SafeText]:
        """What can't be had of this platform's log, in words."""
        most = self.fitting(MOST)
        words = [plain(f"{most} entries at most")] if most < MOST else []
        return [*words, plain("from and to ignored")] if self.ignores_days else words

    def fitting(self, limit: int) -> int:
        """A limit that is not refused and not cut down, as far as is known."""
        return min(limit, self._most, self.cap or limit)

    def take(self, listing: Listing[Activity]) -> None:
        """Any answer may show that there is no cap after all."""
        if self.cap is not None and count(listing) > self.cap:
            self.cap = None

    async def ask(
        self, of: ActivityFilter, limit: int, first: date | None = None, last: date | None = None
    ) -> Listing[Activity]:
        """Put one question, again with half the limit where one is refused. Raises ApiError."""
        # What the person's own filter leaves out is left out here, too.
        first = max(filter(None, (first, of.from_date)), default=None)
        last = min(filter(None, (last, of.to_date)), default=None)
        limit, refused = self.fitting(limit), False
        while True:
            try:
                listing = await self._client.activity(
                    of.company, of.agent, first, last, limit=limit, once=True
                )
            except _REFUSALS:
                if limit <= LEAST:
                    raise
                limit, refused = max(LEAST, limit // 2), True
                continue
            if refused:
                self._most = limit
            self.take(listing)
            oldest, newest = ends(listing)
            if last is not None and newest is not None:
                self.ignores_days |= newest >= midnight(last + _DAY) + _ZONES
            if first is not None and oldest is not None:
                self.ignores_days |= oldest < midnight(first) - _ZONES
            return listing

    async def try_days(self, of: ActivityFilter, known: Listing[Activity], limit: int) -> None:
        """Ask for a day before those of an answer: whether `from` and `to` do something, and
        whether an answer for any day, if shorter than its limit, was all. Raises ApiError.
        """
        (oldest, newest), self._days_tried = ends(known), True
        if oldest is None or newest is None:
            return
        day = day_of(newest) - 2 * _DAY
        before, _ = ends(await self.ask(of, 10, day, day))
        if count(known) < limit and before is not None and before < oldest:
            self.cap = count(known)

    def reaches(self, since: float | None, until: float | None, skip: int) -> bool:
        """Whether a question about this time may bring anything, where `skip` newer entries are
        known of the day of `until`; so that no platform is asked in vain again and again.
        """
        other_days = since and until and not self.ignores_days and day_of(since) < day_of(until)
        return bool(other_days) or self.fitting(MOST) > skip + 1

    async def back(
        self,
        of: ActivityFilter,
        until: float | None,
        since: float | None,
        rest: Rest,
        *,
        skip: int = 0,
        exists: bool = False,
    ) -> AsyncGenerator[tuple[Listing[Activity], Span]]:
        """The log from an entry of the time `until` (None: from its end) back to the time `since`,
        in answers, each with the time of which it has all that wasn't in those before it. They
        share entries as far as the platform gives them. Raises ApiError.

        `skip`: so many entries of that day are newer. `exists`: an entry of `since` is known to be.
        """
        # West of Greenwich the day before may not be over yet.
        first = None if since is None else day_of(since - _HALF_DAY)
        last, edge, joined = None if until is None else day_of(until), until, until
        limit, short = PAGE + skip, None
        for _ in range(MOST_QUESTIONS):
            if not await rest():
                return
            listing = await self.ask(of, limit, first, None if last is None else last + self._shift)
            oldest, newest = ends(listing)
            if edge is not None and not self._shift and (newest is None or newest < edge):
                self._shift = _DAY  # the platform's day began before that of UTC
                continue
            if last and newest and newest >= midnight(last + _DAY) and not self._days_tried:
                await rest()
                await self.try_days(of, listing, 0)
            if short is not None and oldest is not None and oldest < short[0]:
                self.cap, joined = short[1], newest  # what was there was not all
            is_short = count(listing) < self.fitting(limit)
            reached = oldest is None or (since is not None and oldest < since)
            no_day_left = first is not None and day_of(oldest or 0.0) <= first
            at_end = reached or (is_short and no_day_left and not exists)
            start = since if at_end else oldest
            yield listing, (start or 0.0, joined or newest or start or 0.0)
            if at_end or oldest is None or newest is None:
                return
            if is_short and (exists or listing.more):
                self.cap, is_short = count(listing), False
            can_grow = self.fitting(limit) < self.fitting(MOST) and not is_short
            joined, edge, day = oldest, None, day_of(oldest)
            is_one_day = day == (last or day_of(newest))
            short = (oldest, count(listing)) if is_short else None
            if can_grow and (self.ignores_days or first is None or is_one_day):
                limit *= 2
            elif self.ignores_days or first is None:
                return
            elif is_short or is_one_day:
                # All of that day that can be had.
                last, limit, joined = day - _DAY, PAGE, oldest if is_short else None
            else:
                last, edge, limit = day, oldest, PAGE
            if last is not None and first is not None and last < first:
                return


def count(listing: Listing[Activity]) -> int:
    """How many entries an answer had, with those that could not be read."""
    return len(listing.records) + listing.unread


def ends(listing: Listing[Activity]) -> tuple[float | None, float | None]:
    """The times of the oldest and the newest entry of an answer; None if none tells one."""
    times = [entry.at.at for entry in listing.records if entry.at is not None]
    return min(times, default=None), max(times, default=None)


def day_of(at: float) -> date:
    """The day of UTC that a time is in, within what days can be counted on from."""
    return datetime.fromtimestamp(min(max(at, 1e6), 2.5e11), UTC).date()


def midnight(day: date) -> float:
    """When a day of UTC begins, in seconds since 1970."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
