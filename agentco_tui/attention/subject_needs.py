"""Makes the needs about a subject: an agent, a company, or the whole (all companies together).

A `Need` is one item of the "needs you" list, what the user should look at. Everything that is wrong
with one subject (its budget, its alerts, its state, its spending) is one need, so that the list has
one line about it. The queue holds the tasks that wait for the user. `NeedsModel` gathers what is
wrong in a `Subject`; the functions here judge and rank it. The alarms are `FastSpend` (the limit is
reached within the hour), `burn` (the money is spent too fast to last its period) and `Runaway` (an
AI agent spends far more than it usually does). A budget's share is the spent part of its limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final, NamedTuple

import msgspec

from agentco_tui.attention.needs import Need, NeedKind, RankReason
from agentco_tui.history.forecast import Forecast
from agentco_tui.history.forecast_service import ForecastService
from agentco_tui.history.spending_alarms import Runaway
from agentco_tui.live.insight import NOT_AT_WORK, Level, budget_level, is_failing
from agentco_tui.live.log_findings import Repeated
from agentco_tui.live.spend_rate import FastSpend
from agentco_tui.model import Agent, AgentState, Alert, Budget, BudgetScope, Task
from agentco_tui.model.period import HOUR

STUCK_AT_LEAST: Final = 600.0  # seconds; a task that moved more recently is never stuck
TIMES_USUAL: Final = 2.0
"""A task is stuck after so many times the time within which 95 % of the agent's tasks end."""
STUCK_IDLE: Final = HOUR  # if no usual time is known, and the agent does not work
STUCK_BUSY: Final = 4 * HOUR  # if no usual time is known, and the agent works
STEP: Final = 600.0  # seconds to which moments ahead are rounded, so that no order flickers


class MoneyAhead(NamedTuple):
    """How badly a budget needs the user, as it is now and by what lies ahead of it."""

    level: Level
    gone_at: float | None = None
    """When the money will be gone, rounded to STEP; None if it lasts."""
    changes_at: float = inf
    """When time alone changes this."""


def money_ahead(budget: Budget, forecasts: ForecastService, now: float) -> MoneyAhead:
    """Judge a budget by its share, by its alarm and burn rate, and by its forecast.

    The money is gone at the present rate if that is too fast, else as forecast, if that is before
    the end of the period.
    """
    level = budget_level(budget, forecasts.limits)
    if budget.unlimited or is_spent(budget):
        return MoneyAhead(level)
    alarm_changes_at = now + forecasts.fast_spend_holds_for(budget)
    fast = forecasts.fast_spend(budget)
    if fast is not None:
        return MoneyAhead(Level.CRITICAL, _in_steps(fast.reached_at), alarm_changes_at)
    subject_forecast = forecasts.of(budget)
    gone_at = inf
    changes_at = alarm_changes_at
    if (
        isinstance(subject_forecast.forecast, Forecast)
        and subject_forecast.forecast.gone is not None
    ):
        _, likely, _ = subject_forecast.forecast.gone  # earliest, likely and latest time
        if likely < subject_forecast.forecast.ends:
            gone_at = likely
    if subject_forecast.burn:
        gone_by_burn = now + subject_forecast.burn.gone_in
        next_step = (round(gone_by_burn / STEP) + 0.5) * STEP
        changes_at = min(changes_at, now + max(0.0, next_step - gone_by_burn))
        gone_at = min(gone_by_burn, gone_at)
        level = max(level, Level.CRITICAL if subject_forecast.burn.critical else Level.WARNING)
    if gone_at == inf:
        return MoneyAhead(level, None, changes_at)
    return MoneyAhead(max(level, Level.WARNING), _in_steps(gone_at), changes_at)


def _in_steps(moment: float) -> float:
    return round(moment / STEP) * STEP


def is_spent(budget: Budget | None) -> bool:
    return budget is not None and budget.share is not None and budget.share >= 1


def is_idle(agent: Agent) -> bool:
    """Whether an agent is paused, stopped or in error."""
    return agent.state in NOT_AT_WORK


class StuckTask(NamedTuple):
    """A task that was approved, and in which nothing moved for longer than usual."""

    since: float
    task: Task


