"""The one flow of every write: read, compare, write ahead, send once, reconcile.

A write is one request that changes the platform (the remote service that runs AI agents): an
approval, a new task or company, a new limit. The store is what is known of the platform in memory,
kept fresh by polling. A write is in the journal, on disk, before it is sent; it is sent at most
once, and only while the read before it is fresh (`read_age.py`) and the store knows nothing newer.
Both are checked when the bytes leave, on a connection that is ready; if one does not hold, it is
read and compared again. If the answer leaves open what happened, reads go on until one settles it,
and the `Outcome` claims no more than what was read. What differs between the writes is in the
subclasses of `Write`.

An `Attempt` is the journal's entry before a write is sent, `Settled` the one about its outcome; a
`Receipt` is a decoded 2xx answer; a `Check` is what one read shows, and its `Observation` says
whether that is the write's effect.
"""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from enum import Enum, auto
from math import inf
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from msgspec.structs import replace

from agentco_tui.actions.evidence import (
    ENDED_UNAPPROVED,
    NO_ANSWER,
    AnswerKind,
    Check,
    Observation,
    WriteAnswer,
    answer_kind_of,
)
from agentco_tui.actions.fingerprint import Difference
from agentco_tui.actions.journal import InFlight, Overtaken, Unsettled
from agentco_tui.actions.journal_errors import JournalError
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.outcome import (
    KnownBy,
    OnProgress,
    Outcome,
    OutcomeKind,
    Reason,
    ResumedAttempt,
    Step,
    Verb,
    ignore_progress,
)
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.read_age import MOST_READS, why_too_old
from agentco_tui.actions.services import Services, Timing, age_of
from agentco_tui.api.errors import ApiError, Conflict, KeyRejected, NotAllowed, Withheld
from agentco_tui.model import Receipt, Record, Ref, Verdict, with_key
from agentco_tui.reading.field_names import fold
from agentco_tui.reading.identity import refusal
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.text import SafeText, clean_line, joined, mark_safe

log = logging.getLogger(__name__)

R = TypeVar("R", bound=Record)

MOST_OVERTAKINGS: Final = 3
"""How often it is read again because another process here acted on the subject meanwhile."""
CREATING: Final = frozenset({Verb.CREATE_TASK, Verb.CREATE_COMPANY, Verb.CLONE_COMPANY})


class SettledAfter(Enum):
    """For how long reads must show the same observation until it counts."""

    AT_ONCE = auto()
    CONFIRMING = auto()  # `Timing.confirm_for`
    AFTER_CONFLICT = auto()  # `Timing.after_conflict`
    NEVER = auto()

    def seconds(self, timing: Timing) -> float:
        match self:
            case SettledAfter.AT_ONCE:
                return 0.0
            case SettledAfter.CONFIRMING:
                return timing.confirm_for
            case SettledAfter.AFTER_CONFLICT:
                return timing.after_conflict
            case SettledAfter.NEVER:
                return inf


# fmt: off
_AFTER_YES: Final = {
    Observation.DONE: SettledAfter.AT_ONCE,
    Observation.UNCHANGED: SettledAfter.CONFIRMING,
    Observation.UNEXPECTED: SettledAfter.CONFIRMING,
    Observation.INCOMPLETE: SettledAfter.AT_ONCE,
    Observation.FAILED: SettledAfter.CONFIRMING,
}
_AFTER_LOST: Final = {
    Observation.DONE: SettledAfter.AT_ONCE,
    Observation.UNCHANGED: SettledAfter.CONFIRMING,
    Observation.UNEXPECTED: SettledAfter.CONFIRMING,
    Observation.INCOMPLETE: SettledAfter.CONFIRMING,
    Observation.FAILED: SettledAfter.NEVER,  # nothing is known while the platform can't be read
}
_AFTER_NO: Final = dict.fromkeys(Observation, SettledAfter.AT_ONCE)
"""One read explains a refusal, whatever it shows."""
_AFTER_CONFLICT: Final = {**_AFTER_NO, Observation.UNCHANGED: SettledAfter.AFTER_CONFLICT}

