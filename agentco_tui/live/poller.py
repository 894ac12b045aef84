"""Asks the feeds when they are due, and never ends by itself.

One loop a feed, so that a feed is asked once at a time and a slow or failing one holds up no
other; at most `AT_ONCE` requests are under way together. A late tick is dropped, not made up for:
after a laptop's sleep each feed is asked once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from math import inf
from random import Random

from agentco_tui.api.client import Client
from agentco_tui.api.errors import (
    ApiError,
    Broken,
    KeyRejected,
    TimedOut,
    Unreachable,
    Unreadable,
)
from agentco_tui.live.clock import Clock
from agentco_tui.live.feeds import SCOPED, SLOWER, FeedName, Freshness, Pace, Query, question
from agentco_tui.live.fetch import AT_ONCE, FETCHES, Take, forget
from agentco_tui.live.store import Store
from agentco_tui.text import SafeText, plain

HANGING_AT_ONCE = 2
"""Of these for feeds that got no answer in time when they were last asked: a part of the platform
that hangs must not hold up the others."""
GLANCE = 5.0
"""Seconds after which a waiting feed looks at the clock again: the timers of the event loop stand
still while a laptop sleeps."""

CUT_OFF = (Unreachable, TimedOut, Broken, KeyRejected)
"""Failures that concern the platform as a whole: where one feed is over them, others may be."""

JITTER = 0.1
"""Share of an interval, so that many dashboards don't ask in step."""
BACK_OFF_FLOOR = 1.0
BACK_OFF_CEILING = 30.0
"""Seconds; also how long a platform that came back can stay unseen."""
LONGEST_WAIT_ASKED = 600.0
"""Seconds; a longer Retry-After is cut to this."""
SHARE_OF_TIME = 4
"""A feed is busy for at most one part in this many: a slow platform is asked less often."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Schedule:
    """A feed's place in time: how often it is asked, when next, and who waits for its answer.

    Times are readings of the steady clock, in seconds.
    """

    pace: Pace = Pace.OFF
    """As the screen wishes it; a terminal without focus is served more slowly."""
    due_at: float = 0.0
    begun_at: float = 0.0
    """When the last answered poll began."""
    shown_from: float = -inf
    """When the read began that brought what is shown."""
    asked: bool = False
    """True if it is to be polled now, whatever its pace and its back-off say."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when anything above has changed."""
    busy: bool = False
    started: int = 0
    """Polls begun."""
    ended: int = 0
    """The last poll, as `started` counts them, that brought an answer or a failure to keep."""
    waiting: int = 0
    """Callers that wait for a poll to end."""
    settled: asyncio.Condition = field(default_factory=asyncio.Condition)

    def ask(self) -> None:
        """Have it polled now."""
        self.asked = True
        self.woken.set()

    def is_due(self, now: float) -> bool:
        """Whether it is to be polled now."""
        return self.asked or (self.pace is not Pace.OFF and self.due_at <= now)

    async def settle(self) -> None:
        """Tell those who wait that the poll begun last has ended."""
        async with self.settled:
            self.ended = self.started
            self.settled.notify_all()