def stuck_after(agent: Agent | None, usual_run: float | None) -> float:
    """Seconds without a move after which an approved task is stuck.

    `usual_run`: seconds that tasks usually take from approval to end, None if that is not known.
    """
    if usual_run is not None:
        return max(STUCK_AT_LEAST, TIMES_USUAL * usual_run)
    does_nothing = agent is not None and (is_idle(agent) or agent.state is AgentState.IDLE)
    if does_nothing:
        return STUCK_IDLE
    return STUCK_BUSY


class Subject(msgspec.Struct):
    """What is known to be wrong with an agent, a company or the whole."""

    scope: BudgetScope
    id: str
    level: Level = Level.WARNING
    budget: Budget | None = None
    """Set only if the budget itself needs the user."""
    agent: Agent | None = None
    alerts: list[Alert] = []
    gone_at: float | None = None
    """When the money will be gone, in seconds since 1970."""
    runaway: Runaway | None = None
    fast_spend: FastSpend | None = None
    stuck: Sequence[StuckTask] = ()


def need_of_subject(subject: Subject, waiting: int) -> Need:
    """The one need about a subject, which has `waiting` tasks in the queue."""
    agent = subject.agent
    budget = subject.budget
    share = -float(budget.share or 0) if budget is not None else 0.0
    is_agent_idle = agent is not None and is_idle(agent)
    blocked = waiting + len(subject.stuck)
    subject.alerts.sort(key=lambda alert: (-(alert.at.at if alert.at else 0.0), alert.id))
    alert_times = [alert.at.at for alert in subject.alerts if alert.at]
    since = min(alert_times, default=None)
    rank: tuple[float, ...]
    if subject.fast_spend is not None:
        reason = RankReason.BURNING
        # In steps, so that two that burn do not change places with every poll.
        rank = (round(subject.fast_spend.reached_at / STEP), share)
        since = subject.fast_spend.since
    elif blocked and (is_agent_idle or is_spent(budget)):
        reason = RankReason.STOPS
        rank = (-blocked, share)
    elif subject.scope is not BudgetScope.AGENT and (subject.id or budget):
        reason = RankReason.WHOLE
        rank = (subject.gone_at or inf, share)
    elif subject.gone_at is not None:
        reason = RankReason.SOON
        rank = (subject.gone_at, share)
    elif subject.runaway is not None:
        reason = RankReason.RUNAWAY
        rank = (subject.runaway.since[0], share)  # since when it spends so much
    else:
        reason = RankReason.ONE
        rank = (share, -max(alert_times, default=0.0))
    if since is None and subject.runaway is not None:
        since = subject.runaway.since[0]
    records = [each for each in (budget, *subject.alerts, agent) if each is not None]
    if agent is not None:
        is_about_agent = budget is None and (subject.runaway is not None or is_agent_idle)
        if is_failing(agent) or is_about_agent:
            records.sort(key=lambda each: each is not agent)
    record, *others = records
    return Need(
        subject.level,
        NeedKind(type(record).__name__.lower()),
        record,
        reason,
        rank,
        own_key=f"{subject.scope}:{subject.id}",
        related=(*others, *(each.task for each in subject.stuck)),
        count=blocked,
        since=since,
        money_gone_at=subject.gone_at,
        runaway=subject.runaway,
        fast_spend=subject.fast_spend,
    )


def need_of_stuck_tasks(agent_id: str, stuck: Sequence[StuckTask]) -> Need:
    """The stuck tasks of one agent as one need, shown by the one that is stuck longest."""
    longest_first = sorted(stuck, key=lambda each: (each.since, each.task.id))
    first = longest_first[0]
    return Need(
        Level.WARNING,
        NeedKind.STUCK,
        first.task,
        RankReason.STUCK,
        (first.since,),
        own_key=f"{NeedKind.STUCK}:{agent_id or first.task.id}",
        related=tuple(each.task for each in longest_first[1:]),
        count=len(stuck),
        since=first.since,
    )


def need_of_failures(repeated: Repeated) -> Need:
    """The same failure over and over as one need, shown by the newest entry of the log."""
    newest = repeated.times[0]
    oldest = repeated.times[-1]
    return Need(
        Level.WARNING,
        NeedKind.FAILURES,
        repeated.newest,
        RankReason.REPEATS,
        (-newest,),
        own_key=f"{NeedKind.FAILURES}:{repeated.handle}",
        since=oldest,
        count=len(repeated.times),
    )
