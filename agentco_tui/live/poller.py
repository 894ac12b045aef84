"""Asks the feeds when they are due, and never ends by itself.

One loop a feed, so that a feed is asked once at a time and a slow or failing one holds up no
other; at most `AT_ONCE` requests are under way together. A late tick is dropped, not made up for:
after a laptop's sleep each feed is asked once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial
from math import inf
from random import Random
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.client import Client
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
    interval,
    question,
)
from agentco_tui.live.store import Change, Store
from agentco_tui.model import Company, Listing, Record
from agentco_tui.reading.identity import mark_shared, without_repeats
from agentco_tui.system.background import sleep_unless
from agentco_tui.text import plain

AT_ONCE = 4  # feeds that are asked at the same time
HANGING_AT_ONCE = 2  # of these for feeds that got no answer in time when they were last asked
GLANCE = 5.0
"""Seconds after which a waiting feed looks at the clock again: the timers of the event loop stand
still while a laptop sleeps."""

CUT_OFF = (errors.Unreachable, errors.TimedOut, errors.Broken, errors.KeyRejected)
"""Failures that concern the platform as a whole: where one feed is over them, others may be."""

REFUSED = (errors.NotAllowed, errors.NotFound, errors.Invalid)  # other questions may be answered

PATIENCE = 5.0  # seconds after which an answer is late, or twice what the last one took
JITTER = 0.1  # share of an interval, so that many dashboards don't ask in step
BACK_OFF_CEILING = 30.0  # seconds; also how long a platform that came back can stay unseen
LONGEST_WAIT_ASKED = 600.0  # seconds; a longer Retry-After is cut to this
SHARE_OF_TIME = 4
"""A feed is busy for at most one part in this many: a slow platform is asked less often."""

ACTIVITY_LIMIT = 200  # entries of the log that a poll asks for

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R", bound=Record)
Take = Callable[[], Change]
"""Puts a fetched answer into the store; called only if the query is still the same."""


class SingleFlight(Generic[T]):
    """Makes a read at most once at a time; who asks gets one that began after the question.

    One that hangs holds up the next for `patience` seconds only, unless that is None.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[T]],
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        *,
        patience: float | None = 2.0,
        place: Callable[[], AbstractAsyncContextManager[object]] = nullcontext,
    ) -> None:
        """`place` is entered for the read, which has not begun while that waits."""
        self._read, self._clock, self._sleep = read, clock, sleep
        self._patience, self._place = patience, place
        self._next: asyncio.Task[T] | None = None
        self.under_way: asyncio.Task[T] | None = None  # the last one that began
        self._all: set[asyncio.Task[T]] = set()
        self._begun_at: float | None = None
        self._due = 0.0  # steady clock: when the next read may begin
        self._sooner = asyncio.Event()

    def next_read(self, spacing: float = 0.0, gather: float = 0.0) -> asyncio.Task[T]:
        """A read that begins after this call.

        It begins at least `spacing` seconds after the last one began, and `gather` seconds from
        now, so that others can join; who asks for the least decides.
        """
        due = self._clock.monotonic() + gather if gather else 0.0
        if self._begun_at is not None:
            due = max(due, self._begun_at + spacing)
        if self._next is None or self._next.done():
            self._due = due
            self._next = asyncio.create_task(self._turn(self.under_way))
            self._all.add(self._next)
            self._next.add_done_callback(self._all.discard)
        elif due < self._due:
            self._due = due
            self._sooner.set()
        return self._next

    async def close(self) -> None:
        """End what is under way, and wait until it has ended."""
        for task in self._all:
            task.cancel()
        await asyncio.gather(*self._all, return_exceptions=True)

    async def _turn(self, before: asyncio.Task[T] | None) -> T:
        me = asyncio.current_task()
        try:
            if before is not None:
                await asyncio.wait({before}, timeout=self._patience)
            while (rest := self._due - self._clock.monotonic()) > 0:
                self._sooner.clear()
                await sleep_unless(self._sooner, rest, self._sleep)
                if not self._sooner.is_set():
                    break
            async with self._place():
                self._next, self.under_way = None, me
                self._begun_at = self._clock.monotonic()
                return await self._read()
        finally:
            if self.under_way is me:
                self.under_way = None
            if self._next is me:
                self._next = None


