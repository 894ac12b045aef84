"""What every write needs: client, store, clock, journal, permissions and timing.

`Services` is made once for a dashboard or a command, and given to each write (`write_flow.Write`),
that is, to each request that changes the platform, the remote service. `Poller` reads the
platform's lists into the store, what is known of it in memory. A task is what an AI agent wants to
do; it waits for a decision, the user's yes or no. A set is several tasks approved with one yes. The
journal is a file in which each attempt is noted before it is sent; an `Attempt` is such a note.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from agentco_tui.actions.journal import Earlier, Journal
from agentco_tui.actions.journal_errors import JournalError
from agentco_tui.actions.journal_lines import Attempt, seconds_of
from agentco_tui.actions.outcome import OPERATION_OF_VERB
from agentco_tui.actions.task_reader import TaskReader
from agentco_tui.api.errors import ApiError, NotAllowed
from agentco_tui.live.names import Names
from agentco_tui.live.poller import Poller
from agentco_tui.model import Agent, Company, Record, Ref
from agentco_tui.text import SafeText, clean_line, mark_safe

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform

R = TypeVar("R")

OWNERS_WITHIN: Final = 5.0
"""Seconds after which a change waits no longer for the names of its agent and company."""


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """All waiting times, in seconds; in one value, so that tests need not wait."""

    confirm_for: float = 10.0
    """For how long reads must show no effect, such as a task that is still pending: then a write
    whose answer was lost counts as not done, and one that the platform has confirmed is known by
    its answer alone."""
    after_conflict: float = 2.0
    """For how long reads must show no effect before a 409 counts as a refusal: a 409 says that
    something has changed, and that may be this very request, applied by another instance."""
    first: float = 0.4  # the pause after the first read that settles nothing; each next one doubles
    ceiling: float = 5.0  # the longest pause between two reads
    spacing: float = 0.5  # between the starts of two list reads that the tasks of a set share
    gather: float = 0.02  # how long a read waits for other tasks of a set to join it
    hold_one: float = 2.0  # the undo window of a yes to one task
    hold: float = 5.0  # the undo window of a yes to a set
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def pauses(self) -> Iterator[float]:
        """Yield the pauses between reads that go on until one settles the outcome; endless."""
        pause = self.first
        while True:
            yield pause
            pause = min(self.ceiling, pause * 2)


def _ignore_change() -> None:
    """Do nothing."""


class Permissions:
    """What may be written: nothing if `read_only` or the role of the key says why, else what the
    platform has not refused with 403 since the key changed. The platform names no permissions, so
    each verb counts as one.
    """

    def __init__(self, read_only: SafeText | None = None) -> None:
        self.read_only = read_only  # why the settings or this machine allow no write at all
        self.role: SafeText | None = None  # why the platform allows none with the present key
        self.missing: dict[str, SafeText] = {}  # what was refused, so that another key is needed
        self.on_change: Callable[[], object] = _ignore_change
        """Called when the result of `why_denied` may have changed."""

    @property
    def off(self) -> SafeText | None:
        """Why nothing may be written at all; None if something may."""
        return self.read_only or self.role

    @property
    def lacks_any(self) -> bool:
        """Whether another key may be allowed more."""
        return bool(self.missing) or self.role is not None

    def why_denied(self, verb: str) -> SafeText | None:
        """Return why a write would be refused, for the user; None if it may be tried."""
        return self.off or self.missing.get(verb)

    def note_refused(self, verb: str, error: NotAllowed) -> None:
        """Remember that the platform refused a write with 403."""
        words = ""
        if error.platform_message:
            words = f": {error.platform_message}"
        self.missing[verb] = mark_safe(
            f"this key may not {verb} (403{words}); ask its owner for the permission"
        )
        self.on_change()

    def note_role(self, why_read_only: SafeText | None) -> None:
        """Remember why the key's role may change nothing; None if it may."""
        if self.role != why_read_only:
            self.role = why_read_only
            self.on_change()

    def key_changed(self) -> None:
        """Forget what was refused, because another key is used from now on."""
        if self.lacks_any:
            self.missing.clear()
            self.role = None
            self.on_change()


