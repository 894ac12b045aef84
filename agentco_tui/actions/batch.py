"""Approving many tasks by one decision: held back, four at a time, stopped when in doubt."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import Any

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.decisions import Decision, Decisions, Hold
from agentco_tui.actions.evidence import AnswerKind
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.outcome import Outcome, OutcomeKind, Reason, Step
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.services import Services
from agentco_tui.api.errors import ApiError, KeyRejected, RateLimited
from agentco_tui.model import Task
from agentco_tui.model.format import duration
from agentco_tui.system.background import sleep_unless
from agentco_tui.text import SafeText, plain

AT_ONCE = 4  # approvals in flight together
DOUBTS = 3  # so many in a row without a clear answer stop the set
PAUSE = 5.0  # seconds of a pause that the platform asks for (429) without saying how long
LONGEST_PAUSE = 120.0  # seconds of pauses in a row that a set waits; beyond, it is stopped
KEY_REJECTED = "stopped: the platform answered 401"
_CERTAINLY_NOT = frozenset(
    {OutcomeKind.REFUSED, OutcomeKind.NOT_SENT, OutcomeKind.NOT_DONE}
    | {OutcomeKind.CHANGED, OutcomeKind.NOT_ALLOWED}
)
"""Outcomes that can be asked about again: nothing was applied."""


class BatchPhase(StrEnum):
    """Where a set stands."""

    HELD = "held"  # it can be taken back
    RUNNING = "running"
    ENDED = "ended"
    TAKEN_BACK = "taken back"


class BatchApproval:
    """One decision about several tasks: made when a person has said yes to it, then `run`.

    Each task is compared with the record given here before it is sent, so that must be the one that
    the person is shown.
    """

    def __init__(
        self, services: Services, tasks: Sequence[Task], decisions: Decisions | None = None
    ) -> None:
        self.clock, timing = services.clock, services.timing
        now = self.clock.monotonic()
        self._items = {task.id: Decision(task=task, step=Step.WAITING, since=now) for task in tasks}
        self.phase = BatchPhase.HELD
        self.stop_reason: SafeText | None = None  # why not all were sent, if so
        self.services = services
        self._decisions = decisions or Decisions(services)
        self.hold = Hold(timing.hold, self.clock, timing.sleep)
        self._stopped = asyncio.Event()
        self._goes_on_at = 0.0  # steady clock: when the pause ends that the platform asked for
        self._paused = 0.0  # seconds of such pauses since the last clear answer
        self._doubts = 0

    @property
    def items(self) -> tuple[Decision, ...]:
        return tuple(self._items.values())

    # --- the decision

    @property
    def can_stop(self) -> bool:
        """Whether there is something that has not been sent, and would be."""
        waiting = any(item.step in (Step.WAITING, Step.READING) for item in self.items)
        is_on = self.phase in (BatchPhase.HELD, BatchPhase.RUNNING)
        return is_on and self.stop_reason is None and waiting

    def stop(self, reason: str = "stopped by you before its turn") -> None:
        """Undo the yes while it is held; later send no more, and reconcile what is in flight."""
        if self.phase is BatchPhase.HELD:
            self.hold.take_back()
            self.phase = BatchPhase.TAKEN_BACK
        elif self.phase is BatchPhase.RUNNING and self.stop_reason is None:
            self.stop_reason = plain(reason)
            self._stopped.set()

    def pause_left(self) -> float:
        """Seconds until it goes on, where the platform asked for a pause; else 0."""
        if not self.can_stop:
            return 0.0
        return max(0.0, self._goes_on_at - self.clock.monotonic())

    # --- what is shown

    @property
    def results(self) -> Counter[OutcomeKind]:
        return Counter(item.outcome.kind for item in self.items if item.outcome is not None)

    @property
    def sentence(self) -> SafeText:
        """Such as: 1 unknown (being read), 198 approved here, 1 refused. Adds up to all of them."""
        steps = Counter(item.step for item in self.items)
        on_their_way = steps[Step.READING] + steps[Step.SENDING] + steps[Step.CONFIRMING]
        counts = [
            (steps[Step.UNKNOWN], f"{Step.UNKNOWN} (being read)"),
            *((self.results[kind], str(kind)) for kind in OutcomeKind),
            (on_their_way, "on their way"),
            (steps[Step.WAITING], "waiting"),
        ]
        return plain(", ".join(f"{count:,} {words}" for count, words in counts if count))

    @property
    def to_ask_again(self) -> tuple[Task, ...]:
        """Tasks that were certainly not approved and may be tried again, as they are now."""
        pending = self.services.store.pending
        return tuple(
            pending.get(item.task.id)
            or (found.record if isinstance(found.record, Task) else item.task)
            for item in self.items
            if (found := item.outcome) is not None and found.kind in _CERTAINLY_NOT
        )

    # --- the work

    async def run(self) -> BatchPhase:
        """Wait out the hold, then approve; returns once every task has its outcome.

        That may take as long as the platform is away. Raises nothing but cancellation.
        """
        if self.phase is not BatchPhase.HELD or not await self.hold.wait():
            return self.phase
        self.phase = BatchPhase.RUNNING
        waiting = iter([item.task for item in self.items])
        async with asyncio.TaskGroup() as group:
            for number in range(min(AT_ONCE, len(self._items))):
                group.create_task(self._work(waiting, group), name=f"approving {number}")
        self.phase = BatchPhase.ENDED
        return self.phase

    async def _work(self, waiting: Iterator[Task], group: asyncio.TaskGroup) -> None:
        for task in waiting:
            approval = ApprovalInSet(self, task)
            unsent = await self._post(approval)
            if unsent is not None:
                self.tell(task, unsent)
                if unsent.is_writing_off:
                    self.stop(f"stopped: {outcome_sentence(unsent)}")
                elif unsent.error is not None:
                    self._doubt()
                continue
            group.create_task(self._reconcile(approval))
            # Stop the set where going on would be acting blindly.
            match approval.answer.kind:
                case _ if approval.resumed_attempt is not None:
                    pass
                case AnswerKind.FORBIDDEN:
                    self.stop("stopped: the key may not approve (403)")
                case AnswerKind.UNAUTHORISED:
                    self.stop(KEY_REJECTED)
                case AnswerKind.LOST | AnswerKind.UNSENT:
                    self._doubt()
                case _:
                    self._doubts = 0
                    self._pause(approval.answer.error)
                    if self.pause_left() <= 0:
                        self._paused = 0.0

    async def _post(self, approval: ApprovalInSet) -> Outcome | None:
        while True:
            while (left := self.pause_left()) > 0:
                await sleep_unless(self._stopped, left, self.services.timing.sleep)
            if self.stop_reason is not None:
                return approval.unsent(Reason.SET_STOPPED, cause=self.stop_reason)
            unsent = await approval.post()
            if unsent is None or unsent.kind is not OutcomeKind.NOT_SENT:
                return unsent
            if isinstance(unsent.error, KeyRejected):
                self.stop(KEY_REJECTED)
            # What was not sent, because the platform asked for a pause, has its turn after that.
            self._pause(unsent.error)
            if self.pause_left() <= 0:
                return unsent

    async def _reconcile(self, posted: Approval) -> None:
        self.tell(posted.shown, await posted.reconcile())

    # --- going on or not

    def _pause(self, error: ApiError | None) -> None:
        """Make the pause that the platform asked for, if it did; stop where that is too long."""
        if not isinstance(error, RateLimited):
            return
        now = self.clock.monotonic()
        asked = PAUSE if error.retry_after is None else max(1.0, error.retry_after)
        more = now + asked - max(now, self._goes_on_at)
        if self._paused + more > LONGEST_PAUSE:
            self.stop(f"stopped: the platform asks for a pause of {duration(asked)} (429)")
        elif more > 0:
            self._paused += more
            self._goes_on_at = now + asked

    def _doubt(self) -> None:
        self._doubts += 1
        if self._doubts >= DOUBTS:
            self.stop(f"stopped: {DOUBTS} in a row had no clear answer")

    # --- telling

    def tell(self, task: Task, told: Step | Outcome) -> None:
        self._items[task.id] = self._decisions.tell(task, told)


class ApprovalInSet(Approval):
    """The approval of one task, whose first read it shares with those whose turns begin with it."""

    def __init__(self, batch: BatchApproval, task: Task) -> None:
        super().__init__(batch.services, task)
        self.on_progress = partial(batch.tell, task)
        self.spacing, self.gather = self.services.timing.spacing, self.services.timing.gather
        self._batch = batch

    def new_attempt(self, **about: Any) -> Attempt | Outcome:
        """Asked when nothing is left to do but send: not if the set was stopped, or has to wait."""
        batch = self._batch
        if batch.stop_reason is not None:
            return self.unsent(Reason.SET_STOPPED, cause=batch.stop_reason)
        if batch.pause_left() > 0:
            return self.unsent(Reason.SET_PAUSED)
        return super().new_attempt(**about)
