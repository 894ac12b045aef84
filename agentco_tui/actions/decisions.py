"""What is being approved from this machine, and what became of it: one decision a task.

Lines, details, the Overview, the footer and the question about a second attempt are drawn from
here, so that they agree. What another dashboard of this machine does comes from the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

import msgspec
from msgspec.structs import replace

from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.actions.outcome import (
    ENDED_WAITING,
    GOOD,
    NOT_CARRIED_OUT,
    KnownBy,
    Outcome,
    OutcomeKind,
    Reason,
    Resolution,
    Step,
    TaskDecision,
    Verb,
)
from agentco_tui.actions.services import Services, age_of
from agentco_tui.live.feeds import Clock, FeedName, began_at
from agentco_tui.live.store import Change
from agentco_tui.model import Moment, Ref, Task
from agentco_tui.system.background import sleep_unless
from agentco_tui.text import safe

LEFT_KEPT = 4_096  # tasks that left the list of which it is remembered when they last stood in it
TICK = 0.2  # seconds between two looks at the clock
GAP = 1.0
"""Seconds between two looks from which the process counts as having been stopped: by ctrl+z, by
SIGSTOP, by a laptop that slept. Nobody could take anything back meanwhile."""


class Hold:
    """Some seconds before a yes counts; `wait` may be called once.

    After a stop of the process they begin anew, so that a person who comes back has all of them.
    """

    def __init__(
        self, seconds: float, clock: Clock, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._seconds = self._rest = seconds
        self._clock = clock
        self._sleep = sleep
        self._seen = clock.monotonic()
        self._taken_back = asyncio.Event()

    def left(self) -> float:
        """Seconds in which it can still be taken back; 0 once it is over or taken back."""
        return self._rest_at(self._clock.monotonic())

    def take_back(self) -> bool:
        """Undo the yes; False if the hold is over, or was taken back before."""
        can_be = self.left() > 0
        if can_be:
            self._taken_back.set()
        return can_be

    async def wait(self) -> bool:
        """Wait until it is over: True then, False as soon as it is taken back."""
        self._seen = self._clock.monotonic()
        while self._rest > 0 and not self._taken_back.is_set():
            await sleep_unless(self._taken_back, min(TICK, self._rest), self._sleep)
            now = self._clock.monotonic()
            self._rest, self._seen = self._rest_at(now), now
        return not self._taken_back.is_set()

    def _rest_at(self, now: float) -> float:
        if self._rest <= 0 or self._taken_back.is_set():
            return 0.0
        passed = now - self._seen
        # A short stop may fall into a tick without being known as one: a tick counts for two.
        return self._seconds if passed > GAP else max(0.0, self._rest - min(passed, 2 * TICK))


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A yes to one task, from the first moment until what became of it was looked at."""

    task: Task
    """As the person saw it; of an attempt that another process made, as the journal tells it."""
    step: Step
    since: float  # steady clock: when this step began
    elsewhere: str | None = None  # the attempt of another dashboard of this machine that is at it
    outcome: Outcome | None = None
    seen: bool = False


