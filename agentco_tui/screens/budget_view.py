"""The Budget screen: a gauge for every budget, with the open alerts beside them.

The platform is the remote service whose companies of AI agents are watched; it sets a budget for
each of them and raises the alerts. The budgets (its own total, the companies', the agents') are one
list. In its default order it is a tree: agents below their company, the worst branch on top.

`TrendView`, the base class, filters the rows, shows the last 24 hours, and keeps the rows still
(frozen) while the user works with them. The alerts are a second table, and the detail shows the
record under the cursor of the table that has the focus. `poller.query.company` is the id of the
company that the dashboard is limited to (the scope), or None. The frame is the main screen, the
workspace what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

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
from agentco_tui.screens.header_footer import told_cells, without_records
from agentco_tui.screens.key_app import ListTable, bindings_of
from agentco_tui.screens.trends import TrendView, spending_items, trend_column
from agentco_tui.text import SafeText, clean_line, joined, mark_safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import BlankLine, PaneItem
from agentco_tui.widgets.tones import Cell, Tone

SUM_WIDTHS: cells.Widths = (10, 9)
"""The wanted and the least width of a column of money, in terminal cells."""
SCOPE_RANKS = {scope: rank for rank, scope in enumerate(BUDGET_FEEDS)}

Badness = tuple[Level, Decimal]
"""The level of a budget and the share that is spent."""


class TreePosition(NamedTuple):
    """A sort key for the rows of the tree; the largest is on top."""

    is_total: bool
    worst_of_branch: Badness
    branch: str
    """The row id of the company that the row belongs to, or of the row itself."""
    is_top_of_branch: bool
    badness: Badness


def row_id_of(budget: Budget) -> str:
    """Return the row of a budget. Companies and agents may have the same ids."""
    return f"{budget.scope}:{budget.id}"


class BudgetView(TrendView[Budget]):
    """The list of budgets, the list of open alerts, and the detail of either."""

    place = "budget"
    sort = ("level", True)  # a tree; in every other order it is flat
    empty = "no budgets"
    # The feeds, i.e. the lists read from the platform, whose records are the rows.
    lists = tuple(BUDGET_FEEDS.values())
    prefixes: ClassVar = {feed: f"{scope}:" for scope, feed in BUDGET_FEEDS.items()}
    side_feeds = (FeedName.ALERTS,)  # a further feed whose failures the screen reports
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
        self._positions: dict[str, TreePosition] = {}
        super().__init__(dashboard, shown_as)
        context = dashboard.cell_context

        def about(alert: Alert) -> SafeText:
            if alert.agent is not None:
                return context.names.agent(alert.agent)
            if alert.company is not None:
                return context.names.company(alert.company)
            return mark_safe("all")

        def level(alert: Alert) -> Level:
            return alert_level(alert, context.limits)  # of `[alerts]` in the settings

        # (20, 10): the wanted and the least width in cells.
        # priority: the highest is hidden first, 0 never.
        # fmt: off
        columns: list[Column[Alert]] = [
            cells.level_column(level, sort_key=level, descending_first=True),
            # at: a Moment; its `at` is in seconds since 1970.
            cells.age_column(context, "age", "AGE", lambda a: a.at.at if a.at else None),
            cells.text_column("about", "ABOUT", (10, 6), about, priority=1),
            # marked_name: with the number of alerts that came with the same id.
            cells.text_column("alert", "ALERT", (24, 24), lambda a: cells.marked_name(a, a.text),
                lambda a: TONES[level(a)], grow=1, aliases=("text",)),
        ]
        # fmt: on

        self.alerts = ListTable(columns, sort=("level", True))
        self.alerts.add_class("budget--alerts")
        self.alerts.on_interaction = self.on_interaction
        self.alerts.viewport.is_opening = True  # the cursor stays on the first row until moved
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
        names = context.names

        def position(budget: Budget) -> TreePosition | None:
            return self._positions.get(row_id_of(budget))

        def name_cell(budget: Budget) -> Cell:
            """Return the owner's name: in the tree indented, elsewhere with its company."""
            name = names.budget(budget)
            if budget.shared_id:  # several different budgets came with this id: shown as a warning
                return cells.name_cell(budget, name)
            if budget.scope is not BudgetScope.AGENT:
                return Cell(name)
            is_tree = self.table.sort == self.sort and not self.table.model.filter
            if is_tree:
                row = position(budget)
                is_below_company = row is not None and not row.is_top_of_branch
                return Cell(mark_safe(f"  {name}" if is_below_company else name))
            company = names.company_of(budget)
            if company is None or self.workspace.poller.query.company is not None:
                return Cell(name)
            return Cell(joined([name, names.company(company)], f" {signs.separator} "))

        def limit_cell(budget: Budget) -> Cell:
            return Cell(cells.limit_text(budget), Tone.PLAIN if budget.limit else Tone.DIM)

        def remaining_cell(budget: Budget) -> Cell:
            """Return what is left; a blank without a limit, unlike a figure that was not sent."""
            if budget.unlimited:
                return Cell(mark_safe(""))
            return cells.text_cell(fmt.money(budget.remaining), TONES[context.level_of(budget)])

        # A pair of numbers is the wanted and the least width; `grow` is the share of free width.
        # Columns of the highest `priority` are hidden first. Filters know the `aliases`, too.
        # fmt: off
        return [
            cells.level_column(context.level_of, sort_key=position, descending_first=True),
            cells.column("name", "BUDGET OF", (14, 12), name_cell, grow=2, aliases=("agent", "of"),
                sort_key=lambda b: (SCOPE_RANKS[b.scope], names.budget(b).casefold())),
            cells.text_column("company", "COMPANY", (15, 8),
                lambda b: names.company(names.company_of(b)),
                shown_by_default=False),
            cells.gauge_column(context, "share", (19, 15), lambda b: b, uses_clock=True,
                aliases=("used", "spent%")),
            cells.money_column("spent", "SPENT", SUM_WIDTHS, lambda b: b.spent,
                descending_first=True, priority=1),
            cells.money_column("limit", "LIMIT", SUM_WIDTHS, lambda b: b.limit,
                descending_first=True, priority=2, cell=limit_cell),
            cells.money_column("remaining", "LEFT", SUM_WIDTHS, lambda b: b.remaining, priority=3,
                cell=remaining_cell, aliases=("left",)),
            cells.money_column("forecast", "FORECAST", SUM_WIDTHS, lambda b: b.forecast,
                shown_by_default=False),
            trend_column(self.spent_in_day, priority=3),
            *cells.filter_only_columns(id=lambda b: clean_line(b.id), status=lambda b: b.status,
                kind=lambda b: mark_safe(b.scope)),
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
        self._positions = self._tree_positions()
        super().reload()

    def _tree_positions(self) -> dict[str, TreePosition]:
        """Return the positions of all rows, with agents below their company if it is listed."""
        rows: dict[str, Budget] = {}
        for feed in self.lists:
            for budget in self.collections[feed]:
                if self.wanted(budget):
                    rows[row_id_of(budget)] = budget
        badness_by_row = {row: self.cell_context.badness(budget) for row, budget in rows.items()}
        branch_by_row = {row: self._branch_of(row, budget, rows) for row, budget in rows.items()}
        worst_by_branch: dict[str, Badness] = {}
        for row, branch in branch_by_row.items():
            badness = badness_by_row[row]
            worst_by_branch[branch] = max(worst_by_branch.get(branch, badness), badness)
        positions: dict[str, TreePosition] = {}
        for row, budget in rows.items():
            branch = branch_by_row[row]
            positions[row] = TreePosition(
                is_total=budget.scope is BudgetScope.ALL,
                worst_of_branch=worst_by_branch[branch],
                branch=branch,
                is_top_of_branch=row == branch,
                badness=badness_by_row[row],
            )
        return positions

    def _branch_of(self, row: str, budget: Budget, rows: Mapping[str, Budget]) -> str:
        """Return the row of an agent's company if it is listed, else the budget's own row."""
        company = self.workspace.names.company_of(budget)
        if budget.scope is not BudgetScope.AGENT or company is None:
            return row
        company_row = f"{BudgetScope.COMPANY}:{company.id or company.name}"
        return company_row if company_row in rows else row

    def _load_alerts(self) -> None:
        # needs: ranks what needs the user; of_scope leaves out other companies.
        alerts = self.workspace.needs.of_scope(filter(is_open, self.workspace.store.alerts))
        self.alerts.load((alert.id, alert) for alert in alerts)

    def show_head(self, phase: Phase | None = None) -> None:
        super().show_head(phase)
        self.alerts.viewport.is_opening &= self.table.viewport.is_opening
        freshness = self.workspace.store.freshness[FeedName.ALERTS]
        # What the table says if it is empty: that there are no alerts, or that none were read.
        words = without_records(freshness, mark_safe("no alerts"))
        self.alerts.set_state(words, stale=freshness.phase in (Phase.STALE, Phase.FAILED))
        alerts = self.workspace.store.alerts
        count = len(self.alerts.model.records)
        is_known = count > 0 or freshness.answered_at is not None
        title = [
            Cell(mark_safe(" ALERTS "), Tone.STRONG),
            Cell(fmt.count(count) if is_known else signs.missing),
            *told_cells(alerts.listing, len(alerts)),  # whether some could not be read
        ]
        right: list[Cell] = []
        key = shown_key("budget.alerts", self.workspace.settings.keys)
        if key:
            target = " back " if self.alerts.has_focus else " to these "
            right = [Cell(mark_safe(key), Tone.ACCENT), Cell(mark_safe(target), Tone.DIM)]
        self.alerts_title.show(title, right)

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _keys_moved(self) -> None:
        """Show which table has the focus, and the detail of the record under its cursor."""
        if self.is_attached:
            self.show_head()
            self.frame.lines.show()  # header and footer
            if not self.reading:
                self.show_detail(top=True)

    def show_change(self, change: Change) -> None:
        if change.feed is FeedName.ALERTS:
            self._load_alerts()
            self.show_head()
            return
        super().show_change(change)
        if self._tree_positions() != self._positions:
            # A company that has moved takes its agents along. The rows are loaded again now, or if
            # they are frozen, at the end of that.
            self.freezer.request_reload()

    def tick(self) -> None:
        super().tick()
        self.alerts.update_clock_cells(self.workspace.clock.now())

    def detail_items(self, record: Any) -> list[PaneItem]:
        """Return the detail of a budget with its trend and forecast below its name."""
        items = super().detail_items(record)
        if isinstance(record, Budget):
            trend = spending_items(record, self.workspace)
            if trend:
                items[1:1] = [BlankLine(), *trend]
        return items

    def show_detail(self, *, top: bool = False) -> None:
        kind = "alert" if isinstance(self.subject(), Alert) else "budget"
        title = [Cell(mark_safe(" DETAIL "), Tone.STRONG), Cell(mark_safe(f"of the {kind}"))]
        self.detail_title.show(title)
        super().show_detail(top=top)

    @on(RecordTable.CursorMoved)
    def _alert_under_cursor(self, message: RecordTable.CursorMoved) -> None:
        if message.table is self.alerts and self.alerts.has_focus:
            self.show_detail(top=True)
            self.frame.lines.show()

    def action_alerts(self) -> None:
        """Move the focus to the alerts, or back to the budgets."""
        if not self.reading:
            other_table = self.table if self.alerts.has_focus else self.alerts
            self.set_class(other_table is self.alerts, "-alerts")
            self.screen.set_focus(other_table)

    def go_to(self, row_id: str) -> bool:
        if self.alerts.model.record(row_id) is None:
            return super().go_to(row_id)
        self.opened_from = self.alerts
        return self.alerts.move_cursor_to(row_id)

    def subject(self, row_id: str | None = None) -> Any:
        """Return the record of a row; without a row the alert or budget that is worked with.

        That is the alert under the cursor while the alerts have the focus, or while the detail
        that was opened from them is read.
        """
        is_in_alerts = self.alerts.has_focus
        if self.reading:
            is_in_alerts = self.opened_from is self.alerts
        alert_id = self.alerts.viewport.cursor
        if is_in_alerts and alert_id and not row_id:
            alert = self.alerts.model.record(alert_id)
            if alert is not None:
                return alert
        return super().subject(row_id)
