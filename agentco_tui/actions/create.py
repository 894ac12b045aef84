"""Creating tasks and companies, and cloning companies: looked for before and after.

So a lost answer doesn't make one twice.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Awaitable, Sequence
from typing import Generic, Self, TypeVar

from agentco_tui.actions.journal_file import Attempt, seconds_of
from agentco_tui.actions.outcome import Check, Found, OnProgress, Outcome, Verb
from agentco_tui.actions.services import Services
from agentco_tui.actions.validation import (
    CompanyForm,
    TaskForm,
    check_clone,
    check_company,
    check_task,
)
from agentco_tui.actions.write_flow import Draft, Write, stops
from agentco_tui.api.errors import ApiError
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Company, Listing, Moment, Receipt, Ref, Task
from agentco_tui.text import SafeText, plain, safe

T = TypeVar("T", Task, Company)

CLOCKS_DIFFER = 5.0
"""Seconds by which a record may seem older than the attempt that made it."""
KEPT = 50
"""Ids of records alike that are kept with an attempt."""


async def create_task(
    services: Services, form: TaskForm, on_progress: OnProgress | None = None
) -> Outcome:
    """Create a task. `Outcome.fields` has the messages for the form if it was refused."""
    form = form.stripped()
    write, problems = TaskCreation(services, form, on_progress), check_task(form)
    return write.refused_form(problems) if problems else await write.run()


async def create_company(
    services: Services, form: CompanyForm, on_progress: OnProgress | None = None
) -> Outcome:
    """Create a company; as `create_task` otherwise."""
    form = form.stripped()
    write, problems = CompanyCreation(services, form, on_progress), check_company(form)
    return write.refused_form(problems) if problems else await write.run()


async def clone_company(
    services: Services, source: Company, form: CompanyForm, on_progress: OnProgress | None = None
) -> Outcome:
    """Clone `source` under the form's name and mission; as `create_task` otherwise."""
    form = form.stripped()
    write, problems = CompanyCreation(services, form, on_progress, source), check_clone(form)
    return write.refused_form(problems) if problems else await write.run()


class Creation(Write[T], Generic[T]):
    """Makes a record, which is known again as one alike that was not there before."""

    known: tuple[str, ...] | None = None
    """Ids of those alike that were there before the attempt; None if that could not be read."""
    began_at = 0.0
    """The platform's time of the attempt, seconds since 1970."""

    @abstractmethod
    def listing(self) -> Awaitable[Listing[T]]:
        """Read the list that it will stand in."""

    @abstractmethod
    def is_alike(self, record: T) -> bool:
        """Whether a record could be the one that is to be made."""

    @abstractmethod
    def draft(self, details: dict[str, object]) -> Draft:
        """What to write down, `details` among it."""

    async def prepare(self) -> Draft | Outcome:
        """Read what is there alike."""
        try:
            listing = await self.listing()
            alike = [record.id for record in listing.records if self.is_alike(record)]
            self.known = tuple(alike) if _whole(listing) else None
        except ApiError as error:
            if stops(error):
                return self.unread(error.sentence)
            self.known = None
        self.began_at = self.services.clock.now()
        kept = None if self.known is None or len(self.known) > KEPT else list(self.known)
        return self.draft({"before": kept, "platform_time": self.began_at})

    def recall(self, attempt: Attempt) -> None:
        """Take what was there before from an attempt's line."""
        ids, at = attempt.details.get("before"), attempt.details.get("platform_time")
        self.known = tuple(str(value) for value in ids) if isinstance(ids, list) else None
        written = seconds_of(attempt.time) or 0.0
        self.began_at = float(at) if isinstance(at, int | float) else written

    async def check(self) -> Check[T]:
        """Whether the new one is there: by the id in the answer, else as one that wasn't before."""
        began = self.services.clock.monotonic()
        try:
            listing = await self.listing()
        except ApiError as error:
            return Check(found=Found.FAILED, began=began, error=error, why=error.sentence)
        receipt = None if self.answer is None else self.answer.receipt
        told = None if receipt is None else receipt.record_id
        alike = [record for record in listing.records if self.is_alike(record)]
        new = [record for record in alike if self._is_new(record.id, record.created, told)]
        if new:
            record = next((record for record in new if record.id == told), new[0])
            return Check(found=Found.DONE, began=began, record=record)
        if self.known is None and alike:
            return Check(found=Found.OTHERWISE, began=began, record=alike[0])
        if not _whole(listing):
            why = plain("the list came only in part, and it isn't in that part")
            return Check(found=Found.PARTIAL, began=began, why=why)
        return Check(found=Found.BEFORE, began=began)

    def _is_new(self, record_id: str, created: Moment | None, told: str | None) -> bool:
        if self.known is not None:
            return record_id not in self.known
        made_since = created is not None and created.at >= self.began_at - CLOCKS_DIFFER
        return made_since or record_id == told

    def done(self, record: T | None) -> SafeText:
        """The sentence for its being there."""
        return plain("created" if record is None else f"created: {safe(record.id)}")

    def otherwise(self, record: T | None) -> SafeText:
        """The sentence for one alike of which it can't be told if it is the new one."""
        which = "" if record is None else f" ({safe(record.id)})"
        return plain(
            f"there is one alike{which}, which may be the new one or an older one: look at it"
        )


