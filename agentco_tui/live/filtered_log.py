"""A filtered part of the activity log, read and kept apart from the store's log.

The log is the record of what the AI agents did, as the platform (the remote service) returns it.
Where two polls do not overlap, there is a gap, an entry of ours that says so.

The Activity screen, `tail` and `get activity` each open one for their filter (`ActivityFilter`). It
has its own requests, window (`ActivityWindow`) and freshness, and nothing of it reaches the store,
so a filter of one screen cannot change what another screen, the history or the needs see.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from math import inf
from random import Random
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.errors import ApiError
from agentco_tui.live.activity_window import DEFAULT_CAPACITY, ActivityWindow, LogEntries, is_gap
from agentco_tui.live.backfill import PAUSE, GapFiller
from agentco_tui.live.feeds import (
    OPERATION_OF_FEED,
    ActivityFilter,
    Clock,
    FeedName,
    Freshness,
    Pace,
)
from agentco_tui.live.fetch import ACTIVITY_LIMIT
from agentco_tui.live.log_reader import LogReader, WaitUntilIdle
from agentco_tui.live.names import Names
from agentco_tui.live.poll_timing import CLOCK_CHECK, JITTER, after_failure, poll_spacing
from agentco_tui.live.store import Change
from agentco_tui.model import Activity, Listing, Ref
from agentco_tui.model import format as fmt
from agentco_tui.reading.field_names import phrase
from agentco_tui.text import SafeText, mark_safe

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

SECONDS_OF_DAY: Final = 24 * 3_600.0
LONGEST_ZONE: Final = 14 * 3_600.0
"""Seconds by which a platform's day may be shifted against a day of UTC."""

log = logging.getLogger(__name__)


def ignore_change(change: Change) -> None:
    """Do nothing: for a reader that looks at the entries itself after each read."""


def ignore_freshness() -> None:
    """Do nothing: for a reader that gets failures as exceptions."""


async def pause_briefly() -> bool:
    """Wait before a request that fills a gap; True, because it is always wanted."""
    await asyncio.sleep(PAUSE)
    return True


