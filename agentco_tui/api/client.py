"""The client of the platform's REST API: one method for each operation; all raise ApiError.

The platform is the remote service with companies of AI agents, whose tasks wait for the user's
approval. `Client` adds the operations to a `Fetcher`, which reads and caches lists; a `Transport`
sends the requests. `open_client` makes all three. It is one implementation of `platform.Platform`,
which is all that the rest of the program knows of it. A read returns a record or a `Listing` (the
records of all pages, and how complete they are), a write a `Receipt` (a hint at the outcome, not a
proof of it).

Constants such as `TASKS` are descriptions of a kind of record, by which answers are read. A
`ProfileMapping` has the names and units that are special to one platform.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from copy import copy
from datetime import date
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from urllib.parse import quote, urlencode

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
from agentco_tui.api.capabilities import (
    NO_INPUT,
    OfferedVerb,
    Operation,
    Read,
    VerbInput,
    VerbProof,
)
from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError, KeyInUse
from agentco_tui.api.error_messages import (
    DEFAULT_KEY_SOURCE,
    error_for,
    failure_in_body,
    unusable_answer,
)
from agentco_tui.api.fetcher import Fetcher
from agentco_tui.api.generic import CAPABILITIES, address_of, path_with_id
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
from agentco_tui.reading.kinds import mappable_kinds
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
from agentco_tui.text import SafeText, clean_line

if TYPE_CHECKING:
    from agentco_tui.api.limits import Limits
    from agentco_tui.api.reply import Reply
    from agentco_tui.api.transport import WhyWithheld

__all__ = ["Client", "open_client"]

R = TypeVar("R", bound=Record)
T = TypeVar("T")

_APPROVE: Final = "approve"
_EXPORT_MEDIA_TYPES: Final[Mapping[str, str]] = {"csv": "text/csv", "json": "application/json"}
_LEAST_BEGINNING: Final = 1024
"""Bytes of an export that are examined before anything of it is yielded."""
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"
"""A byte order mark and white space, which may precede the data."""


class Client(Fetcher):
    """One platform, a method for each operation. Use it with `async with`, in one event loop.

    Arguments are checked before anything is sent: WrongArgumentType is a TypeError, WrongArgument a
    ValueError, and both are an ApiError.
    """

    name = CAPABILITIES.platform
    capabilities = CAPABILITIES
    read_only = False
    """True: every write raises NotSent."""

    def for_decisions(self) -> Client:
        """A client with separate connections: a decision does not wait behind other requests.

        A decision is the approval of a task, with the reads before and after it.

        It shares the cached lists with this one. Closing either closes both.
        """
        other = copy(self)
        other.transport = self.transport.for_decisions()
        other.prefetch = None
        return other

    def connect_ahead(self) -> None:
        """Begin a connection for a write that is about to come; nothing is sent on it."""
        self.transport.connect_ahead()

    def mapping_of(self, read: Read) -> ProfileMapping:
        """What the profile says, whatever is read."""
        return self.mapping

    def ask_anew(self) -> None:
        """Nothing: every answer is asked for each time."""

    def news_of(self, company_id: str) -> AsyncGenerator[None]:
        """Raises NotOffered, as the interface has no such thing."""
        path = address_of(Read("companies"))[0]
        sentence = f"{self.name} does not tell what changes"
        raise error_for(errors.NotOffered, sentence, self.transport.describe("GET", path))

    async def aclose(self) -> None:
        """Close all connections."""
        await self.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def companies(self) -> Listing[Company]:
        """GET /api/companies."""
        return await self._fetch_listing(COMPANIES, "/api/companies")

    async def company(self, company_id: str) -> Company:
        """GET /api/companies/:id."""
        return await self._fetch_one(
            COMPANIES, "/api/companies", check_id(company_id, "company_id")
        )

    async def create_company(
        self,
        name: str,
        template: str | None = None,
        mission: str | None = None,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Company]:
        """POST /api/companies. Arguments that are None are left out.

        `attempt_id`, here and below, is sent as Idempotency-Key. `why_withheld` is called when the
        connection is ready and the bytes are about to leave. If it returns a reason, nothing is
        sent, and Withheld is raised.
        """
        arguments = {
            "name": check_text(name, "name"),
            "template": check_optional_text(template, "template"),
            "mission": check_optional_text(mission, "mission"),
        }
        return await self._create(
            "create_company",
            COMPANIES,
            arguments,
            {},
            attempt_id=attempt_id,
            why_withheld=why_withheld,
        )

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
        arguments = {
            "id": check_id(company_id, "company_id"),
            "name": check_text(name, "name"),
            "mission": check_optional_text(mission, "mission"),
        }
        return await self._create(
            "clone_company",
            COMPANIES,
            arguments,
            {"company": company_id},
            attempt_id=attempt_id,
            why_withheld=why_withheld,
        )

    async def agents(self, company_id: str | None = None) -> Listing[Agent]:
        """GET /api/agents."""
        filters = {"company_id": check_optional_id(company_id, "company_id")}
        return await self._fetch_listing(AGENTS, "/api/agents", filters)

    async def agent(self, agent_id: str) -> Agent:
        """GET /api/agents/:id."""
        return await self._fetch_one(AGENTS, "/api/agents", check_id(agent_id, "agent_id"))

    async def tasks(
        self,
        company_id: str | None = None,
        status: str | None = None,
        *,
        begins: Callable[[Sequence[Task]], None] | None = None,
    ) -> Listing[Task]:
        """GET /api/tasks. `begins` is called with the first rows of a list that is long and new."""
        check_callable(begins, "begins")
        filters = {
            "company_id": check_optional_id(company_id, "company_id"),
            "status": None if status is None else check_text(status, "status"),
        }
        return await self._fetch_listing(TASKS, "/api/tasks", filters, begins=begins)

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
        arguments = {
            "company_id": check_id(company_id, "company_id"),
            "title": check_text(title, "title"),
            "agent_id": check_id(agent_id, "agent_id"),
            "priority": check_text(priority, "priority"),
        }
        return await self._create(
            "create_task",
            TASKS,
            arguments,
            {"company": company_id, "agent": agent_id},
            attempt_id=attempt_id,
            why_withheld=why_withheld,
        )

    async def approve_task(
        self,
        task_id: str,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Task]:
        """POST /api/tasks/:id/approve, without a body; sent once, never retried.

        Raises WrongArgument, a ValueError, for an id with a control character: such an id was made
        up for a record that came without a usable one (`Record.id`). Raises Unwritable if the last
        listing with a task of this id said that no write may name it (`Record.unwritable`). Nothing
        is sent in either case.
        """
        path = path_with_id("/api/tasks", check_id(task_id, "task_id"), "/approve")
        self._check_writable(path, task=task_id)
        return await self._write(TASKS, path, None, attempt_id, why_withheld)

    async def task_trace(self, task_id: str) -> Trace:
        """GET /api/tasks/:id/trace."""
        # Imported late: it takes a quarter of a megabyte, and traces are opened rarely.
        from agentco_tui.reading.trace_layout import read_trace  # noqa: PLC0415

        path = path_with_id("/api/tasks", check_id(task_id, "task_id"), "/trace")
        return await self._decode_answer(path, (), read_trace)

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
        """GET /api/activity. No further page is requested once `limit` entries were read.

        `once`: the same list will not be requested again, so its answer is not cached.
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
        return await self._fetch_listing(
            ACTIVITY, "/api/activity", filters, at_most=limit, once=once
        )

    @asynccontextmanager
    async def export_activity(
        self, file_format: str = "csv", *, cap: int | None = None
    ) -> AsyncIterator[AsyncGenerator[bytes]]:
        """GET /api/activity/export in chunks: `async with … as chunks: async for chunk in …`.

        No chunk is yielded before the beginning is known to be neither a web page nor an error in
        JSON. There is no time limit for the whole, only `Limits.read` between arrivals of bytes.
        `cap` is in bytes.
        """
        check_text(file_format, "file_format")
        check_count(cap, "cap")
        media_type = _EXPORT_MEDIA_TYPES.get(file_format)
        async with self.transport.stream(
            "/api/activity/export",
            params=[("format", file_format)],
            accept=f"{media_type}, */*;q=0.5" if media_type else "*/*",
            cap=cap,
        ) as (reply, body):
            beginning = b""
            while len(beginning) < _LEAST_BEGINNING:
                chunk = await anext(body, None)
                if chunk is None:
                    break
                beginning += chunk
            _check_export(reply, beginning, file_format)

            async def whole_body() -> AsyncGenerator[bytes]:
                if beginning:
                    yield beginning
                async for chunk in body:
                    yield chunk

            async with aclosing(whole_body()) as chunks:
                yield chunks

    async def budget(self) -> BudgetOverview:
        """GET /api/budget."""
        reply = await self.transport.request("GET", "/api/budget")
        overview = await self._decode_reply(reply, partial(read_overview, mapping=self.mapping))
        digest = blake2b(reply.body, digest_size=16).digest()
        return msgspec.structs.replace(overview, digest=digest)

    async def company_budgets(self) -> Listing[Budget]:
        """GET /api/budget/companies."""
        return await self._fetch_listing(COMPANY_BUDGETS, "/api/budget/companies")

    async def agent_budgets(self, company_id: str | None = None) -> Listing[Budget]:
        """GET /api/budget/agents."""
        filters = {"company_id": check_optional_id(company_id, "company_id")}
        return await self._fetch_listing(AGENT_BUDGETS, "/api/budget/agents", filters)

    async def set_agent_limit(
        self,
        agent_id: str,
        monthly_limit: Decimal | int,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Budget]:
        """POST /api/budget/agents/:id.

        `monthly_limit` is in whole units of the currency. It is sent as a JSON number, digit for
        digit, in the unit that the profile's mapping declares. Raises as `approve_task`.
        """
        path = path_with_id("/api/budget/agents", check_id(agent_id, "agent_id"))
        amount = check_limit(monthly_limit, "monthly_limit")
        self._check_writable(path, agent_budget=agent_id, agent=agent_id)
        number = msgspec.Raw(f"{self.mapping.amount_sent(amount):f}".encode())
        return await self._write(
            AGENT_BUDGETS, path, {"monthly_limit": number}, attempt_id, why_withheld
        )

    async def budget_alerts(self) -> Listing[Alert]:
        """GET /api/budget/alerts."""
        return await self._fetch_listing(ALERTS, "/api/budget/alerts")

    def verbs_of(self, record: Record) -> Sequence[str]:
        """Any task can be approved, as far as the interface says."""
        return (_APPROVE,) if isinstance(record, Task) else ()

    def question_of(self, verb: str, record: Record) -> SafeText:
        """Raises NotOffered, as there is no other verb than "approve"."""
        raise self._no_verb(verb)

    async def act(
        self,
        verb: OfferedVerb,
        record_id: str,
        given: VerbInput = NO_INPUT,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Any]:
        """Raises NotOffered, as there is no other verb than "approve"."""
        raise self._no_verb(verb.name)

    async def proof_of(
        self,
        verb: OfferedVerb,
        record_id: str,
        given: VerbInput = NO_INPUT,
        row: Mapping[str, str] = {},
    ) -> VerbProof:
        """Raises NotOffered, as there is no other verb than "approve"."""
        raise self._no_verb(verb.name)

    def _no_verb(self, verb: str) -> errors.ApiError:
        sentence = f"nothing was sent: {self.name} does not offer to {clean_line(verb, 40)}"
        info = self.transport.describe("POST", address_of(Read("tasks"))[0])
        return error_for(errors.NotOffered, sentence, info)

    def curl(self, read: Read) -> str:
        """A curl command that sends a read; the shell puts the key in."""
        path, params = address_of(read)
        return self._curl_line(path, params, '-H "Authorization: Bearer $AGENTCO_API_KEY"')

    def _curl_line(self, path: str, params: Sequence[tuple[str, str]], header: str) -> str:
        """A line for a shell; `header` is written as it is there."""
        from shlex import quote as shell_quote  # noqa: PLC0415 (only for this)

        address = self.transport.root + path
        if params:
            address += f"?{urlencode(params, quote_via=quote, safe='')}"
        return " ".join(word for word in ("curl -sS", header, shell_quote(address)) if word)

    async def as_sent(self, read: Read, kind: str, sent_id: str) -> Mapping[str, Json]:
        """The JSON object that a record is read from, in a list that is requested now.

        {} if the list has no record with this id. The key is masked in it, but no other secret.
        """
        path, params = address_of(read)
        mapped_kind = self.mapping.kind(mappable_kinds()[kind])
        return await self._find_sent(mapped_kind, path, dict(params), sent_id)

    async def _find_sent(
        self, kind: Kind[Any], path: str, params: Mapping[str, str], sent_id: str
    ) -> Mapping[str, Json]:
        """The JSON object of a record in a list that is requested now; {} if it is not there."""
        objects_by_id = dict[str, Mapping[str, Json]]()
        keeping_kind = copy(kind)
        build = keeping_kind.build

        def build_and_keep(row: Row, context: DecodeContext) -> Any:
            record = build(row, context)
            objects_by_id[record.id] = row.obj
            return record

        keeping_kind.build = build_and_keep
        # With an empty cache every row is read, and without a mapping by this very kind.
        other = copy(self)
        other.mapping = AS_SENT
        other.prefetch = None
        other._cache = OrderedDict()
        await other._fetch_listing(keeping_kind, path, params, once=True)
        return objects_by_id.get(sent_id, {})

    async def read_body(self, read: Read, decode: Callable[[Json], T]) -> T:
        """What `decode` makes of the JSON of the first page of a list."""
        path, params = address_of(read)
        return await self._decode_answer(path, params, decode)

    async def why_read_only(self) -> SafeText | None:
        """None: the interface has no request for what a key may do."""
        return None

    async def _decode_answer(
        self, path: str, params: Iterable[tuple[str, str]], decode: Callable[[Json], T]
    ) -> T:
        """GET a path, and return what `decode` makes of the JSON. Raises ApiError."""
        reply = await self.transport.request("GET", path, params=tuple(params))
        return await self._decode_reply(reply, decode)

    async def _fetch_one(self, kind: Kind[R], collection: str, identifier: str) -> R:
        """GET one record of a collection such as "/api/agents"."""
        path = path_with_id(collection, identifier)
        decode = partial(read_one, self.mapping.kind(kind), wanted_id=identifier)
        return await self._decode_answer(path, (), decode)

    async def _create(
        self,
        operation: Operation,
        kind: Kind[R],
        arguments: Mapping[str, str | None],
        named: Mapping[str, str],
        *,
        attempt_id: str | None,
        why_withheld: WhyWithheld | None,
    ) -> Receipt[R]:
        """Send the write that makes a record of checked arguments; None are left out.

        `named` has the ids of the records that it names, by their kinds.
        """
        fields = dict(arguments)
        path = self.capabilities.path(operation)
        if ":id" in path:
            collection, rest = path.split("/:id")
            path = path_with_id(collection, fields.pop("id") or "", rest)
        self._check_writable(path, **named)
        return await self._write(kind, path, fields, attempt_id, why_withheld)

    async def _write(
        self,
        kind: Kind[R],
        path: str,
        fields: Mapping[str, Any] | None,
        attempt_id: str | None,
        why_withheld: WhyWithheld | None = None,
        *,
        method: str = "POST",
    ) -> Receipt[R]:
        """Send `fields` that are not None as JSON, or no body, and read the receipt."""
        attempt_id = check_attempt_id(attempt_id)
        check_callable(why_withheld, "why_withheld")
        if self.read_only:
            sentence = "the client is read-only: nothing was sent"
            raise error_for(errors.NotSent, sentence, self.transport.describe(method, path))
        body: bytes | None = None
        if fields is not None:
            sent_fields = {name: value for name, value in fields.items() if value is not None}
            body = msgspec.json.encode(sent_fields)
        headers: tuple[tuple[str, str], ...] = ()
        if attempt_id is not None:
            headers = (("Idempotency-Key", attempt_id),)
        reply = await self.transport.request(
            method, path, json_body=body, headers=headers, why_withheld=why_withheld
        )
        decode = partial(read_write_response, self.mapping.kind(kind), http_status=reply.status)
        return await self._decode_reply(reply, decode)

    def _check_writable(self, path: str, *, method: str = "POST", **ids: str) -> None:
        """Raise Unwritable if a write names a record that it must not; `ids` by kind."""
        for kind, record_id in ids.items():
            record = self._last_listed(kind, record_id)
            if record is not None and record.unwritable is not None:
                sentence = f"nothing was sent: {record.unwritable}"
                info = self.transport.describe(method, path)
                raise error_for(errors.Unwritable, sentence, info)


