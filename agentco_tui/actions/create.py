"""Creating tasks and companies, and cloning companies: looked for before and after.

So a lost answer doesn't make one twice. Forms are checked before: the interface states no bounds,
so only what no platform can want is refused here; the rest is the platform's to refuse.
"""

from __future__ import annotations

import hashlib
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from agentco_tui.actions.journal_file import Attempt, seconds_of
from agentco_tui.actions.outcome import Check, Found, OnProgress, Outcome, Verb
from agentco_tui.actions.services import Services
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.errors import ApiError
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Company, Listing, Receipt, Ref, Task
from agentco_tui.text import SafeText, plain, safe

T = TypeVar("T", Task, Company)

CLOCKS_DIFFER = 5.0  # seconds by which a record may seem older than the attempt that made it
KEPT = 50  # ids of records alike that are kept with an attempt
LONGEST_NAME = 200
LONGEST_TITLE = 500
LONGEST_WORD = 100
LONGEST_MISSION = 10_000

Problems = Mapping[str, SafeText]  # a sentence for each field that can't be sent; empty if all can


class TaskForm(msgspec.Struct, frozen=True, kw_only=True):
    """What a new task needs; the field names are those of the request body."""

    company_id: str
    title: str
    agent_id: str
    priority: str


class CompanyForm(msgspec.Struct, frozen=True, kw_only=True):
    """What a new company needs; a clone takes no template."""

    name: str
    mission: str
    template: str = ""


def check_task(form: TaskForm) -> Problems:
    return _problems(
        company_id=None if form.company_id else "choose a company",
        title=_wrong(form.title, LONGEST_TITLE, "say what is to be done"),
        agent_id=None if form.agent_id else "choose an agent",
        priority=_wrong(form.priority, LONGEST_WORD, "choose a priority"),
    )


def check_company(form: CompanyForm, source: Company | None = None) -> Problems:
    """What is wrong with the form of a new company, or of a clone of `source`."""
    mission = form.mission.translate(dict.fromkeys(map(ord, "\n\t\u2028\u2029"), " "))
    template = form.template if source is None else "none"
    return _problems(
        name=_wrong(form.name, LONGEST_NAME, "give it a name"),
        template=_wrong(template, LONGEST_NAME, "name a template"),
        mission=_wrong(mission, LONGEST_MISSION, "say what it is for"),
    )


def _wrong(text: str, longest: int, missing: str) -> str | None:
    typed = text.strip()
    if not typed:
        return missing
    if len(typed) > longest:
        return f"{len(typed):,} characters are too many: no more than {longest:,}"
    # Control characters, ends of lines and lone surrogates; joiners of emoji are let through.
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in typed):
        return "plain text only: it holds a character that can't be seen"
    return None


def _problems(**problems: str | None) -> Problems:
    return {field: plain(words) for field, words in problems.items() if words is not None}


class Creation(Write[T], ABC):
    """Makes a record, which is known again as one alike that was not there before."""

    company: Ref | None = None
    agent: Ref | None = None
    details: Mapping[str, Any]  # for the journal, as they are sent
    known: Sequence[str] | None = None
    """Ids of those alike that were there before the attempt; None if that could not be read."""
    began_at = 0.0  # the platform's time of the attempt, seconds since 1970

    @abstractmethod
    async def listing(self) -> Listing[T]:
        """Read the list that it will stand in."""

    @abstractmethod
    def is_alike(self, record: T) -> bool:
        """Whether a record could be the one that is to be made."""

    async def prepare(self) -> Attempt | Outcome:
        self.known = None
        try:
            listing = await self.listing()
            if _whole(listing):
                self.known = [record.id for record in listing.records if self.is_alike(record)]
        except ApiError as error:
            if (unread := self.unread(error)) is not None:
                return unread
        self.began_at = self.services.clock.now()
        kept = None if self.known is None or len(self.known) > KEPT else self.known
        details = {"before": kept, "platform_time": self.began_at, **self.details}
        return self.attempt(company=self.company, agent=self.agent, details=details)

    def recall(self, attempt: Attempt) -> None:
        ids, at = attempt.details.get("before"), attempt.details.get("platform_time")
        self.known = [str(value) for value in ids] if isinstance(ids, list) else None
        written = seconds_of(attempt.time) or 0.0
        self.began_at = float(at) if isinstance(at, int | float) else written

    async def check(self) -> Check[T]:
        """Whether the new one is there: by the id in the answer, else as one that wasn't before."""
        began, known = self.services.clock.monotonic(), self.known
        try:
            listing = await self.listing()
        except ApiError as error:
            return Check(found=Found.FAILED, began=began, error=error, why=error.sentence)
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
            record = next((record for record in new if record.id == told), new[0])
            return Check(found=Found.DONE, began=began, record=record)
        if known is None and alike:
            which = f"there is one alike ({safe(alike[0].id)})"
            why = plain(f"{which}, which may be the new one or an older one: look at it")
            return Check(found=Found.OTHERWISE, began=began, record=alike[0], why=why)
        if not _whole(listing):
            why = plain("the list came only in part, and it isn't in that part")
            return Check(found=Found.PARTIAL, began=began, why=why)
        return Check(found=Found.BEFORE, began=began)

    def done(self, record: T | None) -> str:
        return "created" if record is None else f"created: {safe(record.id)}"


