"""The platform's records (companies, agents, tasks, budgets, alerts, activity) as frozen structs.

The platform is the remote service that runs companies of AI agents. `agentco_tui.reading` decodes
responses into them; all other packages read them. A `SafeText` has been cleaned of control
characters and escape sequences, so it can be shown. Identifiers (`id`) are kept exactly as they
were sent, because they go back into requests; they must pass `clean_line` before they are shown. A
field that was not sent is None, never 0 or "". A `status` is the platform's word, the `state` what
it means to this program. Fields that the decoder did not understand are kept in `extra` as compact
JSON, and shown in the detail pane.

A record is writable if a request may name it by its id. It is not if the platform sent no id, or
the same id for several rows: then `id_doubt` says why, and no approval or change can be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec

from agentco_tui.text import SafeText, clean_line, joined

R = TypeVar("R")

_decode = msgspec.json.Decoder(float_hook=Decimal).decode


class IdDoubt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why no write may name a record by its id (decided in `reading.identity`)."""

    reason: SafeText
    """A sentence for the user."""
    sharers: int = 1
    """How many different rows of the answer came with this id; 1 if no other row has it."""
    nth: int = 1
    """Which of the sharers this record is, from 1."""
    sent_id: str | None = None
    """The id that was sent; the record's own `id` is then made up, to tell it from the others. None
    if the record has the id that was sent."""


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The fields of all records."""

    id: str
    """Exactly as sent; derived from the content where the platform sent none (see `id_derived`),
    and made up, with a NUL in it, where different rows came with the same id (see `sent_id`)."""
    extra: bytes = b""
    """The fields that were not understood, as JSON; empty if there were none."""
    id_doubt: IdDoubt | None = None
    """Why no write may name this record; None if a write may."""
    cause: str | None = None
    """Which cause of its company it reports, if the platform says so: records of any kind with the
    same one are one need. Never shown, and never an id."""

    @property
    def unwritable(self) -> SafeText | None:
        """Why no write may name this record, as a sentence; None if a write may."""
        return None if self.id_doubt is None else self.id_doubt.reason

    @property
    def sent_id(self) -> str:
        """The id as the platform sent it; never the made-up one of a row that shares its id."""
        doubt = self.id_doubt
        return self.id if doubt is None or doubt.sent_id is None else doubt.sent_id

    @property
    def sharers(self) -> int:
        """How many different rows of the answer came with this record's id, itself included."""
        return 1 if self.id_doubt is None else self.id_doubt.sharers

    @property
    def nth(self) -> int:
        """Which of the `sharers` of its id this record is, from 1."""
        return 1 if self.id_doubt is None else self.id_doubt.nth

    @property
    def shared_id(self) -> bool:
        """Whether other, different rows of the same answer came with the same id."""
        return self.sharers > 1


class Moment(msgspec.Struct, frozen=True, gc=False):
    """A point in time: seconds since 1970-01-01 UTC."""

    at: float
    zone_assumed: bool = False
    """True if the platform named no zone and UTC was assumed."""


class Money(msgspec.Struct, frozen=True, gc=False):
    """A sum in whole currency units, exact."""

    amount: Decimal
    currency: SafeText | None = None
    """Upper case code such as USD, or a unit that is no money such as TOKENS; None if not sent."""
    unit_assumed: bool = False
    """True if neither a field name nor a sibling said whether these are units or cents."""
    derived: bool = False
    """True if it was computed here (remaining from limit and spent) and not sent."""


class Ref(msgspec.Struct, frozen=True, gc=False):
    """A reference to another record; at least one of id and name is known."""

    id: str | None = None
    name: SafeText | None = None


class TaskState(StrEnum):
    """The states to which tasks' status words are mapped; for OTHER the word itself is shown."""

    PENDING = "pending"
    """Waits for a decision."""
    QUEUED = "queued"
    RUNNING = "running"
    APPROVED = "approved"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REJECTED = "rejected"
    OTHER = "other"


class AgentState(StrEnum):
    """The states to which agents' status words are mapped; for OTHER the word itself is shown."""

    ACTIVE = "active"
    IDLE = "idle"
    PAUSED = "paused"
    ERROR = "error"
    PENDING = "pending"
    STOPPED = "stopped"
    OTHER = "other"


class Severity(StrEnum):
    """How bad an alert or an activity entry is; UNKNOWN if the platform did not say."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"
    UNKNOWN = "unknown"


class BudgetScope(StrEnum):
    """Whose budget it is: everything's, a company's or an agent's."""

    ALL = "all"
    COMPANY = "company"
    AGENT = "agent"


