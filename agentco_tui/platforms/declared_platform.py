"""Asks a platform as its file says, with the operations and results of `Client`.

A `Source` is one request for one list of the file, and `DeclaredKind` how the rows of its answer
are read. A list with several sources, or with one that is asked for each company, is joined to one
`Listing`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from copy import copy
from datetime import date
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, TypeAlias, TypeVar, cast

import msgspec
from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.arguments_check import (
    check_count,
    check_days,
    check_id,
    check_limit,
    check_optional_id,
)
from agentco_tui.api.capabilities import (
    LIST_OF_KIND,
    NO_INPUT,
    OfferedVerb,
    Operation,
    VerbInput,
    VerbProof,
)
from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl, KeyInUse
from agentco_tui.api.error_messages import error_for
from agentco_tui.api.errors import ApiError
from agentco_tui.api.pagination import PageRequest
from agentco_tui.model import (
    Activity,
    Agent,
    Alert,
    Budget,
    BudgetOverview,
    BudgetScope,
    Company,
    Listing,
    Money,
    Receipt,
    Record,
    Task,
    Trace,
    TraceStep,
    Verdict,
)
from agentco_tui.platforms.declared_capabilities import LIST_OF_OPERATION, capabilities_of
from agentco_tui.platforms.declared_kind import DeclaredKind, is_wanted, proof_names
from agentco_tui.platforms.platform_records import (
    GIVEN_NAMES,
    LISTS,
    DeclaredWrite,
    NewsDeclaration,
    PlatformFile,
    Sources,
    TraceSource,
)
from agentco_tui.platforms.templates import (
    ValueOf,
    as_word,
    fill,
    fill_body,
    fill_path,
    names_in,
)
from agentco_tui.reading.decode import read_one
from agentco_tui.reading.joined_listing import join_listings, join_logs
from agentco_tui.reading.json_access import Json, value_at
from agentco_tui.reading.kinds.budget import WHOLE_ID
from agentco_tui.reading.mapping import AS_SENT, DeclaredMapping, ProfileMapping
from agentco_tui.reading.schema import Kind
from agentco_tui.text import SafeText, clean_line

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Read
    from agentco_tui.api.reply import Reply
    from agentco_tui.api.transport import MakeReader, Transport, WhyWithheld
    from agentco_tui.reading.stream import Beginning

R = TypeVar("R", bound=Record)
T = TypeVar("T")

_MOST_LOG_PAGES: Final = 16
"""Answers of one log that are read at most."""
SAME_MOMENT: Final = 1.0
"""Seconds in which an answer also serves other lists that are in the same body."""


_Request: TypeAlias = tuple[str, str, tuple[tuple[str, str], ...]]
"""A source, and the path and the parameters of a request for it."""


class _RestingAnswer(NamedTuple):
    """The answer to a request, when it came, and how many others of its company had changed."""

    listing: Listing[Any]
    at: float
    changes: int


class _RestingAnswers(dict[_Request, _RestingAnswer]):
    """The last answers, for all clients of one platform."""

    cleared_at = 0.0
    """When they were cleared: an answer that was asked for earlier is not kept."""


_Found: TypeAlias = tuple[DeclaredKind, ValueOf]
"""The source of a record, with the values of its row by their names."""


class DeclaredPlatform(Client):
    """A platform that is described by a file."""

    def __init__(
        self,
        transport: Transport,
        *,
        file: PlatformFile,
        mapping: ProfileMapping = AS_SENT,
        **caps: int,
    ) -> None:
        """`mapping` is that of the profile, and comes before the file's."""
        # Each source is read by a kind of its own, which has the mapping already.
        super().__init__(transport, mapping=AS_SENT, **caps)
        self.file = file
        self._kinds: dict[str, list[DeclaredKind]] = {}
        for list_name in LISTS:
            sources: Sources = getattr(file, list_name)
            kinds = [
                DeclaredKind(file, mapping.declared, list_name, *each) for each in sources.items()
            ]
            self._kinds[list_name] = kinds
        self._kind_of_source = {
            each.kind.source: each for kinds in self._kinds.values() for each in kinds
        }
        self.capabilities = replace(
            capabilities_of(file),
            has_news=file.news is not None and transport.takes_web_sockets,
        )
        self.name = self.capabilities.platform
        self._joined: dict[Any, tuple[list[Listing[Any]], Listing[Any]]] = {}
        """By what was asked for: the parts of a joined listing, and the listing."""
        self._ids: dict[int, tuple[Listing[Any], frozenset[str]]] = {}
        """The listings that were searched for ids, by their identity, with those ids."""
        self._answered = _RestingAnswers()
        """The last answer to each request for a list."""
        self._changes = Counter[str | None]()
        """By company, how many answers were others than those before them."""
        # In a replay a moment of ours can be hours of the recording.
        self._recent: dict[Any, _SharedAnswer] | None = None if transport.is_replay else {}
        """Answers of this moment; None for a client whose reads are made for themselves."""
        self._is_for_decisions = False

    def for_decisions(self) -> DeclaredPlatform:
        other = super().for_decisions()
        assert isinstance(other, DeclaredPlatform)
        other._recent = None
        other._is_for_decisions = True
        return other

    # -- lists

    async def companies(self) -> Listing[Company]:
        return await self._list("companies")

    async def company(self, company_id: str) -> Company:
        record: Company = await self._one("companies", check_id(company_id, "company_id"))
        return record

    async def agents(self, company_id: str | None = None) -> Listing[Agent]:
        return await self._list("agents", check_optional_id(company_id, "company_id"))

    async def agent(self, agent_id: str) -> Agent:
        record: Agent = await self._one("agents", check_id(agent_id, "agent_id"))
        return record

    async def tasks(
        self,
        company_id: str | None = None,
        status: str | None = None,
        *,
        begins: Callable[[Sequence[Task]], None] | None = None,
    ) -> Listing[Task]:
        """The tasks of the sources for `status`: "pending" for what waits, None for all.

        Of any other status, those whose word or state it is. `begins` is not called: nothing is
        streamed.
        """
        check_optional_id(company_id, "company_id")
        listing: Listing[Task] = await self._list("tasks", company_id, status)
        if status in {None, "pending"}:
            return listing
        return replace(
            listing,
            records=tuple(task for task in listing.records if status in {task.status, task.state}),
        )

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
        first_day, last_day = check_days(from_date, to_date)
        limit = check_count(limit, "limit")
        asked = {
            "agent_id": check_optional_id(agent_id, "agent_id"),
            "from": None if first_day is None else first_day.isoformat(),
            "to": None if last_day is None else last_day.isoformat(),
            "limit": None if limit is None else str(limit),
        }
        return await self._list(
            "activity",
            check_optional_id(company_id, "company_id"),
            asked={name: value for name, value in asked.items() if value is not None},
            at_most=limit,
            once=once,
        )

    async def company_budgets(self) -> Listing[Budget]:
        return await self._list("company_budgets")

    async def agent_budgets(self, company_id: str | None = None) -> Listing[Budget]:
        return await self._list("agent_budgets", check_optional_id(company_id, "company_id"))

    async def budget_alerts(self) -> Listing[Alert]:
        return await self._list("alerts")

    async def budget(self) -> BudgetOverview:
        """The sum of the budgets that the file names for it, without a figure that some lack."""
        listing: Listing[Budget] = await self._list("budget")
        budgets = listing.records if listing.whole else ()
        whole = Budget(
            id=WHOLE_ID,
            scope=BudgetScope.ALL,
            limit=_sum_of([budget.limit for budget in budgets]),
            spent=_sum_of([budget.spent for budget in budgets]),
        )
        return BudgetOverview(whole=whole, shape=listing.shape, digest=listing.digest)

    async def task_trace(self, task_id: str) -> Trace:
        """What each path of the task's source brings, by time."""
        declared = await self._origin(check_id(task_id, "task_id"), lambda kind: kind.source.trace)
        if declared is None:
            raise self._refusal("the trace of this task", "GET")
        kind, value_of = declared
        requests = [
            (each, path)
            for each in kind.source.traces
            if (path := fill_path(each.get, value_of)) is not None
        ]
        traces = await _all_of([self._read_steps(each, path) for each, path in requests])
        steps = sorted(
            (step for trace in traces for step in trace.steps),
            key=lambda step: step.at.at if step.at is not None else 0.0,
        )
        return Trace(
            steps=_with_distinct_ids(steps),
            unread=sum(trace.unread for trace in traces),
            shape=clean_line(" + ".join(path for _, path in requests), 120),
        )

    async def _read_steps(self, source: TraceSource, path: str) -> Trace:
        """What one request brings of a task's course; a log in as many answers as it needs."""
        # Imported late: it takes a quarter of a megabyte, and traces are opened rarely.
        from agentco_tui.platforms.declared_trace import trace_of  # noqa: PLC0415

        if source.lines is None:
            return await self._decode_answer(path, (), partial(trace_of, source))
        text = ""
        offset: str | None = "0"
        pages = 0
        while offset is not None and pages < _MOST_LOG_PAGES:
            body = await self._decode_answer(path, (("offset", offset),), lambda body: body)
            part = as_word(value_at(body, source.lines)) or ""
            offset = as_word(value_at(body, source.next)) if part and source.next else None
            text += part
            pages += 1
        return trace_of(source, text)

    # -- what it says about itself

    async def as_sent(self, read: Read, kind: str, sent_id: str) -> Mapping[str, Json]:
        """The row of a record, from the sources of its kind."""
        company = cast("str | None", read.arguments.get("company_id"))
        for list_name, kind_name in LISTS.items():
            if kind_name != kind:
                continue
            for declared, of_company in await self._asked(list_name, company, None, every=True):
                path, query = declared.source.request(of_company, None, {})
                found = await self._find_sent(declared.kind, path, query, sent_id)
                if found:
                    return found
        return {}

    async def read_body(self, read: Read, decode: Callable[[Json], T]) -> T:
        """What `decode` makes of the answer of the first source of a list."""
        list_name = LIST_OF_OPERATION[read.operation]
        company = cast("str | None", read.arguments.get("company_id"))
        (declared, of_company), *_ = await self._asked(list_name, company, None, every=True)
        path, query = declared.source.request(of_company, None, {})
        where = declared.source.where

        def decode_rows(body: Json) -> T:
            return decode(value_at(body, where) if where else body)

        return await self._decode_answer(path, query.items(), decode_rows)

    def mapping_of(self, read: Read) -> ProfileMapping:
        """What the file says of the first source of a list."""
        kinds = self._kinds[LIST_OF_OPERATION[read.operation]]
        return kinds[0].mapping if kinds else AS_SENT

    async def why_read_only(self) -> SafeText | None:
        """Asks for the role that the file declares, if it does."""
        role = self.file.role
        if role is None:
            return None
        word = await self._decode_answer(role.get, (), role.read_only_role)
        if word is None:
            return None
        return clean_line(f"your role there is {word}: it may not change anything")

    def curl(self, read: Read) -> str:
        """A curl command for the first source of a list, with `{company}` for one of several."""
        path = self.capabilities.path(read.operation)
        company = read.arguments.get("company_id")
        header = f'-H "{self.file.auth.header}: {self.file.auth.before_key}$AGENTCO_API_KEY"'
        filled = path if company is None else fill_path(path, {"company": company}.get)
        return self._curl_line(filled or path, (), header)

    async def news_of(self, company_id: str) -> AsyncGenerator[None]:
        """Yields for each message of the file's web socket whose type counts."""
        news = self.file.news
        if news is None:
            raise self._refusal("to tell what changes", "GET")
        path = fill_path(news.get, {"company": company_id}.get)
        assert path is not None, news.get
        async with self.transport.web_socket(path) as messages:
            yield
            async for message in messages:
                if is_wanted(_type_of(message, news), news.types):
                    yield

    # -- writes

    async def approve_task(
        self,
        task_id: str,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Task]:
        """What the task's own source declares; a task that may not be approved is refused."""
        declared = await self._origin(
            check_id(task_id, "task_id"), lambda kind: kind.source.approve
        )
        if declared is None:
            raise self._refusal("to approve this task", "POST")
        kind, value_of = declared
        write = kind.source.approve
        assert write is not None
        method, path = write.request
        self._check_writable(path, method=method, task=task_id)
        return await self._send(write, kind, value_of, attempt_id, why_withheld)

    async def set_agent_limit(
        self,
        agent_id: str,
        monthly_limit: Decimal | int,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Budget]:
        """The limit goes out in the unit of the write; it is refused if that must be whole."""
        write = self.file.set_limit
        amount = check_limit(monthly_limit, "monthly_limit")
        if write is None:
            raise self._refusal("to set a limit", "POST")
        method, path = write.request
        self._check_writable(path, method=method, agent_budget=agent_id, agent=agent_id)
        given = {
            "id": check_id(agent_id, "agent_id"),
            "limit": self._amount_sent(write, amount),
        }
        kind = self._kinds["agent_budgets"][0]
        return await self._send(write, kind, given.get, attempt_id, why_withheld)

    def verbs_of(self, record: Record) -> Sequence[str]:
        """The verbs that can be tried on a record: "approve", and those of the file."""
        is_approvable = isinstance(record, Task) and record.unwritable is None
        kind_name = type(record).__name__.lower()
        found = self._listed(kind_name, record.id, lambda kind: kind.waits)
        found = found or self._listed(kind_name, record.id, lambda _: True)
        if found is None:
            return ()
        kind, _ = found
        if record.unwritable is not None and record.unwritable not in kind.reasons:
            return ()
        own = (name for name in kind.verbs if kind.offers(name, record))
        approve = ("approve",) if is_approvable and kind.source.approve is not None else ()
        return (*approve, *own)

    def question_of(self, verb: str, record: Record) -> SafeText:
        """The file's question, with the names of the row; without them if one has no value."""
        kind_name = type(record).__name__.lower()
        kind, value_of = self._of_verb(kind_name, verb, record.id)
        asks = kind.verbs[verb].asks
        return clean_line(fill(asks, value_of) or fill(asks, lambda _: "it") or "")

    async def act(
        self,
        verb: OfferedVerb,
        record_id: str,
        given: VerbInput = NO_INPUT,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Any]:
        """Send a verb of the file, if the record is of a source that it is for."""
        kind, value_of = self._of_verb(verb.kind, verb.name, check_id(record_id, "record_id"))
        write = kind.verbs[verb.name]
        self._check_given(verb, given)
        record = self._last_listed(verb.kind, record_id)
        why = None if record is None else record.unwritable
        if why is not None and why not in kind.reasons:
            info = self.transport.describe(*write.request)
            raise error_for(errors.Unwritable, f"nothing was sent: {why}", info)
        named = self._values_given(write, record_id, given, value_of)
        receipt = await self._send(write, kind, named, attempt_id, why_withheld)
        if receipt.status_word in write.done:
            # The file's own words count, also where "rejected" would be a no for other writes.
            receipt = replace(receipt, verdict=Verdict.YES)
        if receipt.record is not None and receipt.record.id != record_id:
            # The answer is something new, such as a comment.
            receipt = replace(receipt, record=None)
        return receipt

    def _check_given(self, verb: OfferedVerb, given: VerbInput) -> None:
        """Raise NotOffered for a note or a sum that a verb doesn't take, or that it lacks."""
        name = clean_line(verb.name, 40)
        if given.note is not None and verb.note == "none":
            raise self._refusal(f"to {name} with a note", "POST")
        if given.note is None and verb.note == "required":
            raise self._refusal(f"to {name} without a note", "POST")
        if given.amount is not None and not verb.takes_amount:
            raise self._refusal(f"to {name} with an amount", "POST")
        if given.amount is None and verb.takes_amount:
            raise self._refusal(f"to {name} without an amount", "POST")

    async def proof_of(
        self,
        verb: OfferedVerb,
        record_id: str,
        given: VerbInput = NO_INPUT,
        row: Mapping[str, str] = {},
    ) -> VerbProof:
        """The ids of the rows that the file declares as the proof of a verb."""
        declared = self.file.verbs[verb.name]
        proof = declared.proof
        if proof is None:
            return VerbProof(frozenset())
        values = row or self._values_of(verb.name, check_id(record_id, "record_id"))
        words = {name: as_word(values.get(name)) for name in proof_names(declared) - GIVEN_NAMES}
        known = {name: word for name, word in words.items() if word}
        if len(known) < len(words):
            raise self._refusal("a proof for a record without what its request names", "GET")
        named = self._values_given(declared, record_id, given, known.get)
        path = fill_path(proof.get, named) or ""
        query = {name: fill(text, named) or "" for name, text in proof.query.items()}
        wanted = {
            field: [fill(word, named) for word in words] for field, words in proof.rows.items()
        }
        shown_by = await self._decode_answer(
            path, query.items(), partial(_rows_with, where=proof.where, wanted=wanted)
        )
        return VerbProof(shown_by, known)

    def _values_of(self, verb: str, record_id: str) -> Mapping[str, Json]:
        """The values of a record's row, also if it has left its list; {} if it was never read."""
        for kinds in self._kinds.values():
            for kind in kinds:
                if verb in kind.verbs and record_id in kind.values:
                    return kind.values[record_id]
        return {}

    def _of_verb(self, kind_name: str, verb: str, record_id: str) -> _Found:
        """The source of a record that a verb is for, with the values of its row.

        Raises NotOffered if the verb is not for it.
        """
        found = self._listed(kind_name, record_id, lambda kind: verb in kind.verbs)
        if found is None or not found[0].has_type(verb, record_id):
            raise self._refusal(f"to {clean_line(verb, 40)} this", "POST")
        return found

    def _values_given(
        self, write: DeclaredWrite, record_id: str, given: VerbInput, value_of: ValueOf
    ) -> ValueOf:
        """The values of a row, with its id and what the user has given."""
        named: dict[str, Any] = {"id": record_id, "note": given.note}
        if given.amount is not None:
            amount = check_limit(given.amount, "amount")
            named["amount"] = self._amount_sent(write, amount)
        return lambda name: named[name] if name in named else value_of(name)

    def _amount_sent(self, write: DeclaredWrite, amount: Decimal) -> msgspec.Raw:
        """A sum in the unit of a write. Raises NotSent if the unit must be whole, and it is not."""
        unit = DeclaredMapping(unit=write.unit, currency=self.file.money.currency)
        sent = ProfileMapping(unit).amount_sent(amount)
        if write.whole:
            if sent != sent.to_integral_value():
                sentence = f"{clean_line(self.file.name)} takes whole {write.unit} only"
                raise error_for(errors.NotSent, sentence, self.transport.describe(*write.request))
            sent = sent.to_integral_value()
        return msgspec.Raw(f"{sent:f}".encode())

    def export_activity(self, file_format: str = "csv", *, cap: int | None = None) -> NoReturn:
        raise self._refusal("an export of the activity", "GET")

    # -- how it is asked

    def _refusal(self, what: str, method: str) -> ApiError:
        """The error for what the file does not declare."""
        sentence = f"{clean_line(self.file.name)} does not offer {what}"
        return error_for(errors.NotOffered, sentence, self.transport.describe(method, ""))

    async def _list(
        self,
        list_name: str,
        company: str | None = None,
        status: str | None = None,
        *,
        asked: Mapping[str, str] = {},
        at_most: int | None = None,
        once: bool = False,
    ) -> Listing[Any]:
        """The rows of all sources of a list, of one company or of all."""
        reader = self
        if self._is_for_decisions and self._recent is None:
            # Within one read an answer serves several sources; from another read nothing is taken.
            reader = copy(self)
            reader._recent = {}
        return await reader._read_list(
            list_name, company, status, asked=asked, at_most=at_most, once=once
        )

    async def _read_list(
        self,
        list_name: str,
        company: str | None,
        status: str | None,
        *,
        asked: Mapping[str, str],
        at_most: int | None,
        once: bool,
    ) -> Listing[Any]:
        """As `_list`, with the answers of this moment."""

        async def read(declared: DeclaredKind, of_company: str | None) -> Listing[Any]:
            most = declared.source.most
            limited = dict(asked) if company is None else {**asked, "company_id": company}
            if most is not None and at_most is not None:
                limited["limit"] = str(min(at_most, most))
            path, query = declared.source.request(of_company, status, limited)
            request = (declared.kind.source, path, tuple(query.items()))
            resting = self._resting(declared, of_company, request)
            if resting is not None:
                return resting
            asked_at = monotonic()
            listing = await self._fetch_listing(
                declared.kind, path, query, at_most=at_most, once=once
            )
            if not once:
                self._note_answer(declared, of_company, request, listing, asked_at)
            return listing

        requests = await self._asked(list_name, company, status)
        self._most_cached_lists = max(self._most_cached_lists, 4 * len(LISTS) * len(requests))
        listings = await _all_of([read(*request) for request in requests])
        if len(listings) == 1:
            (only,) = listings
            return cast("Listing[Any]", only)
        # The parts of an unchanged list are the same objects, and so is the whole.
        asked_for = (list_name, company, status, tuple(asked.items()))
        parts, joined = self._joined.get(asked_for, ([], None))
        if joined is None or list(map(id, parts)) != list(map(id, listings)):
            join = join_logs if list_name == "activity" else join_listings
            joined = join(listings)
            if not once:
                self._joined[asked_for] = (listings, joined)
        return joined

    def _resting(
        self, declared: DeclaredKind, company: str | None, request: _Request
    ) -> Listing[Any] | None:
        """The last answer to a request that need not be sent again yet; None if it must be."""
        answered = self._answered.get(request)
        must_ask = self._is_for_decisions or self._recent is None
        if answered is None or not declared.source.rests or must_ask:
            return None
        is_quiet = answered.changes == self._changes[company]
        is_young = monotonic() - answered.at < declared.source.rests
        return answered.listing if is_quiet and is_young else None

    def _note_answer(
        self,
        declared: DeclaredKind,
        company: str | None,
        request: _Request,
        listing: Listing[Any],
        asked_at: float,
    ) -> None:
        """Remember the answer to a request, and whether it is another one than the last.

        It was asked for at `asked_at`: it is forgotten if `ask_anew` was called since then.
        """
        if asked_at < self._answered.cleared_at:
            return
        before = self._answered.get(request)
        # An answer that is never the same, as it has the time in it, does not count.
        if before is not None and before.listing is not listing and not declared.source.rests:
            self._changes[company] += 1
        if before is not None or len(self._answered) < self._most_cached_lists:
            self._answered[request] = _RestingAnswer(listing, monotonic(), self._changes[company])

    def ask_anew(self) -> None:
        """Use no answer again that was asked for before: something is known to have happened."""
        self._answered.clear()
        self._answered.cleared_at = monotonic()
        if self._recent is not None:
            self._recent.clear()

    async def _asked(
        self, list_name: str, company: str | None, status: str | None, *, every: bool = False
    ) -> list[tuple[DeclaredKind, str | None]]:
        """The sources that are asked, each with the company in its path; of a company, only its."""
        unwanted = "all" if status == "pending" else "pending"
        kinds = [
            declared
            for declared in self._kinds[list_name]
            if every or declared.source.lists != unwanted
        ]
        if not kinds:
            raise self._refusal(f"any {list_name.replace('_', ' ')}", "GET")
        companies = [company]
        if company is None and any("{company}" in declared.source.get for declared in kinds):
            listing = await self._list("companies")
            companies = list(dict.fromkeys(each.sent_id for each in listing.records))
        return [
            (declared, each)
            for declared in kinds
            for each in (companies if "{company}" in declared.source.get else [None])
        ]

    async def _one(self, list_name: str, record_id: str) -> Any:
        for declared in self._kinds[list_name]:
            if declared.source.one is not None:
                path = fill_path(declared.source.one, {"id": record_id}.get) or ""
                decode = partial(read_one, declared.single, wanted_id=record_id)
                return await self._decode_answer(path, (), decode)
        raise self._refusal(f"any single one of its {list_name}", "GET")

    async def _request_page(
        self,
        kind: Kind[Any],
        request: PageRequest,
        etag: str | None,
        stream: MakeReader | None,
        beginning: Beginning[Any] | None,
    ) -> Reply:
        """The answer to a request; one of this moment, if that was to another list."""
        ask = partial(super()._request_page, kind, request, etag, stream, beginning)
        if self._recent is None:
            return await ask()
        now = monotonic()
        while self._recent:
            oldest = next(iter(self._recent))
            if now - self._recent[oldest].began <= SAME_MOMENT:
                break
            del self._recent[oldest]
        # A whole answer, for which no ETag was sent, also serves who would have sent one.
        answer = self._recent.get((request, etag)) or self._recent.get((request, None))
        # The companies are asked for before each list of theirs.
        is_another_list = answer is not None and kind.source not in answer.lists
        if answer is None or not (is_another_list or kind.name == "company"):
            answer = _SharedAnswer(now, asyncio.ensure_future(ask()))
            answer.reply.add_done_callback(_retrieve)
            self._recent.pop((request, etag), None)  # so that the oldest comes first
            self._recent[request, etag] = answer
        answer.lists.add(kind.source)
        return await asyncio.shield(answer.reply)

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
        """As in `Client`; what the file's request can't say must not have been asked for."""
        write: DeclaredWrite | None = getattr(self.file, operation)
        words = operation.replace("_", " a ")
        if write is None:
            raise self._refusal(f"to {words}", "POST")
        method, path = write.request
        self._check_writable(path, method=method, **named)
        sayable = names_in(path) | names_in(write.body)
        for argument, value in arguments.items():
            if value and argument not in sayable:
                raise self._refusal(f"to {words} with a {argument}", "POST")
        list_name = LIST_OF_OPERATION[LIST_OF_KIND[kind.name]]
        declared = self._kinds[list_name][-1]
        return await self._send(write, declared, arguments.get, attempt_id, why_withheld)

    async def _send(
        self,
        write: DeclaredWrite,
        kind: DeclaredKind,
        value_of: Callable[[str], Any],
        attempt_id: str | None,
        why_withheld: WhyWithheld | None,
    ) -> Receipt[Any]:
        """Send a write once, and read its receipt; its status must be one that says it is done."""
        method, template = write.request
        path = fill_path(template, value_of)
        if path is None:
            raise self._refusal("this for a record without what its request names", method)
        body = fill_body(write.body, value_of)
        try:
            receipt = await self._write(
                kind.single, path, body, attempt_id, why_withheld, method=method
            )
        finally:
            self.ask_anew()
        word = receipt.status_word
        if write.done and receipt.verdict is Verdict.YES and word not in write.done:
            message = clean_line(f"{self.file.name} answered with the status {word or 'none'}")
            return replace(receipt, verdict=Verdict.NO, message=message)
        return receipt

    async def _origin(self, task_id: str, has: Callable[[DeclaredKind], object]) -> _Found | None:
        """The source that a task is from, with the values of its row; lists are read if need be.

        Of a task that waits, it is the source by which it waits.
        """
        for status in ("pending", None):
            found = self._listed_task(task_id, has)
            if found is not None:
                return found
            await self._list("tasks", None, status)
        return self._listed_task(task_id, has)

    def _listed_task(self, task_id: str, has: Callable[[DeclaredKind], object]) -> _Found | None:
        waiting = self._listed("task", task_id, lambda kind: kind.waits and has(kind))
        return waiting or self._listed("task", task_id, has)

    def _listed(
        self, kind_name: str, record_id: str, has: Callable[[DeclaredKind], object]
    ) -> _Found | None:
        """The source of a record of the lists that were read, if it `has` what is looked for."""
        for (name, source, *_), cached in reversed(self._cache.items()):
            declared = self._kind_of_source.get(source)
            if name != kind_name or declared is None or not has(declared):
                continue
            if record_id in self._ids_of(cached.listing):
                values = {"id": record_id, **declared.values.get(record_id, {})}
                return declared, values.get
        return None

    def _ids_of(self, listing: Listing[Any]) -> frozenset[str]:
        """The ids of the records of a listing; a pass over them only if it is a new one."""
        known = self._ids.get(id(listing))
        if known is None or known[0] is not listing:
            if len(self._ids) > self._most_cached_lists:
                self._ids.clear()
            known = (listing, frozenset(record.id for record in listing.records))
            self._ids[id(listing)] = known
        return known[1]


