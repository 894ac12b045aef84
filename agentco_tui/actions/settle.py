"""What became of an approval, found out by reading (law 2).

Every rule here concludes from what was read after the answer came or was given up, and says no
more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentco_tui.actions import decided
from agentco_tui.actions.answer import Answer
from agentco_tui.actions.fingerprint import Difference
from agentco_tui.actions.outcome import AFTER_ALL, Kind, KnownBy, Outcome, Step, WhyNot
from agentco_tui.actions.sight import Look, Record, Sight, Subject, record_of, sight_of
from agentco_tui.actions.task_reader import TaskReader
from agentco_tui.actions.verbs import Verb
from agentco_tui.actions.waits import Waits
from agentco_tui.api.errors import KeyRejected, Sent
from agentco_tui.format import clock
from agentco_tui.live.clock import Clock
from agentco_tui.live.insight import waits_for_person
from agentco_tui.live.store import Store
from agentco_tui.model.records import Moment, Task, TaskState
from agentco_tui.text import SafeText, plain

TRIES = 3
"""Reads made to explain a clear no; the no stands whatever they bring."""
DEAR = 3.0
"""Seconds; where reading all tasks takes longer, a yes and the pending list must do."""

Report = Callable[[Step, SafeText, int], None]
"""Told of each step: which, in words, and after how many reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An approval that is to be settled."""

    subject: Subject
    title: SafeText
    status: SafeText | None
    """The platform's word for the task's status when it was sent."""
    attempt_id: str | None
    report: Report
    waited_at: float | None = None
    """When the task was last read to wait before this, by the platform's clock."""
    spacing: float = 0.0
    """Seconds between list reads that several cases share."""


