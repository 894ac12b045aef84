"""The decision table for the state of a task: what always holds, over all combinations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from agentco_tui.model import TaskState
from agentco_tui.reading.kinds.task_verdict import Evidence, TaskVerdict, decide

STATES = (None, *TaskState)
FLAGS = (None, True, False)
DECIDED = {TaskState.APPROVED, TaskState.DONE, TaskState.REJECTED, TaskState.CANCELLED}


def all_evidence() -> Iterator[Evidence]:
    for values in product(STATES, STATES, FLAGS, FLAGS, FLAGS, FLAGS, FLAGS):
        yield Evidence(*values)


def test_what_is_decided_never_waits_for_a_decision() -> None:
    for evidence in all_evidence():
        if evidence.approval in DECIDED or evidence.approved:
            assert decide.__wrapped__(evidence).needs_approval is False, evidence


def test_a_task_that_waits_is_pending_unless_its_work_has_a_state() -> None:
    for evidence in all_evidence():
        state, needs_approval = decide.__wrapped__(evidence)
        if needs_approval:
            assert state not in (None, TaskState.QUEUED, TaskState.OTHER), evidence


def test_a_requirement_alone_makes_no_task_wait() -> None:
    for work in STATES:
        verdict = decide(Evidence(work, requires=True))
        assert (verdict.needs_approval is True) == (work is TaskState.PENDING)


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (Evidence(None, approval=TaskState.PENDING), TaskVerdict(TaskState.PENDING, True)),
        (
            Evidence(TaskState.DONE, approval=TaskState.PENDING),
            TaskVerdict(TaskState.PENDING, True),
        ),
        (Evidence(None, approval=TaskState.PENDING, done=True), TaskVerdict(TaskState.DONE, False)),
        (Evidence(None, approved=True), TaskVerdict(TaskState.APPROVED, False)),
        (Evidence(TaskState.RUNNING, approved=True), TaskVerdict(TaskState.RUNNING, False)),
        (
            Evidence(TaskState.QUEUED, approval=TaskState.REJECTED),
            TaskVerdict(TaskState.REJECTED, False),
        ),
        (Evidence(TaskState.QUEUED, waits=True), TaskVerdict(TaskState.PENDING, True)),
        (Evidence(TaskState.RUNNING, waits=True), TaskVerdict(TaskState.RUNNING, True)),
        (Evidence(None, is_pending=True), TaskVerdict(TaskState.PENDING, True)),
        (Evidence(TaskState.RUNNING, is_pending=True), TaskVerdict(TaskState.RUNNING, None)),
        (Evidence(TaskState.DONE, requires=True), TaskVerdict(TaskState.DONE, False)),
        (Evidence(TaskState.PENDING, requires=False), TaskVerdict(TaskState.PENDING, False)),
    ],
)
def test_examples(evidence: Evidence, verdict: TaskVerdict) -> None:
    assert decide(evidence) == verdict
