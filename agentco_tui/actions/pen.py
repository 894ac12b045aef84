"""Writes the journal for the actions, without holding up the screen."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from agentco_tui.actions.journal import Attempt, Earlier, Following, Journal, JournalError, Mark
from agentco_tui.actions.journal_entries import Settled, folded, platform_of, seconds_of, stamp
from agentco_tui.actions.outcome import KnownBy, Outcome
from agentco_tui.actions.verbs import Verb
from agentco_tui.live.store import Store
from agentco_tui.model.records import Ref
from agentco_tui.text import SafeText, plain

log = logging.getLogger(__name__)

R = TypeVar("R")

LOOKUP_PATIENCE = 2.0
"""Seconds that the first write waits for the platform's host to be resolved."""
MOST_ADDRESSES = 16
"""Of a host, that are kept with an attempt."""
CREATING = frozenset({Verb.CREATE_TASK, Verb.CREATE_COMPANY, Verb.CLONE_COMPANY})


@dataclass(frozen=True, slots=True)
class Context:
    """Where this dashboard is at home."""

    origin: str
    """The platform's address with the path of a reverse proxy; attempts at different platforms
    have nothing in common."""
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
        self,
        journal: Journal,
        context: Context,
        store: Store | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._journal = journal
        self.context = context
        self._store = store
        self._wall = wall
        self._closed = False
        self._addresses: tuple[str, ...] | None = None
        # A thread of its own: names of hosts are looked up in asyncio's, and must not wait for a
        # slow disk.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")

    async def mark(self) -> Mark:
        """A place to compare with later; taken before a read. Raises JournalError."""

        def mark() -> Mark:
            if self._addresses is None:
                self._addresses = addresses_of(self.context.origin)
            return self._journal.mark()

        return await self._off_the_loop(mark)

    async def begin(self, draft: Draft, since: Mark) -> Attempt:
        """Write an attempt, so that it may be sent.

        Raises JournalError, InFlight, Unsettled, Overtaken: then it must not be sent.
        """
        company, agent = self._named(draft)
        attempt = Attempt(
            attempt=str(uuid.uuid4()),
            time=stamp(self._wall()),
            origin=self.context.origin,
            addresses=self._addresses or (),
            profile=self.context.profile,
            verb=draft.verb,
            subject=draft.subject,
            title=draft.title,
            task=draft.task,
            company=company.id,
            company_name=company.name,
            agent=agent.id,
            agent_name=agent.name,
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
        """Write an outcome; one that is written already is corrected by it.

        Returns it, with a word about it if it could not be written.
        """
        if outcome.attempt_id is None:
            return outcome
        made = outcome.record.id if outcome.record and outcome.verb in CREATING else None
        settled = Settled(
            attempt=outcome.attempt_id,
            time=stamp(self._wall()),
            origin=self.context.origin,
            profile=self.context.profile,
            verb=outcome.verb,
            subject=outcome.subject,
            title=outcome.title,
            outcome=outcome.kind,
            known_by=outcome.known_by,
            words=outcome.words,
            http_status=outcome.http_status,
            sentence=outcome.sentence,
            made=made,
        )
        try:
            await asyncio.shield(self._off_the_loop(partial(self._journal.finish, settled)))
        except JournalError as error:
            unsent = outcome.known_by is KnownBy.HERE
            sent = "" if unsent else "it was sent, and "
            words = f"{outcome.sentence} ({sent}only the note of this is missing: {error.why})"
            return replace(outcome, sentence=plain(words))
        return outcome

    async def follow(self) -> Following:
        """What is open at this platform now, from any dashboard on this machine, and whether
        anything can be sent. Cheap enough for each second. Raises JournalError at the end only.
        """
        return await self._off_the_loop(partial(self._journal.follow, self.context.origin))

    async def left_behind(self) -> list[Attempt]:
        """Attempts at this platform, of any profile, that nobody works on. Raises JournalError."""
        return await self._off_the_loop(partial(self._journal.left_behind, self.context.origin))

    async def claim(self, attempts: Iterable[Attempt]) -> list[Attempt]:
        """Take up attempts that were left behind: those that no other dashboard has by now. None
        while the journal can't be written.
        """
        try:
            return await self._off_the_loop(partial(self._journal.claim, tuple(attempts)))
        except JournalError:
            return []

    def adopt(self, attempt: Attempt) -> None:
        """Take up an attempt that was left behind."""
        self._journal.adopt(attempt)

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

    def _named(self, draft: Draft) -> tuple[Ref, Ref]:
        """Company and agent with the names that are known for them."""
        agent, company = draft.agent or Ref(), draft.company
        if self._store is not None:
            known = self._store.agents.get(agent.id)
            if known is not None:
                agent = Ref(id=agent.id, name=agent.name or known.name)
                company = company or known.company
        company = company or Ref()
        if self._store is not None and company.name is None:
            of_store = self._store.companies.get(company.id)
            company = Ref(id=company.id, name=of_store.name if of_store else None)
        return company, agent

    def _off_the_loop(self, work: Callable[[], R]) -> asyncio.Future[R]:
        if self._closed:
            raise JournalError("this dashboard is ending", "the next start finds out")
        return asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _abandoned(self, writing: asyncio.Future[Attempt], attempt_id: str) -> None:
        if not writing.cancelled() and writing.exception() is None:
            self._journal.let_go(attempt_id)


def addresses_of(origin: str, patience: float = LOOKUP_PATIENCE) -> tuple[str, ...]:
    """What an address leads to: each IP address of its host with the port, sorted.

    This machine's own are one, as its names for itself are. Empty, and told in the log, if the
    host can't be resolved within `patience` seconds. Waits that long: not for the event loop.
    """
    parts = urlsplit(platform_of(origin))
    host, port = parts.hostname or "", parts.port
    if host == "localhost":
        return (f"localhost:{port}",)
    found: list[str] = []

    def look_up() -> None:
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return
        found.extend(sorted({f"{_of_machine(str(info[4][0]))}:{port}" for info in infos}))

    # A daemon, so that a resolver that hangs doesn't hold up the end of the program.
    thread = threading.Thread(target=look_up, name="journal-lookup", daemon=True)
    thread.start()
    thread.join(patience)
    if not found:
        log.warning("%s could not be resolved: the journal knows it by its name only", host)
    return tuple(found[:MOST_ADDRESSES])


def _of_machine(address: str) -> str:
    """An IP address in its usual spelling; any of this machine's own is localhost."""
    name = folded(address)
    if name == "localhost":
        return name
    bare = ipaddress.ip_address(name.strip("[]"))
    family = socket.AF_INET6 if bare.version == 6 else socket.AF_INET
    try:
        # Sends nothing: only the route is looked up, and one to oneself begins where it ends.
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(bare), 9))
            return "localhost" if probe.getsockname()[0] == str(bare) else name
    except OSError:
        return name
