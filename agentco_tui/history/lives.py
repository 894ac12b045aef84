"""Merges a new report of a task with what is stored of it, for `history.database`.

The tasks are those of AI agents on the platform, the remote service. The life of a task is when it
was first seen, began to wait for approval, was decided and ended. It is reported by the queue (the
list of tasks that wait), by the list of all tasks and by the activity log; each knows a part of it,
and they come in any order. A task "departs" when it leaves the queue; it is "looked up" when its
record was read afterwards, to learn who decided it. `TaskLife` says what the fields of a `LifeRow`
mean; `state_at` is when the task was seen in its state.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from agentco_tui.history.rows import LifeRow
from agentco_tui.model import TaskState

CLOCK_TOLERANCE: Final = 5.0
"""Seconds by which the times in the log may be behind the times at which a task was polled."""
_WAITING: Final = (TaskState.PENDING, TaskState.QUEUED)
_DECIDED: Final = (TaskState.APPROVED, TaskState.REJECTED)


def merged_life(stored: LifeRow, report: LifeRow) -> LifeRow:
    """The stored life of a task together with a new report; `stored` itself if nothing is new."""
    if not _is_news(stored, report):
        return stored
    waits = stored.waits
    departed = _first_of(stored.departed, report.departed)
    departed_after = _first_of(stored.departed_after, report.departed_after)
    looked_up = stored.looked_up
    has_returned = _has_returned(stored, report)
    if has_returned:
        departed = None
        departed_after = None
        looked_up = None
    if report.waits and (stored.departed is None or has_returned):
        waits = 1
    return LifeRow(
        id=stored.id,
        title=report.title or stored.title,
        agent=_either(report.agent, stored.agent),
        company=_either(report.company, stored.company),
        first_seen=min(stored.first_seen, report.first_seen),
        waiting_since=_first_of(stored.waiting_since, report.waiting_since),
        decided=_first_of(stored.decided, report.decided, _decision_time(stored, report)),
        decided_by=_either(report.decided_by, stored.decided_by),
        ended=_first_of(stored.ended, report.ended, _end_time(stored, report)),
        state=_merged_state(stored, report),
        estimate=_either(report.estimate, stored.estimate),
        cost=_either(report.cost, stored.cost),
        currency=_either(report.currency, stored.currency),
        state_at=max(stored.state_at, report.state_at),
        changed=max(stored.changed, report.changed),
        waits=waits,
        departed=departed,
        departed_after=departed_after,
        looked_up=looked_up,
    )


def departed_life(stored: LifeRow, at: float, after: float | None) -> LifeRow:
    """The life of a task that has left the queue; `stored` itself if the task did not wait.

    It was missing in the queue at the time `at`, and last seen there at the time `after`.
    """
    if not stored.waits:
        return stored
    changed = max(stored.changed, at)
    return replace(stored, waits=0, departed=at, departed_after=after, changed=changed)


def _is_news(stored: LifeRow, report: LifeRow) -> bool:
    """Whether the report has something worth writing; that the task was seen again is not."""
    news = (
        report.title != stored.title,
        report.state != stored.state,
        report.estimate != stored.estimate,
        report.cost != stored.cost,
        report.decided != stored.decided,
        report.ended != stored.ended,
        bool(report.waits) and stored.waits != report.waits,
        report.decided_by is not None and stored.decided_by is None,
        report.departed is not None and stored.departed is None,
    )
    return any(news)


def _has_returned(stored: LifeRow, report: LifeRow) -> bool:
    """Whether the task waits again, after it had left the queue."""
    return bool(report.waits) and stored.departed is not None and stored.departed < report.state_at


def _merged_state(stored: LifeRow, report: LifeRow) -> str | None:
    """The later of both states."""
    tolerance = CLOCK_TOLERANCE if stored.state in _WAITING else 0.0
    is_later = report.state_at >= stored.state_at - tolerance
    if not is_later:
        return stored.state
    return _either(report.state, stored.state)


def _decision_time(stored: LifeRow, report: LifeRow) -> float | None:
    """When a task was decided that is now reported as decided; None if it is not."""
    if report.state == stored.state or report.state not in _DECIDED:
        return None
    return _first_of(stored.departed, report.first_seen)


def _end_time(stored: LifeRow, report: LifeRow) -> float | None:
    """When a task ended that is now reported as ended; None if it is not."""
    if report.state == stored.state:
        return None
    if report.state in (TaskState.CANCELLED, TaskState.REJECTED):
        return _first_of(stored.departed, report.first_seen)
    if report.state in (TaskState.DONE, TaskState.FAILED):
        return report.first_seen
    return None


def _either(preferred: str | None, other: str | None) -> str | None:
    return other if preferred is None else preferred


def _first_of(*moments: float | None) -> float | None:
    return next((at for at in moments if at is not None), None)
