"""The agents: who is at work, who is stuck, and what each has left to spend."""

from __future__ import annotations

from typing import ClassVar

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import in_scope
from agentco_tui.model import Agent
from agentco_tui.screens.columns.agent_columns import agent_columns
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.widgets.table.layout import Column


class AgentsView(ListView[Agent]):
    """All agents of the company in scope."""

    place = "agents"
    heading = "AGENTS"
    sort = ("name", False)
    empty = "no agents"
    lists = (FeedName.AGENTS,)
    names_from = frozenset({FeedName.COMPANIES})
    figures_from: ClassVar = {FeedName.AGENT_BUDGETS: "same id"}

    BINDINGS = bindings_of("agents")

    def columns(self) -> list[Column[Agent]]:
        return agent_columns(self.look)

    def search_text(self, record: Agent) -> str:
        company = self.session.names.company(record.company)
        words = (record.name, record.role, company, record.status, record.model)
        return "\n".join(word for word in words if word)

    def wanted(self, record: Agent) -> bool:
        return in_scope(record.company, self.session.company)

    def open(self, row_id: str) -> None:
        super().open(row_id)
        self.main.read_record(FeedName.AGENTS, row_id)
