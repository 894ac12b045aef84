"""A desk on an embedded platform over real HTTP, with waits so short that tests don't wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agentco_tui.actions.approve import Approver
from agentco_tui.actions.desk import Desk
from agentco_tui.actions.journal import Journal
from agentco_tui.actions.journal_entries import Attempt, Settled, from_line
from agentco_tui.actions.pen import Context
from agentco_tui.actions.rights import Rights
from agentco_tui.actions.waits import Waits
from agentco_tui.api.client import Client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.timing import RetryPolicy
from agentco_tui.api.transport import Limits, Transport
from agentco_tui.demo.front import Seen
from agentco_tui.demo.server import EmbeddedPlatform
from agentco_tui.live.clock import SystemClock
from agentco_tui.live.poller import Poller
from agentco_tui.live.store import Store
from agentco_tui.model.records import Task
from tests.actions.waits import QUICK

BRIEF = Limits(read=1.0, total=1.5)
"""For a fault that keeps an answer back: short for a person, long for a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """A desk, what it stands on, and what the platform saw of it."""

    platform: EmbeddedPlatform
    desk: Desk
    journal: Journal
    approver: Approver

    async def pending(self) -> list[Task]:
        """What a person is shown."""
        listing = await self.desk.client.tasks(status="pending")
        self.desk.store.pending.replace(listing)
        return list(listing.records)

    def sends(self, task_id: str | None = None) -> list[Seen]:
        """The approvals that reached the platform."""
        return [
            seen
            for seen in self.platform.requests.matching("approve")
            if task_id is None or seen.path == f"/api/tasks/{task_id}/approve"
        ]


@asynccontextmanager
async def office(
    platform: EmbeddedPlatform,
    journal_path: Path,
    *,
    key: str | None = None,
    waits: Waits = QUICK,
    limits: Limits | None = None,
    rights: Rights | None = None,
    company: str | None = None,
    poller: bool = False,
) -> AsyncIterator[Office]:
    """Open a desk for a platform; with a poller that is not running unless the test runs it."""
    transport = Transport(
        BaseUrl.parse(platform.base_url),
        ApiKey.parse(key or platform.full_key),
        limits=limits,
        retry=RetryPolicy(attempts=1),
    )
    journal = Journal(journal_path)
    store = Store()
    clock = SystemClock(lambda: transport.measured.clock_skew)
    client = Client(transport)
    desk = Desk.at(
        client,
        store,
        clock,
        journal,
        Context(origin=platform.base_url, profile="test"),
        poller=Poller(client, store, clock) if poller else None,
        company=company,
        rights=rights,
        waits=waits,
    )
    try:
        yield Office(platform=platform, desk=desk, journal=journal, approver=Approver(desk))
    finally:
        await desk.close()
        journal.close()
        await transport.aclose()


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