class Settler:
    """Reads until it can say what became of an approval; holds nothing of its own."""

    def __init__(self, reader: TaskReader, store: Store, clock: Clock, waits: Waits) -> None:
        self._reader = reader
        self._store = store
        self._clock = clock
        self._waits = waits

    async def after_yes(self, case: Case, answer: Answer[Task]) -> Outcome:
        """The platform said yes: read until the task no longer waits.

        `pending` in the answer is not looked at, only the pending list (SHAPES F: it may mean
        queued).
        """
        began = self._clock.monotonic()
        told = _told(case, answer)
        for tries, pause in enumerate(self._waits.pauses()):
            case.report(Step.CONFIRMING, answer.told, tries)
            sight = await sight_of(self._reader, case.subject, case.spacing)
            match sight.look:
                case Look.ABSENT:
                    record = told or await self._looked_up(case, answer)
                    return self._yes_and_gone(case, record, answer)
                case Look.DECIDED:
                    return self._yes_and_gone(case, sight.task, answer)
                case Look.WAITS if moved(case.status, sight.task):
                    return self._yes_and_gone(case, sight.task, answer)
                case Look.BLIND if sight.error is None:
                    return self._yes_unread(case, answer, sight)
            if self._clock.monotonic() - began >= self._waits.confirm:
                if sight.look is Look.BLIND:
                    return self._yes_unread(case, answer, sight)
                return outcome(
                    case,
                    Kind.STILL_PENDING,
                    "the platform said yes, but its list still shows the task as pending: "
                    "it may need another approval, or more time",
                    answer=answer,
                    record=sight.task,
                )
            await self._waits.sleep(pause)
        raise AssertionError("the pauses have no end")

    async def after_no(self, case: Case, answer: Answer[Task]) -> Outcome:
        """A clear no: read to see whether somebody else was first, which is no error."""
        sight = await self._seen(case, answer)
        if sight.look in (Look.ABSENT, Look.DECIDED):
            return await self.decided(case, sight.task, answer)
        unread = "" if sight.look is Look.WAITS else " (it could not be read again since)"
        return outcome(
            case,
            Kind.REFUSED,
            f"refused: {answer.told}{unread}",
            answer=answer,
            known_by=KnownBy.ANSWER,
            record=sight.task,
        )

    async def after_401(self, case: Case, answer: Answer[Task]) -> Outcome:
        """401: about the key if reads are refused as well, else about this task (SHAPES C29)."""
        sight = await self._seen(case, answer)
        if sight.look in (Look.ABSENT, Look.DECIDED):
            return await self.decided(case, sight.task, answer)
        if sight.look is Look.WAITS or (sight.error is None and sight.look is Look.BLIND):
            return outcome(
                case,
                Kind.REFUSED,
                f"refused with 401, while the key still reads: {answer.told}; "
                "it may be that you must not approve this one, or may not approve at all",
                answer=answer,
                record=sight.task,
            )
        return outcome(
            case,
            Kind.KEY_REJECTED,
            "the key is missing or invalid: nothing was approved"
            if isinstance(sight.error, KeyRejected)
            else f"401, and nothing could be read since: {answer.told}",
            answer=answer,
            known_by=KnownBy.ANSWER,
        )

    async def unknown(self, case: Case, why: SafeText, answer: Answer[Task] | None) -> Outcome:
        """No clear answer: read until a read settles it, however long that takes."""
        waits_since: float | None = None
        absent_since: float | None = None
        partial_since: float | None = None
        for tries, pause in enumerate(self._waits.pauses()):
            case.report(Step.UNKNOWN, why, tries)
            sight = await sight_of(self._reader, case.subject, case.spacing)
            match sight.look:
                case Look.DECIDED:
                    return self._found(case, sight.task, answer)
                case Look.ABSENT:
                    waits_since = None
                    absent_since = sight.began if absent_since is None else absent_since
                    patient = sight.began - absent_since < self._waits.still_pending
                    record = await record_of(self._reader, case.subject, case.spacing)
                    settled = self._absent(case, record, answer, patient=patient)
                    if settled is not None:
                        return settled
                case Look.WAITS:
                    absent_since = partial_since = None
                    waits_since = sight.began if waits_since is None else waits_since
                    if sight.began - waits_since >= self._waits.still_pending:
                        return self._still_waits(case, sight, answer)
                case Look.BLIND:
                    why = sight.why or why
                    if sight.error is None:
                        partial_since = sight.began if partial_since is None else partial_since
                        if sight.began - partial_since >= self._waits.still_pending:
                            words = f"unclear: the answer was lost, and {why}"
                            return outcome(case, Kind.UNCLEAR, words, answer=answer)
            await self._waits.sleep(pause)
        raise AssertionError("the pauses have no end")

    async def decided(
        self, case: Case, record: Task | None, answer: Answer[Task] | None = None
    ) -> Outcome:
        """It no longer waits, and not through this attempt: say who decided it, if that is told."""
        sure = True
        if record is None:
            found = await record_of(self._reader, case.subject, case.spacing)
            record, sure = found.task, found.sure
        task_id, now = case.subject.task_id, self._clock.now()
        entry = decided.decision_about(task_id, self._store.activity, case.waited_at)
        if entry is None and (record is None or record.decided is None):
            log = await self._reader.log(case.subject.scope, case.spacing)
            entry = decided.decision_about(task_id, log, case.waited_at)
        refused = "" if answer is None else f"refused: {answer.told}; "
        word = decided.decided_as(record, entry)
        if answer is not None and word == "approved":
            # What was sent may have been applied twice over, by a proxy that repeats requests.
            who = decided.by_whom(record, entry, word, now)
            words = f"approved{who}; this request, or a repetition of it, was {refused}"
            return outcome(
                case, Kind.APPROVED, words.removesuffix("; "), answer=answer, record=record
            )
        if record is None and entry is None:
            words = "it is in no list of the platform any more"
            if not sure:
                words = "it left the list of pending tasks; what became of it could not be read"
            return outcome(case, Kind.GONE, refused + words, answer=answer, known_by=KnownBy.READ)
        kind = Kind.DECIDED_ELSEWHERE
        if answer is not None and answer.receipt is not None and word is not None:
            # Not somebody else's decision, but what came of asking for an approval.
            who = decided.by_whom(record, entry, word, now)
            words = f"{refused}the platform shows it as {word}{who}"
            return outcome(case, Kind.REFUSED, words, answer=answer, record=record)
        if word is None and record is not None and decided.says_it_waits(record):
            kind = Kind.CHANGED if answer is None else Kind.REFUSED
        return outcome(
            case,
            kind,
            ("" if kind is Kind.DECIDED_ELSEWHERE else refused)
            + decided.elsewhere(record, entry, now),
            answer=answer,
            known_by=KnownBy.READ,
            record=record,
        )

    async def after_all(self, case: Case) -> Outcome | None:
        """A task leaves the list whose attempt was settled otherwise: what a read shows of it now.

        None if that is no decision.
        """
        record = (await record_of(self._reader, case.subject, case.spacing)).task
        if record is None or record.state is None or decided.says_it_waits(record):
            return None
        if record.state in decided.SET_GOING:
            at = record.decided
            if at is None:
                log = await self._reader.log(case.subject.scope, case.spacing)
                entry = decided.decision_about(case.subject.task_id, log, case.waited_at)
                at = None if entry is None else entry.at
            moment = at or Moment(self._clock.now())
            words = f"{AFTER_ALL}, at {clock(moment, moment.at)}: {decided.shown_as(record)}"
            return outcome(case, Kind.APPROVED, words, record=record)
        sentence = decided.elsewhere(record, None, self._clock.now())
        return outcome(case, Kind.DECIDED_ELSEWHERE, sentence, record=record)

    async def _looked_up(self, case: Case, answer: Answer[Task]) -> Task | None:
        """The record of a task that left the list after a yes that says nothing of it.

        Some platforms say yes to the approval of what somebody has just rejected. None if the
        answer told enough, or if all tasks are too many to be read for this.
        """
        word = answer.receipt.status_word if answer.receipt else None
        took = self._reader.every_took
        if word is not None or (took is not None and took > DEAR):
            return None
        return (await record_of(self._reader, case.subject, case.spacing)).task

    # --- conclusions ------------------------------------------------------------------------

    async def _seen(self, case: Case, answer: Answer[Task]) -> Sight:
        """The first read that is no failure, of a few."""
        pauses = self._waits.pauses()
        for tries in range(TRIES):
            case.report(Step.CONFIRMING, answer.told, tries)
            sight = await sight_of(self._reader, case.subject, case.spacing)
            if sight.error is None or isinstance(sight.error, KeyRejected) or tries == TRIES - 1:
                return sight
            await self._waits.sleep(next(pauses))
        raise AssertionError("unreachable: the last try returns")

    def _yes_and_gone(self, case: Case, record: Task | None, answer: Answer[Task]) -> Outcome:
        if record is not None and record.state in (TaskState.REJECTED, TaskState.CANCELLED):
            sentence = f"the platform said yes, but {decided.shown_as(record)}"
            return outcome(case, Kind.UNCLEAR, sentence, answer=answer, record=record)
        now = "it no longer waits"
        if record is not None and (moved(case.status, record) or record.decided_by):
            # Some say yes to a second approval too (SHAPES F), so who decided is told.
            now = decided.shown_as(record)
        sentence = f"approved: the platform said yes, and {now}"
        return outcome(case, Kind.APPROVED_HERE, sentence, answer=answer, record=record)

    def _yes_unread(self, case: Case, answer: Answer[Task], sight: Sight) -> Outcome:
        why = f": {sight.why}" if sight.why else ""
        return outcome(
            case,
            Kind.APPROVED_HERE,
            f"approved, says the platform's answer; a read could not bear it out{why}",
            answer=answer,
            known_by=KnownBy.ANSWER,
        )

    def _absent(
        self, case: Case, record: Record, answer: Answer[Task] | None, *, patient: bool
    ) -> Outcome | None:
        """Not in the pending list after a lost answer; None if reading must go on."""
        if record.task is not None:
            if not _unmoved(record.task, case.status):
                return self._found(case, record.task, answer)
            if patient:
                return None
            sentence = (
                "unclear: it left the list of pending tasks, but the list of all tasks shows it "
                f"as “{record.task.status or 'waiting'}” still; look at it before you try again"
            )
            return outcome(case, Kind.UNCLEAR, sentence, answer=answer, record=record.task)
        refused = record.error is not None and record.error.sent is Sent.NO and record.error.status
        if not record.sure and patient and not refused:
            return None
        if record.error is not None and not refused:
            return None
        where = "no list of the platform shows it"
        if not record.sure:
            where = "the list of all tasks could not be read whole"
        return outcome(
            case,
            Kind.GONE,
            f"it no longer waits, and what became of it can't be told: the answer was lost, "
            f"and {where}",
            answer=answer,
        )

    def _found(self, case: Case, record: Task | None, answer: Answer[Task] | None) -> Outcome:
        """Found with another status after a lost answer."""
        assert record is not None
        shown = decided.shown_as(record)
        if record.state in decided.SET_GOING:
            word = "approved" if record.state is TaskState.APPROVED else "it no longer waits"
            return outcome(
                case,
                Kind.APPROVED,
                f"{word}: {shown}; the answer was lost, so it may have been this attempt or "
                "somebody else",
                answer=answer,
                record=record,
            )
        if record.state in (TaskState.REJECTED, TaskState.CANCELLED):
            sentence = decided.elsewhere(record, None, self._clock.now())
            return outcome(case, Kind.DECIDED_ELSEWHERE, sentence, answer=answer, record=record)
        return outcome(
            case, Kind.UNCLEAR, f"it no longer waits: {shown}", answer=answer, record=record
        )

    def _still_waits(self, case: Case, sight: Sight, answer: Answer[Task] | None) -> Outcome:
        if moved(case.status, sight.task) and sight.task is not None:
            return outcome(
                case,
                Kind.UNCLEAR,
                f"it still waits, but its status went from “{case.status}” to "
                f"“{sight.task.status}”: look at it before you try again",
                answer=answer,
                record=sight.task,
            )
        return outcome(
            case,
            Kind.NOT_DONE,
            f"not approved: the answer was lost, and reads over {self._waits.still_pending:g} s "
            "show it as pending still; you may try again",
            answer=answer,
            record=sight.task,
        )


