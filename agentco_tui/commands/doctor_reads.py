"""Sends each read request of the API once, for `agentco-tui doctor` and `login`, and reports on it.

`login` tries a new key with it, with a time limit for each answer. The platform is the service that
answers. A `Listing` is its answer to a list request, and a `Trace` has the steps in which an AI
agent worked on a task. A feed is one list that the dashboard polls; `Store` and `Query` are only
what `fetch` needs to read one. `figures` formats numbers and times.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentco_tui.api.errors import ApiError, Broken, KeyRejected, TimedOut, Unreachable
from agentco_tui.commands.command_context import connected_client
from agentco_tui.commands.held_lines import HeldLines
from agentco_tui.config import Settings
from agentco_tui.live.feeds import ActivityFilter, FeedName, Query
from agentco_tui.live.fetch import fetch, of_all_companies
from agentco_tui.live.log_reader import LogReader
from agentco_tui.live.store import Store
from agentco_tui.model import Activity, Listing, Trace
from agentco_tui.model import format as figures
from agentco_tui.text import SafeText, mark_safe, signs
from agentco_tui.workspace.named_records import company_id_or_words

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Capabilities, Operation
    from agentco_tui.api.measurements import Measurements
    from agentco_tui.api.platform import Platform
    from agentco_tui.api.recorder import Recorder

_LOG_ENTRIES: Final = 100
"""Entries of the activity log to request."""
Request = Callable[[str], Awaitable[object]]
"""Sends a request about the record with the id that it gets; "" for a request without an id."""


class ReadResult(NamedTuple):
    """The result of one read request."""

    operation: str
    """The request, as the platform's own documentation has it."""
    note: SafeText | None
    """Why the request was not sent; None if it was."""
    seconds: float | None
    """Until all pages of the answer had arrived."""
    facts: Mapping[str, Any]
    """What the answer consists of, as `_answer_facts` returns it."""
    error: ApiError | None

    @property
    def answered(self) -> bool:
        return self.note is None and self.error is None


class Examination(NamedTuple):
    """What is known of a platform once each read request was sent."""

    reads: list[ReadResult]
    measured: Measurements
    """The latency and the clock skew of the connection."""
    log_lacks: list[SafeText]
    """The limitations of the activity log."""
    capabilities: Capabilities
    """What the platform offers."""
    has_key: bool
    """Whether a key was sent; one that needs none is asked without."""
    why_read_only: SafeText | None
    """Why the key may change nothing; None if it may, or if the platform does not say it."""


class _Operation(NamedTuple):
    """A read operation of the API, and how it is sent."""

    name: Operation
    request: Request | None  # None if doctor never sends it
    kind: str = ""  # of the records in the answer, or of the record that is asked for
    needs_id: bool = False


async def examine_reads(
    settings: Settings,
    recorder: Recorder | None,
    *,
    as_lines: bool,
    answer_within: float | None = None,
) -> Examination:
    """Send every read request once; with `as_lines`, print a line about each.

    A request about one record is about the first of the list that was read
    before. `answer_within` is the time limit of each request in seconds: after the first that takes
    longer, no other is sent.
    """
    async with connected_client(settings) as client:
        client.transport.recorder = recorder
        company: str | None = None
        # A recorder writes the bundle of `doctor --bundle`, a recording for a bug report.
        # A bundle is of all companies, because it replaces their ids.
        if recorder is None:
            company = await company_id_or_words(settings, client)
        examiner = _Examiner(client, company, answer_within)
        await examiner.run(as_lines=as_lines)
        # `try_days` reads an earlier day of the activity log, to learn its limitations.
        log_reader = LogReader(client)
        if not examiner.is_cut_short:
            with suppress(ApiError, TimeoutError):
                async with asyncio.timeout(answer_within):
                    await log_reader.try_days(
                        ActivityFilter(company=company), examiner.log, _LOG_ENTRIES
                    )
        is_answered = any(read.answered for read in examiner.reads)
        why_read_only: SafeText | None = None
        if is_answered:
            with suppress(ApiError, TimeoutError):
                async with asyncio.timeout(answer_within):
                    why_read_only = await client.why_read_only()
        if recorder is not None and is_answered:
            await _send_dashboard_reads(client)
        return Examination(
            examiner.reads,
            client.transport.measured,
            log_reader.limitations(),
            client.capabilities,
            has_key=settings.key is not None,
            why_read_only=why_read_only,
        )


async def _send_dashboard_reads(client: Platform) -> None:
    """Send the dashboard's requests, so that the recording can be shown on the dashboard."""
    for feed in FeedName:
        with suppress(ApiError):
            await fetch(feed, client, Store(), Query())


