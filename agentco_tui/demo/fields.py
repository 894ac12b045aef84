"""Every record of the embedded world as named fields, before any shape has dressed them.

The names are snake_case and neutral; money, moments, references, shares and status words are
marked by small types, because that is where platforms differ (SHAPES D, G, H).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentco_tui.demo.budgets import forecast, level, share
from agentco_tui.demo.life import particulars
from agentco_tui.demo.model import Agent, Alert, Company, Entry, State, Task
from agentco_tui.demo.stories import fill

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cash:
    """A sum in micro-dollars; None where there is no limit.

    `rest` marks what is left of a limit: below nothing, some platforms send 0 (SHAPES D).
    """

    micros: int | None
    rest: bool = False


@dataclass(frozen=True, slots=True)
class When:
    """A moment in seconds since 1970 UTC; None where it has not come."""

    at: float | None


@dataclass(frozen=True, slots=True)
class Link:
    """A reference to another record."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, 1 = all of it; None without a whole."""

    ratio: float | None


@dataclass(frozen=True, slots=True)
class Word:
    """A status word that a shape may spell in its own way."""

    word: str


@dataclass(frozen=True, slots=True)
class Rank:
    """A priority or a level, which some platforms write as a number or in capitals."""

    word: str


@dataclass(frozen=True, slots=True)
class Trust:
    """A trust score from 0 to 100; 0 means that nobody has rated it yet."""

    score: int


@dataclass(frozen=True, slots=True)
class Free:
    """Data whose keys belong to somebody else, such as the arguments of a tool."""

    data: Mapping[str, Any]


def company_fields(company: Company) -> Fields:
    """A company; the first four fields are those of INTERFACE 2."""
    return {
        "id": company.id,
        "name": company.name,
        "template": company.template,
        "mission": company.mission,
        "status": Word(company.status),
        "agent_count": company.agents,
        "task_count": company.tasks,
        "pending_count": company.pending,
        "created_at": When(company.created),
    }


def remaining(spent: int, limit: int | None) -> Cash:
    """What is left of a limit; None without one."""
    return Cash(None if limit is None else limit - spent, rest=True)


def agent_fields(agent: Agent) -> Fields:
    """An agent, with the fields of INTERFACE 2."""
    return {
        "id": agent.id,
        "name": agent.name,
        "role": agent.role,
        "company": Link(agent.company.id, agent.company.name),
        "trust_score": Trust(agent.trust),
        "budget_remaining": remaining(agent.spent, agent.limit),
        "status": Word(agent.status),
        "pause_reason": agent.pause_reason,
        "model": agent.model,
        "tasks_completed": agent.completed,
        "created_at": When(agent.created),
        "last_active_at": When(agent.last_seen),
    }


def task_fields(task: Task) -> Fields:
    """A task, with the fields of INTERFACE 2 and what a queue needs to know."""
    return {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "status": Word(task.status),
        "priority": Rank(task.priority),
        "company": Link(task.agent.company.id, task.agent.company.name),
        "agent": Link(task.agent.id, task.agent.name),
        "estimated_cost": Cash(task.estimate),
        "cost": Cash(task.cost),
        "created_at": When(task.created),
        "updated_at": When(task.updated),
        "decided_at": When(task.decided),
        "decided_by": task.decided_by,
        "finished_at": When(task.finished),
    }


def entry_fields(entry: Entry) -> Fields:
    """An entry of the activity log."""
    company, agent, task = entry.company, entry.agent, entry.task
    return {
        "id": entry.id,
        "timestamp": When(entry.at),
        "level": Rank(entry.level),
        "action": entry.action,
        "message": entry.message,
        "company": Link(company.id, company.name) if company else None,
        "agent": Link(agent.id, agent.name) if agent else None,
        "task": Link(task.id, task.title) if task else None,
        "actor": entry.actor,
        "cost": Cash(entry.cost) if entry.cost else None,
    }


