"""Counts the agents by company and by state, as they are added, changed and removed.

Agents are the AI workers of a company on the platform, the remote service. `NeedsModel`, which
keeps the "needs you" list (what the user should look at) up to date, calls `update` for each agent
that changed in the store (what is known of the platform); screens read the counters.
"""

from __future__ import annotations

from collections import Counter

from agentco_tui.model import Agent, AgentState, Ref


class AgentCounts:
    """All agents that the store has, of whatever company."""

    def __init__(self) -> None:
        self.by_company = Counter[str]()
        """By the id of the company; "" for those of which none is known."""
        self.by_state = Counter[AgentState | None]()
        """None is the state of agents of which the platform sends none."""
        self._counted: dict[str, Agent] = {}

    def company_of(self, agent_id: str) -> str:
        """The id of an agent's company; "" if that is not known."""
        counted = self._counted.get(agent_id)
        return "" if counted is None else _company_id(counted)

    def update(self, agent_id: str, agent: Agent | None) -> None:
        """Take in what the store has under this id now; None if it has nothing."""
        before = self._counted.pop(agent_id, None)
        if before is not None:
            self.by_company[_company_id(before)] -= 1
            self.by_state[before.state] -= 1
        if agent is not None:
            self._counted[agent_id] = agent
            self.by_company[_company_id(agent)] += 1
            self.by_state[agent.state] += 1


def _company_id(agent: Agent) -> str:
    """The id of an agent's company; "" if it names none."""
    return (agent.company or Ref()).id or ""
