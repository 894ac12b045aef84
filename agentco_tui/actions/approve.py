"""Approving one task: read again, written down, sent once, settled by reading (law 2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from agentco_tui.actions.answer import Answer, AnswerKind, answer_to
from agentco_tui.actions.desk import Desk
from agentco_tui.actions.fingerprint import Difference, differences, fingerprint
from agentco_tui.actions.journal import (
    Attempt,
    InFlight,
    JournalError,
    Mark,
    Overtaken,
    Unsettled,
)
from agentco_tui.actions.journal_entries import seconds_of
from agentco_tui.actions.outcome import Kind, KnownBy, Outcome, Progress, Step, WhyNot
from agentco_tui.actions.pen import Draft
from agentco_tui.actions.rights import Denied
from agentco_tui.actions.settle import Case, Settler, outcome
from agentco_tui.actions.sight import Look, Sight, Subject, sight_of
from agentco_tui.actions.task_reader import Picture
from agentco_tui.actions.verbs import Verb
from agentco_tui.api.errors import NotAllowed
from agentco_tui.format import ago
from agentco_tui.live.feeds import FeedName, began_at
from agentco_tui.model.records import Ref, SharedTask, Task, TaskState
from agentco_tui.reading.values.status import task_state
from agentco_tui.text import SafeText, plain, safe

OnProgress = Callable[[Progress], None]

MOST_TOLD = 4
"""Fields that changed, told in a sentence; the question about it has them all."""
OVERTAKINGS = 3
"""How often a task is read again because somebody here did something to it meanwhile."""


@dataclass(frozen=True, slots=True)
class LastRead:
    """A read of the pending list, with the place in the journal from before it began."""

    mark: Mark
    picture: Picture


class FreshRead(Protocol):
    """Reads of the pending list in one scope, for what is about to be sent."""

    @property
    def scope(self) -> str | None:
        """The company whose list is read; None for all."""

    async def after_now(self) -> LastRead:
        """A read that begins after this call. Raises JournalError."""


class ListRead:
    """Reads of the pending list that the tasks of one decision share.

    Each begins `gather` seconds after the first has asked for it, so that others can join.
    """

    def __init__(self, desk: Desk, scope: str | None, gather: float = 0.0) -> None:
        self.scope = scope
        self._gather = gather
        self._desk = desk
        self._next: asyncio.Task[LastRead] | None = None
        """The next read, which has not begun."""

    async def after_now(self) -> LastRead:
        """A read that begins after this call, shared by all who ask before it begins.

        Raises JournalError.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._read())
        # Shielded: one who stops waiting must not end the read of the others.
        return await asyncio.shield(self._next)

    async def _read(self) -> LastRead:
        try:
            if self._gather:
                await self._desk.waits.sleep(self._gather)
            mark = await self._desk.pen.mark()
        finally:
            self._next = None
        return LastRead(mark, await self._desk.reader.pending(self.scope))


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """An approval that was sent, or found to have been sent by somebody who is gone."""

    case: Case
    answer: Answer[Task] | None
    """None for one that was left behind."""
    left_behind: Attempt | None = None


