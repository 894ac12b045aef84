"""Decides the state of a task, and whether it waits for an approval, from several of its fields.

A task is one of an AI agent on a platform, a remote service. `kinds.task` calls this module for
tasks that have more than a plain status. A *slot* is our name of a field; `Row.values` has the
values of one task by slot. `TaskState` is what a status word means.

1. `state_of_work` reads the fields that describe the work: status, state, category, result,
   progress.
2. `decide` looks up what the work and the fields of the approval say together in `_RULES`.
"""

from __future__ import annotations

from collections.abc import Container
from decimal import Decimal
from enum import Enum
from typing import Final, NamedTuple

from agentco_tui.model import TaskState
from agentco_tui.reading.schema import Row
from agentco_tui.reading.values.status_word import task_state
from agentco_tui.text.memoized import memoized

# `TaskState.OTHER` means that the status word is not known.
_ENDED: Final = frozenset(
    (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.REJECTED, TaskState.APPROVED)
)
_LIVE: Final = frozenset((TaskState.PENDING, TaskState.QUEUED, TaskState.RUNNING))

DECIDING_SLOTS: Final = frozenset(
    ("approval", "waits", "is_pending", "requires", "approved", "done", "result", "category",
     "second", "progress")
)  # fmt: skip
"""Slots beside the status that have a say; a task without any of them has the state of its status.
"""


# -- the work --------------------------------------------------------------------------------------


def state_of_work(row: Row, status: TaskState | None) -> TaskState | None:
    """The state of the work; `status` is what the status word says, None without one."""
    values = row.values
    state = status
    if state is TaskState.OTHER and "category" in values:
        state = task_state(values["category"])
    if state is TaskState.DONE and _has_second_status(row):
        # TeamCity: `status` is SUCCESS (so far), `state` is running.
        second = task_state(values["second"])
        if second in _LIVE:
            state = second
    if state is TaskState.DONE and "result" in values:
        # GitHub: `status` is completed, `conclusion` is failure.
        result = task_state(values["result"])
        if result in _ENDED:
            state = result
    if state is None and "progress" in values:
        state = _state_of_progress(values["progress"])
    return state


def _has_second_status(row: Row) -> bool:
    """Whether there is a `state` beside the field that the status was read from."""
    values = row.values
    return "second" in values and "status" in values and row.source("status").name != "state"


def _state_of_progress(percent: Decimal) -> TaskState:
    """The state of a task of which only the percentage of work done is known."""
    if percent <= 0:
        return TaskState.QUEUED
    if percent < 100:
        return TaskState.RUNNING
    return TaskState.DONE


# -- the approval ----------------------------------------------------------------------------------


class Evidence(NamedTuple):
    """What the fields of a task say; None where there is no such field."""

    work: TaskState | None
    approval: TaskState | None = None
    """What the status word of the approval says."""
    waits: bool | None = None
    """A flag: it waits for a decision."""
    is_pending: bool | None = None
    """A flag named "pending", which may mean the work or the approval."""
    requires: bool | None = None
    """A flag: tasks like this need an approval; not that this one waits for it."""
    approved: bool | None = None
    """A flag: it was approved."""
    done: bool | None = None
    """A flag: the work is done."""


class TaskVerdict(NamedTuple):
    """What the fields of a task mean together."""

    state: TaskState | None
    needs_approval: bool | None
    """Whether it waits for an approval; None if not known."""


class _Word(Enum):
    """What the status word of an approval means."""

    WAITING = "waiting"
    REFUSED = "refused"
    GRANTED = "granted"
    OTHER = "other"
    MISSING = "missing"


_WORDS: Final = {
    None: _Word.MISSING,
    TaskState.PENDING: _Word.WAITING,
    TaskState.REJECTED: _Word.REFUSED,
    TaskState.CANCELLED: _Word.REFUSED,
    TaskState.APPROVED: _Word.GRANTED,
    TaskState.DONE: _Word.GRANTED,
}
"""By what the word says as a state; any other state is OTHER."""


class _Keep(Enum):
    """Outcomes of a rule that are copied from the evidence."""

    WORK = "the state of the work"
    WORD = "the state that the approval's word says"
    FLAG = "the flags `waits` and `is_pending`"


class _Rule(NamedTuple):
    """Conditions (all must hold), and the outcome."""

    words: Container[_Word]
    approved: Container[bool]
    done: Container[bool]
    works: Container[TaskState | None]
    state: TaskState | _Keep
    needs_approval: bool | _Keep


