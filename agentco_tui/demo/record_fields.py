"""Every record of the embedded world as named fields, before any shape has dressed them.

The names are snake_case and neutral; money, moments, references, shares and status words are
marked by small types, because that is where platforms differ.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from agentco_tui.demo.life import level, particulars
from agentco_tui.demo.stories import fill
from agentco_tui.demo.world_state import (
    DOLLAR,
    DemoAgent,
    DemoAlert,
    DemoCompany,
    DemoTask,
    Entry,
    WorldState,
)

Fields = dict[str, Any]


class Cash(NamedTuple):
    """A sum in micro-dollars; None where there is no limit.

    `rest` marks what is left of a limit: below nothing, some platforms send 0.
    """

    micros: int | None
    rest: bool = False


class When(NamedTuple):
    """A moment in seconds since 1970 UTC; None where it has not come."""

    at: float | None


class Link(NamedTuple):
    """A reference to another record."""

    id: str
    name: str


class Share(NamedTuple):
    """A part of a whole, 1 = all of it; None without a whole."""

    ratio: float | None


class Word(NamedTuple):
    """A status, a priority or a level, which a shape may spell in its own way."""

    word: str


def company_fields(company: DemoCompany) -> Fields:
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


def _remaining(spent: int, limit: int | None) -> Cash:
    return Cash(None if limit is None else limit - spent, rest=True)


def _used(spent: int, limit: int | None) -> Share:
    return Share(spent / limit if limit else None)


def agent_fields(agent: DemoAgent) -> Fields:
    return {
        "id": agent.id,
        "name": agent.name,
        "role": agent.role,
        "company": Link(agent.company.id, agent.company.name),
        "trust_score": agent.trust,
        "budget_remaining": _remaining(agent.spent, agent.limit),
        "status": Word(agent.status),
        "pause_reason": agent.pause_reason,
        "model": agent.model,
        "tasks_completed": agent.completed,
        "created_at": When(agent.created),
        "last_active_at": When(agent.last_seen),
    }


def task_fields(task: DemoTask) -> Fields:
    return {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "status": Word(task.status),
        "priority": Word(task.priority),
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
    return {
        "id": entry.id,
        "timestamp": When(entry.at),
        "level": Word(entry.level),
        "action": entry.action,
        "message": entry.message,
        "company": entry.company and Link(entry.company.id, entry.company.name),
        "agent": entry.agent and Link(entry.agent.id, entry.agent.name),
        "task": entry.task and Link(entry.task.id, entry.task.title),
        "actor": entry.actor,
        "cost": Cash(entry.cost) if entry.cost else None,
    }


def alert_fields(alert: DemoAlert) -> Fields:
    return {
        "id": alert.id,
        "severity": Word(alert.severity),
        "type": "budget_threshold",
        "message": alert.message,
        "status": Word("open" if alert.resolved is None else "resolved"),
        "company": Link(alert.company.id, alert.company.name),
        "agent": Link(alert.agent.id, alert.agent.name) if alert.agent else None,
        "threshold": Share(alert.threshold / 100),
        "limit": Cash(alert.limit),
        "spent": Cash(alert.spent),
        "used": _used(alert.spent, alert.limit),
        "created_at": When(alert.created),
        "resolved_at": When(alert.resolved),
    }


def _money_fields(state: WorldState, spent: int, limit: int | None, hour: float) -> Fields:
    """A budget; its forecast, made for `hour`, is at the mean rate of the period so far."""
    passed = max(hour - state.period_start, 86_400.0)
    rate = max(1.0, (state.resets - state.period_start) / passed)
    return {
        "monthly_limit": Cash(limit),
        "has_limit": limit is not None,
        "spent": Cash(spent),
        "remaining": _remaining(spent, limit),
        "used": _used(spent, limit),
        "forecast": Cash(int(spent * rate)),
        "currency": "USD",
        "period": "monthly",
        "period_start": When(state.period_start),
        "resets_at": When(state.resets),
        "status": Word({0: "ok", 80: "warning", 100: "exceeded"}[level(spent, limit)]),
    }


def company_budget_fields(state: WorldState, company: DemoCompany, hour: float) -> Fields:
    return {
        "company": Link(company.id, company.name),
        **_money_fields(state, company.spent, company.limit, hour),
        "agent_count": company.agents,
    }


def agent_budget_fields(state: WorldState, agent: DemoAgent, hour: float) -> Fields:
    """The budget of an agent; the forecast of a stopped one is what it has spent."""
    paused = agent.status == "paused"
    return {
        "agent": Link(agent.id, agent.name),
        "company": Link(agent.company.id, agent.company.name),
        **_money_fields(state, agent.spent, agent.limit, hour),
        **({"forecast": Cash(agent.spent)} if paused else {}),
        "paused": paused,
        "pause_reason": agent.pause_reason,
    }


def overview_fields(state: WorldState, hour: float) -> Fields:
    companies = state.companies.values()
    spent = sum(company.spent for company in companies)
    limit = sum(company.limit or 0 for company in companies) or None
    return {
        **_money_fields(state, spent, limit, hour),
        "company_count": len(state.companies),
        "agent_count": len(state.agents),
        "paused_agents": sum(a.status == "paused" for a in state.agents.values()),
        "open_alerts": sum(a.resolved is None for a in state.alerts.values()),
    }


def trace_steps(state: WorldState, task: DemoTask) -> list[Fields]:
    """What an agent did for a task so far: thoughts, tool calls and what came out."""
    known = particulars(state, task)
    beats = (*task.story.prepare, *task.story.carry_out[: task.progress])
    steps: list[Fields] = []
    at = start = task.created - 9.0 * len(task.story.prepare)
    parent: str | None = None
    for turn, beat in enumerate(beats, start=1):
        if turn == len(task.story.prepare) + 1 and task.decided is not None:
            at = task.decided + 4.0
        failed = task.status == "failed" and turn == len(beats)
        words = task.story.failed if failed else beat.thought or beat.output
        content = fill(words, known) or None
        # Spread over the steps by a fixed pattern, so that a later look gives the same numbers.
        seconds = round(0.4 + (task.number * 7 + turn * 13) % 70 / 10, 1)
        tokens_in = 0 if beat.tool else 380 + (task.number * 31 + turn * 57) % 900
        tokens_out = 0 if beat.tool else 40 + (task.number * 17 + turn * 23) % 260
        arguments = beat.arguments(known) if beat.tool else None
        function = {"name": beat.tool, "arguments": json.dumps(arguments)}
        step_id = f"{task.id}-s{turn}"
        steps.append(
            {
                "id": step_id,
                "parent_id": parent if beat.kind == "output" else None,
                "index": turn,
                "type": beat.kind,
                "tool": beat.tool or None,
                "name": beat.tool or beat.kind,
                "arguments": arguments,
                "tool_calls": [{"function": function}] if beat.tool else None,
                "content": content,
                "said": content or beat.tool,
                "status": Word("failed" if failed else "completed"),
                "outcome": "failed" if failed else "completed",
                "error": content if failed else None,
                "started_at": When(at),
                "ended_at": When(at + seconds),
                "offset_ms": round((at - start) * 1000),
                "seconds": seconds,
                "ms": round(seconds * 1000),
                "input_tokens": tokens_in,
                "output_tokens": tokens_out,
                "total_tokens": tokens_in + tokens_out,
                "cost_usd": task.cost // len(beats) / DOLLAR,
            }
        )
        parent = step_id if beat.tool else None
        at += seconds + 1.0
    return steps