class FilteredLog(LogEntries):
    """The entries that match a filter, oldest first, with marks where some may be missing.

    The platform is asked for exactly the filter. Platforms that ignore a parameter send other
    entries, too: those are kept in the window, so that it is known where two answers join, but
    they are not part of this log.
    """

    def __init__(
        self,
        client: Platform,
        clock: Clock,
        asked: ActivityFilter,
        names: Names,
        *,
        capacity: int = DEFAULT_CAPACITY,
        wait_until_idle: WaitUntilIdle = pause_briefly,
        on_change: Callable[[Change], object] = ignore_change,
        on_freshness: Callable[[], object] = ignore_freshness,
    ) -> None:
        """`asked` is the filter; `on_change` gets what changed among the entries that match."""
        self.asked = asked
        self.freshness = Freshness()
        self.window = ActivityWindow(capacity)
        self._client = client
        self._clock = clock
        self._names = names  # finds the company of an entry by its agent
        self._on_change = on_change
        self._on_freshness = on_freshness
        reader = LogReader(client)
        self._gaps = GapFiller(
            reader,
            self.window,
            clock,
            lambda: asked,
            wait_until_idle=wait_until_idle,
            publish=self._publish_matches,
        )
        self._has_gap = asyncio.Event()
        self._entries: dict[str, Activity] = {}
        self._others = 0  # entries of the window that the filter should have kept out
        self._random = Random()  # noqa: S311 (jitter, not secrecy)
        self._due_at = 0.0  # steady clock
        self._is_due_now = True
        self._woken = asyncio.Event()

    @property
    def listing(self) -> Listing[Activity]:
        """The last answer without its entries: it tells how many could not be read."""
        return self.window.listing

    def limitations(self) -> list[SafeText]:
        """What this platform's log cannot give, as phrases for a title."""
        phrases = self._gaps.reader.limitations()
        if self._others:
            count = fmt.count(self._others)
            phrases.append(mark_safe(f"{count} entries that do not match left out"))
        return phrases

    # ---- reading

    async def read(self) -> None:
        """Request the newest entries once, and merge them. Raises ApiError.

        NotOffered is raised if the platform has no log; nothing is sent then.
        """
        not_offered = self._client.capabilities.why_not(OPERATION_OF_FEED[FeedName.ACTIVITY])
        if not_offered is not None:
            raise errors.NotOffered(not_offered)
        asked = self.asked
        # What the window would not keep need not come over the line.
        limit = min(asked.limit or ACTIVITY_LIMIT, self.window.capacity)
        listing = await self._client.activity(
            asked.company, asked.agent, asked.from_date, asked.to_date, limit=limit
        )
        self._publish_matches(*self.window.merge(listing))

    async def fill_gaps(self) -> None:
        """Ask for what is missing at the gaps. Raises ApiError."""
        await self._gaps.fill_gaps()

    async def run(self, pace: Callable[[], Pace], refresh: Callable[[], float]) -> None:
        """Poll at the pace of now, with `refresh` seconds as its base, and fill the gaps, until
        cancelled.
        """
        async with asyncio.TaskGroup() as loops:
            loops.create_task(self._poll_when_due(pace, refresh), name="poll a filtered log")
            loops.create_task(self._fill_gaps_as_they_come(), name="fill a filtered log")

    def poll_now(self) -> None:
        """Ask as soon as the read under way, if any, has ended."""
        self._is_due_now = True
        self._woken.set()

    async def _poll_when_due(self, pace: Callable[[], Pace], refresh: Callable[[], float]) -> None:
        while True:
            now = self._clock.monotonic()
            is_shown = pace() is not Pace.OFF
            if is_shown and (self._is_due_now or self._due_at <= now):
                self._is_due_now = False
                await self._poll_once(pace(), refresh())
                continue
            seconds = CLOCK_CHECK
            if is_shown:
                seconds = min(max(self._due_at - now, 0.0), CLOCK_CHECK)
            self._woken.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._woken.wait()

    async def _poll_once(self, pace: Pace, refresh: float) -> None:
        """Ask once; a failure is kept in the freshness."""
        began = self._clock.monotonic()
        before = self.freshness
        try:
            await self.read()
        except ApiError as error:
            failure = error.without_traceback()
        except Exception as error:
            # A bug of ours in reading one answer must not end the dashboard.
            log.exception("reading a filtered log failed")
            words = f"through a fault of this program ({type(error).__name__})"
            failure = errors.Unreadable(
                mark_safe(f"this answer could not be read, {words}"),
                path=self._client.capabilities.path("activity"),
            )
        else:
            took = self._clock.monotonic() - began
            seconds, slow_answers = poll_spacing(pace, refresh, took)
            self._due_at = began + seconds * self._random.uniform(1 - JITTER, 1 + JITTER)
            self._set_freshness(
                Freshness(
                    self._clock.monotonic(),
                    next_try_at=self._due_at,
                    took=took,
                    slow_answers=slow_answers,
                )
            )
            return
        failures = before.failures + 1
        delay = after_failure(failure, failures, refresh, self._random)
        if isinstance(failure, errors.NotOffered):
            delay = inf
        self._due_at = self._clock.monotonic() + delay
        next_try_at = None if delay == inf else self._due_at
        self._set_freshness(
            replace(before, failure=failure, failures=failures, next_try_at=next_try_at)
        )

    async def _fill_gaps_as_they_come(self) -> None:
        while True:
            await self._has_gap.wait()
            self._has_gap.clear()
            try:
                await self.fill_gaps()
            except ApiError as error:
                log.info("a part of a filtered log could not be read: %r", error)
                self._gaps.put_off(error.retry_after or 0.0)
            except Exception:
                # A bug of ours here must not end the dashboard; the gap stays.
                log.exception("filling a gap of a filtered log failed")
                continue
            if self.window.untried_gaps():
                await asyncio.sleep(self._gaps.seconds_until_due())
                self._has_gap.set()

    def _set_freshness(self, freshness: Freshness) -> None:
        self.freshness = freshness
        self._on_freshness()

    # ---- choosing

    def choose_again(self) -> None:
        """Apply the filter to the window again: entries or the companies of agents have come."""
        entries = list(self.window)
        verdicts = {entry.id: self._matches_filter(entry) for entry in entries}
        self._others = sum(verdict is False for verdict in verdicts.values())
        self._entries = {}
        newest: Activity | None = None
        for entry in entries:
            if is_gap(entry):
                # Of gaps in a row one is kept; before the oldest entry a gap says nothing.
                is_wanted = newest is not None and not is_gap(newest)
            elif self._others:
                # The platform does not keep to the filter: an entry has to say that it belongs.
                is_wanted = verdicts[entry.id] is True
            else:
                is_wanted = True
            if is_wanted:
                self._entries[entry.id] = newest = entry

    def _publish_matches(
        self, added: tuple[str, ...], changed: tuple[str, ...], removed: tuple[str, ...]
    ) -> None:
        """Take a change of the window, and report what it changes among the entries that match."""
        if not (added or changed or removed):
            return
        before = self._entries
        self.choose_again()
        now = self._entries
        change = Change(
            FeedName.ACTIVITY,
            added=tuple(key for key in now if key not in before),
            changed=tuple(key for key, entry in now.items() if before.get(key, entry) != entry),
            removed=tuple(key for key in before if key not in now),
        )
        if any(is_gap(now[key]) for key in change.added):
            self._has_gap.set()
        if change:
            self._on_change(change)

    def _matches_filter(self, entry: Activity) -> bool | None:
        """Whether an entry matches the filter; None if it doesn't say."""
        if is_gap(entry):
            return None
        asked = self.asked
        verdicts = list[bool | None]()
        if asked.agent is not None:
            verdicts.append(is_about_agent(entry, asked.agent, self._names))
        if asked.company is not None:
            verdicts.append(_refers_to(self._names.company_of(entry), asked.company))
        if asked.from_date is not None or asked.to_date is not None:
            verdicts.append(_is_within(entry, asked.from_date, asked.to_date))
        if False in verdicts:
            return False
        if None in verdicts:
            return None
        return True


