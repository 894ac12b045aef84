"""The records of a platform's file, `NAME.toml`; `docs/platforms.md` explains them to its author.

A *list* is what one of our questions asks for: companies, agents, tasks and so on. It has one or
more *sources*, each of which is one request, asked once for each company if `{company}` is in its
path. A *row* is one object of an answer. Names of the platform's fields are exact; a dot leads into
an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_hex
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from agentco_tui.api.capabilities import Conventions, FirstRequest
from agentco_tui.api.credentials import ApiKey, KeyInUse
from agentco_tui.platforms.templates import as_word, fill, fill_path
from agentco_tui.reading.json_access import value_at
from agentco_tui.text import clean_line

K = TypeVar("K", bound=ApiKey | KeyInUse)
Words: TypeAlias = tuple[str, ...]
SumUnit: TypeAlias = Literal["units", "cents", "millis", "micros", "nanos"]
LISTS: Final[Mapping[str, str]] = {
    "companies": "company", "agents": "agent", "tasks": "task", "activity": "activity",
    "company_budgets": "company_budget", "agent_budgets": "agent_budget", "alerts": "alert",
    "budget": "company_budget",
}  # fmt: skip
"""The lists of a file, and the kind of record that each has."""
GIVEN_NAMES: Final = frozenset({"id", "note", "amount"})
"""The names in the braces of a verb that are no fields of its row."""


class DeclaredWrite(msgspec.Struct, frozen=True, kw_only=True):
    """A request that changes the platform; exactly one of the four methods has its path."""

    post: str | None = None
    put: str | None = None
    patch: str | None = None
    delete: str | None = None
    body: dict[str, Any] | None = None
    """What is sent as JSON; a text that is one name in braces becomes its value."""
    unit: SumUnit | None = None
    """The unit in which the platform takes the sum."""
    whole: bool = False
    """Whether it takes whole numbers of that unit only."""
    done: Words = ()
    """The status words with which an answer says that it was done; none: any answer does."""
    warns: str | None = None
    """What the user should know before it is sent."""

    @property
    def request(self) -> tuple[str, str]:
        """The HTTP method and the path, with braces."""
        for method in ("post", "put", "patch", "delete"):
            path: str | None = getattr(self, method)
            if path is not None:
                return method.upper(), path
        return "", ""


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """A read whose answer shows that a verb was done: it then has a row with certain words."""

    get: str
    query: dict[str, str] = {}
    where: str = ""
    """The path of the rows; empty if the answer is the list, or the only row."""
    rows: dict[str, Words]
    """By field: the words of which a row has one. A name in braces stands for its value."""
    new: bool = False
    """Whether only a row counts that was not there before the verb was sent."""


class DeclaredVerb(DeclaredWrite, frozen=True, kw_only=True):
    """What can be done to a record beside what every platform offers."""

    on: Words
    """The sources that its records are from, all of one kind."""
    types: Words = ()
    """The types of rows that it is for; all if there are none."""
    when: Words = ()
    """The status words of rows that it is for, as in `rows` of a source."""
    key: str
    label: str | None = None
    """One or two words for it; its name if left out."""
    asks: str
    """The question before it is done; names in braces are those of the row."""
    note: Literal["optional", "required"] = "optional"
    """Whether the note may stay empty, if its request takes one."""
    proof: Proof | None = None
    """What shows that it was done, if not the status of the record."""


class TraceSource(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a part of what is known of a task's course."""

    get: str
    kind: str | None = None
    """What its steps are called that have no kind of their own: "comment"."""
    fields: dict[Literal["kind", "name", "text", "status", "at"], str] = {}
    """Where these are in a step, if not under a name that is known anyway."""
    lines: str | None = None
    """The path of a text with a JSON object in each line, if the steps are there."""
    next: str | None = None
    """The path of the `offset` at which a longer log goes on."""


