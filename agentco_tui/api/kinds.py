"""The kinds of record that the interface lists."""

from __future__ import annotations

from agentco_tui.reading.kinds.activity import ACTIVITY
from agentco_tui.reading.kinds.agent import AGENTS
from agentco_tui.reading.kinds.alert import ALERTS
from agentco_tui.reading.kinds.budget import AGENT_BUDGETS, COMPANY_BUDGETS
from agentco_tui.reading.kinds.company import COMPANIES
from agentco_tui.reading.kinds.task import TASKS
from agentco_tui.reading.schema import Kind

__all__ = [
    "ACTIVITY",
    "AGENTS",
    "AGENT_BUDGETS",
    "ALERTS",
    "COMPANIES",
    "COMPANY_BUDGETS",
    "TASKS",
    "Kind",
]
