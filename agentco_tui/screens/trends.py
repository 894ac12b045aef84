"""Trends: spending, waiting tasks and log entries of the last 24 hours, and of a budget's period.

Each is shown as a table column (`trend_column`), as a line of a spark graph with its figures
(`Trend.items`) or as a larger `Graph`. The figures are a `Day`: one number for each hour, None for
an hour in which nothing was observed. They come from `workspace.outlook`, the forecast service,
which reads them from the history, a database of what was polled from the platform (the remote
service with AI agents that is watched). A budget has two forecasts: the platform's
(`budget.forecast`) and our own (`own_forecast`; `consequence` also says when the limit is reached).
`TrendView` is the base of list screens that show trends. The workspace is what is known of the
platform in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from agentco_tui.attention.consequence import consequence, own_forecast, rate_now, rounded_sum
from agentco_tui.history.forecast import Forecast
from agentco_tui.history.forecast_service import Day
from agentco_tui.model import Agent, Budget, Company
from agentco_tui.model import format as fmt
from agentco_tui.model.period import HOUR, period_of
from agentco_tui.screens import cells
from agentco_tui.screens.detail_pane import field
from agentco_tui.screens.list_view import ListView
from agentco_tui.text import SafeText, cell_width, mark_safe, signs
from agentco_tui.widgets.graph import Graph, sparkline
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.text_pane import CellLine, PaneItem
from agentco_tui.widgets.tones import Cell, Tone
from agentco_tui.workspace.workspace import Workspace

SPARK = 12
"""Cells of the column that draws a day."""
LEAST_SPARK = 6
"""Cells to which it shrinks."""
HOURS = 24
"""Hours of a day's trend, and cells of the widest spark graph."""
UNOBSERVED_ALLOWED = 600.0
"""Seconds of the hours shown that may be unobserved without a note: the last hour is not over."""


def spark_cell(day: Day, width: int = SPARK) -> Cell:
    """Return a spark graph of a day in at most `width` cells; an empty cell if all is unknown."""
    if all(figure is None for figure in day):
        return Cell(mark_safe(""), Tone.DIM)
    return Cell(sparkline(day, min(width, HOURS)), Tone.DIM)


