"""Finds trouble in the activity log: failures that repeat, and approved tasks that may be stuck.

The log is the record of what the AI agents did, as the remote service returns it. A gap is an entry
of ours that marks where entries of the log may be missing.

`read_log` passes over all entries once, in steps (it is a generator, so that keys are handled
meanwhile). `NeedsModel` makes items of the "needs you" list (what the user should look at) from the
result.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Final

import msgspec

from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.sentences import without_particulars
from agentco_tui.model import Activity, Ref, Severity, Task, TaskState
from agentco_tui.model.period import HOUR
from agentco_tui.reading.field_names import phrase, word_set
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.text import mark_safe
from agentco_tui.text.memoized import memoized

OFTEN: Final = 3  # failures within an hour that count as one that repeats
FEW_RUNS: Final = 5  # runs of tasks below which no duration is called usual
AT_WORK: Final = (TaskState.APPROVED, TaskState.QUEUED, TaskState.RUNNING)
ENDED: Final = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.REJECTED)
_CHUNK: Final = 250  # entries between two pauses
_LONGEST: Final = 120  # characters of a failure's words that identify it
_TASK_WORDS: Final = word_set("task issue job todo ticket approval")


class Repeated(msgspec.Struct, frozen=True):
    """One failure of one agent that repeats, with less than an hour between two of its entries."""

    handle: str
    """Identifies the failure, whenever the log is read."""
    newest: Activity
    times: tuple[float, ...]
    """When it happened, the newest first, in seconds since 1970."""


class LogFindings(msgspec.Struct):
    """What one pass through the log found."""

    repeated: list[Repeated] = []
    at_work: dict[str, tuple[float, Task]] = {}
    """Tasks that were approved and have not ended, by their ids, with the time of the last entry
    about each. Empty where the log never reports that a task ended."""
    usual_run: float | None = None
    """Seconds from approval to end within which 95 % of tasks end; None if too few are known."""


def read_log(newest_first: Iterable[Activity]) -> Generator[None, None, LogFindings]:
    """Return what the log shows; pauses often.

    Entries before a gap say nothing about tasks: those that moved a task on may be missing.
    """
    failures: dict[str, list[tuple[float, Activity]]] = {}
    tasks = _TaskHistory()
    is_without_gap = True
    for number, entry in enumerate(newest_first):
        if number % _CHUNK == 0:
            yield
        if entry.id_derived and is_gap(entry):
            is_without_gap = False
            continue
        if entry.at is None:
            continue
        if entry.severity is Severity.CRITICAL:
            times = failures.setdefault(_failure_handle(entry), [])
            is_in_run = not times or times[-1][0] - entry.at.at <= HOUR
            if is_in_run:
                times.append((entry.at.at, entry))
        if is_without_gap and entry.task is not None and entry.task.id is not None:
            tasks.moved_at.setdefault(entry.task.id, entry.at.at)
            state = state_from_verb(entry.verb or "")
            if state is not None:
                tasks.take_older_state(entry.task.id, state, entry.at.at, entry)
    return LogFindings(
        repeated=_repeated_failures(failures), at_work=tasks.at_work(), usual_run=tasks.usual_run()
    )


def _repeated_failures(failures: dict[str, list[tuple[float, Activity]]]) -> list[Repeated]:
    """The failures that happened often within the last hour of their run."""
    found: list[Repeated] = []
    for handle, run in failures.items():
        times = tuple(at for at, _ in run)
        if len(times) >= OFTEN and times[0] - times[OFTEN - 1] <= HOUR:
            _, newest = run[0]
            found.append(Repeated(handle, newest, times))
    return found


class _TaskHistory:
    """What the log says about each task, gathered from the newest entry to the oldest."""

    def __init__(self) -> None:
        self.moved_at: dict[str, float] = {}
        """The time of the last entry about each task."""
        self._state: dict[str, TaskState] = {}  # the last state that the log reports
        self._at_work: dict[str, Task] = {}
        self._ended_at: dict[str, float] = {}  # of runs whose approval is not found yet
        self._runs: list[float] = []

    def take_older_state(self, task_id: str, state: TaskState, at: float, entry: Activity) -> None:
        """Take the state that an entry reports, which is older than all entries taken before."""
        last_state = self._state.setdefault(task_id, state)
        if last_state in AT_WORK and task_id not in self._at_work:
            self._at_work[task_id] = _task_of(entry, state)
        if state in ENDED:
            self._ended_at.setdefault(task_id, at)
        elif state is TaskState.APPROVED and task_id in self._ended_at:
            self._runs.append(self._ended_at.pop(task_id) - at)

    def at_work(self) -> dict[str, tuple[float, Task]]:
        """The tasks that have not ended, if the log reports ends at all."""
        reports_ends = any(state in ENDED for state in self._state.values())
        if not reports_ends:
            return {}
        return {each: (self.moved_at[each], task) for each, task in self._at_work.items()}

    def usual_run(self) -> float | None:
        """Seconds within which 95 % of the runs ended; None if there are too few."""
        if len(self._runs) < FEW_RUNS:
            return None
        return sorted(self._runs)[int(0.95 * len(self._runs))]


def _failure_handle(entry: Activity) -> str:
    """Identifies a failure: by who failed, at what, and the first and last two words of the text.

    The words between may name other things each time.
    """
    who = entry.agent or entry.actor or Ref()
    words = without_particulars(entry.text or "").split()
    text = " ".join((*words[:1], *words[1:][-2:]))
    return f"{who.id or who.name}:{entry.verb}:{entry.target_type}:{text[:_LONGEST]}"


@memoized(1024)
def state_from_verb(verb: str) -> TaskState | None:
    """The state that a task has according to a verb of the log; None if the verb says none.

    >>> state_from_verb("task.approved"), state_from_verb("tool.failed")
    (<TaskState.APPROVED: 'approved'>, None)
    """
    words = phrase(verb).split()
    while words and words[0] in _TASK_WORDS:
        del words[0]
    if not words:
        return None
    state = task_state("_".join(words))
    if state is TaskState.FAILED and not words[0].startswith("fail"):
        return None  # "error" and the like are also said of steps that are retried
    if state in (*ENDED, TaskState.APPROVED, TaskState.RUNNING):
        return state
    return None


def _task_of(entry: Activity, state: TaskState) -> Task:
    """A task with what an entry of the log says about it."""
    ref = entry.task or Ref()
    return Task(
        id=ref.id or "",
        title=ref.name or entry.text or mark_safe("a task"),
        state=state,
        agent=entry.agent,
        company=entry.company,
    )
