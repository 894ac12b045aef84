"""Precedents: how earlier tasks like a waiting one were decided, and what they cost.

The approval dialog shows them before the user decides. Two tasks are alike if they have the same AI
agent, and titles that differ only in figures and names ("Refund 214 customers", "Refund 9
customers"). Reports of one task from the journal (what was approved from this machine), the
activity log of the platform (the remote service that has the tasks) and the history (a database of
what was polled from it, read with a `Reader`) are merged into one `TaskLife` before it is counted.
The queue is the list of tasks that wait for approval.
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

Likeness = tuple[str | None, str]
"""The id or name of the agent and the title without particulars: equal for tasks that are alike."""

MAX_AGE: Final = 90 * 86_400.0  # seconds; older tasks do not count
_CHUNK: Final = 250  # tasks between two pauses for the event loop
_ENDED: Final = (TaskState.DONE, TaskState.FAILED)
_AFTER_APPROVAL: Final = (TaskState.APPROVED, TaskState.RUNNING, *_ENDED)
"""The states that only a task that was approved can have, if it needed an approval."""


class Precedent(msgspec.Struct, frozen=True, kw_only=True):
    """How tasks that are alike were decided, and what they cost."""

    approved: int = 0
    approved_here: int = 0  # how many of those were approved from this machine
    rejected: int = 0
    failed: int = 0  # how many of those approved failed
    not_asked: int = 0  # ended without a sign of an approval
    last_at: float | None = None  # the time of the last event of any of them, since 1970
    cost_ratio: Decimal | None = None  # the median of cost divided by estimate
    cost: Money | None = None  # the median cost, derived

    @property
    def count(self) -> int:
        """How many tasks were decided, or ended without a decision."""
        return self.approved + self.rejected + self.not_asked


class KnownPrecedents(msgspec.Struct, frozen=True):
    """What the journal, the log and the history know about tasks like some others."""

    precedents: Mapping[Likeness, Precedent] = {}
    watched: float = 0.0  # the seconds for which the history saw the queue
    trouble: SafeText | None = None  # why something is missing


def likeness_of(task: Task) -> Likeness:
    """The key under which `KnownPrecedents` has the precedent of a task."""
    return _likeness(agent_of(task), task.title)


def _likeness(agent: str | None, title: str) -> Likeness:
    return agent, without_particulars(title)


def agent_of(task: Task) -> str | None:
    """The id of a task's agent, otherwise its name; None if it has none."""
    return None if task.agent is None else task.agent.id or task.agent.name


def find_precedents(
    tasks: Sequence[Task],
    lives: Iterable[TaskLife | None],
    approved_here: Collection[str],
    now: float,
    reader: Reader | None,
    *,
    unit_assumed: bool,
) -> KnownPrecedents:
    """Find the precedents of these tasks, which are not counted themselves; for a thread.

    `lives` are known in addition to those that the `reader` has in the history; of several lives of
    one task the later ones override the earlier. `approved_here` are the ids of tasks approved from
    this machine; `unit_assumed` says whether the unit of costs is assumed.
    """
    reports = [life for life in lives if life is not None]
    watched = 0.0
    if reader is not None:
        agents = {agent_of(task) for task in tasks}
        for agent in agents - {None}:
            reports += reader.lives(now - MAX_AGE, agent=agent)
        queue = reader.queue(None, now - MAX_AGE)
        watched = sum(end - begin for begin, end in queue.seen)
    task_ids = {task.id for task in tasks}
    lives_by_likeness: dict[Likeness, list[TaskLife]] = {likeness_of(task): [] for task in tasks}
    for number, life in enumerate(_merged(reports)):
        if number % _CHUNK == 0:
            turn_of_thread()  # wait while the user presses keys, which need the interpreter
        if not life.title or life.id in task_ids:
            continue
        alike = lives_by_likeness.get(_likeness(life.agent, life.title))
        if alike is not None:
            alike.append(life)
    precedents = {
        likeness: _precedent(alike, approved_here, unit_assumed=unit_assumed)
        for likeness, alike in lives_by_likeness.items()
    }
    return KnownPrecedents(precedents, watched)


def _merged(reports: Iterable[TaskLife]) -> Collection[TaskLife]:
    """One life of each task: of each field the last report that has it."""
    lives: dict[str, TaskLife] = {}
    for report in reports:
        known = {name: value for name, value in asdict(report).items() if value not in (None, "")}
        lives[report.id] = replace(lives.get(report.id, report), **known)
    return lives.values()


def _precedent(
    lives: Sequence[TaskLife], approved_here: Collection[str], *, unit_assumed: bool
) -> Precedent:
    """The precedent that tasks that are alike make."""
    approved: list[TaskLife] = []
    rejected: list[TaskLife] = []
    not_asked: list[TaskLife] = []
    for life in lives:
        is_approved = _was_in_queue(life) and life.state in _AFTER_APPROVAL
        if life.id in approved_here or is_approved:
            approved.append(life)
        elif life.state is TaskState.REJECTED:
            rejected.append(life)
        elif life.state in _ENDED:
            not_asked.append(life)
    ended = [life for life in lives if life.state in _ENDED]
    ratios = [life.cost / life.estimate for life in ended if life.cost and life.estimate]
    return Precedent(
        approved=len(approved),
        approved_here=sum(life.id in approved_here for life in approved),
        rejected=len(rejected),
        failed=sum(life.state is TaskState.FAILED for life in approved),
        not_asked=len(not_asked),
        last_at=_last_event([*approved, *rejected, *not_asked]),
        cost_ratio=median(ratios) if ratios else None,
        cost=_median_cost(ended, unit_assumed=unit_assumed),
    )


def _was_in_queue(life: TaskLife) -> bool:
    """Whether there is a sign that a decision about the task was asked for."""
    signs_of_decision = (life.waiting_since, life.decided, life.decided_by)
    return any(each is not None for each in signs_of_decision)


def _last_event(lives: Iterable[TaskLife]) -> float | None:
    """When any of the tasks was last seen for the first time, decided or ended."""
    times: list[float] = []
    for life in lives:
        times += [at for at in (life.first_seen, life.decided, life.ended) if at]
    return max(times, default=None)


def _median_cost(ended: Iterable[TaskLife], *, unit_assumed: bool) -> Money | None:
    """The median cost in the currency that most of the tasks have; None if no cost is known."""
    costs_by_currency = defaultdict[SafeText | None, list[Decimal]](list)
    for life in ended:
        if life.cost is not None:
            costs_by_currency[life.currency].append(life.cost)
    if not costs_by_currency:
        return None
    currency, costs = max(costs_by_currency.items(), key=lambda item: len(item[1]))
    return Money(median(costs), currency, unit_assumed, derived=True)


def sum_precedents(precedents: Sequence[Precedent]) -> Precedent:
    """The sums of the counts of several precedents; times and costs are left out."""
    return Precedent(
        approved=sum(each.approved for each in precedents),
        approved_here=sum(each.approved_here for each in precedents),
        rejected=sum(each.rejected for each in precedents),
        failed=sum(each.failed for each in precedents),
        not_asked=sum(each.not_asked for each in precedents),
    )
