"""What the log shows to go wrong without anybody's doing: one failure over and over, and work that
was said yes to and stands still.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import msgspec

from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.sentences import without_particulars
from agentco_tui.model import Activity, Ref, Severity, Task, TaskState
from agentco_tui.reading.field_names import phrase, word_set
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.text import plain

OFTEN: Final = 3  # failures within an hour, from which on they are one that repeats
HOUR: Final = 3_600.0
ALIKE: Final = 0.6  # share of their words that two failures have in common to be the same
MOST_KINDS: Final = 20  # kinds of failures that are told apart of one agent and verb
FEW_RUNS: Final = 5  # tasks seen from the yes to the end, below which nothing is usual
_CHUNK: Final = 250  # entries between two pauses
_ENDED: Final = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.REJECTED)
_AT_WORK: Final = (TaskState.APPROVED, TaskState.QUEUED, TaskState.RUNNING)
_ABOUT_TASKS: Final = word_set("task tasks issue job todo approval run execution")


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
    failures = dict[tuple[str, str], list[tuple[frozenset[str], list[Activity]]]]()
    moved, states = dict[str, float](), dict[str, TaskState]()
    ended, runs, found, is_whole = dict[str, float](), list[float](), LogFindings(at_work={}), True
    for number, entry in enumerate(newest_first):
        if number % _CHUNK == 0:
            yield
        if entry.at is None or is_gap(entry):
            is_whole &= not is_gap(entry)
            continue
        at = entry.at.at
        if entry.severity is Severity.CRITICAL:
            same = _alike(entry, failures.setdefault(_who_and_verb(entry), []))
            if not same or (before := same[-1].at) is None or before.at - at <= HOUR:
                same.append(entry)
        task_id = None if entry.task is None else entry.task.id
        if task_id is None or not is_whole:
            continue
        moved.setdefault(task_id, at)
        state = _state_told(entry.verb or "")
        if state is None:
            continue
        first = states.setdefault(task_id, state)
        if state in _ENDED:
            ended.setdefault(task_id, at)
        elif first in _AT_WORK:
            found.at_work.setdefault(task_id, (moved[task_id], _task_of(entry, first)))
        elif state is TaskState.APPROVED and task_id in ended:
            runs.append(ended.pop(task_id) - at)
    if not any(state in _ENDED for state in states.values()):
        found.at_work = {}
    if len(runs) >= FEW_RUNS:
        found.usual_run = sorted(runs)[int(0.95 * len(runs))]
    repeated = dict[str, Repeated]()
    for who_and_verb, groups in failures.items():
        for _, same in groups:
            times = tuple(one.at.at for one in same if one.at)
            if any(b - a <= HOUR for b, a in zip(times, times[OFTEN - 1 :], strict=False)):
                each = Repeated(_handle(who_and_verb, same[0]), same[0], times)
                repeated[each.handle] = max(each, repeated.get(each.handle, each), key=_times)
    found.repeated = [*repeated.values()]
    return found


def _times(repeated: Repeated) -> int:
    return len(repeated.times)


def _who_and_verb(entry: Activity) -> tuple[str, str]:
    who = entry.agent or entry.actor or Ref()
    return who.id or who.name or "", f"{entry.verb}\n{entry.target_type}"


def _handle(who_and_verb: tuple[str, str], entry: Activity) -> str:
    """The same for the same failure: by its first word, for it may name other things each time."""
    who, verb = who_and_verb
    words = f"{verb}\n{without_particulars(entry.text or '').partition(' ')[0]}"
    return f"{who}:{blake2b(words.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


def _alike(entry: Activity, groups: list[tuple[frozenset[str], list[Activity]]]) -> list[Activity]:
    """The entries of one agent that are said in about the same words, but for figures and names."""
    words = frozenset(without_particulars(entry.text or "").split())
    for others, same in groups:
        if len(words & others) >= ALIKE * max(len(words), len(others)):
            return same
    if len(groups) < MOST_KINDS:
        groups.append((words, []))
    return groups[-1][1]


@lru_cache(maxsize=1024)
def _state_told(verb: str) -> TaskState | None:
    """What a verb says of its task's state; that of a step or tool says nothing of it."""
    words = phrase(verb).split()
    for word in words:
        state = task_state(word)
        if state in (*_AT_WORK, *_ENDED):
            return state if _ABOUT_TASKS.issuperset({*words} - {word}) else None
    return None


def _task_of(entry: Activity, state: TaskState) -> Task:
    """A task as far as the log knows it."""
    ref = entry.task or Ref()
    return Task(
        id=ref.id or "",
        title=ref.name or entry.text or plain("a task"),
        state=state,
        agent=entry.agent,
        company=entry.company,
        decided=entry.at if state is TaskState.APPROVED else None,
    )
