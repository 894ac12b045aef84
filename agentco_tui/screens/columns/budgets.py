"""The columns of the budgets: a gauge a row."""

from __future__ import annotations

from agentco_tui.live.insight import Level, alert_level, budget_level
from agentco_tui.model.records import Alert, Budget, BudgetScope
from agentco_tui.screens.columns.cells import (
    TONES,
    Look,
    label,
    level_cell,
    limit_text,
    money_cell,
    share_text,
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

    return [
        Column(
            "level",
            label(" "),
            1,
            lambda b: level_cell(level(b)),
            min_width=1,
            sort_key=level,
            descending_first=True,
        ),
        Column(
            "name",
            label("BUDGET OF"),
            14,
            name,
            min_width=12,
            grow=1,
            sort_key=lambda b: (SCOPE_RANKS[b.scope], look.names.budget(b).casefold()),
            aliases=("agent", "of"),
        ),
        Column(
            "company",
            label("COMPANY"),
            15,
            lambda b: Cell(
                signs.missing if b.scope is BudgetScope.ALL else company(b),
                Tone.DIM if b.scope is not BudgetScope.AGENT else Tone.PLAIN,
            ),
            min_width=8,
            priority=4,
            sort_key=lambda b: company(b).casefold(),
        ),
        Column(
            "gauge",
            label("USED"),
            BAR_WIDTH,
            gauge,
            min_width=BAR_WIDTH,
            priority=2,
        ),
        Column(
            "share",
            label("%"),
            6,
            lambda b: Cell(share_text(b), TONES[level(b)]),
            min_width=6,
            align="right",
            sort_key=lambda b: b.share,
            kind=ColumnKind.SHARE,
            filter_value=lambda b: b.share,
            descending_first=True,
            aliases=("used", "spent%"),
        ),
        Column(
            "spent",
            label("SPENT"),
            10,
            lambda b: money_cell(b.spent),
            min_width=9,
            align="right",
            sort_key=lambda b: b.spent.amount if b.spent else None,
            kind=ColumnKind.NUMBER,
            filter_value=lambda b: b.spent.amount if b.spent else None,
            descending_first=True,
        ),
        Column(
            "limit",
            label("LIMIT"),
            10,
            lambda b: Cell(limit_text(b), Tone.PLAIN if b.limit else Tone.DIM),
            min_width=9,
            align="right",
            sort_key=lambda b: b.limit.amount if b.limit else None,
            kind=ColumnKind.NUMBER,
            filter_value=lambda b: b.limit.amount if b.limit else None,
            descending_first=True,
        ),
        Column(
            "remaining",
            label("LEFT"),
            10,
            lambda b: money_cell(b.remaining, TONES[level(b)]),
            min_width=9,
            priority=3,
            align="right",
            sort_key=lambda b: b.remaining.amount if b.remaining else None,
            kind=ColumnKind.NUMBER,
            filter_value=lambda b: b.remaining.amount if b.remaining else None,
            aliases=("left",),
        ),
    ]


def alert_columns(look: Look) -> list[Column[Alert]]:
    """The alerts' columns."""

    def about(alert: Alert) -> SafeText:
        if alert.agent is not None:
            return look.names.agent(alert.agent)
        return look.names.company(alert.company) if alert.company else plain("all")

    return [
        Column(
            "level",
            label(" "),
            1,
            lambda alert: level_cell(alert_level(alert, look.limits)),
            min_width=1,
            sort_key=lambda alert: alert_level(alert, look.limits),
            descending_first=True,
        ),
        Column(
            "age",
            label("AGE"),
            5,
            lambda alert: Cell(look.age(alert.at.at if alert.at else None), Tone.DIM),
            min_width=5,
            align="right",
            ticks=True,
            sort_key=lambda alert: -alert.at.at if alert.at else None,
            kind=ColumnKind.SECONDS,
            filter_value=lambda a: look.clock.now() - a.at.at if a.at else None,
        ),
        Column(
            "about",
            label("ABOUT"),
            10,
            lambda alert: Cell(about(alert), Tone.STRONG),
            min_width=6,
            priority=1,
            sort_key=lambda alert: about(alert).casefold(),
        ),
        Column(
            "alert",
            label("ALERT"),
            24,
            lambda alert: Cell(alert.text, TONES[alert_level(alert, look.limits)]),
            min_width=24,
            grow=1,
            sort_key=lambda alert: alert.text.casefold(),
            aliases=("text",),
        ),
    ]
