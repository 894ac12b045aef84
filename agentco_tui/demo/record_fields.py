"""The records of the embedded world as fields by name, in values that no JSON style has changed.

The embedded world is the simulated companies, AI agents and tasks of demos and tests. A task
follows a story: templates for its steps and texts, into which `fill` puts the task's particulars
(names, amounts). `renderer.py` writes the fields as JSON. Names are in snake_case. `VALUE_TYPES`
says which values need writing: amounts are in micro-dollars, times in seconds since 1970 UTC,
shares are parts of 1, and a link is another record. All other values are sent unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from agentco_tui.demo.stories import Particulars, StoryStep, fill
from agentco_tui.demo.world_state import DOLLAR, Budgeted, DemoTask, WorldState

Fields = dict[str, Any]
"""A record's values by field name."""

_SECONDS_OF_PREPARATION = 9.0
"""Seconds that each step takes before a task is created."""
_SECONDS_TO_START = 4.0
"""Seconds from a decision to the first step after it."""

VALUE_TYPES = {
    name: value_type
    for value_type, names in {
        "amount": "cost estimated_cost forecast limit monthly_limit spent",
        "remainder": "budget_remaining remaining",
        "share": "used threshold",
        "time": "created_at updated_at decided_at finished_at started_at ended_at resolved_at"
        " last_active_at timestamp period_start resets_at",
        "word": "status priority severity level",
        "link": "agent company task",
    }.items()
    for name in names.split()
}
"""The type of each field's value; a remainder is an amount that may be negative."""

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
        # `pace` is the period's length, divided by the part that had passed at the start.
        "forecast": int(owner.spent * state.pace),
        "currency": "USD",
        "period": "monthly",
        "period_start": state.period_start,
        "resets_at": state.resets,
        # By the threshold that the spending has reached: none, the warning, or the limit.
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


def trace_fields(state: WorldState, task: DemoTask) -> list[Fields]:
    """The trace of a task, a set of fields for each step that its agent has done so far.

    A step is a thought, a tool call, or the output of one, whose `parent_id` is the tool call's.
    """
    particulars = state.particulars(task)
    prepared = len(task.story.prepare)
    steps = (*task.story.prepare, *task.story.carry_out[: task.progress])
    at = task.created - _SECONDS_OF_PREPARATION * prepared
    trace: list[Fields] = []
    tool_call_id: str | None = None
    for number, step in enumerate(steps, start=1):
        if number == prepared + 1 and task.decided is not None:
            at = task.decided + _SECONDS_TO_START
        is_failure = task.status == "failed" and number == len(steps)
        fields = _step_fields(task, step, number, particulars, is_failure=is_failure)
        fields["parent_id"] = tool_call_id if step.kind == "output" else None
        fields["started_at"] = at
        fields["cost_usd"] = task.cost // len(steps) / DOLLAR
        trace.append(fields)
        tool_call_id = fields["id"] if step.tool else None
        at += fields["seconds"] + 1.0
    return trace


def _step_fields(
    task: DemoTask, step: StoryStep, number: int, particulars: Particulars, *, is_failure: bool
) -> Fields:
    """A step without its place in the trace; `seconds` is its duration."""
    template = task.story.failed if is_failure else step.thought or step.output
    # A fixed pattern of durations and tokens: a trace that is read again has the same figures.
    input_tokens = 0
    output_tokens = 0
    if not step.tool:
        input_tokens = 380 + (task.number * 31 + number * 57) % 900
        output_tokens = 40 + (task.number * 17 + number * 23) % 260
    return {
        "id": f"{task.id}-s{number}",
        "index": number,
        "type": step.kind,
        "tool": step.tool or None,
        "arguments": step.arguments(particulars) if step.tool else None,
        "content": fill(template, particulars) or None,
        "status": "failed" if is_failure else "completed",
        "seconds": round(0.4 + (task.number * 7 + number * 13) % 70 / 10, 1),
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
    }
