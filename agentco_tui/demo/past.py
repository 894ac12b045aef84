"""What an embedded world was before its start, such that it ends in what the world begins with:
budgets hour by hour back to the month before, and the queue back to its oldest tasks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate, chain

import msgspec

from agentco_tui.demo.stories import stream
from agentco_tui.demo.world_state import DAY, DemoAgent, WorldState

_HOUR = 3_600.0
_BY_NIGHT, _ON_WEEKENDS = 0.25, 0.35  # of what is spent in an hour of a working day
_MONTH = 30 * DAY
_MANY = 100  # agents
_QUEUE_DAYS = 5


class PastBudget(msgspec.Struct, frozen=True):
    """What was spent of a budget in its period up to a moment, in micro-dollars."""

    at: float
    scope: str  # "all", "company" or "agent"
    of: str  # the id of whose it is; "" of the whole
    spent: int
    limit: int | None


class PastQueue(msgspec.Struct, frozen=True):
    """What waited at a moment, in all or of a company; `of` as of a budget."""

    at: float
    of: str
    waiting: int
    oldest: float | None


def queues_before(state: WorldState) -> Iterator[PastQueue]:
    """The queue of everything and of each company at the ends of the hours of some days, oldest
    first: as long as at the start or shorter, longest in the afternoon.
    """
    chance = stream(state.seed, "queue")
    since = {company: list[float]() for company in state.companies}
    for task in state.pending.values():
        since[task.agent.company.id].append(task.created)
    for at in _hours(state.start - state.start % _HOUR - _QUEUE_DAYS * DAY, state.start):
        share = chance.uniform(0.2, 0.4) * min(1.0, (state.start - at) / (DAY / 2))
        share *= 1.4 - math.sin((at % DAY / DAY - 0.35) * math.tau)
        counts = {of: round(len(all_of) * (1 - share)) for of, all_of in since.items()}
        oldest = state.start - min(map(min, filter(None, since.values())), default=state.start)
        for of, count in (("", sum(counts.values())), *counts.items()):
            began = at - oldest * chance.uniform(0.6, 1.0) if at < state.start else None
            known = [*chain(*since.values())] if of == "" else since[of]
            yield PastQueue(at, of, count, began if count and began else min(known, default=None))


def budgets_before(state: WorldState) -> Iterator[PastBudget]:
    """Every budget at every hour of this period and the one before, oldest first; of many agents,
    at every twelfth hour but for the last two days.
    """
    before = _hours(state.period_start - _MONTH, state.period_start)
    hours = [*before, *_hours(state.period_start, state.start)]
    spent = {agent.id: _spent_by_hour(state, agent, hours, len(before)) for agent in _agents(state)}
    limits = {company.id: company.limit for company in state.companies.values()}
    limit = sum(each or 0 for each in limits.values()) or None
    coarse = len(state.agents) > _MANY
    for turn, at in enumerate(hours):
        if coarse and turn % 12 and at < state.start - 2 * DAY and at != state.period_start:
            continue
        of_company: defaultdict[str, int] = defaultdict(int)
        for agent in _agents(state):
            sums = spent[agent.id][turn]
            of_company[agent.company.id] += sums
            yield PastBudget(at, "agent", agent.id, sums, agent.limit)
        for company in state.companies:
            yield PastBudget(at, "company", company, of_company[company], limits[company])
        yield PastBudget(at, "all", "", sum(of_company.values()), limit)


def _agents(state: WorldState) -> list[DemoAgent]:
    return list(state.agents.values())


def _hours(first: float, end: float) -> list[float]:
    """The ends of the hours between two moments, and the last of these."""
    whole = [first + turn * _HOUR for turn in range(1, int((end - first) // _HOUR) + 1)]
    return whole if whole and whole[-1] == end else [*whole, end]


def _spent_by_hour(
    state: WorldState, agent: DemoAgent, hours: list[float], before: int
) -> list[int]:
    """Sums at the ends of the hours, of which the first `before` are of the month before."""
    chance = stream(state.seed, "past", agent.id)
    stops = (a.created for a in state.alerts.values() if a.agent is agent and a.threshold >= 1)
    stopped = min(stops, default=state.start) if agent.status == "paused" else state.start
    weights = list[float]()
    for at in hours:
        when = datetime.fromtimestamp(at, UTC)
        weight = chance.lognormvariate(0.0, 0.8)
        weight *= 1.0 if 7 <= when.hour < 19 else _BY_NIGHT
        weight *= _ON_WEEKENDS if when.weekday() >= 5 else 1.0
        weights.append(weight if at <= stopped else 0.0)
    elapsed = state.start - state.period_start
    last_month = int(agent.spent * _MONTH / elapsed * chance.uniform(0.6, 1.05))
    return [
        round(total * sums / (passed[-1] or 1))
        for total, of in ((last_month, weights[:before]), (agent.spent, weights[before:]))
        for passed in [list(accumulate(of))]
        for sums in passed
    ]
