"""The one flow of every write: read, compare, write ahead, send once, reconcile.

A write is in the journal, on disk, before it is sent; it is sent at most once, and only while the
read before it is fresh (`read_age.py`) and the store knows nothing newer. Both are checked when the
bytes leave, on a connection that is ready; where they don't hold, it is read and compared again.
Where the answer leaves open what happened, reads go on until one settles it, and the outcome says
no more than what was read. What differs between the writes is in the subclasses of `Write`.
"""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Any, ClassVar, Generic, Self, TypeVar

from msgspec.structs import replace

from agentco_tui.actions.fingerprint import Difference
from agentco_tui.actions.journal import InFlight, Overtaken, Unsettled
from agentco_tui.actions.journal_file import Attempt, JournalError, Settled
from agentco_tui.actions.outcome import (
    ENDED,
    LEFT_BEHIND,
    AnswerKind,
    Check,
    Found,
    KnownBy,
    OnProgress,
    Outcome,
    OutcomeKind,
    Step,
    Verb,
    WriteAnswer,
    clarity,
)
from agentco_tui.actions.read_age import MOST_READS, OLDEST_READ, why_too_old
from agentco_tui.actions.services import Services, age_of
from agentco_tui.api.errors import ApiError, Conflict, KeyRejected, NotAllowed, Withheld
from agentco_tui.live.names import Names
from agentco_tui.model import Receipt, Record, Ref, Verdict
from agentco_tui.model.format import ago
from agentco_tui.reading.field_names import fold
from agentco_tui.reading.identity import refusal
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.text import SafeText, joined, plain, safe

log = logging.getLogger(__name__)

R = TypeVar("R", bound=Record)

OVERTAKINGS = 3
"""How often it is read again because somebody here did something to the subject meanwhile."""
MOST_TOLD = 4  # fields that changed, told in a sentence; the question about it has them all
CREATING = frozenset({Verb.CREATE_TASK, Verb.CREATE_COMPANY, Verb.CLONE_COMPANY})


