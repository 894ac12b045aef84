"""The agents: who is at work, who is stuck, and what each has left to spend."""

from __future__ import annotations

from decimal import Decimal

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import in_scope
from agentco_tui.model import Agent, Budget, Ref
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.text import SafeText
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone


class AgentsView(ListView[Agent]):
    place = "agents"
    sort = ("name", False)
    empty = "no agents"
    lists = (FeedName.AGENTS,)
    names_from = frozenset({FeedName.COMPANIES})
    figures_from = frozenset({FeedName.AGENT_BUDGETS})
    BINDINGS = bindings_of("agents")

    def columns(self) -> list[Column[Agent]]:
        look, names = self.look, self.look.names

        def budget(agent: Agent) -> Budget | None:
            return look.store.agent_budgets.get(agent.id)

        def left(agent: Agent) -> Cell:
            known = budget(agent)
            return cells.money_cell(cells.left_of(agent, known), TONES[look.level_of(known)])

        def amount_left(agent: Agent) -> Decimal | None:
            money = cells.left_of(agent, budget(agent))
            return None if money is None else money.amount

        def name(agent: Agent) -> SafeText:
            return agent.name or names.agent(Ref(id=agent.id))

        # fmt: off
        return [
            cells.level_column(lambda a: look.level_of(budget(a)), ticks=True),
            cells.text_column("name", "AGENT", (14, 10), name, Tone.STRONG, grow=2,
                aliases=("agent",)),
            cells.text_column("role", "ROLE", (12, 8), lambda a: a.role, priority=3, grow=1),
            cells.text_column("company", "COMPANY", (15, 8), lambda a: names.company(a.company),
                priority=2),
            cells.column("status", "  STATUS", (17, 10), cells.agent_status_cell,
                sort_key=lambda a: a.status or ""),
            cells.number_column("trust", "TRUST", (5, 5),
                lambda a: cells.trust_cell(a.trust, a.trust_word), lambda a: a.trust, priority=1,
                descending_first=True),
            cells.number_column("left", "LEFT", (11, 8), left, amount_left, ticks=True,
                aliases=("remaining", "budget")),
            cells.number_column("done", "DONE", (6, 5),
                lambda a: cells.number_cell(a.tasks_completed), lambda a: a.tasks_completed,
                priority=4, descending_first=True),
            cells.text_column("model", "MODEL", (16, 8), lambda a: a.model, Tone.DIM, priority=5),
        ]
        # fmt: on

    def search_text(self, record: Agent) -> str:
        company = self.session.names.company(record.company)
        words = (record.name, record.role, company, record.status, record.model)
        return "\n".join(filter(None, words))

    def wanted(self, record: Agent) -> bool:
        return in_scope(record.company, self.session.company)

    def open(self, row_id: str) -> None:
        super().open(row_id)
        self.read_whole(self.session.client.agent, row_id)
