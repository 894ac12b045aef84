"""Finds out who decided a task that no longer waits, and how.

Tasks wait for approval on the platform, the remote service; this program or anyone else decides.
The decision is known from the task's record and from the verbs, outcomes and actors of the
platform's log; never from texts in the log, because AI agents write those. A `status` is the
platform's word, the `state` what it means to this program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agentco_tui.actions.outcome import Reason, Resolution, TaskDecision
from agentco_tui.model import Activity, Task, TaskState

CLOCK_SLACK: Final = 5.0  # seconds by which our estimate of the platform's time may be wrong

_DECISION_WORDS: Final = {
    "approve": TaskDecision.APPROVED,
    "approved": TaskDecision.APPROVED,
    "accept": TaskDecision.APPROVED,
    "accepted": TaskDecision.APPROVED,
    "allow": TaskDecision.APPROVED,
    "allowed": TaskDecision.APPROVED,
    "reject": TaskDecision.REJECTED,
    "rejected": TaskDecision.REJECTED,
    "decline": TaskDecision.REJECTED,
    "declined": TaskDecision.REJECTED,
    "deny": TaskDecision.REJECTED,
    "denied": TaskDecision.REJECTED,
    "cancel": TaskDecision.CANCELLED,
    "canceled": TaskDecision.CANCELLED,
    "cancelled": TaskDecision.CANCELLED,
    "expire": TaskDecision.EXPIRED,
    "expired": TaskDecision.EXPIRED,
}
_NOT_DECIDED_WORDS: Final = frozenset(
    {"request", "requested", "requires", "required", "need", "needs", "needed", "awaiting"}
    | {"pending", "waiting", "not", "failed", "un"}
)
"""A verb with one of these words tells of no decision: "approval requested", "not approved"."""
_DECISION_BY_STATE: Final = {
    TaskState.APPROVED: TaskDecision.APPROVED,
    TaskState.REJECTED: TaskDecision.REJECTED,
    TaskState.CANCELLED: TaskDecision.CANCELLED,
}


def says_it_waits(record: Task) -> bool:
    """Whether a record itself says that it waits for a decision.

    It may come from the list of all tasks, which may disagree with the list of pending ones.
    """
    if record.needs_approval is None:
        return record.state is TaskState.PENDING
    return record.needs_approval


def logged_decision(entry: Activity) -> TaskDecision | None:
    """Return the decision that an entry of the log tells of; None if it tells of none."""
    for text in (entry.verb, entry.outcome):
        words = re.findall("[a-z]+", (text or "").casefold())
        if not _NOT_DECIDED_WORDS.isdisjoint(words):
            continue
        for word in words:
            if word in _DECISION_WORDS:
                return _DECISION_WORDS[word]
    return None


def decision_about(
    task_id: str, entries: Iterable[Activity], waited_at: float | None = None
) -> Activity | None:
    """Return the newest entry that tells of a decision about the task; None if there is none.

    `waited_at` is when the task was last read to wait, by the platform's clock, None if unknown.
    Entries before that, or without a time, then don't count: they did not end this wait.
    """
    newest: Activity | None = None
    for entry in entries:
        if entry.task is None or entry.task.id != task_id or logged_decision(entry) is None:
            continue
        # at: a Moment; its `at` is in seconds since 1970.
        if waited_at is not None and (entry.at is None or entry.at.at < waited_at - CLOCK_SLACK):
            continue
        if newest is None or _is_as_new(entry, newest):
            newest = entry
    return newest


def _is_as_new(entry: Activity, other: Activity) -> bool:
    if entry.at is None:
        return False
    return other.at is None or entry.at.at >= other.at.at


def resolution_of(record: Task | None, entry: Activity | None) -> Resolution | None:
    """Return what was decided by the task's record, else by an entry of the log; None if neither
    tells. The entry adds who and when only if it tells of the same decision.
    """
    decision: TaskDecision | None = None
    decided_by = None
    decided_at = None
    if record is not None:
        decided_by = record.decided_by
        decided_at = record.decided
        if record.state is not None:
            decision = _DECISION_BY_STATE.get(record.state)
    if entry is not None:
        decision = decision or logged_decision(entry)
        if decision is not None and logged_decision(entry) is decision:
            decided_at = decided_at or entry.at
            decided_by = decided_by or (entry.actor.name if entry.actor is not None else None)
    if decision is None:
        return None
    return Resolution(decision=decision, decided_by=decided_by, decided_at=decided_at)


def why_it_left(record: Task | None, resolution: Resolution | None) -> Reason:
    """Return why a task is not in the list of pending tasks, where someone else is the cause.

    Without the platform's word about a decision, no more is claimed than what was seen.
    """
    if resolution is not None:
        return Reason.DECIDED
    # status: as sent; state: what it means.
    if record is None or record.status is None:
        return Reason.LEFT_LIST
    if says_it_waits(record):
        return Reason.LISTS_DISAGREE
    return Reason.OTHER_STATUS
