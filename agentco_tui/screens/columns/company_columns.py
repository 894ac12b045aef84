"""The columns of the companies."""

from __future__ import annotations

from decimal import Decimal

from agentco_tui import format as fmt
from agentco_tui.live.insight import Level, budget_level
from agentco_tui.model import Budget, Company, Ref
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    level_column,
    money_cell,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from agentco_tui.text import plain, signs
from agentco_tui.widgets.table.layout import Column, ColumnKind
from agentco_tui.widgets.tones import Cell, Tone, bar

BAR_WIDTH = 12
"""Cells of a gauge."""


def company_columns(look: Look) -> list[Column[Company]]:
    """The companies' columns; counts that the platform doesn't send are counted here (~)."""

    def budget(company: Company) -> Budget | None:
        return look.store.company_budgets.get(company.id)

    def level(company: Company) -> Level:
        known = budget(company)
        return Level.OK if known is None else budget_level(known, look.limits)

    def counted(sent: int | None, records: list[Ref | None], company: Company) -> Cell:
        if sent is not None:
            return number_cell(sent)
        if not records:
            return number_cell(None)
        here = sum(1 for ref in records if ref is not None and ref.id == company.id)
        return Cell(plain(f"{signs.derived}{fmt.count(here)}"))

    def agents(company: Company) -> Cell:
        return counted(company.agent_count, [agent.company for agent in look.store.agents], company)

    def waiting(company: Company) -> Cell:
        refs = [look.names.company_of(task) for task in look.store.pending]
        return counted(company.pending_count, refs, company)

    def spent(company: Company) -> Cell:
        known = budget(company)
        return money_cell(known.spent if known else None)

    def used(company: Company) -> Cell:
        known = budget(company)
        if known is None or known.share is None or known.unlimited:
            return Cell(signs.missing, Tone.DIM)
        return Cell(
            plain(f"{bar(known.share, BAR_WIDTH)} {fmt.percent(known.share):>5}"),
            TONES[level(company)],
        )

    def share(company: Company) -> Decimal | None:
        known = budget(company)
        return known.share if known else None

    return [
        level_column(level, ticks=True),
        text_column(
            "name",
            "COMPANY",
            (16, 12),
            lambda c: c.name or look.names.company(Ref(id=c.id)),
            tone=Tone.STRONG,
            grow=1,
            sort_key=lambda c: (c.name or c.id).casefold(),
            aliases=("company",),
        ),
        Column(
            "status",
            plain("STATUS"),
            9,
            lambda c: text_cell(c.status),
            min_width=6,
            priority=3,
            sort_key=lambda c: c.status,
        ),
        Column("agents", plain("AGENTS"), 6, agents, min_width=6, align="right", ticks=True),
        Column("waiting", plain("WAITING"), 7, waiting, min_width=7, align="right", ticks=True),
        Column(
            "spent", plain("SPENT"), 12, spent, min_width=9, priority=1, align="right", ticks=True
        ),
        number_column(
            "used",
            "OF LIMIT",
            (BAR_WIDTH + 6, BAR_WIDTH + 6),
            used,
            share,
            align="left",
            ticks=True,
            kind=ColumnKind.SHARE,
            descending_first=True,
            aliases=("share",),
        ),
        Column(
            "mission",
            plain("MISSION"),
            20,
            lambda c: text_cell(c.mission, Tone.DIM),
            min_width=20,
            priority=5,
            grow=3,
        ),
    ]