def is_about_agent(entry: Activity, agent_id: str, names: Names) -> bool | None:
    """Whether an agent did what an entry reports, or is the one it is about; None if the entry
    names no agent at all.
    """
    refs = [ref for ref in (entry.agent, entry.actor) if ref is not None and ref.id is not None]
    if any(ref.id == agent_id for ref in refs):
        return True
    names_an_agent = entry.agent is not None and entry.agent.id is not None
    if entry.actor is not None and entry.actor.id is not None:
        is_agent = phrase(entry.actor_type or "") == "agent"
        names_an_agent |= is_agent or names.agent_of(entry.actor) is not None
    if names_an_agent:
        return False
    return None


def _refers_to(ref: Ref | None, record_id: str) -> bool | None:
    if ref is None or ref.id is None:
        return None
    return ref.id == record_id


def _is_within(entry: Activity, first: date | None, last: date | None) -> bool | None:
    """Whether an entry is of these days; None if that can't be told.

    It can't without a time, or if the time is of another day in some time zone: the platform's days
    may be those of any zone.
    """
    if entry.at is None:
        return None
    begins = -inf
    ends = inf
    if first is not None:
        begins = _days_since_1970(first) * SECONDS_OF_DAY
    if last is not None:
        ends = (_days_since_1970(last) + 1) * SECONDS_OF_DAY
    if begins <= entry.at.at < ends:
        return True
    is_near = begins - LONGEST_ZONE <= entry.at.at < ends + LONGEST_ZONE
    if is_near:
        return None
    return False


def _days_since_1970(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()
