"""What every write needs, in one place: client, picture, clock, journal, permissions, timing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec

from agentco_tui.actions.journal import Earlier, Journal, OpenAttempts
from agentco_tui.actions.journal_errors import JournalError
from agentco_tui.actions.journal_lines import Attempt, seconds_of
from agentco_tui.actions.outcome import Verb
from agentco_tui.actions.task_reader import TaskReader
from agentco_tui.api.client import Client
from agentco_tui.api.errors import NotAllowed
from agentco_tui.live.poller import Poller
from agentco_tui.text import SafeText, plain

R = TypeVar("R")


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """How long is waited for what, all in seconds; one value, so that tests need not wait."""

    still_pending: float = 10.0
    """Over how long reads must show that nothing happened before a write whose answer was lost
    counts as not done, and of one with a clear yes the answer alone must do."""
    after_conflict: float = 2.0
    """Over how long reads must show that nothing happened before a 409 counts as a refusal: it says
    that something has changed, and that may be this very request, in another instance's hands."""
    first: float = 0.4  # the pause after the first read that settled nothing; doubles from there
    ceiling: float = 5.0  # the longest pause between two reads
    spacing: float = 0.5  # between the starts of two list reads that the tasks of a set share
    gather: float = 0.02  # how long a read waits for more tasks of a set whose turn begins
    hold_one: float = 2.0  # how long a yes to one task can be taken back
    hold: float = 5.0  # how long one to a set can
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def pauses(self) -> Iterator[float]:
        """Between reads that go on until one tells; without an end."""
        pause = self.first
        while True:
            yield pause
            pause = min(self.ceiling, pause * 2)


class Permissions:
    """What may be written: nothing where `read_only` says why, else what the platform has not
    refused with 403 since the key changed. The interface names no permissions: each verb is one.
    """

    def __init__(self, read_only: SafeText | None = None) -> None:
        self.off = read_only
        self.missing: dict[Verb, SafeText] = {}  # refused, so that another key is needed
        self.on_change: Callable[[], object] = bool
        """Called when an answer of `denied` may have changed."""

    def denied(self, verb: Verb) -> SafeText | None:
        """Why a write would be refused, for a person; None if nothing known speaks against it."""
        return self.off or self.missing.get(verb)

    def refused(self, verb: Verb, error: NotAllowed) -> None:
        words = f": {error.platform_message}" if error.platform_message else ""
        self.missing[verb] = plain(
            f"this key may not {verb} (403{words}); ask its owner for the permission"
        )
        self.on_change()

    def key_changed(self) -> None:
        """Another key is used from now on: forget what the last one was refused."""
        if self.missing:
            self.missing.clear()
            self.on_change()


class Services:
    """One for each profile that is open; the journal is closed by whoever opened it."""

    def __init__(
        self,
        client: Client,
        poller: Poller,
        journal: Journal,
        *,
        origin: str,
        profile: str,
        permissions: Permissions | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.client = client
        self.decision_client = client.for_decisions()
        """What a decision reads and sends waits for no other request."""
        self.poller = poller
        self.store = poller.store
        self.clock = poller.clock
        self.journal = journal
        self.origin = origin
        self.profile = profile
        self.permissions = permissions or Permissions()
        self.timing = timing or Timing()
        self.reader = TaskReader(self.decision_client, poller, self.timing.sleep)
        self._closed = False
        # A thread of its own: names of hosts are looked up in asyncio's, and must not wait for a
        # slow disk.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")

    def journaled(self, work: Callable[..., R], *about: Any) -> asyncio.Future[R]:
        """Work with the journal in its thread, off the event loop. Raises JournalError."""
        if self._closed:
            raise JournalError("this dashboard is ending", "the next start finds out")
        return asyncio.get_running_loop().run_in_executor(self._thread, work, *about)

    async def follow(self) -> OpenAttempts:
        """As `Journal.follow`, of this platform. Raises JournalError at the end only."""
        return await self.journaled(self.journal.follow, self.origin)

    async def claim(self, attempts: Iterable[Attempt]) -> list[Attempt]:
        """As `Journal.claim`; none while the journal can't be written."""
        try:
            return await self.journaled(self.journal.claim, tuple(attempts))
        except JournalError:
            return []

    def earlier(self, verb: Verb, subject: str) -> Earlier | None:
        return self.journal.earlier(self.origin, verb, subject)

    async def close(self) -> None:
        await self.reader.close()
        self._closed = True
        self._thread.shutdown(wait=False)


def age_of(time_written: str) -> float | None:
    """Seconds since a time in the journal, None if it can't be read."""
    at = seconds_of(time_written)
    return None if at is None else max(0.0, time.time() - at)
