"""Creating tasks and companies, and cloning companies: looked for before and after.

So a lost answer doesn't make one twice. Forms are checked before: the interface states no bounds,
so only what no platform can want is refused here; the rest is the platform's to refuse.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from agentco_tui.actions.journal_file import Attempt, seconds_of
from agentco_tui.actions.outcome import Check, Found, OnProgress, Outcome, Verb
from agentco_tui.actions.services import Services
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.errors import ApiError
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Company, Listing, Receipt, Ref, Task
from agentco_tui.text import SafeText, plain, safe

T = TypeVar("T", Task, Company)

CLOCKS_DIFFER = 5.0
"""Seconds by which a record may seem older than the attempt that made it."""
KEPT = 50
"""Ids of records alike that are kept with an attempt."""
LONGEST_NAME = 200
LONGEST_TITLE = 500
LONGEST_WORD = 100
LONGEST_MISSION = 10_000

Problems = Mapping[str, SafeText]
"""A sentence for each field that can't be sent; empty if all can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskForm:
    """What a new task needs; the field names are those of the request body."""

    company_id: str
    title: str
    agent_id: str
    priority: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyForm:
    """What a new company needs; a clone takes no template."""

    name: str
    mission: str
    template: str = ""


def check_task(form: TaskForm) -> Problems:
    """What is wrong with the form of a new task."""
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
    """What is wrong with a line of text."""
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


def creating_task(
    services: Services, form: TaskForm, on_progress: OnProgress | None = None
) -> Creation[Task]:
    """POST /api/tasks. `Outcome.fields` has the messages for the form if it is refused."""
    client, store = services.decision_client, services.store
    form = replace(form, title=form.title.strip(), priority=form.priority.strip())

    def is_alike(record: Task) -> bool:
        agent, company = record.agent or Ref(), record.company or Ref()
        return (
            record.title == safe(form.title)
            and agent.id in (None, form.agent_id)
            and company.id in (None, form.company_id)
        )

    def put(record: Task) -> None:
        company = None if record.company is None else record.company.id
        if services.reader.scope in (None, company):
            if waits_for_person(record):
                store.publish(store.pending.put(record))
            if len(store.tasks):
                store.publish(store.tasks.put(record))

    write = Creation[Task](
        services,
        Verb.CREATE_TASK,
        subject_of(form.company_id, form.title, form.agent_id),
        safe(form.title),
        on_progress,
        fields=("company_id", "title", "agent_id", "priority"),
        problems=check_task(form),
    )
    write.listing = partial(client.tasks, company_id=form.company_id or None)
    write.is_alike, write.put = is_alike, put
    write.post_it = partial(
        client.create_task,
        company_id=form.company_id,
        title=form.title,
        agent_id=form.agent_id,
        priority=form.priority,
    )
    write.company, write.agent = Ref(id=form.company_id), Ref(id=form.agent_id)
    write.details = {"title": form.title, "priority": form.priority}
    return write


def creating_company(
    services: Services,
    form: CompanyForm,
    on_progress: OnProgress | None = None,
    source: Company | None = None,
) -> Creation[Company]:
    """POST /api/companies, or with a source POST /api/companies/:id/clone; as `creating_task`."""
    client, store = services.decision_client, services.store
    name, mission, template = form.name.strip(), form.mission.strip(), form.template.strip()
    write = Creation[Company](
        services,
        Verb.CREATE_COMPANY if source is None else Verb.CLONE_COMPANY,
        subject_of("" if source is None else source.id, name),
        safe(name),
        on_progress,
        fields=("name", "mission") + (("template",) if source is None else ()),
        problems=check_company(form, source),
    )
    write.listing = client.companies
    write.is_alike = lambda record: record.name == safe(name)
    write.put = lambda record: store.publish(store.companies.put(record))
    write.post_it = partial(client.create_company, name=name, template=template, mission=mission)
    if source is not None:
        write.post_it = partial(client.clone_company, source.id, name=name, mission=mission)
        write.company = Ref(id=source.id, name=source.name)
    write.details = {"name": name}
    return write