class Decisions:
    """All decisions of a dashboard, by the task's id. Listeners are told which have changed."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.by_task: dict[str, Decision] = {}
        self.waited_at: dict[str, float] = {}
        """When tasks that have left the list were last read to wait, by the platform's clock."""
        self._holds: dict[str, Hold] = {}
        self._listeners: list[Callable[[str], None]] = []

    @property
    def open(self) -> list[Decision]:
        """Those that are not settled, or badly and not looked at, in the order of their yes."""
        return [
            known
            for known in self.by_task.values()
            if known.outcome is None or not (known.outcome.kind in GOOD or known.seen)
        ]

    def hold_left(self, task_id: str) -> float:
        hold = self._holds.get(task_id)
        return 0.0 if hold is None else hold.left()

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call `listener` with the id of each task whose decision has changed; returns its end."""
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    async def hold(self, task: Task) -> bool:
        """Hold the yes to a task back for a moment; False if it was taken back."""
        timing = self._services.timing
        hold = self._holds[task.id] = Hold(timing.hold_one, self._services.clock, timing.sleep)
        self.tell(task, Step.HELD)
        try:
            kept = await hold.wait()
        finally:
            del self._holds[task.id]
        if not kept:
            self.put(task.id, None)
        return kept

    def take_back(self, task_id: str | None = None) -> Task | None:
        """Undo the yes to a task whose hold is not over, else the newest one; the task, if any."""
        held = task_id if task_id in self._holds else next(reversed(self._holds), None)
        if held is None or not self._holds[held].take_back():
            return None
        return self.by_task[held].task

    def take_all_back(self) -> list[Task]:
        """Undo every yes whose hold is not over."""
        return [task for held in tuple(self._holds) if (task := self.take_back(held)) is not None]

    def tell(self, task: Task, told: Step | Outcome) -> Decision:
        """The approval of a task has come to a step, or to its outcome."""
        known, since = self.by_task.get(task.id), self._services.clock.monotonic()
        if isinstance(told, Outcome):
            now = Decision(task=task, step=Step.SETTLED, since=since, outcome=told)
        elif known is not None and known.step is told and known.elsewhere is None:
            return known
        else:
            now = Decision(task=task, step=told, since=since)
        self.put(task.id, now)
        return now

    def follow(self, found: Iterable[Attempt]) -> None:
        """Take in what other dashboards of this machine have in flight, and what came of it."""
        others = {one.task or one.subject: one for one in found if one.verb == Verb.APPROVE}
        for task_id, attempt in others.items():
            known = self.by_task.get(task_id)
            if known is None or known.outcome or known.elsewhere not in (None, attempt.attempt):
                task = self._services.store.pending.get(task_id) or task_of(attempt)
                since = self._services.clock.monotonic() - (age_of(attempt.time) or 0.0)
                sent = Decision(
                    task=task, step=Step.SENDING, since=since, elsewhere=attempt.attempt
                )
                self.put(task_id, sent)
        for known in [one for one in self.by_task.values() if one.elsewhere]:
            if (task := known.task).id in others:
                continue
            # It has written what became of it, or has ended without that.
            earlier = self._services.earlier(Verb.APPROVE, task.id)
            settled = None if earlier is None else earlier.settled
            if settled is None or settled.attempt != known.elsewhere:
                self.put(task.id, None)
                continue
            self.tell(task, recorded_outcome(task, settled))

    def look_at(self, task_id: str) -> None:
        known = self.by_task.get(task_id)
        if known is not None and known.outcome is not None and not known.seen:
            self.put(task_id, replace(known, seen=True))

    def take(self, change: Change) -> list[Decision]:
        """The list of pending tasks has changed. Returns the decisions to be looked at again.

        A task that waits again was restored: what was said of it before is over. One that was not
        approved, as far as could be read or by a refusal, and leaves the list now, may have been
        all the same.
        """
        if change.feed is not FeedName.PENDING:
            return []
        for task_id in change.added:
            self.waited_at.pop(task_id, None)
            known = self.by_task.get(task_id)
            if known is not None and known.outcome and known.outcome.kind in ENDED_WAITING:
                self.put(task_id, None)
        if change.removed:
            freshness = self._services.store.freshness[FeedName.PENDING]
            seen_waiting = began_at(freshness, self._services.clock)
            self.waited_at |= dict.fromkeys(change.removed, seen_waiting)
            for task_id in [*self.waited_at][:-LEFT_KEPT]:
                del self.waited_at[task_id]
        gone = [known for i in change.removed if (known := self.by_task.get(i)) is not None]
        return [
            known
            for known in gone
            if known.outcome and known.outcome.attempt_id and known.outcome.kind in NOT_CARRIED_OUT
        ]

    def put(self, task_id: str, decision: Decision | None) -> None:
        """Keep it, the newest last, or forget what there was."""
        if self.by_task.pop(task_id, None) is None and decision is None:
            return
        if decision is not None:
            self.by_task[task_id] = decision
        for listener in tuple(self._listeners):
            listener(task_id)


def recorded_outcome(task: Task, settled: Settled) -> Outcome:
    """Return the outcome that another process wrote into the journal for its approval of a task.

    A kind or reason that only a newer version knows is unclear; its sentence is kept.
    """
    is_known_kind = settled.outcome in set(OutcomeKind)
    is_known_reason = settled.reason in set(Reason)
    return Outcome(
        verb=Verb.APPROVE,
        kind=OutcomeKind(settled.outcome) if is_known_kind else OutcomeKind.UNCLEAR,
        reason=Reason(settled.reason) if is_known_reason else Reason.RECORDED,
        known_by=KnownBy.READ,
        subject=task.id,
        title=task.title,
        resolution=_recorded_resolution(settled),
        attempt_id=settled.attempt,
        recorded_sentence=safe(settled.sentence),
    )


def _recorded_resolution(settled: Settled) -> Resolution | None:
    if settled.decision not in set(TaskDecision):
        return None
    return Resolution(
        decision=TaskDecision(settled.decision),
        decided_by=safe(settled.decided_by) if settled.decided_by else None,
        decided_at=Moment(settled.decided_at) if settled.decided_at is not None else None,
    )


def task_of(attempt: Attempt) -> Task:
    """The task of an approval as far as the journal tells."""

    def ref(record_id: str | None, name: str | None) -> Ref | None:
        known = name and safe(name)
        return Ref(id=record_id, name=known or None) if record_id or known else None

    return Task(
        id=attempt.task or attempt.subject,
        title=safe(attempt.title) or safe(attempt.subject),
        agent=ref(attempt.agent, attempt.agent_name),
        company=ref(attempt.company, attempt.company_name),
    )
