"""Polls the feeds when they are due, and keeps the store up to date, until it is cancelled.

A feed is one list or record of the platform (the remote service), polled on its own schedule; its
pace is how often, as the screen that is shown wishes. One loop starts the reads of all feeds when
they are due, those that are due at about the same time together, so that the program sleeps between
them. A feed has at most one request under way (`SingleFlight`), and a slow or failing feed delays
no other; at most `AT_ONCE` requests are under way together. A missed poll is dropped, not made up
for: after a laptop has slept, each feed is polled once. `Query` is the company that all feeds are
asked about; an answer to an older query is dropped. `Backfill` reads older entries of the
platform's activity log while nothing else is read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from math import inf
from random import Random
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.errors import ApiError
from agentco_tui.live.backfill import PAUSE, Backfill
from agentco_tui.live.feeds import (
    NOTIFIED,
    SCOPED,
    Clock,
    FeedName,
    Freshness,
    Pace,
    Phase,
    Query,
    poll_interval,
    query_key,
)
from agentco_tui.live.fetch import Take, fetch
from agentco_tui.live.poll_timing import (
    CLOCK_CHECK,
    JITTER,
    SHARE_OF_TIME,
    after_failure,
    poll_spacing,
)
from agentco_tui.live.single_flight import SingleFlight
from agentco_tui.live.store import Store
from agentco_tui.model import Listing, Record
from agentco_tui.text import mark_safe

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

AT_ONCE: Final = 4  # requests of feeds under way together
HANGING_AT_ONCE: Final = 2  # of these for feeds whose last request timed out
LATE_AFTER: Final = 5.0  # seconds after which an answer is late, or twice what the last one took

CONNECTION_ERRORS: Final = (
    errors.Unreachable,
    errors.TimedOut,
    errors.Broken,  # the connection broke off
    errors.KeyRejected,
)
"""Failures of the platform as a whole: once one feed recovers from them, others may, too."""

LOST: Final = (errors.Unreachable, errors.Broken)
"""Failures that are over as soon as the platform can be reached again."""

REFUSED: Final = (errors.NotAllowed, errors.NotFound, errors.Invalid, errors.NotOffered)
"""Failures of one feed, which does not recover by being polled again; others may be answered."""

log = logging.getLogger(__name__)


class Schedule(msgspec.Struct):
    """When a feed is polled; times are readings of the steady clock, in seconds."""

    read: SingleFlight[bool]
    pace: Pace = Pace.OFF  # as the screen wishes it; slower while the terminal has no focus
    due_at: float = 0.0
    # An older answer never replaces a newer one.
    shown_from: float = -inf  # when the read of the answer that is in the store began
    asked_at: float | None = None  # when the read that waits for a slot or is under way was asked
    awaited: int = 0  # callers that wait for a read of their own, whatever the pace
    is_being_polled: bool = False  # the loop has started a read that has not ended
    is_wanted: bool = False  # it was to be polled while it was off: it is once it is on

    @property
    def is_idle(self) -> bool:
        """Whether the next read waits for nothing but `due_at`."""
        return self.pace is not Pace.OFF and not self.is_being_polled


class Poller:
    """Keeps a store up to date from a client until it is cancelled."""

    def __init__(
        self,
        client: Platform,
        store: Store,
        clock: Clock,
        *,
        refresh: float = 5.0,
        query: Query | None = None,
        random: Random | None = None,
    ) -> None:
        """`refresh` is the interval in seconds of what the screen is about; `random` gives the
        jitter.
        """
        self.client = client
        self.store = store
        self.clock = clock
        self.refresh = refresh
        self.query = query or Query()
        self._random = random or Random()  # noqa: S311 (jitter, not secrecy)
        self._schedules: dict[FeedName, Schedule] = {}
        for feed in FeedName:
            read = SingleFlight(
                partial(self._poll_once, feed),
                clock,
                longest_wait=None,  # the client gives up a read that hangs
                slot=partial(self._request_slot, feed),
            )
            self._schedules[feed] = Schedule(read)
        self._jitter = 1.0  # factor of the intervals from the polls that were started last
        self._must_plan = asyncio.Event()
        """Set when a `pace` or a `due_at` has changed, or a read has ended."""
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._slots_for_hanging = asyncio.Semaphore(HANGING_AT_ONCE)
        self._focused = True
        self._notifies = False
        self.backfill = Backfill(client, store, clock, lambda: self.query, self.wait_until_idle)

    async def run(self) -> None:
        """Poll until cancelled."""
        try:
            async with asyncio.TaskGroup() as loops:
                loops.create_task(self._poll_when_due(loops), name="feeds")
                loops.create_task(self.backfill.run(), name="backfill")
        finally:
            for schedule in self._schedules.values():
                await schedule.read.close()

    def set_paces(self, paces: Mapping[FeedName, Pace]) -> None:
        """Set how often each feed is polled; one whose data is older is polled at once."""
        changed = [feed for feed in paces if self._schedules[feed].pace is not paces[feed]]
        for feed in changed:
            self._schedules[feed].pace = paces[feed]
        self._reschedule(changed)

    def set_attention(self, focused: bool, *, notifies: bool = False) -> None:
        """Say whether the terminal has the focus, and whether the user is notified without it.

        Without either, what the screen is about is polled as slowly as feeds that only give the
        numbers in its tabs and header. If
        the user is notified, nothing is polled more slowly than with the focus, and the feeds that
        notifications come from are polled at every refresh, whatever the screen.
        """
        if (focused, notifies) == (self._focused, self._notifies):
            return
        before = {feed: self.pace(feed) for feed in FeedName}
        self._focused = focused
        self._notifies = notifies
        self._reschedule(feed for feed in FeedName if self.pace(feed) is not before[feed])

    def pace(self, feed: FeedName) -> Pace:
        """How often a feed is polled now, with the terminal's focus taken into account."""
        wished = self._schedules[feed].pace
        if self._focused or wished is Pace.OFF:
            return wished
        if self._notifies:
            return Pace.REFRESH if feed in NOTIFIED else wished
        return Pace.SLOW

    @property
    def unfocused_interval(self) -> float | None:
        """Seconds between two polls of what the screen is about, if the missing focus makes that
        more than the refresh interval; None otherwise.
        """
        if self._focused:
            return None
        is_slowed = any(
            schedule.pace is Pace.REFRESH and self.pace(feed) is Pace.SLOW
            for feed, schedule in self._schedules.items()
        )
        return poll_interval(Pace.SLOW, self.refresh) if is_slowed else None

    def set_query(self, query: Query) -> None:
        """Ask about another company: answers to the old question are dropped and asked for again.

        An answer for all companies holds one for each, which stays until the platform's own comes.
        """
        before = self.query
        self.query = query
        feeds = [feed for feed in SCOPED if query_key(feed, before) != query_key(feed, query)]
        for feed in feeds:
            if before.company is None and query.company is not None:
                self.store.narrow_to_company(feed, query.company)
            else:
                self.store.forget_feed(feed)
        self.poll_now(feeds)

    def poll_now(self, feeds: Iterable[FeedName] = FeedName) -> None:
        """Poll these feeds at once, whatever their back-off; one that is off, once it is on."""
        self.client.ask_anew()
        for feed in self._by_weight(feeds):
            schedule = self._schedules[feed]
            if schedule.pace is Pace.OFF:
                schedule.is_wanted = True
            else:
                schedule.read.next_read()

    def poll_soon(self, *, every: bool = False) -> None:
        """Poll before it is due: the platform says that something has changed there.

        That is for what the screen is about and what notifications come from, with `every` for all
        that is polled; what is off is polled once it is on. A feed that backs off is left to that,
        unless it had only lost the platform, which can be reached again. A slow one is not read
        more often than by the clock.
        """
        self.client.ask_anew()
        for feed in self._by_weight(FeedName):
            schedule = self._schedules[feed]
            freshness = self.store.freshness[feed]
            backs_off = freshness.failure is not None and not isinstance(freshness.failure, LOST)
            is_due = every or schedule.pace is Pace.REFRESH or feed in NOTIFIED
            if schedule.pace is Pace.OFF:
                schedule.is_wanted = True
            elif is_due and not backs_off:
                schedule.read.next_read(spacing=SHARE_OF_TIME * (freshness.took or 0.0))

    async def read_again(self, feed: FeedName) -> Freshness:
        """Read a feed, also one that is off or backs off, and return its freshness.

        The read begins after this call. Also returns when the poller ends.
        """
        schedule = self._schedules[feed]
        schedule.awaited += 1
        try:
            is_current = False
            while not is_current:
                read = schedule.read.next_read()
                await asyncio.wait({read})
                is_current = read.cancelled() or read.result()
        finally:
            schedule.awaited -= 1
        return self.store.freshness[feed]

    def supersede(self, feed: FeedName, began: float, found: Take | ApiError) -> None:
        """Take another read of the feed, such as one before the user approves a task, as a poll.

        The read began at `began` (steady clock) and asked the current question. A poll that began
        before it is dropped when it is answered, and made again.
        """
        schedule = self._schedules[feed]
        if began <= schedule.shown_from:
            return
        if isinstance(found, ApiError):
            self._record_failure(feed, schedule, found)
        else:
            found()
            self._record_answer(feed, schedule, began, self.clock.monotonic() - began)

    async def wait_until_idle(self) -> bool:
        """Wait until every polled feed has been answered or refused, and none is being read.

        Background reads wait for this, so that they delay no poll. Always returns True.
        """
        while True:
            await asyncio.sleep(PAUSE)
            schedules = self._schedules.items()
            polled = [feed for feed, schedule in schedules if schedule.pace is not Pace.OFF]
            is_being_read = any(schedule.asked_at is not None for _feed, schedule in schedules)
            if not is_being_read and all(map(self._is_answered_or_refused, polled)):
                return True

    def _is_answered_or_refused(self, feed: FeedName) -> bool:
        freshness = self.store.freshness[feed]
        return freshness.phase is Phase.LIVE or isinstance(freshness.failure, REFUSED)

    async def _poll_when_due(self, reads: asyncio.TaskGroup) -> None:
        """Start the reads of the feeds that are due, and wait until the next one is."""
        while True:
            self._must_plan.clear()
            now = self.clock.monotonic()
            due = self._due_feeds(now)
            if due:
                self._jitter = self._random.uniform(1 - JITTER, 1 + JITTER)
            for feed in due:
                self._schedules[feed].is_being_polled = True
                reads.create_task(self._read_when_due(feed), name=f"feed {feed}")
            # The timer stands still while a laptop sleeps: CLOCK_CHECK seconds after, this goes on.
            waits = [schedule.due_at - now for schedule in self._idle_schedules()]
            wait = min(*waits, CLOCK_CHECK) if waits else None
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._must_plan.wait()

    def _due_feeds(self, now: float) -> list[FeedName]:
        """The feeds to poll now; none is early unless another one is due.

        Then those follow that will be due soon, so that they share its wake-up and its connections:
        as early as the jitter may make a poll. After a failure no feed is polled early.
        """
        if all(schedule.due_at > now for schedule in self._idle_schedules()):
            return []
        due: list[FeedName] = []
        for feed in self._by_weight(FeedName):
            schedule = self._schedules[feed]
            has_failed = self.store.freshness[feed].failure is not None
            early = 0.0 if has_failed else JITTER * poll_interval(self.pace(feed), self.refresh)
            if schedule.is_idle and schedule.due_at <= now + early:
                due.append(feed)
        return due

    def _idle_schedules(self) -> list[Schedule]:
        return [schedule for schedule in self._schedules.values() if schedule.is_idle]

    async def _read_when_due(self, feed: FeedName) -> None:
        """Read a feed, or join the read that somebody else asked for; then the next is planned."""
        schedule = self._schedules[feed]
        try:
            await asyncio.shield(schedule.read.under_way or schedule.read.next_read())
        finally:
            schedule.is_being_polled = False
            self._must_plan.set()

    @asynccontextmanager
    async def _request_slot(self, feed: FeedName) -> AsyncIterator[None]:
        """Wait for one of the slots for requests; feeds that hang share fewer of them."""
        hangs = isinstance(self.store.freshness[feed].failure, errors.TimedOut)
        schedule = self._schedules[feed]
        schedule.asked_at = self.clock.monotonic()
        try:
            async with self._slots_for_hanging if hangs else nullcontext(), self._slots:
                yield
        finally:
            schedule.asked_at = None

    def asked_since(self) -> dict[FeedName, float]:
        """For each feed whose answer is awaited, since when (steady clock)."""
        return {
            feed: schedule.asked_at
            for feed, schedule in self._schedules.items()
            if schedule.asked_at is not None
        }

    def mark_late(self) -> None:
        """Mark the data of each feed whose answer is overdue as possibly old.

        A failure is known only once the last of several attempts has been given up.
        """
        now = self.clock.monotonic()
        for feed, schedule in self._schedules.items():
            freshness = self.store.freshness[feed]
            usual = max(LATE_AFTER, 2 * (freshness.took or 0.0))
            is_late = schedule.asked_at is not None and now - schedule.asked_at > usual
            if is_late and not freshness.late and schedule.pace is not Pace.OFF:
                self.store.set_freshness(feed, replace(freshness, late=True))

    async def _poll_once(self, feed: FeedName) -> bool:
        """Read a feed and take the answer.

        False if the question has changed meanwhile, or the store has a newer answer: then the feed
        is read again.
        """
        schedule = self._schedules[feed]
        if schedule.pace is Pace.OFF and not schedule.awaited:
            return True  # the screen has changed while it waited for its slot
        query = self.query
        key_at_begin = query_key(feed, query)
        began = self.clock.monotonic()
        # The duration is by the event loop's time, in which a laptop's sleep does not count.
        loop_time = asyncio.get_running_loop().time
        started = loop_time()
        failure: ApiError | None = None
        is_current = True
        has_shown_first_rows = False

        def show_first_rows(rows: Sequence[Record]) -> None:
            # A screenful of a long list is shown until all of it has come.
            nonlocal has_shown_first_rows
            is_first = self.store.freshness[feed].answered_at is None
            if is_first and query_key(feed, self.query) == key_at_begin:
                has_shown_first_rows = True
                self.store.take(feed, Listing(records=tuple(rows), more=True))

        try:
            take = await fetch(feed, self.client, self.store, query, show_first_rows)
            is_current = (
                began >= schedule.shown_from and query_key(feed, self.query) == key_at_begin
            )
            if is_current:
                take()
        except ApiError as error:
            failure = error
        except Exception as error:
            # A bug of ours in reading one answer must not end the polling: it is shown and logged.
            log.exception("reading the feed %s failed", feed)
            words = f"through a fault of this program ({type(error).__name__})"
            failure = errors.Unreadable(
                mark_safe(f"this answer could not be read, {words}"), path=feed
            )
        if failure is not None and query_key(feed, self.query) != key_at_begin:
            is_current = False
        if not is_current:
            if schedule.pace is not Pace.OFF:
                schedule.read.next_read()
            return False
        if failure is None:
            self._record_answer(feed, schedule, began, loop_time() - started)
        else:
            if has_shown_first_rows and self.store.freshness[feed].answered_at is None:
                # The first rows of an answer that then failed are no answer.
                self.store.take(feed, Listing(records=()))
            self._record_failure(feed, schedule, failure)
        self._must_plan.set()
        return True

    def _record_answer(self, feed: FeedName, schedule: Schedule, began: float, took: float) -> None:
        pace = self.pace(feed)
        seconds, slow_answers = poll_spacing(pace, self.refresh, took)
        schedule.shown_from = began
        schedule.is_wanted = False
        schedule.due_at = began + seconds * self._jitter
        last_failure = self.store.freshness[feed].failure
        fresh = Freshness(
            self.clock.monotonic(),
            next_try_at=None if pace is Pace.OFF else schedule.due_at,
            took=took,
            slow_answers=slow_answers,
        )
        self.store.set_freshness(feed, fresh)
        if isinstance(last_failure, CONNECTION_ERRORS):
            self._poll_disconnected()

    def _poll_disconnected(self) -> None:
        """The platform can be reached again: poll the other feeds that had lost it at once."""
        self.poll_now(
            feed
            for feed, schedule in self._schedules.items()
            if schedule.read.under_way is None
            and isinstance(self.store.freshness[feed].failure, CONNECTION_ERRORS)
        )

    def _record_failure(self, feed: FeedName, schedule: Schedule, error: ApiError) -> None:
        before = self.store.freshness[feed]
        failures = before.failures + 1
        delay = after_failure(error, failures, self.refresh, self._random)
        if isinstance(error, errors.NotOffered):
            delay = inf
        schedule.is_wanted = False
        schedule.due_at = self.clock.monotonic() + delay
        failed = replace(
            before,
            failure=error.without_traceback(),
            next_try_at=None if schedule.pace is Pace.OFF or delay == inf else schedule.due_at,
            failures=failures,
            slow_answers=False,
            late=False,
        )
        self.store.set_freshness(feed, failed)

    def _reschedule(self, feeds: Iterable[FeedName]) -> None:
        """Plan the next polls of feeds whose pace has changed, counted from the last read of each.

        The next poll of a feed that backs off after a failure stays as planned. What was wanted
        while it was off is due at once.
        """
        for feed in self._by_weight(feeds):
            schedule = self._schedules[feed]
            freshness = self.store.freshness[feed]
            pace = self.pace(feed)
            if pace is not Pace.OFF and schedule.is_wanted:
                schedule.due_at = self.clock.monotonic()
            elif pace is not Pace.OFF and freshness.failure is None:
                seconds, slow_answers = poll_spacing(pace, self.refresh, freshness.took or 0.0)
                freshness = replace(freshness, slow_answers=slow_answers)
                if freshness.answered_at is None:
                    schedule.due_at = self.clock.monotonic()
                else:
                    schedule.due_at = schedule.shown_from + seconds
            has_outcome = freshness.answered_at is not None or freshness.failure is not None
            is_planned = pace is not Pace.OFF and has_outcome and schedule.due_at < inf
            planned = schedule.due_at if is_planned else None
            freshness = replace(freshness, next_try_at=planned)
            if freshness != self.store.freshness[feed]:
                self.store.set_freshness(feed, freshness)
        self._must_plan.set()

    def _by_weight(self, feeds: Iterable[FeedName]) -> list[FeedName]:
        """The same feeds, first those that the screen is about: they get the slots first."""
        return sorted(feeds, key=lambda feed: self._schedules[feed].pace is not Pace.REFRESH)
