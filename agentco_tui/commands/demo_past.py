"""The past of the embedded world, for the history of a demo: it ends in what the world begins
with, and was spent and logged at the rates at which the world lives on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise
from pathlib import Path

from agentco_tui.api.credentials import BaseUrl
from agentco_tui.demo.life import ENTRIES_AN_HOUR
from agentco_tui.demo.stories import stream
from agentco_tui.demo.world import World
from agentco_tui.demo.world_state import DAY, DOLLAR, DemoAgent, WorldState
from agentco_tui.history.history import History
from agentco_tui.history.observations import (
    AgentSample,
    BudgetSample,
    Counted,
    Observed,
    QueueSample,
    Span,
    TaskLife,
)
from agentco_tui.history.period import HOUR
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Severity, TaskState
from agentco_tui.text import safe

Sample = tuple[FeedName, str, str, BudgetSample | QueueSample | AgentSample]
UNIT = "USD?"  # as the sums of the plain shape are read, which doesn't say that they are whole
_MONTH = 30 * DAY
_MANY = 100  # agents
_LOG_DAYS = _QUEUE_DAYS = 5
_FAILS = 22  # one entry in so many tells of a failure
_STATES = {
    "completed": TaskState.DONE,
    "failed": TaskState.FAILED,
    "rejected": TaskState.REJECTED,
    "running": TaskState.RUNNING,
}


def remember_past(path: Path, world: World, address: str) -> None:
    """Write what a world was before its start into the history of the demo at an address. Raises
    HistoryError.
    """
    history = History(path, "demo", str(BaseUrl.parse(address)))
    try:
        for observed in past_of(world):
            history.write([observed])
    finally:
        history.close()


def past_of(world: World) -> Iterator[Observed]:
    """The past of a world as a dashboard would have observed it, some thousand rows at a time."""
    with world.living() as state:
        lives = [_life(state, task_id) for task_id in state.tasks if task_id not in state.pending]
        agents, companies = list(state.agents.values()), list(state.companies.values())
        queue = _queue(state)
    yield Observed(lives=lives)
    times = _times(state, every=12 * HOUR if len(agents) > _MANY else 2 * HOUR)
    logged = state.start - (1 if len(agents) > _MANY else _LOG_DAYS) * DAY
    totals = {of: [0] * len(times) for of in ("", *state.companies)}
    for agent in agents:
        sums = _spent(state, agent, times)
        for of in ("", agent.company.id):
            totals[of] = [total + each for total, each in zip(totals[of], sums, strict=True)]
        yield Observed(
            samples=_samples(FeedName.AGENT_BUDGETS, agent.id, agent.limit, times, sums),
            counts=_entries(state, agent, [at for at in times if at - HOUR >= logged]),
        )
    limits = {company.id: company.limit for company in companies}
    limits[""] = sum(limit or 0 for limit in limits.values()) or None
    for of, sums in totals.items():
        feed = FeedName.COMPANY_BUDGETS if of else FeedName.BUDGET
        yield Observed(samples=_samples(feed, of, limits[of], times, sums))
    feeds = FeedName.BUDGET, FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS
    spans: dict[FeedName, Span] = dict.fromkeys(feeds, (times[0], state.start))
    spans[FeedName.ACTIVITY] = logged, state.start
    spans[FeedName.PENDING] = state.start - _QUEUE_DAYS * DAY, state.start
    yield Observed(samples=queue, seen=[(feed, "", span) for feed, span in spans.items()])


def _times(state: WorldState, every: float) -> list[float]:
    """The ends of the hours of the last days, of so many seconds each before that, back to the
    begin of the period before.
    """
    at, times = state.period_start - _MONTH, list[float]()
    while at < state.start:
        at += every if at < state.start - _LOG_DAYS * DAY else HOUR
        times.append(min(at, state.start))
    return times


def _stopped(state: WorldState, agent: DemoAgent) -> float:
    """When an agent was stopped by its budget; the start, if it works."""
    stops = (a.created for a in state.alerts.values() if a.agent is agent and a.threshold >= 1)
    return min(stops, default=state.start) if agent.status == "paused" else state.start


def _spent(state: WorldState, agent: DemoAgent, times: Sequence[float]) -> list[int]:
    """What was spent of a period by each time, in micro-dollars."""
    chance, stopped = stream(state.seed, "past", agent.id), _stopped(state, agent)
    spans = pairwise([state.period_start - _MONTH, *times])
    weights = [chance.lognormvariate(0.0, 0.5) * (b - a) * (b <= stopped) for a, b in spans]
    before = sum(at <= state.period_start for at in times)
    rate = agent.spent / (state.start - state.period_start)
    found = list[int]()
    for total, part in (
        (rate * _MONTH * chance.uniform(0.6, 1.05), weights[:before]),
        (agent.spent, weights[before:]),
    ):
        passed = list(accumulate(part))
        found += [round(total * each / (passed[-1] or 1)) for each in passed]
    return found


def _samples(
    feed: FeedName, of: str, limit: int | None, times: Sequence[float], sums: Sequence[int]
) -> list[Sample]:
    dollars = None if limit is None else Decimal(limit) / DOLLAR
    return [
        (feed, of, UNIT, BudgetSample(at, Decimal(spent) / DOLLAR, dollars))
        for at, spent in zip(times, sums, strict=True)
    ]


def _entries(state: WorldState, agent: DemoAgent, times: Sequence[float]) -> list[Counted]:
    """The entries of each hour, all in the middle of it."""
    chance, stopped = stream(state.seed, "entries", agent.id), _stopped(state, agent)
    working = sum(each.status == "active" for each in state.agents.values()) or 1
    found = list[Counted]()
    for at in times:
        count = round(ENTRIES_AN_HOUR / working * chance.uniform(0.6, 1.4))
        minute = (at - HOUR / 2) // 60 * 60
        for severity, part in (
            (Severity.INFO, count - count // _FAILS),
            (Severity.CRITICAL, count // _FAILS),
        ):
            if part and at <= stopped:
                told = minute, agent.id, agent.company.id, "agent note", severity, part
                found.append(Counted(*told))
    return found


def _queue(state: WorldState) -> list[Sample]:
    """As long as at the start or a little shorter, in all and of each company."""
    chance, samples = stream(state.seed, "queue"), list[Sample]()
    since = {of: list[float]() for of in ("", *state.companies)}
    for task in state.pending.values():
        since[""].append(task.created)
        since[task.agent.company.id].append(task.created)
    for hours in range(24 * _QUEUE_DAYS, -1, -1):
        at, share = state.start - hours * HOUR, chance.uniform(0.6, 1.0) if hours else 1.0
        for of, times in since.items():
            oldest = at - (state.start - min(times)) * share if times else None
            sample = QueueSample(at, round(len(times) * share), oldest)
            samples.append((FeedName.PENDING, of, "", sample))
    return samples


def _life(state: WorldState, task_id: str) -> TaskLife:
    task = state.tasks[task_id]
    return TaskLife(
        id=task.id,
        title=safe(task.title),
        agent=task.agent.id,
        company=task.agent.company.id,
        first_seen=task.created,
        waiting_since=task.created,
        decided=task.decided,
        decided_by=safe(task.decided_by or ""),
        ended=task.finished,
        state=_STATES.get(task.status),
        estimate=Decimal(task.estimate) / DOLLAR,
        cost=Decimal(task.cost) / DOLLAR if task.finished else None,
        currency=safe("USD"),
    )
