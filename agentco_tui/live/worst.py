"""The tasks that most need a person, out of many, found a slice at a time (law 5).

The same order as `insight.needs`, but only the first are made into needs: of a hundred thousand
tasks that wait too long nobody reads more than a few hundred.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice

from agentco_tui.api.records import Task
from agentco_tui.live.insight import Level, Limits, priority_rank, task_levels, waits_for_person

_CHUNK = 500
"""Tasks between two pauses."""


@dataclass(frozen=True, slots=True)
class Worst:
    """What was found."""

    tasks: tuple[Task, ...]
    """The worst, in no order."""
    critical: int = 0
    warning: int = 0


def worst_tasks(
    pending: Iterable[Task], now: float, limits: Limits, most: int
) -> Generator[None, None, Worst]:
    """The `most` tasks that come first, and how many there are of each level; pauses often."""
    rest = iter(pending)
    kept: list[tuple[tuple[float, ...], str, Task]] = []
    critical = warning = 0
    ranks: dict[str | None, float] = {}
    level_of = task_levels(now, limits)
    while chunk := list(islice(rest, _CHUNK)):
        for task in chunk:
            level = level_of(task)
            if level < Level.WARNING or not waits_for_person(task):
                continue
            if level is Level.CRITICAL:
                critical += 1
            else:
                warning += 1
            rank = ranks.get(task.priority)
            if rank is None:
                rank = ranks[task.priority] = priority_rank(task.priority)
            at = task.waiting_since or task.created
            since = now if at is None else at.at
            first = (1.0, rank) if rank <= 1 else (3.0, 2.0)
            kept.append(((-level, *first, since), task.id, task))
        if len(kept) > 2 * most:
            kept = nsmallest(most, kept)
        yield
    return Worst(tuple(task for *_, task in nsmallest(most, kept)), critical, warning)
