"""Gauges for the whole, for companies and for agents, with the alerts beside them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from agentco_tui.config import ViewSettings
from agentco_tui.history.reader import BUDGET_FEEDS
from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level, alert_level, in_scope, is_open
from agentco_tui.live.store import Change
from agentco_tui.model import Alert, Budget, BudgetScope
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.header_footer import told_cells, without_lines
from agentco_tui.screens.key_app import ListTable, bindings_of
from agentco_tui.screens.trends import TrendView, spending_items, trend_column
from agentco_tui.text import SafeText, joined, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import BlankLine, PaneItem
from agentco_tui.widgets.tones import Cell, Tone

SUM: cells.Widths = (10, 9)
SCOPE_RANKS = {scope: rank for rank, scope in enumerate(BUDGET_FEEDS)}

Badness = tuple[Level, Decimal]
Place = tuple[bool, Badness, str, bool, Badness]
"""Where a row stands in the tree, the highest on top: whether it is the whole; how bad the worst of
its branch is; the row its branch grows from; whether it is that; how bad it is.
"""


def row_of(budget: Budget) -> str:
    return f"{budget.scope}:{budget.id}"


class BudgetView(TrendView[Budget]):
    place = "budget"
    sort = ("level", True)  # a tree; in every other order it is flat
    empty = "no budgets"
    lists = tuple(BUDGET_FEEDS.values())
    # Ids of companies and agents need not differ from each other.
    prefixes: ClassVar = {feed: f"{scope}:" for scope, feed in BUDGET_FEEDS.items()}
    beside = (FeedName.ALERTS,)
    BINDINGS = bindings_of("budget")
    SCOPED_CSS = False  # some rules depend on the size of the screen around the view
    DEFAULT_CSS = """
    BudgetView {
        & .budget--alerts { height: 1fr; min-height: 5; max-height: 9; }
        &.-wide .budget--side { width: 34%; max-width: 60; }
        &.-wide .list--detail { display: block; width: 1fr; max-width: 100%; height: 1fr; }
        & .budget--detail-title { display: none; }
        &.-wide .budget--detail-title, &.-reading .budget--detail-title { display: block; }
        &.-narrow > Horizontal { layout: vertical; }
        &.-narrow .budget--side { height: 8; }
        &.-reading.-narrow .budget--side { height: 1fr; }
        &.-reading.-narrow .budget--alerts-title { display: none; }
    }
    SizedScreen.-phone BudgetView .budget--side { display: none; }
    SizedScreen.-phone BudgetView.-alerts .budget--gauges { display: none; }
    SizedScreen.-phone BudgetView.-alerts .budget--side { display: block; height: 1fr; }
    SizedScreen.-phone BudgetView.-reading .budget--side { display: block; height: 1fr; }
    """

    def __init__(self, dashboard: DashboardContext, shown_as: ViewSettings | None = None) -> None:
        self._places: dict[str, Place] = {}
        super().__init__(dashboard, shown_as)
        context = dashboard.cell_context

        def about(alert: Alert) -> SafeText:
            if alert.agent is not None:
                return context.names.agent(alert.agent)
            return context.names.company(alert.company) if alert.company else plain("all")

        def level(alert: Alert) -> Level:
            return alert_level(alert, context.limits)

        # fmt: off
        columns: list[Column[Alert]] = [
            cells.level_column(level, sort_key=level, descending_first=True),
            cells.age_column(context, "age", "AGE", lambda a: a.at.at if a.at else None),
            cells.text_column("about", "ABOUT", (10, 6), about, priority=1),
            cells.text_column("alert", "ALERT", (24, 24), lambda a: cells.marked_name(a, a.text),
                lambda a: TONES[level(a)], grow=1, aliases=("text",)),
        ]
        # fmt: on

        self.alerts = ListTable(columns, sort=("level", True))
        self.alerts.add_class("budget--alerts")
        self.alerts.on_interaction = self.on_interaction
        self.alerts.viewport.is_opening = True
        self.alerts_title = StatusLine(classes="view--title budget--alerts-title")
        self.detail_title = StatusLine(classes="view--title budget--detail-title")
        self.table.add_class("budget--gauges")

    def compose(self) -> ComposeResult:
        yield self.head.title_line
        yield self.head.notice
        with Horizontal():
            yield self.table
            with Vertical(classes="budget--side"):
                yield self.alerts_title
                yield self.alerts
                yield self.detail_title
                yield self.detail

    def columns(self) -> list[Column[Budget]]:
        context = self.cell_context

        def place(budget: Budget) -> Place | None:
            return self._places.get(row_of(budget))

        def name(budget: Budget) -> Cell:
            """In the tree below its company; elsewhere with it, where there are several."""
            name, known = context.names.budget(budget), place(budget)
            if budget.shared_id:
                return cells.name_cell(budget, name)
            if budget.scope is not BudgetScope.AGENT:
                return Cell(name)
            if self.table.sort == self.sort and not self.table.model.filter:
                return Cell(plain(f"  {name}" if known and known[2] != row_of(budget) else name))
            of = context.names.company_of(budget)
            if of is None or self.workspace.poller.query.company is not None:
                return Cell(name)
            return Cell(joined([name, context.names.company(of)], f" {signs.separator} "))

        def left(budget: Budget) -> Cell:
            """Nothing where there is no limit, which isn't the same as a figure not sent."""
            if budget.unlimited:
                return Cell(plain(""))
            return cells.text_cell(fmt.money(budget.remaining), TONES[context.level_of(budget)])

        # fmt: off
        return [
            cells.level_column(context.level_of, sort_key=place, descending_first=True),
            cells.column("name", "BUDGET OF", (14, 12), name, grow=2, aliases=("agent", "of"),
                sort_key=lambda b: (SCOPE_RANKS[b.scope], context.names.budget(b).casefold())),
            cells.text_column("company", "COMPANY", (15, 8),
                lambda b: context.names.company(context.names.company_of(b)),
                shown_by_default=False),
            cells.gauge_column(context, "share", (19, 15), lambda b: b, uses_clock=True,
                aliases=("used", "spent%")),
            cells.money_column("spent", "SPENT", SUM, lambda b: b.spent, descending_first=True,
                priority=1),
            cells.money_column("limit", "LIMIT", SUM, lambda b: b.limit, descending_first=True,
                priority=2,
                cell=lambda b: Cell(cells.limit_text(b), Tone.PLAIN if b.limit else Tone.DIM)),
            cells.money_column("remaining", "LEFT", SUM, lambda b: b.remaining, priority=3,
                cell=left, aliases=("left",)),
            cells.money_column("forecast", "FORECAST", SUM, lambda b: b.forecast,
                shown_by_default=False),
            trend_column(self.spent_in_day, priority=3),
            *cells.filter_only_columns(id=lambda b: safe(b.id), status=lambda b: b.status,
                kind=lambda b: plain(b.scope)),
        ]
        # fmt: on

    def search_text(self, record: Budget) -> str:
        names = self.workspace.names
        return f"{names.budget(record)}\n{names.company(names.company_of(record))}"

    def wanted(self, record: Budget) -> bool:
        company = self.workspace.names.company_of(record)
        return record.scope is BudgetScope.ALL or in_scope(
            company, self.workspace.poller.query.company
        )

    def reload(self) -> None:
        self._load_alerts()
        self._places = self._grown()
        super().reload()

    def _grown(self) -> dict[str, Place]:
        """The place of every row: agents below the company they belong to, where that is listed."""
        budgets = (b for feed in self.lists for b in self.collections[feed] if self.wanted(b))
        rows = {row_of(budget): budget for budget in budgets}
        stems, worst, bad = dict[str, str](), dict[str, Badness](), self.cell_context.badness
        for row, budget in rows.items():
            of = self.workspace.names.company_of(budget)
            company = f"{BudgetScope.COMPANY}:{of.id or of.name}" if of else ""
            is_branch = budget.scope is BudgetScope.AGENT and company in rows
            stem = stems[row] = company if is_branch else row
            worst[stem] = max(worst.get(stem, bad(budget)), bad(budget))
        return {
            row: (budget.scope is BudgetScope.ALL, worst[stem], stem, row == stem, bad(budget))
            for (row, budget), stem in zip(rows.items(), stems.values(), strict=True)
        }

    def _load_alerts(self) -> None:
        alerts = self.workspace.needs.of_scope(filter(is_open, self.workspace.store.alerts))
        self.alerts.load((alert.id, alert) for alert in alerts)

    def show_head(self, phase: Phase | None = None) -> None:
        super().show_head(phase)
        self.alerts.viewport.is_opening &= self.table.viewport.is_opening
        phase = self.workspace.store.freshness[FeedName.ALERTS].phase
        words = without_lines(phase, plain("no alerts"))
        self.alerts.set_state(words, stale=phase in (Phase.STALE, Phase.FAILED))
        alerts, count = self.workspace.store.alerts, len(self.alerts.model.records)
        answered = self.workspace.store.freshness[FeedName.ALERTS].answered_at is not None
        cells = [
            Cell(plain(" ALERTS "), Tone.STRONG),
            Cell(fmt.count(count) if answered or count else signs.missing),
            *told_cells(alerts.listing, len(alerts)),
        ]
        where = " back " if self.alerts.has_focus else " to these "
        key = shown_key("budget.alerts", self.workspace.settings.keys)
        keys = [Cell(plain(key), Tone.ACCENT), Cell(plain(where), Tone.DIM)] if key else []
        self.alerts_title.show(cells, keys)

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _keys_moved(self) -> None:
        """What has the keys now says so, and is what the detail is of."""
        if self.is_attached:
            self.show_head()
            self.frame.show_frame()
            if not self.reading:
                self.show_detail(top=True)

    def show_change(self, change: Change) -> None:
        if change.feed is FeedName.ALERTS:
            self._load_alerts()
            self.show_head()
            return
        super().show_change(change)
        if self._grown() != self._places:
            # A company that is in another place now takes its agents along.
            self.freezer.request_reload()

    def tick(self) -> None:
        super().tick()
        self.alerts.update_clock_cells()

    def detail_items(self, record: Any) -> list[PaneItem]:
        """A budget's, with where it goes behind its name."""
        items = super().detail_items(record)
        if isinstance(record, Budget):
            ahead = spending_items(record, self.workspace)
            items[1:1] = [BlankLine(), *ahead] if ahead else []
        return items

    def show_detail(self, *, top: bool = False) -> None:
        words = plain(f"of the {'alert' if isinstance(self.subject(), Alert) else 'budget'}")
        self.detail_title.show([Cell(plain(" DETAIL "), Tone.STRONG), Cell(words)])
        super().show_detail(top=top)

    @on(RecordTable.CursorMoved)
    def _alert_under_cursor(self, message: RecordTable.CursorMoved) -> None:
        if message.table is self.alerts and self.alerts.has_focus:
            self.show_detail(top=True)
            self.frame.show_frame()

    def action_alerts(self) -> None:
        if not self.reading:
            to = self.table if self.alerts.has_focus else self.alerts
            self.set_class(to is self.alerts, "-alerts")
            self.screen.set_focus(to)

    def go_to(self, row_id: str) -> bool:
        if self.alerts.model.record(row_id) is None:
            return super().go_to(row_id)
        self.opened_from = self.alerts
        return self.alerts.move_cursor_to(row_id)

    def subject(self, row_id: str | None = None) -> Any:
        """The alert while the keys are there or its detail is read, else the budget."""
        alert = self.alerts.viewport.cursor
        meant = self.opened_from is self.alerts if self.reading else self.alerts.has_focus
        found = self.alerts.model.record(alert) if meant and alert and not row_id else None
        return found or super().subject(row_id)
