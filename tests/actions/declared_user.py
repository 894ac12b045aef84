"""A dashboard's services on the recorded Paperclip, so quick that tests don't wait."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from agentco_tui.actions.journal import Journal
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.outcome import OnProgress, Outcome, ignore_progress
from agentco_tui.actions.services import Permissions, Services, Timing
from agentco_tui.actions.verb_write import VerbWrite
from agentco_tui.api.capabilities import OfferedVerb, VerbInput
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.live.feeds import Clock, FeedName, Query
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.model import Listing, Record
from agentco_tui.platforms.declared_platform import DeclaredPlatform, open_platform
from agentco_tui.platforms.platform_file import load_platform
from tests.actions.user import QUICK, journal_entries
from tests.platforms.recorded_paperclip import KEY, RecordedPaperclip
from tests.platforms.seen import Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredUser:
    """The services of a dashboard on a platform that a file describes, and what it saw of them."""

    server: RecordedPaperclip
    client: DeclaredPlatform
    services: Services
    journal: Journal

    @property
    def store(self) -> Store:
        return self.services.store

    async def look(self) -> dict[str, Record]:
        """Read what a person is shown into the store; return it by id, of a task as it waits."""
        listings = await self.read()
        for feed, listing in listings.items():
            self.store.collections[feed].replace(listing)
        return {record.id: record for each in listings.values() for record in each.records}

    async def read(self) -> dict[FeedName, Listing[Any]]:
        """Read the lists of the company in scope whose records have verbs."""
        client = self.services.decision_client  # which gets no answer of a moment ago
        company = self.services.poller.query.company
        return {
            FeedName.TASKS: await client.tasks(company),
            FeedName.PENDING: await client.tasks(company, status="pending"),
            FeedName.AGENTS: await client.agents(company),
            FeedName.COMPANIES: await client.companies(),
            FeedName.ALERTS: await client.budget_alerts(),
        }

    def verb(self, name: str) -> OfferedVerb:
        verb = self.client.capabilities.verb(name)
        assert verb is not None
        return verb

    def write(
        self, name: str, shown: Record, note: str | None = None, amount: str | None = None
    ) -> VerbWrite:
        given = VerbInput(note, None if amount is None else Decimal(amount))
        return VerbWrite(self.services, self.verb(name), shown, given)

    async def do(
        self,
        name: str,
        shown: Record,
        note: str | None = None,
        amount: str | None = None,
        on_progress: OnProgress = ignore_progress,
    ) -> Outcome:
        """The person's yes to a verb for a record."""
        return await self.write(name, shown, note, amount).run(on_progress)

    @property
    def sent(self) -> list[Seen]:
        """The writes that reached the server."""
        return [seen for seen in self.server.requests if seen.method != "GET"]

    @property
    def entries(self) -> list[Attempt | Settled]:
        return journal_entries(self.journal.path)


@asynccontextmanager
async def open_declared(
    server: RecordedPaperclip,
    journal_path: Path,
    *,
    company: str | None = None,
    timing: Timing = QUICK,
    permissions: Permissions | None = None,
) -> AsyncIterator[DeclaredUser]:
    """Open the services for the server; nothing is polled."""
    client = open_platform(
        load_platform("paperclip", None), BaseUrl.parse(server.base), ApiKey(KEY), attempts=1
    )
    journal = Journal(journal_path)
    clock = Clock(lambda: client.transport.measured.clock_skew)
    services = Services(
        client,
        Poller(client, Store(), clock, query=Query(company=company)),
        journal,
        origin=server.base,
        profile="test",
        permissions=permissions,
        timing=timing,
    )
    try:
        yield DeclaredUser(server=server, client=client, services=services, journal=journal)
    finally:
        await services.close()
        # private: `close` does not wait for the thread that writes the journal.
        services._thread.shutdown(wait=True)
        journal.close()
        await client.aclose()
