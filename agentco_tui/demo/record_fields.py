"""The records of the embedded world as neutral fields, before a response shape is applied.

Names are in snake_case. `SORTS` says which values a platform may write in its own way: amounts in
micro-dollars, remaining amounts (some platforms send 0 for a negative one), shares of 1, times in
seconds since 1970 UTC, words such as statuses, and links to other records.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from agentco_tui.demo.stories import Beat, Facts, fill
from agentco_tui.demo.world_state import DOLLAR, Budgeted, DemoTask, WorldState

Fields = dict[str, Any]
"""A record's values by neutral field names."""

_SECONDS_OF_PREPARATION = 9.0
"""Seconds that each step takes before a task is created."""
_SECONDS_TO_START = 4.0
"""Seconds from a decision to the first step after it."""

SORTS = {
    name: sort
    for sort, names in {
        "sum": "cost estimated_cost forecast limit monthly_limit spent",
        "rest": "budget_remaining remaining",
        "share": "used threshold",
        "moment": "created_at updated_at decided_at finished_at started_at ended_at resolved_at"
        " last_active_at timestamp period_start resets_at",
        "word": "status priority severity level",
        "link": "agent company task",
    }.items()
    for name in names.split()
}
"""The sort of value of each field; fields without one are sent unchanged."""

_RECORDS = {
    "companies": "id name template mission status agent_count=agents task_count=tasks"
    " pending_count=pending created_at=created",
    "agents": "id name role company trust_score=trust budget_remaining=remaining status"
    " pause_reason model tasks_completed=completed created_at=created last_active_at=last_seen",
    "tasks": "id title description status priority company=agent.company agent"
    " estimated_cost=estimate cost created_at=created updated_at=updated decided_at=decided"
    " decided_by finished_at=finished",
    "activity": "id timestamp=at level action message company agent task actor cost",
    "alerts": "id severity type message status company agent threshold limit spent used"
    " created_at=created resolved_at=resolved",
}
"""The fields of each kind of record: `field=attribute`, or one word if both are named the same."""


def _reader_of(declaration: str) -> Callable[[Any], Fields]:
    """A function that reads the declared fields of a record."""
    names: list[str] = []
    attributes: list[str] = []
    for word in declaration.split():
        name, _, attribute = word.partition("=")
        names.append(name)
        attributes.append(attribute or name)
    read_attributes = attrgetter(*attributes)
    return lambda record: dict(zip(names, read_attributes(record), strict=True))


_READERS = {kind: _reader_of(declaration) for kind, declaration in _RECORDS.items()}


def record_fields(kind: str, record: Any, state: WorldState) -> Fields:
    """The fields of a record; kinds without a declaration are budgets."""
    if kind in _READERS:
        return _READERS[kind](record)
    if kind == "company_budgets":
        budget = _budget_fields(state, record)
        return {"company": record, **budget, "agent_count": record.agents}
    budget = _budget_fields(state, record)
    is_paused = record.status == "paused"
    if is_paused:
        # A stopped agent spends no more.
        budget["forecast"] = record.spent
    return {
        "agent": record,
        "company": record.company,
        **budget,
        "paused": is_paused,
        "pause_reason": record.pause_reason,
    }


def _budget_fields(state: WorldState, owner: Budgeted) -> Fields:
    """A budget. Its forecast does not move with time, or no two answers would be equal."""
    return {
        "monthly_limit": owner.limit,
        "has_limit": owner.limit is not None,
        "spent": owner.spent,
        "remaining": owner.remaining,
        "used": owner.used,
        "forecast": int(owner.spent * state.pace),
        "currency": "USD",
        "period": "monthly",
        "period_start": state.period_start,
        "resets_at": state.resets,
        "status": {0: "ok", 0.8: "warning", 1: "exceeded"}[owner.reached],
    }


def overview_fields(state: WorldState) -> Fields:
    """The budget of all companies together, with counts."""
    companies = state.companies.values()
    limit = sum(company.limit or 0 for company in companies) or None
    spent = sum(company.spent for company in companies)
    return {
        **_budget_fields(state, Budgeted(limit=limit, spent=spent)),
        "company_count": len(state.companies),
        "agent_count": len(state.agents),
        "paused_agents": sum(a.status == "paused" for a in state.agents.values()),
        "open_alerts": sum(a.resolved is None for a in state.alerts.values()),
    }


def trace_steps(state: WorldState, task: DemoTask) -> list[Fields]:
    """The steps of a task's agent so far: thoughts, tool calls and their outputs."""
    particulars = state.particulars(task)
    prepared = len(task.story.prepare)
    beats = (*task.story.prepare, *task.story.carry_out[: task.progress])
    starts_at = task.created - _SECONDS_OF_PREPARATION * prepared
    at = starts_at
    steps: list[Fields] = []
    tool_call_id: str | None = None
    for number, beat in enumerate(beats, start=1):
        if number == prepared + 1 and task.decided is not None:
            at = task.decided + _SECONDS_TO_START
        is_failure = task.status == "failed" and number == len(beats)
        step = _trace_step(task, beat, number, particulars, is_failure=is_failure)
        step["parent_id"] = tool_call_id if beat.kind == "output" else None
        step["started_at"] = at
        step["ended_at"] = at + step["seconds"]
        step["offset_ms"] = round((at - starts_at) * 1000)
        step["cost_usd"] = task.cost // len(beats) / DOLLAR
        steps.append(step)
        tool_call_id = step["id"] if beat.tool else None
        at += step["seconds"] + 1.0
    return steps


def _trace_step(
    task: DemoTask, beat: Beat, number: int, particulars: Facts, *, is_failure: bool
) -> Fields:
    """A step without its place in time."""
    template = task.story.failed if is_failure else beat.thought or beat.output
    content = fill(template, particulars) or None
    arguments = None
    tool_calls = None
    if beat.tool:
        arguments = beat.arguments(particulars)
        function = {"name": beat.tool, "arguments": json.dumps(arguments)}
        tool_calls = [{"function": function}]
    # A fixed pattern of durations and tokens: a trace that is read again has the same figures.
    seconds = round(0.4 + (task.number * 7 + number * 13) % 70 / 10, 1)
    input_tokens = 0
    output_tokens = 0
    if not beat.tool:
        input_tokens = 380 + (task.number * 31 + number * 57) % 900
        output_tokens = 40 + (task.number * 17 + number * 23) % 260
    status = "failed" if is_failure else "completed"
    return {
        "id": f"{task.id}-s{number}",
        "index": number,
        "type": beat.kind,
        "tool": beat.tool or None,
        "name": beat.tool or beat.kind,
        "arguments": arguments,
        "tool_calls": tool_calls,
        "content": content,
        "said": content or beat.tool,
        "status": status,
        "outcome": status,
        "error": content if is_failure else None,
        "seconds": seconds,
        "ms": round(seconds * 1000),
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
