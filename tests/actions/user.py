"""A dashboard's services on an embedded platform over real HTTP, so quick that tests don't wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.creations import CompanyCreation, TaskCreation
from agentco_tui.actions.journal import Journal
from agentco_tui.actions.journal_lines import Attempt, Settled, from_line
from agentco_tui.actions.limit_change import LimitChange
from agentco_tui.actions.outcome import OnProgress, Outcome, ignore_progress
from agentco_tui.actions.recovery import recover_attempt
from agentco_tui.actions.services import Permissions, Services, Timing
from agentco_tui.api.client import Client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.limits import Limits
from agentco_tui.api.transport import Transport
from agentco_tui.live.feeds import Clock, Query
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.model import Budget, Company, Ref, Task
from tests.platform import EmbeddedPlatform, LoggedRequest

QUICK = Timing(
    confirm_for=0.02,
    after_conflict=0.02,
    first=0.002,
    ceiling=0.01,
    spacing=0.0,
    hold=0.0,
    hold_one=0.0,
)
"""So short that tests don't wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The services of a dashboard, what they stand on, and what the platform saw of them."""

    platform: EmbeddedPlatform
    services: Services
    journal: Journal

    @property
    def store(self) -> Store:
        return self.services.store

    async def pending(self) -> list[Task]:
        """What a person is shown."""
        listing = await self.services.decision_client.tasks(status="pending")
        self.store.pending.replace(listing)
        return list(listing.records)

    async def approve(self, task: Task, on_progress: OnProgress = ignore_progress) -> Outcome:
        """The person's yes to one task."""
        return await Approval(self.services, task).run(on_progress)

    def leave_behind(self, attempt: Attempt) -> None:
        """An earlier run wrote an attempt, and ended."""
        earlier = Journal(self.journal.path)
        earlier.begin(attempt, earlier.mark())
        earlier.close()

    async def left_behind(self) -> list[Attempt]:
        """What another process left open in the journal."""
        return await asyncio.to_thread(left_behind, self.journal, self.services.origin)

    async def recover(self, attempt: Attempt) -> Outcome:
        """Settle what was left behind."""
        [claimed] = await self.services.claim([attempt])
        found = await recover_attempt(self.services, claimed)
        assert found is not None
        return found

    def sends(self, task_id: str | None = None) -> list[LoggedRequest]:
        """The approvals that reached the platform."""
        return [
            seen
            for seen in self.platform.requests.matching("approve")
            if task_id is None or seen.path == f"/api/tasks/{task_id}/approve"
        ]


@asynccontextmanager
async def open_services(
    platform: EmbeddedPlatform,
    journal_path: Path,
    *,
    key: str | None = None,
    timing: Timing = QUICK,
    limits: Limits | None = None,
    permissions: Permissions | None = None,
    company: str | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[User]:
    """Open the services for a platform; the poller runs only if the test runs it."""
    transport = Transport(
        BaseUrl.parse(platform.base_url),
        ApiKey.parse(key or platform.full_key),
        limits=limits,
        attempts=1,
    )
    journal = Journal(journal_path)
    store = Store()
    clock = clock or Clock(lambda: transport.measured.clock_skew)
    client = Client(transport)
    services = Services(
        client,
        Poller(client, store, clock, query=Query(company=company)),
        journal,
        origin=platform.base_url,
        profile="test",
        permissions=permissions,
        timing=timing,
    )
    try:
        yield User(platform=platform, services=services, journal=journal)
    finally:
        await services.close()
        # What was under way with the journal ends before another run looks at it.
        # private: `close` does not wait for the thread that writes the journal.
        services._thread.shutdown(wait=True)
        journal.close()
        await transport.aclose()


async def create_task(services: Services, form: dict[str, str]) -> Outcome:
    return await TaskCreation(services, form).run()


async def create_company(services: Services, form: dict[str, str]) -> Outcome:
    return await CompanyCreation(services, form).run()


async def clone_company(services: Services, source: Company, form: dict[str, str]) -> Outcome:
    return await CompanyCreation(services, form, source=source).run()


async def set_limit(
    services: Services, agent: Ref, typed: str, *, shown: Budget | None, company: Ref | None = None
) -> Outcome:
    return await LimitChange(services, agent, Decimal(typed), shown=shown, company=company).run()


def left_behind(journal: Journal, origin: str) -> list[Attempt]:
    """Attempts at a platform without an outcome on which nobody who lives is working."""
    return journal.follow(origin).left


async def until(seen: Callable[[], bool]) -> None:
    """Wait for what a test needs to see; the test's own time limit ends it otherwise."""
    while not seen():  # noqa: ASYNC110 (what is waited for happens in the platform's thread)
        await asyncio.sleep(0.002)


def journal_entries(path: Path) -> list[Attempt | Settled]:
    """Every entry of a journal; fails if a line can't be read."""
    if not path.exists():
        return []
    found: list[Attempt | Settled] = []
    for line in path.read_bytes().split(b"\n"):
        if line:
            entry = from_line(line)
            assert entry is not None, line
            found.append(entry)
    return found
