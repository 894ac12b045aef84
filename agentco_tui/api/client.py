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
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from urllib.parse import quote

import msgspec

from agentco_tui.api import errors
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
from agentco_tui.reading.json_body import BodyError, looks_like_html, parse_json
from agentco_tui.reading.kinds.activity import ACTIVITY
from agentco_tui.reading.kinds.agent import AGENTS
from agentco_tui.reading.kinds.alert import ALERTS
from agentco_tui.reading.kinds.budget import AGENT_BUDGETS, COMPANY_BUDGETS, read_overview
from agentco_tui.reading.kinds.company import COMPANIES
from agentco_tui.reading.kinds.task import TASKS
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping
from agentco_tui.reading.schema import Around, Json, Kind, Row
from agentco_tui.reading.write_response import read_write_response

if TYPE_CHECKING:
    from agentco_tui.api.transport import Limits

R = TypeVar("R", bound=Record)

_LONGEST_ID: Final = 2_000
_MOST_DIGITS: Final = 30  # on either side of a limit's point
_ACCEPTED: Final[Mapping[str, str]] = {"csv": "text/csv", "json": "application/json"}


class Client(Fetcher):
    """The platform as methods. Use it with `async with`, in one event loop."""

    def for_decisions(self) -> Client:
        """With connections of its own: a decision waits for no other request."""
        other = copy(self)
        other.transport, other.prefetch = self.transport.for_decisions(), None
        return other

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
        return await self._one(COMPANIES, "/api/companies", company_id)

    async def create_company(
        self,
        name: str,
        template: str | None = None,
        mission: str | None = None,
        *,
        attempt_id: str | None = None,
    ) -> Receipt[Company]:
        """POST /api/companies. `attempt_id`, here and below, goes out as Idempotency-Key; what is
        None is left out.
        """
        fields = {"name": name, "template": template, "mission": mission}
        return await self._write(COMPANIES, "/api/companies", fields, attempt_id)

    async def clone_company(
        self,
        company_id: str,
        name: str,
        mission: str | None = None,
        *,
        attempt_id: str | None = None,
    ) -> Receipt[Company]:
        """POST /api/companies/:id/clone."""
        path = self._path("POST", "/api/companies", company_id, "/clone")
        return await self._write(COMPANIES, path, {"name": name, "mission": mission}, attempt_id)

    async def agents(self, company_id: str | None = None) -> Listing[Agent]:
        """GET /api/agents."""
        return await self._listing(AGENTS, "/api/agents", {"company_id": company_id})

    async def agent(self, agent_id: str) -> Agent:
        """GET /api/agents/:id."""
        return await self._one(AGENTS, "/api/agents", agent_id)

    async def tasks(
        self,
        company_id: str | None = None,
        status: str | None = None,
        *,
        begins: Callable[[Sequence[Task]], None] | None = None,
    ) -> Listing[Task]:
        """GET /api/tasks. `begins` gets the first rows of a list that is long and new."""
        filters = {"company_id": company_id, "status": status}
        return await self._listing(TASKS, "/api/tasks", filters, begins=begins)

    async def create_task(
        self,
        company_id: str,
        title: str,
        agent_id: str,
        priority: str,
        *,
        attempt_id: str | None = None,
    ) -> Receipt[Task]:
        """POST /api/tasks."""
        fields = {
            "company_id": company_id,
            "title": title,
            "agent_id": agent_id,
            "priority": priority,
        }
        return await self._write(TASKS, "/api/tasks", fields, attempt_id)

    async def approve_task(self, task_id: str, *, attempt_id: str | None = None) -> Receipt[Task]:
        """POST /api/tasks/:id/approve, without a body; sent once, whatever happens."""
        path = self._path("POST", "/api/tasks", task_id, "/approve")
        return await self._write(TASKS, path, None, attempt_id)

    async def task_trace(self, task_id: str) -> Trace:
        """GET /api/tasks/:id/trace."""
        # A quarter of a megabyte that most hours of a day need nothing of.
        from agentco_tui.reading.kinds.trace import read_trace  # noqa: PLC0415

        path = self._path("GET", "/api/tasks", task_id, "/trace")
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
        # Dates go out as YYYY-MM-DD, also those of a datetime, which is one.
        filters = {
            "company_id": company_id,
            "agent_id": agent_id,
            "from": None if from_date is None else from_date.isoformat()[:10],
            "to": None if to_date is None else to_date.isoformat()[:10],
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
        return await self._listing(AGENT_BUDGETS, "/api/budget/agents", {"company_id": company_id})

    async def set_agent_limit(
        self, agent_id: str, monthly_limit: Decimal, *, attempt_id: str | None = None
    ) -> Receipt[Budget]:
        """POST /api/budget/agents/:id. `monthly_limit`, in whole units, goes out as a JSON
        number, digit for digit, in the unit that the profile tells of sums.
        """
        path = self._path("POST", "/api/budget/agents", agent_id)
        # A number of a few signs may stand for one of a million digits.
        usable = monthly_limit.is_finite() and monthly_limit.adjusted() < _MOST_DIGITS
        if not usable or int(monthly_limit.as_tuple().exponent) < -_MOST_DIGITS:
            words = "the monthly limit is no usable number"
            raise error_for(errors.NotSent, words, self.transport.asked("POST", path))
        number = msgspec.Raw(f"{self.mapping.amount_sent(monthly_limit):f}".encode())
        return await self._write(AGENT_BUDGETS, path, {"monthly_limit": number}, attempt_id)

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

        def keep(row: Row, around: Around) -> Any:
            record = build(row, around)
            found[record.id] = row.obj
            return record

        # With nothing remembered each row is read, by this kind as it is.
        kind.build, other.mapping, other.prefetch, other._last = keep, AS_SENT, None, {}
        await other._listing(kind, path, filters, once=True)
        return found.get(sent_id, {})

    async def _one(self, kind: Kind[R], collection: str, identifier: str) -> R:
        path = self._path("GET", collection, identifier)
        read = partial(read_one, self.mapping.kind(kind), wanted_id=identifier)
        return await self._read(await self.transport.request("GET", path), read)

    async def _write(
        self,
        kind: Kind[R],
        path: str,
        fields: Mapping[str, str | msgspec.Raw | None] | None,
        attempt: str | None,
    ) -> Receipt[R]:
        """Send `fields` as JSON, or no body, and read the receipt."""
        told = {name: value for name, value in (fields or {}).items() if value is not None}
        body: bytes | None = None
        with suppress(UnicodeError):
            body = None if fields is None else msgspec.json.encode(told)
        if body is None and fields is not None:
            words = "a field holds a character that cannot be sent"
            raise error_for(errors.NotSent, words, self.transport.asked("POST", path))
        headers = () if attempt is None else (("Idempotency-Key", attempt),)
        reply = await self.transport.request("POST", path, json_body=body, headers=headers)
        read = partial(read_write_response, self.mapping.kind(kind), http_status=reply.status)
        return await self._read(reply, read)

    def _path(self, method: str, collection: str, identifier: str, rest: str = "") -> str:
        """A path with an identifier as exactly one segment of it; NotSent without it in its text.

        The dots of "." and ".." are encoded, too: clients and proxies would take them away.
        """
        words = "the id is too long" if len(identifier) > _LONGEST_ID else "the id is empty"
        try:
            segment = identifier.replace(".", "%2E") if identifier in (".", "..") else None
            segment = segment or quote(identifier, safe="")
        except UnicodeError:
            segment, words = "", "the id holds a character that cannot be sent"
        if segment and len(identifier) <= _LONGEST_ID:
            return f"{collection}/{segment}{rest}"
        raise error_for(
            errors.NotSent, words, self.transport.asked(method, f"{collection}/?{rest}")
        )


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
