"""Writes a simulated past of the demo's world to a history file.

A `World` is the simulated platform (in place of the real service): companies, AI agents, tasks and
budgets. The history is the dashboard's SQLite file of what it observed, from which trends and
forecasts are made: `Observed` is one portion of that. The past ends in the state in which the world
starts, at the rates of spending and logging that follow. Times are seconds since 1970. `stream`
returns a random generator that depends on the seed and a name only, so that the same seed gives the
same past.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise
from pathlib import Path

from agentco_tui.api.credentials import BaseUrl
from agentco_tui.demo.simulation import ENTRIES_AN_HOUR
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
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Severity, TaskState
from agentco_tui.model.period import HOUR
from agentco_tui.text import clean_line

Sample = tuple[FeedName, str, str, BudgetSample | QueueSample | AgentSample]
"""The feed (a list that is read from the platform), the id of the owner, the unit of the sums, and
the observed figures at one time: of a budget, of the tasks that wait, or of an agent."""
UNIT = "USD?"
"""Assumed dollars, because the demo's answers do not name a unit."""
_MONTH = 30 * DAY
_MANY_AGENTS = 100
"""With more agents than this, the samples are further apart."""
_LOG_DAYS = 5
"""Days at the end of the past whose log entries are counted."""
_QUEUE_DAYS = 5
"""Days at the end of the past with samples of the waiting tasks."""
_ENTRIES_PER_FAILURE = 22
"""One log entry in so many reports a failure."""
_STATES = {
    "completed": TaskState.DONE,
    "failed": TaskState.FAILED,
    "rejected": TaskState.REJECTED,
    "running": TaskState.RUNNING,
}


def write_past(path: Path, world: World, address: str) -> None:
    """Write the past of a world to a history file, for the platform at an address.

    Raises HistoryError.
    """
    # "demo" is the name of the profile, the user's settings for this platform.
    history = History(path, "demo", str(BaseUrl.parse(address)))
    try:
        for observed in past_observations(world):
            history.write([observed])
    finally:
        history.close()


def past_observations(world: World) -> Iterator[Observed]:
    """The past of a world as a dashboard would have observed it, some thousand rows at a time."""
    with world.locked() as state:
        # What is known of each task that no longer waits, from its creation to its end.
        lives = [
            _task_life(state, task_id) for task_id in state.tasks if task_id not in state.pending
        ]
        agents = list(state.agents.values())
        companies = list(state.companies.values())
        queue = _queue_samples(state)
    yield Observed(lives=lives)
    has_many_agents = len(agents) > _MANY_AGENTS
    if has_many_agents:
        sample_every = 12 * HOUR
        log_days = 1
    else:
        sample_every = 2 * HOUR
        log_days = _LOG_DAYS
    times = _sample_times(state, every=sample_every)
    log_begin = state.start - log_days * DAY
    log_times = [at for at in times if at - HOUR >= log_begin]
    # "" is the owner of the sum of all companies.
    totals = {owner: [0] * len(times) for owner in ("", *state.companies)}
    for agent in agents:
        sums = _spent_by_time(state, agent, times)
        for owner in ("", agent.company.id):
            totals[owner] = [
                total + spent for total, spent in zip(totals[owner], sums, strict=True)
            ]
        yield Observed(
            samples=_budget_samples(FeedName.AGENT_BUDGETS, agent.id, agent.limit, times, sums),
            counts=_entry_counts(state, agent, log_times),
        )
    limits = {company.id: company.limit for company in companies}
    limits[""] = sum(limit or 0 for limit in limits.values()) or None
    for owner, sums in totals.items():
        feed = FeedName.COMPANY_BUDGETS if owner else FeedName.BUDGET
        yield Observed(samples=_budget_samples(feed, owner, limits[owner], times, sums))
    # From when to when each feed was observed: the rest is unknown to the forecasts.
    spans: dict[FeedName, Span] = {
        FeedName.BUDGET: (times[0], state.start),
        FeedName.COMPANY_BUDGETS: (times[0], state.start),
        FeedName.AGENT_BUDGETS: (times[0], state.start),
        FeedName.ACTIVITY: (log_begin, state.start),
        FeedName.PENDING: (state.start - _QUEUE_DAYS * DAY, state.start),
    }
    # "": of all companies.
    yield Observed(samples=queue, seen=[(feed, "", span) for feed, span in spans.items()])


def _sample_times(state: WorldState, every: float) -> list[float]:
    """The times of the samples, in seconds since 1970, oldest first.

    They begin a month before the current budget period, `every` seconds apart, and are an hour
    apart in the last days.
    """
    times: list[float] = []
    at = state.period_start - _MONTH
    while at < state.start:
        is_recent = at >= state.start - _LOG_DAYS * DAY
        at += HOUR if is_recent else every
        times.append(min(at, state.start))
    return times