def open_platform(
    file: PlatformFile, base_url: BaseUrl, key: ApiKey | KeyInUse | None, **options: Any
) -> DeclaredPlatform:
    """A client of the platform of a file; `options` are those of `open_client`.

    Without a key nothing is sent in its place, if the file says that none may be needed. Raises
    CredentialError as `open_client` does.
    """
    key, conventions = file.sending(key)
    make = partial(DeclaredPlatform, file=file)
    platform = open_client(base_url, key, make=make, conventions=conventions, **options)
    assert isinstance(platform, DeclaredPlatform)
    return platform


class _SharedAnswer:
    """The answer to a request, and the lists that it was used for."""

    def __init__(self, began: float, reply: asyncio.Future[Reply]) -> None:
        self.began = began
        self.reply = reply
        self.lists: set[str] = set()


def _retrieve(reply: asyncio.Future[Reply]) -> None:
    """Take note of an error that nobody waits for any more."""
    if not reply.cancelled():
        reply.exception()


def _type_of(message: bytes, news: NewsDeclaration) -> str | None:
    """The type of a message; None if it has none, or is no JSON."""
    try:
        return as_word(value_at(msgspec.json.decode(message), news.type))
    except (ValueError, RecursionError):
        return None


def _rows_with(
    body: Json, *, where: str, wanted: Mapping[str, Sequence[str | None]]
) -> frozenset[str]:
    """The ids of the rows of an answer that have one of the wanted words in each field.

    A row without an id goes by a digest of all that is in it.
    """
    rows = value_at(body, where) if where else body
    found = set[str]()
    for row in rows if isinstance(rows, list) else [rows]:
        words = {field: as_word(value_at(row, field)) for field in wanted}
        if all(word is not None and word in wanted[field] for field, word in words.items()):
            digest = blake2b(msgspec.json.encode(row), digest_size=16).hexdigest()
            found.add(as_word(value_at(row, "id")) or digest)
    return frozenset(found)


async def _all_of(reads: Sequence[Awaitable[Any]]) -> list[Any]:
    """The results of reads that are made at the same time; the first error, once all have ended."""
    results = await asyncio.gather(*reads, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def _sum_of(sums: Sequence[Money | None]) -> Money | None:
    """The sum, marked as computed here; None if one is missing or in another currency."""
    known = [each for each in sums if each is not None]
    if not known or len(known) != len(sums) or len({each.currency for each in known}) != 1:
        return None
    amount = sum((each.amount for each in known), Decimal(0))
    return Money(amount, known[0].currency, derived=True)


def _with_distinct_ids(steps: Sequence[TraceStep]) -> tuple[TraceStep, ...]:
    """The steps of several requests, of which each has its ids for itself."""
    return tuple({step.id: step for step in steps}.values())
