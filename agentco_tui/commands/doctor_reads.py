"""The reads of `agentco-tui doctor`: each read operation once, and how it went."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentco_tui.api.errors import ApiError, Broken, KeyRejected, TimedOut, Unreachable
from agentco_tui.commands.command_output import say
from agentco_tui.commands.running import connected
from agentco_tui.config import Settings
from agentco_tui.live.feeds import ActivityFilter, FeedName, Query
from agentco_tui.live.fetch import fetch, of_all_companies
from agentco_tui.live.log_reader import LogReader
from agentco_tui.live.store import Store
from agentco_tui.model import Activity, Listing, Trace
from agentco_tui.model import format as figures
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.workspace.named_records import company_id_or_words

if TYPE_CHECKING:
    from agentco_tui.api.client import Client
    from agentco_tui.api.measurements import Measurements
    from agentco_tui.api.recorder import Recorder

_LOG_ENTRIES: Final = 100
"""Entries of the activity log to request."""
Request = Callable[[str], Awaitable[object]]
"""Sends a request about the record with an id; "" for a request without one."""


class ReadResult(NamedTuple):
    """How one operation went."""

    operation: str  # method and path
    note: SafeText | None  # why it was not sent; None if it was
    seconds: float | None  # until the answer with all its pages was complete
    seen: Mapping[str, Any]
    error: ApiError | None

    @property
    def answered(self) -> bool:
        return self.note is None and self.error is None


class _Operation(NamedTuple):
    path: str
    request: Request | None  # None if doctor never sends it
    kind: str = ""  # of the records in the answer, or of the record with the id in the path

    @property
    def needs_id(self) -> bool:
        return "/:id" in self.path


async def examine(
    settings: Settings,
    recorder: Recorder | None,
    *,
    as_lines: bool,
    answer_within: float | None = None,
) -> tuple[list[ReadResult], Measurements, list[SafeText]]:
    """Send every read request once, and print a line for each with `as_lines`.

    Returns the results, what the connection measured, and the limitations of the activity log. A
    read about one record takes the first record of the list that was read before. `answer_within`
    limits the seconds of each read; after the first that takes longer no other is sent.
    """
    async with connected(settings) as client:
        client.transport.recorder = recorder
        company: str | None = None
        # A bundle covers all companies, because it replaces their ids.
        if recorder is None:
            company = await company_id_or_words(settings, client)
        examination = _Examination(client, company, answer_within)
        await examination.run(as_lines=as_lines)
        log_reader = LogReader(client)
        if not examination.is_cut_short:
            with suppress(ApiError, TimeoutError):
                async with asyncio.timeout(answer_within):
                    await log_reader.try_days(
                        ActivityFilter(company=company), examination.log, _LOG_ENTRIES
                    )
        if recorder is not None and any(read.answered for read in examination.reads):
            await _record_dashboard_reads(client)
        return examination.reads, client.transport.measured, log_reader.told()


async def _record_dashboard_reads(client: Client) -> None:
    """Send the requests of the dashboard, so that a replay of the bundle can show its screens."""
    for feed in FeedName:
        with suppress(ApiError):
            await fetch(feed, client, Store(), Query())


class _Examination:
    """Sends the read requests in turn, and keeps the results."""

    def __init__(self, client: Client, company: str | None, answer_within: float | None) -> None:
        self.reads: list[ReadResult] = []
        self.log: Listing[Activity] = Listing(records=())
        self.is_cut_short = False  # whether the platform is too slow for more requests
        self._client = client
        self._company = company
        self._answer_within = answer_within
        self._id_by_kind: dict[str, str | None] = {}
        if company is not None:
            self._id_by_kind["company"] = company

    async def run(self, *, as_lines: bool) -> None:
        """Send the requests in turn; stop if the rest would fail for the same reason."""
        for operation in self._operations():
            read = await self._read(operation)
            self.reads.append(read)
            if as_lines:
                say(read_line(read))
            if isinstance(read.error, Unreachable | KeyRejected):
                return
            if self._answer_within is not None and isinstance(read.error, TimedOut | Broken):
                self.is_cut_short = True
                return

    def _operations(self) -> tuple[_Operation, ...]:
        client = self._client
        company = self._company

        def of_all(read: Callable[[str | None], Awaitable[Listing[object]]]) -> Request:
            return lambda _: of_all_companies(read, Store(), company, client.companies)  # type: ignore[type-var]

        def activity(_: str) -> Awaitable[object]:
            return client.activity(company_id=company, limit=_LOG_ENTRIES)

        return (
            _Operation("/companies", lambda _: client.companies(), "company"),
            _Operation("/companies/:id", client.company, "company"),
            _Operation("/agents", of_all(client.agents), "agent"),  # type: ignore[arg-type]
            _Operation("/agents/:id", client.agent, "agent"),
            _Operation("/tasks", lambda _: client.tasks(company_id=company), "task"),
            _Operation("/tasks/:id/trace", client.task_trace, "task"),
            _Operation("/activity", activity, "log"),
            _Operation("/activity/export", None),
            _Operation("/budget", lambda _: client.budget()),
            _Operation("/budget/companies", lambda _: client.company_budgets()),
            _Operation("/budget/agents", of_all(client.agent_budgets)),  # type: ignore[arg-type]
            _Operation("/budget/alerts", lambda _: client.budget_alerts()),
        )

    async def _read(self, operation: _Operation) -> ReadResult:
        """Send one request and time it; a note instead if it is never sent or has no id."""
        name = f"GET /api{operation.path}"
        record_id = self._id_by_kind.get(operation.kind)
        if operation.request is None:
            note = plain("not asked: some platforms log who exports")
            return ReadResult(name, note, None, _seen(None), None)
        if operation.needs_id and record_id is None:
            note = plain(f"not asked: no {operation.kind} is known")
            return ReadResult(name, note, None, _seen(None), None)
        answer: object = None
        failure: ApiError | None = None
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._answer_within):
                answer = await operation.request(record_id or "")
        except ApiError as error:
            failure = error
        except TimeoutError:
            words = f"no complete answer within {self._answer_within:g} s: it is silent or too slow"
            failure = TimedOut(plain(words), path=f"/api{operation.path}")
        seconds = time.monotonic() - began
        if isinstance(answer, Listing):
            self._keep(operation.kind, answer)
        return ReadResult(name, None, seconds, _seen(answer), failure)

    def _keep(self, kind: str, listing: Listing[Any]) -> None:
        """Keep the log, or the id of a list's first record for the read of a single one."""
        if kind == "log":
            self.log = listing
        elif listing.records:
            self._id_by_kind.setdefault(kind, listing.records[0].id)


