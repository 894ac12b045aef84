"""Creating tasks and companies, cloning companies, setting limits; what an earlier run left open.

What is to be created is looked for before and after, so that a lost answer doesn't make one twice;
a limit is compared with what was shown. Forms are checked before: the interface states no bounds,
so only what no platform can want is refused here; the rest is the platform's to refuse.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, TypeVar, cast

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.decisions import task_of
from agentco_tui.actions.fingerprint import Difference
from agentco_tui.actions.journal_file import Attempt, seconds_of
from agentco_tui.actions.outcome import (
    GOOD,
    Check,
    Found,
    KnownBy,
    Outcome,
    OutcomeKind,
    Verb,
)
from agentco_tui.actions.services import Services
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.errors import ApiError, KeyRejected, NotAllowed, Sent
from agentco_tui.format import money
from agentco_tui.live.insight import waits_for_person
from agentco_tui.live.poller import of_all_companies
from agentco_tui.live.store import Collection
from agentco_tui.model import Agent, Budget, Company, Listing, Receipt, Record, Ref, Task
from agentco_tui.reading.identity import refusal
from agentco_tui.text import SafeText, is_blank, plain, safe, signs

R = TypeVar("R", bound=Record)
T = TypeVar("T", Task, Company)

CLOCKS_DIFFER = 5.0  # seconds by which a record may seem older than the attempt that made it
KEPT = 50  # ids of records alike that are kept with an attempt
LONGEST = 10_000  # characters of what is typed into a form
NEEDED = {
    "company_id": "choose a company",
    "agent_id": "choose an agent",
    "title": "say what is to be done",
    "priority": "choose a priority",
    "name": "give it a name",
}
"""What is said of what may not stay empty. A name is needed to know what was made again."""
WHOLE_DIGITS = 12
DECIMALS = 6
_UNSEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")


def check_form(values: Mapping[str, str]) -> dict[str, SafeText]:
    """What is wrong with the fields of a form that are typed; empty if all can be sent."""
    problems: dict[str, SafeText] = {}
    for field, text in values.items():
        lines = dict.fromkeys(map(ord, "\n\t\u2028\u2029"), " ") if field == "mission" else {}
        if is_blank(text) and field in NEEDED:
            problems[field] = plain(NEEDED[field])
        elif len(text) > LONGEST:
            problems[field] = plain(f"no more than {LONGEST:,} characters")
        # Control characters, ends of lines and lone surrogates; joiners of emoji are let through.
        elif not _UNSEEN.isdisjoint(map(unicodedata.category, text.translate(lines))):
            problems[field] = plain("plain text only: it holds a character that can't be seen")
    return problems


class ListedWrite(Write[R], ABC):
    """A write whose record is looked for in a list, before it is sent and after."""

    company: Ref | None = None
    agent: Ref | None = None
    collection: Collection[R]
    """The store's, into which the record is put."""

    @abstractmethod
    async def listing(self) -> Listing[R]:
        """Read the list."""

    @abstractmethod
    def remember_store(self) -> None:
        """Keep what the store has of all that this write rests on, for `why_overtaken`; called when
        a read begins.
        """

    @abstractmethod
    def compare(self, listing: Listing[R] | None) -> Mapping[str, Any] | Outcome:
        """The details for the journal, or why nothing is to be sent; `listing` is None where the
        platform doesn't give the list. Where an attempt is in the journal already (`attempt_id`),
        it also compares with the read before that.
        """

    @abstractmethod
    def judge(self, listing: Listing[R]) -> tuple[Found, R | None, str]:
        """What a read shows of whether it came about, by which record, and why no more is told."""

    async def prepare(self) -> Attempt | Outcome:
        self.read_began = self.services.clock.monotonic()
        self.remember_store()
        try:
            listing = await self.listing()
        except ApiError as error:
            if error.sent is not Sent.NO or isinstance(error, KeyRejected | NotAllowed):
                words = f"nothing was sent, because it could not be read first: {error.sentence}"
                return self.unsent(words, error=error)
            listing = None
        found = self.compare(listing)
        if isinstance(found, Outcome):
            return found
        return self.attempt(company=self.company, agent=self.agent, details=found)

    async def check(self) -> Check[R]:
        began = self.services.clock.monotonic()
        try:
            found, record, why = self.judge(await self.listing())
        except ApiError as error:
            return Check(found=Found.FAILED, began=began, error=error, why=error.sentence)
        return Check(found=found, began=began, record=record, why=plain(why) if why else None)

    def take(self, outcome: Outcome) -> None:
        if outcome.kind in GOOD and outcome.record is not None:
            self.services.store.publish(self.collection.put(cast(R, outcome.record)))