def _stopped_at(state: WorldState, agent: DemoAgent) -> float:
    """When an agent reached its limit and was paused; the world's start if it was not."""
    if agent.status != "paused":
        return state.start
    alerts = [alert for alert in state.alerts.values() if alert.agent is agent]
    stops = [alert.created for alert in alerts if alert.threshold >= 1]
    return min(stops, default=state.start)


def _spent_by_time(state: WorldState, agent: DemoAgent, times: Sequence[float]) -> list[int]:
    """What an agent had spent in its budget period at each time, in micro-dollars."""
    random = stream(state.seed, "past", agent.id)
    stopped_at = _stopped_at(state, agent)
    weights: list[float] = []
    for begin, end in pairwise([state.period_start - _MONTH, *times]):
        weight = random.lognormvariate(0.0, 0.5) * (end - begin)
        weights.append(weight if end <= stopped_at else 0.0)
    rate = agent.spent / (state.start - state.period_start)
    spent_before = rate * _MONTH * random.uniform(0.6, 1.05)
    times_before = sum(at <= state.period_start for at in times)
    previous_period = _distribute(spent_before, weights[:times_before])
    this_period = _distribute(agent.spent, weights[times_before:])
    return previous_period + this_period


def _distribute(total: float, weights: Sequence[float]) -> list[int]:
    """The running sums of a total that is divided in proportion to weights."""
    running_weights = list(accumulate(weights))
    if not running_weights:
        return []
    sum_of_weights = running_weights[-1] or 1
    return [round(total * weight / sum_of_weights) for weight in running_weights]


def _budget_samples(
    feed: FeedName, owner: str, limit: int | None, times: Sequence[float], sums: Sequence[int]
) -> list[Sample]:
    """A sample of a budget for each time; the limit and the sums are in micro-dollars."""
    dollars = None if limit is None else Decimal(limit) / DOLLAR
    return [
        (feed, owner, UNIT, BudgetSample(at, Decimal(spent) / DOLLAR, dollars))
        for at, spent in zip(times, sums, strict=True)
    ]


def _entry_counts(state: WorldState, agent: DemoAgent, times: Sequence[float]) -> list[Counted]:
    """The number of entries that an agent logged in each hour that ends at one of the times.

    The entries of an hour are counted in its middle minute.
    """
    random = stream(state.seed, "entries", agent.id)
    stopped_at = _stopped_at(state, agent)
    active_agents = sum(each.status == "active" for each in state.agents.values()) or 1
    counts: list[Counted] = []
    for at in times:
        count = round(ENTRIES_AN_HOUR / active_agents * random.uniform(0.6, 1.4))
        if at > stopped_at:
            continue
        minute = (at - HOUR / 2) // 60 * 60
        failures = count // _ENTRIES_PER_FAILURE
        for severity, part in (
            (Severity.INFO, count - failures),
            (Severity.CRITICAL, failures),
        ):
            if part:
                # "agent note" is the verb of these entries.
                counts.append(
                    Counted(minute, agent.id, agent.company.id, "agent note", severity, part)
                )
    return counts


def _queue_samples(state: WorldState) -> list[Sample]:
    """How many tasks waited for approval at each hour, in all and in each company.

    It is the number at the world's start, or a little less.
    """
    random = stream(state.seed, "queue")
    samples: list[Sample] = []
    created_by_owner: dict[str, list[float]] = {owner: [] for owner in ("", *state.companies)}
    for task in state.pending.values():
        created_by_owner[""].append(task.created)
        created_by_owner[task.agent.company.id].append(task.created)
    for hours_ago in range(24 * _QUEUE_DAYS, -1, -1):
        at = state.start - hours_ago * HOUR
        share = random.uniform(0.6, 1.0)
        if hours_ago == 0:
            share = 1.0
        for owner, times in created_by_owner.items():
            oldest = None
            if times:
                oldest = at - (state.start - min(times)) * share
            sample = QueueSample(at, round(len(times) * share), oldest)
            samples.append((FeedName.PENDING, owner, "", sample))
    return samples


def _task_life(state: WorldState, task_id: str) -> TaskLife:
    """The history's record of a task that was decided."""
    task = state.tasks[task_id]
    return TaskLife(
        id=task.id,
        title=clean_line(task.title),
        agent=task.agent.id,
        company=task.agent.company.id,
        first_seen=task.created,
        waiting_since=task.created,
        decided=task.decided,
        decided_by=clean_line(task.decided_by or ""),
        ended=task.finished,
        state=_STATES.get(task.status),
        estimate=Decimal(task.estimate) / DOLLAR,
        cost=Decimal(task.cost) / DOLLAR if task.finished else None,
        currency=clean_line("USD"),
    )
