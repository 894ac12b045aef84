"""The tasks that most need a person, out of many, found a slice at a time (law 5).

The same order as `insight.needs`, but only the first are made into needs: of a hundred thousand
tasks that wait too long nobody reads more than a few hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from agentco_tui.live.insight import Level, Limits, priority_rank, task_levels, waits_for_person
from agentco_tui.model.records import Task

T = TypeVar("T")

_CHUNK = 250
"""Records between two pauses."""


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
    last: tuple[float, ...] | None = None
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
            place = (-level, *first, since)
            if last is None or place <= last:
                kept.append((place, task.id, task))
        if len(kept) > 2 * most:
            kept.sort()
            del kept[most:]
            # What comes after the last of these can't be among the first.
            last = kept[-1][0]
        yield
    kept.sort()
    return Worst(tuple(task for *_, task in kept[:most]), critical, warning)


def picked(records: Iterable[T], wanted: Callable[[T], bool]) -> Generator[None, None, list[T]]:
    """Those that are wanted, in their order; pauses often."""
    rest = iter(records)
    found: list[T] = []
    while chunk := list(islice(rest, _CHUNK)):
        found += filter(wanted, chunk)
        yield
    return found