def _seen(answer: object) -> dict[str, Any]:
    """What an answer consists of; None is what it does not have."""
    records: int | None = 1
    if answer is None:
        records = None
    elif isinstance(answer, Listing):
        records = len(answer.records)
    elif isinstance(answer, Trace):
        records = len(answer.steps)
    return {
        "shape": getattr(answer, "shape", None),
        "records": records,
        "unread": getattr(answer, "unread", 0),
        "pages": getattr(answer, "pages", 1),
        "capped": getattr(answer, "capped", False),
    }


def read_line(read: ReadResult) -> str:
    """A line that says how a read went."""
    name = f"{read.operation:<29}"
    if read.note is not None:
        return f"{signs.unknown} {name} {read.note}"
    seconds = f"{figures.duration(read.seconds):>8}"
    if read.error is not None:
        return f"{signs.critical} {name} {seconds}  {read.error}"
    records = read.seen["records"]
    unread = read.seen["unread"]
    facts = ["1 record" if records == 1 else f"{figures.count(records)} records"]
    if read.seen["pages"] > 1:
        facts.append(f"{read.seen['pages']} pages")
    if read.seen["capped"]:
        facts.append("cut at the cap: there are more")
    if read.seen["shape"]:
        facts.append(f"shape {read.seen['shape']}")
    if unread:
        facts.append(f"{figures.count(unread)} could not be read")
    mark = signs.warning if unread else signs.good
    return f"{mark} {name} {seconds}  {', '.join(facts)}"
