"""Approves one task: the comparison before it is sent, and the conclusions after.

`Approval` is the `Write` for approvals: `write_flow` calls `prepare`, `send`, `read_effect` and
`conclude`. The platform (the remote service that runs the AI agents) is read through
`services.reader`, never through the store, which may be older. Every conclusion rests on reads that
began after the answer came or was given up on, and claims no more than they show. An `Attempt` is
the journal's note of what is about to be sent; a `Check` is the result of one read; an `Outcome` is
what became of the approval, as data. `says_it_waits` asks a record alone; `waits_for_person` also
trusts the pending list where the record has no clear status.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from itertools import islice
from typing import ClassVar, Final

from msgspec.structs import replace

from agentco_tui.actions.evidence import ENDED_UNAPPROVED, AnswerKind, Check, Observation
from agentco_tui.actions.fingerprint import differences
from agentco_tui.actions.journal import Earlier
from agentco_tui.actions.journal_lines import Attempt, Settled, seconds_of
from agentco_tui.actions.outcome import (
    ENDED_WAITING,
    KnownBy,
    Outcome,
    OutcomeKind,
    Reason,
    Resolution,
    TaskDecision,
    Verb,
)
from agentco_tui.actions.services import Services, age_of
from agentco_tui.actions.task_reader import TaskList
from agentco_tui.actions.task_resolution import (
    CLOCK_SLACK,
    decision_about,
    resolution_of,
    says_it_waits,
    why_it_left,
)
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.errors import Invalid, KeyRejected, NotFound, Sent
from agentco_tui.live.feeds import FeedName, began_at
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Activity, Moment, Receipt, Task, TaskState
from agentco_tui.text import SafeText, clean_line, mark_safe

SLOW_LIST: Final = 3.0
"""Seconds. If reading all tasks takes longer, they are not read to confirm a clear yes."""
READS_AFTER_LEAVING: Final = 7
"""How often all tasks are read for a task that left the list after its attempt was settled."""
SET_GOING: Final = frozenset(
    {TaskState.APPROVED, TaskState.QUEUED, TaskState.RUNNING, TaskState.DONE}
)
"""States of a task that waited and was allowed to proceed."""


class Approval(Write[Task]):
    """Approves the task that the user saw and said yes to."""

    reads_after_no: ClassVar[bool] = True
    spacing = 0.0  # seconds between list reads that several decisions share
    gather = 0.0  # seconds that the first of these reads waits for other decisions to join it

    def __init__(self, services: Services, shown: Task) -> None:
        super().__init__(services, Verb.APPROVE, shown.id, shown.title)
        self.shown = shown
        self.key = shown.key
        self.own_texts = (shown.description,)
        self.status = shown.status  # the platform's word for the task's status when it was sent
        self.waited_at: float | None = began_at(
            services.store.freshness[FeedName.PENDING], services.clock
        )
        """When the task was last read to wait before this, by the platform's clock."""
        company = shown.company.id if shown.company is not None else None
        scope = services.poller.query.company  # the company on the screen; None for all
        self._own_company: str | None = None
        """The task's own company, if the lists of all companies are read."""
        if scope is None:
            self._own_company = company
        is_listed = shown.id in services.store.pending.records
        if scope is not None and (company or not is_listed):
            scope = company
        self.scope = scope
        """The company whose lists are read, None for those of all: the one on the screen, unless
        the task belongs, or may belong, to another."""
        self._earlier: Earlier | None = None
        """The last attempt at the task from this machine before this one."""
        self._in_all_before: Task | None = None
        """The task as the store had it in the list of all tasks when the read began."""

    def restore_attempt(self, attempt: Attempt) -> None:
        self.spacing = self.services.timing.spacing
        status = attempt.details.get("status")
        self.status = None
        if isinstance(status, str):
            self.status = clean_line(status)
        self.waited_at = seconds_of(attempt.time)

    # ---- before it is sent

    def named_records(self) -> Iterable[Task | None]:
        """The task, whose id the request names, as it was shown and as it is known now."""
        store = self.services.store
        return self.shown, store.pending.get(self.subject), store.tasks.get(self.subject)

    async def prepare(self) -> Attempt | Outcome:
        """Read the pending list, and compare the task with what was shown."""
        shown = self.shown
        if shown.cut is not None:
            return self.unsent(Reason.NOT_SHOWN_WHOLE, cause=mark_safe(f"{shown.cut}"))
        is_first_read = self.attempt_id is None  # later, the last attempt is this one
        if is_first_read:
            self._earlier = self.services.earlier(Verb.APPROVE, self.subject)
        self._in_all_before = self.services.store.tasks.get(self.subject)
        check = await self._read_pending(self.gather)
        self.read_began = check.began
        if check.observation in (Observation.INCOMPLETE, Observation.FAILED):
            return self.unsent(Reason.TASK_UNREAD_BEFORE, cause=check.why, error=check.error)
        if check.observation is Observation.DONE:
            outcome = await self._no_longer_waits(check.record)
            self.update_store(outcome)
            return outcome
        changed = self.recheck(check.record)
        if changed is not None:
            return changed
        not_offered = self.services.why_not_for(self.verb, check.record or shown)
        if not_offered is not None:
            return self.unsent(Reason.NOT_OFFERED, cause=not_offered)
        details = {}
        if shown.status is not None:
            details["status"] = shown.status
        return self.new_attempt(
            task=shown.id,
            company=shown.company,
            agent=shown.agent,
            fingerprint=shown.content.hex(),
            details=details,
        )

    async def _no_longer_waits(self, record: Task | None) -> Outcome:
        """Conclude, before anything is sent, how the task stopped waiting."""
        before = self._earlier.settled if self._earlier is not None else None
        if before is None or before.outcome != OutcomeKind.APPROVED_HERE:
            return await self._decided_by_other(record)
        outcome = await self._decided_by_other(record, before)
        if outcome.kind is OutcomeKind.APPROVED:
            return outcome
        return replace(outcome, approved_here_before=True)

    def recheck(self, now: Task | None = None) -> Outcome | None:
        """Compare the task that was shown with `now`, by default with the task in the store.

        While the attempt is written into the journal, a poll can bring something newer than the
        read. Returns None if nothing differs.
        """
        store = self.services.store
        now = now or store.pending.get(self.subject)
        if now is None:
            return None
        changes = differences(self.shown, now)
        if not changes:
            return None
        if now.id in store.pending.records:
            store.publish(store.pending.put(now))
        return self.changed_outcome(now, changes)

    def why_overtaken(self) -> SafeText | None:
        """Return how the store's task is newer than the read; None if it is not.

        In the list of pending tasks it is compared with what the user saw, in the list of all
        tasks with what the store had when the read began. A task that the list of pending tasks
        lacks has changed, if that list is the one that was read and is whole.
        """
        store = self.services.store
        pending = store.pending.get(self.subject)
        if pending is None and self._store_lists_all_pending():
            return mark_safe("it left the list of pending tasks")
        if pending is not None and differences(self.shown, pending):
            return mark_safe("it changed in the list of pending tasks")
        in_all = store.tasks.get(self.subject)
        before = self._in_all_before
        if in_all is not None and before is not None and differences(before, in_all):
            return mark_safe("it changed in the list of all tasks")
        return None

    def _store_lists_all_pending(self) -> bool:
        """Whether a task that waits would be in the store's list: it is the list that was read for
        this decision, and its last answer was whole, not filtered from that for all companies.
        """
        store = self.services.store
        freshness = store.freshness[FeedName.PENDING]
        is_answered = freshness.answered_at is not None and freshness.failure is None
        is_same_list = self.services.reader.is_shown(FeedName.PENDING, self.scope)
        is_whole = store.pending.listing.whole and not freshness.filtered_from_all
        return is_answered and is_same_list and is_whole

    def send(self, attempt_id: str) -> Awaitable[Receipt[Task]]:
        """Send the request; `why_withheld` may still stop it right before it leaves."""
        client = self.services.decision_client
        return client.approve_task(
            self.subject, attempt_id=attempt_id, why_withheld=self.why_withheld
        )

    # ---- what a read shows

    async def _read_pending(self, gather: float = 0.0) -> Check[Task]:
        """Read what the list of pending tasks shows of the task.

        If the list of all companies is not whole, or the platform doesn't give it, the list of the
        task's own company is read, and then the list of all tasks.
        """
        pending = await self._read_list(FeedName.PENDING, self.scope, gather)
        check = pending.check_task(self.subject)
        is_unsure = check.observation in (Observation.INCOMPLETE, Observation.FAILED)
        may_be_scope = check.error is None or isinstance(check.error, Invalid | NotFound)
        if is_unsure and may_be_scope and self._own_company:
            pending = await self._read_list(FeedName.PENDING, self._own_company)
            check = pending.check_task(self.subject)
        if check.observation is Observation.INCOMPLETE:
            in_all = await self._read_all()
            task = in_all.record
            if task is not None:
                observation = Observation.DONE
                if waits_for_person(task):
                    observation = Observation.UNCHANGED
                return replace(check, observation=observation, record=task, why=None)
        return check

    async def _read_all(self) -> Check[Task]:
        """Read what the list of all tasks shows of the task.

        That is its record; or `DONE` without a record if the list of all companies was read whole,
        so that the platform has the task in no list.
        """
        tasks = await self._read_list(FeedName.TASKS, self.scope)
        is_of_all_companies = True
        if self.subject not in tasks.tasks and tasks.error is None:
            if tasks.why is not None and self._own_company:
                tasks = await self._read_list(FeedName.TASKS, self._own_company)
                is_of_all_companies = False
            elif tasks.why is None and self.scope is not None:
                # It may have moved to another company.
                tasks = await self._read_list(FeedName.TASKS, None)
        task = tasks.tasks.get(self.subject)
        observation = Observation.INCOMPLETE
        if task is not None and task.unwritable is not None:
            task = None  # no request may name it, as several tasks share its id
        elif tasks.error is not None:
            observation = Observation.FAILED
        elif task is not None or (is_of_all_companies and tasks.why is None):
            observation = Observation.DONE
        return Check(observation=observation, began=tasks.began, record=task, error=tasks.error)

    async def _read_list(
        self, feed: FeedName, company: str | None, gather: float = 0.0
    ) -> TaskList:
        spacing = 0.0 if gather else self.spacing
        tasks: TaskList = await self.services.reader.read(feed, company, spacing, gather)
        return tasks

    async def read_effect(self) -> Check[Task]:
        """Read whether the task still waits; `DONE` if not, with its record where one is read."""
        answer = self.answer.kind
        check = await self._read_pending()
        if check.observation is Observation.UNCHANGED:
            if answer is AnswerKind.YES and self._has_moved(check.record):
                return replace(check, observation=Observation.DONE)
            return check
        if check.observation is not Observation.DONE or check.record is not None:
            return check
        if answer is not AnswerKind.LOST:
            return check
        # It left the pending list after a lost answer: only the list of all tasks tells how.
        return await self._check_in_all(check)

    async def _check_in_all(self, check: Check[Task]) -> Check[Task]:
        """Complete a check of a task that left the pending list by the list of all tasks."""
        in_all = await self._read_all()
        task = in_all.record
        if task is not None:
            has_status = task.status is not None or task.needs_approval is not None
            disagree = has_status and waits_for_person(task) and not self._has_moved(task)
            observation = Observation.DONE
            if disagree:
                observation = Observation.UNEXPECTED
            return replace(check, observation=observation, record=task)
        if in_all.observation is Observation.DONE:
            return replace(check, why=mark_safe("no list of the platform shows it"))
        error = in_all.error
        observation = Observation.UNEXPECTED
        if error is not None:
            # A platform that refuses this list shows no more than the pending list.
            # Sent.NO with a status: not a lost answer, but one that clearly refuses.
            is_refused = error.sent is Sent.NO and bool(error.status)
            observation = Observation.DONE if is_refused else Observation.FAILED
        why = mark_safe("the list of all tasks could not be read whole")
        return replace(check, observation=observation, error=error, why=why)

    # ---- what became of it

    async def conclude(self, check: Check[Task] | None) -> Outcome:
        assert check is not None, "a no is always followed by a read"
        match self.answer.kind:
            case AnswerKind.LOST:
                return self._after_lost(check)
            case AnswerKind.YES:
                return await self._after_yes(check)
            case _:
                return await self._after_no(check)

    async def _after_yes(self, check: Check[Task]) -> Outcome:
        """Conclude after a clear yes. Only lists count: `pending` in the answer may mean queued."""
        receipt = self.answer.receipt
        assert receipt is not None
        record = check.record
        if check.observation is Observation.UNCHANGED:
            return self.outcome(OutcomeKind.STILL_PENDING, Reason.YES_STILL_LISTED, record=record)
        if check.observation is not Observation.DONE:
            return self.outcome(
                OutcomeKind.APPROVED_HERE, Reason.YES_UNREAD, KnownBy.ANSWER, cause=check.why
            )
        record = record or await self._record_after_yes(receipt)
        if record is not None and record.state in ENDED_UNAPPROVED:
            return self.outcome(OutcomeKind.UNCLEAR, Reason.YES_BUT_ENDED, record=record)
        # Some platforms say yes to a second approval too, so the sentence says who decided.
        is_shown = record is not None and (self._has_moved(record) or bool(record.decided_by))
        reason = Reason.YES_LEFT
        if is_shown:
            reason = Reason.YES_SHOWN
        return self.outcome(OutcomeKind.APPROVED_HERE, reason, record=record)

    async def _record_after_yes(self, receipt: Receipt[Task]) -> Task | None:
        """Return the task after a yes, by the answer, else by a list that is quickly read."""
        answered = receipt.record
        if answered and answered.id == self.subject and answered.state is not None:
            return answered
        seconds = self.services.reader.every_took
        is_quick = seconds is None or seconds <= SLOW_LIST
        if receipt.status_word is None and is_quick:
            # Some platforms say yes to the approval of a task that was just rejected.
            in_all = await self._read_all()
            return in_all.record
        return None

    async def _after_no(self, check: Check[Task]) -> Outcome:
        """Conclude after a refusal."""
        cause = self.answer.message
        record = check.record
        if check.observation is Observation.DONE:
            return await self._decided_by_other(record)
        is_unauthorised = self.answer.kind is AnswerKind.UNAUTHORISED
        if is_unauthorised and check.observation is Observation.FAILED:
            reason = Reason.KEY_REFUSED_UNREAD
            if isinstance(check.error, KeyRejected):
                reason = Reason.KEY_INVALID
            return self.outcome(OutcomeKind.KEY_REJECTED, reason, KnownBy.ANSWER, cause=cause)
        if is_unauthorised:
            return self.outcome(
                OutcomeKind.REFUSED, Reason.REFUSED_KEY_READS, cause=cause, record=record
            )
        is_read = check.observation is Observation.UNCHANGED
        reason = Reason.REFUSED if is_read else Reason.REFUSED_UNREAD
        return self.outcome(OutcomeKind.REFUSED, reason, KnownBy.ANSWER, cause=cause, record=record)

    def _after_lost(self, check: Check[Task]) -> Outcome:
        """Conclude after the answer was lost, from what the last read shows."""
        record = check.record
        match check.observation:
            case Observation.UNCHANGED if self._has_moved(record):
                return self.outcome(
                    OutcomeKind.UNCLEAR,
                    Reason.LOST_STATUS_MOVED,
                    old_status=self.status,
                    record=record,
                )
            case Observation.UNCHANGED:
                seconds = self.services.timing.confirm_for
                return self.outcome(
                    OutcomeKind.NOT_DONE,
                    Reason.LOST_STILL_PENDING,
                    seconds=seconds,
                    record=record,
                )
            case Observation.INCOMPLETE | Observation.FAILED:
                return self.outcome(
                    OutcomeKind.UNCLEAR, Reason.LOST_UNREAD, cause=check.why, record=record
                )
            case Observation.UNEXPECTED if record is not None:
                return self.outcome(OutcomeKind.UNCLEAR, Reason.LOST_LISTS_DISAGREE, record=record)
        if record is None:
            return self.outcome(OutcomeKind.GONE, Reason.LOST_IN_NO_LIST, cause=check.why)
        if record.state in SET_GOING:
            reason = Reason.LOST_SET_GOING
            if record.state is TaskState.APPROVED:
                reason = Reason.LOST_APPROVED
            return self.outcome(OutcomeKind.APPROVED, reason, record=record)
        if record.state in ENDED_UNAPPROVED:
            return self._left_list(OutcomeKind.DECIDED_ELSEWHERE, record, None)
        return self.outcome(OutcomeKind.UNCLEAR, Reason.LOST_OTHER_STATUS, record=record)

    async def _decided_by_other(
        self, record: Task | None, before: Settled | None = None
    ) -> Outcome:
        """Conclude for a task that no longer waits, and not through this attempt.

        `before` is the approval of an earlier attempt from this machine.
        """
        is_in_no_list = True
        if record is None:
            check = await self._read_all()
            record = check.record
            is_in_no_list = check.observation is Observation.DONE
        now = self.services.clock.now()
        entry = decision_about(self.subject, self.services.store.activity, self.waited_at)
        if entry is None and (record is None or record.decided is None):
            entry = await self._log_entry()
        resolution = resolution_of(record, entry)
        is_approved = resolution is not None and resolution.decision is TaskDecision.APPROVED
        refusal = self.answer.message if self.is_sent else None
        if before is not None and is_approved:
            decided = record.decided if record is not None else None
            if decided is None and entry is not None:
                decided = entry.at
            age = age_of(before.time)
            # Not decided since then: it was that approval, and the list of pending tasks was stale.
            if decided is None or age is None or now - decided.at > age - CLOCK_SLACK:
                return self.outcome(
                    OutcomeKind.APPROVED,
                    Reason.SAME_AS_BEFORE,
                    resolution=resolution,
                    record=record,
                )
        if self.is_sent and is_approved:
            # What was sent may have been applied and then refused, if a proxy repeated the request.
            return self.outcome(
                OutcomeKind.APPROVED,
                Reason.APPROVED_THOUGH_REFUSED,
                resolution=resolution,
                refusal=refusal,
                record=record,
            )
        if record is None and entry is None:
            reason = Reason.IN_NO_LIST if is_in_no_list else Reason.UNREAD_SINCE
            return self.outcome(OutcomeKind.GONE, reason, KnownBy.READ, refusal=refusal)
        if self.answer.receipt is not None and resolution is not None:
            # Not someone else's decision, but what came of asking for an approval.
            return self.outcome(
                OutcomeKind.REFUSED,
                Reason.ANSWERED_DECIDED,
                resolution=resolution,
                refusal=refusal,
                record=record,
            )
        if resolution is None and record is not None and says_it_waits(record):
            kind = OutcomeKind.REFUSED if self.is_sent else OutcomeKind.CHANGED
            return self._left_list(kind, record, None, KnownBy.READ, refusal)
        return self._left_list(OutcomeKind.DECIDED_ELSEWHERE, record, resolution, KnownBy.READ)

    def _left_list(
        self,
        kind: OutcomeKind,
        record: Task | None,
        resolution: Resolution | None,
        known_by: KnownBy | None = None,
        refusal: SafeText | None = None,
    ) -> Outcome:
        """Make the outcome of a task that left the list, by what is known of who decided it."""
        resolution = resolution or resolution_of(record, None)
        reason = why_it_left(record, resolution)
        return self.outcome(
            kind, reason, known_by, record=record, resolution=resolution, refusal=refusal
        )

    async def _log_entry(self) -> Activity | None:
        """Read the newest entry of the platform's log that tells of a decision about the task."""
        entries = await self.services.reader.read(FeedName.ACTIVITY, self.scope, self.spacing)
        return decision_about(self.subject, entries, self.waited_at)

    def _has_moved(self, task: Task | None) -> bool:
        """Whether a task that is listed as pending has another status than when it was sent.

        Some platforms move a task from one waiting status to another when it is approved.
        """
        if task is None or task.status is None or self.status is None:
            return False
        return task.status != self.status

    # ---- after it was settled

    async def read_after_leaving(
        self, attempt_id: str | None, *, was_refused: bool = False
    ) -> Outcome | None:
        """Read what became of a task that left the pending list late, and correct the journal.

        Late is after its attempt was settled as not carried out. Returns None if no read shows the
        task as decided. If the attempt `was_refused`, only an approval differs from that: for
        anything else, the refusal remains the outcome.
        """
        self.attempt_id = attempt_id
        self.is_sent = attempt_id is not None
        record = await self._decided_record()
        if record is None or record.state is None or says_it_waits(record):
            return None
        if record.state in SET_GOING:
            outcome = await self._approved_later(record, was_refused)
        elif was_refused:
            return None
        else:
            outcome = self._left_list(OutcomeKind.DECIDED_ELSEWHERE, record, None)
        self.update_store(outcome)
        return await self.record_outcome(outcome)

    async def _decided_record(self) -> Task | None:
        """Read all tasks until one read shows the task as decided, or `READS_AFTER_LEAVING` times;
        return the record of the last read.
        """
        record: Task | None = None
        for pause in islice(self.services.timing.pauses(), READS_AFTER_LEAVING):
            check = await self._read_all()
            record = check.record
            waits = record is not None and says_it_waits(record)
            if not waits and check.observation is not Observation.FAILED:
                break
            await self.services.timing.sleep(pause)
        return record

    async def _approved_later(self, record: Task, was_refused: bool) -> Outcome:
        decided_at = record.decided
        if decided_at is None:
            entry = await self._log_entry()
            if entry is not None:
                decided_at = entry.at
        if decided_at is None:
            decided_at = Moment(self.services.clock.now())
        resolution = Resolution(
            decision=TaskDecision.APPROVED, decided_by=record.decided_by, decided_at=decided_at
        )
        reason = Reason.APPROVED_LATER
        if was_refused:
            reason = Reason.APPROVED_LATER_THOUGH_REFUSED
        return self.outcome(OutcomeKind.APPROVED, reason, resolution=resolution, record=record)

    def update_store(self, outcome: Outcome) -> None:
        """Drop the task from the pending list if it left it, and keep its record."""
        store = self.services.store
        record = outcome.record
        if outcome.kind in ENDED_WAITING:
            store.publish(store.pending.drop(outcome.subject))
        if isinstance(record, Task) and record.id in store.tasks.records:
            store.publish(store.tasks.put(record))