class Services:
    """What the writes of one open profile (a named configuration for one platform) share.

    Whoever opened the journal closes it. `origin` is the platform's address as configured.
    """

    def __init__(
        self,
        client: Platform,
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
        """A client with connections of its own: decisions wait for no other request."""
        self.poller = poller
        self.store = poller.store
        self.clock = poller.clock  # the machine's clock, corrected by the platform's
        self.journal = journal
        self.origin = origin
        self.profile = profile
        self.permissions = permissions or Permissions()
        self.timing = timing or Timing()
        self.reader = TaskReader(self.decision_client, poller, self.timing.sleep)
        self.agents_read: dict[str, Agent] = {}
        self.companies_read: dict[str, Company] = {}
        """Records by id that `read_owners` has read. They are not in the store, which must not have
        a part of a list: it would pass for all that there is."""
        self._closed = False
        # A thread of its own: names of hosts are looked up in asyncio's, and must not wait for a
        # slow disk.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")

    def in_journal_thread(self, work: Callable[..., R], *about: Any) -> asyncio.Future[R]:
        """Call a method of the journal in its thread, off the event loop. Raises JournalError."""
        if self._closed:
            raise JournalError("this dashboard is ending", "the next start finds out")
        return asyncio.get_running_loop().run_in_executor(self._thread, work, *about)

    async def claim(self, attempts: Iterable[Attempt]) -> list[Attempt]:
        """Take over attempts that ended processes left open, to find out their outcomes.

        Returns those that no other process took first; none while the journal can't be written.
        """
        try:
            return await self.in_journal_thread(self.journal.claim, tuple(attempts))
        except JournalError:
            return []

    async def read_owners(self, agent: Ref | None, company: Ref | None) -> None:
        """Read the agent and the company of a change whose names are not known yet.

        Commands poll nothing, so they know of other records only what the record that they change
        says of them. The names are for the journal: one that can't be read in time is left out.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(OWNERS_WITHIN):
                await asyncio.gather(self._read_agent(agent), self._read_company(company))
                if company is None and agent is not None:
                    listed = self.agents_read.get(agent.id or "")
                    await self._read_company(listed.company if listed is not None else None)

    async def _read_agent(self, agent: Ref | None) -> None:
        if agent is None or agent.id is None or self.agent_name(agent) is not None:
            return
        with suppress(ApiError):
            self.agents_read[agent.id] = await self.client.agent(agent.id)

    async def _read_company(self, company: Ref | None) -> None:
        if company is None or company.id is None or self.company_name(company) is not None:
            return
        with suppress(ApiError):
            if self.client.capabilities.why_not("company") is None:
                self.companies_read[company.id] = await self.client.company(company.id)
                return
            # A platform that offers no single company offers the list.
            listing = await self.client.companies()
            self.companies_read |= {each.sent_id: each for each in listing.records}

    def agent_name(self, agent: Ref) -> SafeText | None:
        """The name of an agent: as it was sent, as the store has it, or as it was read."""
        name = Names(self.store).known_name(agent, "agent")
        read = self.agents_read.get(agent.id or "")
        if name is None and read is not None:
            return read.name
        return name

    def company_name(self, company: Ref) -> SafeText | None:
        """The name of a company: as it was sent, also with an agent, or as it was read."""
        name = Names(self.store).known_name(company, "company")
        if name is not None or company.id is None:
            return name
        for agent in self.agents_read.values():
            if agent.company is not None and agent.company.id == company.id and agent.company.name:
                return agent.company.name
        read = self.companies_read.get(company.id)
        return read.name if read is not None else None

    def why_not_offered(self, verb: str) -> SafeText | None:
        """Return why the platform has no such write at all; None if it has, as far as is known."""
        return self.client.capabilities.why_not(OPERATION_OF_VERB.get(verb))

    def why_not_for(self, verb: str, record: Record) -> SafeText | None:
        """Return why the platform has no such write for this record; None if it can be tried."""
        if verb in self.client.verbs_of(record):
            return None
        return mark_safe(f"{self.client.name} does not offer to {clean_line(verb, 40)} this one")

    def earlier(self, verb: str, subject: str) -> Earlier | None:
        """The last attempt at a subject (an id) from this machine; None if there is none."""
        return self.journal.earlier(self.origin, verb, subject)

    async def close(self) -> None:
        await self.reader.close()
        self._closed = True
        self._thread.shutdown(wait=False)


def age_of(time_written: str) -> float | None:
    """Return the seconds since a time in the journal; None if it can't be read."""
    at = seconds_of(time_written)
    if at is None:
        return None
    return max(0.0, time.time() - at)
