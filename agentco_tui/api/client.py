"""One method for each operation of the platform; every one raises ApiError."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from copy import copy
from datetime import date
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from urllib.parse import quote

import msgspec

from agentco_tui.api import errors
from agentco_tui.api.arguments_check import (
    check_attempt_id,
    check_callable,
    check_count,
    check_days,
    check_id,
    check_limit,
    check_optional_id,
    check_optional_text,
    check_text,
    check_type,
)
from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError, KeyInUse
from agentco_tui.api.error_messages import KEY_SOURCE, error_for, failed_inside, unusable
from agentco_tui.api.fetcher import Fetcher
from agentco_tui.model import (
    Activity,
    Agent,
    Alert,
    Budget,
    BudgetOverview,
    Company,
    Listing,
    Receipt,
    Record,
    Task,
    Trace,
)
from agentco_tui.reading.decode import read_one
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import BodyError, looks_like_html, parse_json
from agentco_tui.reading.kinds.activity import ACTIVITY
from agentco_tui.reading.kinds.agent import AGENTS
from agentco_tui.reading.kinds.alert import ALERTS
from agentco_tui.reading.kinds.budget import AGENT_BUDGETS, COMPANY_BUDGETS
from agentco_tui.reading.kinds.budget_overview import read_overview
from agentco_tui.reading.kinds.company import COMPANIES
from agentco_tui.reading.kinds.task import TASKS
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping
from agentco_tui.reading.schema import DecodeContext, Kind, Row
from agentco_tui.reading.write_response import read_write_response

if TYPE_CHECKING:
    from agentco_tui.api.transport import Limits, WhyWithheld

__all__ = ["Client", "open_client"]

R = TypeVar("R", bound=Record)

_ACCEPTED: Final[Mapping[str, str]] = {"csv": "text/csv", "json": "application/json"}


class Client(Fetcher):
    """The platform as methods. Use it with `async with`, in one event loop.

    Arguments are checked before anything is sent: WrongArgumentType is a TypeError, WrongArgument a
    ValueError, and both are an ApiError.
    """

    read_only = False
    """True: every write raises NotSent."""

    def for_decisions(self) -> Client:
        """With connections of its own: a decision waits for no other request."""
        other = copy(self)
        other.transport, other.prefetch = self.transport.for_decisions(), None
        return other

    def connect_ahead(self) -> None:
        """As `Transport.connect_ahead`, for a write that comes soon."""
        self.transport.connect_ahead()

    async def aclose(self) -> None:
        """Close all connections."""
        await self.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def companies(self) -> Listing[Company]:
        """GET /api/companies."""
        return await self._listing(COMPANIES, "/api/companies")

    async def company(self, company_id: str) -> Company:
        """GET /api/companies/:id."""
        return await self._one(COMPANIES, "/api/companies", check_id(company_id, "company_id"))

    async def create_company(
        self,
        name: str,
        template: str | None = None,
        mission: str | None = None,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Company]:
        """POST /api/companies. `attempt_id`, here and below, goes out as Idempotency-Key; what is
        None is left out. `why_withheld`: as in `Transport.request`.
        """
        fields = {
            "name": check_text(name, "name"),
            "template": check_optional_text(template, "template"),
            "mission": check_optional_text(mission, "mission"),
        }
        return await self._write(COMPANIES, "/api/companies", fields, attempt_id, why_withheld)

    async def clone_company(
        self,
        company_id: str,
        name: str,
        mission: str | None = None,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Company]:
        """POST /api/companies/:id/clone. Raises as `approve_task`."""
        path = self._path("/api/companies", check_id(company_id, "company_id"), "/clone")
        self._check_writable(path, company=company_id)
        fields = {
            "name": check_text(name, "name"),
            "mission": check_optional_text(mission, "mission"),
        }
        return await self._write(COMPANIES, path, fields, attempt_id, why_withheld)

    async def agents(self, company_id: str | None = None) -> Listing[Agent]:
        """GET /api/agents."""
        filters = {"company_id": check_optional_id(company_id, "company_id")}
        return await self._listing(AGENTS, "/api/agents", filters)

    async def agent(self, agent_id: str) -> Agent:
        """GET /api/agents/:id."""
        return await self._one(AGENTS, "/api/agents", check_id(agent_id, "agent_id"))

    async def tasks(
        self,
        company_id: str | None = None,
        status: str | None = None,
        *,
        begins: Callable[[Sequence[Task]], None] | None = None,
    ) -> Listing[Task]:
        """GET /api/tasks. `begins` gets the first rows of a list that is long and new."""
        check_callable(begins, "begins")
        filters = {
            "company_id": check_optional_id(company_id, "company_id"),
            "status": None if status is None else check_text(status, "status"),
        }
        return await self._listing(TASKS, "/api/tasks", filters, begins=begins)

    async def create_task(
        self,
        company_id: str,
        title: str,
        agent_id: str,
        priority: str,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Task]:
        """POST /api/tasks. Raises as `approve_task`."""
        fields = {
            "company_id": check_id(company_id, "company_id"),
            "title": check_text(title, "title"),
            "agent_id": check_id(agent_id, "agent_id"),
            "priority": check_text(priority, "priority"),
        }
        self._check_writable("/api/tasks", company=company_id, agent=agent_id)
        return await self._write(TASKS, "/api/tasks", fields, attempt_id, why_withheld)

    async def approve_task(
        self,
        task_id: str,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Task]:
        """POST /api/tasks/:id/approve, without a body; sent once, whatever happens.

        Raises WrongArgument, a ValueError, for an id with a control character in it: it is made up
        (`Record.id`).
        Raises Unwritable if the last listing with a task of this id said that no write may name it
        (`Record.unwritable`). Nothing is sent in either case.
        """
        path = self._path("/api/tasks", check_id(task_id, "task_id"), "/approve")
        self._check_writable(path, task=task_id)
        return await self._write(TASKS, path, None, attempt_id, why_withheld)

    async def task_trace(self, task_id: str) -> Trace:
        """GET /api/tasks/:id/trace."""
        # A quarter of a megabyte that most hours of a day need nothing of.
        from agentco_tui.reading.trace_layout import read_trace  # noqa: PLC0415

        path = self._path("/api/tasks", check_id(task_id, "task_id"), "/trace")
        return await self._read(await self.transport.request("GET", path), read_trace)

    async def activity(
        self,
        company_id: str | None = None,
        agent_id: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        limit: int | None = None,
        *,
        once: bool = False,
    ) -> Listing[Activity]:
        """GET /api/activity, with any filters; no page is followed once `limit` entries came.

        `once`: the question won't be put again, so that its answer need not be kept.
        """
        first_day, last_day = check_days(from_date, to_date)
        limit = check_count(limit, "limit")
        filters = {
            "company_id": check_optional_id(company_id, "company_id"),
            "agent_id": check_optional_id(agent_id, "agent_id"),
            "from": None if first_day is None else first_day.isoformat(),
            "to": None if last_day is None else last_day.isoformat(),
            "limit": None if limit is None else str(limit),
        }
        return await self._listing(ACTIVITY, "/api/activity", filters, at_most=limit, once=once)

    @asynccontextmanager
    async def export_activity(
        self, file_format: str = "csv", *, cap: int | None = None
    ) -> AsyncIterator[AsyncGenerator[bytes]]:
        """GET /api/activity/export, as it comes: `async with … as chunks: async for chunk in …`.

        Nothing is handed out before it is known to be no web page and no error in JSON. There is
        no time limit for the whole, one of `Limits.read` between arrivals. `cap` is in bytes.
        """
        check_text(file_format, "file_format")
        check_count(cap, "cap")
        accepted = _ACCEPTED.get(file_format)
        async with self.transport.stream(
            "/api/activity/export",
            params=[("format", file_format)],
            accept=f"{accepted}, */*;q=0.5" if accepted else "*/*",
            cap=cap,
        ) as (reply, coming):
            first = b""
            while len(first) < 1024 and (chunk := await anext(coming, None)) is not None:
                first += chunk
            # A sign-in page or an error in JSON may come with a 200 and under any content type.
            asked, status = reply.asked, reply.status
            kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
            if "html" in kind or looks_like_html(first):
                raise unusable(errors.WebPage, asked, status)
            begins = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
            is_json = begins in (b"{", b"[") or (begins and kind.endswith("json"))
            if is_json and file_format != "json":
                found: Json = None
                with suppress(BodyError):
                    found = parse_json(first)
                if says_failed(found) or (isinstance(found, dict) and "error" in found):
                    raise failed_inside(asked, status, error_in(found))
                raise unusable(
                    errors.Unreadable, asked, status, f"JSON where {file_format} was due"
                )

            async def whole() -> AsyncGenerator[bytes]:
                if first:
                    yield first
                async for chunk in coming:
                    yield chunk

            async with aclosing(whole()) as chunks:
                yield chunks

    async def budget(self) -> BudgetOverview:
        """GET /api/budget."""
        reply = await self.transport.request("GET", "/api/budget")
        overview = await self._read(reply, partial(read_overview, mapping=self.mapping))
        digest = blake2b(reply.body, digest_size=16).digest()
        return msgspec.structs.replace(overview, digest=digest)

    async def company_budgets(self) -> Listing[Budget]:
        """GET /api/budget/companies."""
        return await self._listing(COMPANY_BUDGETS, "/api/budget/companies")

    async def agent_budgets(self, company_id: str | None = None) -> Listing[Budget]:
        """GET /api/budget/agents."""
        filters = {"company_id": check_optional_id(company_id, "company_id")}
        return await self._listing(AGENT_BUDGETS, "/api/budget/agents", filters)

    async def set_agent_limit(
        self,
        agent_id: str,
        monthly_limit: Decimal | int,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Budget]:
        """POST /api/budget/agents/:id. `monthly_limit`, in whole units, goes out as a JSON
        number, digit for digit, in the unit that the profile tells of sums. Raises as
        `approve_task`.
        """
        path = self._path("/api/budget/agents", check_id(agent_id, "agent_id"))
        amount = check_limit(monthly_limit, "monthly_limit")
        self._check_writable(path, agent_budget=agent_id, agent=agent_id)
        number = msgspec.Raw(f"{self.mapping.amount_sent(amount):f}".encode())
        return await self._write(
            AGENT_BUDGETS, path, {"monthly_limit": number}, attempt_id, why_withheld
        )

    async def budget_alerts(self) -> Listing[Alert]:
        """GET /api/budget/alerts."""
        return await self._listing(ALERTS, "/api/budget/alerts")

    async def as_sent(
        self, kind: Kind[Any], path: str, filters: Mapping[str, str], sent_id: str
    ) -> Mapping[str, Json]:
        """The object that a record is read from, in a list asked for now; {} if it isn't there. The
        key is masked in it, and no other secret.
        """
        found, kind = dict[str, Mapping[str, Json]](), copy(self.mapping.kind(kind))
        build, other = kind.build, copy(self)

        def keep(row: Row, context: DecodeContext) -> Any:
            record = build(row, context)
            found[record.id] = row.obj
            return record

        # With nothing remembered each row is read, by this kind as it is.
        kind.build, other.mapping, other.prefetch, other._last = keep, AS_SENT, None, {}
        await other._listing(kind, path, filters, once=True)
        return found.get(sent_id, {})

    async def _one(self, kind: Kind[R], collection: str, identifier: str) -> R:
        path = self._path(collection, identifier)
        read = partial(read_one, self.mapping.kind(kind), wanted_id=identifier)
        return await self._read(await self.transport.request("GET", path), read)

    async def _write(
        self,
        kind: Kind[R],
        path: str,
        fields: Mapping[str, str | msgspec.Raw | None] | None,
        attempt: str | None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[R]:
        """Send `fields` as JSON, or no body, and read the receipt."""
        attempt = check_attempt_id(attempt)
        check_callable(why_withheld, "why_withheld")
        if self.read_only:
            words = "the client is read-only: nothing was sent"
            raise error_for(errors.NotSent, words, self.transport.asked("POST", path))
        body: bytes | None = None
        if fields is not None:
            given = {name: value for name, value in fields.items() if value is not None}
            body = msgspec.json.encode(given)
        headers = () if attempt is None else (("Idempotency-Key", attempt),)
        reply = await self.transport.request(
            "POST", path, json_body=body, headers=headers, why_withheld=why_withheld
        )
        read = partial(read_write_response, self.mapping.kind(kind), http_status=reply.status)
        return await self._read(reply, read)

    def _check_writable(self, path: str, **ids: str) -> None:
        """Raise before anything is sent if a write names what it may not; `ids` by kind."""
        for kind, record_id in ids.items():
            record = self._last_listed(kind, record_id)
            if record is not None and record.unwritable is not None:
                asked = self.transport.asked("POST", path)
                words = f"nothing was sent: {record.unwritable}"
                raise error_for(errors.Unwritable, words, asked)

    def _last_listed(self, kind: str, record_id: str) -> Record | None:
        """The record with this id in the newest listing of that kind that has one, as sent."""
        for (name, *_), last in reversed(self._last.items()):
            records: Sequence[Record] = last.listing.records if name == kind else ()
            for record in records:
                if record.id == record_id:
                    return record
        return None

    @staticmethod
    def _path(collection: str, identifier: str, rest: str = "") -> str:
        """A path with an identifier as exactly one segment of it.

        The dots of "." and ".." are encoded, too: clients and proxies would take them away.
        """
        segment = quote(identifier, safe="")
        if identifier in (".", ".."):
            segment = identifier.replace(".", "%2E")
        return f"{collection}/{segment}{rest}"


def open_client(
    base_url: BaseUrl,
    key: ApiKey | KeyInUse | None,
    *,
    ca_file: Path | None = None,
    trust_env: bool = False,
    key_source: str = "",
    attempts: int = 3,
    limits: Limits | None = None,
    page_cap: int = 200,
    record_cap: int = 200_000,
    mapping: ProfileMapping | None = None,
    **options: Any,
) -> Client:
    """A client with a transport of its own; close it, or use it with `async with`.

    `mapping`: what a profile tells of the platform's own names, units and words. `options` are
    further ones of the Transport.
    `attempts`: how often a failed read is sent at most; 1 for who has a back-off of their own.
    Imports httpx, which takes 50 to 110 ms the first time. Raises CredentialError for no key, and
    for a host, a `ca_file` or a proxy setting that cannot be used.
    """
    # Here and not above: what only asks for the settings need not wait for it.
    from agentco_tui.api.transport import Transport  # noqa: PLC0415

    check_type(base_url, BaseUrl, "base_url", "a BaseUrl (BaseUrl.parse makes one of a text)")
    check_type(key, (ApiKey, KeyInUse, NoneType), "key", "an ApiKey (ApiKey.parse makes one)")
    check_type(mapping, (ProfileMapping, NoneType), "mapping", "a ProfileMapping or None")
    for count, name in ((attempts, "attempts"), (page_cap, "page_cap"), (record_cap, "record_cap")):
        check_type(count, int, name, "an int")
        check_count(count, name)
    if key is None:
        raise CredentialError(f"there is no API key: set {KEY_SOURCE}")
    transport = Transport(
        base_url,
        key,
        ca_file=ca_file,
        trust_env=trust_env,
        limits=limits,
        attempts=attempts,
        **options,
        key_source=key_source,
    )
    return Client(transport, page_cap=page_cap, record_cap=record_cap, mapping=mapping or AS_SENT)