class Approver:
    """Approves tasks, each at most once for each decision of a person."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._settler = Settler(desk.reader, desk.store, desk.clock, desk.waits)

    def _waited_at(self) -> float:
        """When the list that is shown was read, by the platform's clock."""
        return began_at(self.desk.store.freshness[FeedName.PENDING], self.desk.clock)

    async def approve(self, shown: Task, on_progress: OnProgress | None = None) -> Outcome:
        """Approve the task that a person was shown and said yes to.

        Returns once a read has settled what became of it, which may take as long as the platform
        is away; `on_progress` is told of every step. Raises nothing but cancellation, after which
        the attempt stays open in the journal.
        """
        posted = await self.post(shown, self.list_read(), on_progress)
        return posted if isinstance(posted, Outcome) else await self.settle(posted)

    def list_read(self, gather: float = 0.0) -> ListRead:
        """For the tasks of one decision, in the scope that shows now."""
        return ListRead(self.desk, self.desk.reader.scope, gather)

    async def post(
        self,
        shown: Task,
        lists: FreshRead,
        on_progress: OnProgress | None = None,
        *,
        spacing: float = 0.0,
        stopped: Callable[[], SafeText | None] = lambda: None,
    ) -> Outcome | Posted:
        """The first half: read again, compare, write down, send.

        Returns the outcome if nothing was sent, else what `settle` needs. `spacing` is for the
        reads that settle it; `stopped` is asked last of all, for a reason not to send it after all.
        """
        case = _case(shown, lists.scope, on_progress, spacing, self._waited_at())
        if isinstance(shown, SharedTask):
            return _unsent(case, WhyNot.SHARED_ID, shown.refusal)
        allowed = self.desk.rights.may(Verb.APPROVE)
        if isinstance(allowed, Denied):
            return _unsent(case, WhyNot.NO_RIGHT, allowed.reason)
        try:
            attempt = await self._written_down(shown, case, lists, stopped)
        except JournalError as error:
            return _unsent(case, WhyNot.NO_JOURNAL, error.sentence)
        except InFlight as other:
            return _unsent(case, WhyNot.BUSY, other.sentence)
        except Unsettled as left:
            self.desk.pen.adopt(left.attempt)
            before = replace(
                case,
                attempt_id=left.attempt.attempt,
                status=_status_in(left.attempt),
                report=_reporter(shown.id, left.attempt.attempt, on_progress),
            )
            return Posted(case=before, answer=None, left_behind=left.attempt)
        if isinstance(attempt, Outcome):
            return attempt
        case = replace(case, attempt_id=attempt.attempt)
        # Writing it down takes time, in which a poll can bring something newer than its own read.
        newest = self.desk.store.pending.records.get(shown.id)
        found = () if newest is None else differences(shown, newest)
        if found:
            return await self.desk.pen.finish(self._changed(case, newest, found))
        return await self._send(shown, case, attempt, on_progress)

    async def settle(self, posted: Posted) -> Outcome:
        """The second half: read until it is known what became of it, and write that down."""
        attempt_id = posted.case.attempt_id
        try:
            found = await self._settled(posted)
            self._take(found)
            found = await self.desk.pen.finish(found)
        except BaseException:
            if attempt_id is not None:
                self.desk.pen.let_go(attempt_id)
            raise
        return found if posted.left_behind is None else self._of_before(found, posted.left_behind)

    async def take_up(self, attempt: Attempt, on_progress: OnProgress | None = None) -> Outcome:
        """Find out what became of an approval that a process left behind, and write it down."""
        self.desk.pen.adopt(attempt)
        task_id = attempt.task or attempt.subject
        scope = self.desk.reader.scope
        case = Case(
            subject=Subject(
                task_id=task_id,
                scope=scope if scope in (None, attempt.company) else attempt.company,
                company=None if attempt.company is None else Ref(id=attempt.company),
            ),
            title=safe(attempt.title),
            status=_status_in(attempt),
            attempt_id=attempt.attempt,
            report=_reporter(task_id, attempt.attempt, on_progress),
            spacing=self.desk.waits.spacing,
            waited_at=seconds_of(attempt.time),
        )
        return await self.settle(Posted(case=case, answer=None, left_behind=attempt))

    async def after_all(self, task: Task, before: Outcome) -> Outcome | None:
        """The task has left the list of those that wait, and its attempt was settled otherwise.

        Returns, and writes into the journal, what a read shows to have become of it; None if no
        read shows it decided.
        """
        case = _case(task, self.desk.reader.scope, None, 0.0, self._waited_at())
        found = await self._settler.after_all(replace(case, attempt_id=before.attempt_id))
        if found is None:
            return None
        self._take(found)
        return await self.desk.pen.finish(found)

    # --- sending ----------------------------------------------------------------------------

    async def _written_down(
        self,
        shown: Task,
        case: Case,
        lists: FreshRead,
        stopped: Callable[[], SafeText | None],
    ) -> Attempt | Outcome:
        """The attempt in the journal, if the task is read to be as shown; else what it is."""
        for _ in range(OVERTAKINGS):
            case.report(Step.READING, plain("reading it again before it is approved"), 0)
            last = await lists.after_now()
            sight = await sight_of(self.desk.reader, case.subject, first=last.picture)
            if sight.look is not Look.WAITS:
                return await self._not_waiting(case, sight)
            now = sight.task
            found = () if now is None else differences(shown, now)
            if found:
                return self._changed(case, now, found)
            reason = stopped()
            if reason is not None:
                return _unsent(case, WhyNot.STOPPED, reason)
            try:
                return await self.desk.pen.begin(_draft(shown), last.mark)
            except Overtaken:
                continue
        return _unsent(
            case, WhyNot.BUSY, plain("somebody else here keeps acting on it: look at it again")
        )

    async def _not_waiting(self, case: Case, sight: Sight) -> Outcome:
        if sight.look is Look.BLIND:
            why = sight.why or plain("no answer")
            words = plain(f"it could not be read again, so nothing was sent: {why}")
            return _unsent(case, WhyNot.NOT_READ, words)
        found = await self._settler.decided(case, sight.task)
        earlier = self.desk.pen.earlier(Verb.APPROVE, case.subject.task_id)
        done = earlier and earlier.settled and earlier.settled.outcome == Kind.APPROVED_HERE
        if earlier is not None and done:
            found = replace(
                found, sentence=plain(f"{found.sentence} (approved from this machine before)")
            )
        self._take(found)
        return found

    def _changed(self, case: Case, now: Task | None, found: tuple[Difference, ...]) -> Outcome:
        changes = "; ".join(difference.sentence for difference in found[:MOST_TOLD])
        if len(found) > MOST_TOLD:
            changes += f"; and {len(found) - MOST_TOLD} more"
        if now is not None and now.id in self.desk.store.pending.records:
            self.desk.store.publish(self.desk.store.pending.put(now))
        return outcome(
            case,
            Kind.CHANGED,
            f"nothing was sent, because it changed since you saw it: {changes}",
            known_by=KnownBy.HERE,
            record=now,
            differences=found,
        )

    async def _send(
        self, shown: Task, case: Case, attempt: Attempt, on_progress: OnProgress | None
    ) -> Outcome | Posted:
        attempt_id = attempt.attempt
        case = replace(case, report=_reporter(shown.id, attempt_id, on_progress))
        try:
            case.report(Step.SENDING, plain("sending the approval, once"), 0)
            answer = await answer_to(self.desk.client.approve_task(shown.id, attempt_id=attempt_id))
        except BaseException:
            self.desk.pen.let_go(attempt_id)
            raise
        if isinstance(answer.error, NotAllowed):
            self.desk.rights.refused(Verb.APPROVE, answer.error)
        return Posted(case=case, answer=answer)

    # --- settling ---------------------------------------------------------------------------

    async def _settled(self, posted: Posted) -> Outcome:
        case, answer = posted.case, posted.answer
        if answer is not None and (word := _rejecting(answer)) is not None:
            told = f": {answer.words}" if answer.words else ""
            sentence = plain(f"the platform answered “{word}”{told}")
            answer = replace(answer, kind=AnswerKind.NO, sentence=sentence, words=None)
        if answer is None:
            why = plain("an earlier attempt ended without an answer")
            return await self._settler.unknown(case, why, None)
        match answer.kind:
            case AnswerKind.YES:
                return await self._settler.after_yes(case, answer)
            case AnswerKind.NO:
                return await self._settler.after_no(case, answer)
            case AnswerKind.UNAUTHORISED:
                return await self._settler.after_401(case, answer)
            case AnswerKind.LOST:
                return await self._settler.unknown(case, answer.told, answer)
            case AnswerKind.FORBIDDEN:
                denied = self.desk.rights.may(Verb.APPROVE)
                reason = denied.reason if isinstance(denied, Denied) else answer.told
                kind = Kind.NOT_ALLOWED
                return outcome(case, kind, reason, answer=answer, known_by=KnownBy.ANSWER)
            case AnswerKind.UNSENT:
                words = f"nothing was sent: {answer.sentence}"
                return outcome(
                    case,
                    Kind.NOT_SENT,
                    words,
                    answer=answer,
                    known_by=KnownBy.HERE,
                    why_not=WhyNot.NO_CONNECTION,
                )

    def _take(self, found: Outcome) -> None:
        """Put what was found into the store; the next poll would bring the same."""
        record = found.record if isinstance(found.record, Task) else None
        if found.kind in _LEFT:
            self.desk.store.publish(self.desk.store.pending.drop(found.subject))
        if record is not None and record.id in self.desk.store.tasks.records:
            self.desk.store.publish(self.desk.store.tasks.put(record))

    def _of_before(self, found: Outcome, attempt: Attempt) -> Outcome:
        """The outcome of an earlier attempt, told as such."""
        age = self.desk.pen.age(attempt.time)
        when = "" if age is None else f" of {ago(age)}"
        return replace(
            found, sentence=plain(f"the attempt{when} that was left unsettled: {found.sentence}")
        )