class Poller:
    """Keeps a store up to date from a client until it is cancelled."""

    def __init__(
        self,
        client: Client,
        store: Store,
        clock: Clock,
        *,
        refresh: float = 5.0,
        query: Query | None = None,
        random: Random | None = None,
    ) -> None:
        self.client = client
        self.store = store
        self.clock = clock
        self.refresh = refresh
        self.query = query or Query()
        self._random = random or Random()  # noqa: S311 (jitter, not secrecy)
        self._turns = {feed: Schedule() for feed in FeedName}
        self._places = asyncio.Semaphore(AT_ONCE)
        self._places_for_hanging = asyncio.Semaphore(HANGING_AT_ONCE)
        self._focused = True
        self._over = False

    async def run(self) -> None:
        """Poll until cancelled."""
        self._over = False
        try:
            async with asyncio.TaskGroup() as loops:
                for feed in self._by_weight(FeedName):
                    loops.create_task(self._follow(feed), name=f"feed {feed}")
        finally:
            # Nobody will answer those who still wait.
            self._over = True
            for turn in self._turns.values():
                await turn.settle()

    def set_paces(self, paces: Mapping[FeedName, Pace]) -> None:
        """Say how often each feed is asked from now on.

        A feed that speeds up and has grown older than its new interval is asked at once.
        """
        for feed in paces:
            self._turns[feed].pace, before = paces[feed], self._turns[feed].pace
            if before is not paces[feed]:
                self._plan_anew(feed)
        self._wake(paces)

    def set_attention(self, focused: bool) -> None:
        """Say whether anybody looks: without focus what the screen is about is polled slowly.

        When the focus comes back, what has grown older than its interval is asked at once. Feeds
        that fail keep their back-off.
        """
        if focused is self._focused:
            return
        self._focused = focused
        feeds = [feed for feed, turn in self._turns.items() if turn.pace is Pace.REFRESH]
        for feed in feeds:
            self._plan_anew(feed)
        self._wake(feeds)

    def pace(self, feed: FeedName) -> Pace:
        """How often a feed is asked now."""
        wished = self._turns[feed].pace
        return Pace.SLOW if wished is Pace.REFRESH and not self._focused else wished

    def set_query(self, query: Query) -> None:
        """Ask about something else: what answers the old question is forgotten and asked anew."""
        before, self.query = self.query, query
        feeds = [feed for feed in SCOPED if question(feed, before) != question(feed, query)]
        for feed in feeds:
            self.store.set_freshness(feed, Freshness())
            forget(self.store, feed)
        self.poll_now(feeds)

    def poll_now(self, feeds: Iterable[FeedName] | None = None) -> None:
        """Ask those of these feeds (without: of all) that are polled, whatever back-off says.

        The others are asked as soon as they are: what they failed for may be over.
        """
        for feed in self._by_weight(FeedName if feeds is None else feeds):
            turn = self._turns[feed]
            if turn.pace is Pace.OFF:
                turn.due_at = min(turn.due_at, self.clock.monotonic())
            else:
                turn.ask()

    async def read_again(self, feed: FeedName) -> Freshness:
        """Ask a feed anew and wait for the answer to a question that was put after this call.

        An answer under way now may be older than what the caller has just done. Whether it is
        polled otherwise, and its back-off, don't matter; a failure is in the Freshness that comes
        back. If the poller ends meanwhile, what is known by then comes back.
        """
        turn = self._turns[feed]
        wanted = turn.started + 1
        turn.ask()
        turn.waiting += 1
        try:
            async with turn.settled:
                await turn.settled.wait_for(lambda: turn.ended >= wanted or self._over)
        finally:
            turn.waiting -= 1
        return self.store.freshness[feed]

    def supersede(self, feed: FeedName, began: float, found: Take | ApiError) -> None:
        """Take what another read of the feed brought that began then, as if it were a poll's.

        Nothing older takes its place: the answer to a poll that began before is dropped when it
        comes, and asked for again. For who asks the feed's question of now (`feeds.question`).
        """
        turn = self._turns[feed]
        if began <= turn.shown_from:
            return
        if isinstance(found, ApiError):
            self._failed(feed, turn, found)
        else:
            found()
            self._answered(feed, turn, began, self.clock.monotonic() - began)

    async def _follow(self, feed: FeedName) -> None:
        turn = self._turns[feed]
        while True:
            await self._until_due(turn)
            async with self._place(feed):
                if not turn.is_due(self.clock.monotonic()):
                    continue  # while it waited for a place, the screen has changed
                turn.busy = True
                turn.asked = False
                turn.started += 1
                try:
                    kept = await self._poll(feed, turn)
                finally:
                    turn.busy = False
            if kept:
                await turn.settle()
            elif turn.pace is not Pace.OFF or turn.waiting:
                turn.asked = True

    async def _until_due(self, turn: Schedule) -> None:
        while True:
            turn.woken.clear()
            now = self.clock.monotonic()
            if turn.is_due(now):
                return
            wait = None if turn.pace is Pace.OFF else min(turn.due_at - now, GLANCE)
            try:
                async with asyncio.timeout(wait):
                    await turn.woken.wait()
            except TimeoutError:
                continue

    @asynccontextmanager
    async def _place(self, feed: FeedName) -> AsyncIterator[None]:
        """A place among the requests under way."""
        if isinstance(self.store.freshness[feed].failure, TimedOut):
            async with self._places_for_hanging, self._places:
                yield
        else:
            async with self._places:
                yield

    async def _poll(self, feed: FeedName, turn: Schedule) -> bool:
        """Ask a feed; False if the question changed meanwhile, so that the answer is nobody's."""
        query = self.query
        begun = self.clock.monotonic()
        timer = asyncio.get_running_loop().time
        # How long it took is told by the loop's time, in which a laptop's sleep doesn't count.
        started = timer()
        failure: ApiError
        try:
            take = await FETCHES[feed](self.client, self.store, query)
            if self._asks_other_than(feed, query) or begun < turn.shown_from:
                return False
            take()
        except ApiError as error:
            failure = error
        except Exception as error:
            # A bug of ours in reading one answer must not stop the picture: it is told and logged.
            log.exception("reading the feed %s failed", feed)
            failure = Unreadable(_bug(error), path=feed)
        else:
            self._answered(feed, turn, begun, timer() - started)
            return True
        if self._asks_other_than(feed, query):
            return False
        self._failed(feed, turn, failure)
        return True

    def _asks_other_than(self, feed: FeedName, query: Query) -> bool:
        return question(feed, query) != question(feed, self.query)

    def _answered(self, feed: FeedName, turn: Schedule, begun: float, took: float) -> None:
        pace = self.pace(feed)
        wished = interval(pace, self.refresh) or self.refresh * SLOWER
        delay, slowed = after_answer(wished, took, self._random)
        turn.begun_at = turn.shown_from = begun
        turn.due_at = begun + delay
        recovered = self.store.freshness[feed].failure
        self.store.set_freshness(
            feed,
            Freshness(
                answered_at=self.clock.monotonic(),
                next_try_at=None if pace is Pace.OFF else turn.due_at,
                took=took,
                slowed=slowed,
            ),
        )
        if isinstance(recovered, CUT_OFF):
            self._wake_the_cut_off()

    def _failed(self, feed: FeedName, turn: Schedule, error: ApiError) -> None:
        before = self.store.freshness[feed]
        failures = before.failures + 1
        delay = after_failure(error, failures, self.refresh, self._random)
        turn.due_at = self.clock.monotonic() + delay
        self.store.set_freshness(
            feed,
            Freshness(
                answered_at=before.answered_at,
                failure=error.bare(),
                next_try_at=None if turn.pace is Pace.OFF else turn.due_at,
                failures=failures,
                took=before.took,
            ),
        )

    def _wake_the_cut_off(self) -> None:
        """One feed reached the platform again: the others that had lost it try at once."""
        cut_off = (
            feed
            for feed, turn in self._turns.items()
            if isinstance(self.store.freshness[feed].failure, CUT_OFF) and not turn.busy
        )
        self.poll_now(cut_off)

    def _plan_anew(self, feed: FeedName) -> None:
        """Its pace has changed: plan from when it was asked last, unless it is in its back-off."""
        turn, freshness = self._turns[feed], self.store.freshness[feed]
        wished = interval(self.pace(feed), self.refresh)
        if wished is not None and freshness.failure is None:
            gap, slowed = spacing(wished, freshness.took or 0.0)
            freshness = replace(freshness, slowed=slowed)
            turn.due_at = turn.begun_at + gap
            if freshness.answered_at is None:
                turn.due_at = self.clock.monotonic()
        is_known = freshness.answered_at is not None or freshness.failure is not None
        planned = turn.due_at if wished is not None and is_known else None
        freshness = replace(freshness, next_try_at=planned)
        if freshness != self.store.freshness[feed]:
            self.store.set_freshness(feed, freshness)

    def _wake(self, feeds: Iterable[FeedName]) -> None:
        for feed in self._by_weight(feeds):
            self._turns[feed].woken.set()

    def _by_weight(self, feeds: Iterable[FeedName]) -> list[FeedName]:
        """What the screen is about comes first to the places."""
        return sorted(feeds, key=lambda feed: self._turns[feed].pace is not Pace.REFRESH)