class _Examiner:
    """Sends the read requests one after the other, and holds the results."""

    def __init__(self, client: Platform, company: str | None, answer_within: float | None) -> None:
        self.reads: list[ReadResult] = []
        self.log: Listing[Activity] = Listing(records=())
        self.is_cut_short = False
        """Whether the platform is too slow for more requests."""
        self._client = client
        self._company = company
        self._answer_within = answer_within
        self._id_by_kind: dict[str, str | None] = {}
        if company is not None:
            self._id_by_kind["company"] = company

    async def run(self, *, as_lines: bool) -> None:
        """Send the requests in turn; stop if the rest would fail for the same reason."""
        lines = HeldLines()
        try:
            for operation in self._operations():
                read = await self._read(operation)
                self.reads.append(read)
                if as_lines:
                    lines.add(read.error, partial(_result_lines, read))
                if self._is_last(read):
                    return
        finally:
            lines.print_all()

    def _is_last(self, read: ReadResult) -> bool:
        """Whether no more requests are to be sent after this one."""
        if isinstance(read.error, Unreachable | KeyRejected):
            return True
        if self._answer_within is not None and isinstance(read.error, TimedOut | Broken):
            self.is_cut_short = True
        return self.is_cut_short

    def _operations(self) -> tuple[_Operation, ...]:
        client = self._client
        company = self._company

        # Some platforms list the agents of one company only: then each company's list is read.
        def of_all(read: Callable[[str | None], Awaitable[Listing[object]]]) -> Request:
            return lambda _: of_all_companies(read, Store(), company, client.companies)  # type: ignore[type-var]

        def activity(_: str) -> Awaitable[object]:
            return client.activity(company_id=company, limit=_LOG_ENTRIES)

        return (
            _Operation("companies", lambda _: client.companies(), "company"),
            _Operation("company", client.company, "company", needs_id=True),
            _Operation("agents", of_all(client.agents), "agent"),  # type: ignore[arg-type]
            _Operation("agent", client.agent, "agent", needs_id=True),
            _Operation("tasks", lambda _: client.tasks(company_id=company), "task"),
            _Operation("task_trace", client.task_trace, "task", needs_id=True),
            _Operation("activity", activity, "log"),
            _Operation("export_activity", None),
            _Operation("budget", lambda _: client.budget()),
            _Operation("company_budgets", lambda _: client.company_budgets()),
            _Operation("agent_budgets", of_all(client.agent_budgets)),  # type: ignore[arg-type]
            _Operation("budget_alerts", lambda _: client.budget_alerts()),
        )

    async def _read(self, operation: _Operation) -> ReadResult:
        """Send one request and time it; returns a note if it can't or must not be sent."""
        capabilities = self._client.capabilities
        name = capabilities.requests.get(operation.name, operation.name)
        record_id = self._id_by_kind.get(operation.kind)
        not_offered = capabilities.why_not(operation.name)
        if not_offered is not None:
            note = mark_safe(f"not sent: {not_offered}")
            return ReadResult(name, note, None, _answer_facts(None), None)
        if operation.request is None:
            note = mark_safe("not sent: some platforms log who exports")
            return ReadResult(name, note, None, _answer_facts(None), None)
        if operation.needs_id and record_id is None:
            note = mark_safe(f"not sent: no {operation.kind} is known")
            return ReadResult(name, note, None, _answer_facts(None), None)
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
            failure = TimedOut(mark_safe(words), path=capabilities.path(operation.name))
        seconds = time.monotonic() - began
        if isinstance(answer, Listing):
            self._remember(operation.kind, answer)
        return ReadResult(name, None, seconds, _answer_facts(answer), failure)

    def _remember(self, kind: str, listing: Listing[Any]) -> None:
        """Remember the log, or the id of a list's first record for the request about one record."""
        if kind == "log":
            self.log = listing
        elif listing.records:
            self._id_by_kind.setdefault(kind, listing.records[0].id)


def _answer_facts(answer: object) -> dict[str, Any]:
    """The shape of an answer, and how many records and pages it has; None for what it lacks.

    The shape says where in the answer the records are: "data.tasks[]". `unread` counts records that
    could not be read; `capped` says that there are more than we read.
    """
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


def _result_lines(read: ReadResult) -> list[str]:
    return [result_line(read)]


def result_line(read: ReadResult) -> str:
    """A line about the result of a request, for the user."""
    name = f"{read.operation:<29}"
    if read.note is not None:
        return f"{signs.unknown} {name} {read.note}"
    seconds = f"{figures.duration(read.seconds):>8}"
    if read.error is not None:
        return f"{signs.critical} {name} {seconds}  {read.error}"
    facts = read.facts
    records = facts["records"]
    unread = facts["unread"]
    words = ["1 record" if records == 1 else f"{figures.count(records)} records"]
    if facts["pages"] > 1:
        words.append(f"{facts['pages']} pages")
    if facts["capped"]:
        words.append("there are more than were read")
    if facts["shape"]:
        words.append(f"shape {facts['shape']}")
    if unread:
        words.append(f"{figures.count(unread)} could not be read")
    mark = signs.warning if unread else signs.good
    return f"{mark} {name} {seconds}  {', '.join(words)}"
