"""Reads older parts of the activity log with the parameters `from`, `to` and `limit`.

The log is the record of what the AI agents did, which the platform (the remote service) returns.
Its REST API takes days, not times, and answers with the newest entries of those days. So the log is
read backwards: if an answer reaches back to an earlier day, the next request ends with that day; if
one day has more entries than an answer, only a larger limit reaches the earlier ones. `Backfill`
and `FilteredLog` use it to read what their polls have missed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from agentco_tui.api.errors import Invalid, NotFound, OtherStatus, TooLarge
from agentco_tui.live.feeds import ActivityFilter
from agentco_tui.model import Activity, Listing
from agentco_tui.text import SafeText, mark_safe

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

PAGE: Final = 1_000  # the usual limit of a request
MOST: Final = 4_000  # the limit for a day that has more than a page
LEAST: Final = 200  # a limit that is refused is halved down to this, which every poll asks for
MOST_REQUESTS: Final = 24  # requests for one part of the log
_REFUSALS: Final = (Invalid, NotFound, OtherStatus, TooLarge)
_DAY: Final = timedelta(days=1)
_HALF_DAY: Final = 12 * 3_600.0
_ZONES: Final = 14 * 3_600.0  # seconds by which a platform's day may be shifted against UTC's

WaitUntilIdle = Callable[[], Awaitable[bool]]
"""Waits until the next request may be sent; False if it is not needed any more."""


class LogReader:
    """Reads parts of the log, and remembers the limitations of this platform's log."""

    def __init__(self, client: Platform) -> None:
        self._client = client
        self.cap: int | None = None
        """The most entries that an answer has, though more were asked for and exist."""
        self.ignores_days = False
        """Whether `from` and `to` were seen to have no effect."""
        self._most = MOST  # the largest limit that was not refused
        self._later = timedelta()
        """Added to the last day of a request: one day if the platform's day begins before UTC's."""

    def limitations(self) -> list[SafeText]:
        """The limitations of this platform's log, as phrases for a title."""
        phrases: list[SafeText] = []
        most = min(self._most, self.cap or MOST)
        if most < MOST:
            phrases.append(mark_safe(f"{most} entries at most"))
        if self.ignores_days:
            phrases.append(mark_safe("from and to ignored"))
        return phrases

    async def request(
        self, log_filter: ActivityFilter, limit: int, first: date | None, last: date | None
    ) -> Listing[Activity]:
        """Send one request for the days `first` to `last`, within the filter. Raises ApiError."""
        first = max(filter(None, (first, log_filter.from_date)), default=None)
        last = min(filter(None, (last, log_filter.to_date)), default=None)
        listing = await self._client.activity(
            log_filter.company, log_filter.agent, first, last, limit=limit, once=True
        )
        oldest, newest = oldest_and_newest(listing)
        if last is not None and newest is not None:
            self.ignores_days |= newest >= _start_of_day(last + _DAY) + _ZONES
        if first is not None and oldest is not None:
            self.ignores_days |= oldest < _start_of_day(first) - _ZONES
        return listing

    async def try_days(
        self, log_filter: ActivityFilter, known: Listing[Activity], limit: int
    ) -> None:
        """Read a day before those of an answer, to learn the limitations. Raises ApiError.

        It shows whether `from` and `to` have an effect, and whether an answer that is shorter than
        its limit is complete.
        """
        oldest, newest = oldest_and_newest(known)
        if oldest is None or newest is None:
            return
        day = _day_of(newest) - 2 * _DAY
        before, _ = oldest_and_newest(await self.request(log_filter, 10, day, day))
        if entry_count(known) < limit and before is not None and before < oldest:
            self.cap = entry_count(known)

    async def read_back(
        self,
        log_filter: ActivityFilter,
        since: float | None,
        until: float | None,
        wait_until_idle: WaitUntilIdle,
    ) -> AsyncGenerator[Listing[Activity]]:
        """The log from the time `until` (None: from its end) back to the time `since`.

        Successive answers share entries as far as the platform gives them. Raises ApiError.
        """
        # West of Greenwich the previous day may not be over yet.
        first = _day_of(since - _HALF_DAY) if since is not None else None
        last = _day_of(until) if until is not None else None
        limit = PAGE
        # Of the last answer that was shorter than its limit: its oldest time, and its length.
        short_oldest = 0.0
        short_count = 0
        for _ in range(MOST_REQUESTS):
            if not await wait_until_idle():
                return
            limit = min(limit, self._most)
            end: date | None = None
            if last is not None and not self.ignores_days:
                end = last + self._later
            try:
                listing = await self.request(log_filter, limit, first, end)
            except _REFUSALS:
                if limit <= LEAST:
                    raise
                self._most = max(LEAST, limit // 2)
                continue
            oldest, newest = oldest_and_newest(listing)
            if until is not None and not self._later and (newest is None or newest < until):
                self._later = _DAY  # the platform's day began before that of UTC
                continue
            yield listing
            if oldest is not None and oldest < short_oldest:
                self.cap = short_count  # there was more: the platform caps its answers
            if since is not None and oldest is not None and oldest < since:
                return
            is_full = entry_count(listing) >= limit
            if oldest is not None and not is_full:
                short_oldest = oldest
                short_count = entry_count(listing)
            day = _day_of(oldest or 0.0)
            last = last or _day_of(newest or 0.0)
            can_step = first is not None and not self.ignores_days
            if can_step and oldest is not None and day < last:
                last = day
                until = oldest
                limit = PAGE
            elif is_full and limit < self._most:
                limit *= 2
            elif can_step:
                # All of this day that the platform gives has come.
                last = last - _DAY
                until = None
                limit = PAGE
            else:
                return
            if first is not None and last < first:
                return


def entry_count(listing: Listing[Activity]) -> int:
    """How many entries an answer had, including those that could not be read."""
    return len(listing.records) + listing.unread


def oldest_and_newest(listing: Listing[Activity]) -> tuple[float | None, float | None]:
    """The times of the oldest and the newest entry of an answer; None if no entry has a time."""
    times = [entry.at.at for entry in listing.records if entry.at is not None]
    return min(times, default=None), max(times, default=None)


def _day_of(at: float) -> date:
    """The day of UTC that a time is in, clamped to a range that dates can be calculated with."""
    return datetime.fromtimestamp(min(max(at, 1e6), 2.5e11), UTC).date()


def _start_of_day(day: date) -> float:
    """When a day of UTC begins, in seconds since 1970."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
