"""Figures of the last 24 hours and of the period: as columns, lines, graphs and sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec

from agentco_tui.attention.consequence import about, consequence, own_forecast, rate_now
from agentco_tui.history.forecast import Forecast
from agentco_tui.history.forecast_service import Day
from agentco_tui.model import Agent, Budget, Company
from agentco_tui.model import format as fmt
from agentco_tui.model.period import HOUR, period_of
from agentco_tui.screens import cells
from agentco_tui.screens.detail_pane import field
from agentco_tui.screens.list_view import ListView
from agentco_tui.text import SafeText, cell_width, plain, signs
from agentco_tui.widgets.graph import Graph, sparkline
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.text_pane import CellLine, PaneItem
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.workspace.workspace import Workspace

SPARK = 12  # cells of the column that draws a day
LEAST_SPARK = 6  # cells to which it shrinks
HOURS = 24
ROUGHLY = 600.0
"""Seconds by which the time that was seen may be less than the hours shown without a note: the last
hour is not over."""


def spark_cell(day: Day, width: int = SPARK) -> Cell:
    """A day drawn in at most `width` cells; no text if nothing is known of it."""
    is_known = any(figure is not None for figure in day)
    return Cell(sparkline(day, min(width, HOURS)) if is_known else plain(""), Tone.DIM)


def trend_column(day_of: Callable[[R], Day], priority: int) -> Column[R]:
    """A column of the last 24 hours of each record, each on its own scale. It appears once one of
    them is known.
    """

    def drawn(record: R, width: int = SPARK) -> Cell:
        cell = spark_cell(day_of(record), width)
        return cell if cell.text else Cell(signs.missing, Tone.DIM)

    return cells.column(
        "trend",
        "24 H",
        (SPARK, LEAST_SPARK),
        drawn,
        cell_for_width=drawn,
        grow=1,
        hidden_while_empty=True,
        priority=priority,
    )


class Trend(msgspec.Struct, frozen=True):
    """A day with the words for it; falsy if nothing of it is known."""

    day: Day
    figure: Callable[[float], SafeText] = lambda value: fmt.count(round(value))
    noun: str = ""
    sums: bool = True  # False if figures are levels, such as the length of a queue
    seconds: float | None = None  # the seconds that were seen; None: all of the hours

    @property
    def known(self) -> list[float]:
        return [figure for figure in self.day if figure is not None]

    def __bool__(self) -> bool:
        return bool(self.known)

    @property
    def told(self) -> SafeText:
        """The sum and the peak, or the range of a level."""
        least, most, total = (self.figure(of(self.known)) for of in (min, max, sum))
        hours = f"in {len(self.known)} h"
        if self.seconds is not None and self.seconds < len(self.known) * HOUR - ROUGHLY:
            hours = f"in the {fmt.duration(self.seconds)} that was seen"
        if self.sums:
            return plain(f"{total}{self.noun} {hours}, peak {most} an hour")
        return plain(f"{least} to {most} {hours}")

    def items(self, name: str = "") -> list[PaneItem]:
        """A line of signs, and the words for it."""
        if not self:
            return []
        told = Cell(plain(f"  {self.told}"), Tone.DIM)
        return [
            CellLine((Cell(plain(f"{name} "), Tone.ACCENT), Cell(sparkline(self.day, HOURS)), told))
        ]

    def plot(self, height: int) -> Graph:
        return Graph(
            past=self.day,
            format_value=self.figure,
            start_label=plain(f"{HOURS} h ago"),
            end_label=plain("now"),
            tone=Tone.DIM,
            height=height,
        )


def waiting_trend(workspace: Workspace, company: str | None) -> Trend:
    return Trend(workspace.outlook.of_company(company).waiting_by_hour, sums=False)


def entries_trend(day: Day) -> Trend:
    return Trend(day, noun=" entries")


def spending_trend(workspace: Workspace, budget: Budget) -> Trend:
    known = workspace.outlook.of(budget)
    figure = partial(about, budget, derived=False)
    return Trend(known.spent_by_hour, figure, seconds=known.spent_seconds or None)


def ahead_in(budget: Budget, workspace: Workspace, room: int) -> SafeText:
    """The forecast of a budget in at most `room` cells, if possible: first the platform's own
    forecast is left out, then the limit, which is shown elsewhere.
    """
    now = workspace.clock.now()
    own = own_forecast(budget, workspace.outlook, now)
    if own is None:
        # Without the mark of what is worked out here; the detail names it as the platform's.
        return plain("" if budget.forecast is None else f"forecast {fmt.money(budget.forecast)}")
    words = consequence(budget, workspace.outlook, now) or own
    short = plain(own.replace(f" of {fmt.money(budget.limit)}", ""))
    fitting = (each for each in (words, own) if cell_width(each) <= room)
    return next(fitting, short)


def together(days: Iterable[Day]) -> Day:
    """The sums of the same hours; an hour of which nothing is known is a gap."""
    hours = zip(*filter(None, days), strict=True)
    known = ([figure for figure in hour if figure is not None] for hour in hours)
    return tuple(sum(figures) if figures else None for figures in known)


def spending_items(budget: Budget, workspace: Workspace, name: str = "") -> list[PaneItem]:
    """A budget's last 24 hours, its forecast, and the graph of its period."""
    outlook = workspace.outlook
    now = workspace.clock.now()
    items = spending_trend(workspace, budget).items(name)
    if rate := rate_now(budget, outlook):
        items.append(field("now", rate))
    if ahead := consequence(budget, outlook, now):
        items.append(field("forecast", ahead))
    spent = outlook.of(budget).spent_in_period
    found = outlook.of(budget).forecast
    limit = None if budget.limit is None or budget.unlimited else float(budget.limit.amount)
    span = (found.low, found.high) if isinstance(found, Forecast) else None
    if any(figure > 0 for figure in spent):
        period = period_of(budget, now)
        graph = Graph(
            past=spent,
            # Rounded, so that the graph is repainted only when it moves.
            passed=round((now - period.start) / (period.end - period.start), 3),
            limit=limit,
            forecast=span,
            format_value=partial(about, budget, derived=False),
            start_label=fmt.day(period.start, now),
            end_label=fmt.day(period.end, now),
        )
        items.append(graph)
    return items


class TrendView(ListView[R]):
    """A list that shows trends in its rows and in the detail."""

    def budget_about(self, record: Any) -> Budget | None:
        if isinstance(record, Agent | Company):
            return self.cell_context.budget_of(record)
        return record if isinstance(record, Budget) else None

    def spent_in_day(self, record: Any) -> Day:
        budget = self.budget_about(record)
        return () if budget is None else self.workspace.outlook.of(budget).spent_by_hour

    def tick(self) -> None:
        rows = self.table.model
        top = self.table.viewport.top
        visible = [*map(rows.record, rows.shown[top : top + self.table.size.height])]
        visible.append(self.subject())
        self.workspace.outlook.want(filter(None, map(self.budget_about, visible)))
        super().tick()

    def show_forecasts(self) -> None:
        self.table.reread_cells()
        self.show_detail()
