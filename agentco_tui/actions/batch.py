"""Approving many tasks by one decision: held back, four at a time, stopped when in doubt."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from agentco_tui.actions.answer import AnswerKind
from agentco_tui.actions.approve import Approver, ListRead, Posted
from agentco_tui.actions.batch_summary import Summary, summary
from agentco_tui.actions.outcome import Kind, KnownBy, Outcome, Progress, Step, WhyNot
from agentco_tui.actions.verbs import Verb
from agentco_tui.api.records import Task
from agentco_tui.live.names import Names
from agentco_tui.text import SafeText, plain

AT_ONCE = 4
"""Approvals in flight together."""
DOUBTS = 3
"""So many in a row without a clear answer stop the set."""


class Phase(StrEnum):
    """Where a set stands."""

    ASKING = "asking"
    """Nobody has said yes."""
    HELD = "held"
    """It can be taken back."""
    RUNNING = "running"
    ENDED = "ended"
    TAKEN_BACK = "taken back"


class State(StrEnum):
    """Where one task of a set stands."""

    WAITING = "waiting"
    READING = "reading"
    SENDING = "sending"
    CONFIRMING = "confirming"
    UNKNOWN = "unknown"
    """The answer was lost, and it is being read."""
    SETTLED = "settled"
    """Its outcome is there."""


_STATES = {
    Step.READING: State.READING,
    Step.SENDING: State.SENDING,
    Step.CONFIRMING: State.CONFIRMING,
    Step.UNKNOWN: State.UNKNOWN,
}


@dataclass(slots=True)
class Item:
    """One task of a set, and what became of it."""

    task: Task
    state: State = State.WAITING
    outcome: Outcome | None = None
    sentence: SafeText | None = None
    """What is going on, while there is no outcome."""


class BatchApproval:
    """One decision about several tasks. `confirm`, then `run`, which returns when all is known.

    `not_read` holds the ids of tasks whose details nobody has opened. Listeners are told of every
    change of the phase or of an item.
    """

    def __init__(
        self, approver: Approver, tasks: Sequence[Task], not_read: Collection[str] = ()
    ) -> None:
        self.items = tuple(Item(task) for task in {task.id: task for task in tasks}.values())
        self.summary: Summary = summary(
            [item.task for item in self.items], not_read, Names(approver.desk.store)
        )
        self.phase = Phase.ASKING
        self.stop_reason: SafeText | None = None
        """Why not all were sent, if so."""
        self._approver = approver
        self._not_read = not_read
        self._waits = approver.desk.waits
        self._clock = approver.desk.clock
        self._release_at = 0.0
        self._taken_back = asyncio.Event()
        self._no_401 = asyncio.Event()
        self._no_401.set()
        self._unsettled_401 = 0
        self._doubts = 0
        self._listeners: list[Callable[[], None]] = []

    # --- the decision -----------------------------------------------------------------------

    @property
    def number_to_type(self) -> int | None:
        """What must be typed to confirm; None if `y` is enough."""
        return self.summary.number_to_type

    def confirm(self, typed: str = "") -> bool:
        """Say yes; starts the hold. False, and nothing happens, if the number is not right."""
        wanted = self.number_to_type
        if self.phase is not Phase.ASKING or not self.items:
            return False
        if wanted is not None and typed.strip() != str(wanted):
            return False
        self._release_at = self._clock.monotonic() + self._waits.hold
        self._enter(Phase.HELD)
        return True

    def hold_left(self) -> float:
        """Seconds in which it can still be taken back."""
        if self.phase is not Phase.HELD:
            return 0.0
        return max(0.0, self._release_at - self._clock.monotonic())

    def take_back(self) -> bool:
        """Undo the yes, while nothing has been sent; False if it is too late."""
        if self.phase is not Phase.HELD:
            return False
        self._enter(Phase.TAKEN_BACK)
        self._taken_back.set()
        return True

    def stop(self, reason: SafeText | None = None) -> None:
        """Send no more; what is in flight is still settled."""
        if self.phase is Phase.RUNNING and self.stop_reason is None:
            self.stop_reason = reason or plain("stopped by you before its turn")
            self._no_401.set()
            self._tell()

    # --- what is shown ----------------------------------------------------------------------

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after every change; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @property
    def settled(self) -> int:
        """How many have an outcome."""
        return sum(item.outcome is not None for item in self.items)

    @property
    def results(self) -> Counter[Kind]:
        """How many came to which outcome so far."""
        return Counter(item.outcome.kind for item in self.items if item.outcome is not None)

    @property
    def sentence(self) -> SafeText:
        """Such as: 198 approved here, 1 refused, 1 unknown."""
        parts = [f"{count:,} {kind}" for kind, count in self.results.most_common()]
        reading = sum(item.state is State.UNKNOWN for item in self.items)
        if reading:
            parts.append(f"{reading:,} {Kind.UNKNOWN}, being read")
        return plain(", ".join(parts) or "nothing yet")

    @property
    def clear_failures(self) -> tuple[Task, ...]:
        """Tasks that were certainly not approved and may be tried again by a new decision."""
        return tuple(item.task for item in self.items if item.outcome and item.outcome.may_retry)

    def again(self) -> BatchApproval:
        """A new set, to be decided anew, of the clear failures as the store has them now."""
        pending = self._approver.desk.store.pending
        tasks = [pending.get(task.id) or task for task in self.clear_failures]
        return BatchApproval(self._approver, tasks, self._not_read)

    # --- the work ---------------------------------------------------------------------------

    async def run(self) -> Phase:
        """Wait out the hold, then approve; returns once every task has its outcome.

        That may take as long as the platform is away. Raises nothing but cancellation.
        """
        while (left := self.hold_left()) > 0:
            await self._sleep_unless_taken_back(left)
        if self.phase is not Phase.HELD:
            return self.phase
        self._enter(Phase.RUNNING)
        lists = self._approver.list_read()
        waiting = iter(self.items)
        async with asyncio.TaskGroup() as group:
            for number in range(min(AT_ONCE, len(self.items))):
                group.create_task(self._work(waiting, lists, group), name=f"approving {number}")
        self._enter(Phase.ENDED)
        return self.phase

    async def _work(
        self, waiting: Iterator[Item], lists: ListRead, group: asyncio.TaskGroup
    ) -> None:
        for item in waiting:
            # A 401 may be about one task or about the key: only a read tells, so nobody goes on.
            await self._no_401.wait()
            if self.stop_reason is not None:
                self._settle(item, self._never_sent(item, self.stop_reason))
                continue
            posted = await self._approver.post(
                item.task,
                lists,
                partial(self._step, item),
                fresh=self._waits.fresh,
                spacing=self._waits.spacing,
                stopped=lambda: self.stop_reason,
            )
            if isinstance(posted, Outcome):
                self._settle(item, posted)
                self._judge_unsent(posted)
            else:
                self._judge(posted)
                group.create_task(self._settled(item, posted))

    async def _settled(self, item: Item, posted: Posted) -> None:
        is_401 = posted.answer is not None and posted.answer.kind is AnswerKind.UNAUTHORISED
        try:
            found = await self._approver.settle(posted)
            if is_401 and found.kind in (Kind.KEY_REJECTED, Kind.REFUSED):
                self.stop(plain("stopped: the platform answered 401"))
            self._settle(item, found)
        finally:
            if is_401:
                self._unsettled_401 -= 1
                if self._unsettled_401 == 0:
                    self._no_401.set()

    def _judge(self, posted: Posted) -> None:
        """Stop the set where going on would be acting blindly."""
        if posted.answer is None:
            return
        match posted.answer.kind:
            case AnswerKind.FORBIDDEN:
                self.stop(plain("stopped: the key may not approve (403)"))
            case AnswerKind.UNAUTHORISED:
                self._unsettled_401 += 1
                self._no_401.clear()
            case AnswerKind.LOST | AnswerKind.UNSENT:
                self._doubt()
            case _:
                self._doubts = 0

    def _judge_unsent(self, found: Outcome) -> None:
        match found.why_not:
            case WhyNot.NO_JOURNAL | WhyNot.NO_RIGHT:
                self.stop(plain(f"stopped: {found.sentence}"))
            case WhyNot.NOT_READ:
                self._doubt()
            case _:
                return

    def _doubt(self) -> None:
        self._doubts += 1
        if self._doubts >= DOUBTS:
            self.stop(plain(f"stopped: {DOUBTS} in a row had no clear answer"))

    def _step(self, item: Item, progress: Progress) -> None:
        state = _STATES[progress.step]
        if (state, progress.sentence) != (item.state, item.sentence):
            item.state, item.sentence = state, progress.sentence
            self._tell()

    def _settle(self, item: Item, found: Outcome) -> None:
        item.state, item.outcome, item.sentence = State.SETTLED, found, None
        self._tell()

    def _never_sent(self, item: Item, reason: SafeText) -> Outcome:
        return Outcome(
            verb=Verb.APPROVE,
            kind=Kind.NOT_SENT,
            subject=item.task.id,
            title=item.task.title,
            sentence=reason,
            known_by=KnownBy.HERE,
            why_not=WhyNot.STOPPED,
        )

    async def _sleep_unless_taken_back(self, seconds: float) -> None:
        sleeping = asyncio.ensure_future(self._waits.sleep(seconds))
        undone = asyncio.ensure_future(self._taken_back.wait())
        try:
            await asyncio.wait({sleeping, undone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiting in (sleeping, undone):
                waiting.cancel()
            await asyncio.gather(sleeping, undone, return_exceptions=True)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()
