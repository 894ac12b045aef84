"""Precedent: what became of tasks like one that waits, and what they cost.

Tasks are alike if they are of one agent, and their titles the same but for figures and names. What
the history, the lists, the journal and the log know of one task is put together before it counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from decimal import Decimal
from statistics import median, quantiles
from typing import Final

import msgspec
from msgspec.structs import asdict, replace

from agentco_tui.live.history import TaskLife
from agentco_tui.live.insight import waiting_since, waits_for_person
from agentco_tui.live.sentences import without_particulars
from agentco_tui.model import Money, Task, TaskState
from agentco_tui.text import SafeText

Alike = tuple[str | None, str]
"""The agent, by its id or name, and what titles have in common: the same for tasks alike."""
Cost = tuple[SafeText | None, Decimal]  # with its currency

_CHUNK: Final = 250  # tasks between two pauses
_ENDED: Final = (TaskState.DONE, TaskState.FAILED)
_SAID_YES: Final = (TaskState.APPROVED, TaskState.RUNNING, *_ENDED)
_OVER: Final = (*_ENDED, TaskState.REJECTED, TaskState.CANCELLED)
_FEW: Final = 4  # below so many the range is from the least to the most, else the middle half


class Precedent(msgspec.Struct, frozen=True, kw_only=True):
    """What became of all tasks alike that are past waiting."""

    approved: int = 0
    here: int = 0  # of those approved: from this machine
    rejected: int = 0
    failed: int = 0  # of those approved
    unasked: int = 0  # ended without a sign that anybody was asked
    last: float | None = None  # when one was last heard of
    ratio: tuple[Decimal, Decimal] | None = None  # from what to what share of its estimate one cost
    cost: Money | None = None  # what one usually costs, derived
    of_agent: bool = False  # True if that is of all tasks of the agent, for none alike is known

    @property
    def count(self) -> int:
        return self.approved + self.rejected + self.unasked

    @property
    def is_bad(self) -> bool:
        """Whether half of those that were asked about came to nothing."""
        return 2 * (self.rejected + self.failed) >= self.approved + self.rejected > 0


class KnownPast(msgspec.Struct, frozen=True):
    """What the sources know of tasks alike."""

    precedents: Mapping[Alike, Precedent]
    watched: float = 0.0  # for so many seconds, by the history
    enough: bool = False  # whether that is enough to say that there was none like it
    trouble: SafeText | None = None  # why the history could not be read


def alike(agent: str | None, title: str) -> Alike:
    return agent, without_particulars(title)


def alike_of(task: Task) -> Alike:
    return alike(agent_of(task), task.title)


def agent_of(task: Task) -> str | None:
    return None if task.agent is None else task.agent.id or task.agent.name


def lives_of(tasks: Iterable[Task]) -> Iterable[TaskLife | None]:
    """What the lists know of those that are past waiting; None for each of the others."""
    for task in tasks:
        if waits_for_person(task) and task.state not in _OVER:
            yield None
        else:
            moment = task.updated or task.decided or task.created
            cost, estimate, decided = task.cost, task.estimate, task.decided
            yield TaskLife(
                id=task.id,
                title=task.title,
                agent=agent_of(task),
                first_seen=0.0 if moment is None else moment.at,
                waiting_since=waiting_since(task) if task.waiting_since else None,
                decided=None if decided is None else decided.at,
                decided_by=task.decided_by,
                state=task.state,
                estimate=None if estimate is None else estimate.amount,
                cost=None if cost is None else cost.amount,
                currency=None if cost is None else cost.currency,
            )


def precedents(
    tasks: Sequence[Task], lives: Iterable[TaskLife | None], here: Collection[str], *, assumed: bool
) -> Generator[None, None, dict[Alike, Precedent]]:
    """What became of tasks like each of these, themselves not counted; in short steps.

    Several of the `lives` may be of one task; where one lacks its title, another must have come
    before; None is passed over. `here` are those approved from here; `assumed` says whether the
    unit of costs was.
    """
    wanted, own, agents = set[Alike](), {task.id for task in tasks}, set(map(agent_of, tasks))
    known = dict[str, TaskLife]()
    for turn, task in enumerate(tasks):
        wanted.add(alike_of(task))
        if turn % _CHUNK == 0:
            yield
    for turn, life in enumerate(lives):
        if life is not None and life.id in known:
            known[life.id] = _together(known[life.id], life)
        elif life is not None and life.title and life.agent in agents and life.id not in own:
            known[life.id] = life
        if turn % _CHUNK == 0:
            yield
    groups = defaultdict[Alike, list[TaskLife]](list)
    costs = defaultdict[str | None, list[Cost]](list)
    for turn, life in enumerate(known.values()):
        groups[alike(life.agent, life.title)].append(life)
        if life.cost is not None and life.state in _ENDED:
            costs[life.agent].append((life.currency, life.cost))
        if turn % _CHUNK == 0:
            yield
    found = dict[Alike, Precedent]()
    for each in wanted:
        found[each] = _made(groups[each], here, costs[each[0]], assumed)
        yield
    return found


def _made(
    lives: Sequence[TaskLife], here: Collection[str], of_agent: Sequence[Cost], assumed: bool
) -> Precedent:
    yes = [life for life in lives if life.id in here or (_asked(life) and life.state in _SAID_YES)]
    approved = {life.id for life in yes}
    others = [life for life in lives if life.id not in approved]
    no = [life for life in others if life.state is TaskState.REJECTED]
    unasked = [life for life in others if life.state in _ENDED]
    told = [(life.first_seen, life.decided, life.ended) for life in (*yes, *no, *unasked)]
    ended = [life for life in lives if life.state in _ENDED]  # a rejected one costs what it had
    costs = [(life.currency, life.cost) for life in ended if life.cost is not None]
    shares = (life.cost / life.estimate for life in ended if life.cost and life.estimate)
    return Precedent(
        approved=len(yes),
        here=sum(life.id in here for life in yes),
        rejected=len(no),
        failed=sum(life.state is TaskState.FAILED for life in yes),
        unasked=len(unasked),
        last=max((at for times in told for at in times if at), default=None),
        ratio=spread(shares),
        cost=usual(costs or of_agent, assumed),
        of_agent=not costs,
    )


def summed(found: Sequence[Precedent]) -> Precedent:
    """The counts of several together."""
    return Precedent(
        approved=sum(each.approved for each in found),
        here=sum(each.here for each in found),
        rejected=sum(each.rejected for each in found),
        failed=sum(each.failed for each in found),
        unasked=sum(each.unasked for each in found),
    )


def usual(costs: Sequence[Cost], assumed: bool) -> Money | None:
    """What is in the middle of these, of the currency that most are in; None of none."""
    currencies = Counter(currency for currency, amount in costs if amount >= 0)
    if not currencies:
        return None
    most = min(currencies, key=lambda one: (-currencies[one], one or ""))
    amounts = [amount for currency, amount in costs if currency == most and amount >= 0]
    return Money(median(amounts), most, assumed, derived=True)


def spread(shares: Iterable[Decimal]) -> tuple[Decimal, Decimal] | None:
    """From what to what most of these are: without the quarters at both ends, where many are."""
    found = sorted(shares)
    if len(found) < _FEW:
        return (found[0], found[-1]) if found else None
    low, _, high = quantiles(found, n=4, method="inclusive")
    return low, high


def _asked(life: TaskLife) -> bool:
    return (life.waiting_since, life.decided, life.decided_by) != (None, None, None)


def _together(one: TaskLife, other: TaskLife) -> TaskLife:
    """What two sources know of one task; its state is the one further on."""
    first, last = sorted((other, one), key=_how_far)
    known = {name: value for name, value in asdict(last).items() if value is not None}
    both = replace(first, **known)
    return replace(both, title=one.title, agent=one.agent)


def _how_far(life: TaskLife) -> int:
    return 2 if life.state in _OVER else 0 if life.state is None else 1
