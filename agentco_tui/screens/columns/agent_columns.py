"""The columns of the agents."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from agentco_tui.model import Agent, Budget, Money, Ref
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    agent_status_cell,
    column,
    level_column,
    money_cell,
    number_cell,
    number_column,
    text_column,
    trust_cell,
)
from agentco_tui.text import SafeText
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.tones import Cell, Tone


def left_of(agent: Agent, budget: Budget | None) -> Money | None:
    """What an agent may still spend: by its own record, else by its budget, if that is known."""
    if budget is not None and budget.unlimited:
        # Whatever the agent's own record says then (0, -1): nothing can run out.
        return None
    own, other = agent.budget_remaining, budget.remaining if budget else None
    if own is None or other is None:
        return own or other
    # The agent's record may have the figure alone; the budget tells its currency, and by the same
    # figure its unit.
    unsure = own.unit_assumed and (own.amount != other.amount or other.unit_assumed)
    return msgspec.structs.replace(
        own, currency=own.currency or other.currency, unit_assumed=unsure
    )


def agent_columns(look: Look) -> list[Column[Agent]]:
    """The agents' columns."""

    def budget(agent: Agent) -> Budget | None:
        return look.store.agent_budgets.get(agent.id)

    def left(agent: Agent) -> Cell:
        known = budget(agent)
        return money_cell(left_of(agent, known), TONES[look.level_of(known)])

    def left_amount(agent: Agent) -> Decimal | None:
        money = left_of(agent, budget(agent))
        return None if money is None else money.amount

    def name(agent: Agent) -> SafeText:
        return agent.name or look.names.agent(Ref(id=agent.id))

    def company(agent: Agent) -> SafeText:
        return look.names.company(agent.company)

    def done(agent: Agent) -> int | None:
        return agent.tasks_completed

    left_names = ("remaining", "budget")
    return [
        level_column(lambda agent: look.level_of(budget(agent)), ticks=True),
        text_column("name", "AGENT", (14, 10), name, Tone.STRONG, grow=2, aliases=("agent",)),
        text_column("role", "ROLE", (12, 8), lambda a: a.role, priority=3, grow=1),
        text_column("company", "COMPANY", (15, 8), company, priority=2),
        column(
            "status", "  STATUS", (17, 10), agent_status_cell, sort_key=lambda a: a.status or ""
        ),
        number_column(
            "trust",
            "TRUST",
            (5, 5),
            lambda a: trust_cell(a.trust, a.trust_word),
            lambda a: a.trust,
            priority=1,
            descending_first=True,
        ),
        number_column("left", "LEFT", (11, 8), left, left_amount, ticks=True, aliases=left_names),
        number_column(
            "done",
            "DONE",
            (6, 5),
            lambda a: number_cell(done(a)),
            done,
            priority=4,
            descending_first=True,
        ),
        text_column("model", "MODEL", (16, 8), lambda a: a.model, Tone.DIM, priority=5),
    ]
