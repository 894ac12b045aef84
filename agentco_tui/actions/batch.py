"""Approves many tasks by one decision: after an undo window, a few at a time, stopped in doubt.

The tasks that are approved together are a set. `BatchApproval` runs one `Approval` for each of
them: `post` sends one request to the platform (the remote service), `reconcile` reads until its
outcome is known. The progress of each is a `Decision`, which the screens show. Tasks whose first
reads begin together share them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, Final

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.decisions import Decision, Decisions, UndoWindow
from agentco_tui.actions.evidence import AnswerKind
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.outcome import Outcome, OutcomeKind, Reason, Step
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.services import Services
from agentco_tui.api.errors import ApiError, KeyRejected, RateLimited
from agentco_tui.model import Task
from agentco_tui.model.format import duration
from agentco_tui.system.background import sleep_unless
from agentco_tui.text import SafeText, mark_safe

CONCURRENT: Final = 4  # approvals in flight at a time
MOST_DOUBTS: Final = 3  # answers in a row that are not clear; then the set is stopped
DEFAULT_PAUSE: Final = 5.0
"""Seconds to pause when the platform asks for a pause (429) without saying how long."""
LONGEST_PAUSE: Final = 120.0
"""Seconds that a set pauses in all without a clear answer between; beyond, it is stopped."""
KEY_REJECTED: Final = "stopped: the platform answered 401"
_NOT_APPLIED: Final = frozenset(
    {OutcomeKind.REFUSED, OutcomeKind.NOT_SENT, OutcomeKind.NOT_DONE}
    | {OutcomeKind.CHANGED, OutcomeKind.NOT_ALLOWED}
)
"""Outcomes after which a task can be approved again: nothing was applied."""


class BatchPhase(StrEnum):
    """How far a set has come."""

    HELD = "held"  # in its undo window: nothing is sent yet
    RUNNING = "running"
    ENDED = "ended"
    TAKEN_BACK = "taken back"


class BatchApproval:
    """One decision about several tasks: created when the user has said yes to it, then `run`.

    Each task is compared with the record given here before it is sent, so that must be the one that
    the user was shown.
    """

    def __init__(
        self, services: Services, tasks: Sequence[Task], decisions: Decisions | None = None
    ) -> None:
        self.clock = services.clock
        timing = services.timing
        now = self.clock.monotonic()
        self._items = {task.id: Decision(task=task, step=Step.WAITING, since=now) for task in tasks}
        self.phase = BatchPhase.HELD
        self.stop_reason: SafeText | None = None  # why not all were sent, if so
        self.services = services
        self._decisions = decisions or Decisions(services)
        self.hold = UndoWindow(timing.hold, self.clock, timing.sleep)
        self._stopped = asyncio.Event()
        self._resumes_at = 0.0
        """When the pause ends that the platform asked for, by the monotonic clock."""
        self._paused = 0.0  # seconds of such pauses since the last clear answer
        self._doubts = 0  # answers in a row that were not clear

    @property
    def items(self) -> tuple[Decision, ...]:
        return tuple(self._items.values())

    # --- the decision

    @property
    def can_stop(self) -> bool:
        """Whether something has not been sent yet, and will be."""
        is_unsent = any(item.step in (Step.WAITING, Step.READING) for item in self.items)
        is_active = self.phase in (BatchPhase.HELD, BatchPhase.RUNNING)
        return is_active and self.stop_reason is None and is_unsent

    def stop(self, reason: str = "stopped by you before its turn") -> None:
        """Undo the yes in its undo window; later, send no more, and reconcile what is in flight."""
        if self.phase is BatchPhase.HELD:
            self.hold.take_back()
            self.phase = BatchPhase.TAKEN_BACK
        elif self.phase is BatchPhase.RUNNING and self.stop_reason is None:
            self.stop_reason = mark_safe(reason)
            self._stopped.set()

    def pause_left(self) -> float:
        """Seconds until it resumes, if the platform asked for a pause; else 0."""
        if not self.can_stop:
            return 0.0
        return max(0.0, self._resumes_at - self.clock.monotonic())

    # --- what is shown

    @property
    def results(self) -> Counter[OutcomeKind]:
        """How many tasks have each kind of outcome; without those that have none yet."""
        return Counter(item.outcome.kind for item in self.items if item.outcome is not None)

    @property
    def sentence(self) -> SafeText:
        """All tasks in numbers, such as: 1 unknown (being read), 198 approved here, 1 refused."""
        steps = Counter(item.step for item in self.items)
        on_their_way = steps[Step.READING] + steps[Step.SENDING] + steps[Step.CONFIRMING]
        counts = [
            (steps[Step.UNKNOWN], f"{Step.UNKNOWN} (being read)"),
            *((self.results[kind], str(kind)) for kind in OutcomeKind),
            (on_their_way, "on their way"),
            (steps[Step.WAITING], "waiting"),
        ]
        return mark_safe(", ".join(f"{count:,} {words}" for count, words in counts if count))

    @property
    def to_ask_again(self) -> tuple[Task, ...]:
        """The tasks that were certainly not approved and may be tried again, as they are now."""
        return tuple(
            self._newest_record(item.task, item.outcome)
            for item in self.items
            if item.outcome is not None and item.outcome.kind in _NOT_APPLIED
        )

    def _newest_record(self, task: Task, outcome: Outcome) -> Task:
        listed = self.services.store.pending.get(task.id)
        if listed is not None:
            return listed
        if isinstance(outcome.record, Task):
            return outcome.record
        return task

    # --- the work

    async def run(self) -> BatchPhase:
        """Wait for the end of the undo window, then approve; return once all tasks have an outcome.

        That may take as long as the platform can't be reached. Raises nothing except cancellation.
        """
        if self.phase is not BatchPhase.HELD or not await self.hold.wait():
            return self.phase
        self.phase = BatchPhase.RUNNING
        waiting = iter([item.task for item in self.items])
        async with asyncio.TaskGroup() as group:
            for number in range(min(CONCURRENT, len(self._items))):
                group.create_task(self._approve_each(waiting, group), name=f"approving {number}")
        self.phase = BatchPhase.ENDED
        return self.phase

    async def _approve_each(self, waiting: Iterator[Task], group: asyncio.TaskGroup) -> None:
        for task in waiting:
            approval = ApprovalInSet(self, task)
            unsent = await self._post_after_pause(approval)
            if unsent is not None:
                self.record_progress(task, unsent)
                if unsent.is_writing_off:
                    self.stop(f"stopped: {outcome_sentence(unsent)}")
                elif unsent.error is not None:
                    self._count_doubt()
                continue
            group.create_task(self._reconcile_and_record(approval))
            # Stop the set where going on would be acting blindly.
            match approval.answer.kind:
                case _ if approval.resumed_attempt is not None:
                    pass  # nothing was sent: an earlier attempt is reconciled
                case AnswerKind.FORBIDDEN:
                    self.stop("stopped: the key may not approve (403)")
                case AnswerKind.UNAUTHORISED:
                    self.stop(KEY_REJECTED)
                case AnswerKind.LOST | AnswerKind.UNSENT:
                    self._count_doubt()
                case _:
                    self._doubts = 0
                    self._pause_if_asked(approval.answer.error)
                    if self.pause_left() <= 0:
                        self._paused = 0.0

    async def _post_after_pause(self, approval: ApprovalInSet) -> Outcome | None:
        """Read, compare and send one task, after any pause; return the outcome if it was not."""
        while True:
            while True:
                seconds_left = self.pause_left()
                if seconds_left <= 0:
                    break
                await sleep_unless(self._stopped, seconds_left, self.services.timing.sleep)
            if self.stop_reason is not None:
                return approval.unsent(Reason.SET_STOPPED, cause=self.stop_reason)
            unsent = await approval.post()
            if unsent is None or unsent.kind is not OutcomeKind.NOT_SENT:
                return unsent
            if isinstance(unsent.error, KeyRejected):
                self.stop(KEY_REJECTED)
            # A task that was not sent because the platform asked for a pause is tried after it.
            self._pause_if_asked(unsent.error)
            if self.pause_left() <= 0:
                return unsent

    async def _reconcile_and_record(self, posted: Approval) -> None:
        self.record_progress(posted.shown, await posted.reconcile())

    # --- going on or not

    def _pause_if_asked(self, error: ApiError | None) -> None:
        """Start the pause that the platform asked for, if it did; stop if that is too long."""
        if not isinstance(error, RateLimited):
            return
        now = self.clock.monotonic()
        seconds = DEFAULT_PAUSE
        if error.retry_after is not None:
            seconds = max(1.0, error.retry_after)
        additional = now + seconds - max(now, self._resumes_at)
        if self._paused + additional > LONGEST_PAUSE:
            self.stop(f"stopped: the platform asks for a pause of {duration(seconds)} (429)")
        elif additional > 0:
            self._paused += additional
            self._resumes_at = now + seconds

    def _count_doubt(self) -> None:
        self._doubts += 1
        if self._doubts >= MOST_DOUBTS:
            self.stop(f"stopped: {MOST_DOUBTS} in a row had no clear answer")

    # --- progress

    def record_progress(self, task: Task, progress: Step | Outcome) -> None:
        """Record that a task has reached a step, or its outcome."""
        self._items[task.id] = self._decisions.record_progress(task, progress)


class ApprovalInSet(Approval):
    """The approval of one task of a set; tasks that begin together share their first read."""

    def __init__(self, batch: BatchApproval, task: Task) -> None:
        super().__init__(batch.services, task)
        self.on_progress = partial(batch.record_progress, task)
        self.spacing = self.services.timing.spacing
        self.gather = self.services.timing.gather
        self._batch = batch

    def new_attempt(self, **about: Any) -> Attempt | Outcome:
        """Make the journal's entry, unless the set was stopped or has to pause by now."""
        batch = self._batch
        if batch.stop_reason is not None:
            return self.unsent(Reason.SET_STOPPED, cause=batch.stop_reason)
        if batch.pause_left() > 0:
            return self.unsent(Reason.SET_PAUSED)
        return super().new_attempt(**about)