_CONCLUSIONS: Final = {
    (AnswerKind.YES, Observation.DONE):
        (OutcomeKind.DONE, Reason.DONE, KnownBy.READ),
    (AnswerKind.YES, Observation.UNCHANGED):
        (OutcomeKind.DONE, Reason.DONE_BY_ANSWER, KnownBy.ANSWER),
    (AnswerKind.YES, Observation.UNEXPECTED):
        (OutcomeKind.UNCLEAR, Reason.YES_BUT, KnownBy.READ),
    (AnswerKind.YES, Observation.INCOMPLETE):
        (OutcomeKind.DONE, Reason.DONE_BY_ANSWER, KnownBy.ANSWER),
    (AnswerKind.YES, Observation.FAILED):
        (OutcomeKind.DONE, Reason.DONE_BY_ANSWER, KnownBy.ANSWER),
    (AnswerKind.LOST, Observation.DONE):
        (OutcomeKind.DONE, Reason.DONE, KnownBy.READ),
    (AnswerKind.LOST, Observation.UNCHANGED):
        (OutcomeKind.NOT_DONE, Reason.LOST_NO_EFFECT, KnownBy.READ),
    (AnswerKind.LOST, Observation.UNEXPECTED):
        (OutcomeKind.UNCLEAR, Reason.LOST_AND, KnownBy.READ),
    (AnswerKind.LOST, Observation.INCOMPLETE):
        (OutcomeKind.UNCLEAR, Reason.LOST_UNREAD, KnownBy.READ),
}
"""What is claimed of a create, a clone or a limit after a yes or a lost answer. After a lost answer
a failed read concludes nothing; after a refusal `_conclude_refused` decides."""
# fmt: on