class Schedule(msgspec.Struct):
    """A feed's place in time; times are readings of the steady clock, in seconds."""

    read: SingleFlight[bool]
    pace: Pace = Pace.OFF  # as the screen wishes it; a terminal without focus is served more slowly
    due_at: float = 0.0
    shown_from: float = -inf  # when the read began that brought what is shown
    woken: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    """Set when the pace or the time has changed."""
    asked_at: float | None = None  # steady clock: since when a read is wanted or under way
    awaited: int = 0  # how many wait for a read of their own, whatever the pace


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
        self._turns = dict[FeedName, Schedule]()
        for feed in FeedName:
            poll, place = partial(self._poll, feed), partial(self._place, feed)
            self._turns[feed] = Schedule(SingleFlight(poll, clock, patience=None, place=place))
        self._places = asyncio.Semaphore(AT_ONCE)
        self._places_for_hanging = asyncio.Semaphore(HANGING_AT_ONCE)
        self._focused = True
        self._notifies = False
        self.behind = Backfill(client, store, clock, lambda: self.query, self._rest)

    async def run(self) -> None:
        """Poll until cancelled."""
        try:
            async with asyncio.TaskGroup() as loops:
                for feed in self._by_weight(FeedName):
                    loops.create_task(self._follow(feed), name=f"feed {feed}")
                loops.create_task(self.behind.run(), name="backfill")
        finally:
            for turn in self._turns.values():
                await turn.read.close()

    def set_paces(self, paces: Mapping[FeedName, Pace]) -> None:
        """How often each feed is asked from now on; one grown older than that is asked at once."""
        changed = [feed for feed in paces if self._turns[feed].pace is not paces[feed]]
        for feed in changed:
            self._turns[feed].pace = paces[feed]
        self._plan_anew(changed)

    def set_attention(self, focused: bool, *, notifies: bool = False) -> None:
        """Say whether the terminal has the focus, and whether the user is notified without it.

        Without either, what the screen is about is polled as slowly as what is only counted. Where
        the user is notified, nothing is polled more slowly than with the focus, and what is
        notified of is polled at every refresh, whatever the screen.
        """
        if (focused, notifies) == (self._focused, self._notifies):
            return
        before = {feed: self.pace(feed) for feed in FeedName}
        self._focused = focused
        self._notifies = notifies
        self._plan_anew(feed for feed in FeedName if self.pace(feed) is not before[feed])

    def pace(self, feed: FeedName) -> Pace:
        wished = self._turns[feed].pace
        if self._focused or wished is Pace.OFF:
            return wished
        if self._notifies:
            return Pace.REFRESH if feed in NOTIFIED else wished
        return Pace.SLOW

    @property
    def slowed_to(self) -> float | None:
        """Seconds between two polls of what the screen is about, while that is more than the
        refresh because nobody looks; else None.
        """
        slowed = [
            turn
            for feed, turn in self._turns.items()
            if turn.pace is Pace.REFRESH and self.pace(feed) is Pace.SLOW
        ]
        return interval(Pace.SLOW, self.refresh) if slowed else None

    def set_query(self, query: Query) -> None:
        """Ask about something else: what answers the old question is forgotten and asked anew. The
        answer for all companies holds one for each, though, which stays until the platform's own.
        """
        before, self.query = self.query, query
        feeds = [feed for feed in SCOPED if question(feed, before) != question(feed, query)]
        for feed in feeds:
            if before.company is None and query.company is not None:
                self.store.narrow(feed, query.company)
            else:
                self.store.forget(feed)
        self.poll_now(feeds)

    def poll_now(self, feeds: Iterable[FeedName] = FeedName) -> None:
        """Ask those of these feeds that are polled, whatever back-off says; the others later."""
        for feed in self._by_weight(feeds):
            turn = self._turns[feed]
            if turn.pace is Pace.OFF:
                turn.due_at = min(turn.due_at, self.clock.monotonic())
            else:
                turn.read.next_read()

    async def read_again(self, feed: FeedName) -> Freshness:
        """Ask a feed anew, also one that is not polled or backs off, and wait for the answer to a
        question that was put after this call, or for the poller's end.
        """
        turn = self._turns[feed]
        turn.awaited += 1
        try:
            is_now = False
            while not is_now:
                read = turn.read.next_read()
                await asyncio.wait({read})
                is_now = read.cancelled() or read.result()
        finally:
            turn.awaited -= 1
        return self.store.freshness[feed]

    def supersede(self, feed: FeedName, began: float, found: Take | ApiError) -> None:
        """Take what another read of the feed brought that began then, for its question of now, as
        if it were a poll's. The answer to a poll that began before is dropped and asked for again.
        """
        turn = self._turns[feed]
        if began <= turn.shown_from:
            return
        if isinstance(found, ApiError):
            self._failed(feed, turn, found)
        else:
            found()
            self._answered(feed, turn, began, self.clock.monotonic() - began)

    async def _rest(self) -> bool:
        """Wait until a question that can wait is in nobody's way: every feed that is polled has
        been answered or refused for good, and none is being asked. Always True.
        """
        while True:
            await asyncio.sleep(PAUSE)
            polled = {on: turn for on, turn in self._turns.items() if turn.pace is not Pace.OFF}
            states = [self.store.freshness[feed] for feed in polled]
            if all(
                state.phase is Phase.LIVE or isinstance(state.failure, REFUSED) for state in states
            ) and all(turn.asked_at is None for turn in self._turns.values()):
                return True

    async def _follow(self, feed: FeedName) -> None:
        turn = self._turns[feed]
        while True:
            now = self.clock.monotonic()
            if turn.pace is not Pace.OFF and turn.due_at <= now:
                await asyncio.shield(turn.read.under_way or turn.read.next_read())
                continue
            turn.woken.clear()
            wait = None if turn.pace is Pace.OFF else min(turn.due_at - now, GLANCE)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await turn.woken.wait()

    @asynccontextmanager
    async def _place(self, feed: FeedName) -> AsyncIterator[None]:
        hangs = isinstance(self.store.freshness[feed].failure, errors.TimedOut)
        turn = self._turns[feed]
        turn.asked_at = self.clock.monotonic()
        try:
            async with self._places_for_hanging if hangs else nullcontext(), self._places:
                yield
        finally:
            turn.asked_at = None

    def asked_since(self) -> dict[FeedName, float]:
        """The feeds whose answer is waited for, with the reading of the steady clock since when."""
        return {
            feed: turn.asked_at for feed, turn in self._turns.items() if turn.asked_at is not None
        }

    def look_for_late(self) -> None:
        """Say of each feed whose answer is overdue that what is held of it may be old; a failure
        is known only when the last of several attempts has been given up.
        """
        now = self.clock.monotonic()
        for feed, turn in self._turns.items():
            known = self.store.freshness[feed]
            usual = max(PATIENCE, 2 * (known.took or 0.0))
            is_late = turn.asked_at is not None and now - turn.asked_at > usual
            if is_late and not known.late and turn.pace is not Pace.OFF:
                self.store.set_freshness(feed, replace(known, late=True))

    async def _poll(self, feed: FeedName) -> bool:
        """Ask a feed, and take the answer; False if the question has changed meanwhile, or what is
        shown is newer: then it is asked anew.
        """
        turn = self._turns[feed]
        if turn.pace is Pace.OFF and not turn.awaited:
            return True  # the screen has changed while it waited for its place
        query, asked = self.query, question(feed, self.query)
        began = self.clock.monotonic()
        timer = asyncio.get_running_loop().time
        # How long it took is told by the loop's time, in which a laptop's sleep doesn't count.
        started = timer()
        failure: ApiError | None = None
        is_ours, has_begun = True, False

        def begin(first: Sequence[Record]) -> None:
            # A screen full of a long list is shown until all of it is there.
            nonlocal has_begun
            is_first = self.store.freshness[feed].answered_at is None
            if is_first and question(feed, self.query) == asked:
                has_begun = True
                self.store.take(feed, Listing(records=tuple(first), more=True))

        try:
            take = await fetch(feed, self.client, self.store, query, begin)
            is_ours = began >= turn.shown_from and question(feed, self.query) == asked
            if is_ours:
                take()
        except ApiError as error:
            failure = error
        except Exception as error:
            # A bug of ours in reading one answer must not stop the picture: it is told and logged.
            log.exception("reading the feed %s failed", feed)
            words = f"through a fault of this program ({type(error).__name__})"
            failure = errors.Unreadable(plain(f"this answer could not be read, {words}"), path=feed)
        if not is_ours or (failure is not None and question(feed, self.query) != asked):
            if turn.pace is not Pace.OFF:
                turn.read.next_read()
            return False
        if failure is None:
            self._answered(feed, turn, began, timer() - started)
        else:
            if has_begun and self.store.freshness[feed].answered_at is None:
                # What had come of an answer that then failed is no answer.
                self.store.take(feed, Listing(records=()))
            self._failed(feed, turn, failure)
        turn.woken.set()
        return True

    def _answered(self, feed: FeedName, turn: Schedule, began: float, took: float) -> None:
        pace = self.pace(feed)
        gap, slowed = spacing(pace, self.refresh, took)
        turn.shown_from = began
        turn.due_at = began + gap * self._random.uniform(1 - JITTER, 1 + JITTER)
        recovered = self.store.freshness[feed].failure
        planned = None if pace is Pace.OFF else turn.due_at
        fresh = Freshness(self.clock.monotonic(), next_try_at=planned, took=took, slowed=slowed)
        self.store.set_freshness(feed, fresh)
        if isinstance(recovered, CUT_OFF):
            # It reached the platform again: the others that had lost it try at once.
            self.poll_now(
                feed
                for feed, turn in self._turns.items()
                if turn.read.under_way is None
                and isinstance(self.store.freshness[feed].failure, CUT_OFF)
            )

    def _failed(self, feed: FeedName, turn: Schedule, error: ApiError) -> None:
        before = self.store.freshness[feed]
        delay = after_failure(error, before.failures + 1, self.refresh, self._random)
        turn.due_at = self.clock.monotonic() + delay
        failed = replace(
            before,
            failure=error.bare(),
            next_try_at=None if turn.pace is Pace.OFF else turn.due_at,
            failures=before.failures + 1,
            slowed=False,
            late=False,
        )
        self.store.set_freshness(feed, failed)

    def _plan_anew(self, feeds: Iterable[FeedName]) -> None:
        """Their pace has changed: plan from when each was asked last, unless it backs off."""
        for feed in self._by_weight(feeds):
            turn, freshness = self._turns[feed], self.store.freshness[feed]
            pace = self.pace(feed)
            if pace is not Pace.OFF and freshness.failure is None:
                gap, slowed = spacing(pace, self.refresh, freshness.took or 0.0)
                freshness = replace(freshness, slowed=slowed)
                is_new = freshness.answered_at is None
                turn.due_at = self.clock.monotonic() if is_new else turn.shown_from + gap
            is_known = freshness.answered_at is not None or freshness.failure is not None
            planned = turn.due_at if pace is not Pace.OFF and is_known else None
            freshness = replace(freshness, next_try_at=planned)
            if freshness != self.store.freshness[feed]:
                self.store.set_freshness(feed, freshness)
            turn.woken.set()

    def _by_weight(self, feeds: Iterable[FeedName]) -> list[FeedName]:
        """What the screen is about comes first to the places."""
        return sorted(feeds, key=lambda feed: self._turns[feed].pace is not Pace.REFRESH)