class Creation(Write[T], Generic[T]):
    """Makes a record, which is known again as one alike that was not there before."""

    listing: Callable[[], Awaitable[Listing[T]]]
    """Reads the list that it will stand in."""
    is_alike: Callable[[T], bool]
    """Whether a record could be the one that is to be made."""
    post_it: Callable[..., Awaitable[Receipt[T]]]
    put: Callable[[T], object]
    """Puts it into the store."""
    company: Ref | None = None
    agent: Ref | None = None
    details: Mapping[str, Any]
    """For the journal, as they are sent."""
    known: tuple[str, ...] | None = None
    """Ids of those alike that were there before the attempt; None if that could not be read."""
    began_at = 0.0
    """The platform's time of the attempt, seconds since 1970."""

    async def prepare(self) -> Attempt | Outcome:
        """Read what is there alike."""
        try:
            listing = await self.listing()
            alike = [record.id for record in listing.records if self.is_alike(record)]
            self.known = tuple(alike) if _whole(listing) else None
        except ApiError as error:
            if (unread := self.unread(error)) is not None:
                return unread
            self.known = None
        self.began_at = self.services.clock.now()
        kept = None if self.known is None or len(self.known) > KEPT else list(self.known)
        details = {"before": kept, "platform_time": self.began_at, **self.details}
        return self.attempt(company=self.company, agent=self.agent, details=details)

    def send(self, attempt_id: str) -> Awaitable[Receipt[T]]:
        """POST it."""
        return self.post_it(attempt_id=attempt_id)

    def recall(self, attempt: Attempt) -> None:
        """What was there before, and when that was."""
        ids, at = attempt.details.get("before"), attempt.details.get("platform_time")
        self.known = tuple(str(value) for value in ids) if isinstance(ids, list) else None
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
        alike = [record for record in listing.records if self.is_alike(record)]
        since = self.began_at - CLOCKS_DIFFER
        new = [
            record
            for record in alike
            if (
                record.id not in known
                if known is not None
                else record.id == told or (record.created and record.created.at >= since)
            )
        ]
        if new:
            record = next((record for record in new if record.id == told), new[0])
            return Check(found=Found.DONE, began=began, record=record)
        if known is None and alike:
            return Check(found=Found.OTHERWISE, began=began, record=alike[0])
        if not _whole(listing):
            why = plain("the list came only in part, and it isn't in that part")
            return Check(found=Found.PARTIAL, began=began, why=why)
        return Check(found=Found.BEFORE, began=began)

    def done(self, record: T | None) -> str:
        """With the new one's id, if that is known."""
        return "created" if record is None else f"created: {safe(record.id)}"

    def otherwise(self, record: T | None) -> str:
        """One alike, of which it can't be told if it is the new one."""
        which = "" if record is None else f" ({safe(record.id)})"
        return f"there is one alike{which}, which may be the new one or an older one: look at it"

    def take(self, outcome: Outcome) -> None:
        """Into the lists that it belongs to."""
        if outcome.good and isinstance(outcome.record, Task | Company):
            self.put(outcome.record)  # type: ignore[arg-type]


def creation_left(services: Services, attempt: Attempt) -> Creation[Task] | Creation[Company]:
    """The creation or clone that left an attempt behind, as far as its line tells."""
    if attempt.verb == Verb.CREATE_TASK:
        task = TaskForm(
            company_id=attempt.company or "",
            title=str(attempt.details.get("title", attempt.title)),
            agent_id=attempt.agent or "",
            priority="",
        )
        return creating_task(services, task).take_up(attempt)
    form = CompanyForm(name=str(attempt.details.get("name", attempt.title)), mission="")
    return creating_company(services, form).take_up(attempt)


def subject_of(*parts: str) -> str:
    """A short digest of what is to be created: two attempts at the same have the same."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return f"new:{digest.hexdigest()[:24]}"


def _whole(listing: Listing[T]) -> bool:
    return not (listing.capped or listing.more or listing.unread)
