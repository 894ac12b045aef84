"""Asks every read operation of the interface once, one after the other, and notes how it went."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import NamedTuple

from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError
from agentco_tui.keys import COMMANDS
from agentco_tui.live.poller import of_all_companies
from agentco_tui.live.store import Store
from agentco_tui.model import BudgetOverview, Listing, Trace
from agentco_tui.text import SafeText, plain

WRITES = tuple(
    command.operation
    for command in COMMANDS
    if command.operation is not None and command.operation.startswith("POST ")
)
"""Never tried here: trying one would change something."""

Ask = Callable[[str], Awaitable[object]]
"""Puts a question; takes the id of a record, "" for a question without one."""


class ReadResult(NamedTuple):
    """How one operation went."""

    operation: str
    """Method and path as docs/interface.md has them."""
    asked: bool = True
    """False if there was nothing to ask for, such as a first task."""
    seconds: float | None = None
    """How long the whole answer took, all its pages."""
    shape: str | None = None
    """The envelope that was seen; None where there is none to see."""
    records: int | None = None
    unread: int = 0
    pages: int = 1
    capped: bool = False
    note: SafeText | None = None
    error: ApiError | None = None

    @property
    def answered(self) -> bool:
        """Whether it brought what was asked for."""
        return self.asked and self.error is None


async def all_reads(client: Client, company: str | None) -> AsyncIterator[ReadResult]:
    """Ask each operation, and hand out how it went as soon as that is known.

    Those about one record ask for the first that the list before them brought.
    """
    found: dict[str, str | None] = {}
    if company is not None:
        found["company"] = company

    def of_all(ask: Callable[[str | None], Awaitable[Listing[object]]]) -> Ask:
        return lambda _: of_all_companies(ask, Store(), company, client.companies)  # type: ignore[type-var]

    operations: tuple[tuple[str, Ask, str], ...] = (
        ("/companies", lambda _: client.companies(), "company"),
        ("/companies/:id", client.company, "company"),
        ("/agents", of_all(client.agents), "agent"),  # type: ignore[arg-type]
        ("/agents/:id", client.agent, "agent"),
        ("/tasks", lambda _: client.tasks(company_id=company), "task"),
        ("/tasks/:id/trace", client.task_trace, "task"),
        ("/activity", lambda _: client.activity(company_id=company, limit=100), ""),
        ("/activity/export", lambda _: _beginning_of_export(client), ""),
        ("/budget", lambda _: client.budget(), ""),
        ("/budget/companies", lambda _: client.company_budgets(), ""),
        ("/budget/agents", of_all(client.agent_budgets), ""),  # type: ignore[arg-type]
        ("/budget/alerts", lambda _: client.budget_alerts(), ""),
    )
    for path, ask, kind in operations:
        operation = f"GET /api{path}"
        record_id = found.get(kind)
        if "/:id" in path and record_id is None:
            note = plain(f"not asked: no {kind} is known")
            yield ReadResult(operation, asked=False, note=note)
            continue
        began = time.monotonic()
        try:
            answer = await ask(record_id or "")
        except ApiError as error:
            yield ReadResult(operation, seconds=time.monotonic() - began, error=error)
            continue
        if isinstance(answer, Listing) and answer.records:
            found.setdefault(kind, answer.records[0].id)
        yield _read(operation, time.monotonic() - began, answer)


def _read(operation: str, seconds: float, answer: object) -> ReadResult:
    read = ReadResult(operation, seconds=seconds, records=1)
    match answer:
        case Listing(shape=shape, unread=unread, pages=pages, capped=capped):
            records = len(answer.records)
            return read._replace(
                shape=shape, records=records, unread=unread, pages=pages, capped=capped
            )
        case Trace(shape=shape, unread=unread):
            return read._replace(shape=shape, records=len(answer.steps), unread=unread)
        case BudgetOverview(shape=shape):
            return read._replace(shape=shape)
        case str():
            return read._replace(records=None, note=plain(answer))
    return read


async def _beginning_of_export(client: Client) -> str:
    """Open the export and read its beginning: it may be as long as the platform is old."""
    async with client.export_activity("csv") as chunks, aclosing(chunks):
        async for chunk in chunks:
            if chunk:
                return "it begins; the rest was not read"
    return "it is empty"