def trend_column(day_of: Callable[[R], Day], priority: int) -> Column[R]:
    """Return a column of the last 24 hours of each record, each on its own scale.

    It is shown once the day of any record is known.
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
        priority=priority,  # of the columns with one, the highest is hidden first
    )


class Trend(msgspec.Struct, frozen=True):
    """A day with the words for it; falsy if nothing of it is known."""

    day: Day
    figure: Callable[[float], SafeText] = lambda value: fmt.count(round(value))
    """Formats a figure."""
    noun: str = ""
    """What is counted, with a blank before it: " entries"."""
    sums: bool = True
    """False if figures are levels, such as the length of a queue, which must not be added up."""
    seconds: float | None = None
    """The seconds that were observed; None for all of the hours."""

    @property
    def known(self) -> list[float]:
        return [figure for figure in self.day if figure is not None]

    def __bool__(self) -> bool:
        return bool(self.known)

    @property
    def summary(self) -> SafeText:
        """Return the sum and the peak: "2,415 entries in 24 h, peak 310 an hour".

        Of levels, return the lowest and the highest: "3 to 40 in 24 h".
        """
        least = self.figure(min(self.known))
        most = self.figure(max(self.known))
        span = f"in {len(self.known)} h"
        if self.seconds is not None:
            unobserved = len(self.known) * HOUR - self.seconds
            if unobserved > UNOBSERVED_ALLOWED:
                span = f"in the {fmt.duration(self.seconds)} observed"
        if not self.sums:
            return mark_safe(f"{least} to {most} {span}")
        total = self.figure(sum(self.known))
        return mark_safe(f"{total}{self.noun} {span}, peak {most} an hour")

    def items(self, name: str = "") -> list[PaneItem]:
        """Return a line with the name, the spark graph and the summary; none if all is unknown."""
        if not self:
            return []
        line = (
            Cell(mark_safe(f"{name} "), Tone.ACCENT),
            Cell(sparkline(self.day, HOURS)),
            Cell(mark_safe(f"  {self.summary}"), Tone.DIM),
        )
        return [CellLine(line)]

    def plot(self, height: int) -> Graph:
        return Graph(
            past=self.day,
            format_value=self.figure,
            start_label=mark_safe(f"{HOURS} h ago"),
            end_label=mark_safe("now"),
            tone=Tone.DIM,
            height=height,
        )


def waiting_trend(workspace: Workspace, company: str | None) -> Trend:
    """Return the number of waiting tasks of a company by id, or with None of all."""
    return Trend(workspace.outlook.of_company(company).waiting_by_hour, sums=False)


def entries_trend(day: Day) -> Trend:
    return Trend(day, noun=" entries")


def spending_trend(workspace: Workspace, budget: Budget) -> Trend:
    forecast = workspace.outlook.of(budget)
    figure = partial(rounded_sum, budget, derived=False)
    return Trend(forecast.spent_by_hour, figure, seconds=forecast.spent_seconds or None)


def forecast_words(budget: Budget, workspace: Workspace, room: int) -> SafeText:
    """Return the forecast of a budget in at most `room` cells if that is possible.

    The platform's own forecast is left out first, then the limit, which is shown elsewhere.
    """
    now = workspace.clock.now()
    own_words = own_forecast(budget, workspace.outlook, now)
    if own_words is None:
        if budget.forecast is None:
            return mark_safe("")
        # Without the mark for figures calculated here: the detail names it as the platform's.
        return mark_safe(f"forecast {fmt.money(budget.forecast)}")
    all_words = consequence(budget, workspace.outlook, now) or own_words
    for words in (all_words, own_words):
        if cell_width(words) <= room:
            return words
    return mark_safe(own_words.replace(f" of {fmt.money(budget.limit)}", ""))


def sum_of_days(days: Iterable[Day]) -> Day:
    """Return the sums of the same hours; None for an hour that is unknown in all of them."""
    figures_by_hour = zip(*filter(None, days), strict=True)
    sums: list[float | None] = []
    for figures in figures_by_hour:
        known = [figure for figure in figures if figure is not None]
        sums.append(sum(known) if known else None)
    return tuple(sums)


def spending_items(budget: Budget, workspace: Workspace, name: str = "") -> list[PaneItem]:
    """Return a budget's last 24 hours, its rate and forecast, and the graph of its period."""
    outlook = workspace.outlook
    now = workspace.clock.now()
    items = spending_trend(workspace, budget).items(name)
    rate = rate_now(budget, outlook)
    if rate:
        items.append(field("now", rate))
    ahead = consequence(budget, outlook, now)
    if ahead:
        items.append(field("forecast", ahead))
    spent = outlook.of(budget).spent_in_period
    if any(figure > 0 for figure in spent):
        items.append(_period_graph(budget, spent, outlook.of(budget).forecast, now))
    return items


def _period_graph(budget: Budget, spent: Sequence[float], forecast: object, now: float) -> Graph:
    """Return the graph of what is spent in a budget's period, its limit and its forecast."""
    period = period_of(budget, now)
    limit = None
    if budget.limit is not None and not budget.unlimited:
        limit = float(budget.limit.amount)
    span = None
    if isinstance(forecast, Forecast):
        span = (forecast.low, forecast.high)
    passed = (now - period.start) / (period.end - period.start)
    return Graph(
        past=spent,
        passed=round(passed, 3),  # so that the graph is repainted only when it moves
        limit=limit,
        forecast=span,
        format_value=partial(rounded_sum, budget, derived=False),
        start_label=fmt.day(period.start, now),
        end_label=fmt.day(period.end, now),
    )


class TrendView(ListView[R]):
    """The base of list screens that show trends of their records, in rows and in the detail."""

    def budget_about(self, record: Any) -> Budget | None:
        """Return the budget of an agent or a company, or the budget itself."""
        if isinstance(record, Agent | Company):
            return self.cell_context.budget_of(record)
        return record if isinstance(record, Budget) else None

    def spent_in_day(self, record: Any) -> Day:
        """Return what was spent of a record's budget in each of the last 24 hours."""
        budget = self.budget_about(record)
        return () if budget is None else self.workspace.outlook.of(budget).spent_by_hour

    def tick(self) -> None:
        """Request the forecasts of the records that are visible; called every second."""
        rows = self.table.model
        top = self.table.viewport.top
        visible = [*map(rows.record, rows.shown[top : top + self.table.size.height])]
        visible.append(self.subject())
        self.workspace.outlook.want(filter(None, map(self.budget_about, visible)))
        super().tick()

    def show_forecasts(self) -> None:
        self.table.reread_cells()
        self.show_detail()
