"""One file for each kind of record: its table of names, and how a record is built of them."""

from __future__ import annotations

from typing import Any

from agentco_tui.reading.schema import Kind


def mappable() -> dict[str, Kind[Any]]:
    """The kinds by the names that a profile and `doctor --fields` use."""
    from agentco_tui.reading.kinds import alert, budget, company, task  # noqa: PLC0415 - they import us

    return {
        "company": company.COMPANIES,
        "task": task.TASKS,
        "company_budget": budget.COMPANY_BUDGETS,
        "agent_budget": budget.AGENT_BUDGETS,
        "budget": budget.WHOLE,
        "alert": alert.ALERTS,
    }