def spacing(pace: Pace, refresh: float, took: float) -> tuple[float, bool]:
    """Seconds from the start of a poll that took so long to the next, and if that is slowed by it.

    >>> spacing(Pace.REFRESH, 5.0, 0.1), spacing(Pace.REFRESH, 5.0, 3.0)
    ((5.0, False), (12.0, True))
    """
    wished = interval(pace, refresh)
    return max(wished, took * SHARE_OF_TIME), took * SHARE_OF_TIME > wished


def after_failure(error: ApiError, failures: int, refresh: float, random: Random) -> float:
    """Seconds until the next try after `failures` failed polls in a row (at least one).

    Doubles from the refresh interval to the ceiling; a Retry-After is obeyed where it is longer.
    """
    doubled = max(1.0, refresh) * 2.0 ** min(failures - 1, 10)
    delay = min(BACK_OFF_CEILING, doubled) * random.uniform(1 - JITTER, 1)
    if error.retry_after is not None:
        delay = max(delay, min(error.retry_after, LONGEST_WAIT_ASKED))
    return delay


async def fetch(
    feed: FeedName,
    client: Client,
    store: Store,
    query: Query,
    begins: Callable[[Sequence[Any]], None] | None = None,
) -> Take:
    """Ask for a feed once; `begins` as for `Client.tasks`. Raises ApiError."""
    company = query.company
    listing: Listing[Any]
    match feed:
        case FeedName.BUDGET:
            return partial(store.take_overview, await client.budget(), company)
        case FeedName.PENDING:
            listing = await client.tasks(company_id=company, status="pending", begins=begins)
        case FeedName.TASKS:
            listing = await client.tasks(company_id=company, begins=begins)
        case FeedName.AGENTS | FeedName.AGENT_BUDGETS:
            ask: Any = client.agents if feed is FeedName.AGENTS else client.agent_budgets
            listing = await of_all_companies(ask, store, company, client.companies)
        case FeedName.COMPANIES:
            listing = await client.companies()
        case FeedName.COMPANY_BUDGETS:
            listing = await client.company_budgets()
        case FeedName.ALERTS:
            listing = await client.budget_alerts()
        case FeedName.ACTIVITY:
            # What the window would not keep need not come over the line.
            limit = min(ACTIVITY_LIMIT, store.activity.capacity)
            entries = await client.activity(company, limit=limit)
            return lambda: store.publish(Change(feed, *store.activity.merge(entries)))
    return partial(store.take, feed, listing, await store.collections[feed].compare(listing))


async def of_all_companies(
    ask: Callable[[str | None], Awaitable[Listing[R]]],
    store: Store,
    company: str | None,
    companies: Callable[[], Awaitable[Listing[Company]]],
) -> Listing[R]:
    """A listing for a company, or for all of them.

    The interface doesn't say whether `company_id` may be left out; where the platform refuses a
    request without it, every known company is asked in turn. `companies` asks which there are,
    for when none is known yet.
    """
    try:
        return await ask(company)
    except (errors.Invalid, errors.NotFound):
        if company is not None:
            raise
        known = list(store.companies) or (await companies()).records
        if not known:
            raise
        ids = dict.fromkeys(each.sent_id for each in known)
        listings = [await ask(each) for each in ids]
    records = [record for listing in listings for record in listing.records]
    return Listing(
        records=tuple(mark_shared(without_repeats(records))),
        unread=sum(listing.unread for listing in listings),
        unread_reasons=tuple(why for listing in listings for why in listing.unread_reasons)[:5],
        capped=any(listing.capped for listing in listings),
        more=any(listing.more for listing in listings),
        shape=listings[0].shape,
        pages=sum(listing.pages for listing in listings),
    )
