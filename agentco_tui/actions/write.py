"""One write other than an approval, with the same care: written down, sent once, read after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from agentco_tui.actions.answer import Answer, AnswerKind, answer_to
from agentco_tui.actions.desk import Desk
from agentco_tui.actions.field_messages import beside
from agentco_tui.actions.journal import Attempt, InFlight, JournalError, Overtaken, Unsettled
from agentco_tui.actions.outcome import Kind, KnownBy, Outcome, Progress, Step, WhyNot
from agentco_tui.actions.pen import Draft
from agentco_tui.actions.rights import Denied
from agentco_tui.actions.verbs import Verb
from agentco_tui.actions.watch import Found, Look, Looked, watch
from agentco_tui.api.errors import KeyRejected, NotAllowed
from agentco_tui.format import ago
from agentco_tui.model.records import Receipt, Record
from agentco_tui.text import SafeText, joined, plain, safe

R = TypeVar("R", bound=Record)

OnProgress = Callable[[Progress], None]

OVERTAKINGS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Generic[R]):
    """What is to be written, and how to see whether it has come about."""

    draft: Draft
    send: Callable[[str], Awaitable[Receipt[R]]]
    """Sends it once, with the attempt's id."""
    look: Callable[[Answer[R] | None], Look[R]]
    """How to see it, given the answer if there was one."""
    fields: tuple[str, ...]
    """The fields of its form."""
    done: Callable[[R | None], SafeText]
    """The sentence for its being there."""
    otherwise: Callable[[R | None], SafeText]
    """The sentence for its being neither as before nor as wanted."""
    take: Callable[[R], object]
    """Puts the record into the store."""


