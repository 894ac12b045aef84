"""The writes that only some platforms offer: to reject a task, to pause an agent, to comment.

`VerbWrite` is the `Write` for them (see write_flow.py, which calls its methods in turn). It is done
only if a read says so: the status of the record is one of the verb's `done` words, or else the
platform shows the proof that it declares, such as a comment that was not there before. The store is
what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from agentco_tui.actions.evidence import Check, Observation
from agentco_tui.actions.fingerprint import Difference, differences
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.limit_text import check_limit
from agentco_tui.actions.outcome import GOOD, KnownBy, Outcome, OutcomeKind, Reason
from agentco_tui.actions.services import Services
from agentco_tui.actions.task_reader import TaskList
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.capabilities import OfferedVerb, VerbInput
from agentco_tui.api.errors import ApiError, NotFound
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Agent, Alert, Company, Receipt, Record, Ref, Task
from agentco_tui.text import SafeText, clean_line, mark_safe, signs

COMPARED: Final[Mapping[type[Record], tuple[str, ...]]] = {
    Agent: ("name", "role", "status", "company", "pause_reason"),
    Company: ("name", "status"),
    Alert: ("text", "kind", "status", "agent", "company", "limit"),
}
"""The fields of records beside tasks that must be as the user saw them."""


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
        self.own_texts = (given.note,)
        self.status: str | None = getattr(shown, "status", None)
        """The platform's word for the record's status before the attempt."""
        self.proof_before: frozenset[str] = frozenset()
        """What showed the same as the verb's proof before the attempt."""
        self._in_store: Record | None = None
        """The record as the store had it when the last read began."""

    def restore_attempt(self, attempt: Attempt) -> None:
        details = attempt.details
        amount = check_limit(str(details.get("amount")))
        self.given = VerbInput(
            note=_text_or_none(details.get("note")),
            amount=amount if isinstance(amount, Decimal) else None,
        )
        self.status = _text_or_none(details.get("status"))
        proof = details.get("proof")
        self.proof_before = frozenset(map(str, proof)) if isinstance(proof, list) else frozenset()

    # ---- before it is sent

    def named_records(self) -> Iterable[Record | None]:
        return (None,)  # the platform refuses a record that no request may name

    async def prepare(self) -> Attempt | Outcome:
        """Read the record, and compare it with what the user saw."""
        self._in_store = self._stored()
        check = await self._read_record()
        self.read_began = check.began
        now = check.record
        if check.observation in (Observation.FAILED, Observation.INCOMPLETE):
            return self.unsent(Reason.UNREAD_BEFORE, cause=check.why, error=check.error)
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
        try:
            return await self._attempt_at(now)
        except ApiError as error:
            return self.unsent(Reason.UNREAD_BEFORE, cause=error.sentence, error=error)

    async def _attempt_at(self, now: Record) -> Attempt | Outcome:
        """The journal's entry, once the proof was looked for. Raises ApiError."""
        if not self.offered.done and self.attempt_id is None:
            client = self.services.decision_client
            self.proof_before = await client.proof_of(self.offered, self.subject, self.given)
            if self.proof_before and not self.offered.proof_is_new:
                return self.outcome(OutcomeKind.DONE, Reason.ALREADY_DONE, KnownBy.READ, record=now)
        amount = self.given.amount
        details = {
            "status": self.status,
            "note": self.given.note,
            "amount": None if amount is None else f"{amount:f}",
            "proof": sorted(self.proof_before) or None,
            "of": self.offered.kind,
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
        if now is None or before is None or now is before or not _differences(before, now):
            return None
        return mark_safe("it changed in its list")

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
        check = await self._read_record()
        if not self.offered.done:
            return await self._check_proof(check)
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

    async def _check_proof(self, check: Check[Record]) -> Check[Record]:
        """Complete the read of a record by that of its verb's proof."""
        client = self.services.decision_client
        try:
            proof = await client.proof_of(self.offered, self.subject, self.given)
        except ApiError as error:
            return replace(check, observation=Observation.FAILED, error=error, why=error.sentence)
        is_done = bool(proof - self.proof_before)
        observation = Observation.DONE if is_done else Observation.UNCHANGED
        return replace(check, observation=observation, error=None, why=None)

    async def _read_record(self) -> Check[Record]:
        """Read the record; `DONE` without one if the platform has it no more."""
        if self.offered.kind == "task":
            return await self._read_task()
        began = self.services.clock.monotonic()
        try:
            record = await self._read_other()
        except NotFound:
            record = None
        except ApiError as error:
            return Check(
                observation=Observation.FAILED, began=began, error=error, why=error.sentence
            )
        observation = Observation.UNCHANGED if record is not None else Observation.DONE
        return Check(observation=observation, began=began, record=record)

    async def _read_other(self) -> Record | None:
        """Read a record that is no task; None if it is in its list no more. Raises ApiError."""
        client = self.services.decision_client
        match self.offered.kind:
            case "agent":
                return await client.agent(self.subject)
            case "company":
                return await client.company(self.subject)
            case _:
                alerts = await client.budget_alerts()
                return next((each for each in alerts.records if each.id == self.subject), None)

    async def _read_task(self) -> Check[Record]:
        """Read the task from the list of those that wait, or else from that of all tasks."""
        shown = self.shown
        assert isinstance(shown, Task)
        if waits_for_person(shown):
            pending = await self._read_list(FeedName.PENDING)
            check: Check[Any] = pending.check_task(self.subject)
            if check.record is not None or check.observation is Observation.FAILED:
                return check
        tasks = await self._read_list(FeedName.TASKS)
        if tasks.error is not None:
            why = tasks.error.sentence
            return Check(
                observation=Observation.FAILED, began=tasks.began, error=tasks.error, why=why
            )
        record = tasks.tasks.get(self.subject)
        is_known = record is not None or tasks.why is None
        observation = Observation.UNCHANGED if is_known else Observation.INCOMPLETE
        return Check(observation=observation, began=tasks.began, record=record, why=tasks.why)

    async def _read_list(self, feed: FeedName) -> TaskList:
        services = self.services
        company = _company_of(self.shown)
        scope = services.poller.query.company
        if scope is not None and company is not None:
            scope = company.id
        tasks: TaskList = await services.reader.read(feed, scope, services.timing.spacing)
        return tasks

    def update_store(self, outcome: Outcome) -> None:
        """Keep the record as it was read; a task that no longer waits leaves its list."""
        record = outcome.record
        store = self.services.store
        if outcome.kind not in GOOD or record is None:
            return
        puts: Mapping[type[Record], Callable[[], object]] = {
            Agent: lambda: store.publish(store.agents.put(record)),  # type: ignore[arg-type]
            Company: lambda: store.publish(store.companies.put(record)),  # type: ignore[arg-type]
        }
        put = puts.get(type(record))
        if put is not None:
            put()
        if isinstance(record, Task) and not waits_for_person(record):
            store.publish(store.pending.drop(outcome.subject))
            if record.id in store.tasks.records:
                store.publish(store.tasks.put(record))


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
    """Return in what a record differs from what was shown."""
    if isinstance(shown, Task) and isinstance(now, Task):
        return differences(shown, now)
    found: list[Difference] = []
    for field in COMPARED.get(type(shown), ()):
        was = getattr(shown, field)
        is_ = getattr(now, field)
        if was != is_:
            found.append(Difference(field.replace("_", " "), _words(was), _words(is_)))
    return tuple(found)


def _words(value: Any) -> SafeText:
    if isinstance(value, Ref):
        value = value.name or value.id
    return signs.missing if value is None else clean_line(str(value), 200)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
