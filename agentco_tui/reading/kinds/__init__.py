"""One file for each kind of record: its table of names, and how a record is built of them.

The kinds are companies, AI agents, tasks, budgets, alerts, entries of the activity log and steps of
a trace (the log of one task, which has no list). `WHOLE` is the budget of all companies together.
The names are those of fields in the answers of platforms, the remote services. A profile, the
user's configuration for one platform, may map further names.
"""

from __future__ import annotations

from typing import Any

from agentco_tui.reading.schema import Kind


def mappable_kinds() -> dict[str, Kind[Any]]:
    """The kinds whose fields a profile may map, by their names in it and in `doctor --fields`.

    That command shows which fields of the answers are read as what.
    """
    # Imported late, because these modules are parts of this package.
    from agentco_tui.reading.kinds import activity, agent, alert, budget, company, task  # noqa: PLC0415

    budgets = (budget.COMPANY_BUDGETS, budget.AGENT_BUDGETS, budget.WHOLE)
    kinds = (company.COMPANIES, agent.AGENTS, task.TASKS, *budgets, alert.ALERTS, activity.ACTIVITY)
    return {kind.name: kind for kind in kinds}
