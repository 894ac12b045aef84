"""What the log shows to go wrong without anybody's doing: one failure over and over, and work that
was said yes to and stands still.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Final

import msgspec

from agentco_tui.history.period import HOUR
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.sentences import without_particulars
from agentco_tui.model import Activity, Ref, Severity, Task, TaskState
from agentco_tui.reading.field_names import phrase, word_set
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.text import plain
from agentco_tui.text.memoized import memoized

OFTEN: Final = 3  # failures within an hour, from which on they are one that repeats
FEW_RUNS: Final = 5  # tasks seen from the yes to the end, below which nothing is usual
AT_WORK: Final = (TaskState.APPROVED, TaskState.QUEUED, TaskState.RUNNING)
ENDED: Final = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.REJECTED)
_CHUNK: Final = 250  # entries between two pauses
_LONGEST: Final = 120  # characters of the words of a failure by which it is known
_TASK_WORDS: Final = word_set("task issue job todo ticket approval")


class Repeated(msgspec.Struct, frozen=True):
    """The same failure of one agent again and again, no hour of it without one."""

    handle: str
    """The same for the same failure, whenever the log is read."""
    newest: Activity
    times: tuple[float, ...]
    """When, the newest first."""


class LogFindings(msgspec.Struct):
    repeated: list[Repeated] = []
    at_work: dict[str, tuple[float, Task]] = {}
    """Tasks that were said yes to and didn't end, by their id, with when the log spoke of each
    last; none of a log that tells of no end."""
    usual_run: float | None = None
    """Seconds from the yes to the end (95 %); None if too few were seen."""


def read_log(newest_first: Iterable[Activity]) -> Generator[None, None, LogFindings]:
    """Look through the log; pauses often. What lies before a gap says nothing of tasks, for what
    moved them on may be missing.
    """
    failures = dict[str, list[tuple[float, Activity]]]()
    moved, states, at_work = dict[str, float](), dict[str, TaskState](), dict[str, Task]()
    ended, runs, is_whole = dict[str, float](), list[float](), True
    for number, entry in enumerate(newest_first):
        if number % _CHUNK == 0:
            yield
        is_whole &= not is_gap(entry)
        if entry.at is None or is_gap(entry):
            continue
        at = entry.at.at
        if entry.severity is Severity.CRITICAL:
            same = failures.setdefault(_handle(entry), [])
            if not same or same[-1][0] - at <= HOUR:
                same.append((at, entry))
        if is_whole and entry.task is not None and entry.task.id is not None:
            task_id, state = entry.task.id, told_state(entry.verb or "")
            moved.setdefault(task_id, at)
            if state is not None and states.setdefault(task_id, state) in AT_WORK:
                at_work.setdefault(task_id, _task_of(entry, state))
            if state in ENDED:
                ended.setdefault(task_id, at)
            elif state is TaskState.APPROVED and task_id in ended:
                runs.append(ended.pop(task_id) - at)
    found = LogFindings()
    if len(runs) >= FEW_RUNS:
        found.usual_run = sorted(runs)[int(0.95 * len(runs))]
    if any(state in ENDED for state in states.values()):
        found.at_work = {task_id: (moved[task_id], task) for task_id, task in at_work.items()}
    for handle, same in failures.items():
        times = tuple(at for at, _ in same)
        if len(times) >= OFTEN and times[0] - times[OFTEN - 1] <= HOUR:
            found.repeated.append(Repeated(handle, same[0][1], times))
    return found


def _handle(entry: Activity) -> str:
    """Whose failure it is, at what, and in which words: in the first and the last two, for those
    between may name other things each time.
    """
    who, words = entry.agent or entry.actor or Ref(), without_particulars(entry.text or "").split()
    text = " ".join((*words[:1], *words[1:][-2:]))
    return f"{who.id or who.name}:{entry.verb}:{entry.target_type}:{text[:_LONGEST]}"


@memoized(1024)
def told_state(verb: str) -> TaskState | None:
    """The state that a verb of the log says a task has come to; None if it says none.

    >>> told_state("task.approved"), told_state("task_failed"), told_state("tool.failed")
    (<TaskState.APPROVED: 'approved'>, <TaskState.FAILED: 'failed'>, None)
    """
    words = phrase(verb).split()
    while words and words[0] in _TASK_WORDS:
        del words[0]
    state = task_state("_".join(words)) if words else TaskState.OTHER
    if state is TaskState.FAILED and not words[0].startswith("fail"):
        return None  # "error" and the like are said of what is tried again, too
    return state if state in (*ENDED, TaskState.APPROVED, TaskState.RUNNING) else None


def _task_of(entry: Activity, state: TaskState) -> Task:
    """A task as far as the log knows it."""
    ref = entry.task or Ref()
    return Task(
        id=ref.id or "",
        title=ref.name or entry.text or plain("a task"),
        state=state,
        agent=entry.agent,
        company=entry.company,
    )
