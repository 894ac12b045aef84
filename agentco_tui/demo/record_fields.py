"""Every record of the embedded world as named fields, before any shape has dressed them.

The names are snake_case and neutral. What a platform may spell in its own way is told by `SORTS`:
sums in micro-dollars, what is left of one (below nothing some platforms send 0), shares of 1,
moments in seconds since 1970 UTC, words such as statuses, and links to other records.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from agentco_tui.demo.stories import fill
from agentco_tui.demo.world_state import DOLLAR, Budgeted, DemoTask, WorldState

Fields = dict[str, Any]

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
"""The sort of value that each field has; all others are sent as they are."""

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
"""The fields of each kind of record, with the attribute where that has another name."""


def _reader(words: str) -> Callable[[Any], Fields]:
    names, _, attributes = zip(*(word.partition("=") for word in words.split()), strict=True)
    read = attrgetter(*(path or name for name, path in zip(names, attributes, strict=True)))
    return lambda record: dict(zip(names, read(record), strict=True))


_READERS = {kind: _reader(words) for kind, words in _RECORDS.items()}


def record_fields(kind: str, record: Any, state: WorldState) -> Fields:
    if kind in _READERS:
        return _READERS[kind](record)
    if kind == "company_budgets":
        money = _money_fields(state, record)
        return {"company": record, **money, "agent_count": record.agents}
    paused = record.status == "paused"
    return {
        "agent": record,
        "company": record.company,
        **_money_fields(state, record),
        # The forecast of a stopped one is what it has spent.
        **({"forecast": record.spent} if paused else {}),
        "paused": paused,
        "pause_reason": record.pause_reason,
    }


def _money_fields(state: WorldState, owner: Budgeted) -> Fields:
    """A budget; its forecast doesn't move with time, or no answer would be like the one before."""
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
    companies = state.companies.values()
    limit = sum(company.limit or 0 for company in companies) or None
    whole = Budgeted(limit=limit, spent=sum(company.spent for company in companies))
    return {
        **_money_fields(state, whole),
        "company_count": len(state.companies),
        "agent_count": len(state.agents),
        "paused_agents": sum(a.status == "paused" for a in state.agents.values()),
        "open_alerts": sum(a.resolved is None for a in state.alerts.values()),
    }


def trace_steps(state: WorldState, task: DemoTask) -> list[Fields]:
    """What an agent did for a task so far: thoughts, tool calls and what came out."""
    known = state.particulars(task)
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
                "status": "failed" if failed else "completed",
                "outcome": "failed" if failed else "completed",
                "error": content if failed else None,
                "started_at": at,
                "ended_at": at + seconds,
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
