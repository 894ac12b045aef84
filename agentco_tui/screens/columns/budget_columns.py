"""The columns of the budgets: a gauge a row."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from agentco_tui.live.insight import Level, alert_level, budget_level
from agentco_tui.model import Alert, Budget, BudgetScope, Money
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    age_column,
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


SCOPE_RANKS = {BudgetScope.ALL: 0, BudgetScope.COMPANY: 1, BudgetScope.AGENT: 2}


def budget_columns(look: Look) -> list[Column[Budget]]:
    """The gauges: the whole first, then companies, then agents."""

    def level(budget: Budget) -> Level:
        return budget_level(budget, look.limits)

    def name(budget: Budget) -> Cell:
        indent = "  " if budget.scope is BudgetScope.AGENT else ""
        tone = Tone.PLAIN if budget.scope is BudgetScope.AGENT else Tone.STRONG
        return Cell(plain(indent + look.names.budget(budget)), tone)

    def gauge(budget: Budget) -> Cell:
        if budget.unlimited or budget.share is None:
            return Cell(signs.missing, Tone.DIM)
        return Cell(bar(budget.share, BAR_WIDTH), TONES[level(budget)])

    def company(budget: Budget) -> SafeText:
        return look.names.company(look.names.company_of(budget))

    def amount(read: Callable[[Budget], Money | None]) -> Callable[[Budget], Decimal | None]:
        """A sum without its currency, for sorting and filters."""
        return lambda budget: known.amount if (known := read(budget)) else None

    return [
        level_column(level, sort_key=level, descending_first=True),
        Column(
            "name",
            plain("BUDGET OF"),
            14,
            name,
            min_width=12,
            grow=1,
            sort_key=lambda b: (SCOPE_RANKS[b.scope], look.names.budget(b).casefold()),
            aliases=("agent", "of"),
        ),
        Column(
            "company",
            plain("COMPANY"),
            15,
            lambda b: Cell(
                signs.missing if b.scope is BudgetScope.ALL else company(b),
                Tone.DIM if b.scope is not BudgetScope.AGENT else Tone.PLAIN,
            ),
            min_width=8,
            priority=4,
            sort_key=lambda b: company(b).casefold(),
        ),
        Column("gauge", plain("USED"), BAR_WIDTH, gauge, min_width=BAR_WIDTH, priority=2),
        number_column(
            "share",
            "%",
            (6, 6),
            lambda b: Cell(share_text(b), TONES[level(b)]),
            lambda b: b.share,
            kind=ColumnKind.SHARE,
            descending_first=True,
            aliases=("used", "spent%"),
        ),
        number_column(
            "spent",
            "SPENT",
            (10, 9),
            lambda b: money_cell(b.spent),
            amount(lambda b: b.spent),
            descending_first=True,
        ),
        number_column(
            "limit",
            "LIMIT",
            (10, 9),
            lambda b: Cell(limit_text(b), Tone.PLAIN if b.limit else Tone.DIM),
            amount(lambda b: b.limit),
            descending_first=True,
        ),
        number_column(
            "remaining",
            "LEFT",
            (10, 9),
            lambda b: money_cell(b.remaining, TONES[level(b)]),
            amount(lambda b: b.remaining),
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

    return [
        level_column(level, sort_key=level, descending_first=True),
        age_column(look, "age", "AGE", lambda alert: alert.at.at if alert.at else None),
        text_column("about", "ABOUT", (10, 6), about, tone=Tone.STRONG, priority=1),
        Column(
            "alert",
            plain("ALERT"),
            24,
            lambda alert: Cell(alert.text, TONES[level(alert)]),
            min_width=24,
            grow=1,
            sort_key=lambda alert: alert.text.casefold(),
            aliases=("text",),
        ),
    ]