def interval(pace: Pace, refresh: float) -> float | None:
    """Seconds between polls at this pace, None if it is not polled."""
    match pace:
        case Pace.REFRESH:
            return refresh
        case Pace.SLOW:
            return refresh * SLOWER
        case Pace.OFF:
            return None


def spacing(wished: float, took: float) -> tuple[float, bool]:
    """Seconds from the start of a poll that took `took` seconds to the next, and if that is slowed.

    >>> spacing(5.0, 0.1), spacing(5.0, 3.0)
    ((5.0, False), (12.0, True))
    """
    least = took * SHARE_OF_TIME
    return max(wished, least), least > wished


def after_answer(wished: float, took: float, random: Random) -> tuple[float, bool]:
    """The same as `spacing`, jittered."""
    seconds, slowed = spacing(wished, took)
    return seconds * random.uniform(1 - JITTER, 1 + JITTER), slowed


def after_failure(error: ApiError, failures: int, refresh: float, random: Random) -> float:
    """Seconds until the next try after `failures` failed polls in a row (at least one).

    Doubles from the refresh interval to the ceiling; a Retry-After is obeyed where it is longer.
    """
    doubled = max(BACK_OFF_FLOOR, refresh) * 2.0 ** min(failures - 1, 10)
    delay = min(BACK_OFF_CEILING, doubled) * random.uniform(1 - JITTER, 1)
    if error.retry_after is not None:
        delay = max(delay, min(error.retry_after, LONGEST_WAIT_ASKED))
    return delay


def _bug(error: Exception) -> SafeText:
    return plain(
        f"this answer could not be read, through a fault of this program ({type(error).__name__})"
    )
