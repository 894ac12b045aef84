"""Judges how urgently a record (a task, a budget, an alert) needs the user: its `Level`.

Pure functions, used by all screens and commands, so that they agree. `AlertLimits` has the
thresholds from the settings; `now` is in seconds since 1970 by the platform's clock. An alert is a
warning that the platform itself (the remote service that runs AI agents) has raised about a budget.
The scope is the company to which all screens are limited. A budget's share is the spent part of its
limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from math import inf
from typing import NamedTuple

from agentco_tui.config import AlertLimits
from agentco_tui.model import (
    Agent,
    AgentState,
    Alert,
    Budget,
    Company,
    Ref,
    Severity,
    Task,
    TaskState,
)
from agentco_tui.model.period import period_of
from agentco_tui.reading.values.status_word import agent_state
from agentco_tui.text import SafeText, mark_safe
from agentco_tui.text.memoized import memoized


class Level(IntEnum):
    """How badly the user is needed; higher is worse."""

    OK = 0
    UNKNOWN = 1  # what is needed to judge it was not sent
    WARNING = 2
    CRITICAL = 3


SEVERITY_LEVELS: Mapping[Severity, Level] = {
    **dict.fromkeys(Severity, Level.OK),
    Severity.CRITICAL: Level.CRITICAL,
    Severity.WARNING: Level.WARNING,
}
LEVEL_WORDS: Mapping[str, float] = {"info": 0, **{level.name.lower(): level for level in Level}}
"""The words for levels in filters, by how bad they are."""
_PRIORITIES = (
    ("urgent", "critical", "highest", "blocker", "p0", "immediate", "emergency"),
    ("high", "p1", "major", "important"),
    ("medium", "normal", "default", "moderate", "p2", "standard"),
    ("low", "minor", "p3"),
    ("lowest", "trivial", "p4", "none", "background"),
)

UNKNOWN_PRIORITY = 2.5
"""The rank of words that are not known: neither hidden at the end nor pushed to the front."""


@memoized(256)
def priority_rank(priority: str | None) -> float:
    """The rank of a priority word: 0 for the most urgent to 4 for the least."""
    word = (priority or "").casefold().replace("priority", "").strip().strip(" _-")
    for rank, words in enumerate(_PRIORITIES):
        if word in words:
            return rank
    return UNKNOWN_PRIORITY


def rank_of_priority(word: str) -> float | None:
    """A number for comparisons in filters, higher if more urgent; None for unknown words."""
    rank = priority_rank(word)
    if rank == UNKNOWN_PRIORITY:
        return None
    return -rank


def waiting_since(task: Task) -> float | None:
    """Since when a task waits for the user, in seconds since 1970; None if that was not sent."""
    moment = task.waiting_since or task.created
    if moment is None:
        return None
    return moment.at


def waits_for_person(task: Task) -> bool:
    """Whether a task of the pending list really waits.

    A platform may ignore the status filter, so a task whose state is past waiting does not. One
    without a state, or with an unknown word, does: the platform listed it as pending.
    """
    if task.needs_approval is not None:
        return task.needs_approval
    return task.state in (None, TaskState.PENDING, TaskState.QUEUED, TaskState.OTHER)


def task_level(task: Task, now: float, limits: AlertLimits) -> Level:
    """How badly a waiting task needs the user: by its wait, sooner if it is urgent."""
    since = waiting_since(task)
    is_urgent = priority_rank(task.priority) == 0
    if since is None:
        return Level.WARNING if is_urgent else Level.UNKNOWN
    waited = now - since
    is_late = waited >= limits.waiting_warning
    if waited >= limits.waiting_critical or (is_urgent and is_late):
        return Level.CRITICAL
    return Level.WARNING if is_urgent or is_late else Level.OK


def task_level_changes_at(task: Task, now: float, limits: AlertLimits) -> float:
    """When time alone changes `task_level`, in seconds since 1970; inf if it does not."""
    since = waiting_since(task)
    if since is None:
        return inf
    thresholds = (limits.waiting_warning, limits.waiting_critical)
    return min([since + seconds for seconds in thresholds if now - since < seconds], default=inf)


def budget_level(budget: Budget, limits: AlertLimits) -> Level:
    """How badly a budget needs the user: by its share, and by the platform's own threshold."""
    if budget.unlimited:
        return Level.OK
    if budget.share is None:
        return Level.UNKNOWN
    percent = budget.share * 100
    if percent >= limits.critical_percent:
        return Level.CRITICAL
    warn_at = limits.warn_percent
    if budget.warn_at is not None:
        warn_at = min(warn_at, budget.warn_at * 100)
    return Level.WARNING if percent >= warn_at else Level.OK


def period_passed(budget: Budget, now: float) -> float | None:
    """How much of a budget's period is over, 0 to 1; None if its start or end isn't known."""
    period = period_of(budget, now)
    is_end_known = budget.resets is not None and budget.resets.at == period.end
    if not (period.start_told and is_end_known):
        return None
    return (now - period.start) / (period.end - period.start)


NOT_AT_WORK = (AgentState.PAUSED, AgentState.STOPPED, AgentState.ERROR)
"""The states in which an agent, or a whole company, does not work on its tasks."""


class Idleness(NamedTuple):
    """That a company does not work."""

    status: SafeText
    """The platform's word: "paused", "archived"."""
    by_budget: bool
    """Whether its budget has stopped it."""

    @property
    def words(self) -> SafeText:
        """Its status, and whether that is because of its budget: "paused (budget)"."""
        return mark_safe(f"{self.status} (budget)" if self.by_budget else self.status)


def idleness(company: Company | None, budget: Budget | None) -> Idleness | None:
    """That a company does not work, by its status or its budget; None if it does.

    Nothing is concluded from a word that is not known. A company that its budget has stopped is
    paused, whatever its own status says.
    """
    if company is None:
        return None
    is_stopped = budget is not None and budget.paused is True
    if company.status is not None and agent_state(company.status) in NOT_AT_WORK:
        return Idleness(company.status, is_stopped)
    return Idleness(mark_safe("paused"), by_budget=True) if is_stopped else None


def agent_reason(agent: Agent) -> SafeText | None:
    """Why an agent is paused or in error, in the platform's words; None if it does not say it."""
    if agent.state is AgentState.ERROR and agent.error_reason is not None:
        return agent.error_reason
    return agent.pause_reason


def with_reason(words: str, agent: Agent) -> SafeText:
    """Words for an agent's state, and in brackets the reason: "paused (budget)"."""
    reason = agent_reason(agent)
    return mark_safe(words if reason is None else f"{words} ({reason})")


def is_failing(agent: Agent) -> bool:
    return agent.state is AgentState.ERROR


def is_open(alert: Alert) -> bool:
    """Whether an alert is open; one that does not say so is taken to be open."""
    return alert.open is not False


def alert_level(alert: Alert, limits: AlertLimits) -> Level:
    """How bad an alert is: by its severity, else by its share; at least a warning if it is open."""
    if not is_open(alert) or alert.severity is Severity.INFO:
        return Level.OK
    is_over = alert.share is not None and alert.share * 100 >= limits.critical_percent
    if alert.severity is Severity.CRITICAL or (alert.severity is Severity.UNKNOWN and is_over):
        return Level.CRITICAL
    return Level.WARNING


def in_scope(company: Ref | None, scope: str | None) -> bool:
    """Whether a record of a company belongs to the scope, a company's id or None for all.

    Records of which no company is known belong to every scope.
    """
    if scope is None or company is None or company.id is None:
        return True
    return company.id == scope
