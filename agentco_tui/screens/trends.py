"""Figures over time as columns, lines, graphs and sentences, for every screen that has any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentco_tui.live.outlook import Day
from agentco_tui.model import Budget
from agentco_tui.screens import cells
from agentco_tui.screens.session import Session
from agentco_tui.text import plain
from agentco_tui.widgets.graph import spark
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.tones import Cell, Tone

HOURS = 24
SPARK, LEAST_SPARK = 12, 6  # cells of a column; a day shares them evenly


def spent_in_day(session: Session, budget: Budget | None) -> Day:
    return () if budget is None else session.outlook.spent_by_hour(budget)


def spark_cell(day: Day, width: int) -> Cell:
    """A day in cells that stand for as many hours each; no text if nothing is known of it."""
    if all(figure is None for figure in day):
        return Cell(plain(""))
    return Cell(
        spark(day, max(n for n in (1, 2, 3, 4, 6, 8, 12, 24) if n <= max(1, width))), Tone.DIM
    )


def trend_column(day_of: Callable[[R], Day], **more: Any) -> Column[R]:
    """The last 24 hours of a record, each on a scale of its own; once one of them is known."""

    def drawn(record: R, width: int) -> Cell:
        return spark_cell(day_of(record), width)

    more = {"drawn": drawn, "grow": 1, "comes_later": True, **more}
    widths = SPARK, LEAST_SPARK
    return cells.column("trend", "24 H", widths, lambda r: spark_cell(day_of(r), SPARK), **more)
