"""Asks the feeds when they are due, and never ends by itself.

One loop a feed, so that a feed is asked once at a time and a slow or failing one holds up no
other; at most `AT_ONCE` requests are under way together. A late tick is dropped, not made up for:
after a laptop's sleep each feed is asked once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError, Broken, TimedOut, Unreachable, Unreadable
from agentco_tui.live import schedule
from agentco_tui.live.clock import Clock
from agentco_tui.live.feeds import SLOWER, FeedName, Pace
from agentco_tui.live.freshness import Freshness
from agentco_tui.live.sources import BY_COMPANY, FETCHES, Query, forget
from agentco_tui.live.store import Store
from agentco_tui.text import SafeText, plain

AT_ONCE = 4
"""Requests under way together."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Turn:
    """A feed's place in time."""

    pace: Pace = Pace.OFF
    due_at: float = 0.0
    """A reading of the steady clock."""
    asked: bool = False
    """True if it is to be polled now, whatever its pace and its back-off say."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    busy: bool = False
    started: int = 0
    """Polls begun."""
    ended: int = 0
    settled: asyncio.Condition = field(default_factory=asyncio.Condition)


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
        self._turns = {feed: _Turn() for feed in FeedName}
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def run(self) -> None:
        """Poll until cancelled."""
        async with asyncio.TaskGroup() as loops:
            for feed in FeedName:
                loops.create_task(self._follow(feed), name=f"feed {feed}")

    def set_paces(self, paces: Mapping[FeedName, Pace]) -> None:
        """Say how often each feed is asked from now on.

        A feed that speeds up and has grown older than its new interval is asked at once.
        """
        now = self.clock.monotonic()
        for feed, pace in paces.items():
            turn = self._turns[feed]
            if turn.pace is pace:
                continue
            turn.pace = pace
            wished = schedule.interval(pace, self.refresh)
            freshness = self.store.freshness[feed]
            if wished is not None and freshness.failure is None:
                answered = freshness.answered_at
                turn.due_at = now if answered is None else min(turn.due_at, answered + wished)
            turn.woken.set()

    def pace(self, feed: FeedName) -> Pace:
        """How often a feed is asked now."""
        return self._turns[feed].pace

    def set_query(self, query: Query) -> None:
        """Ask about something else: what answers the old question is forgotten and asked anew."""
        before, self.query = self.query, query
        feeds: list[FeedName] = []
        if before.company != query.company:
            feeds += BY_COMPANY
        if (before.activity, before.activity_company) != (query.activity, query.activity_company):
            feeds.append(FeedName.ACTIVITY)
        for feed in feeds:
            self.store.set_freshness(feed, Freshness())
            forget(self.store, feed)
        self.poll_now(feeds)

    def poll_now(self, feeds: Iterable[FeedName] | None = None) -> None:
        """Ask those of these feeds (without: of all) that are polled, whatever back-off says."""
        for feed in FeedName if feeds is None else feeds:
            turn = self._turns[feed]
            turn.asked = turn.pace is not Pace.OFF
            turn.woken.set()

    async def read_again(self, feed: FeedName) -> Freshness:
        """Ask a feed anew and wait for the answer to a question that was put after this call.

        An answer under way now may be older than what the caller has just done.
        """
        turn = self._turns[feed]
        wanted = turn.started + 1
        turn.asked = True
        turn.woken.set()
        async with turn.settled:
            await turn.settled.wait_for(lambda: turn.ended >= wanted)
        return self.store.freshness[feed]

    async def _follow(self, feed: FeedName) -> None:
        turn = self._turns[feed]
        while True:
            await self._until_due(turn)
            async with self._slots:
                turn.busy = True
                turn.asked = False
                turn.started += 1
                try:
                    await self._poll(feed, turn)
                finally:
                    turn.busy = False
            async with turn.settled:
                turn.ended = turn.started
                turn.settled.notify_all()

    async def _until_due(self, turn: _Turn) -> None:
        while True:
            turn.woken.clear()
            wait = turn.due_at - self.clock.monotonic()
            if turn.asked or (wait <= 0 and turn.pace is not Pace.OFF):
                return
            try:
                async with asyncio.timeout(None if turn.pace is Pace.OFF else wait):
                    await turn.woken.wait()
            except TimeoutError:
                continue

    async def _poll(self, feed: FeedName, turn: _Turn) -> None:
        query = self.query
        begun = self.clock.monotonic()
        try:
            take = await FETCHES[feed](self.client, self.store, query)
            if query == self.query:
                take()
                self._answered(feed, turn, self.clock.monotonic() - begun)
        except ApiError as error:
            if query == self.query:
                self._failed(feed, turn, error)
        except Exception as error:
            # A bug of ours in reading one answer must not stop the picture: it is told and logged.
            log.exception("reading the feed %s failed", feed)
            self._failed(feed, turn, Unreadable(_bug(error), path=feed))
        if query != self.query and turn.pace is not Pace.OFF:
            turn.asked = True

    def _answered(self, feed: FeedName, turn: _Turn, took: float) -> None:
        now = self.clock.monotonic()
        wished = schedule.interval(turn.pace, self.refresh) or self.refresh * SLOWER
        delay, slowed = schedule.after_answer(wished, took, self._random)
        turn.due_at = now + delay
        recovered = self.store.freshness[feed].failure
        freshness = Freshness(answered_at=now, next_try_at=turn.due_at, took=took, slowed=slowed)
        self.store.set_freshness(feed, freshness)
        if isinstance(recovered, Unreachable | TimedOut | Broken):
            self._wake_the_cut_off()

    def _failed(self, feed: FeedName, turn: _Turn, error: ApiError) -> None:
        before = self.store.freshness[feed]
        now = self.clock.monotonic()
        failures = before.failures + 1
        turn.due_at = now + schedule.after_failure(error, failures, self.refresh, self._random)
        self.store.set_freshness(
            feed,
            Freshness(
                answered_at=before.answered_at,
                failure=error,
                next_try_at=turn.due_at,
                failures=failures,
                took=before.took,
            ),
        )

    def _wake_the_cut_off(self) -> None:
        """One feed reached the platform again: the others that had lost it try at once."""
        for feed, turn in self._turns.items():
            failure = self.store.freshness[feed].failure
            if isinstance(failure, Unreachable | TimedOut | Broken) and not turn.busy:
                turn.asked = turn.pace is not Pace.OFF
                turn.woken.set()


def _bug(error: Exception) -> SafeText:
    return plain(
        f"this answer could not be read, through a fault of this program ({type(error).__name__})"
    )