def alert_fields(alert: Alert) -> Fields:
    """A budget alert."""
    return {
        "id": alert.id,
        "severity": Rank(alert.severity),
        "type": "budget_threshold",
        "message": alert.message,
        "status": Word("open" if alert.resolved is None else "resolved"),
        "company": Link(alert.company.id, alert.company.name),
        "agent": Link(alert.agent.id, alert.agent.name) if alert.agent else None,
        "threshold": Share(alert.threshold / 100),
        "limit": Cash(alert.limit),
        "spent": Cash(alert.spent),
        "used": Share(share(alert.spent, alert.limit)),
        "created_at": When(alert.created),
        "resolved_at": When(alert.resolved),
    }


def _money_fields(state: State, spent: int, limit: int | None, hour: float) -> Fields:
    return {
        "monthly_limit": Cash(limit),
        "has_limit": limit is not None,
        "spent": Cash(spent),
        "remaining": remaining(spent, limit),
        "used": Share(share(spent, limit)),
        "forecast": Cash(forecast(state, spent, hour)),
        "currency": "USD",
        "period": "monthly",
        "period_start": When(state.period_start),
        "resets_at": When(state.resets),
    }


_LEVEL_WORD = {0: "ok", 80: "warning", 100: "exceeded"}


def company_budget_fields(state: State, company: Company, hour: float) -> Fields:
    """The budget of a company; `hour` is the moment its forecast is made for."""
    return {
        "company": Link(company.id, company.name),
        **_money_fields(state, company.spent, company.limit, hour),
        "status": Word(_LEVEL_WORD[level(company.spent, company.limit)]),
        "agent_count": company.agents,
    }


def agent_budget_fields(state: State, agent: Agent, hour: float) -> Fields:
    """The budget of an agent; the forecast of a stopped one is what it has spent."""
    budget = {
        "agent": Link(agent.id, agent.name),
        "company": Link(agent.company.id, agent.company.name),
        **_money_fields(state, agent.spent, agent.limit, hour),
        "status": Word(_LEVEL_WORD[level(agent.spent, agent.limit)]),
        "paused": agent.status == "paused",
        "pause_reason": agent.pause_reason,
    }
    if agent.status == "paused":
        budget["forecast"] = Cash(agent.spent)
    return budget


def overview_fields(state: State, hour: float) -> Fields:
    """The budget of the whole."""
    companies = state.companies.values()
    spent = sum(company.spent for company in companies)
    limit = sum(company.limit or 0 for company in companies) or None
    return {
        **_money_fields(state, spent, limit, hour),
        "status": Word(_LEVEL_WORD[level(spent, limit)]),
        "company_count": len(state.companies),
        "agent_count": len(state.agents),
        "paused_agents": sum(a.status == "paused" for a in state.agents.values()),
        "open_alerts": sum(a.resolved is None for a in state.alerts.values()),
    }


def trace_steps(state: State, task: Task) -> list[Fields]:
    """What an agent did for a task so far: thoughts, tool calls and what came out."""
    known = particulars(state, task)
    beats = (*task.story.prepare, *task.story.carry_out[: task.progress])
    failed = task.status == "failed"
    steps: list[Fields] = []
    at = task.created - 9.0 * len(task.story.prepare)
    parent: str | None = None
    for turn, beat in enumerate(beats, start=1):
        if turn == len(task.story.prepare) + 1 and task.decided is not None:
            at = task.decided + 4.0
        is_last = turn == len(beats)
        # Spread over the steps by a fixed pattern, so that a later look gives the same numbers.
        duration = round(0.4 + (task.number * 7 + turn * 13) % 70 / 10, 1)
        calls = beat.kind == "tool_call"
        step_id = f"{task.id}-s{turn}"
        steps.append(
            {
                "id": step_id,
                "parent_id": parent if beat.kind == "output" else None,
                "index": turn,
                "type": beat.kind,
                "tool": beat.tool or None,
                "arguments": Free(beat.arguments(known)) if calls else None,
                "content": fill(task.story.failed, known)
                if failed and is_last
                else fill(beat.thought or beat.output, known) or None,
                "status": Word("failed" if failed and is_last else "completed"),
                "started_at": When(at),
                "duration": duration,
                "input_tokens": 0 if calls else 380 + (task.number * 31 + turn * 57) % 900,
                "output_tokens": 0 if calls else 40 + (task.number * 17 + turn * 23) % 260,
                "cost": Cash(task.cost // len(beats)),
            }
        )
        parent = step_id if calls else None
        at += duration + 1.0
    return steps
