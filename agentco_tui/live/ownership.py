"""Finds the company that a record belongs to: the one that it names, or that of its AI agent.

What a record reports, its cause, is one of that company's.

A `Ref` is a reference to another record by id, name or both. A budget has the id of its owner.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentco_tui.model import Activity, Agent, Alert, Budget, BudgetScope, Ref, Task


def company_of(
    record: Task | Agent | Budget | Alert | Activity, agents: Mapping[str, Agent]
) -> Ref | None:
    """The company of a record: its own, otherwise that of its agent. None if neither is known.

    `agents` are the known agents by id. The agent of a log entry that names none is its actor.
    """
    if isinstance(record, Budget) and record.scope is BudgetScope.COMPANY:
        return Ref(id=record.id, name=record.name)
    if record.company is not None or isinstance(record, Agent):
        return record.company
    agent = record if isinstance(record, Budget) else record.agent
    if isinstance(record, Activity):
        agent = record.agent or record.actor
    if agent is None or agent.id is None:
        return None
    owner = agents.get(agent.id)
    if owner is None:
        return None
    return owner.company


def cause_of(record: Task | Agent | Budget | Alert | Activity) -> str | None:
    """What a record reports, told apart from the causes of other companies; None if it is unknown.

    Only the company that the record itself names counts, so it never changes without the record.
    """
    if record.cause is None:
        return None
    company = company_of(record, {}) or Ref()
    return f"{company.id or ''}\n{record.cause}"