class Company(Record, frozen=True, kw_only=True, gc=False):
    """A company of agents. Here and in all records, `status` is the platform's own word."""

    name: SafeText | None = None
    template: SafeText | None = None
    """The platform's name of the pattern that the company was created from."""
    mission: SafeText | None = None
    status: SafeText | None = None
    created: Moment | None = None
    agent_count: int | None = None
    task_count: int | None = None
    pending_count: int | None = None
    """How many of the tasks wait for a decision."""


class Agent(Record, frozen=True, kw_only=True, gc=False):
    """An agent of a company."""

    name: SafeText | None = None
    role: SafeText | None = None
    company: Ref | None = None
    trust: Decimal | None = None
    """The score that the platform gives the agent; its scale is not known."""
    trust_word: SafeText | None = None
    """The score if it is a word."""
    budget_remaining: Money | None = None
    status: SafeText | None = None
    state: AgentState | None = None
    pause_reason: SafeText | None = None
    error_reason: SafeText | None = None
    """What went wrong; it counts only while the state is ERROR, and may be older than the state."""
    reports_to: Ref | None = None
    """The agent whose instructions it follows."""
    model: SafeText | None = None
    tasks_completed: int | None = None
    created: Moment | None = None
    last_seen: Moment | None = None


class Task(Record, frozen=True, kw_only=True, gc=False):
    """A piece of work, which may wait for an approval."""

    title: SafeText
    """Its title, else another text that describes it, else its id."""
    title_from: str = "title"
    """The field the title was taken from; "id" if there were no words at all."""
    key: SafeText | None = None
    """What users call it beside its title: "GLO-7"."""
    kind: SafeText | None = None
    """What sort of thing it is, in the platform's word: "hire_agent", "review"."""
    description: SafeText | None = None
    """Several lines, safe as a block."""
    status: SafeText | None = None
    state: TaskState | None = None
    """None if no status was sent."""
    needs_approval: bool | None = None
    """The platform's explicit flag; None if it sends none."""
    agent: Ref | None = None
    company: Ref | None = None
    priority: SafeText | None = None
    """The platform's word or number."""
    trust: Decimal | None = None
    """The agent's score, if the task carries it."""
    created: Moment | None = None
    waiting_since: Moment | None = None
    """When it began to wait for a decision, if the platform sends that in addition to `created`."""
    updated: Moment | None = None
    decided: Moment | None = None
    decided_by: SafeText | None = None
    expires: Moment | None = None
    cost: Money | None = None
    """The cost it had, or is expected to have."""
    estimate: Money | None = None
    """What it is expected to cost in all, if the platform sends that under a name of its own."""
    content: bytes = b""
    """A digest of all fields except the volatile ones (see `reading/content.py`)."""

    @property
    def keyed_title(self) -> SafeText:
        """The title behind the key, unless the key is a word of the title: "GLO-7 Ship it"."""
        return with_key(self.key, self.title)

    @property
    def cut(self) -> SafeText | None:
        """What was too long to be kept, in words; None if the task is complete."""
        if b'"(cut)":' not in self.extra:
            return None
        return clean_line(extra_fields(self.extra).get("(cut)", "more"))


class Budget(Record, frozen=True, kw_only=True, gc=False):
    """The limit and spending of everything, of a company or of an agent; `id` is the owner's."""

    scope: BudgetScope
    name: SafeText | None = None
    company: Ref | None = None
    limit: Money | None = None
    unlimited: bool = False
    """True if the platform said that there is no limit (null, 0 or a sentinel)."""
    spent: Money | None = None
    remaining: Money | None = None
    """The rest of the limit; marked `derived` if it was computed from limit and spent."""
    share: Decimal | None = None
    """Spent over limit, 1 = all of it; may exceed 1."""
    share_derived: bool = False
    """True if computed here from spent and limit."""
    warn_at: Decimal | None = None
    """The share (1 = the whole limit) from which the platform itself warns."""
    forecast: Money | None = None
    period: SafeText | None = None
    period_start: Moment | None = None
    resets: Moment | None = None
    status: SafeText | None = None
    paused: bool | None = None

    @property
    def subject(self) -> str:
        """The id of the company or agent; "" for the budget of everything."""
        return "" if self.scope is BudgetScope.ALL else self.id


