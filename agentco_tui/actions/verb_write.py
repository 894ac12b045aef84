"""The writes that only some platforms offer: to reject a task, to pause an agent, to comment.

`VerbWrite` is the `Write` for them (see write_flow.py, which calls its methods in turn). It is done
only if a read says so: the status of the record is one of the verb's `done` words, or else the
platform shows the proof that it declares, such as a comment that was not there before. The store is
what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from decimal import Decimal
from typing import ClassVar, Final

import msgspec
from msgspec.structs import replace

from agentco_tui.actions.evidence import Check, Observation
from agentco_tui.actions.fingerprint import Difference, differences
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.limit_text import check_limit
from agentco_tui.actions.outcome import KnownBy, Outcome, OutcomeKind, Reason
from agentco_tui.actions.services import Services
from agentco_tui.actions.task_reader import TaskList
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.capabilities import OfferedVerb, VerbInput, VerbKind, VerbProof
from agentco_tui.api.errors import ApiError, Invalid, NotAllowed, NotFound, NotOffered, NotSent
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Agent, Alert, Company, Money, Receipt, Record, Ref, Task
from agentco_tui.model import format as fmt
from agentco_tui.text import SafeText, clean_line, mark_safe, signs

COMPARED: Final[Mapping[type[Record], tuple[str, ...]]] = {
    Agent: ("name", "role", "status", "company", "pause_reason"),
    Company: ("name", "status"),
    Alert: ("text", "kind", "status", "agent", "company", "limit"),
    Task: ("title", "status", "agent", "company"),
}
"""The fields that must be as the user saw them, of all but tasks that wait for the user."""
NO_PROOF: Final = (NotOffered, NotFound, Invalid, NotAllowed)
"""Answers to the read of a proof that will not change: they say neither yes nor no."""
_FEED_OF_KIND: Final[Mapping[VerbKind, FeedName]] = {
    "agent": FeedName.AGENTS, "company": FeedName.COMPANIES, "alert": FeedName.ALERTS,
}  # fmt: skip
"""The list that has the records of each kind beside tasks, which are in two."""


class VerbWrite(Write[Record]):
    """Does to a record what the platform calls `verb`, with what the user has given for it."""

    reads_after_no: ClassVar[bool] = True
    fields = ("note", "amount")

    def __init__(
        self, services: Services, verb: OfferedVerb, shown: Record, given: VerbInput
    ) -> None:
        """`shown` is the record as the user saw it."""
        super().__init__(services, verb.name, shown.id, _title_of(shown))
        self.offered = verb
        self.shown = shown
        self.given = given
        own = (getattr(shown, name, None) for name in ("description", "mission"))
        self.own_texts = (given.note, *own)
        self.status: str | None = getattr(shown, "status", None)
        """The platform's word for the record's status before the attempt."""
        self.proof_before = VerbProof(frozenset())
        """What showed the same as the verb's proof before the attempt."""
        self._in_store: Record | None = None
        """The record as the store had it when the last read began."""
        self._last_read: dict[FeedName, Record | None] = {}
        """The record as the last read of each list shows it; None if that list was whole, and the
        record is in it no more."""

    def restore_attempt(self, attempt: Attempt) -> None:
        details = attempt.details
        amount = check_limit(str(details.get("amount")))
        self.given = VerbInput(
            note=_text_or_none(details.get("note")),
            amount=amount if isinstance(amount, Decimal) else None,
        )
        self.own_texts = (self.given.note,)
        self.status = _text_or_none(details.get("status"))
        try:
            self.proof_before = msgspec.convert(details.get("proof", {}), VerbProof)
        except msgspec.ValidationError:
            self.proof_before = VerbProof(frozenset())

    # ---- before it is sent

    def named_records(self) -> Iterable[Record | None]:
        """The record, if others have its id. What else speaks against it, the platform knows."""
        return (self.shown,) if self.shown.shared_id else ()

    async def prepare(self) -> Attempt | Outcome:
        """Read the proof and then the record, and compare that with what the user saw."""
        is_first_read = self.attempt_id is None
        if is_first_read and not self.offered.done:
            unsent = await self._read_proof_before()
            if unsent is not None:
                return unsent
        self._in_store = self._stored()
        check = await self._read_record()
        self.read_began = check.began
        now = check.record
        if check.observation in (Observation.FAILED, Observation.INCOMPLETE):
            return self.unsent(Reason.UNREAD_BEFORE, cause=check.why, error=check.error)
        unsent = self._why_not(now)
        if unsent is not None:
            self._show_last_read()
            return unsent
        return self._new_attempt()

    async def _read_proof_before(self) -> Outcome | None:
        """Read whether it is done already; return the outcome if it is, or can't be read."""
        client = self.services.decision_client
        try:
            self.proof_before = await client.proof_of(self.offered, self.subject, self.given)
        except NotSent as error:
            return self.unsent(Reason.REQUEST_NOT_SENT, cause=error.sentence, error=error)
        except ApiError as error:
            return self.unsent(Reason.UNREAD_BEFORE, cause=error.sentence, error=error)
        if self.proof_before.shown_by and not self.offered.proof_is_new:
            return self.outcome(OutcomeKind.DONE, Reason.ALREADY_DONE, KnownBy.READ)
        return None

    def _why_not(self, now: Record | None) -> Outcome | None:
        """Return why nothing is sent for a record as it is now; None if it can be."""
        if now is None:
            return self.outcome(OutcomeKind.GONE, Reason.IN_NO_LIST, KnownBy.READ)
        if getattr(now, "status", None) in self.offered.done:
            return self.outcome(OutcomeKind.DONE, Reason.ALREADY_DONE, KnownBy.READ, record=now)
        changes = _differences(self.shown, now)
        if changes:
            return self.changed_outcome(now, changes)
        not_offered = self.services.why_not_for(self.verb, now)
        if not_offered is not None:
            return self.unsent(Reason.NOT_OFFERED, cause=not_offered)
        return None

    def _new_attempt(self) -> Attempt | Outcome:
        amount = self.given.amount
        proof = self.proof_before
        details = {
            "status": self.status,
            "note": self.given.note,
            "amount": None if amount is None else f"{amount:f}",
            "proof": None if self.offered.done else msgspec.to_builtins(proof),
        }
        return self.new_attempt(
            task=self.subject if isinstance(self.shown, Task) else None,
            company=_company_of(self.shown),
            agent=_agent_of(self.shown),
            fingerprint=self.shown.content.hex() if isinstance(self.shown, Task) else "",
            details={name: value for name, value in details.items() if value is not None},
        )

    def why_overtaken(self) -> SafeText | None:
        """Return how the store's record is newer than the read; None if it is not."""
        now = self._stored()
        before = self._in_store
        if before is None or now is before:
            return None
        if now is None:
            return mark_safe("it left its list")
        if _differences(before, now):
            return mark_safe("it changed in its list")
        return None

    def _stored(self) -> Record | None:
        store = self.services.store
        match self.offered.kind:
            case "task":
                return store.pending.get(self.subject) or store.tasks.get(self.subject)
            case "agent":
                return store.agents.get(self.subject)
            case "company":
                return store.companies.get(self.subject)
            case "alert":
                return store.alerts.get(self.subject)

    def send(self, attempt_id: str) -> Awaitable[Receipt[Record]]:
        return self.services.decision_client.act(
            self.offered,
            self.subject,
            self.given,
            attempt_id=attempt_id,
            why_withheld=self.why_withheld,
        )

    def is_refusal(self, status: SafeText) -> bool:
        """Nothing: "rejected" is what was wanted of "reject". The platform knows its own words."""
        return False

    # ---- what a read shows

    async def read_effect(self) -> Check[Record]:
        """Read whether the record, or the verb's proof, shows that it was done."""
        if not self.offered.done:
            return await self._check_proof()
        check = await self._read_record()
        if check.observation in (Observation.FAILED, Observation.INCOMPLETE):
            return check
        if check.record is None:
            why = mark_safe("no list of the platform shows it")
            return replace(check, observation=Observation.INCOMPLETE, why=why)
        status = getattr(check.record, "status", None)
        if status in self.offered.done:
            return replace(check, observation=Observation.DONE)
        if status == self.status:
            return replace(check, observation=Observation.UNCHANGED)
        word = status or signs.missing
        why = mark_safe(f"the platform shows it as “{word}”")
        return replace(check, observation=Observation.UNEXPECTED, why=why)

    async def _check_proof(self) -> Check[Record]:
        """Read the verb's proof, and if that is there, the record, as it may look different now.

        The record is not in the result: its status says nothing of the verb.
        """
        began = self.services.clock.monotonic()
        client = self.services.decision_client
        before = self.proof_before
        try:
            proof = await client.proof_of(self.offered, self.subject, self.given, before.row)
        except ApiError as error:
            is_final = isinstance(error, NO_PROOF)
            observation = Observation.INCOMPLETE if is_final else Observation.FAILED
            return Check(observation=observation, began=began, error=error, why=error.sentence)
        if proof.shown_by <= before.shown_by:
            return Check(observation=Observation.UNCHANGED, began=began)
        await self._read_record()
        return Check(observation=Observation.DONE, began=began)

    async def _read_record(self) -> Check[Record]:
        """Read the record; `DONE` without one if the platform has it no more."""
        self._last_read = {}
        if self.offered.kind == "task":
            return await self._read_task()
        began = self.services.clock.monotonic()
        try:
            return await self._read_other(began)
        except ApiError as error:
            is_single = self.offered.kind != "alert"
            if is_single and isinstance(error, NotFound):
                self._last_read[_FEED_OF_KIND[self.offered.kind]] = None
                return Check(observation=Observation.DONE, began=began)
            return Check.failed(began, error)

    async def _read_other(self, began: float) -> Check[Record]:
        """Read a record that is no task. Raises ApiError."""
        client = self.services.decision_client
        record: Record | None
        is_whole = True
        match self.offered.kind:
            case "agent":
                record = await client.agent(self.subject)
            case "company":
                record = await client.company(self.subject)
            case _:
                alerts = await client.budget_alerts()
                found = (each for each in alerts.records if each.id == self.subject)
                record = next(found, None)
                is_whole = alerts.whole
        if record is None and not is_whole:
            why = mark_safe("the list came only in part, and it isn't in that part")
            return Check(observation=Observation.INCOMPLETE, began=began, why=why)
        self._last_read[_FEED_OF_KIND[self.offered.kind]] = record
        observation = Observation.DONE if record is None else Observation.UNCHANGED
        return Check(observation=observation, began=began, record=record)

    async def _read_task(self) -> Check[Record]:
        """Read the task from the list of those that wait, or else from that of all tasks.

        Only the lists of its own company are read, whatever company is in scope.
        """
        shown = self.shown
        assert isinstance(shown, Task)
        feeds = (FeedName.PENDING, FeedName.TASKS) if waits_for_person(shown) else (FeedName.TASKS,)
        services = self.services
        company = _company_of(shown)
        company_id = services.poller.query.company if company is None else company.id
        why: SafeText | None = None
        for feed in feeds:
            tasks: TaskList = await services.reader.read(feed, company_id, services.timing.spacing)
            if tasks.error is not None:
                return Check.failed(tasks.began, tasks.error)
            record = tasks.tasks.get(self.subject)
            if record is not None or tasks.why is None:
                self._last_read[feed] = record
            if record is not None:
                return Check(observation=Observation.UNCHANGED, began=tasks.began, record=record)
            why = why or tasks.why
        observation = Observation.DONE if why is None else Observation.INCOMPLETE
        return Check(observation=observation, began=tasks.began, why=why)

    async def conclude(self, check: Check[Record] | None) -> Outcome:
        """Conclude as for all writes, but for a yes that no read bears out: that is not done.

        Where a read shows that it was done, the answer's words add nothing. They are often a field
        of what was acted on, such as the error of a run that was stopped.
        """
        outcome = await super().conclude(check)
        if outcome.kind is not OutcomeKind.DONE:
            return outcome
        if outcome.reason is not Reason.DONE_BY_ANSWER:
            return replace(outcome, platform_words=None)
        seconds = self.services.timing.confirm_for
        why = check.why if check is not None else None
        why = why or mark_safe(f"reads over {seconds:g} s do not show it")
        return replace(outcome, kind=OutcomeKind.UNCLEAR, reason=Reason.YES_BUT, cause=why)

    def update_store(self, outcome: Outcome) -> None:
        """Show the record as it was read last; by the outcome nothing else is known of it."""
        self._show_last_read()

    def _show_last_read(self) -> None:
        """Put the record into the lists of the store that have it; drop it from those it has left.

        A list may have it only in part, or be that of another company: nothing is added to it.
        """
        store = self.services.store
        for feed, record in self._last_read.items():
            collection = store.collections[feed]
            if record is None:
                store.publish(collection.drop(self.subject))
            elif self.subject in collection.records:
                store.publish(collection.put(record))


