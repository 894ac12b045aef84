"""Asks every read operation of the interface once, one after the other, and notes how it went."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from agentco_tui.api.client import Client
from agentco_tui.api.errors import ApiError
from agentco_tui.commands.asking import of_company_or_all
from agentco_tui.model.records import BudgetOverview, Listing, Record, Trace
from agentco_tui.text import SafeText, plain

WRITES = (
    "POST /api/companies",
    "POST /api/companies/:id/clone",
    "POST /api/tasks",
    "POST /api/tasks/:id/approve",
    "POST /api/budget/agents/:id",
)
"""Never tried here: trying one would change something."""


@dataclass(frozen=True, kw_only=True)
class Read:
    """How one operation went."""

    operation: str
    """Method and path as INTERFACE 4 has them."""
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


class Reads:
    """The operations in an order in which each finds the ids it needs."""

    def __init__(self, client: Client, company: str | None) -> None:
        self._client = client
        self._company = company
        self._first: dict[str, str] = {}

    async def all(self) -> AsyncIterator[Read]:
        """Ask each operation, and hand out how it went as soon as that is known."""
        client, company = self._client, self._company
        yield await self._listing("GET /api/companies", client.companies, "company")
        yield await self._one("GET /api/companies/:id", "company", client.company)
        yield await self._listing(
            "GET /api/agents",
            lambda: of_company_or_all(client.agents, company, client.companies),
            "agent",
        )
        yield await self._one("GET /api/agents/:id", "agent", client.agent)
        yield await self._listing(
            "GET /api/tasks", lambda: client.tasks(company_id=company), "task"
        )
        yield await self._one("GET /api/tasks/:id/trace", "task", client.task_trace)
        yield await self._listing(
            "GET /api/activity", lambda: client.activity(company_id=company, limit=100)
        )
        yield await self._ask("GET /api/activity/export", self._export)
        yield await self._ask("GET /api/budget", client.budget)
        yield await self._listing("GET /api/budget/companies", client.company_budgets)
        yield await self._listing(
            "GET /api/budget/agents",
            lambda: of_company_or_all(client.agent_budgets, company, client.companies),
        )
        yield await self._listing("GET /api/budget/alerts", client.budget_alerts)

    async def _listing(
        self,
        operation: str,
        question: Callable[[], Awaitable[Listing[Any]]],
        remember: str | None = None,
    ) -> Read:
        def note(records: Sequence[Record]) -> None:
            if remember and records:
                self._first[remember] = records[0].id

        return await self._ask(operation, question, note)

    async def _one(
        self, operation: str, kind: str, question: Callable[[str], Awaitable[object]]
    ) -> Read:
        wanted = self._company if kind == "company" else None
        record_id = wanted or self._first.get(kind)
        if record_id is None:
            text = plain(f"not asked: no {kind} is known")
            return Read(operation=operation, asked=False, note=text)
        return await self._ask(operation, lambda: question(record_id))

    async def _ask(
        self,
        operation: str,
        question: Callable[[], Awaitable[object]],
        note: Callable[[Sequence[Record]], None] = lambda _records: None,
    ) -> Read:
        began = time.monotonic()
        try:
            answer = await question()
        except ApiError as error:
            return Read(operation=operation, seconds=time.monotonic() - began, error=error)
        seconds = time.monotonic() - began
        match answer:
            case Listing():
                note(answer.records)
                return Read(
                    operation=operation,
                    seconds=seconds,
                    shape=answer.shape,
                    records=len(answer.records),
                    unread=answer.unread,
                    pages=answer.pages,
                    capped=answer.capped,
                )
            case Trace():
                return Read(
                    operation=operation,
                    seconds=seconds,
                    shape=answer.shape,
                    records=len(answer.steps),
                    unread=answer.unread,
                )
            case BudgetOverview():
                return Read(operation=operation, seconds=seconds, shape=answer.shape, records=1)
            case str():
                return Read(operation=operation, seconds=seconds, note=plain(answer))
        return Read(operation=operation, seconds=seconds, records=1)

    async def _export(self) -> str:
        """Open the export and read its beginning: it may be as long as the platform is old."""
        async with self._client.export_activity("csv") as chunks, aclosing(chunks):
            async for chunk in chunks:
                if chunk:
                    return "it begins; the rest was not read"
        return "it is empty"
