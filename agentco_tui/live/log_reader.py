"""Reads parts of the activity log, as far as `from`, `to` and `limit` allow.

The interface takes days, not times, and answers with the newest entries of them. So the log is read
backwards: if an answer reaches back to an earlier day, the next request ends with that day; if one
day has more entries than an answer, only a larger limit reaches the earlier ones.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Final

from agentco_tui.api.client import Client
from agentco_tui.api.errors import Invalid, NotFound, OtherStatus, TooLarge
from agentco_tui.live.feeds import ActivityFilter
from agentco_tui.model import Activity, Listing
from agentco_tui.text import SafeText, plain

PAGE: Final = 1_000  # the usual limit of a request
MOST: Final = 4_000  # the limit for a day that has more than a page
LEAST: Final = 200  # a limit that is refused is halved down to this, which every poll asks for
MOST_QUESTIONS: Final = 24  # requests for one part of the log
_REFUSALS: Final = (Invalid, NotFound, OtherStatus, TooLarge)
_DAY: Final = timedelta(days=1)
_HALF_DAY: Final = 12 * 3_600.0
_ZONES: Final = 14 * 3_600.0  # seconds by which a platform's day may differ from one of UTC

WaitUntilIdle = Callable[[], Awaitable[bool]]
"""Waits until the next request may be sent; False if it is not needed any more."""


class LogReader:
    """Reads parts of the log, and remembers the limitations of this platform's log."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.cap: int | None = None
        """The most entries that an answer has, though more were asked for and exist."""
        self.ignores_days = False
        """Whether `from` and `to` were seen to have no effect."""
        self._most = MOST  # the largest limit that was not refused
        self._later = timedelta()  # one day if the platform's day begins before that of UTC

    def told(self) -> list[SafeText]:
        """The limitations of this platform's log, as phrases for a title."""
        most = min(self._most, self.cap or MOST)
        words = [plain(f"{most} entries at most")] if most < MOST else []
        return [*words, plain("from and to ignored")] if self.ignores_days else words

    async def ask(
        self, of: ActivityFilter, limit: int, first: date | None, last: date | None
    ) -> Listing[Activity]:
        """Send one request. Raises ApiError."""
        # The user's own filter applies as well.
        first = max(filter(None, (first, of.from_date)), default=None)
        last = min(filter(None, (last, of.to_date)), default=None)
        listing = await self._client.activity(
            of.company, of.agent, first, last, limit=limit, once=True
        )
        oldest, newest = ends(listing)
        if last is not None and newest is not None:
            self.ignores_days |= newest >= _midnight(last + _DAY) + _ZONES
        if first is not None and oldest is not None:
            self.ignores_days |= oldest < _midnight(first) - _ZONES
        return listing

    async def try_days(self, of: ActivityFilter, known: Listing[Activity], limit: int) -> None:
        """Read a day before those of an answer, to learn the limitations. Raises ApiError.

        It shows whether `from` and `to` have an effect, and whether an answer that is shorter than
        its limit is complete.
        """
        oldest, newest = ends(known)
        if oldest is None or newest is None:
            return
        day = _day_of(newest) - 2 * _DAY
        before, _ = ends(await self.ask(of, 10, day, day))
        if count(known) < limit and before is not None and before < oldest:
            self.cap = count(known)

    async def back(
        self,
        of: ActivityFilter,
        since: float | None,
        until: float | None,
        wait_until_idle: WaitUntilIdle,
    ) -> AsyncGenerator[Listing[Activity]]:
        """The log from the time `until` (None: from its end) back to the time `since`.

        Successive answers share entries as far as the platform gives them. Raises ApiError.
        """
        # West of Greenwich the previous day may not be over yet.
        first = None if since is None else _day_of(since - _HALF_DAY)
        last = None if until is None else _day_of(until)
        limit, short = PAGE, (0.0, 0)
        for _ in range(MOST_QUESTIONS):
            if not await wait_until_idle():
                return
            limit = min(limit, self._most)
            end = None if last is None or self.ignores_days else last + self._later
            try:
                listing = await self.ask(of, limit, first, end)
            except _REFUSALS:
                if limit <= LEAST:
                    raise
                self._most = max(LEAST, limit // 2)
                continue
            oldest, newest = ends(listing)
            if until is not None and not self._later and (newest is None or newest < until):
                self._later = _DAY  # the platform's day began before that of UTC
                continue
            yield listing
            if oldest is not None and oldest < short[0]:
                self.cap = short[1]  # what came of all those days was not all
            if since is not None and oldest is not None and oldest < since:
                return
            is_full = count(listing) >= limit
            if oldest is not None and not is_full:
                short = oldest, count(listing)
            day, last = _day_of(oldest or 0.0), last or _day_of(newest or 0.0)
            can_step = first is not None and not self.ignores_days
            if can_step and oldest is not None and day < last:
                last, until, limit = day, oldest, PAGE
            elif is_full and limit < self._most:
                limit *= 2
            elif can_step:
                last, until, limit = last - _DAY, None, PAGE  # all of that day that can be had
            else:
                return
            if first is not None and last < first:
                return


def count(listing: Listing[Activity]) -> int:
    """How many entries an answer had, including those that could not be read."""
    return len(listing.records) + listing.unread


def ends(listing: Listing[Activity]) -> tuple[float | None, float | None]:
    """The times of the oldest and the newest entry of an answer; None if no entry has a time."""
    times = [entry.at.at for entry in listing.records if entry.at is not None]
    return min(times, default=None), max(times, default=None)


def _day_of(at: float) -> date:
    """The day of UTC that a time is in, clamped to a range that dates can be calculated with."""
    return datetime.fromtimestamp(min(max(at, 1e6), 2.5e11), UTC).date()


def _midnight(day: date) -> float:
    """When a day of UTC begins, in seconds since 1970."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
