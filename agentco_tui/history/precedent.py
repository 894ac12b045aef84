"""Precedents: how earlier tasks like a waiting one were decided, and what they cost.

Tasks are alike if they have the same agent, and titles that differ only in figures and names. What
the journal, the log and the history say about one task is merged before it is counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from statistics import median
from typing import Final

import msgspec
from msgspec.structs import asdict, replace

from agentco_tui.history.observations import TaskLife
from agentco_tui.history.reader import Reader
from agentco_tui.live.sentences import without_particulars
from agentco_tui.model import Money, Task, TaskState
from agentco_tui.system.background import turn_of_thread
from agentco_tui.text import SafeText

Alike = tuple[str | None, str]
"""The id or name of the agent and the title without particulars: equal for tasks that are alike."""

BACK: Final = 90 * 86_400.0  # the age in seconds of the oldest tasks that count
_CHUNK: Final = 250  # tasks between two pauses for the event loop
_ENDED: Final = (TaskState.DONE, TaskState.FAILED)
_SAID_YES: Final = (TaskState.APPROVED, TaskState.RUNNING, *_ENDED)


class Precedent(msgspec.Struct, frozen=True, kw_only=True):
    """How tasks that are alike were decided, and what they cost."""

    approved: int = 0
    here: int = 0  # how many of those were approved from this machine
    rejected: int = 0
    failed: int = 0  # how many of those approved failed
    unasked: int = 0  # ended without a sign of an approval
    last: float | None = None  # the time of the last event of any of them
    ratio: Decimal | None = None  # the median of cost divided by estimate
    cost: Money | None = None  # the median cost, derived

    @property
    def count(self) -> int:
        return self.approved + self.rejected + self.unasked


class KnownPast(msgspec.Struct, frozen=True):
    """What the journal, the log and the history know."""

    precedents: Mapping[Alike, Precedent] = {}
    watched: float = 0.0  # the seconds for which the history saw the queue
    trouble: SafeText | None = None  # why something is missing


def alike(agent: str | None, title: str) -> Alike:
    return agent, without_particulars(title)


def alike_of(task: Task) -> Alike:
    return alike(agent_of(task), task.title)


def agent_of(task: Task) -> str | None:
    return None if task.agent is None else task.agent.id or task.agent.name


def past_of(
    tasks: Sequence[Task],
    lives: Iterable[TaskLife | None],
    here: Collection[str],
    now: float,
    reader: Reader | None,
    *,
    assumed: bool,
) -> KnownPast:
    """Returns the precedents of these tasks, which are not counted themselves; for a thread.

    `lives` are known in addition to those in the history; of several lives of one task the later
    ones override the earlier. `here` are the ids of tasks approved from this machine; `assumed`
    says whether the unit of costs is assumed.
    """
    own = {task.id for task in tasks}
    known = dict[str, TaskLife]()
    watched = 0.0
    found = [life for life in lives if life is not None]
    if reader is not None:
        for agent in {*map(agent_of, tasks)} - {None}:
            found += reader.lives(now - BACK, agent=agent)
        watched = sum(end - begin for begin, end in reader.queue(None, now - BACK).seen)
    for life in found:
        told = {name: value for name, value in asdict(life).items() if value not in (None, "")}
        known[life.id] = replace(known.get(life.id, life), **told)
    groups = {alike_of(task): list[TaskLife]() for task in tasks}
    for turn, life in enumerate(known.values()):
        if turn % _CHUNK == 0:
            turn_of_thread()
        if life.title and life.id not in own:
            groups.get(alike(life.agent, life.title), []).append(life)
    made = {each: _precedent(group, here, assumed) for each, group in groups.items()}
    return KnownPast(made, watched)


def _precedent(lives: Sequence[TaskLife], here: Collection[str], assumed: bool) -> Precedent:
    yes = [life for life in lives if life.id in here or (_asked(life) and life.state in _SAID_YES)]
    approved = {life.id for life in yes}
    others = [life for life in lives if life.id not in approved]
    no = [life for life in others if life.state is TaskState.REJECTED]
    unasked = [life for life in others if life.state in _ENDED]
    told = [(life.first_seen, life.decided, life.ended) for life in (*yes, *no, *unasked)]
    costs = defaultdict[SafeText | None, list[Decimal]](list)
    ended = [life for life in lives if life.state in _ENDED]
    for life in ended:
        if life.cost is not None:
            costs[life.currency].append(life.cost)
    currency = max(costs, key=lambda one: len(costs[one]), default=None)
    usual = Money(median(costs[currency]), currency, assumed, derived=True) if costs else None
    shares = [life.cost / life.estimate for life in ended if life.cost and life.estimate]
    return Precedent(
        approved=len(yes),
        here=sum(life.id in here for life in yes),
        rejected=len(no),
        failed=sum(life.state is TaskState.FAILED for life in yes),
        unasked=len(unasked),
        last=max((at for times in told for at in times if at), default=None),
        ratio=median(shares) if shares else None,
        cost=usual,
    )


def _asked(life: TaskLife) -> bool:
    return (life.waiting_since, life.decided, life.decided_by) != (None, None, None)


def summed(found: Sequence[Precedent]) -> Precedent:
    """The sums of the counts of several precedents."""
    return Precedent(
        approved=sum(each.approved for each in found),
        here=sum(each.here for each in found),
        rejected=sum(each.rejected for each in found),
        failed=sum(each.failed for each in found),
        unasked=sum(each.unasked for each in found),
    )
