"""The one flow of every write: read, compare, write ahead, send once, reconcile.

A write is in the journal, on disk, before it is sent; it is sent at most once. Where the answer
leaves open what happened, reads go on until one settles it, and the outcome says no more than what
was read. What differs between the writes is in the subclasses of `Write`.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

from agentco_tui.actions.fingerprint import Difference
from agentco_tui.actions.journal import InFlight, Overtaken, Unsettled
from agentco_tui.actions.journal_file import Attempt, JournalError, Settled, stamp
from agentco_tui.actions.outcome import (
    Check,
    Found,
    KnownBy,
    OnProgress,
    Outcome,
    OutcomeKind,
    Progress,
    Step,
    Verb,
    WhyNot,
)
from agentco_tui.actions.services import Services, age_of
from agentco_tui.actions.validation import beside
from agentco_tui.api.errors import Answered, ApiError, KeyRejected, NotAllowed, Sent
from agentco_tui.format import ago
from agentco_tui.model import Receipt, Record, Ref, Verdict
from agentco_tui.text import SafeText, joined, plain

log = logging.getLogger(__name__)

R = TypeVar("R", bound=Record)

GAVE_UP = frozenset({408, 499})
"""4xx by number, but said by servers and proxies that stopped waiting: the write may be applied."""
OVERTAKINGS = 3
"""How often it is read again because somebody here did something to the subject meanwhile."""
CREATING = frozenset({Verb.CREATE_TASK, Verb.CREATE_COMPANY, Verb.CLONE_COMPANY})


class AnswerKind(StrEnum):
    """How clear the answer to a write is by itself."""

    YES = "yes"
    NO = "no"
    UNAUTHORISED = "unauthorised"
    """401: about the key, or about this record; only a read tells."""
    FORBIDDEN = "forbidden"
    LOST = "lost"
    """It may have been applied."""
    UNSENT = "unsent"
    """Nothing left this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAnswer(Generic[R]):
    """The answer to one write, or the lack of one."""

    kind: AnswerKind
    sentence: SafeText
    """In our words."""
    words: SafeText | None = None
    """The platform's own."""
    http_status: int | None = None
    receipt: Receipt[R] | None = None
    error: ApiError | None = None

    @property
    def told(self) -> SafeText:
        """The platform's words if it said any, else ours."""
        return self.words or self.sentence


async def answer_to(call: Awaitable[Receipt[R]]) -> WriteAnswer[R]:
    """Wait for a write and say how clear its answer is. Raises nothing but cancellation."""
    try:
        receipt = await call
    except ApiError as error:
        return WriteAnswer(
            kind=_kind(error),
            sentence=error.sentence,
            words=error.platform_message,
            http_status=error.status,
            error=error,
        )
    except Exception as error:
        # Whatever failed here may have failed after the platform acted.
        log.exception("a write failed in an unforeseen way")
        words = f"a fault of this program ({type(error).__name__}) lost the answer"
        return WriteAnswer(kind=AnswerKind.LOST, sentence=plain(words))
    no = receipt.verdict is Verdict.NO
    return WriteAnswer(
        kind=AnswerKind.NO if no else AnswerKind.YES,
        sentence=plain("the platform said no, without a reason" if no else "the platform said yes"),
        words=receipt.message,
        http_status=receipt.http_status,
        receipt=receipt,
    )


def _kind(error: ApiError) -> AnswerKind:
    if error.status in GAVE_UP:
        return AnswerKind.LOST
    match error:
        case KeyRejected():
            return AnswerKind.UNAUTHORISED
        case NotAllowed():
            return AnswerKind.FORBIDDEN
        case _ if error.sent is not Sent.NO:
            return AnswerKind.LOST
        case Answered():
            return AnswerKind.NO
        case _:
            return AnswerKind.UNSENT


