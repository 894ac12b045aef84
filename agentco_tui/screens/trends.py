"""Figures over time as columns, lines, graphs and sentences, for every screen that has any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec

from agentco_tui.history.forecast import Forecast
from agentco_tui.history.forecast_service import Day
from agentco_tui.history.period import HOUR, period_of
from agentco_tui.live.consequence import about, consequence, own_forecast, rate_now
from agentco_tui.model import Agent, Budget, Company
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.screens.detail_pane import field
from agentco_tui.screens.list_view import ListView
from agentco_tui.text import SafeText, cell_width, plain, signs
from agentco_tui.widgets.graph import Plot, spark
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.text_pane import Cells, Item
from agentco_tui.widgets.tones import Cell, Tone

SPARK, LEAST_SPARK = 12, 6  # cells of a column; a day shares them
HOURS = 24
ROUGHLY = 600.0  # seconds by which the hours of a day may be less than seen: the last one goes on


def spark_cell(day: Day, width: int = SPARK) -> Cell:
    """A day in at most so many cells; no text if nothing is known of it."""
    is_known = any(figure is not None for figure in day)
    return Cell(spark(day, min(width, HOURS)) if is_known else plain(""), Tone.DIM)


def trend_column(day_of: Callable[[R], Day], priority: int) -> Column[R]:
    """The last 24 hours of a record, each on a scale of its own; once one of them is known."""

    def drawn(record: R, width: int = SPARK) -> Cell:
        cell = spark_cell(day_of(record), width)
        return cell if cell.text else Cell(signs.missing, Tone.DIM)

    return cells.column(
        "trend",
        "24 H",
        (SPARK, LEAST_SPARK),
        drawn,
        drawn=drawn,
        grow=1,
        comes_later=True,
        priority=priority,
    )


class Trend(msgspec.Struct, frozen=True):
    """A day with what is said of it; falsy if nothing of it is known."""

    day: Day
    figure: Callable[[float], SafeText] = lambda value: fmt.count(round(value))
    noun: str = ""
    sums: bool = True  # False of what holds and doesn't come, as a queue
    seconds: float | None = None  # the time that the sums are of; None: all of the hours

    @property
    def known(self) -> list[float]:
        return [figure for figure in self.day if figure is not None]

    def __bool__(self) -> bool:
        return bool(self.known)

    @property
    def told(self) -> SafeText:
        least, most, total = (self.figure(of(self.known)) for of in (min, max, sum))
        hours = f"in {len(self.known)} h"
        if self.seconds is not None and self.seconds < len(self.known) * HOUR - ROUGHLY:
            hours = f"in the {fmt.duration(self.seconds)} that was seen"
        if self.sums:
            return plain(f"{total}{self.noun} {hours}, at most {most} in one")
        return plain(f"{least} to {most} {hours}")

    def items(self, name: str = "") -> list[Item]:
        """A line of signs, and what is said of them."""
        if not self:
            return []
        told = Cell(plain(f"  {self.told}"), Tone.DIM)
        return [Cells((Cell(plain(f"{name} "), Tone.ACCENT), Cell(spark(self.day, HOURS)), told))]

    def plot(self, height: int) -> Plot:
        return Plot(
            past=self.day,
            named=self.figure,
            starts=plain(f"{HOURS} h ago"),
            ends=plain("now"),
            tone=Tone.DIM,
            height=height,
        )


def waiting_trend(session: DashboardWorkspace, company: str | None) -> Trend:
    return Trend(session.outlook.of_company(company).waiting_by_hour, sums=False)


def entries_trend(day: Day) -> Trend:
    return Trend(day, noun=" entries")


def spending_trend(session: DashboardWorkspace, budget: Budget) -> Trend:
    known = session.outlook.of(budget)
    figure = partial(about, budget, derived=False)
    return Trend(known.spent_by_hour, figure, seconds=known.spent_seconds or None)


def ahead_in(budget: Budget, session: DashboardWorkspace, room: int) -> SafeText:
    """What lies ahead of it in at most so many columns, if that can be: what the platform says
    gives way first, then the limit, which stands elsewhere.
    """
    now = session.clock.now()
    own = own_forecast(budget, session.outlook, now)
    if own is None:
        # Without the mark of what is worked out here; the detail names it as the platform's.
        return plain("" if budget.forecast is None else f"forecast {fmt.money(budget.forecast)}")
    words = consequence(budget, session.outlook, now) or own
    short = plain(own.replace(f" of {fmt.money(budget.limit)}", ""))
    fitting = (each for each in (words, own) if cell_width(each) <= room)
    return next(fitting, short)


def together(days: Iterable[Day]) -> Day:
    """The sums of the same hours; what isn't known of any is a gap."""
    hours = zip(*filter(None, days), strict=True)
    known = ([figure for figure in hour if figure is not None] for hour in hours)
    return tuple(sum(figures) if figures else None for figures in known)


def spending_items(budget: Budget, session: DashboardWorkspace, name: str = "") -> list[Item]:
    """A budget's last 24 hours, where it goes, and the graph of its period."""
    outlook, now = session.outlook, session.clock.now()
    items = spending_trend(session, budget).items(name)
    if rate := rate_now(budget, outlook):
        items.append(field("now", rate))
    if ahead := consequence(budget, outlook, now):
        items.append(field("forecast", ahead))
    spent, found = outlook.of(budget).spent_in_period, outlook.of(budget).forecast
    limit = None if budget.limit is None or budget.unlimited else float(budget.limit.amount)
    span = (found.low, found.high) if isinstance(found, Forecast) else None
    if any(figure > 0 for figure in spent):
        period = period_of(budget, now)
        graph = Plot(
            past=spent,
            # In steps: what rests is drawn as it was.
            passed=round((now - period.start) / (period.end - period.start), 3),
            limit=limit,
            ahead=span,
            named=partial(about, budget, derived=False),
            starts=fmt.day(period.start, now),
            ends=fmt.day(period.end, now),
        )
        items.append(graph)
    return items


class TrendView(ListView[R]):
    """A list of which the lines and the detail tell of trends."""

    def budget_about(self, record: Any) -> Budget | None:
        if isinstance(record, Agent | Company):
            return self.look.budget_of(record)
        return record if isinstance(record, Budget) else None

    def spent_in_day(self, record: Any) -> Day:
        budget = self.budget_about(record)
        return () if budget is None else self.session.outlook.of(budget).spent_by_hour

    def tick(self) -> None:
        rows, top = self.table.rows, self.table.view.top
        in_sight = [*map(rows.record, rows.shown[top : top + self.table.size.height])]
        in_sight.append(self.subject())
        self.session.outlook.want(filter(None, map(self.budget_about, in_sight)))
        super().tick()

    def take_outlook(self) -> None:
        self.table.renew()
        self.show_detail()
