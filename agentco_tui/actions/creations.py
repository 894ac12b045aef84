"""The writes that create a task or a company, or clone a company.

A write is one request that changes the platform, the remote service; `write_flow` calls the methods
of these classes in turn. The store is what is known of the platform in memory. A new record has no
id yet, so it is recognised by what it is: a similar record (`is_similar`: the same title, AI agent
and company) that was not in the list before the attempt. A key that the platform has put into the
title ("ACM-5: Ship it") is no part of it. The list is read before and after sending. If the answer
is lost, the record is found that way, and no second one is made.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from agentco_tui.actions.evidence import Observation
from agentco_tui.actions.journal_lines import Attempt, seconds_of
from agentco_tui.actions.listed_write import ListedWrite, ListVerdict
from agentco_tui.actions.outcome import GOOD, KnownBy, Outcome, OutcomeKind, Reason, Verb
from agentco_tui.actions.services import Services
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Agent, Company, Listing, Receipt, Record, Ref, Task, has_word
from agentco_tui.text import SafeText, clean_line, mark_safe

T = TypeVar("T", Task, Company)

CLOCKS_DIFFER: Final = 5.0
"""Seconds by which a record may seem older than the attempt that created it."""
MOST_KNOWN: Final = 50  # ids of similar records that are kept with an attempt
BESIDE_A_KEY: Final = " :-–—·|/#()[]"
"""Characters between the key in a title and the rest of it: "ACM-5: Ship it", "[ACM-5] Ship it"."""


class Creation(ListedWrite[T], ABC):
    """Creates a record, which is recognised as a similar one that was not there before."""

    details: Mapping[str, Any]  # for the journal, as they are sent
    known: Sequence[str] | None = None
    """Ids of similar records that existed before the attempt; None if they could not be read."""
    began_at = 0.0  # the platform's time of the attempt, seconds since 1970
    _basis_before: Mapping[str, Agent | Company] = {}
    """`basis_records()` when the first read began."""

    @abstractmethod
    def is_similar(self, record: T) -> bool:
        """Whether a record could be the one that is to be created."""

    @abstractmethod
    def basis_records(self) -> Mapping[str, Agent | Company]:
        """Return the records in the store that the new one is made from or belongs to, by what they
        are called in a sentence; without those that the store doesn't have.
        """

    def remember_store(self) -> None:
        # What was there for the first read must be there to the end.
        if self.attempt_id is None:
            self._basis_before = self.basis_records()

    def why_overtaken(self) -> SafeText | None:
        """Check that what the new record is made from or belongs to is still listed; there is no
        subject yet. Whether a similar one was created meanwhile is compared at each read.
        """
        now = self.basis_records()
        for name in self._basis_before:
            if name not in now:
                return mark_safe(f"{name} is not listed any more")
        return None

    def recheck(self) -> Outcome | None:
        why = self.why_overtaken()
        if why is None:
            return None
        return self.unsent(Reason.BASIS_GONE, cause=why)

    def compare_with_shown(self, listing: Listing[T] | None) -> Mapping[str, Any] | Outcome:
        similar: list[T] | None = None
        if listing is not None and listing.whole:  # not cut off, nor with pages missing
            similar = [record for record in listing.records if self.is_similar(record)]
        if self.attempt_id is not None:
            # The journal has the first read, by which the new record is told from older ones.
            return self._compare_with_first_read(similar or [])
        self.known = None if similar is None else [record.id for record in similar]
        self.began_at = self.services.clock.now()
        ids = self.known
        if ids is not None and len(ids) > MOST_KNOWN:
            ids = None
        return {"before": ids, "platform_time": self.began_at, **self.details}

    def _compare_with_first_read(self, similar: Sequence[T]) -> Mapping[str, Any] | Outcome:
        """Return why nothing is to be sent: a similar record has appeared; else no details."""
        known = self.known
        if known is None:
            return {}
        for record in similar:
            if record.id not in known:
                return self.outcome(
                    OutcomeKind.CHANGED, Reason.SIMILAR_CREATED, KnownBy.READ, record=record
                )
        return {}

    def restore_attempt(self, attempt: Attempt) -> None:
        ids = attempt.details.get("before")
        self.known = None
        if isinstance(ids, list):
            self.known = [str(value) for value in ids]
        began_at = attempt.details.get("platform_time")
        if isinstance(began_at, int | float):
            self.began_at = float(began_at)
        else:
            self.began_at = seconds_of(attempt.time) or 0.0

    def judge_listing(self, listing: Listing[T]) -> ListVerdict:
        """Return whether the new record is there: it has the id in the answer, or was not there
        before.
        """
        receipt = self.answer.receipt
        answered_id = receipt.record_id if receipt is not None else None
        similar = [record for record in listing.records if self.is_similar(record)]
        new = [record for record in similar if self._is_new(record, answered_id)]
        if new:
            answered = [record for record in new if record.id == answered_id]
            return ListVerdict(Observation.DONE, (answered or new)[0])
        if self.known is None and similar:
            why = (
                f"there is a similar one ({clean_line(similar[0].id)}), "
                "which may be the new one or an older one: look at it"
            )
            return ListVerdict(Observation.UNEXPECTED, similar[0], why)
        if not listing.whole:
            why = "the list came only in part, and it isn't in that part"
            return ListVerdict(Observation.INCOMPLETE, None, why)
        return ListVerdict(Observation.UNCHANGED)

    def _is_new(self, record: T, answered_id: str | None) -> bool:
        if self.known is not None:
            return record.id not in self.known
        if record.id == answered_id:
            return True
        return record.created is not None and record.created.at >= self.began_at - CLOCKS_DIFFER


class TaskCreation(Creation[Task]):
    """Creates a task; `form` has its fields: company_id, title, agent_id and priority.

    `Outcome.fields` has the messages for the form if it is refused.
    """

    def __init__(self, services: Services, form: Mapping[str, str]) -> None:
        subject = subject_of(form["company_id"], form["title"], form["agent_id"])
        super().__init__(services, Verb.CREATE_TASK, subject, clean_line(form["title"]))
        self.form = form
        self.fields = tuple(form)
        self.own_texts = tuple(form.values())
        self.company = Ref(id=form["company_id"])
        self.agent = Ref(id=form["agent_id"])
        self.details = {"title": form["title"], "priority": form["priority"]}

    def basis_records(self) -> Mapping[str, Agent | Company]:
        store = self.services.store
        agent = store.agents.get(self.form["agent_id"])
        company = store.companies.get(self.form["company_id"])
        records: dict[str, Agent | Company] = {}
        if agent is not None:
            records["the agent"] = agent
        if company is not None:
            records["the company"] = company
        return records

    async def read_listing(self) -> Listing[Task]:
        company = self.form["company_id"]
        return await self.services.decision_client.tasks(company_id=company or None)

    def named_ids(self) -> Iterable[str | None]:
        return self.form["company_id"], self.form["agent_id"]

    def named_records(self) -> Iterable[Record | None]:
        store = self.services.store
        return store.companies.get(self.form["company_id"]), store.agents.get(self.form["agent_id"])

    def is_similar(self, record: Task) -> bool:
        agent = record.agent or Ref()
        company = record.company or Ref()
        return (
            _has_title(record, self.title)
            and agent.id in (None, self.form["agent_id"])
            and company.id in (None, self.form["company_id"])
        )

    def send(self, attempt_id: str) -> Awaitable[Receipt[Task]]:
        client = self.services.decision_client
        return client.create_task(
            **self.form, attempt_id=attempt_id, why_withheld=self.why_withheld
        )

    def update_store(self, outcome: Outcome) -> None:
        record = outcome.record
        if outcome.kind not in GOOD or not isinstance(record, Task):
            return
        company = (record.company or Ref()).id
        # The store holds the tasks of one company only (or of all), the one on the screen.
        if self.services.poller.query.company not in (None, company):
            return
        store = self.services.store
        waits = waits_for_person(record)
        if waits:
            store.publish(store.pending.put(record))
        # An empty list of all tasks has not been read: one task in it would pass for all.
        if len(store.tasks) or not waits:
            store.publish(store.tasks.put(record))


class CompanyCreation(Creation[Company]):
    """Creates a company with name, template and mission; with a source, clones it, and there is no
    template.
    """

    def __init__(
        self, services: Services, form: Mapping[str, str], source: Company | None = None
    ) -> None:
        verb = Verb.CREATE_COMPANY
        source_id = ""
        self.company = None
        if source is not None:
            verb = Verb.CLONE_COMPANY
            source_id = source.id
            self.company = Ref(id=source.id, name=source.name)
        name = form["name"]
        subject = subject_of(source_id, name)
        super().__init__(services, verb, subject, clean_line(name))
        self.form = form
        self.fields = tuple(form)
        self.own_texts = tuple(form.values())
        self.source = source
        self.collection = services.store.companies
        self.details = {"name": name}

    def basis_records(self) -> Mapping[str, Agent | Company]:
        if self.source is None:
            return {}
        source = self.collection.get(self.source.id)
        if source is None:
            return {}
        return {"the company to clone": source}

    async def read_listing(self) -> Listing[Company]:
        return await self.services.decision_client.companies()

    def named_ids(self) -> Iterable[str | None]:
        if self.source is None:
            return ()
        return (self.source.id,)

    def named_records(self) -> Iterable[Record | None]:
        if self.source is None:
            return ()
        return self.source, self.services.store.companies.get(self.source.id)

    def is_similar(self, record: Company) -> bool:
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


def _has_title(task: Task, title: str) -> bool:
    """Whether a task has a title, alone or beside the key by which the platform calls the task."""
    if task.title == title:
        return True
    key = task.key or clean_line(task.sent_id)
    if not has_word(task.title, key):
        return False
    without_key = task.title.replace(key, "", 1)
    return without_key.strip(BESIDE_A_KEY) == title.strip(BESIDE_A_KEY)


def subject_of(*parts: str) -> str:
    """Return a short digest of what is to be created: the same for two attempts at the same."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return f"new:{digest.hexdigest()[:24]}"