class Write(ABC, Generic[R]):
    """One decision about one subject; `run` once, or `post` and then `reconcile`.

    `subject` is an id, or for what has none yet a digest of what it is to be. Nothing is raised but
    cancellation, after which an attempt that was written down stays open in the journal.
    """

    reads_after_no: ClassVar[bool] = False  # whether a clear no is explained by a read
    reads_after_conflict: ClassVar[bool] = False
    """Whether a read shows after a 409 that it came about all the same."""
    fields: Sequence[str] = ()
    texts: Sequence[str | None] = ()  # written by a person or an agent, beside the title
    on_progress: OnProgress = bool

    def __init__(self, services: Services, verb: Verb, subject: str, title: SafeText) -> None:
        self.services = services
        self.verb = verb
        self.subject = subject
        self.title = title
        self.attempt_id: str | None = None  # of the attempt, once it stands in the journal
        self.answer: WriteAnswer[R] = LEFT_BEHIND
        self.left_behind: Attempt | None = None
        """The attempt of an earlier run that is reconciled here."""
        self.is_sent = False
        """Whether the platform may have got it; False is proof that nothing left this machine."""
        self.read_began = -inf  # steady clock: when the last read in `prepare` began

    # ---- what differs

    @abstractmethod
    async def prepare(self) -> Attempt | Outcome:
        """Read and compare: what to write down (`attempt`), or why nothing is to be sent.

        Sets `read_began`. Called again, with the attempt in the journal, where the read before has
        become too old.
        """

    @abstractmethod
    def send(self, attempt_id: str) -> Awaitable[Receipt[R]]:
        """Send it, once, and pass `why_withheld` on to the transport."""

    @abstractmethod
    async def check(self) -> Check[R]:
        """What one read shows of whether it came about."""

    @abstractmethod
    def recall(self, attempt: Attempt) -> None:
        """Take from an attempt's line what is needed to reconcile it."""

    def done(self, record: R | None) -> str:
        raise NotImplementedError

    @abstractmethod
    def why_overtaken(self) -> SafeText | None:
        """What the store knows that is newer than the read, so that it must be read again; None if
        nothing. Asked when the bytes are about to leave; reads nothing.
        """

    def named_ids(self) -> Iterable[str | None]:
        """The ids of records that the request names, in its path or its body."""
        return (self.subject,)

    def named_records(self) -> Iterable[Record | None]:
        """What is known of the records that the request names; asked before anything is read."""
        return ()

    def recheck(self) -> Outcome | None:
        """Why it is not to be sent after all, by what the store knows; reads nothing."""
        return None

    @abstractmethod
    def take(self, outcome: Outcome) -> None:
        """Put what was found into the store; the next poll would bring the same."""

    # ---- the flow

    async def run(self, on_progress: OnProgress = bool) -> Outcome:
        """All of it; may take as long as the platform is away."""
        self.on_progress = on_progress
        return await self.post() or await self.reconcile()

    async def post(self) -> Outcome | None:
        """The first half: read, compare, write ahead, send once.

        Returns the outcome if nothing was sent; None if `reconcile` is to find it.
        """
        services = self.services
        denied = services.permissions.denied(self.verb)
        if denied is not None:
            return self.unsent(denied, off=True)
        refused = refusal(self.named_ids(), self.named_records())
        if refused is not None:
            return self.unsent(refused)
        self.attempt_id = None
        self.is_sent = False
        self.answer = LEFT_BEHIND
        try:
            for _ in range(OVERTAKINGS):
                self.on_progress(Step.READING)
                mark = await services.journaled(services.journal.mark, services.origin)
                services.decision_client.connect_ahead()
                attempt = await self.prepare()
                if isinstance(attempt, Outcome):
                    return attempt
                with suppress(Overtaken):
                    begun = await services.journaled(services.journal.begin, attempt, mark)
                    self.attempt_id = begun.attempt
                    break
            else:
                return self.unsent("somebody else here keeps acting on it: look at it again")
        except JournalError as error:
            return self.unsent(error.sentence, off=True)
        except InFlight as other:
            return self.unsent(str(other))
        except Unsettled as left:
            self.take_up(left.attempt)
            return None
        unsent = await self._send_while_fresh(begun.attempt)
        if unsent is not None:
            return await self.written(unsent)
        if isinstance(self.answer.error, NotAllowed):
            services.permissions.refused(self.verb, self.answer.error)
        return None

    async def _send_while_fresh(self, attempt_id: str) -> Outcome | None:
        """Send the attempt that is in the journal; None if it was tried to send it.

        Where the read is too old, or the store knows something newer, it is read and compared
        again: the attempt stays in the journal meanwhile, and keeps others from doing the same.
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
            self.answer = await self._answered(attempt_id)
            if not isinstance(self.answer.error, Withheld):
                return None
            reason = self.answer.error.sentence
        error = Withheld(reason or plain("it was read too long ago"), method="POST")
        words = (
            f"nothing was sent: it was read {MOST_READS} times, and each time {reason}; "
            f"a yes applies to what was read within {OLDEST_READ:g} s: "
            "see whether the disk, the line or the platform is slow, and try again"
        )
        return self.unsent(words, error=error)

    def why_withheld(self) -> SafeText | None:
        """Why the request must not leave; asked by the transport right before its first byte.

        None is a yes: from then on the platform may act on it.
        """
        reason = self._why_stale()
        self.is_sent = reason is None
        return reason

    def _why_stale(self) -> SafeText | None:
        return why_too_old(self.services.clock, self.read_began) or self.why_overtaken()

    async def reconcile(self) -> Outcome:
        """The second half: read until it is known what became of it, and write that down."""
        found = await self._found()
        self.take(found)
        found = await self.written(found)
        if self.left_behind is None:
            return found
        age = age_of(self.left_behind.time)
        when = "" if age is None else f" of {ago(age)}"
        words = f"the attempt{when} that was left unsettled: {found.sentence}"
        return replace(found, sentence=plain(words))

    def take_up(self, attempt: Attempt) -> Self:
        """From here on, reconcile an attempt at the same that was left behind; nothing is sent."""
        self.left_behind = attempt
        self.attempt_id = attempt.attempt
        self.is_sent = True
        self.verb = Verb(attempt.verb)
        self.subject = attempt.subject
        self.title = safe(attempt.title) or self.title
        self.recall(attempt)
        return self

    async def _answered(self, attempt_id: str) -> WriteAnswer[R]:
        """Send it, and say how clear the answer is. Raises nothing but cancellation."""
        try:
            receipt = await self.send(attempt_id)
        except ApiError as error:
            error.platform_message = self.theirs(error.platform_message)
            error.fields = tuple(told for told in error.fields if self.theirs(told[1]))
            return WriteAnswer(
                kind=clarity(error),
                told=error.platform_message or error.sentence,
                words=error.platform_message,
                error=error,
            )
        except Exception as error:
            # Whatever failed here may have failed after the platform acted.
            log.exception("a write failed in an unforeseen way")
            fault = f"a fault of this program ({type(error).__name__}) lost the answer"
            return WriteAnswer(kind=AnswerKind.LOST, told=plain(fault))
        kind, sentence = AnswerKind.YES, "the platform said yes"
        words, word = self.theirs(receipt.message), receipt.status_word
        if receipt.verdict is Verdict.NO:
            kind, sentence = AnswerKind.NO, "the platform said no, without a reason"
        elif word is not None and task_state(word) in ENDED:
            kind, sentence = AnswerKind.NO, f"the platform answered “{word}”"
            words, sentence = None, f"{sentence}: {words}" if words else sentence
        return WriteAnswer(kind=kind, told=words or plain(sentence), words=words, receipt=receipt)

    def theirs(self, words: SafeText | None) -> SafeText | None:
        """The platform's words; None where they only give back what a person or an agent wrote."""
        said = _letters(words or "")
        own = [_letters(text) for text in (self.title, *self.texts) if text]
        own += [_letters(name) + text for name in self.fields for text in own]
        is_cut = (words or "").endswith("…")
        echo = said in own or (is_cut and any(text.startswith(said) for text in own))
        return None if echo else words

    async def _found(self) -> Outcome:
        """What became of it, by the answer and by checks: until one is as wanted or the same is
        seen for long enough, for ever if nothing can be read after a lost answer.
        """
        answer, timing = self.answer, self.services.timing
        if answer.kind is AnswerKind.FORBIDDEN:
            reason = self.services.permissions.denied(self.verb) or answer.told
            return self.outcome(OutcomeKind.NOT_ALLOWED, reason, KnownBy.ANSWER)
        if answer.kind is AnswerKind.UNSENT:
            return self.unsent(f"nothing was sent: {answer.told}")
        is_conflict = isinstance(answer.error, Conflict)
        reads_after_this = self.reads_after_no or (is_conflict and self.reads_after_conflict)
        if answer.kind is AnswerKind.NO and not reads_after_this:
            return await self.conclude(None)
        step = Step.UNKNOWN if answer.kind is AnswerKind.LOST else Step.CONFIRMING
        since: dict[Found, float] = {}
        for pause in timing.pauses():
            self.on_progress(step)
            check = await self.check()
            found = check.found
            if found is not Found.FAILED:
                # What was seen counts as long as nothing else is seen; a failed read sees nothing.
                since = {known: at for known, at in since.items() if known is found}
            began = since.setdefault(found, check.began)
            limit: float | None = 0.0  # seconds for which it must be seen; a read explains a no
            if answer.kind is AnswerKind.LOST and found is not Found.DONE:
                limit = None if found is Found.FAILED else timing.still_pending
            elif answer.kind is AnswerKind.YES and found not in (Found.DONE, Found.PARTIAL):
                limit = timing.still_pending
            elif is_conflict and found is Found.BEFORE:
                limit = timing.after_conflict
            if limit is not None and check.began - began >= limit:
                return await self.conclude(check)
            await timing.sleep(pause)
        raise AssertionError("pauses never end")

    async def conclude(self, check: Check[R] | None) -> Outcome:
        """What became of it; None where nothing was read, after a clear no."""
        answer = self.answer
        yes = answer.kind is AnswerKind.YES
        if answer.kind is AnswerKind.NO and check is not None and check.found is Found.DONE:
            words = f"{self.done(check.record)}, though the platform had refused it: {answer.told}"
            return self.outcome(OutcomeKind.DONE, words, record=check.record)
        if check is None or not (yes or answer.kind is AnswerKind.LOST):
            if check is not None and isinstance(check.error, KeyRejected):
                words = "the key is missing or invalid: nothing was changed"
                return self.outcome(OutcomeKind.KEY_REJECTED, words, KnownBy.ANSWER)
            told = () if answer.error is None else answer.error.fields
            fields, others = beside(told, self.fields)
            words = f"refused: {joined((answer.told, *others), '; ')}"
            return self.outcome(OutcomeKind.REFUSED, words, KnownBy.ANSWER, fields=fields)
        said = "the platform said yes, but" if yes else "the answer was lost, and"
        record, over = check.record, f"{self.services.timing.still_pending:g}"
        match check.found:
            case Found.DONE:
                return self.outcome(OutcomeKind.DONE, self.done(record), record=record)
            case Found.OTHERWISE:
                words = f"{said} {check.why}"
                return self.outcome(OutcomeKind.UNCLEAR, words, record=record)
            case _ if yes:
                if record is None and answer.receipt is not None:
                    record = answer.receipt.record
                words = f"{self.done(record)}, says the answer; a read doesn't show it yet"
                return self.outcome(OutcomeKind.DONE, words, KnownBy.ANSWER, record=record)
            case Found.PARTIAL:
                return self.outcome(OutcomeKind.UNCLEAR, f"unclear: {said} {check.why}")
        words = f"not done: {said} reads over {over} s show nothing of it; you may try again"
        return self.outcome(OutcomeKind.NOT_DONE, words)

    # ---- what is said of it

    def outcome(
        self,
        kind: OutcomeKind,
        sentence: str,
        known_by: KnownBy | None = None,
        *,
        record: R | None = None,
        **more: Any,
    ) -> Outcome:
        """An outcome; known by a read unless told otherwise, or unless nothing was sent."""
        return Outcome(
            verb=self.verb,
            kind=kind,
            subject=self.subject if record is None else record.id,
            title=self.title,
            sentence=plain(sentence),
            known_by=known_by or (KnownBy.READ if self.attempt_id else KnownBy.HERE),
            words=self.answer.words,
            attempt_id=self.attempt_id,
            record=record,
            **more,
        )

    def unsent(self, sentence: str, **more: Any) -> Outcome:
        return self.outcome(OutcomeKind.NOT_SENT, sentence, KnownBy.HERE, **more)

    def changed(self, record: R, found: tuple[Difference, ...]) -> Outcome:
        """The outcome where it is not any more what was shown."""
        told = [difference.sentence for difference in found[:MOST_TOLD]]
        if len(found) > MOST_TOLD:
            told.append(plain(f"and {len(found) - MOST_TOLD} more"))
        words = f"nothing was sent, because it changed since you saw it: {'; '.join(told)}"
        kind, known_by = OutcomeKind.CHANGED, KnownBy.HERE
        return self.outcome(kind, words, known_by, record=record, differences=found)

    # ---- the journal

    def attempt(
        self,
        *,
        task: str | None = None,
        company: Ref | None = None,
        agent: Ref | None = None,
        fingerprint: str = "",
        details: Mapping[str, Any],
    ) -> Attempt | Outcome:
        """The line for the journal, with the names that are known for company and agent, and in
        `details` what is needed to reconcile it by reading after a crash.
        """
        services, names, agent = self.services, Names(self.services.store), agent or Ref()
        known = names.agent_of(agent)
        company = company or (known and known.company) or Ref()
        return Attempt(
            attempt=str(uuid.uuid4()),
            origin=services.origin,
            profile=services.profile,
            verb=self.verb,
            subject=self.subject,
            title=self.title,
            task=task,
            company=company.id,
            company_name=names.known(company, "company"),
            agent=agent.id,
            agent_name=names.known(agent, "agent"),
            fingerprint=fingerprint,
            details=dict(details),
        )

    async def written(self, outcome: Outcome) -> Outcome:
        """Write an outcome into the journal; returned with a word about it if that failed."""
        if outcome.attempt_id is None:
            return outcome
        services, error, receipt = self.services, self.answer.error, self.answer.receipt
        status = None if receipt is None else receipt.http_status
        settled = Settled(
            attempt=outcome.attempt_id,
            outcome=outcome.kind,
            known_by=outcome.known_by,
            words=outcome.words,
            http_status=status if error is None else error.status,
            sentence=outcome.sentence,
            made=outcome.record.id if outcome.record and outcome.verb in CREATING else None,
        )
        try:
            await asyncio.shield(services.journaled(services.journal.finish, settled))
        except JournalError as trouble:
            sent = "" if outcome.known_by is KnownBy.HERE else "it was sent, and "
            words = f"{outcome.sentence} ({sent}only the note of this is missing: {trouble.why})"
            return replace(outcome, sentence=plain(words))
        return outcome


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def beside(
    told: Iterable[tuple[SafeText, SafeText]], fields: Sequence[str]
) -> tuple[Mapping[str, SafeText], tuple[SafeText, ...]]:
    """The platform's messages by form field, and those that belong to none of them.

    Platforms name a field in their own way: agentId, body.agent_id, /data/attributes/title.
    """
    known = {fold(field): field for field in fields}
    by_field: dict[str, SafeText] = {}
    others: list[SafeText] = []
    for name, message in told:
        parts = [fold(part) for part in re.split(r"[./\[\]]+", name) if part]
        field = next((known[part] for part in reversed(parts) if part in known), None)
        if field is None:
            others.append(plain(f"{name}: {message}") if name else message)
        else:
            before = by_field.get(field)
            by_field[field] = message if before is None else plain(f"{before}; {message}")
    return by_field, tuple(others)
