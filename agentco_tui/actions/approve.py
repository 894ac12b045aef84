"""Approving one task: what is compared before, and what is concluded from the answer and the reads.

Every conclusion here rests on what was read after the answer came or was given up, and says no
more than that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from itertools import islice
from typing import ClassVar

from msgspec.structs import replace

from agentco_tui.actions.fingerprint import differences
from agentco_tui.actions.journal import Earlier
from agentco_tui.actions.journal_file import Attempt, Settled, seconds_of
from agentco_tui.actions.outcome import (
    AFTER_ALL,
    ENDED,
    ENDED_WAITING,
    AnswerKind,
    Check,
    Found,
    KnownBy,
    Outcome,
    OutcomeKind,
    Verb,
)
from agentco_tui.actions.services import Services, age_of
from agentco_tui.actions.task_reader import (
    CLOCK_SLACK,
    TaskList,
    by_whom,
    decided_as,
    decision_about,
    elsewhere,
    says_it_waits,
    shown_as,
)
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.errors import Invalid, KeyRejected, NotFound, Sent
from agentco_tui.live.feeds import FeedName, began_at
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Activity, Moment, Receipt, Task, TaskState
from agentco_tui.model import format as form
from agentco_tui.text import SafeText, plain, safe

DEAR = 3.0  # seconds; where reading all tasks takes longer, a yes and the pending list must do
AFTER_ALL_READS = 7
SET_GOING = frozenset({TaskState.APPROVED, TaskState.QUEUED, TaskState.RUNNING, TaskState.DONE})
"""States of a task that was let go after it waited for a person."""
_LOOK = "look at it before you try again"


class Approval(Write[Task]):
    """Approves the task that a person was shown and said yes to."""

    reads_after_no: ClassVar[bool] = True
    spacing = 0.0  # seconds between list reads that several decisions share
    gather = 0.0  # seconds that the first of them waits for others to join

    def __init__(self, services: Services, shown: Task) -> None:
        super().__init__(services, Verb.APPROVE, shown.id, shown.title)
        self.shown, self.texts = shown, (shown.description,)
        self.status = shown.status  # the platform's word for the task's status when it was sent
        self.waited_at: float | None = began_at(
            services.store.freshness[FeedName.PENDING], services.clock
        )
        """When the task was last read to wait before this, by the platform's clock."""
        company = None if shown.company is None else shown.company.id
        scope = services.poller.query.company
        self._own = company if scope is None else None
        """The task's own company, where the lists of all companies are read."""
        if scope is not None and (company or shown.id not in services.store.pending.records):
            scope = company
        self._earlier: Earlier | None = None
        """The last attempt at the task from this machine before this one."""
        self._in_all_before: Task | None = None
        """The task as the store had it in the list of all tasks when the read began."""
        self.scope = scope
        """The company whose lists are read, None for those of all: the one on the screen unless the
        task is another's, or may be."""

    def recall(self, attempt: Attempt) -> None:
        self.spacing = self.services.timing.spacing
        status = attempt.details.get("status")
        self.status = safe(status) if isinstance(status, str) else None
        self.waited_at = seconds_of(attempt.time)

    # ---- before it is sent

    def named_records(self) -> Iterable[Task | None]:
        store = self.services.store
        return self.shown, store.pending.get(self.subject), store.tasks.get(self.subject)

    async def prepare(self) -> Attempt | Outcome:
        """Read the pending list anew, and compare the task with what was shown."""
        shown = self.shown
        if shown.cut is not None:
            return self.unsent(f"nothing was sent: not all of it can be shown: {shown.cut}")
        if self.attempt_id is None:  # later the last attempt is this one
            self._earlier = self.services.earlier(Verb.APPROVE, self.subject)
        self._in_all_before = self.services.store.tasks.get(self.subject)
        check = await self._seen(self.gather)
        self.read_began = check.began
        if check.found in (Found.PARTIAL, Found.FAILED):
            words = f"it could not be read again, so nothing was sent: {check.why}"
            return self.unsent(words, error=check.error)
        if check.found is Found.DONE:
            before = None if self._earlier is None else self._earlier.settled
            if before is not None and before.outcome != OutcomeKind.APPROVED_HERE:
                before = None
            found = await self._decided(check.record, before)
            if before is not None and found.kind is not OutcomeKind.APPROVED:
                words = plain(f"{found.sentence} (approved from this machine before)")
                found = replace(found, sentence=words)
            self.take(found)
            return found
        return self.recheck(check.record) or self.attempt(
            task=shown.id,
            company=shown.company,
            agent=shown.agent,
            fingerprint=shown.content.hex(),
            details={} if shown.status is None else {"status": shown.status},
        )

    def recheck(self, now: Task | None = None) -> Outcome | None:
        """Writing it down takes time, in which a poll can bring something newer than the read."""
        store = self.services.store
        now = now or store.pending.get(self.subject)
        if now is None or not (found := differences(self.shown, now)):
            return None
        if now.id in store.pending.records:
            store.publish(store.pending.put(now))
        return self.changed(now, found)

    def why_overtaken(self) -> SafeText | None:
        """Compares the task as the store has it now, in the list of those that wait and in that of
        all, with what the user saw and with what the store had when the read began.

        That the list of those that wait lacks it counts as a change, where that list is the one
        that was read and is whole.
        """
        store = self.services.store
        pending = store.pending.get(self.subject)
        if pending is None and self._store_lists_all_pending():
            return plain("it left the list of pending tasks")
        if pending is not None and differences(self.shown, pending):
            return plain("it changed in the list of pending tasks")
        in_all = store.tasks.get(self.subject)
        before = self._in_all_before
        if in_all is not None and before is not None and differences(before, in_all):
            return plain("it changed in the list of all tasks")
        return None

    def _store_lists_all_pending(self) -> bool:
        """Whether a task that waits would be in the store's list: it is the list that was read for
        this decision, and its last answer was whole.
        """
        store = self.services.store
        freshness = store.freshness[FeedName.PENDING]
        is_answered = freshness.answered_at is not None and freshness.failure is None
        is_same_list = self.services.reader.is_shown(FeedName.PENDING, self.scope)
        is_whole = store.pending.listing.whole and not freshness.narrowed
        return is_answered and is_same_list and is_whole

    def send(self, attempt_id: str) -> Awaitable[Receipt[Task]]:
        client = self.services.decision_client
        return client.approve_task(
            self.subject, attempt_id=attempt_id, why_withheld=self.why_withheld
        )

    # ---- what a read shows

    async def _seen(self, gather: float = 0.0) -> Check[Task]:
        """What the list of those that wait shows of it.

        One of all companies that is not whole, or that the platform doesn't give, is followed by
        the list of the task's own company, and then by the list of all tasks.
        """
        seen = (await self._list(FeedName.PENDING, self.scope, gather)).check(self.subject)
        ungiven = seen.error is None or isinstance(seen.error, Invalid | NotFound)
        if seen.found in (Found.PARTIAL, Found.FAILED) and ungiven and self._own:
            seen = (await self._list(FeedName.PENDING, self._own)).check(self.subject)
        if seen.found is Found.PARTIAL:
            task = (await self._in_any_list()).record
            if task is not None:
                found = Found.BEFORE if waits_for_person(task) else Found.DONE
                return replace(seen, found=found, record=task, why=None)
        return seen

    async def _in_any_list(self) -> Check[Task]:
        """What the list of all tasks shows of it: its record, `DONE` without one if the list of
        all companies was read whole, so that the platform has it in no list.
        """
        tasks, of_all = await self._list(FeedName.TASKS, self.scope), True
        if self.subject not in tasks.tasks and tasks.error is None:
            if tasks.why is not None and self._own:
                tasks, of_all = await self._list(FeedName.TASKS, self._own), False
            elif tasks.why is None and self.scope is not None:
                # It may have moved to another company.
                tasks = await self._list(FeedName.TASKS, None)
        task, found = tasks.tasks.get(self.subject), Found.PARTIAL
        if task is not None and task.unwritable is not None:
            task = None  # whether it is the one that is meant can't be told
        elif tasks.error is not None:
            found = Found.FAILED
        elif task is not None or (of_all and tasks.why is None):
            found = Found.DONE
        return Check(found=found, began=tasks.began, record=task, error=tasks.error)

    async def _list(self, feed: FeedName, company: str | None, gather: float = 0.0) -> TaskList:
        spacing = 0.0 if gather else self.spacing
        found: TaskList = await self.services.reader.read(feed, company, spacing, gather)
        return found

    async def check(self) -> Check[Task]:
        """What a read shows: `DONE` if it waits no more, with its record where one is read."""
        said = self.answer.kind
        seen = await self._seen()
        if seen.found is Found.BEFORE and said is AnswerKind.YES and self._moved(seen.record):
            return replace(seen, found=Found.DONE)
        if seen.found is not Found.DONE or seen.record or said is not AnswerKind.LOST:
            return seen
        # It left the pending list after a lost answer: only the list of all tasks tells how.
        found = await self._in_any_list()
        if (task := found.record) is not None:
            told = task.status is not None or task.needs_approval is not None
            disagree = told and waits_for_person(task) and not self._moved(task)
            return replace(seen, found=Found.OTHERWISE if disagree else Found.DONE, record=task)
        if found.found is Found.DONE:
            return replace(seen, why=plain("no list of the platform shows it"))
        kind, error = Found.OTHERWISE, found.error
        if error is not None:  # a platform that doesn't give the list shows no more than this
            kind = Found.DONE if error.sent is Sent.NO and error.status else Found.FAILED
        why = plain("the list of all tasks could not be read whole")
        return replace(seen, found=kind, error=error, why=why)

    # ---- what became of it

    async def conclude(self, check: Check[Task] | None) -> Outcome:
        assert check is not None, "a no is always read after"
        if self.answer.kind is AnswerKind.LOST:
            return self._after_lost(check)
        if self.answer.kind is not AnswerKind.YES:
            return await self._after_no(check)
        # `pending` in the answer is not looked at, only the list: it may mean queued.
        receipt, record = self.answer.receipt, check.record
        assert receipt is not None
        if check.found is Found.BEFORE:
            words = (
                "the platform said yes, but its list still shows the task as pending: "
                "it may need another approval, or more time"
            )
            return self.outcome(OutcomeKind.STILL_PENDING, words, record=record)
        if check.found is not Found.DONE:
            why = f": {check.why}" if check.why else ""
            words = f"approved, says the platform's answer; a read could not bear it out{why}"
            return self.outcome(OutcomeKind.APPROVED_HERE, words, KnownBy.ANSWER)
        told, took = receipt.record, self.services.reader.every_took
        if record is None and told and told.id == self.subject and told.state is not None:
            record = told
        if record is None and receipt.status_word is None and (took is None or took <= DEAR):
            # Some platforms say yes to the approval of what somebody has just rejected.
            record = (await self._in_any_list()).record
        if record is not None and record.state in ENDED:
            words = f"the platform said yes, but {shown_as(record)}"
            return self.outcome(OutcomeKind.UNCLEAR, words, record=record)
        now = "it no longer waits"
        if record is not None and (self._moved(record) or record.decided_by):
            # Some say yes to a second approval too, so who decided is told.
            now = shown_as(record)
        words = f"approved: the platform said yes, and {now}"
        return self.outcome(OutcomeKind.APPROVED_HERE, words, record=record)

    async def after_all(
        self, attempt_id: str | None, *, was_refused: bool = False
    ) -> Outcome | None:
        """The task has left the list of those that wait, and its attempt was settled otherwise.

        Returns, and writes into the journal, what a read shows to have become of it; None if no
        read shows it decided. Where the attempt `was_refused`, only an approval differs from that:
        whatever else became of the task, the refusal stays what became of the attempt.
        """
        self.attempt_id = attempt_id
        self.is_sent = attempt_id is not None
        for pause in islice(self.services.timing.pauses(), AFTER_ALL_READS):
            seen = await self._in_any_list()
            record = seen.record
            waits = record is not None and says_it_waits(record)
            if not waits and seen.found is not Found.FAILED:
                break
            await self.services.timing.sleep(pause)
        if record is None or record.state is None or waits:
            return None
        if was_refused and record.state not in SET_GOING:
            return None
        now = self.services.clock.now()
        if record.state in SET_GOING:
            entry = None if record.decided is not None else await self._log_entry()
            moment = record.decided or (entry and entry.at) or Moment(now)
            words = f"{AFTER_ALL}, at {form.clock(moment, moment.at)}: {shown_as(record)}"
            if was_refused:
                words = f"{words}; this request was refused before that"
            found = self.outcome(OutcomeKind.APPROVED, words, record=record)
        else:
            words = elsewhere(record, None, now)
            found = self.outcome(OutcomeKind.DECIDED_ELSEWHERE, words, record=record)
        self.take(found)
        return await self.written(found)

    def take(self, outcome: Outcome) -> None:
        """Drop from the pending list what left it."""
        store, record = self.services.store, outcome.record
        if outcome.kind in ENDED_WAITING:
            store.publish(store.pending.drop(outcome.subject))
        if isinstance(record, Task) and record.id in store.tasks.records:
            store.publish(store.tasks.put(record))

    async def _after_no(self, check: Check[Task]) -> Outcome:
        answer = self.answer
        if check.found is Found.DONE:
            return await self._decided(check.record)
        if answer.kind is AnswerKind.UNAUTHORISED and check.found is Found.FAILED:
            words = f"401, and nothing could be read since: {answer.told}"
            if isinstance(check.error, KeyRejected):
                words = "the key is missing or invalid: nothing was approved"
            return self.outcome(OutcomeKind.KEY_REJECTED, words, KnownBy.ANSWER)
        if answer.kind is AnswerKind.UNAUTHORISED:
            words = (
                f"refused with 401, while the key still reads: {answer.told}; "
                "it may be that you must not approve this one, or may not approve at all"
            )
            return self.outcome(OutcomeKind.REFUSED, words, record=check.record)
        unread = "" if check.found is Found.BEFORE else " (it could not be read again since)"
        words = f"refused: {answer.told}{unread}"
        return self.outcome(OutcomeKind.REFUSED, words, KnownBy.ANSWER, record=check.record)

    def _after_lost(self, check: Check[Task]) -> Outcome:
        record, kind = check.record, OutcomeKind.UNCLEAR
        state = None if record is None else record.state
        match check.found:
            case Found.BEFORE if record is not None and self._moved(record):
                words = (
                    f"it still waits, but its status went from “{self.status}” to "
                    f"“{record.status}”: {_LOOK}"
                )
            case Found.BEFORE:
                kind, over = OutcomeKind.NOT_DONE, f"{self.services.timing.still_pending:g}"
                words = (
                    f"not approved: the answer was lost, and reads over {over} s "
                    "show it as pending still; you may try again"
                )
            case Found.PARTIAL | Found.FAILED:
                words = f"unclear: the answer was lost, and {check.why}"
            case Found.OTHERWISE if record is not None:
                words = (
                    "unclear: it left the list of pending tasks, but the list of all tasks shows "
                    f"it as “{record.status or 'waiting'}” still; {_LOOK}"
                )
            case _ if record is None:
                kind = OutcomeKind.GONE
                words = (
                    "it no longer waits, and what became of it can't be told: the answer was "
                    f"lost, and {check.why}"
                )
            case _ if state in SET_GOING:
                kind = OutcomeKind.APPROVED
                word = "approved" if state is TaskState.APPROVED else "it no longer waits"
                words = (
                    f"{word}: {shown_as(record)}; the answer was lost, so it may have been this "
                    "attempt or somebody else"
                )
            case _ if state in ENDED:
                kind = OutcomeKind.DECIDED_ELSEWHERE
                words = elsewhere(record, None, self.services.clock.now())
            case _:
                words = f"it no longer waits: {shown_as(record)}"
        return self.outcome(kind, words, record=record)

    async def _decided(self, record: Task | None, before: Settled | None = None) -> Outcome:
        """It no longer waits, and not through this attempt: say who decided it, if that is told.

        `before` is the approval of an earlier attempt from this machine.
        """
        sure, answer = True, self.answer
        if record is None:
            found = await self._in_any_list()
            record, sure = found.record, found.found is Found.DONE
        now = self.services.clock.now()
        entry = decision_about(self.subject, self.services.store.activity, self.waited_at)
        if entry is None and (record is None or record.decided is None):
            entry = await self._log_entry()
        sent = self.is_sent
        refused = f"refused: {answer.told}; " if sent else ""
        word = decided_as(record, entry)
        who = "" if word is None else by_whom(record, entry, word, now)
        if before is not None and word == "approved":
            moment = None if record is None else record.decided
            moment = moment if moment or entry is None else entry.at
            age = age_of(before.time)
            # Not decided since: then it is that approval, and the list it waited in was an old one.
            if moment is None or age is None or now - moment.at > age - CLOCK_SLACK:
                words = f"approved{who}: this machine had asked for it before"
                return self.outcome(OutcomeKind.APPROVED, words, record=record)
        if sent and word == "approved":
            # What was sent may have been applied twice over, by a proxy that repeats requests.
            words = f"approved{who}; this request, or a repetition of it, was {refused}"
            return self.outcome(OutcomeKind.APPROVED, words.removesuffix("; "), record=record)
        if record is None and entry is None:
            words = "it is in no list of the platform any more"
            if not sure:
                words = "it left the list of pending tasks; what became of it could not be read"
            return self.outcome(OutcomeKind.GONE, refused + words, KnownBy.READ)
        if answer.receipt is not None and word is not None:
            # Not somebody else's decision, but what came of asking for an approval.
            words = f"{refused}the platform shows it as {word}{who}"
            return self.outcome(OutcomeKind.REFUSED, words, record=record)
        kind, words = OutcomeKind.DECIDED_ELSEWHERE, elsewhere(record, entry, now)
        if word is None and record is not None and says_it_waits(record):
            kind = OutcomeKind.REFUSED if sent else OutcomeKind.CHANGED
            words = plain(refused + words)
        return self.outcome(kind, words, KnownBy.READ, record=record)

    async def _log_entry(self) -> Activity | None:
        log = await self.services.reader.read(FeedName.ACTIVITY, self.scope, self.spacing)
        return decision_about(self.subject, log, self.waited_at)

    def _moved(self, task: Task | None) -> bool:
        """Whether a task that is listed as pending has another status than when it was sent.

        Some platforms move a task from one waiting word to another when it is approved.
        """
        now = None if task is None else task.status
        return None not in (self.status, now) and now != self.status
