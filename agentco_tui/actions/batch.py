"""Approving many tasks by one decision: held back, four at a time, stopped when in doubt."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from agentco_tui.actions.answer import AnswerKind
from agentco_tui.actions.approve import Approver, Posted
from agentco_tui.actions.batch_summary import Aside, Summary, of_one_kind, summary
from agentco_tui.actions.hold import Hold
from agentco_tui.actions.outcome import Kind, KnownBy, Outcome, Progress, Step, WhyNot
from agentco_tui.actions.turns import AT_ONCE, Turn, Turns
from agentco_tui.actions.verbs import Verb
from agentco_tui.actions.waits import sleep_unless
from agentco_tui.api.errors import ApiError, KeyRejected, RateLimited
from agentco_tui.format import duration
from agentco_tui.live.names import Names
from agentco_tui.model.records import Task
from agentco_tui.text import SafeText, plain

DOUBTS = 3
"""So many in a row without a clear answer stop the set."""
PAUSE = 5.0
"""Seconds of a pause that the platform asks for (429) without saying how long."""
LONGEST_PAUSE = 120.0
"""Seconds of pauses in a row that a set waits; beyond, it is stopped."""


class Phase(StrEnum):
    """Where a set stands."""

    ASKING = "asking"
    """Nobody has said yes."""
    HELD = "held"
    """It can be taken back."""
    RUNNING = "running"
    """It can still be taken back until the first is about to be sent."""
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


DOUBTFUL = frozenset({Kind.UNKNOWN, Kind.UNCLEAR, Kind.STILL_PENDING})
"""Outcomes that leave open whether it was approved."""
_CERTAINLY_NOT = frozenset({Kind.CHANGED, Kind.NOT_ALLOWED})
"""Outcomes that can be asked about again, beside the clear failures: nothing was applied."""


class BatchApproval:
    """One decision about several tasks. `confirm`, then `run`, which returns when all is known.

    What each task is compared with before it is sent is the record given here, so it must be the
    one that the person is shown. Tasks of another type than most are set `aside`, with those given
    as such. `not_read`, `changed` and `hidden` are as for `summary`. Listeners are told of every
    change of the phase or of an item.
    """

    def __init__(
        self,
        approver: Approver,
        tasks: Sequence[Task],
        *,
        not_read: Collection[str] = (),
        changed: Collection[str] = (),
        hidden: Mapping[str, SafeText] | None = None,
        aside: Sequence[Aside] = (),
    ) -> None:
        chosen, unlike = of_one_kind(list({task.id: task for task in tasks}.values()))
        self.items = tuple(Item(task) for task in chosen)
        self.aside: tuple[Aside, ...] = (*aside, *unlike)
        self.summary: Summary = summary(
            chosen, Names(approver.desk.store), not_read=not_read, changed=changed, hidden=hidden
        )
        self.phase = Phase.ASKING
        self.stop_reason: SafeText | None = None
        """Why not all were sent, if so."""
        self._approver = approver
        self._waits = approver.desk.waits
        self._clock = approver.desk.clock
        self._hold = Hold(self._waits.hold, self._clock, self._waits.sleep)
        self._workers: list[asyncio.Task[None]] = []
        self._begun = False
        """Whether a task has passed the point from which it is sent."""
        self._stopped = asyncio.Event()
        self._no_401 = asyncio.Event()
        self._no_401.set()
        self._unsettled_401 = 0
        self._goes_on_at = 0.0
        """Steady clock: when the pause ends that the platform asked for."""
        self._paused = 0.0
        """Seconds of such pauses since the last clear answer."""
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
        self._enter(Phase.HELD)
        return True

    def hold_left(self) -> float:
        """Seconds in which it can certainly be taken back."""
        return self._hold.left() if self.phase is Phase.HELD else 0.0

    @property
    def can_take_back(self) -> bool:
        """Whether nothing has been sent: also while the tasks are still being read."""
        return self.phase is Phase.HELD or (self.phase is Phase.RUNNING and not self._begun)

    def take_back(self) -> bool:
        """Undo the yes, while nothing has been sent; False if it is too late."""
        if not self.can_take_back:
            return False
        self._hold.take_back()
        self._enter(Phase.TAKEN_BACK)
        for worker in self._workers:
            worker.cancel()
        return True

    @property
    def can_stop(self) -> bool:
        """Whether there is something that has not been sent, and would be."""
        waiting = any(item.state in (State.WAITING, State.READING) for item in self.items)
        return self.phase is Phase.RUNNING and self.stop_reason is None and waiting

    def stop(self, reason: SafeText | None = None) -> None:
        """Send no more; what is in flight is still settled."""
        if self.phase is Phase.RUNNING and self.stop_reason is None:
            self.stop_reason = reason or plain("stopped by you before its turn")
            self._no_401.set()
            self._stopped.set()
            self._tell()

    def pause_left(self) -> float:
        """Seconds until it goes on, where the platform asked for a pause; else 0."""
        if not self.can_stop:
            return 0.0
        return max(0.0, self._goes_on_at - self._clock.monotonic())

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
        """Such as: 1 unknown (being read), 198 approved here, 1 refused. Adds up to all of them."""
        states = Counter(item.state for item in self.items)
        on_their_way = states[State.READING] + states[State.SENDING] + states[State.CONFIRMING]
        results = sorted(
            self.results.items(), key=lambda result: (result[0] not in DOUBTFUL, -result[1])
        )
        counts = [
            (states[State.UNKNOWN], f"{Kind.UNKNOWN} (being read)"),
            *((count, str(kind)) for kind, count in results),
            (on_their_way, "on their way"),
            (states[State.WAITING], "waiting"),
        ]
        return plain(", ".join(f"{count:,} {words}" for count, words in counts if count))

    @property
    def to_ask_again(self) -> tuple[Task, ...]:
        """Tasks that were certainly not approved and may be tried by a new decision, as they are
        known to be now.
        """
        pending = self._approver.desk.store.pending
        return tuple(
            pending.get(item.task.id)
            or (found.record if isinstance(found.record, Task) else item.task)
            for item in self.items
            if (found := item.outcome) is not None
            and (found.may_retry or found.kind in _CERTAINLY_NOT)
        )

    # --- the work ---------------------------------------------------------------------------

    async def run(self) -> Phase:
        """Wait out the hold, then approve; returns once every task has its outcome.

        That may take as long as the platform is away. Raises nothing but cancellation.
        """
        if self.phase is not Phase.HELD or not await self._hold.wait():
            return self.phase
        self._enter(Phase.RUNNING)
        lists = self._approver.list_read(self._waits.gather)
        turns = Turns(lists, self._clock, self._may_go_on)
        waiting = iter(self.items)
        async with asyncio.TaskGroup() as group:
            for number in range(min(2 * AT_ONCE, len(self.items))):
                work = self._work(waiting, turns, group)
                self._workers.append(group.create_task(work, name=f"approving {number}"))
        if not self._is(Phase.TAKEN_BACK):
            self._enter(Phase.ENDED)
        return self.phase

    async def _work(self, waiting: Iterator[Item], turns: Turns, group: asyncio.TaskGroup) -> None:
        for item in waiting:
            turn = await turns.next()
            try:
                posted = await self._post(item, turn)
            finally:
                turn.end()
            if isinstance(posted, Outcome):
                self._settle(item, posted)
                self._judge_unsent(posted)
            else:
                self._judge(posted)
                group.create_task(self._settled(item, posted))

    async def _post(self, item: Item, turn: Turn) -> Outcome | Posted:
        while True:
            await self._may_go_on()
            if self.stop_reason is not None:
                return self._never_sent(item, self.stop_reason)
            posted = await self._approver.post(
                item.task,
                turn,
                partial(self._step, item),
                spacing=self._waits.spacing,
                stopped=self._last_word,
            )
            unread = isinstance(posted, Outcome) and posted.why_not is WhyNot.NOT_READ
            if unread and isinstance(turn.failure, KeyRejected):
                self.stop(plain("stopped: the platform answered 401"))
            # What was not sent, and could not even be read, has its turn after the pause.
            if not (unread and self._told_to_wait(turn.failure)):
                return posted

    def _last_word(self) -> SafeText | None:
        """Asked when nothing is left to do but send: why a task is not sent after all."""
        if self.phase is not Phase.RUNNING:
            return plain("taken back")
        if self.stop_reason is None:
            self._begun = True
        return self.stop_reason

    async def _may_go_on(self) -> None:
        """Wait while nothing may be sent."""
        # A 401 may be about one task or about the key: only a read tells, so nobody goes on.
        await self._no_401.wait()
        while (left := self.pause_left()) > 0:
            await sleep_unless(self._stopped, left, self._waits.sleep)

    def _told_to_wait(self, error: ApiError | None) -> bool:
        """Whether the platform has asked for a pause, and it is made: not one beyond all bounds."""
        if not isinstance(error, RateLimited):
            return False
        now = self._clock.monotonic()
        asked = PAUSE if error.retry_after is None else max(1.0, error.retry_after)
        more = now + asked - max(now, self._goes_on_at)
        if self._paused + more > LONGEST_PAUSE:
            words = f"stopped: the platform asks for a pause of {duration(asked)} (429)"
            self.stop(plain(words))
            return False
        if more > 0:
            self._paused += more
            self._goes_on_at = now + asked
            self._tell()
        return True

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
                if not self._told_to_wait(posted.answer.error) and self.stop_reason is None:
                    self._paused = 0.0

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

    def _is(self, phase: Phase) -> bool:
        return self.phase is phase

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()
