"""The columns of the budgets, a gauge a row, and of the alerts."""

from __future__ import annotations

from collections.abc import Callable

from agentco_tui.live.insight import Level, alert_level
from agentco_tui.model import Alert, Budget, BudgetScope, Money
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    Widths,
    age_column,
    column,
    level_column,
    limit_text,
    money_cell,
    number_column,
    share_text,
    text_column,
)
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.table.layout import Column, ColumnKind
from agentco_tui.widgets.tones import Cell, Tone, bar

BAR_WIDTH = 10
"""Cells of a gauge."""
SUM: Widths = (10, 9)
SCOPE_RANKS = {BudgetScope.ALL: 0, BudgetScope.COMPANY: 1, BudgetScope.AGENT: 2}


def budget_columns(look: Look) -> list[Column[Budget]]:
    """The gauges: the whole first, then companies, then agents."""

    def tone(budget: Budget) -> Tone:
        return TONES[look.level_of(budget)]

    def name(budget: Budget) -> Cell:
        if budget.scope is BudgetScope.AGENT:
            return Cell(plain(f"  {look.names.budget(budget)}"))
        return Cell(look.names.budget(budget), Tone.STRONG)

    def gauge(budget: Budget) -> Cell:
        if budget.unlimited or budget.share is None:
            return Cell(signs.missing, Tone.DIM)
        return Cell(bar(budget.share, BAR_WIDTH), tone(budget))

    def company(budget: Budget) -> SafeText:
        return look.names.company(look.names.company_of(budget))

    def company_cell(budget: Budget) -> Cell:
        if budget.scope is BudgetScope.ALL:
            return Cell(signs.missing, Tone.DIM)
        agents = budget.scope is BudgetScope.AGENT
        return Cell(company(budget), Tone.PLAIN if agents else Tone.DIM)

    def money(
        key: str,
        title: str,
        read: Callable[[Budget], Money | None],
        cell: Callable[[Budget], Cell],
        **more: object,
    ) -> Column[Budget]:
        """A sum; sorted and filtered without its currency."""

        def amount(budget: Budget) -> object:
            return known.amount if (known := read(budget)) else None

        return number_column(key, title, SUM, cell, amount, **more)

    return [
        level_column(look.level_of, sort_key=look.level_of, descending_first=True),
        column(
            "name",
            "BUDGET OF",
            (14, 12),
            name,
            grow=1,
            sort_key=lambda b: (SCOPE_RANKS[b.scope], look.names.budget(b).casefold()),
            aliases=("agent", "of"),
        ),
        column(
            "company",
            "COMPANY",
            (15, 8),
            company_cell,
            priority=4,
            sort_key=lambda b: company(b).casefold(),
        ),
        column("gauge", "USED", (BAR_WIDTH, BAR_WIDTH), gauge, priority=2),
        number_column(
            "share",
            "%",
            (6, 6),
            lambda b: Cell(share_text(b), tone(b)),
            lambda b: b.share,
            kind=ColumnKind.SHARE,
            descending_first=True,
            aliases=("used", "spent%"),
        ),
        money(
            "spent",
            "SPENT",
            lambda b: b.spent,
            lambda b: money_cell(b.spent),
            descending_first=True,
        ),
        money(
            "limit",
            "LIMIT",
            lambda b: b.limit,
            lambda b: Cell(limit_text(b), Tone.PLAIN if b.limit else Tone.DIM),
            descending_first=True,
        ),
        money(
            "remaining",
            "LEFT",
            lambda b: b.remaining,
            lambda b: money_cell(b.remaining, tone(b)),
            priority=3,
            aliases=("left",),
        ),
    ]


def alert_columns(look: Look) -> list[Column[Alert]]:
    """The alerts' columns."""

    def about(alert: Alert) -> SafeText:
        if alert.agent is not None:
            return look.names.agent(alert.agent)
        return look.names.company(alert.company) if alert.company else plain("all")

    def level(alert: Alert) -> Level:
        return alert_level(alert, look.limits)

    def tone(alert: Alert) -> Tone:
        return TONES[level(alert)]

    return [
        level_column(level, sort_key=level, descending_first=True),
        age_column(look, "age", "AGE", lambda alert: alert.at.at if alert.at else None),
        text_column("about", "ABOUT", (10, 6), about, Tone.STRONG, priority=1),
        text_column(
            "alert", "ALERT", (24, 24), lambda alert: alert.text, tone, grow=1, aliases=("text",)
        ),
    ]