# ---- creating


class Creation(ListedWrite[T], ABC):
    """Makes a record, which is known again as one alike that was not there before."""

    details: Mapping[str, Any]  # for the journal, as they are sent
    known: Sequence[str] | None = None
    """Ids of those alike that were there before the attempt; None if that could not be read."""
    began_at = 0.0  # the platform's time of the attempt, seconds since 1970
    _rests_on: Mapping[str, Agent | Company] = {}
    """What the store had, when the first read began, of the records that the new one is made from
    or belongs to: by what they are called in a sentence."""

    @abstractmethod
    def is_alike(self, record: T) -> bool:
        """Whether a record could be the one that is to be made."""

    @abstractmethod
    def rests_on(self) -> Mapping[str, Agent | Company]:
        """The records in the store that the new one is made from or belongs to, by what they are
        called in a sentence; without those that the store doesn't have.
        """

    def remember_store(self) -> None:
        if self.attempt_id is None:  # what was there for the first read must be there to the end
            self._rests_on = self.rests_on()

    def why_overtaken(self) -> SafeText | None:
        """There is no subject yet: what must still be listed is what the new record is made from or
        belongs to. Whether one like it was made meanwhile is compared at each read (`compare`).
        """
        now = self.rests_on()
        for what in self._rests_on:
            if what not in now:
                return plain(f"{what} is not listed any more")
        return None

    def recheck(self) -> Outcome | None:
        gone = self.why_overtaken()
        if gone is None:
            return None
        return self.unsent(f"nothing was sent: since you asked for it, {gone}")

    def compare(self, listing: Listing[T] | None) -> Mapping[str, Any] | Outcome:
        alike: list[T] | None = None
        if listing is not None and listing.whole:
            alike = [record for record in listing.records if self.is_alike(record)]
        if self.attempt_id is not None:
            # The journal has the first read, with which the new record is told from older ones.
            known = self.known
            new = [record for record in alike or () if known is not None and record.id not in known]
            if new:
                which = f"one like it was created ({safe(new[0].id)})"
                words = f"nothing was sent: since it was read first, {which}; look at it"
                return self.outcome(OutcomeKind.CHANGED, words, KnownBy.READ, record=new[0])
            return {}
        self.known = None if alike is None else [record.id for record in alike]
        self.began_at = self.services.clock.now()
        kept = None if self.known is None or len(self.known) > KEPT else self.known
        return {"before": kept, "platform_time": self.began_at, **self.details}

    def recall(self, attempt: Attempt) -> None:
        ids, at = attempt.details.get("before"), attempt.details.get("platform_time")
        self.known = [str(value) for value in ids] if isinstance(ids, list) else None
        written = seconds_of(attempt.time) or 0.0
        self.began_at = float(at) if isinstance(at, int | float) else written

    def judge(self, listing: Listing[T]) -> tuple[Found, T | None, str]:
        """Whether the new one is there: by the id in the answer, else as one that wasn't before."""
        known = self.known
        told = None if self.answer.receipt is None else self.answer.receipt.record_id
        since = self.began_at - CLOCKS_DIFFER
        alike = [record for record in listing.records if self.is_alike(record)]
        new = [record for record in alike if known is not None and record.id not in known]
        if known is None:
            new = [
                record
                for record in alike
                if record.id == told or (record.created and record.created.at >= since)
            ]
        if new:
            return Found.DONE, next((one for one in new if one.id == told), new[0]), ""
        if known is None and alike:
            which = f"there is one alike ({safe(alike[0].id)})"
            why = f"{which}, which may be the new one or an older one: look at it"
            return Found.OTHERWISE, alike[0], why
        if not listing.whole:
            return Found.PARTIAL, None, "the list came only in part, and it isn't in that part"
        return Found.BEFORE, None, ""

    def done(self, record: T | None) -> str:
        return "created" if record is None else f"created: {safe(record.id)}"


