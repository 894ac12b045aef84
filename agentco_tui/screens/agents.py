"""The agents: who is at work, who is stuck, and what each has left to spend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import BindingType

from agentco_tui.keys import Place
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import in_scope
from agentco_tui.live.store import Change, Collection
from agentco_tui.model.records import Agent
from agentco_tui.screens.columns.agents import agent_columns
from agentco_tui.screens.list_view import CollectionView
from agentco_tui.screens.view import bindings_of
from agentco_tui.widgets.table.layout import Column


class AgentsView(CollectionView[Agent]):
    """All agents of the company in scope."""

    place: ClassVar[Place] = "agents"
    heading = "AGENTS"
    sort = ("name", False)
    empty = "no agents"

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("agents", {"agents.limit": "limit"})

    @property
    def collection(self) -> Collection[Any]:
        """The agents."""
        return self.session.store.agents

    def feeds(self) -> Iterable[FeedName]:
        """The agents' own feed."""
        return (FeedName.AGENTS,)

    def columns(self) -> list[Column[Agent]]:
        """The agents' columns."""
        return agent_columns(self.look)

    def search_text(self, record: Agent) -> str:
        """Name, role, company, status and model."""
        company = self.session.names.company(record.company)
        words = (record.name, record.role, company, record.status, record.model)
        return "\n".join(word for word in words if word)

    def wanted(self, record: Agent) -> bool:
        """Whether the agent is of the company in scope."""
        return in_scope(record.company, self.session.company)

    def take(self, change: Change) -> None:
        """Take a change; the agents' own names are in the records, so no reload for those."""
        if change.feed is FeedName.AGENTS:
            self._names_seen = self._names()
        super().take(change)

    def take_figures(self, change: Change) -> None:
        """What an agent has left, and how it stands, comes with its budget."""
        if change.feed is FeedName.AGENT_BUDGETS:
            self.read_again((*change.added, *change.changed, *change.removed))
        else:
            super().take_figures(change)

    def open(self, row_id: str) -> None:
        """Read the agent by itself: the list may leave fields out that the agent's record has."""
        super().open(row_id)
        self.main.read_agent(row_id)

    def action_limit(self) -> None:
        """Ask for a new monthly limit."""
        agent = self.selected()
        if agent is not None:
            self.main.set_limit(agent.id)