class BudgetOverview(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer to /api/budget: the budget of everything, and any others that came with it."""

    whole: Budget
    parts: tuple[Budget, ...] = ()
    shape: str = ""
    """Where in the answer the records were, for the command `doctor`, which checks a platform."""
    digest: bytes = b""
    """Hash of the raw body: equal digests, equal answers."""


class Alert(Record, frozen=True, kw_only=True, gc=False):
    """A warning about a budget."""

    severity: Severity = Severity.UNKNOWN
    text: SafeText
    """The platform's words, else a sentence built from its fields."""
    kind: SafeText | None = None
    status: SafeText | None = None
    open: bool | None = None
    """False once resolved, dismissed or acknowledged; None if the platform doesn't say."""
    company: Ref | None = None
    agent: Ref | None = None
    at: Moment | None = None
    limit: Money | None = None
    spent: Money | None = None
    share: Decimal | None = None
    threshold: Decimal | None = None
    """The part of the limit whose spending raised the alert; 1 is all of it."""


class Activity(Record, frozen=True, kw_only=True, gc=False):
    """One entry of the activity log."""

    at: Moment | None = None
    text: SafeText | None = None
    """The platform's words; without them `live.sentences` makes a sentence of the other fields."""
    verb: SafeText | None = None
    """What was done, by the platform's word for it: "task.approved"."""
    agent: Ref | None = None
    actor: Ref | None = None
    """Who did it, if that is not `agent`."""
    actor_type: SafeText | None = None
    company: Ref | None = None
    task: Ref | None = None
    task_key: SafeText | None = None
    """What users call the task beside its title: "ACT-1778"."""
    target: Ref | None = None
    """What it was done to, if that is not a task."""
    target_type: SafeText | None = None
    severity: Severity = Severity.UNKNOWN
    severity_derived: bool = False
    """True if none was sent, and it was derived from the verb or the outcome."""
    outcome: SafeText | None = None
    """Whether it succeeded, in the platform's word."""
    id_derived: bool = False
    """True if the platform sent no id and it was made from the content."""


class TraceStep(Record, frozen=True, kw_only=True, gc=False):
    """One step of what an agent did for a task, in the order it happened."""

    depth: int = 0
    """0 for a root, one more for each parent above it."""
    parent: str | None = None
    kind: SafeText | None = None
    name: SafeText | None = None
    text: SafeText | None = None
    """Input, output or message: several lines, safe as a block."""
    status: SafeText | None = None
    failed: bool = False
    at: Moment | None = None
    duration: float | None = None
    """Seconds."""
    tokens: int | None = None
    cost: Money | None = None


class Listing(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """The answer to a list request, all its pages in one."""

    records: tuple[R, ...]
    unread: int = 0
    """How many rows of the answer could not be decoded."""
    unread_reasons: tuple[SafeText, ...] = ()
    """Why rows could not be read, of the first few of them."""
    capped: bool = False
    """True if more exist than were fetched, because a limit of our client was reached."""
    more: bool = False
    """True if the answer says or suggests that more exist and gave no way to get them."""
    total: int | None = None
    """The platform's own count, a hint only."""
    shape: str = ""
    """Where in the answer the records were, for `doctor`: "data.tasks[]"."""
    pages: int = 1
    digest: bytes = b""
    """Hash of the raw bodies: equal digests, equal answers."""

    @property
    def whole(self) -> bool:
        """Whether it holds all records that exist."""
        return not (self.capped or self.more or self.unread)


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """The trace of one task: what its agent did for it, step by step."""

    steps: tuple[TraceStep, ...]
    unread: int = 0
    shape: str = ""
    extra: bytes = b""
    """The rest of the answer, as JSON."""


class Verdict(StrEnum):
    """Whether a 2xx answer to a write says that it was done; only a later read shows if it was."""

    YES = "yes"
    NO = "no"


class Receipt(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """The answer to a write that came back with a 2xx."""

    verdict: Verdict
    http_status: int
    record: R | None = None
    """The record in the answer; None if the answer has none."""
    record_id: str | None = None
    status_word: SafeText | None = None
    """`status` in the answer: of the call or of the record, a hint only."""
    message: SafeText | None = None
    """The platform's own words; the reason where the verdict is NO."""


def with_key(key: SafeText | None, title: SafeText) -> SafeText:
    """A task's title behind its key; the title alone if it has the key, as in "GLO-7: Ship it".

    A key in a longer one does not count: "GLO-7" is not in "GLO-71".
    """
    if key is None or has_word(title, key):
        return title
    return joined((key, title))


def has_word(text: str, word: str) -> bool:
    """Whether a text has a word that no letter or digit touches, in any case."""
    text = text.casefold()
    word = word.casefold()
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(word, at + 1)
    return False


def extra_fields(extra: bytes) -> Mapping[str, Any]:
    """The fields kept in a record's `extra`, raw: pass them through `text` before showing."""
    if not extra:
        return {}
    decoded = _decode(extra)
    return decoded if isinstance(decoded, dict) else {"value": decoded}