def stops(error: ApiError) -> bool:
    """Whether a failed read speaks against writing; a list that isn't given does not."""
    return error.sent is not Sent.NO or isinstance(error, KeyRejected | NotAllowed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What stands in the journal of an attempt, beside its verb, subject and title."""

    task: str | None = None
    company: Ref | None = None
    agent: Ref | None = None
    fingerprint: str = ""
    details: Mapping[str, Any] | None = None
    """What is needed to reconcile it by reading after a crash."""


class Write(ABC, Generic[R]):
    """One decision about one subject; `run` once, or `post` and then `reconcile`.

    `subject` is an id, or for what has none yet a digest of what it is to be. `on_progress` is
    called with every step. Nothing is raised but cancellation, after which an attempt that was
    written down stays open in the journal.
    """

    verb: Verb
    fields: tuple[str, ...] = ()
    """The fields of its form."""
    reads_after_no: ClassVar[bool] = False
    """Whether a clear no is explained by a read."""
    reading: ClassVar[str] = "reading it first"
    sending: ClassVar[str] = "sending, once"

    def __init__(
        self,
        services: Services,
        subject: str,
        title: SafeText,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.services = services
        self.subject = subject
        self.title = title
        self.on_progress = on_progress
        self.attempt_id: str | None = None
        """Of the attempt in the journal, once it stands there."""
        self.answer: WriteAnswer[R] | None = None
        """To what was sent; None also for an attempt that another process left behind."""
        self._left_behind: Attempt | None = None
        self._earlier: Write[R] | None = None
        """An attempt at the same that was left behind, and is reconciled in place of this."""

    # ---- what differs

    @abstractmethod
    async def prepare(self) -> Draft | Outcome:
        """Read how things stand and compare; why nothing is to be sent, else what to write down."""

    @abstractmethod
    def send(self, attempt_id: str) -> Awaitable[Receipt[R]]:
        """Send it, once."""

    @abstractmethod
    async def check(self) -> Check[R]:
        """What one read shows of whether it came about."""

    @classmethod
    @abstractmethod
    def of_attempt(
        cls, services: Services, attempt: Attempt, on_progress: OnProgress | None = None
    ) -> Self:
        """The write that left this attempt behind, to be reconciled."""

    def done(self, record: R | None) -> SafeText:
        """The sentence for its being there."""
        raise NotImplementedError

    def otherwise(self, record: R | None) -> SafeText:
        """The sentence for its being neither as before nor as wanted."""
        raise NotImplementedError

    def judged(self, answer: WriteAnswer[R]) -> WriteAnswer[R]:
        """The answer, as clear as it is by what this write knows of such answers."""
        return answer

    def recheck(self) -> Outcome | None:
        """Why it is not to be sent after all, asked when it is written down; reads nothing."""
        return None

    def take(self, outcome: Outcome) -> None:
        """Put what was found into the store; the next poll would bring the same."""

    # ---- the flow

    async def run(self) -> Outcome:
        """All of it; returns once it is known what became of it, which may take as long as the
        platform is away.
        """
        return await self.post() or await self.reconcile()

    async def post(self) -> Outcome | None:
        """The first half: read, compare, write ahead, send once.

        Returns the outcome if nothing was sent; None if `reconcile` is to find it.
        """
        denied = self.services.permissions.denied(self.verb)
        if denied is not None:
            return self.unsent(WhyNot.NO_RIGHT, denied)
        try:
            unsent = await self._write_ahead()
        except JournalError as error:
            return self.unsent(WhyNot.NO_JOURNAL, error.sentence)
        except InFlight as other:
            return self.unsent(WhyNot.BUSY, other.sentence)
        except Unsettled as left:
            self._earlier = self.adopted(self.services, left.attempt, self.on_progress)
            return None
        if unsent is not None:
            return unsent
        assert self.attempt_id is not None
        if (changed := self.recheck()) is not None:
            return await self.written(changed)
        try:
            self.report(Step.SENDING, plain(self.sending))
            self.answer = self.judged(await answer_to(self.send(self.attempt_id)))
        except BaseException:
            self.services.journal.let_go(self.attempt_id)
            raise
        if isinstance(self.answer.error, NotAllowed):
            self.services.permissions.refused(self.verb, self.answer.error)
        return None

    async def reconcile(self) -> Outcome:
        """The second half: read until it is known what became of it, and write that down."""
        if self._earlier is not None:
            return await self._earlier.reconcile()
        try:
            found = await self._found()
            self.take(found)
            found = await self.written(found)
        except BaseException:
            if self.attempt_id is not None:
                self.services.journal.let_go(self.attempt_id)
            raise
        if self._left_behind is None:
            return found
        age = age_of(self._left_behind.time)
        when = "" if age is None else f" of {ago(age)}"
        words = f"the attempt{when} that was left unsettled: {found.sentence}"
        return replace(found, sentence=plain(words))

    @classmethod
    def adopted(
        cls, services: Services, attempt: Attempt, on_progress: OnProgress | None = None
    ) -> Self:
        """An attempt that was left behind, taken up to be reconciled here; nothing is sent."""
        services.journal.adopt(attempt)
        write = cls.of_attempt(services, attempt, on_progress)
        write.attempt_id = attempt.attempt
        write._left_behind = attempt
        return write

    async def _write_ahead(self) -> Outcome | None:
        """Read and write the attempt down; the outcome if that must not be."""
        for _ in range(OVERTAKINGS):
            self.report(Step.READING, plain(self.reading))
            mark = await self.services.mark()
            draft = await self.prepare()
            if isinstance(draft, Outcome):
                return draft
            attempt = self._attempt(draft)
            writing = self.services.journaled(partial(self.services.journal.begin, attempt, mark))
            try:
                await asyncio.shield(writing)
            except Overtaken:
                continue
            except asyncio.CancelledError:
                # The thread ends its line all the same; nobody will send it.
                writing.add_done_callback(partial(self._abandoned, attempt.attempt))
                raise
            self.attempt_id = attempt.attempt
            return None
        return self.unsent(
            WhyNot.BUSY, plain("somebody else here keeps acting on it: look at it again")
        )

    def _abandoned(self, attempt_id: str, writing: asyncio.Future[Attempt]) -> None:
        if not writing.cancelled() and writing.exception() is None:
            self.services.journal.let_go(attempt_id)

    async def _found(self) -> Outcome:
        """What became of it, by the answer and by reads."""
        answer = self.answer
        match None if answer is None else answer.kind:
            case AnswerKind.FORBIDDEN:
                assert answer is not None
                reason = self.services.permissions.denied(self.verb) or answer.told
                return self.outcome(OutcomeKind.NOT_ALLOWED, reason, known_by=KnownBy.ANSWER)
            case AnswerKind.UNSENT:
                assert answer is not None
                words = plain(f"nothing was sent: {answer.sentence}")
                return self.unsent(WhyNot.NO_CONNECTION, words)
            case AnswerKind.NO if not self.reads_after_no:
                return await self.conclude(None)
        return await self.conclude(await self._poll())

    async def _poll(self) -> Check[R]:
        """Check until it is as wanted, or for as long as `_patience` says."""
        timing, answer = self.services.timing, self.answer
        lost = answer is None or answer.kind is AnswerKind.LOST
        why = plain("an earlier attempt ended without an answer") if answer is None else answer.told
        since: dict[Found, float] = {}
        for tries, pause in enumerate(timing.pauses()):
            self.report(Step.UNKNOWN if lost else Step.CONFIRMING, why, tries)
            check = await self.check()
            if check.found is not Found.FAILED:
                # What was seen counts as long as nothing else is seen; a failed read sees nothing.
                since = {known: at for known, at in since.items() if known is check.found}
            limit = self._patience(check)
            began = since.setdefault(check.found, check.began)
            if limit is not None and check.began - began >= limit:
                return check
            why = check.why or why
            await timing.sleep(pause)
        raise AssertionError("the pauses have no end")

    def _patience(self, check: Check[R]) -> float | None:
        """Over how many seconds checks must show the same before it is believed; None: for ever."""
        timing = self.services.timing
        failed = check.found is Found.FAILED
        if check.found is Found.DONE:
            return 0.0
        match AnswerKind.LOST if self.answer is None else self.answer.kind:
            case AnswerKind.LOST:
                return None if failed else timing.still_pending
            case AnswerKind.YES:
                return 0.0 if check.found is Found.PARTIAL else timing.confirm
            case _:
                # Reads only explain a no, and one that the key no longer may make explains it.
                return timing.explain if failed and not isinstance(check.error, KeyRejected) else 0

    async def conclude(self, check: Check[R] | None) -> Outcome:
        """What became of it; None where nothing was read, after a clear no."""
        answer = self.answer
        kind = AnswerKind.LOST if answer is None else answer.kind
        if kind not in (AnswerKind.YES, AnswerKind.LOST) or check is None:
            assert answer is not None
            if check is not None and isinstance(check.error, KeyRejected):
                words = plain("the key is missing or invalid: nothing was changed")
                return self.outcome(OutcomeKind.KEY_REJECTED, words, known_by=KnownBy.ANSWER)
            told = () if answer.error is None else answer.error.fields
            fields, others = beside(told, self.fields)
            words = plain(f"refused: {joined((answer.told, *others), '; ')}")
            found = self.outcome(OutcomeKind.REFUSED, words, known_by=KnownBy.ANSWER)
            return replace(found, fields=fields)
        said = "the answer was lost, and"
        if kind is AnswerKind.YES:
            said = "the platform said yes, but"
        if check.found is Found.DONE:
            return self.outcome(OutcomeKind.DONE, self.done(check.record), record=check.record)
        if check.found is Found.OTHERWISE:
            words = plain(f"{said} {self.otherwise(check.record)}")
            return self.outcome(OutcomeKind.UNCLEAR, words, record=check.record)
        if kind is AnswerKind.YES:
            record = check.record or (answer.receipt.record if answer and answer.receipt else None)
            words = plain(f"{self.done(record)}, says the answer; a read doesn't show it yet")
            return self.outcome(OutcomeKind.DONE, words, known_by=KnownBy.ANSWER, record=record)
        if check.found is Found.PARTIAL:
            return self.outcome(OutcomeKind.UNCLEAR, plain(f"unclear: {said} {check.why}"))
        over = f"{self.services.timing.still_pending:g}"
        words = plain(f"not done: {said} reads over {over} s show nothing of it; you may try again")
        return self.outcome(OutcomeKind.NOT_DONE, words)

    # ---- what is said of it

    def report(self, step: Step, words: SafeText, tries: int = 0) -> None:
        """Tell of a step."""
        if self.on_progress is not None:
            self.on_progress(Progress(step, self.subject, words, self.attempt_id, tries))

    def outcome(
        self,
        kind: OutcomeKind,
        sentence: str,
        *,
        known_by: KnownBy | None = None,
        record: R | None = None,
        differences: tuple[Difference, ...] = (),
        why_not: WhyNot | None = None,
    ) -> Outcome:
        """An outcome; known by a read unless told otherwise, or unless nothing was sent."""
        answer = self.answer
        return Outcome(
            verb=self.verb,
            kind=kind,
            subject=self.subject if record is None else record.id,
            title=self.title,
            sentence=plain(sentence),
            known_by=known_by or (KnownBy.READ if self.attempt_id else KnownBy.HERE),
            why_not=why_not,
            words=None if answer is None else answer.words,
            differences=differences,
            attempt_id=self.attempt_id,
            http_status=None if answer is None else answer.http_status,
            record=record,
        )

    def unsent(self, why_not: WhyNot, sentence: SafeText) -> Outcome:
        """The outcome where nothing left this machine."""
        return self.outcome(OutcomeKind.NOT_SENT, sentence, known_by=KnownBy.HERE, why_not=why_not)

    def refused_form(self, problems: Mapping[str, SafeText]) -> Outcome:
        """The outcome of a form that can't be sent."""
        found = self.unsent(WhyNot.FORM, plain("nothing was sent: see the fields"))
        return replace(found, fields=problems)

    def unread(self, why: SafeText) -> Outcome:
        """The outcome where the read that must come first failed."""
        words = plain(f"nothing was sent, because it could not be read first: {why}")
        return self.unsent(WhyNot.NOT_READ, words)

    # ---- the journal

    def _attempt(self, draft: Draft) -> Attempt:
        """The line for the journal, with the names that are known for company and agent."""
        services, store = self.services, self.services.store
        agent, company = draft.agent or Ref(), draft.company
        known = store.agents.get(agent.id)
        if known is not None:
            agent = Ref(id=agent.id, name=agent.name or known.name)
            company = company or known.company
        company = company or Ref()
        if company.name is None and (of_store := store.companies.get(company.id)) is not None:
            company = Ref(id=company.id, name=of_store.name)
        return Attempt(
            attempt=str(uuid.uuid4()),
            time=stamp(time.time()),
            origin=services.origin,
            addresses=services.addresses or (),
            profile=services.profile,
            verb=self.verb,
            subject=self.subject,
            title=self.title,
            task=draft.task,
            company=company.id,
            company_name=company.name,
            agent=agent.id,
            agent_name=agent.name,
            fingerprint=draft.fingerprint,
            details=dict(draft.details or {}),
        )

    async def written(self, outcome: Outcome) -> Outcome:
        """Write an outcome into the journal; one that is written already is corrected by it.

        Returns it, with a word about it if it could not be written.
        """
        if outcome.attempt_id is None:
            return outcome
        settled = Settled(
            attempt=outcome.attempt_id,
            time=stamp(time.time()),
            origin=self.services.origin,
            profile=self.services.profile,
            verb=outcome.verb,
            subject=outcome.subject,
            title=outcome.title,
            outcome=outcome.kind,
            known_by=outcome.known_by,
            words=outcome.words,
            http_status=outcome.http_status,
            sentence=outcome.sentence,
            made=outcome.record.id if outcome.record and outcome.verb in CREATING else None,
        )
        try:
            finish = partial(self.services.journal.finish, settled)
            await asyncio.shield(self.services.journaled(finish))
        except JournalError as error:
            sent = "" if outcome.known_by is KnownBy.HERE else "it was sent, and "
            words = f"{outcome.sentence} ({sent}only the note of this is missing: {error.why})"
            return replace(outcome, sentence=plain(words))
        return outcome
