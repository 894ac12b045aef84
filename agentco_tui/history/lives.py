"""How what is told of a task is merged with what is stored of it already.

The same task is seen in the queue, in the list of all tasks, and in the log; each tells a part, and
in any order.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from agentco_tui.history.rows import LifeRow
from agentco_tui.model import TaskState

CLOCK_TOLERANCE: Final = 5.0
"""Seconds by which the platform's clock, in the log, may be behind ours, by which a task was seen
to wait."""
_WAITING: Final = (TaskState.PENDING, TaskState.QUEUED)
_DECIDED: Final = (TaskState.APPROVED, TaskState.REJECTED)


def merged_life(stored: LifeRow, told: LifeRow) -> LifeRow:
    """Returns what is known of a task after it was told of once more; `stored` if it is nothing
    new.
    """
    if not _is_news(stored, told):
        return stored
    has_returned = _has_returned(stored, told)
    waits_now = bool(told.waits) and (stored.departed is None or has_returned)
    return LifeRow(
        id=stored.id,
        title=told.title or stored.title,
        agent=_either(told.agent, stored.agent),
        company=_either(told.company, stored.company),
        first_seen=min(stored.first_seen, told.first_seen),
        waiting_since=_first_of(stored.waiting_since, told.waiting_since),
        decided=_first_of(stored.decided, told.decided, _decision_time(stored, told)),
        decided_by=_either(told.decided_by, stored.decided_by),
        ended=_first_of(stored.ended, told.ended, _end_time(stored, told)),
        state=_merged_state(stored, told),
        estimate=_either(told.estimate, stored.estimate),
        cost=_either(told.cost, stored.cost),
        currency=_either(told.currency, stored.currency),
        state_at=max(stored.state_at, told.state_at),
        changed=max(stored.changed, told.changed),
        waits=1 if waits_now else stored.waits,
        departed=None if has_returned else _first_of(stored.departed, told.departed),
        departed_after=(
            None if has_returned else _first_of(stored.departed_after, told.departed_after)
        ),
        looked_up=None if has_returned else stored.looked_up,
    )


def departed_life(stored: LifeRow, at: float, after: float | None) -> LifeRow:
    """Returns the life of a task that was missing in the queue at a time, and last seen there
    `after`; `stored` if it did not wait.
    """
    if not stored.waits:
        return stored
    changed = max(stored.changed, at)
    return replace(stored, waits=0, departed=at, departed_after=after, changed=changed)


def _is_news(stored: LifeRow, told: LifeRow) -> bool:
    """Whether something worth writing is told; that a task was seen once more is not."""
    news = (
        told.title != stored.title,
        told.state != stored.state,
        told.estimate != stored.estimate,
        told.cost != stored.cost,
        told.decided != stored.decided,
        told.ended != stored.ended,
        bool(told.waits) and stored.waits != told.waits,
        told.decided_by is not None and stored.decided_by is None,
        told.departed is not None and stored.departed is None,
    )
    return any(news)


def _has_returned(stored: LifeRow, told: LifeRow) -> bool:
    """Whether the task waits again, after it had left the queue."""
    return bool(told.waits) and stored.departed is not None and stored.departed < told.state_at


def _merged_state(stored: LifeRow, told: LifeRow) -> str | None:
    """The later of both states."""
    tolerance = CLOCK_TOLERANCE if stored.state in _WAITING else 0.0
    is_later = told.state_at >= stored.state_at - tolerance
    return _either(told.state, stored.state) if is_later else stored.state


def _decision_time(stored: LifeRow, told: LifeRow) -> float | None:
    """When a task was decided that is now seen to be; None if it is not."""
    if told.state == stored.state or told.state not in _DECIDED:
        return None
    return _first_of(stored.departed, told.first_seen)


def _end_time(stored: LifeRow, told: LifeRow) -> float | None:
    """When a task ended that is now seen to have ended; None if it has not."""
    if told.state == stored.state:
        return None
    if told.state in (TaskState.CANCELLED, TaskState.REJECTED):
        return _first_of(stored.departed, told.first_seen)
    if told.state in (TaskState.DONE, TaskState.FAILED):
        return told.first_seen
    return None


def _either(preferred: str | None, other: str | None) -> str | None:
    return other if preferred is None else preferred


def _first_of(*moments: float | None) -> float | None:
    return next((at for at in moments if at is not None), None)