_LEFT = frozenset({Kind.APPROVED_HERE, Kind.APPROVED, Kind.DECIDED_ELSEWHERE, Kind.GONE})


def _rejecting(answer: Answer[Task]) -> SafeText | None:
    """The word by which a 2xx answer says that the task is rejected, or was ended."""
    receipt = answer.receipt
    if answer.kind is not AnswerKind.YES or receipt is None or receipt.status_word is None:
        return None
    ended = task_state(receipt.status_word) in (TaskState.REJECTED, TaskState.CANCELLED)
    return receipt.status_word if ended else None


def _case(
    shown: Task,
    scope: str | None,
    on_progress: OnProgress | None,
    spacing: float,
    waited_at: float,
) -> Case:
    return Case(
        subject=Subject(task_id=shown.id, scope=scope, company=shown.company),
        title=shown.title,
        status=shown.status,
        attempt_id=None,
        report=_reporter(shown.id, None, on_progress),
        spacing=spacing,
        waited_at=waited_at,
    )


def _draft(shown: Task) -> Draft:
    return Draft(
        verb=Verb.APPROVE,
        subject=shown.id,
        title=shown.title,
        task=shown.id,
        company=shown.company,
        agent=shown.agent,
        fingerprint=fingerprint(shown),
        details=None if shown.status is None else {"status": shown.status},
    )


def _status_in(attempt: Attempt) -> SafeText | None:
    status = attempt.details.get("status")
    return safe(status) if isinstance(status, str) else None


def _reporter(
    subject: str, attempt_id: str | None, on_progress: OnProgress | None
) -> Callable[[Step, SafeText, int], None]:
    def report(step: Step, sentence: SafeText, tries: int) -> None:
        if on_progress is not None:
            on_progress(Progress(step, subject, sentence, attempt_id, tries))

    return report


def _unsent(case: Case, why_not: WhyNot, reason: SafeText) -> Outcome:
    return outcome(case, Kind.NOT_SENT, reason, known_by=KnownBy.HERE, why_not=why_not)