class TaskCreation(Creation[Task]):
    """POST /api/tasks."""

    verb = Verb.CREATE_TASK
    fields = ("company_id", "title", "agent_id", "priority")

    def __init__(
        self, services: Services, form: TaskForm, on_progress: OnProgress | None = None
    ) -> None:
        subject = subject_of((form.company_id, form.title, form.agent_id))
        super().__init__(services, subject, safe(form.title), on_progress)
        self.form = form

    @classmethod
    def of_attempt(
        cls, services: Services, attempt: Attempt, on_progress: OnProgress | None = None
    ) -> Self:
        """The creation that left this attempt behind."""
        form = TaskForm(
            company_id=attempt.company or "",
            title=str(attempt.details.get("title", attempt.title)),
            agent_id=attempt.agent or "",
            priority=str(attempt.details.get("priority", "")),
        )
        found = cls(services, form, on_progress)
        found.subject = attempt.subject
        found.recall(attempt)
        return found

    def listing(self) -> Awaitable[Listing[Task]]:
        """All tasks of the company."""
        company = self.form.company_id or None
        return self.services.decision_client.tasks(company_id=company)

    def is_alike(self, record: Task) -> bool:
        """Whether it has this title and agent."""
        agent, company = record.agent or Ref(), record.company or Ref()
        return (
            record.title == safe(self.form.title)
            and agent.id in (None, self.form.agent_id)
            and company.id in (None, self.form.company_id)
        )

    def draft(self, details: dict[str, object]) -> Draft:
        """Title and priority as they are sent."""
        form = self.form
        return Draft(
            company=Ref(id=form.company_id),
            agent=Ref(id=form.agent_id),
            details={**details, "title": form.title, "priority": form.priority},
        )

    def send(self, attempt_id: str) -> Awaitable[Receipt[Task]]:
        """POST /api/tasks."""
        return self.services.decision_client.create_task(
            company_id=self.form.company_id,
            title=self.form.title,
            agent_id=self.form.agent_id,
            priority=self.form.priority,
            attempt_id=attempt_id,
        )

    def take(self, outcome: Outcome) -> None:
        """Into the lists that are about its company."""
        store, record = self.services.store, outcome.record
        if not outcome.good or not isinstance(record, Task):
            return
        company = None if record.company is None else record.company.id
        if self.services.reader.scope not in (None, company):
            return
        if waits_for_person(record):
            store.publish(store.pending.put(record))
        if len(store.tasks):
            store.publish(store.tasks.put(record))


class CompanyCreation(Creation[Company]):
    """POST /api/companies, or with a source POST /api/companies/:id/clone."""

    def __init__(
        self,
        services: Services,
        form: CompanyForm,
        on_progress: OnProgress | None = None,
        source: Company | None = None,
    ) -> None:
        subject = subject_of(("" if source is None else source.id, form.name))
        super().__init__(services, subject, safe(form.name), on_progress)
        self.form = form
        self.source = source
        self.verb = Verb.CREATE_COMPANY if source is None else Verb.CLONE_COMPANY
        self.fields = ("name", "mission") + (("template",) if source is None else ())

    @classmethod
    def of_attempt(
        cls, services: Services, attempt: Attempt, on_progress: OnProgress | None = None
    ) -> Self:
        """The creation or clone that left this attempt behind."""
        name = str(attempt.details.get("name", attempt.title))
        found = cls(services, CompanyForm(name=name, mission=""), on_progress)
        found.subject, found.verb = attempt.subject, Verb(attempt.verb)
        found.recall(attempt)
        return found

    def listing(self) -> Awaitable[Listing[Company]]:
        """All companies."""
        return self.services.decision_client.companies()

    def is_alike(self, record: Company) -> bool:
        """Whether it has this name."""
        return record.name == safe(self.form.name)

    def draft(self, details: dict[str, object]) -> Draft:
        """The name as it is sent, and what is cloned."""
        source = self.source
        return Draft(
            company=None if source is None else Ref(id=source.id, name=source.name),
            details={**details, "name": self.form.name},
        )

    def send(self, attempt_id: str) -> Awaitable[Receipt[Company]]:
        """POST it."""
        client, form = self.services.decision_client, self.form
        if self.source is not None:
            return client.clone_company(
                self.source.id, name=form.name, mission=form.mission, attempt_id=attempt_id
            )
        return client.create_company(
            name=form.name, template=form.template, mission=form.mission, attempt_id=attempt_id
        )

    def take(self, outcome: Outcome) -> None:
        """Into the list of companies."""
        if outcome.good and isinstance(outcome.record, Company):
            store = self.services.store
            store.publish(store.companies.put(outcome.record))


def subject_of(parts: Sequence[str]) -> str:
    """A short digest of what is to be created: two attempts at the same have the same."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return f"new:{digest.hexdigest()[:24]}"


def _whole(listing: Listing[T]) -> bool:
    return not (listing.capped or listing.more or listing.unread)
