"""Who decided a task that no longer waits, and when: from its record and the log.

An agent can write any text into the log, so only an entry's verb, outcome and actor count, never
its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentco_tui import format as form
from agentco_tui.model.records import Activity, Task, TaskState
from agentco_tui.text import SafeText, plain

_DECISIONS = {
    **dict.fromkeys(("approve", "approved", "accept", "accepted", "allow", "allowed"), "approved"),
    **dict.fromkeys(("reject", "rejected", "decline", "declined", "deny", "denied"), "rejected"),
    **dict.fromkeys(("cancel", "canceled", "cancelled"), "cancelled"),
    **dict.fromkeys(("expire", "expired"), "expired"),
}
_NOT_YET = frozenset(
    {"request", "requested", "requires", "required", "need", "needs", "needed", "awaiting"}
    | {"pending", "waiting", "not", "failed", "un"}
)
_BY_STATE = {
    TaskState.APPROVED: "approved",
    TaskState.REJECTED: "rejected",
    TaskState.CANCELLED: "cancelled",
}

CLOCK_SLACK = 5.0
"""Seconds by which our idea of the platform's time may be wrong."""


def says_it_waits(record: Task) -> bool:
    """Whether a record says of itself that it waits for a person, wherever it is listed."""
    return record.needs_approval or (
        record.needs_approval is None and record.state is TaskState.PENDING
    )


def decision(entry: Activity) -> str | None:
    """The decision that an entry tells of: approved, rejected, cancelled, expired, or None."""
    for told in (entry.verb, entry.outcome):
        words = re.findall("[a-z]+", (told or "").casefold())
        if _NOT_YET.isdisjoint(words):
            for word in words:
                if word in _DECISIONS:
                    return _DECISIONS[word]
    return None


def decision_about(
    task_id: str, entries: Iterable[Activity], waited_at: float | None = None
) -> Activity | None:
    """The newest entry that tells of a decision about the task.

    `waited_at` is when the task was last read to wait, by the platform's clock: what was decided
    before that, or at a time that is not told, has not ended this wait. None if that is not known.
    """
    found: Activity | None = None
    for entry in entries:
        if entry.task is None or entry.task.id != task_id or decision(entry) is None:
            continue
        if waited_at is not None and (entry.at is None or entry.at.at < waited_at - CLOCK_SLACK):
            continue
        if found is None or (entry.at and (found.at is None or entry.at.at >= found.at.at)):
            found = entry
    return found


def decided_as(record: Task | None, entry: Activity | None) -> str | None:
    """What a task's record, else an entry of the log, says was decided: as `decision`."""
    word = None if record is None or record.state is None else _BY_STATE.get(record.state)
    return decision(entry) if word is None and entry is not None else word


def elsewhere(record: Task | None, entry: Activity | None, now: float) -> SafeText:
    """Such as: already approved elsewhere by Wanda, 4 s ago. `now` is the platform's time.

    Without a word from the platform on the decision, only what is seen is said.
    """
    word = decided_as(record, entry)
    if word is not None:
        return plain(f"already {word} elsewhere{by_whom(record, entry, word, now)}")
    if record is None or record.status is None:
        return plain("it left the list of pending tasks")
    if says_it_waits(record):
        return plain(
            "it left the list of pending tasks, though the list of all tasks shows it as "
            f"“{record.status}”"
        )
    return plain(f"it is no longer pending: the platform shows it as “{record.status}”")


def shown_as(record: Task) -> SafeText:
    """How the platform shows a task that no longer waits, for the end of a sentence."""
    by = f", decided by {record.decided_by}" if record.decided_by else ""
    return plain(f"the platform shows it as “{record.status or 'decided'}”{by}")


def by_whom(record: Task | None, entry: Activity | None, word: str, now: float) -> str:
    """Such as: " by Wanda, 4 s ago", as far as the platform tells."""
    who = None if record is None else record.decided_by
    at = None if record is None else record.decided
    if entry is not None and decision(entry) == word:
        at = at or entry.at
        who = who or (None if entry.actor is None else entry.actor.name)
    return (f" by {who}" if who else "") + ("" if at is None else f", {form.ago(now - at.at)}")
