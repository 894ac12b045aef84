"""Keeps the approvals made from this machine and their outcomes: one `Decision` per task.

AI agents on the platform (the remote service) ask the user to approve their tasks. The list below
is that of pending tasks, as it is polled into the store. Lines, details, the Overview, the footer
and the question about a second attempt all show these decisions, so that they agree.
`Decisions.subscribe` reports each change. Decisions of other dashboards on this machine come from
the journal, the file in which each attempt is noted before it is sent. `UndoWindow` is the time in
which the user can take a yes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final

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
from agentco_tui.text import SafeText, clean_line

MOST_LEFT: Final = 4_096
"""Tasks that left the list for which `waited_at` is kept; the oldest are forgotten."""
TICK: Final = 0.2  # seconds between two readings of the clock
SUSPENSION: Final = 1.0
"""Seconds between two readings above which the process counts as suspended: by ctrl+z, by SIGSTOP,
by a laptop that slept. The user could take nothing back meanwhile."""


class UndoWindow:
    """Some seconds in which a yes can be taken back before it counts; `wait` may be called once.

    After the process was suspended the window starts again, so that a user who returns has all of
    it.
    """

    def __init__(
        self, seconds: float, clock: Clock, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._seconds = seconds
        self._remaining = seconds
        self._clock = clock
        self._sleep = sleep
        self._read_at = clock.monotonic()  # when the clock was last read
        self._taken_back = asyncio.Event()

    def seconds_left(self) -> float:
        """Return the seconds in which the yes can still be taken back; 0 if it can't."""
        return self._remaining_at(self._clock.monotonic())

    def take_back(self) -> bool:
        """Undo the yes; False if the window is over, or it was taken back before."""
        is_open = self.seconds_left() > 0
        if is_open:
            self._taken_back.set()
        return is_open

    async def wait(self) -> bool:
        """Wait until the window is over: True then, False as soon as the yes is taken back."""
        self._read_at = self._clock.monotonic()
        while self._remaining > 0 and not self._taken_back.is_set():
            await sleep_unless(self._taken_back, min(TICK, self._remaining), self._sleep)
            now = self._clock.monotonic()
            self._remaining = self._remaining_at(now)
            self._read_at = now
        return not self._taken_back.is_set()

    def _remaining_at(self, now: float) -> float:
        if self._remaining <= 0 or self._taken_back.is_set():
            return 0.0
        passed = now - self._read_at
        if passed > SUSPENSION:
            return self._seconds
        # A tick counts for at most two: a longer one may contain a short suspension.
        return max(0.0, self._remaining - min(passed, 2 * TICK))


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A yes to one task, from the first moment until the user has acknowledged its outcome."""

    task: Task
    """As the user saw it; as the journal has it, if another process made the attempt."""
    step: Step
    since: float  # when this step began, by the monotonic clock
    elsewhere: str | None = None
    """The id of the attempt, if another dashboard on this machine made it."""
    outcome: Outcome | None = None
    is_acknowledged: bool = False


class Decisions:
    """All decisions of a dashboard, by task id. Listeners are called for each that changes."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.by_task: dict[str, Decision] = {}
        self.waited_at: dict[str, float] = {}
        """When tasks that left the list were last read to wait, by the platform's clock."""
        self.decided_here: dict[str, SafeText] = {}
        """How tasks were decided from here otherwise than by an approval, such as "rejected"."""
        self._undo_windows: dict[str, UndoWindow] = {}
        self._listeners: list[Callable[[str], None]] = []

    @property
    def open(self) -> list[Decision]:
        """Those without an outcome, or with a bad one that the user has not acknowledged; the
        oldest first.
        """
        return [decision for decision in self.by_task.values() if _is_open(decision)]

    def hold_left(self, task_id: str) -> float:
        """Return the seconds left of a task's undo window; 0 if it has none."""
        undo_window = self._undo_windows.get(task_id)
        if undo_window is None:
            return 0.0
        return undo_window.seconds_left()

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call `listener` with the id of each task whose decision changes. Returns a function that
        ends this.
        """
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    async def hold(self, task: Task) -> bool:
        """Wait for the undo window of a yes to a task; False if it was taken back."""
        timing = self._services.timing
        if timing.hold_one <= 0:  # the length of the window in seconds
            return True
        undo_window = UndoWindow(timing.hold_one, self._services.clock, timing.sleep)
        self._undo_windows[task.id] = undo_window
        self.record_progress(task, Step.HELD)
        try:
            is_confirmed = await undo_window.wait()
        finally:
            del self._undo_windows[task.id]
        if not is_confirmed:
            self.set_decision(task.id, None)
        return is_confirmed

    def note_decided_here(self, task_id: str, words: SafeText) -> None:
        """Remember how a task was decided by a verb of the platform, such as "rejected"."""
        self.decided_here[task_id] = words
        self._notify(task_id)

    def take_back(self, task_id: str | None = None) -> Task | None:
        """Undo the yes to a task in its undo window, else the newest such yes; return its task.

        Returns None if there is none.
        """
        held_id = task_id
        if held_id not in self._undo_windows:
            held_id = next(reversed(self._undo_windows), None)
        if held_id is None or not self._undo_windows[held_id].take_back():
            return None
        return self.by_task[held_id].task

    def take_all_back(self) -> list[Task]:
        """Undo every yes that is in its undo window; return their tasks."""
        tasks = [self.take_back(task_id) for task_id in tuple(self._undo_windows)]
        return [task for task in tasks if task is not None]

    def record_progress(self, task: Task, progress: Step | Outcome) -> Decision:
        """Record that the approval of a task has reached a step, or its outcome."""
        before = self.by_task.get(task.id)
        now = self._services.clock.monotonic()
        if isinstance(progress, Outcome):
            decision = Decision(task=task, step=Step.SETTLED, since=now, outcome=progress)
        elif before is not None and before.step is progress and before.elsewhere is None:
            return before
        else:
            decision = Decision(task=task, step=progress, since=now)
        self.set_decision(task.id, decision)
        return decision

    def follow_attempts(self, attempts: Iterable[Attempt]) -> None:
        """Show what other dashboards on this machine have in flight now, and the outcomes of what
        they had in flight before.
        """
        in_flight = {
            attempt.task or attempt.subject: attempt
            for attempt in attempts
            if attempt.verb == Verb.APPROVE
        }
        for task_id, attempt in in_flight.items():
            self._follow_in_flight(task_id, attempt)
        for decision in tuple(self.by_task.values()):
            if decision.elsewhere is not None and decision.task.id not in in_flight:
                self._follow_ended(decision)

    def _follow_in_flight(self, task_id: str, attempt: Attempt) -> None:
        before = self.by_task.get(task_id)
        if before is not None and before.outcome is None:
            is_own = before.elsewhere is None
            is_same = before.elsewhere == attempt.attempt
            if is_own or is_same:
                return
        task = self._services.store.pending.get(task_id) or task_of(attempt)
        since = self._services.clock.monotonic() - (age_of(attempt.time) or 0.0)
        decision = Decision(task=task, step=Step.SENDING, since=since, elsewhere=attempt.attempt)
        self.set_decision(task_id, decision)

    def _follow_ended(self, decision: Decision) -> None:
        """Take over the outcome that another dashboard wrote; without one, forget the decision."""
        task = decision.task
        earlier = self._services.earlier(Verb.APPROVE, task.id)
        settled = earlier.settled if earlier is not None else None
        if settled is None or settled.attempt != decision.elsewhere:
            self.set_decision(task.id, None)
        else:
            self.record_progress(task, recorded_outcome(task, settled))

    def acknowledge(self, task_id: str) -> None:
        """Mark the outcome of a task as seen by the user: it is not shown as new any more."""
        decision = self.by_task.get(task_id)
        if decision is not None and decision.outcome is not None and not decision.is_acknowledged:
            self.set_decision(task_id, replace(decision, is_acknowledged=True))

    def take_change(self, change: Change) -> list[Decision]:
        """Follow a change of the list of pending tasks; return decisions that must be read again.

        A decision about a task that waits again is forgotten: the task was restored. One that was
        not carried out, as far as was read or by a refusal, is returned when its task leaves the
        list: it may have been carried out after all.
        """
        if change.feed is not FeedName.PENDING:
            return []
        for task_id in change.added:
            self.waited_at.pop(task_id, None)
            self.decided_here.pop(task_id, None)
            decision = self.by_task.get(task_id)
            outcome = decision.outcome if decision is not None else None
            if outcome is not None and outcome.kind in ENDED_WAITING:
                self.set_decision(task_id, None)
        if change.removed:
            self._remember_waiting(change.removed)
        departed = [self.by_task[task_id] for task_id in change.removed if task_id in self.by_task]
        return [decision for decision in departed if _may_be_carried_out_later(decision)]

    def _remember_waiting(self, task_ids: Iterable[str]) -> None:
        """Keep when tasks that leave the list were last read to wait."""
        freshness = self._services.store.freshness[FeedName.PENDING]
        waited_at = began_at(freshness, self._services.clock)
        self.waited_at |= dict.fromkeys(task_ids, waited_at)
        for task_id in [*self.waited_at][:-MOST_LEFT]:
            del self.waited_at[task_id]

    def set_decision(self, task_id: str, decision: Decision | None) -> None:
        """Set the decision about a task, as the newest; None forgets it. Calls the listeners."""
        if self.by_task.pop(task_id, None) is None and decision is None:
            return
        if decision is not None:
            self.by_task[task_id] = decision
        self._notify(task_id)

    def _notify(self, task_id: str) -> None:
        for listener in tuple(self._listeners):
            listener(task_id)


def _is_open(decision: Decision) -> bool:
    if decision.outcome is None:
        return True
    return decision.outcome.kind not in GOOD and not decision.is_acknowledged


def _may_be_carried_out_later(decision: Decision) -> bool:
    outcome = decision.outcome
    return outcome is not None and bool(outcome.attempt_id) and outcome.kind in NOT_CARRIED_OUT


def recorded_outcome(task: Task, settled: Settled) -> Outcome:
    """Return the outcome that another process wrote into the journal for its approval of a task.

    A kind or reason that only a newer version knows is unclear; its sentence is kept.
    """
    kind = OutcomeKind.UNCLEAR
    if settled.outcome in set(OutcomeKind):
        kind = OutcomeKind(settled.outcome)
    reason = Reason.RECORDED
    if settled.reason in set(Reason):
        reason = Reason(settled.reason)
    return Outcome(
        verb=Verb.APPROVE,
        kind=kind,
        reason=reason,
        known_by=KnownBy.READ,
        subject=task.id,
        title=task.keyed_title,
        resolution=_recorded_resolution(settled),
        attempt_id=settled.attempt,
        recorded_sentence=clean_line(settled.sentence),
    )


def _recorded_resolution(settled: Settled) -> Resolution | None:
    if settled.decision not in set(TaskDecision):
        return None
    return Resolution(
        decision=TaskDecision(settled.decision),
        decided_by=clean_line(settled.decided_by) if settled.decided_by else None,
        decided_at=Moment(settled.decided_at) if settled.decided_at is not None else None,
    )


def task_of(attempt: Attempt) -> Task:
    """Return the task of an approval, as far as the journal has it."""
    return Task(
        id=attempt.task or attempt.subject,
        title=clean_line(attempt.title) or clean_line(attempt.subject),
        key=clean_line(attempt.key) or None,
        agent=_ref_of(attempt.agent, attempt.agent_name),
        company=_ref_of(attempt.company, attempt.company_name),
    )


def _ref_of(record_id: str | None, name: str | None) -> Ref | None:
    safe_name: SafeText | None = None
    if name:
        safe_name = clean_line(name) or None
    if not record_id and safe_name is None:
        return None
    return Ref(id=record_id, name=safe_name)
