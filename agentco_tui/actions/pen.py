"""Writes the journal for the actions, without holding up the screen."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from agentco_tui.actions.journal import Attempt, Earlier, Journal, JournalError, Mark
from agentco_tui.actions.journal_entries import Settled, seconds_of, stamp
from agentco_tui.actions.outcome import Outcome
from agentco_tui.actions.verbs import Verb
from agentco_tui.api.records import Ref
from agentco_tui.text import SafeText, plain

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Context:
    """Where this dashboard is at home."""

    origin: str
    """The platform's address; attempts at different platforms have nothing in common."""
    profile: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What an attempt acts on, before it has an id."""

    verb: Verb
    subject: str
    """An id, or for what has none yet a digest of what it is to be."""
    title: SafeText
    task: str | None = None
    company: Ref | None = None
    agent: Ref | None = None
    fingerprint: str = ""
    details: dict[str, Any] | None = None


class Pen:
    """Turns drafts and outcomes into lines of the journal, in a thread."""

    def __init__(
        self, journal: Journal, context: Context, wall: Callable[[], float] = time.time
    ) -> None:
        self._journal = journal
        self.context = context
        self._wall = wall
        self._closed = False
        # A thread of its own: names of hosts are looked up in asyncio's, and must not wait for a
        # slow disk.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")

    async def mark(self) -> Mark:
        """A place to compare with later; taken before a read. Raises JournalError."""
        return await self._off_the_loop(self._journal.mark)

    async def begin(self, draft: Draft, since: Mark) -> Attempt:
        """Write an attempt, so that it may be sent.

        Raises JournalError, InFlight, Unsettled, Overtaken: then it must not be sent.
        """
        company, agent = draft.company, draft.agent
        attempt = Attempt(
            attempt=str(uuid.uuid4()),
            time=stamp(self._wall()),
            origin=self.context.origin,
            profile=self.context.profile,
            verb=draft.verb,
            subject=draft.subject,
            title=draft.title,
            task=draft.task,
            company=None if company is None else company.id,
            company_name=None if company is None else company.name,
            agent=None if agent is None else agent.id,
            agent_name=None if agent is None else agent.name,
            fingerprint=draft.fingerprint,
            details=draft.details or {},
        )
        writing = self._off_the_loop(partial(self._journal.begin, attempt, since))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            # The thread ends its line all the same; nobody will send it.
            writing.add_done_callback(lambda done: self._abandoned(done, attempt.attempt))
            raise

    async def finish(self, outcome: Outcome) -> Outcome:
        """Write an outcome; returns it, with a word about it if it could not be written."""
        if outcome.attempt_id is None:
            return outcome
        settled = Settled(
            attempt=outcome.attempt_id,
            time=stamp(self._wall()),
            outcome=outcome.kind,
            known_by=outcome.known_by,
            words=outcome.words,
            http_status=outcome.http_status,
            sentence=outcome.sentence,
        )
        try:
            await asyncio.shield(self._off_the_loop(partial(self._journal.finish, settled)))
        except JournalError as error:
            return replace(
                outcome, sentence=plain(f"{outcome.sentence}; not in the journal: {error.sentence}")
            )
        return outcome

    async def left_behind(self) -> list[Attempt]:
        """Attempts of this origin and profile that nobody works on. Raises JournalError."""
        context = self.context
        found = partial(self._journal.open_attempts, context.origin, context.profile)
        return await self._off_the_loop(found)

    def adopt(self, attempt: Attempt) -> None:
        """Take up an attempt that was left behind."""
        self._journal.adopt(attempt.attempt)

    def let_go(self, attempt_id: str) -> None:
        """Leave an attempt without an outcome; the next start takes it up."""
        self._journal.let_go(attempt_id)

    def earlier(self, verb: Verb, subject: str) -> Earlier | None:
        """The last attempt at a subject, as far as it is in memory."""
        return self._journal.earlier(self.context.origin, verb, subject)

    def age(self, time: str) -> float | None:
        """Seconds since a time in the journal, None if it can't be read."""
        at = seconds_of(time)
        return None if at is None else max(0.0, self._wall() - at)

    def close(self) -> None:
        """Write no more; a line that is being written is ended."""
        self._closed = True
        self._thread.shutdown(wait=False)

    def _off_the_loop(self, work: Callable[[], R]) -> asyncio.Future[R]:
        if self._closed:
            raise JournalError(plain("this dashboard is ending: the next start finds out"))
        return asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _abandoned(self, writing: asyncio.Future[Attempt], attempt_id: str) -> None:
        if not writing.cancelled() and writing.exception() is None:
            self._journal.let_go(attempt_id)