class TaskCreation(Creation[Task]):
    """POST /api/tasks; `form` has its fields: company_id, title, agent_id and priority.

    `Outcome.fields` has the messages for the form if it is refused.
    """

    def __init__(self, services: Services, form: Mapping[str, str]) -> None:
        subject = subject_of(form["company_id"], form["title"], form["agent_id"])
        super().__init__(services, Verb.CREATE_TASK, subject, safe(form["title"]))
        self.form, self.fields, self.texts = form, tuple(form), tuple(form.values())
        self.company, self.agent = Ref(id=form["company_id"]), Ref(id=form["agent_id"])
        self.details = {"title": form["title"], "priority": form["priority"]}

    def rests_on(self) -> Mapping[str, Agent | Company]:
        store = self.services.store
        agent = store.agents.get(self.form["agent_id"])
        company = store.companies.get(self.form["company_id"])
        found: dict[str, Agent | Company] = {}
        if agent is not None:
            found["the agent"] = agent
        if company is not None:
            found["the company"] = company
        return found

    async def listing(self) -> Listing[Task]:
        company = self.form["company_id"]
        return await self.services.decision_client.tasks(company_id=company or None)

    def named_ids(self) -> Iterable[str | None]:
        return self.form["company_id"], self.form["agent_id"]

    def named_records(self) -> Iterable[Record | None]:
        store = self.services.store
        return store.companies.get(self.form["company_id"]), store.agents.get(self.form["agent_id"])

    def is_alike(self, record: Task) -> bool:
        agent, company = record.agent or Ref(), record.company or Ref()
        return (
            record.title == self.title
            and agent.id in (None, self.form["agent_id"])
            and company.id in (None, self.form["company_id"])
        )

    def send(self, attempt_id: str) -> Awaitable[Receipt[Task]]:
        client = self.services.decision_client
        return client.create_task(
            **self.form, attempt_id=attempt_id, why_withheld=self.why_withheld
        )

    def take(self, outcome: Outcome) -> None:
        record, store = outcome.record, self.services.store
        if outcome.kind in GOOD and isinstance(record, Task):
            company = None if record.company is None else record.company.id
            if self.services.poller.query.company in (None, company):
                if waits_for_person(record):
                    store.publish(store.pending.put(record))
                if len(store.tasks) or not waits_for_person(record):
                    store.publish(store.tasks.put(record))