class TaskCreation(Creation[Task]):
    """POST /api/tasks. `Outcome.fields` has the messages for the form if it is refused."""

    fields = ("company_id", "title", "agent_id", "priority")

    def __init__(
        self, services: Services, form: TaskForm, on_progress: OnProgress | None = None
    ) -> None:
        self.form = replace(form, title=form.title.strip(), priority=form.priority.strip())
        subject = subject_of(form.company_id, self.form.title, form.agent_id)
        title = safe(self.form.title)
        super().__init__(services, Verb.CREATE_TASK, subject, title, on_progress)
        self.company, self.agent = Ref(id=form.company_id), Ref(id=form.agent_id)
        self.details = {"title": self.form.title, "priority": self.form.priority}

    async def listing(self) -> Listing[Task]:
        return await self.services.decision_client.tasks(company_id=self.form.company_id or None)

    def is_alike(self, record: Task) -> bool:
        agent, company = record.agent or Ref(), record.company or Ref()
        return (
            record.title == self.title
            and agent.id in (None, self.form.agent_id)
            and company.id in (None, self.form.company_id)
        )

    def send(self, attempt_id: str) -> Awaitable[Receipt[Task]]:
        client = self.services.decision_client
        return client.create_task(**asdict(self.form), attempt_id=attempt_id)

    def take(self, outcome: Outcome) -> None:
        record, store = outcome.record, self.services.store
        if not outcome.good or not isinstance(record, Task):
            return
        company = None if record.company is None else record.company.id
        if self.services.reader.scope in (None, company):
            if waits_for_person(record):
                store.publish(store.pending.put(record))
            if len(store.tasks):
                store.publish(store.tasks.put(record))


class CompanyCreation(Creation[Company]):
    """POST /api/companies, or with a source POST /api/companies/:id/clone; as `TaskCreation`."""

    def __init__(
        self,
        services: Services,
        form: CompanyForm,
        on_progress: OnProgress | None = None,
        source: Company | None = None,
    ) -> None:
        verb = Verb.CREATE_COMPANY if source is None else Verb.CLONE_COMPANY
        name = form.name.strip()
        subject = subject_of("" if source is None else source.id, name)
        super().__init__(services, verb, subject, safe(name), on_progress)
        self.form, self.source = form, source
        self.fields = ("name", "mission") + (("template",) if source is None else ())
        self.company = None if source is None else Ref(id=source.id, name=source.name)
        self.details = {"name": name}

    async def listing(self) -> Listing[Company]:
        return await self.services.decision_client.companies()

    def is_alike(self, record: Company) -> bool:
        return record.name == self.title

    def send(self, attempt_id: str) -> Awaitable[Receipt[Company]]:
        client, form, source = self.services.decision_client, self.form, self.source
        more = {"name": form.name.strip(), "mission": form.mission.strip()}
        if source is not None:
            return client.clone_company(source.id, **more, attempt_id=attempt_id)
        template = form.template.strip()
        return client.create_company(**more, template=template, attempt_id=attempt_id)

    def take(self, outcome: Outcome) -> None:
        if outcome.good and isinstance(outcome.record, Company):
            store = self.services.store
            store.publish(store.companies.put(outcome.record))


def subject_of(*parts: str) -> str:
    """A short digest of what is to be created: two attempts at the same have the same."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return f"new:{digest.hexdigest()[:24]}"


def _whole(listing: Listing[T]) -> bool:
    return not (listing.capped or listing.more or listing.unread)