def _told(case: Case, answer: Answer[Task]) -> Task | None:
    """The task's record in the answer, if that is one that tells how the task stands."""
    record = answer.receipt.record if answer.receipt else None
    if record is None or record.id != case.subject.task_id or record.state is None:
        return None  # none, or the record of the approval
    return record


def moved(status: SafeText | None, task: Task | None) -> bool:
    """Whether a task that is listed as pending has another status than when it was sent.

    Some platforms move a task from one waiting word to another when it is approved (SHAPES F:
    plan_review to pending).
    """
    return status is not None and task is not None and task.status not in (None, status)


def _unmoved(task: Task, status: SafeText | None) -> bool:
    """Whether a record that left the pending list says that it waits still: two lists disagree."""
    if task.status is None and task.needs_approval is None:
        return False
    return waits_for_person(task) and not moved(status, task)


def outcome(
    case: Case,
    kind: Kind,
    sentence: str,
    *,
    answer: Answer[Task] | None = None,
    known_by: KnownBy | None = None,
    record: Task | None = None,
    differences: tuple[Difference, ...] = (),
    why_not: WhyNot | None = None,
) -> Outcome:
    """An outcome of a case; known by a read unless told otherwise, or unless nothing was sent."""
    return Outcome(
        verb=Verb.APPROVE,
        kind=kind,
        subject=case.subject.task_id,
        title=case.title,
        sentence=plain(sentence),
        known_by=known_by or (KnownBy.READ if case.attempt_id else KnownBy.HERE),
        words=None if answer is None else answer.words,
        http_status=None if answer is None else answer.http_status,
        differences=differences,
        why_not=why_not,
        attempt_id=case.attempt_id,
        record=record,
    )