class OffsetPaging(msgspec.Struct, frozen=True, kw_only=True):
    """Pages that are asked for by the number of rows before them."""

    offset: str
    limit: str
    size: int


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One request, the rows of its answer that are wanted, and how these are read."""

    get: str
    one: str | None = None
    """The path of a single record, with `{id}`."""
    query: dict[str, str] = {}
    lists: Literal["both", "pending", "all"] = "both"
    """Of tasks: the lists that it is a part of, that of what waits, or that of all."""
    pending: dict[str, str] = {}
    """What is added to the query where only waiting tasks are asked for."""
    takes: dict[Literal["limit", "from", "to", "agent_id", "company_id"], str] = {}
    """The names of parameters for what limits a list."""
    written: dict[Literal["from", "to"], str] = {}
    """How a day is written for it, with the day as 2026-11-22 in braces."""
    most: int | None = None
    """The largest limit that the platform takes."""
    rests: float = 0.0
    """Seconds for which its answer is used again while no other answer of its company changes."""
    pages: OffsetPaging | None = None
    """How further pages are asked for, if the answer does not say it."""
    where: str = ""
    """The path of the rows in the answer; empty if the answer is the list."""
    rows: dict[str, Words] = {}
    """By field: the words of which a row has one, and with a "!" those that it must not have."""
    ignored: Words = ()
    """Fields that are not about the record, as its place in a list: a change of them is none."""
    fields: dict[str, str] = {}
    """Where our fields are, if not under a name that is known anyway."""
    status: dict[str, Words] = {}
    """By state: the status words that mean it."""
    severity: dict[str, Words] = {}
    cause: Words = ()
    """The fields that say which cause a row reports; the first that has a value counts."""
    names: dict[str, str] = {}
    """Names of the file's own for fields of a row, to be used in braces like those."""
    type: str | None = None
    """The field whose word is the type of a row, for `says` and `never`; it is a task's kind."""
    says: dict[str, Words] = {}
    """By type, or "*" for any: titles, of which the first is used whose names all have a value."""
    never: dict[str, str] = {}
    """By type, or "*" for any: why a row must not be approved."""
    approve: DeclaredWrite | None = None
    trace: tuple[TraceSource | str, ...] = ()
    """What is known of a task's course, each a path or a table with one; joined by time."""

    @property
    def traces(self) -> tuple[TraceSource, ...]:
        """The requests of `trace`."""
        return tuple(
            TraceSource(get=each) if isinstance(each, str) else each for each in self.trace
        )

    def request(
        self, company: str | None, status: str | None, asked: Mapping[str, str]
    ) -> tuple[str, dict[str, str]]:
        """The path and the query of the list; `asked` are values for the names of `takes`."""
        query = dict(self.query)
        if status == "pending":
            query.update(self.pending)
        if self.pages is not None:
            query[self.pages.limit] = str(self.pages.size)
        for name, value in asked.items():
            parameter = self.takes.get(name)  # type: ignore[call-overload]
            if parameter is not None:
                template = self.written.get(name, "")  # type: ignore[call-overload]
                query[parameter] = fill(template, {name: value}.get) or value
        path = fill_path(self.get, {"company": company}.get)
        assert path is not None, self.get
        return path, query

    def by_type(self, row_type: str | None, name: Literal["says", "never"]) -> Any:
        """What the source says of a type of row; None if nothing."""
        words: dict[str, Any] = getattr(self, name)
        return words.get(row_type or "", words.get("*"))


Sources: TypeAlias = dict[str, Source]


class KeyHeaderDeclaration(msgspec.Struct, frozen=True, kw_only=True):
    """The header that has the key, and what stands in it before the key."""

    header: str = "Authorization"
    before_key: str = "Bearer "
    right_key: str | None = None
    """Which key is needed, or where it is made, for the user whose key lacks a permission."""


class Sign(msgspec.Struct, frozen=True, kw_only=True):
    """How the platform is recognised: an answer without a key that has a field."""

    get: str
    has: str
    version: str | None = None
    """Where the answer may have the version of the platform."""


