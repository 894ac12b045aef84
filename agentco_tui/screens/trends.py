"""Figures over time as columns, lines, graphs and sentences, for every screen that has any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from agentco_tui import format as fmt
from agentco_tui.background import start_worker
from agentco_tui.live.consequence import consequence, rate_now
from agentco_tui.live.forecast import Forecast
from agentco_tui.live.history import HistoryError, Reader
from agentco_tui.live.outlook import Day, Subject, subject_of
from agentco_tui.live.period import period_of
from agentco_tui.model import Agent, Budget, Company, Money
from agentco_tui.screens import cells
from agentco_tui.screens.detail_pane import field
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, cell_width, plain
from agentco_tui.widgets.graph import Plot, highest, sampled, spark
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.text_pane import Cells, Gap, Item
from agentco_tui.widgets.tones import Cell, Tone

SPARK, LEAST_SPARK = 12, 6  # cells of a column; a day shares them evenly
HOURS = 24
PARTS = 240  # into which a graph's time is cut
PLOT = 7  # lines of it, with its axis
PASTS_KEPT = 50
STALE = 60.0  # seconds after which what a page read of the past is read anew


def spark_cell(day: Day, width: int) -> Cell:
    """A day in cells that stand for as many hours each; no text if nothing is known of it."""
    if all(figure is None for figure in day):
        return Cell(plain(""))
    width = max(each for each in (1, 2, 3, 4, 6, 8, 12, HOURS) if each <= max(1, width))
    return Cell(spark(day, width), Tone.DIM)


def trend_column(day_of: Callable[[R], Day], **more: Any) -> Column[R]:
    """The last 24 hours of a record, each on a scale of its own; once one of them is known."""

    def drawn(record: R, width: int) -> Cell:
        return spark_cell(day_of(record), width)

    more = {"drawn": drawn, "grow": 1, "comes_later": True, **more}
    widths = SPARK, LEAST_SPARK
    return cells.column("trend", "24 H", widths, lambda r: spark_cell(day_of(r), SPARK), **more)


class Trend(msgspec.Struct, frozen=True):
    """A day with what is said of it; falsy if nothing of it is known."""

    day: Day
    words: Callable[[list[float], str], str]  # of what is known, and "in 24 h"
    figure: Callable[[float], SafeText] = lambda value: fmt.count(round(value))

    @property
    def known(self) -> list[float]:
        return [figure for figure in self.day if figure is not None]

    def __bool__(self) -> bool:
        return bool(self.known)

    @property
    def told(self) -> SafeText:
        return plain(self.words(self.known, f"in {len(self.known)} h"))

    def items(self) -> list[Item]:
        """A line of signs, and what is said of them."""
        told = Cell(plain(f"  {self.told}" if self else ""), Tone.DIM)
        return [Cells((Cell(plain(" ")), Cell(spark(self.day, HOURS)), told))] if self else []

    def plot(self, height: int) -> Plot:
        top = highest(self.day)
        return Plot(
            past=self.day,
            labels=((top, self.figure(top)),),
            starts=plain(f"{HOURS} h ago"),
            now=plain("now"),
            ends=plain("now"),
            tone=Tone.DIM,
            height=height,
        )


def waiting_trend(session: Session, company: str | None) -> Trend:
    def words(known: list[float], hours: str) -> str:
        change = round(known[-1] - known[-2]) if None not in day[-2:] else 0
        more = f"{change:+,} in 1 h, " * bool(change)
        return f"{more}{fmt.count(round(min(known)))} to {fmt.count(round(max(known)))} {hours}"

    day = session.outlook.waiting_by_hour(company)
    return Trend(day, words)


def entries_trend(day: Day) -> Trend:
    def words(known: list[float], hours: str) -> str:
        total, most = fmt.count(round(sum(known))), fmt.count(round(max(known)))
        return f"{total} entries {hours}, at most {most} in one"

    return Trend(day, words)


def spending_trend(session: Session, budget: Budget) -> Trend:
    def words(known: list[float], hours: str) -> str:
        return f"{_sum(budget, sum(known))} {hours}, at most {_sum(budget, max(known))} in one"

    return Trend(session.outlook.spent_by_hour(budget), words, partial(_sum, budget))


def ahead_in(budget: Budget, session: Session, room: int) -> SafeText:
    """What lies ahead of it in at most so many columns, if that can be: what the platform says
    gives way first, then the limit, which stands elsewhere.
    """
    words = consequence(budget, session.outlook, session.clock.now()) or plain("")
    own, _, _ = words.partition(", platform says")
    short = own.replace(f" of {fmt.money(budget.limit)}", "")
    return next((plain(each) for each in (words, own) if cell_width(each) <= room), plain(short))


def together(days: Iterable[Day]) -> Day:
    """The sums of the same hours; what isn't known of any is a gap."""
    hours = zip(*filter(None, days), strict=True)
    known = ([figure for figure in hour if figure is not None] for hour in hours)
    return tuple(sum(figures) if figures else None for figures in known)