class Write(ABC, Generic[R]):
    """One decision about one subject; `run` once, or `post` and then `reconcile`.

    `subject` is an id; for a record that has none yet, a digest of what it is to be. Nothing is
    raised except cancellation, after which an attempt that was written down stays open in the
    journal.
    """

    reads_after_no: ClassVar[bool] = False  # whether a clear no is followed by a read
    reads_after_conflict: ClassVar[bool] = False
    """Whether a 409 is followed by a read, which may show that the write took effect after all."""
    fields: Sequence[str] = ()  # the names of the form's fields
    own_texts: Sequence[str | None] = ()  # of the subject, besides its title: by users and agents
    limit: Decimal | None = None  # the monthly limit that is wanted
    key: SafeText | None = None  # what users call the subject beside its title

    def __init__(self, services: Services, verb: str, subject: str, title: SafeText) -> None:
        self.services = services
        self.verb = verb
        self.subject = subject
        self.title = title
        self.on_progress: OnProgress = ignore_progress
        self.attempt_id: str | None = None  # of the attempt, once it is in the journal
        self.answer: WriteAnswer[R] = NO_ANSWER
        self.resumed_attempt: Attempt | None = None
        """The attempt of an earlier run that is reconciled here."""
        self.is_sent = False
        """Whether the platform may have got it; False proves that nothing left this machine."""
        self.read_began = -inf  # when the last read in `prepare` began, by the monotonic clock

    # ---- what differs between the writes

    @abstractmethod
    async def prepare(self) -> Attempt | Outcome:
        """Read and compare. Return the journal's entry (`new_attempt`), or why nothing is sent.

        Sets `read_began`. Called again, with the attempt in the journal, if the read before has
        become too old.
        """

    @abstractmethod
    def send(self, attempt_id: str) -> Awaitable[Receipt[R]]:
        """Send it, once, and pass `why_withheld` on to the transport."""

    @abstractmethod
    async def read_effect(self) -> Check[R]:
        """Read once whether the write has taken effect."""

    @abstractmethod
    def restore_attempt(self, attempt: Attempt) -> None:
        """Restore from an attempt in the journal what is needed to reconcile it."""

    @abstractmethod
    def why_overtaken(self) -> SafeText | None:
        """Return what the store knows that is newer than the read, so that it must be read again;
        None if nothing. Called when the bytes are about to leave; reads nothing.
        """

    @abstractmethod
    def update_store(self, outcome: Outcome) -> None:
        """Put the record of an outcome into the store; the next poll would bring the same."""

    def named_ids(self) -> Iterable[str | None]:
        """The ids of records that the request names, in its path or its body."""
        return (self.subject,)

    def named_records(self) -> Iterable[Record | None]:
        """The records that the request names, as far as they are known before anything is read."""
        return ()

    def recheck(self) -> Outcome | None:
        """Return why it must not be sent after all, by what the store knows; reads nothing."""
        return None

    def is_refusal(self, status: SafeText) -> bool:
        """Whether the status in a 2xx answer says that it was not done."""
        return task_state(status) in ENDED_UNAPPROVED

    # ---- the flow

    async def run(self, on_progress: OnProgress = ignore_progress) -> Outcome:
        """Run the whole flow. This may take as long as the platform can't be reached."""
        self.on_progress = on_progress
        unsent = await self.post()
        if unsent is not None:
            return unsent
        return await self.reconcile()

    async def post(self) -> Outcome | None:
        """The first half: read, compare, write ahead, send once.

        Returns the outcome if nothing was sent; None if `reconcile` is to find it.
        """
        services = self.services
        not_offered = services.why_not_offered(self.verb)
        if not_offered is not None:
            return self.unsent(Reason.NOT_OFFERED, cause=not_offered)
        denied = services.permissions.why_denied(self.verb)  # read-only, or a 403 before
        if denied is not None:
            return self.unsent(Reason.WRITING_OFF, cause=denied, is_writing_off=True)
        # Why no request may name these ids, for instance because several records share one.
        not_writable = refusal(self.named_ids(), self.named_records())
        if not_writable is not None:
            return self.unsent(Reason.NOT_WRITABLE, cause=not_writable)
        self.attempt_id = None
        self.is_sent = False
        self.answer = NO_ANSWER
        try:
            begun = await self._write_ahead()
        except JournalError as error:
            return self.unsent(Reason.NO_JOURNAL, cause=error.sentence, is_writing_off=True)
        except InFlight as other:
            return self.unsent(Reason.IN_FLIGHT, cause=mark_safe(str(other)))
        except Unsettled as left:
            self.resume(left.attempt)
            return None
        if isinstance(begun, Outcome):
            return begun
        unsent = await self._send_while_fresh(begun.attempt)
        if unsent is not None:
            return await self.record_outcome(unsent)
        if isinstance(self.answer.error, NotAllowed):
            services.permissions.note_refused(self.verb, self.answer.error)
        return None

    async def _write_ahead(self) -> Attempt | Outcome:
        """Read, compare and write the attempt into the journal; again if another process here acted
        on the subject after the read. Raises JournalError, InFlight and Unsettled.
        """
        services = self.services
        for _ in range(MOST_OVERTAKINGS):
            self.on_progress(Step.READING)
            mark = await services.in_journal_thread(services.journal.mark, services.origin)
            services.decision_client.connect_ahead()
            attempt = await self.prepare()
            if isinstance(attempt, Outcome):
                return attempt
            with suppress(Overtaken):
                begun = await services.in_journal_thread(services.journal.begin, attempt, mark)
                self.attempt_id = begun.attempt
                return begun
        return self.unsent(Reason.KEEPS_CHANGING)

    async def _send_while_fresh(self, attempt_id: str) -> Outcome | None:
        """Send the attempt that is in the journal; None if sending it was tried.

        If the read is too old, or the store knows something newer, it is read and compared again:
        the attempt stays in the journal meanwhile, and keeps others from doing the same.
        Returns the outcome if nothing was sent.
        """
        reason: SafeText | None = None
        for number in range(MOST_READS):
            if number > 0:
                self.on_progress(Step.READING)
                self.services.decision_client.connect_ahead()
                found = await self.prepare()
                if isinstance(found, Outcome):
                    return found
            changed = self.recheck()
            if changed is not None:
                return changed
            reason = self._why_stale()
            if reason is not None:
                continue
            self.on_progress(Step.SENDING)
            self.answer = await self._send_once(attempt_id)
            if not isinstance(self.answer.error, Withheld):
                return None
            reason = self.answer.error.sentence
        reason = reason or mark_safe("it was read too long ago")
        error = Withheld(reason)
        return self.unsent(Reason.ALWAYS_STALE, cause=reason, error=error)

    def why_withheld(self) -> SafeText | None:
        """Return why the request must not leave; called by the transport right before its first
        byte. None is a yes: from then on the platform may act on it.
        """
        reason = self._why_stale()
        self.is_sent = reason is None
        return reason

    def _why_stale(self) -> SafeText | None:
        return why_too_old(self.services.clock, self.read_began) or self.why_overtaken()

    async def reconcile(self) -> Outcome:
        """The second half: read until it is known what became of it, and write that down."""
        outcome = await self._read_until_settled()
        self.update_store(outcome)
        outcome = await self.record_outcome(outcome)
        if self.resumed_attempt is None:
            return outcome
        age = age_of(self.resumed_attempt.time)
        return replace(outcome, resumed=ResumedAttempt(age=age))

    def resume(self, attempt: Attempt) -> Self:
        """Turn this into the reconciliation of an earlier attempt at the same; nothing is sent."""
        self.resumed_attempt = attempt
        self.attempt_id = attempt.attempt
        self.is_sent = True
        self.verb = attempt.verb
        self.subject = attempt.subject
        self.title = clean_line(attempt.title) or self.title
        self.key = clean_line(attempt.key) or self.key
        self.restore_attempt(attempt)
        return self

    async def _send_once(self, attempt_id: str) -> WriteAnswer[R]:
        """Send it, and return how clear the answer is. Raises nothing except cancellation."""
        try:
            receipt = await self.send(attempt_id)
        except ApiError as error:
            error.platform_message = self.without_echo(error.platform_message)
            error.fields = tuple(field for field in error.fields if self.without_echo(field[1]))
            return WriteAnswer(
                kind=answer_kind_of(error),
                message=error.platform_message or error.sentence,
                platform_words=error.platform_message,
                error=error,
            )
        except Exception as error:
            # Whatever failed here may have failed after the platform acted.
            log.exception("a write failed in an unforeseen way")
            fault = f"a fault of this program ({type(error).__name__}) lost the answer"
            return WriteAnswer(kind=AnswerKind.LOST, message=mark_safe(fault))
        return self._answer_of(receipt)

    def _answer_of(self, receipt: Receipt[R]) -> WriteAnswer[R]:
        """Return what a 2xx says: it may still contain a no."""
        words = self.without_echo(receipt.message)
        status = receipt.status_word
        if receipt.verdict is Verdict.NO:
            message = words or mark_safe("the platform said no, without a reason")
            return WriteAnswer(
                kind=AnswerKind.NO, message=message, platform_words=words, receipt=receipt
            )
        if status is not None and self.is_refusal(status):
            sentence = f"the platform answered “{status}”"
            message = mark_safe(f"{sentence}: {words}" if words else sentence)
            return WriteAnswer(kind=AnswerKind.NO, message=message, receipt=receipt)
        message = words or mark_safe("the platform said yes")
        return WriteAnswer(
            kind=AnswerKind.YES, message=message, platform_words=words, receipt=receipt
        )

    def without_echo(self, words: SafeText | None) -> SafeText | None:
        """Return the platform's words; None if they only repeat what a user or an agent wrote."""
        said = _letters_of(words or "")
        own = [_letters_of(text) for text in (self.title, *self.own_texts) if text]
        own += [_letters_of(name) + text for name in self.fields for text in own]
        is_cut = (words or "").endswith("…")
        is_echo = said in own or (is_cut and any(text.startswith(said) for text in own))
        if is_echo:
            return None
        return words

    # ---- what became of it

    async def _read_until_settled(self) -> Outcome:
        """Conclude what became of it, by the answer and by reads.

        The reads go on until one shows that the write came about, or until they have shown the same
        for long enough (`_settled_after`); after a lost answer, for as long as all of them fail.
        """
        answer = self.answer
        if answer.kind is AnswerKind.FORBIDDEN:
            denied = self.services.permissions.why_denied(self.verb)
            return self.outcome(
                OutcomeKind.NOT_ALLOWED,
                Reason.FORBIDDEN,
                KnownBy.ANSWER,
                cause=denied or answer.message,
            )
        if answer.kind is AnswerKind.UNSENT:
            return self.unsent(Reason.REQUEST_NOT_SENT, cause=answer.message)
        is_conflict = isinstance(answer.error, Conflict)
        reads_after_this = self.reads_after_no or (is_conflict and self.reads_after_conflict)
        if answer.kind is AnswerKind.NO and not reads_after_this:
            return await self.conclude(None)
        step = Step.CONFIRMING
        if answer.kind is AnswerKind.LOST:
            step = Step.UNKNOWN
        settled_after = _settled_after(answer)
        first_seen: dict[Observation, float] = {}
        for pause in self.services.timing.pauses():
            self.on_progress(step)
            check = await self.read_effect()
            observation = check.observation
            if observation is not Observation.FAILED:
                # A read that shows something else starts the time again; a failed one does not.
                first_seen = {
                    seen: began for seen, began in first_seen.items() if seen is observation
                }
            seen_for = check.began - first_seen.setdefault(observation, check.began)
            if seen_for >= settled_after[observation].seconds(self.services.timing):
                return await self.conclude(check)
            await self.services.timing.sleep(pause)
        raise AssertionError("pauses never end")

    async def conclude(self, check: Check[R] | None) -> Outcome:
        """Conclude what became of it by the answer and the last read; `check` is None if nothing
        was read after a clear no.
        """
        answer = self.answer
        if check is None or answer.kind not in (AnswerKind.YES, AnswerKind.LOST):
            return self._conclude_refused(check)
        kind, reason, known_by = _CONCLUSIONS[answer.kind, check.observation]
        record = check.record
        if reason is Reason.DONE_BY_ANSWER and record is None and answer.receipt is not None:
            record = answer.receipt.record
        if kind is OutcomeKind.NOT_DONE:
            record = None  # nothing came about
        return self.outcome(
            kind,
            reason,
            known_by,
            cause=check.why,
            seconds=self.services.timing.confirm_for,
            record=record,
        )

    def _conclude_refused(self, check: Check[R] | None) -> Outcome:
        answer = self.answer
        if check is not None:
            is_done = check.observation is Observation.DONE
            if is_done and answer.kind is AnswerKind.NO:
                return self.outcome(
                    OutcomeKind.DONE,
                    Reason.DONE_THOUGH_REFUSED,
                    cause=answer.message,
                    record=check.record,
                )
            if isinstance(check.error, KeyRejected):
                return self.outcome(OutcomeKind.KEY_REJECTED, Reason.KEY_INVALID, KnownBy.ANSWER)
        messages = () if answer.error is None else answer.error.fields
        by_field, others = sort_messages(messages, self.fields)
        cause = joined((answer.message, *others), "; ")
        return self.outcome(
            OutcomeKind.REFUSED, Reason.REFUSED, KnownBy.ANSWER, cause=cause, fields=by_field
        )

    def outcome(
        self,
        kind: OutcomeKind,
        reason: Reason,
        known_by: KnownBy | None = None,
        *,
        record: R | None = None,
        **facts: Any,
    ) -> Outcome:
        """Make an outcome; `facts` are further fields of `Outcome`.

        It is known by a read if not given otherwise, or by nothing having been sent if there is no
        attempt in the journal.
        """
        if known_by is None:
            known_by = KnownBy.READ if self.attempt_id else KnownBy.HERE
        return Outcome(
            verb=self.verb,
            kind=kind,
            reason=reason,
            known_by=known_by,
            subject=self.subject if record is None else record.id,
            title=with_key(self.key, self.title),
            at=self.services.clock.now(),
            platform_words=self.answer.platform_words,
            limit=self.limit,
            attempt_id=self.attempt_id,
            record=record,
            **facts,
        )

    def unsent(self, reason: Reason, **facts: Any) -> Outcome:
        """Make the outcome of a write of which nothing was sent."""
        return self.outcome(OutcomeKind.NOT_SENT, reason, KnownBy.HERE, **facts)

    def changed_outcome(self, record: R, found: tuple[Difference, ...]) -> Outcome:
        """Make the outcome of a subject that differs from what the user saw."""
        return self.outcome(
            OutcomeKind.CHANGED,
            Reason.DIFFERS,
            KnownBy.HERE,
            record=record,
            differences=found,
        )

    # ---- the journal

    def new_attempt(
        self,
        *,
        task: str | None = None,
        company: Ref | None = None,
        agent: Ref | None = None,
        fingerprint: str = "",
        details: Mapping[str, Any],
    ) -> Attempt | Outcome:
        """Make the journal's entry, with the names that are known for company and agent.

        `details` has what is needed to reconcile it by reading after a crash. A subclass may return
        an outcome instead, if it must not be sent now.
        """
        services = self.services
        agent = agent or Ref()
        known_agent = services.store.agents.get(agent.id) or services.agents_read.get(
            agent.id or ""
        )
        agent_company = known_agent.company if known_agent is not None else None
        company = company or agent_company or Ref()
        return Attempt(
            attempt=str(uuid.uuid4()),
            origin=services.origin,
            profile=services.profile,
            verb=self.verb,
            subject=self.subject,
            title=self.title,
            key=self.key or "",
            task=task,
            company=company.id,
            company_name=services.company_name(company),
            agent=agent.id,
            agent_name=services.agent_name(agent),
            fingerprint=fingerprint,
            details=dict(details),
        )

    async def record_outcome(self, outcome: Outcome) -> Outcome:
        """Write an outcome into the journal and return it, with `journal_trouble` if that failed.

        Does nothing if there is no attempt in the journal.
        """
        if outcome.attempt_id is None:
            return outcome
        services = self.services
        try:
            settled = self._settled_entry(outcome, outcome.attempt_id)
            await asyncio.shield(services.in_journal_thread(services.journal.finish, settled))
        except JournalError as trouble:
            return replace(outcome, journal_trouble=trouble.why)
        return outcome

    def _settled_entry(self, outcome: Outcome, attempt_id: str) -> Settled:
        """Return the journal's entry about an outcome."""
        answer = self.answer
        status: int | None = None
        if answer.error is not None:
            status = answer.error.status
        elif answer.receipt is not None:
            status = answer.receipt.http_status
        created = outcome.record if outcome.verb in CREATING else None
        resolution = outcome.resolution
        settled = Settled(
            attempt=attempt_id,
            outcome=outcome.kind,
            reason=outcome.reason,
            known_by=outcome.known_by,
            words=outcome.platform_words,
            http_status=status,
            sentence=outcome_sentence(outcome),
            made=created.id if created is not None else None,
        )
        if resolution is None:
            return settled
        decided_at = resolution.decided_at
        return replace(
            settled,
            decision=resolution.decision,
            decided_by=resolution.decided_by,
            decided_at=decided_at.at if decided_at is not None else None,
        )