class RoleDeclaration(msgspec.Struct, frozen=True, kw_only=True):
    """Where an answer says which role the key's user has, and which roles may change nothing."""

    get: str
    where: str = ""
    """The path of the rows that have a role each; empty if the answer has only one."""
    at: str
    read_only: Words
    unless: dict[str, str] = {}
    """Fields of the answer and their values; with one of them every role may change something."""

    def read_only_role(self, answer: Any) -> str | None:
        """The role in an answer if it may change nothing; None if not, or if that is not known.

        Of several rows, each must have such a role: where only some have, something may be changed.
        """
        if any(as_word(value_at(answer, name)) == word for name, word in self.unless.items()):
            return None
        rows = value_at(answer, self.where) if self.where else [answer]
        roles = [as_word(value_at(row, self.at)) for row in rows] if isinstance(rows, list) else []
        if not roles or any(role not in self.read_only for role in roles):
            return None
        return roles[0]


class NewsDeclaration(msgspec.Struct, frozen=True, kw_only=True):
    """The web socket by which the platform tells what changes in a company."""

    get: str
    """The path, with `{company}`."""
    type: str
    """The field of a message, which is JSON, that has its type."""
    types: Words
    """The types of the messages that count, as in `rows` of a source."""


class MoneyDeclaration(msgspec.Struct, frozen=True, kw_only=True):
    """The unit and the currency of sums of which no answer says it."""

    unit: SumUnit | None = None
    currency: str | None = None
    zero_is_limit: bool = False
    """Whether a limit of 0 means that nothing may be spent, and not that there is no limit."""


class PlatformFile(msgspec.Struct, frozen=True, kw_only=True):
    """All that a file says."""

    name: str
    prefix: str = "/api"
    """How all paths begin."""
    found_by: Sign | None = None
    keyless: dict[str, str] = {}
    """Fields of the answer to `found_by`, and their values where no key is needed."""
    auth: KeyHeaderDeclaration = KeyHeaderDeclaration()
    role: RoleDeclaration | None = None
    money: MoneyDeclaration = MoneyDeclaration()
    news: NewsDeclaration | None = None
    companies: Sources = {}
    agents: Sources = {}
    tasks: Sources = {}
    activity: Sources = {}
    company_budgets: Sources = {}
    agent_budgets: Sources = {}
    alerts: Sources = {}
    budget: Sources = {}
    """Of all budgets that are summed up to that of the platform."""
    create_company: DeclaredWrite | None = None
    clone_company: DeclaredWrite | None = None
    create_task: DeclaredWrite | None = None
    set_limit: DeclaredWrite | None = None
    verbs: dict[str, DeclaredVerb] = {}

    @property
    def first_request(self) -> FirstRequest:
        """That for the companies, which every other list is asked for by."""
        source = next(iter(self.companies.values()))
        path, query = source.request(None, None, {})
        return FirstRequest(path, tuple(query.items()), has_tasks=False)

    def sending(self, key: K | None) -> tuple[K | ApiKey | None, Conventions]:
        """The key that a transport is given, and how it sends requests.

        Without a key, one that is never sent takes its place, if the platform may need none.
        """
        sources = (source for name in LISTS for source in getattr(self, name).values())
        is_keyless = key is None and bool(self.keyless)
        conventions = Conventions(
            key_header=None if is_keyless else (self.auth.header, self.auth.before_key),
            prefix=self.prefix,
            collections=frozenset(source.get for source in sources if "{" not in source.get),
            right_key=clean_line(self.auth.right_key) if self.auth.right_key else None,
        )
        return (ApiKey(token_hex(20)) if is_keyless else key), conventions

    def recognises(self, answer: Any) -> bool:
        """Whether the answer to `found_by` is this platform's."""
        is_object = isinstance(answer, dict)
        return self.found_by is not None and is_object and self.found_by.has in answer

    def needs_no_key(self, answer: Any) -> bool:
        """Whether the answer to `found_by` says that no key is needed."""
        if not self.keyless or not self.recognises(answer):
            return False
        return all(answer.get(name) == value for name, value in self.keyless.items())