class Past(msgspec.Struct, frozen=True):
    """What a page has read of a budget's period until now."""

    asked: float = 0.0  # when, by the steady clock
    spent: tuple[float | None, ...] | None = None  # in equal parts of it; None: not read yet


def spending_items(budget: Budget, session: Session, past: Past | None) -> list[Item]:
    """A budget's last 24 hours, where it goes, and the graph of its period.

    As long as the past is still to be read, its place is kept, so that nothing jumps.
    """
    items = spending_trend(session, budget).items()
    if rate := rate_now(budget, session.outlook):
        items.append(field("now", rate))
    if ahead := consequence(budget, session.outlook, session.clock.now()):
        items.append(field("forecast", ahead))
    if past is None or session.history is None:
        return items
    if past.spent is None:
        return [*items, *[Gap()] * PLOT]
    return [*items, _plot(budget, past.spent, session)] if any(past.spent) else items


def _plot(budget: Budget, spent: tuple[float | None, ...], session: Session) -> Plot:
    now, found = session.clock.now(), session.outlook.forecast(budget)
    period = period_of(budget, now)
    ahead = (found.low, found.high) if isinstance(found, Forecast) else None
    limit = None if budget.limit is None or budget.unlimited else float(budget.limit.amount)
    top = highest(spent, ahead, limit)
    labels = [(top, _sum(budget, top))]
    if limit is not None:
        labels.append((limit, plain(f"limit {_sum(budget, limit)}")))
    return Plot(
        past=spent,
        # In steps: what rests is drawn as it was.
        passed=round((now - period.start) / (period.end - period.start), 3),
        limit=limit,
        ahead=ahead,
        labels=tuple(labels),
        starts=fmt.day(period.start, now),
        now=plain("now"),
        ends=fmt.day(period.end, now),
        height=PLOT - 1,
    )


def _sum(budget: Budget, figure: float) -> SafeText:
    told = budget.spent or budget.limit
    unit = None if told is None else told.currency
    return fmt.money(Money(Decimal(repr(figure)), unit), rough=True)


async def read_past(budget: Budget, session: Session) -> Past:
    """What the history has of a budget's period."""
    assert session.history is not None
    now, (scope, subject) = session.clock.now(), subject_of(budget)
    period = period_of(budget, now)
    start, told = period.start, period.start_told

    def read(reader: Reader) -> tuple[float | None, ...]:
        track = reader.budget(scope, subject, start, every=(now - start) / PARTS)
        # What held as the period began is of the one before.
        own = (sample for sample in track.samples if sample.at > start or not told)
        spent = [(s.at, None if s.spent is None else float(s.spent)) for s in own]
        return sampled(spent, track.seen, (start, now), PARTS)

    try:
        found = await session.history.ask(read)
    except HistoryError:  # which the history tells by itself
        found = ()
    return Past(session.clock.monotonic(), found)


class TrendView(ListView[R]):
    """A list of which the lines and the detail tell of trends."""

    def __init__(self, session: Session) -> None:
        self.pasts: dict[Subject, Past] = {}
        super().__init__(session)

    def past_of(self, record: Any) -> Past | None:
        """What is known of it; None if nothing is remembered, or nobody has asked."""
        budget = self.budget_about(record)
        return None if budget is None else self.pasts.get(subject_of(budget))

    def budget_about(self, record: Any) -> Budget | None:
        if isinstance(record, Agent | Company):
            return self.look.budget_of(record)
        return record if isinstance(record, Budget) else None

    def spent_in_day(self, record: Any) -> Day:
        budget = self.budget_about(record)
        return () if budget is None else self.session.outlook.spent_by_hour(budget)

    def tick(self) -> None:
        rows, top = self.table.rows, self.table.view.top
        in_sight = [*map(rows.record, rows.shown[top : top + self.table.size.height])]
        in_sight.append(self.subject())
        self.session.outlook.want(filter(None, map(self.budget_about, in_sight)))
        super().tick()

    def take_outlook(self) -> None:
        self.table.renew()
        self.show_detail()

    def show_detail(self, *, top: bool = False) -> None:
        session, budget = self.session, self.budget_about(self.subject())
        is_shown = self.display and (self.reading or self.detail.display)
        if budget is not None and session.history is not None and is_shown:
            past, now = self.pasts.get(subject_of(budget), Past()), session.clock.monotonic()
            if not past.asked or (past.spent is not None and now - past.asked >= STALE):
                self.pasts[subject_of(budget)] = replace(past, asked=now)
                start_worker(self, partial(self._look_back, budget), "read the past")
        super().show_detail(top=top)

    async def _look_back(self, budget: Budget) -> None:
        found = await read_past(budget, self.session)
        self.pasts = {**dict([*self.pasts.items()][-PASTS_KEPT:]), subject_of(budget): found}
        self.show_detail()