def _settled_after(answer: WriteAnswer[Any]) -> Mapping[Observation, SettledAfter]:
    """Return for how long reads must show each observation, by how clear the answer is."""
    match answer.kind:
        case AnswerKind.YES:
            return _AFTER_YES
        case AnswerKind.LOST:
            return _AFTER_LOST
        case AnswerKind.NO if isinstance(answer.error, Conflict):
            return _AFTER_CONFLICT
        case _:
            return _AFTER_NO


def _letters_of(text: str) -> str:
    """Return the letters and digits of a text, with their case folded, for comparisons."""
    return "".join(filter(str.isalnum, text.casefold()))


def sort_messages(
    messages: Iterable[tuple[SafeText, SafeText]], fields: Sequence[str]
) -> tuple[Mapping[str, SafeText], tuple[SafeText, ...]]:
    """Return the platform's messages by form field, and those that belong to none of them.

    Platforms name a field in their own way: agentId, body.agent_id, /data/attributes/title.
    """
    field_by_name = {fold(field): field for field in fields}
    by_field: dict[str, SafeText] = {}
    others: list[SafeText] = []
    for path, message in messages:
        names = [fold(part) for part in re.split(r"[./\[\]]+", path) if part]
        field = next(
            (field_by_name[name] for name in reversed(names) if name in field_by_name), None
        )
        if field is None:
            others.append(mark_safe(f"{path}: {message}") if path else message)
        elif field in by_field:
            by_field[field] = mark_safe(f"{by_field[field]}; {message}")
        else:
            by_field[field] = message
    return by_field, tuple(others)
