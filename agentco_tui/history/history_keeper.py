"""Keeps a history up to date with what a poller reads, for as long as a workspace remembers.

The history is a database; the poller reads the feeds (lists of records) of the platform, the remote
service that is watched, into the store. `Sampler` writes what the store gets. `DepartureReader`
reads the records of tasks that left the queue, the list of those that wait for approval, to learn
who decided them. For a platform that is new to the history, the last 24 hours of its activity log
are read as well, by the poller's `backfill`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from math import inf

from agentco_tui.history.departures import DepartureReader
from agentco_tui.history.history import History
from agentco_tui.history.log_counts import observe_log
from agentco_tui.history.observations import HistoryError, Observed
from agentco_tui.history.reader import Reader
from agentco_tui.history.sampler import Sampler
from agentco_tui.live.backfill import entries_within
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.log_reader import oldest_and_newest
from agentco_tui.live.poller import Poller
from agentco_tui.live.queue_tracker import QueueTracker
from agentco_tui.model import Activity, Listing


class HistoryKeeper:
    """Writes what one poller reads to one history. Call `start` once, then `run`."""

    def __init__(self, history: History, poller: Poller, tracker: QueueTracker) -> None:
        """`tracker` counts the tasks that wait in the poller's store."""
        self._history = history
        self._poller = poller
        self._tracker = tracker
        self._departures: DepartureReader | None = None

    async def start(self) -> None:
        """Write what the store has, and from now on everything that changes in it."""
        poller = self._poller
        is_new = False
        with suppress(HistoryError):  # reported when the history is written
            is_new = await self._history.ask(Reader.first_seen) is None
        sampler = Sampler(
            self._history,
            poller.store,
            lambda: poller.query,
            poller.clock,
            self._tracker,
            on_departures=self._note_departures,
        )
        self._departures = DepartureReader(
            poller.client,
            self._history,
            poller.clock,
            query=lambda: poller.query,
            wait_until_idle=poller.wait_until_idle,
            life_of=sampler.life_of_record,
        )
        # What left the queue in an earlier run may not have been looked up yet.
        self._departures.note_change()
        if is_new:
            poller.backfill.want_past(self._take_past)

    async def run(self) -> None:
        """Look up who decided the tasks that leave the queue, until cancelled."""
        if self._departures is not None:
            await self._departures.run()

    def _note_departures(self) -> None:
        if self._departures is not None:
            self._departures.note_change()

    def _take_past(self, listing: Listing[Activity], since: float) -> None:
        self._history.observe(observe_past(listing, since))


def observe_past(listing: Listing[Activity], since: float) -> Iterator[Observed]:
    """What an answer of the log says of the time since `since` (seconds since 1970).

    An entry that comes in two answers is counted once, because the history keeps the highest count
    of each minute.
    """
    observed = observe_log(entries_within(listing, since, inf))
    oldest, newest = oldest_and_newest(listing)
    if oldest is not None and newest is not None and newest > since:
        span = (max(oldest, since), newest)
        observed.seen.append((FeedName.ACTIVITY, "", span))
    yield observed
