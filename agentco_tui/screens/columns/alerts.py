"""The columns of the budget alerts."""

from __future__ import annotations

from agentco_tui.live.insight import alert_level
from agentco_tui.model.records import Alert
from agentco_tui.screens.columns.look import Look, label
from agentco_tui.screens.level_cells import TONES, level_cell
from agentco_tui.text import SafeText, plain
from agentco_tui.widgets.table.layout import Column, ColumnKind
from agentco_tui.widgets.tones import Cell, Tone


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
            lambda alert: level_cell(alert_level(alert)),
            min_width=1,
            sort_key=alert_level,
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
            lambda alert: Cell(alert.text, TONES[alert_level(alert)]),
            min_width=24,
            grow=1,
            sort_key=lambda alert: alert.text.casefold(),
            aliases=("text",),
        ),
    ]
