"""Approving one task: what is compared before, and what is concluded from the answer and the reads.

Every conclusion here rests on what was read after the answer came or was given up, and says no
more than that.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import ClassVar, Protocol, Self

from agentco_tui import format as form
from agentco_tui.actions.fingerprint import Difference, differences, fingerprint
from agentco_tui.actions.journal_file import Attempt, seconds_of
from agentco_tui.actions.outcome import (
    AFTER_ALL,
    Check,
    Found,
    KnownBy,
    OnProgress,
    Outcome,
    OutcomeKind,
    Verb,
    WhyNot,
)
from agentco_tui.actions.services import Services
from agentco_tui.actions.task_reader import (
    InAnyList,
    Subject,
    TaskList,
    by_whom,
    decided_as,
    decision_about,
    elsewhere,
    says_it_waits,
    shown_as,
)
from agentco_tui.actions.write_flow import AnswerKind, Draft, Write, WriteAnswer
from agentco_tui.api.errors import ApiError, KeyRejected, Sent
from agentco_tui.live.feeds import FeedName, began_at
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Activity, Moment, Receipt, Ref, SharedTask, Task, TaskState
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.text import SafeText, plain, safe

MOST_TOLD = 4
"""Fields that changed, told in a sentence; the question about it has them all."""
DEAR = 3.0
"""Seconds; where reading all tasks takes longer, a yes and the pending list must do."""
SET_GOING = frozenset({TaskState.APPROVED, TaskState.QUEUED, TaskState.RUNNING, TaskState.DONE})
"""States of a task that was let go after it waited for a person."""
ENDED = frozenset({TaskState.REJECTED, TaskState.CANCELLED})
_LEFT = frozenset(
    {
        OutcomeKind.APPROVED_HERE,
        OutcomeKind.APPROVED,
        OutcomeKind.DECIDED_ELSEWHERE,
        OutcomeKind.GONE,
    }
)
"""Outcomes of a task that is in the list of pending tasks no more."""


class Turn(Protocol):
    """The place of a task among others that are approved at the same time."""

    scope: str | None
    """The company whose list of pending tasks is read; None for all."""

    async def begin(self) -> bool:
        """Wait until it may be sent; False if the read made before has grown old meanwhile."""

    def refusal(self) -> SafeText | None:
        """Why it is not sent after all, asked last."""


class Approval(Write[Task]):
    """Approves the task that a person was shown and said yes to; `turn` is its place in a set."""

    verb = Verb.APPROVE
    reads_after_no = True
    reading: ClassVar[str] = "reading it again before it is approved"
    sending: ClassVar[str] = "sending the approval, once"

    def __init__(
        self,
        services: Services,
        shown: Task,
        on_progress: OnProgress | None = None,
        *,
        turn: Turn | None = None,
    ) -> None:
        super().__init__(services, shown.id, shown.title, on_progress)
        self.shown = shown
        self.status = shown.status
        """The platform's word for the task's status when it was sent."""
        self.waited_at: float | None = began_at(
            services.store.freshness[FeedName.PENDING], services.clock
        )
        """When the task was last read to wait before this, by the platform's clock."""
        self.read_error: ApiError | None = None
        """Why the last read before the sending failed, if it did."""
        self._turn = turn
        self._about = Subject(
            task_id=shown.id,
            scope=services.reader.scope if turn is None else turn.scope,
            company=shown.company,
            spacing=0.0 if turn is None else services.timing.spacing,
        )
        self._any: InAnyList | None = None
        """What the list of all tasks showed at the last check after a lost answer."""

    @classmethod
    def of_attempt(
        cls, services: Services, attempt: Attempt, on_progress: OnProgress | None = None
    ) -> Self:
        """The approval that left this attempt behind."""
        company = None if attempt.company is None else Ref(id=attempt.company)
        task = Task(id=attempt.task or attempt.subject, title=safe(attempt.title), company=company)
        found = cls(services, task, on_progress)
        scope = found._about.scope
        found._about = replace(
            found._about,
            scope=scope if scope in (None, attempt.company) else attempt.company,
            spacing=services.timing.spacing,
        )
        status = attempt.details.get("status")
        found.status = safe(status) if isinstance(status, str) else None
        found.waited_at = seconds_of(attempt.time)
        return found

    # ---- before it is sent

    async def prepare(self) -> Draft | Outcome:
        """Read the pending list anew, and compare the task with what was shown."""
        if isinstance(self.shown, SharedTask):
            return self.unsent(WhyNot.SHARED_ID, self.shown.refusal)
        pending = await self._pending()
        if self._turn is not None and not await self._turn.begin():
            pending = await self._pending()
        self.read_error = pending.error
        check = await self.services.reader.check(self._about, pending)
        if check.found in (Found.PARTIAL, Found.FAILED):
            why = check.why or plain("no answer")
            words = plain(f"it could not be read again, so nothing was sent: {why}")
            return self.unsent(WhyNot.NOT_READ, words)
        if check.found is Found.DONE:
            return await self._decided_before(check.record)
        if check.record is not None and (found := differences(self.shown, check.record)):
            return self._changed(check.record, found)
        refusal = None if self._turn is None else self._turn.refusal()
        if refusal is not None:
            return self.unsent(WhyNot.STOPPED, refusal)
        shown = self.shown
        return Draft(
            task=shown.id,
            company=shown.company,
            agent=shown.agent,
            fingerprint=fingerprint(shown),
            details=None if shown.status is None else {"status": shown.status},
        )

    def recheck(self) -> Outcome | None:
        """Writing it down takes time, in which a poll can bring something newer than the read."""
        newest = self.services.store.pending.records.get(self.subject)
        found = () if newest is None else differences(self.shown, newest)
        return self._changed(newest, found) if newest is not None and found else None

    def send(self, attempt_id: str) -> Awaitable[Receipt[Task]]:
        """POST /api/tasks/:id/approve."""
        return self.services.decision_client.approve_task(self.subject, attempt_id=attempt_id)

    def judged(self, answer: WriteAnswer[Task]) -> WriteAnswer[Task]:
        """A 2xx answer that says the task is rejected, or was ended, is no yes."""
        word = None if answer.receipt is None else answer.receipt.status_word
        if answer.kind is not AnswerKind.YES or word is None or task_state(word) not in ENDED:
            return answer
        told = f": {answer.words}" if answer.words else ""
        sentence = plain(f"the platform answered “{word}”{told}")
        return replace(answer, kind=AnswerKind.NO, sentence=sentence, words=None)

    async def _pending(self) -> TaskList:
        gather = 0.0 if self._turn is None else self.services.timing.gather
        return await self.services.reader.pending(self._about.scope, gather=gather)

    async def _decided_before(self, record: Task | None) -> Outcome:
        found = await self._decided(record)
        earlier = self.services.earlier(Verb.APPROVE, self.subject)
        settled = None if earlier is None else earlier.settled
        if settled is not None and settled.outcome == OutcomeKind.APPROVED_HERE:
            words = f"{found.sentence} (approved from this machine before)"
            found = replace(found, sentence=plain(words))
        self.take(found)
        return found

    def _changed(self, now: Task, found: tuple[Difference, ...]) -> Outcome:
        changes = "; ".join(difference.sentence for difference in found[:MOST_TOLD])
        if len(found) > MOST_TOLD:
            changes += f"; and {len(found) - MOST_TOLD} more"
        if now.id in self.services.store.pending.records:
            self.services.store.publish(self.services.store.pending.put(now))
        words = f"nothing was sent, because it changed since you saw it: {changes}"
        return self.outcome(
            OutcomeKind.CHANGED, words, known_by=KnownBy.HERE, record=now, differences=found
        )

    # ---- what became of it

    async def check(self) -> Check[Task]:
        """What a read shows: `DONE` if it waits no more, with its record where one is read."""
        seen = await self.services.reader.check(self._about)
        said = AnswerKind.LOST if self.answer is None else self.answer.kind
        lost = said is AnswerKind.LOST
        if seen.found is Found.BEFORE and said is AnswerKind.YES and self._moved(seen.record):
            return replace(seen, found=Found.DONE)
        if seen.found is not Found.DONE or seen.record is not None or not lost:
            return seen
        # It left the pending list after a lost answer: only the list of all tasks tells how.
        self._any = found = await self.services.reader.in_any_list(self._about)
        if found.task is not None:
            disagree = self._says_it_waits(found.task)
            return replace(
                seen, found=Found.OTHERWISE if disagree else Found.DONE, record=found.task
            )
        ungiven = found.error is not None and found.error.sent is Sent.NO and found.error.status
        if found.error is not None and not ungiven:
            return replace(seen, found=Found.FAILED, error=found.error)
        return seen if found.sure or ungiven else replace(seen, found=Found.OTHERWISE)

    async def conclude(self, check: Check[Task] | None) -> Outcome:
        """What became of it."""
        assert check is not None, "a no is always read after"
        answer = self.answer
        if answer is None or answer.kind is AnswerKind.LOST:
            return self._after_lost(check)
        if answer.kind is AnswerKind.YES:
            return await self._after_yes(check)
        if check.found is Found.DONE:
            return await self._decided(check.record)
        if answer.kind is AnswerKind.UNAUTHORISED:
            return self._after_401(check)
        unread = "" if check.found is Found.BEFORE else " (it could not be read again since)"
        words = f"refused: {answer.told}{unread}"
        return self.outcome(
            OutcomeKind.REFUSED, words, known_by=KnownBy.ANSWER, record=check.record
        )

    async def after_all(self, attempt_id: str | None) -> Outcome | None:
        """The task has left the list of those that wait, and its attempt was settled otherwise.

        Returns, and writes into the journal, what a read shows to have become of it; None if no
        read shows it decided.
        """
        self.attempt_id = attempt_id
        record = (await self.services.reader.in_any_list(self._about)).task
        if record is None or record.state is None or says_it_waits(record):
            return None
        if record.state in SET_GOING:
            entry = None if record.decided is not None else await self._log_entry()
            moment = record.decided or (entry.at if entry is not None else None)
            moment = moment or Moment(self.services.clock.now())
            words = f"{AFTER_ALL}, at {form.clock(moment, moment.at)}: {shown_as(record)}"
            found = self.outcome(OutcomeKind.APPROVED, words, record=record)
        else:
            words = elsewhere(record, None, self.services.clock.now())
            found = self.outcome(OutcomeKind.DECIDED_ELSEWHERE, words, record=record)
        self.take(found)
        return await self.written(found)

    def take(self, outcome: Outcome) -> None:
        """Drop from the pending list what left it."""
        store, record = self.services.store, outcome.record
        if outcome.kind in _LEFT:
            store.publish(store.pending.drop(outcome.subject))
        if isinstance(record, Task) and record.id in store.tasks.records:
            store.publish(store.tasks.put(record))

    async def _after_yes(self, check: Check[Task]) -> Outcome:
        """`pending` in the answer is not looked at, only the list: it may mean queued."""
        assert self.answer is not None
        if check.found is Found.BEFORE:
            words = (
                "the platform said yes, but its list still shows the task as pending: "
                "it may need another approval, or more time"
            )
            return self.outcome(OutcomeKind.STILL_PENDING, words, record=check.record)
        if check.found is not Found.DONE:
            why = f": {check.why}" if check.why else ""
            words = f"approved, says the platform's answer; a read could not bear it out{why}"
            return self.outcome(OutcomeKind.APPROVED_HERE, words, known_by=KnownBy.ANSWER)
        record = check.record or self._told() or await self._looked_up()
        if record is not None and record.state in ENDED:
            words = f"the platform said yes, but {shown_as(record)}"
            return self.outcome(OutcomeKind.UNCLEAR, words, record=record)
        now = "it no longer waits"
        if record is not None and (self._moved(record) or record.decided_by):
            # Some say yes to a second approval too, so who decided is told.
            now = shown_as(record)
        words = f"approved: the platform said yes, and {now}"
        return self.outcome(OutcomeKind.APPROVED_HERE, words, record=record)

    def _after_401(self, check: Check[Task]) -> Outcome:
        """401: about the key if reads are refused as well, else about this task."""
        assert self.answer is not None
        if check.found is not Found.FAILED:
            words = (
                f"refused with 401, while the key still reads: {self.answer.told}; "
                "it may be that you must not approve this one, or may not approve at all"
            )
            return self.outcome(OutcomeKind.REFUSED, words, record=check.record)
        words = f"401, and nothing could be read since: {self.answer.told}"
        if isinstance(check.error, KeyRejected):
            words = "the key is missing or invalid: nothing was approved"
        return self.outcome(OutcomeKind.KEY_REJECTED, words, known_by=KnownBy.ANSWER)

    def _after_lost(self, check: Check[Task]) -> Outcome:
        record = check.record
        match check.found:
            case Found.BEFORE if record is not None and self._moved(record):
                words = (
                    f"it still waits, but its status went from “{self.status}” to "
                    f"“{record.status}”: look at it before you try again"
                )
                return self.outcome(OutcomeKind.UNCLEAR, words, record=record)
            case Found.BEFORE:
                over = f"{self.services.timing.still_pending:g}"
                words = (
                    f"not approved: the answer was lost, and reads over {over} s "
                    "show it as pending still; you may try again"
                )
                return self.outcome(OutcomeKind.NOT_DONE, words, record=record)
            case Found.PARTIAL | Found.FAILED:
                words = f"unclear: the answer was lost, and {check.why}"
                return self.outcome(OutcomeKind.UNCLEAR, words)
            case Found.OTHERWISE if record is not None:
                words = (
                    "unclear: it left the list of pending tasks, but the list of all tasks shows "
                    f"it as “{record.status or 'waiting'}” still; look at it before you try again"
                )
                return self.outcome(OutcomeKind.UNCLEAR, words, record=record)
        if record is None:
            sure = self._any is not None and self._any.sure
            where = "no list of the platform shows it"
            where = where if sure else "the list of all tasks could not be read whole"
            words = (
                "it no longer waits, and what became of it can't be told: the answer was lost, "
                f"and {where}"
            )
            return self.outcome(OutcomeKind.GONE, words)
        if record.state in SET_GOING:
            word = "approved" if record.state is TaskState.APPROVED else "it no longer waits"
            words = (
                f"{word}: {shown_as(record)}; the answer was lost, so it may have been this "
                "attempt or somebody else"
            )
            return self.outcome(OutcomeKind.APPROVED, words, record=record)
        if record.state in ENDED:
            words = elsewhere(record, None, self.services.clock.now())
            return self.outcome(OutcomeKind.DECIDED_ELSEWHERE, words, record=record)
        words = f"it no longer waits: {shown_as(record)}"
        return self.outcome(OutcomeKind.UNCLEAR, words, record=record)

    async def _decided(self, record: Task | None) -> Outcome:
        """It no longer waits, and not through this attempt: say who decided it, if that is told."""
        sure, answer = True, self.answer
        if record is None:
            found = await self.services.reader.in_any_list(self._about)
            record, sure = found.task, found.sure
        now = self.services.clock.now()
        entry = decision_about(self.subject, self.services.store.activity, self.waited_at)
        if entry is None and (record is None or record.decided is None):
            entry = await self._log_entry()
        refused = "" if answer is None else f"refused: {answer.told}; "
        word = decided_as(record, entry)
        who = "" if word is None else by_whom(record, entry, word, now)
        if answer is not None and word == "approved":
            # What was sent may have been applied twice over, by a proxy that repeats requests.
            words = f"approved{who}; this request, or a repetition of it, was {refused}"
            return self.outcome(OutcomeKind.APPROVED, words.removesuffix("; "), record=record)
        if record is None and entry is None:
            words = "it is in no list of the platform any more"
            if not sure:
                words = "it left the list of pending tasks; what became of it could not be read"
            return self.outcome(OutcomeKind.GONE, refused + words, known_by=KnownBy.READ)
        if answer is not None and answer.receipt is not None and word is not None:
            # Not somebody else's decision, but what came of asking for an approval.
            words = f"{refused}the platform shows it as {word}{who}"
            return self.outcome(OutcomeKind.REFUSED, words, record=record)
        kind = OutcomeKind.DECIDED_ELSEWHERE
        if word is None and record is not None and says_it_waits(record):
            kind = OutcomeKind.CHANGED if answer is None else OutcomeKind.REFUSED
        words = ("" if kind is OutcomeKind.DECIDED_ELSEWHERE else refused) + elsewhere(
            record, entry, now
        )
        return self.outcome(kind, words, known_by=KnownBy.READ, record=record)

    async def _log_entry(self) -> Activity | None:
        log = await self.services.reader.log(self._about.scope, self._about.spacing)
        return decision_about(self.subject, log, self.waited_at)

    async def _looked_up(self) -> Task | None:
        """The record of a task that left the list after a yes that says nothing of it.

        Some platforms say yes to the approval of what somebody has just rejected. None if the
        answer told enough, or if all tasks are too many to be read for this.
        """
        receipt = None if self.answer is None else self.answer.receipt
        took = self.services.reader.every_took
        told = receipt is not None and receipt.status_word is not None
        if told or (took is not None and took > DEAR):
            return None
        return (await self.services.reader.in_any_list(self._about)).task

    def _told(self) -> Task | None:
        """The task's record in the answer, if that is one that tells how the task stands."""
        receipt = None if self.answer is None else self.answer.receipt
        record = None if receipt is None else receipt.record
        if record is None or record.id != self.subject or record.state is None:
            return None  # none, or the record of the approval
        return record

    def _moved(self, task: Task | None) -> bool:
        """Whether a task that is listed as pending has another status than when it was sent.

        Some platforms move a task from one waiting word to another when it is approved.
        """
        if self.status is None or task is None:
            return False
        return task.status not in (None, self.status)

    def _says_it_waits(self, task: Task) -> bool:
        """Whether a record that left the pending list says it waits: two lists disagree."""
        if task.status is None and task.needs_approval is None:
            return False
        return waits_for_person(task) and not self._moved(task)