class Write(Generic[R]):
    """Carries out plans of one verb."""

    def __init__(self, desk: Desk, verb: Verb) -> None:
        self.desk = desk
        self.verb = verb

    def refused_form(
        self, title: SafeText, subject: str, problems: Mapping[str, SafeText]
    ) -> Outcome:
        """The outcome of a form that can't be sent."""
        return self._unsent(
            title, subject, WhyNot.FORM, plain("nothing was sent: see the fields"), problems
        )

    def unread(self, title: SafeText, subject: str, why: SafeText) -> Outcome:
        """The outcome where the read that must come first failed."""
        words = plain(f"nothing was sent, because it could not be read first: {why}")
        return self._unsent(title, subject, WhyNot.NOT_READ, words)

    async def carry_out(
        self,
        title: SafeText,
        subject: str,
        prepare: Callable[[], Awaitable[Plan[R] | Outcome]],
        take_up: Callable[[Attempt], Awaitable[Outcome]],
        on_progress: OnProgress | None,
    ) -> Outcome:
        """Write it down, send it once, and read until it is known what became of it.

        `prepare` reads how things stand and gives the plan, or why there is none; `take_up`
        settles an earlier attempt at the same thing, whose outcome is then returned instead.
        """
        allowed = self.desk.rights.may(self.verb)
        if isinstance(allowed, Denied):
            return self._unsent(title, subject, WhyNot.NO_RIGHT, allowed.reason)
        try:
            for _ in range(OVERTAKINGS):
                _report(
                    on_progress,
                    Step.READING,
                    subject,
                    None,
                    tries=0,
                    words=plain("reading it first"),
                )
                mark = await self.desk.pen.mark()
                plan = await prepare()
                if isinstance(plan, Outcome):
                    return plan
                try:
                    attempt = await self.desk.pen.begin(plan.draft, mark)
                except Overtaken:
                    continue
                return await self._send(plan, attempt, on_progress)
        except JournalError as error:
            return self._unsent(title, subject, WhyNot.NO_JOURNAL, error.sentence)
        except InFlight as other:
            return self._unsent(title, subject, WhyNot.BUSY, other.sentence)
        except Unsettled as left:
            return await take_up(left.attempt)
        busy = plain("somebody else here keeps acting on it: look at it again")
        return self._unsent(title, subject, WhyNot.BUSY, busy)

    async def settle_earlier(
        self, plan: Plan[R], attempt: Attempt, on_progress: OnProgress | None = None
    ) -> Outcome:
        """Find out by reading what became of an attempt that was left behind."""
        self.desk.pen.adopt(attempt)
        why = plain("an earlier attempt ended without an answer")
        found = await self._closed(
            attempt, lambda: self._lost(plan, attempt, None, why, on_progress)
        )
        age = self.desk.pen.age(attempt.time)
        when = "" if age is None else f" of {ago(age)}"
        return replace(
            found, sentence=plain(f"the attempt{when} that was left unsettled: {found.sentence}")
        )

    async def _send(
        self, plan: Plan[R], attempt: Attempt, on_progress: OnProgress | None
    ) -> Outcome:
        async def sent() -> Outcome:
            words = plain("sending, once")
            _report(on_progress, Step.SENDING, attempt.subject, attempt, tries=0, words=words)
            answer = await answer_to(plan.send(attempt.attempt))
            return await self._judged(plan, attempt, answer, on_progress)

        return await self._closed(attempt, sent)

    async def _closed(self, attempt: Attempt, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Do the work and write its outcome down; without an outcome the attempt stays open."""
        try:
            return await self.desk.pen.finish(await work())
        except BaseException:
            self.desk.pen.let_go(attempt.attempt)
            raise

    async def _judged(
        self, plan: Plan[R], attempt: Attempt, answer: Answer[R], on_progress: OnProgress | None
    ) -> Outcome:
        match answer.kind:
            case AnswerKind.YES:
                return await self._after_yes(plan, attempt, answer, on_progress)
            case AnswerKind.LOST:
                return await self._lost(plan, attempt, answer, answer.told, on_progress)
            case AnswerKind.UNSENT:
                words = plain(f"nothing was sent: {answer.sentence}")
                found = self._outcome(
                    attempt, Kind.NOT_SENT, words, known_by=KnownBy.HERE, answer=answer
                )
                return replace(found, why_not=WhyNot.NO_CONNECTION)
            case AnswerKind.FORBIDDEN:
                if isinstance(answer.error, NotAllowed):
                    self.desk.rights.refused(self.verb, answer.error)
                allowed = self.desk.rights.may(self.verb)
                reason = allowed.reason if isinstance(allowed, Denied) else answer.told
                return self._outcome(
                    attempt, Kind.NOT_ALLOWED, reason, known_by=KnownBy.ANSWER, answer=answer
                )
            case AnswerKind.UNAUTHORISED:
                looked = await plan.look(answer)()
                if isinstance(looked.error, KeyRejected):
                    words = plain("the key is missing or invalid: nothing was changed")
                    return self._outcome(
                        attempt, Kind.KEY_REJECTED, words, known_by=KnownBy.ANSWER, answer=answer
                    )
        return self._refused(plan, attempt, answer)

    async def _after_yes(
        self, plan: Plan[R], attempt: Attempt, answer: Answer[R], on_progress: OnProgress | None
    ) -> Outcome:
        looked = await watch(
            plan.look(answer),
            self.desk.waits,
            patience=self.desk.waits.confirm,
            blind_patience=self.desk.waits.confirm,
            report=_reporter(on_progress, Step.CONFIRMING, attempt, answer.told),
        )
        record = looked.record or (answer.receipt.record if answer.receipt else None)
        if looked.found is Found.OTHERWISE:
            words = plain(f"the platform said yes, but {plan.otherwise(looked.record)}")
            return self._outcome(
                attempt,
                Kind.UNCLEAR,
                words,
                known_by=KnownBy.READ,
                answer=answer,
                record=looked.record,
            )
        if looked.found is Found.THERE:
            return self._done(plan, attempt, answer, KnownBy.READ, record)
        done = self._done(plan, attempt, answer, KnownBy.ANSWER, record)
        return replace(
            done, sentence=plain(f"{done.sentence}, says the answer; a read doesn't show it yet")
        )

    async def _lost(
        self,
        plan: Plan[R],
        attempt: Attempt,
        answer: Answer[R] | None,
        why: SafeText,
        on_progress: OnProgress | None,
    ) -> Outcome:
        looked: Looked[R] = await watch(
            plan.look(answer),
            self.desk.waits,
            patience=self.desk.waits.still_pending,
            blind_patience=None,
            report=_reporter(on_progress, Step.UNKNOWN, attempt, why),
        )
        if looked.found is Found.THERE:
            return self._done(plan, attempt, answer, KnownBy.READ, looked.record)
        if looked.found is Found.OTHERWISE:
            words = plain(f"the answer was lost, and {plan.otherwise(looked.record)}")
            return self._outcome(
                attempt,
                Kind.UNCLEAR,
                words,
                known_by=KnownBy.READ,
                answer=answer,
                record=looked.record,
            )
        words = plain(
            "not done: the answer was lost, and reads over "
            f"{self.desk.waits.still_pending:g} s show nothing of it; you may try again"
        )
        return self._outcome(attempt, Kind.NOT_DONE, words, known_by=KnownBy.READ, answer=answer)

    def _done(
        self,
        plan: Plan[R],
        attempt: Attempt,
        answer: Answer[R] | None,
        known_by: KnownBy,
        record: R | None,
    ) -> Outcome:
        if record is not None:
            plan.take(record)
        return self._outcome(
            attempt, Kind.DONE, plan.done(record), known_by=known_by, answer=answer, record=record
        )

    def _refused(self, plan: Plan[R], attempt: Attempt, answer: Answer[R]) -> Outcome:
        told = () if answer.error is None else answer.error.fields
        fields, others = beside(told, plan.fields)
        words = plain(f"refused: {joined((answer.told, *others), '; ')}")
        found = self._outcome(attempt, Kind.REFUSED, words, known_by=KnownBy.ANSWER, answer=answer)
        return replace(found, fields=fields)

    def _outcome(
        self,
        attempt: Attempt,
        kind: Kind,
        sentence: SafeText,
        *,
        known_by: KnownBy,
        answer: Answer[R] | None,
        record: R | None = None,
    ) -> Outcome:
        return Outcome(
            verb=self.verb,
            kind=kind,
            subject=record.id if record is not None else attempt.subject,
            title=safe(attempt.title),
            sentence=sentence,
            known_by=known_by,
            words=None if answer is None else answer.words,
            http_status=None if answer is None else answer.http_status,
            attempt_id=attempt.attempt,
            record=record,
        )

    def _unsent(
        self,
        title: SafeText,
        subject: str,
        why_not: WhyNot,
        sentence: SafeText,
        fields: Mapping[str, SafeText] | None = None,
    ) -> Outcome:
        return Outcome(
            verb=self.verb,
            kind=Kind.NOT_SENT,
            subject=subject,
            title=title,
            sentence=sentence,
            known_by=KnownBy.HERE,
            why_not=why_not,
            fields=fields or {},
        )


def _reporter(
    on_progress: OnProgress | None, step: Step, attempt: Attempt, words: SafeText
) -> Callable[[int, SafeText | None], None]:
    def report(tries: int, why: SafeText | None) -> None:
        _report(on_progress, step, attempt.subject, attempt, tries=tries, words=why or words)

    return report


def _report(
    on_progress: OnProgress | None,
    step: Step,
    subject: str,
    attempt: Attempt | None,
    *,
    tries: int,
    words: SafeText,
) -> None:
    if on_progress is not None:
        on_progress(
            Progress(step, subject, words, None if attempt is None else attempt.attempt, tries)
        )