def _title_of(record: Record) -> SafeText:
    """What the record is called in notices and in the journal."""
    match record:
        case Task():
            return record.title
        case Alert():
            return record.text
        case _:
            return getattr(record, "name", None) or clean_line(record.id)


def _company_of(record: Record) -> Ref | None:
    if isinstance(record, Company):
        return Ref(id=record.id, name=record.name)
    company: Ref | None = getattr(record, "company", None)
    return company


def _agent_of(record: Record) -> Ref | None:
    if isinstance(record, Agent):
        return Ref(id=record.id, name=record.name)
    agent: Ref | None = getattr(record, "agent", None)
    return agent


def _differences(shown: Record, now: Record) -> tuple[Difference, ...]:
    """Return in what a record differs from what was shown.

    Of a task that waits for the user, everything counts. One at work is never the same twice.
    """
    if isinstance(shown, Task) and isinstance(now, Task) and waits_for_person(shown):
        return differences(shown, now)
    found: list[Difference] = []
    for field in COMPARED.get(type(shown), ()):
        was = getattr(shown, field)
        is_ = getattr(now, field)
        if was != is_ and not _is_same_ref(was, is_):
            found.append(Difference(field.replace("_", " "), _words(was), _words(is_)))
    return tuple(found)


def _is_same_ref(was: object, is_: object) -> bool:
    """Whether two references have the same id; a name may have been sent with one of them only."""
    return isinstance(was, Ref) and isinstance(is_, Ref) and was.id is not None and was.id == is_.id


def _words(value: object) -> SafeText:
    match value:
        case None:
            return signs.missing
        case Ref():
            return value.name or clean_line(value.id or "")
        case Money():
            return fmt.money(value)
        case _:
            return clean_line(str(value), 200)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