def _check_export(reply: Reply, beginning: bytes, file_format: str) -> None:
    """Raise ApiError if an export is a sign-in page, or JSON where another format was requested.

    Either may come with a 200 and with any content type.
    """
    info = reply.request
    status = reply.status
    content_type = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if "html" in content_type or looks_like_html(beginning):
        raise unusable_answer(errors.WebPage, info, status)
    first_byte = beginning.lstrip(_BLANK)[:1]
    is_declared_json = bool(first_byte) and content_type.endswith("json")
    is_json = first_byte in (b"{", b"[") or is_declared_json
    if not is_json or file_format == "json":
        return
    body: Json = None
    with suppress(BodyError):
        body = parse_json(beginning)
    if says_failed(body) or (isinstance(body, dict) and "error" in body):
        raise failure_in_body(info, status, error_in(body))
    reason = f"JSON instead of {file_format}"
    raise unusable_answer(errors.Unreadable, info, status, reason)


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
    make: Callable[..., Client] | None = None,
    **options: Any,
) -> Client:
    """A client with its own transport; close it, or use it with `async with`.

    `mapping`: what a profile (the user's configuration for one platform) says about the platform's
    own names, units and words; `AS_SENT` is none. `attempts`: how often a failed read is sent at
    most; 1 for callers that retry themselves. `make`: what makes the client, if it is no `Client`.
    `options` are passed to the Transport. Imports httpx, which takes 50 to 110 ms the first time.
    Raises CredentialError without a key, and for a host, a `ca_file` or a proxy setting that cannot
    be used.
    """
    # Imported late: a command that only reads the settings need not wait for httpx.
    from agentco_tui.api.transport import Transport  # noqa: PLC0415

    check_type(base_url, BaseUrl, "base_url", "a BaseUrl (BaseUrl.parse makes one of a text)")
    check_type(key, (ApiKey, KeyInUse, NoneType), "key", "an ApiKey (ApiKey.parse makes one)")
    check_type(mapping, (ProfileMapping, NoneType), "mapping", "a ProfileMapping or None")
    for count, name in ((attempts, "attempts"), (page_cap, "page_cap"), (record_cap, "record_cap")):
        check_type(count, int, name, "an int")
        check_count(count, name)
    if key is None:
        raise CredentialError(f"there is no API key: set {DEFAULT_KEY_SOURCE}")
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
    caps = {"page_cap": page_cap, "record_cap": record_cap}
    return (make or Client)(transport, mapping=mapping or AS_SENT, **caps)