class CompanyCreation(Creation[Company]):
    """POST /api/companies with name, template and mission; or with a source, and without a
    template, POST /api/companies/:id/clone.
    """

    def __init__(
        self, services: Services, form: Mapping[str, str], source: Company | None = None
    ) -> None:
        verb = Verb.CREATE_COMPANY if source is None else Verb.CLONE_COMPANY
        name = form["name"]
        subject = subject_of("" if source is None else source.id, name)
        super().__init__(services, verb, subject, safe(name))
        self.form, self.fields, self.source = form, tuple(form), source
        self.texts = tuple(form.values())
        self.collection = services.store.companies
        self.company = None if source is None else Ref(id=source.id, name=source.name)
        self.details = {"name": name}

    def rests_on(self) -> Mapping[str, Agent | Company]:
        source = None if self.source is None else self.collection.get(self.source.id)
        return {} if source is None else {"the company to clone": source}

    async def listing(self) -> Listing[Company]:
        return await self.services.decision_client.companies()

    def named_ids(self) -> Iterable[str | None]:
        return () if self.source is None else (self.source.id,)

    def named_records(self) -> Iterable[Record | None]:
        if self.source is None:
            return ()
        return self.source, self.services.store.companies.get(self.source.id)

    def is_alike(self, record: Company) -> bool:
        return record.name == self.title

    def send(self, attempt_id: str) -> Awaitable[Receipt[Company]]:
        client = self.services.decision_client
        filled_in = {name: text for name, text in self.form.items() if text}
        if self.source is not None:
            return client.clone_company(
                self.source.id,
                **filled_in,
                attempt_id=attempt_id,
                why_withheld=self.why_withheld,
            )
        return client.create_company(
            **filled_in, attempt_id=attempt_id, why_withheld=self.why_withheld
        )