_ANY_WORD: Final = frozenset(_Word)
_ANY: Final = (True, False)
_YES: Final = (True,)
_NO: Final = (False,)
_ANY_WORK: Final = frozenset((None, *TaskState))
_NO_WORK: Final = frozenset((None,))
_PENDING: Final = frozenset((TaskState.PENDING,))
_UNDECIDED: Final = frozenset((None, TaskState.PENDING))
_OPEN: Final = frozenset((None, TaskState.PENDING, TaskState.QUEUED, TaskState.OTHER))

# One letter for each status word of an approval, so that a rule fits in a line.
_W, _R, _G, _O, _M = ((word,) for word in _Word)

_RULES: Final = (
    #     word       approved done  work        state                needs approval
    _Rule(_W,        _YES,    _NO,  _ANY_WORK,  TaskState.APPROVED,  False),
    _Rule(_W,        _YES,    _YES, _PENDING,   TaskState.APPROVED,  False),
    _Rule(_W,        _ANY,    _YES, _NO_WORK,   TaskState.DONE,      False),
    _Rule(_W,        _ANY,    _YES, _ANY_WORK,  _Keep.WORK,          False),  # Asana: completed
    _Rule(_W,        _NO,     _NO,  _ANY_WORK,  TaskState.PENDING,   True),
    _Rule(_R,        _ANY,    _ANY, _OPEN,      _Keep.WORD,          False),
    _Rule(_R,        _ANY,    _ANY, _ANY_WORK,  _Keep.WORK,          False),
    _Rule(_G,        _ANY,    _ANY, _UNDECIDED, TaskState.APPROVED,  False),
    _Rule(_G,        _ANY,    _ANY, _ANY_WORK,  _Keep.WORK,          False),
    _Rule(_O,        _YES,    _ANY, _NO_WORK,   _Keep.WORD,          False),
    _Rule(_O,        _NO,     _ANY, _NO_WORK,   _Keep.WORD,          _Keep.FLAG),
    _Rule(_ANY_WORD, _YES,    _ANY, _UNDECIDED, TaskState.APPROVED,  False),
    _Rule(_ANY_WORD, _YES,    _ANY, _ANY_WORK,  _Keep.WORK,          False),
    _Rule(_M,        _NO,     _YES, _NO_WORK,   TaskState.DONE,      _Keep.FLAG),
    _Rule(_ANY_WORD, _ANY,    _ANY, _ANY_WORK,  _Keep.WORK,          _Keep.FLAG),
)  # fmt: skip
"""The first rule whose conditions hold decides."""

_WAITING_STATES: Final = frozenset((None, TaskState.QUEUED, TaskState.OTHER))
"""States of work that are PENDING if an approval is needed."""


@memoized(1024)
def decide(evidence: Evidence) -> TaskVerdict:
    """The state of a task and whether it needs an approval (None: not known)."""
    word = _WORDS.get(evidence.approval, _Word.OTHER)
    approved = evidence.approved is True
    done = evidence.done is True
    rule = next(
        rule
        for rule in _RULES
        if word in rule.words
        and approved in rule.approved
        and done in rule.done
        and evidence.work in rule.works
    )
    state = _state(rule, evidence)
    needs_approval = _needs_approval(rule, evidence)
    if needs_approval is None:
        needs_approval = _by_requirement(evidence.requires, state)
    if needs_approval and state in _WAITING_STATES:
        state = TaskState.PENDING
    return TaskVerdict(state, needs_approval)


def _state(rule: _Rule, evidence: Evidence) -> TaskState | None:
    if rule.state is _Keep.WORD:
        return evidence.approval
    if isinstance(rule.state, TaskState):
        return rule.state
    return evidence.work


def _needs_approval(rule: _Rule, evidence: Evidence) -> bool | None:
    if isinstance(rule.needs_approval, bool):
        return rule.needs_approval
    if evidence.waits is not None:
        return evidence.waits
    if evidence.is_pending is True and evidence.work is None:
        return True
    return None


def _by_requirement(requires: bool | None, state: TaskState | None) -> bool | None:
    """Whether a task waits for an approval, if only `requires` and its state say so.

    That tasks like it need an approval does not say that this one still waits for it.
    """
    if requires is None:
        return None
    if not requires or state in _ENDED:
        return False
    if state is TaskState.PENDING:
        return True
    return None