def subject_of(*parts: str) -> str:
    """A short digest of what is to be created: two attempts at the same have the same."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return f"new:{digest.hexdigest()[:24]}"


# ---- limits


def check_limit(text: str) -> Decimal | SafeText:
    """The monthly limit that was typed, or what is wrong with it.

    >>> check_limit(" 1250.50 "), check_limit("1,250")
    (Decimal('1250.50'), 'digits and a point only, without commas, as in 1250.50')
    """
    typed = text.strip()
    if not _NUMBER.fullmatch(typed):
        return plain("digits and a point only, without commas, as in 1250.50")
    whole, _, decimals = typed.partition(".")
    if len(whole.lstrip("0")) > WHOLE_DIGITS or len(decimals.rstrip("0")) > DECIMALS:
        return plain(f"no more than {WHOLE_DIGITS} digits, and {DECIMALS} after the point")
    return Decimal(typed)


class LimitChange(ListedWrite[Budget]):
    """POST /api/budget/agents/:id: sets the limit of the agent `agent.id`.

    `shown` is the budget that the person saw, None if none was known; if the limit is another by
    now, nothing is sent. `company` narrows the reading. A message for the form stands under
    "monthly_limit".
    """

    fields = ("monthly_limit",)
    reads_after_conflict: ClassVar[bool] = True

    def __init__(
        self,
        services: Services,
        agent: Ref,
        wanted: Decimal,
        *,
        shown: Budget | None = None,
        company: Ref | None = None,
    ) -> None:
        agent_id, title = agent.id or "", agent.name or safe(agent.id or "")
        super().__init__(services, Verb.SET_LIMIT, agent_id, title)
        self.agent, self.company, self.shown, self.wanted = agent, company, shown, wanted
        self.collection = services.store.agent_budgets
        self.before: str | None = None  # the limit before the attempt, as `_written` writes it
        self._read: Budget | None = None
        """The budget as the first read showed it."""
        self._in_store: Budget | None = None
        """The budget as the store had it when the last read began."""

    def recall(self, attempt: Attempt) -> None:
        limit, old = attempt.details.get("limit"), attempt.details.get("old")
        wanted = check_limit(str(limit))
        self.wanted = wanted if isinstance(wanted, Decimal) else Decimal(0)
        self.before = old if isinstance(old, str) else None

    async def listing(self) -> Listing[Budget]:
        scope = None if self.company is None else self.company.id
        client = self.services.decision_client
        ask, store = client.agent_budgets, self.services.store
        listing = await of_all_companies(ask, store, scope, client.companies)
        return Listing(records=tuple(one for one in listing.records if one.id == self.subject))

    def named_records(self) -> Iterable[Record | None]:
        store = self.services.store
        return self.shown, store.agent_budgets.get(self.subject), store.agents.get(self.subject)

    def remember_store(self) -> None:
        self._in_store = self.collection.get(self.subject)

    def why_overtaken(self) -> SafeText | None:
        """Compares the limit as the store has it now with what it had when the read began."""
        now = self.collection.get(self.subject)
        if self._in_store is not None and now is None:
            return plain("the agent left the list of budgets")
        if now is not None and _written(now) != _written(self._in_store):
            return plain("the limit changed in the list of budgets")
        return None

    def compare(self, listing: Listing[Budget] | None) -> Mapping[str, Any] | Outcome:
        """Whether it may be written to and is still what was shown, else what was read first."""
        now = next(iter(listing.records), None) if listing is not None else None
        refused = refusal((self.subject,), (now,))
        if refused is not None:
            return self.unsent(refused)
        store = self.services.store
        shown = self.shown
        if self.attempt_id is None:
            self._read = now
        elif shown is None:
            shown = self._read
        if now is not None and shown is not None and _written(shown) != _written(now):
            store.publish(store.agent_budgets.put(now))
            difference = Difference("limit", limit_words(shown), limit_words(now))
            return self.changed(now, (difference,))
        if now is not None and self._is_wanted(now):
            words = f"the limit is {limit_words(now)} already: nothing was sent"
            return self.outcome(OutcomeKind.DONE, words, KnownBy.READ, record=now)
        self.before = _written(now)
        return {"limit": str(self.wanted), "old": self.before}

    def send(self, attempt_id: str) -> Awaitable[Receipt[Budget]]:
        client = self.services.decision_client
        return client.set_agent_limit(
            self.subject, self.wanted, attempt_id=attempt_id, why_withheld=self.why_withheld
        )

    def judge(self, listing: Listing[Budget]) -> tuple[Found, Budget | None, str]:
        """Whether the limit is the one wanted, or still the one from before."""
        now = next(iter(listing.records), None)
        if now is None:
            return Found.PARTIAL, None, "the platform lists no budget for this agent"
        if self._is_wanted(now):
            return Found.DONE, now, ""
        if _written(now) == self.before:
            return Found.BEFORE, now, ""
        words = f"the platform shows {limit_words(now)} where {self.wanted:f} was sent"
        return Found.OTHERWISE, now, words

    def done(self, record: Budget | None) -> str:
        return f"the monthly limit is {self.wanted:f} now"

    def _is_wanted(self, budget: Budget) -> bool:
        """Whether the limit is the one wanted; some platforms take 0 for none."""
        if budget.unlimited:
            return self.wanted == 0
        return budget.limit is not None and budget.limit.amount == self.wanted


def _written(budget: Budget | None) -> str | None:
    """The limit in a form that can be compared and stored; None if it isn't known."""
    if budget is None:
        return None
    if budget.unlimited:
        return "none"
    return None if budget.limit is None else f"{budget.limit.amount.normalize():f}"


def limit_words(budget: Budget | None) -> SafeText:
    if budget is None:
        return signs.missing
    return plain("no limit") if budget.unlimited else money(budget.limit, exact=True)


# ---- what an earlier run left open


async def recover(services: Services, attempt: Attempt) -> Outcome | None:
    """Find out by reading what became of an attempt that was left behind; nothing is sent.

    None for one of a verb that only a newer version knows.
    """
    write: Write[Any]
    match attempt.verb:
        case Verb.APPROVE:
            write = Approval(services, task_of(attempt))
        case Verb.CREATE_TASK:
            form = {
                "company_id": attempt.company or "",
                "title": str(attempt.details.get("title", attempt.title)),
                "agent_id": attempt.agent or "",
                "priority": "",
            }
            write = TaskCreation(services, form)
        case Verb.CREATE_COMPANY | Verb.CLONE_COMPANY:
            name = str(attempt.details.get("name", attempt.title))
            write = CompanyCreation(services, {"name": name})
        case Verb.SET_LIMIT:
            agent, company = Ref(id=attempt.subject), Ref(id=attempt.company)
            write = LimitChange(services, agent, Decimal(0), company=company)
        case _:
            return None
    return await write.take_up(attempt).reconcile()
