"""Gauges for the whole, for companies and for agents, with the alerts beside them."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from agentco_tui import format as fmt
from agentco_tui.keys import keys_of
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.insight import Level, alert_level, in_scope, is_open
from agentco_tui.live.store import Change
from agentco_tui.model import Alert, Budget, BudgetScope
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES
from agentco_tui.screens.header_footer import shown_key
from agentco_tui.screens.key_app import ListTable, bindings_of
from agentco_tui.screens.list_view import STATES, ListView, told_cells
from agentco_tui.screens.session import Session
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column, ColumnKind
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone, bar

BAR_WIDTH = 10
SUM: cells.Widths = (10, 9)
SCOPES = {
    FeedName.BUDGET: BudgetScope.ALL,
    FeedName.COMPANY_BUDGETS: BudgetScope.COMPANY,
    FeedName.AGENT_BUDGETS: BudgetScope.AGENT,
}
SCOPE_RANKS = {scope: rank for rank, scope in enumerate(SCOPES.values())}


class BudgetView(ListView[Budget]):
    place = "budget"
    sort = ("name", False)
    empty = "no budgets"
    lists = tuple(SCOPES)
    # Ids of companies and agents need not differ from each other.
    prefixes: ClassVar = {feed: f"{scope}:" for feed, scope in SCOPES.items()}
    beside = (FeedName.ALERTS,)
    BINDINGS = bindings_of("budget")
    DEFAULT_CSS = """
    BudgetView {
        & > Horizontal { height: 1fr; }
        & .budget--alerts { height: 1fr; min-height: 5; max-height: 9; }
        & .budget--side { width: 1fr; height: 1fr; }
        &.-wide .budget--side { width: 34%; max-width: 60; }
        &.-wide .list--detail { display: block; width: 1fr; max-width: 100%; height: 1fr; }
        & .budget--gauges { width: 1fr; }
        & .budget--alerts-title, & .budget--detail-title { background: $panel; }
        & .budget--detail-title { display: none; }
        &.-wide .budget--detail-title, &.-reading .budget--detail-title { display: block; }
        &.-narrow > Horizontal { layout: vertical; }
        &.-narrow .budget--side { height: 8; }
        &.-narrow .budget--alerts { height: 1fr; }
        &.-reading.-narrow .budget--side { height: 1fr; }
        &.-reading.-narrow .budget--gauges, &.-reading.-narrow .budget--alerts,
        &.-reading.-narrow .budget--alerts-title { display: none; }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        look = session.look

        def about(alert: Alert) -> SafeText:
            if alert.agent is not None:
                return look.names.agent(alert.agent)
            return look.names.company(alert.company) if alert.company else plain("all")

        def level(alert: Alert) -> Level:
            return alert_level(alert, look.limits)

        # fmt: off
        columns: list[Column[Alert]] = [
            cells.level_column(level, sort_key=level, descending_first=True),
            cells.age_column(look, "age", "AGE", lambda a: a.at.at if a.at else None),
            cells.text_column("about", "ABOUT", (10, 6), about, Tone.STRONG, priority=1),
            cells.text_column("alert", "ALERT", (24, 24), lambda a: a.text,
                lambda a: TONES[level(a)], grow=1, aliases=("text",)),
        ]
        # fmt: on

        self.alerts = ListTable(
            columns,
            search_text=lambda alert: alert.text,
            sort=("level", True),
            empty_text=plain("no alerts"),
        )
        self.alerts.add_class("budget--alerts")
        self.alerts.hand_comes = self.touch
        self.alerts_title = StatusLine(classes="budget--alerts-title")
        self.detail_title = StatusLine(classes="budget--detail-title")
        self.table.add_class("budget--gauges")

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.notice
        with Horizontal():
            yield self.table
            with Vertical(classes="budget--side"):
                yield self.alerts_title
                yield self.alerts
                yield self.detail_title
                yield self.detail

    def columns(self) -> list[Column[Budget]]:
        look = self.look

        def tone(budget: Budget) -> Tone:
            return TONES[look.level_of(budget)]

        def name(budget: Budget) -> Cell:
            if budget.scope is BudgetScope.AGENT:
                return Cell(plain(f"  {look.names.budget(budget)}"))
            return Cell(look.names.budget(budget), Tone.STRONG)

        def gauge(budget: Budget) -> Cell:
            if budget.unlimited or budget.share is None:
                return Cell(signs.missing, Tone.DIM)
            return Cell(bar(budget.share, BAR_WIDTH), tone(budget))

        def company(budget: Budget) -> SafeText | None:
            known = look.names.company(look.names.company_of(budget))
            return None if budget.scope is BudgetScope.ALL else known

        # fmt: off
        return [
            cells.level_column(look.level_of, sort_key=look.level_of, descending_first=True),
            cells.column("name", "BUDGET OF", (14, 12), name, grow=1, aliases=("agent", "of"),
                sort_key=lambda b: (SCOPE_RANKS[b.scope], look.names.budget(b).casefold())),
            cells.text_column("company", "COMPANY", (15, 8), company,
                lambda b: Tone.PLAIN if b.scope is BudgetScope.AGENT else Tone.DIM, priority=4,
                sort_key=lambda b: (company(b) or signs.missing).casefold()),
            cells.column("gauge", "USED", (BAR_WIDTH, BAR_WIDTH), gauge, priority=2),
            cells.number_column("share", "%", (6, 6), lambda b: Cell(cells.share_text(b), tone(b)),
                lambda b: b.share, kind=ColumnKind.SHARE, descending_first=True,
                aliases=("used", "spent%")),
            cells.money_column("spent", "SPENT", SUM, lambda b: b.spent, descending_first=True),
            cells.money_column("limit", "LIMIT", SUM, lambda b: b.limit, descending_first=True,
                cell=lambda b: Cell(cells.limit_text(b), Tone.PLAIN if b.limit else Tone.DIM)),
            cells.money_column("remaining", "LEFT", SUM, lambda b: b.remaining, tone, priority=3,
                aliases=("left",)),
        ]
        # fmt: on

    def search_text(self, record: Budget) -> str:
        names = self.session.names
        return f"{names.budget(record)}\n{names.company(names.company_of(record))}"

    def wanted(self, record: Budget) -> bool:
        company = self.session.names.company_of(record)
        return record.scope is BudgetScope.ALL or in_scope(
            company, self.session.poller.query.company
        )

    def reload(self) -> None:
        self._load_alerts()
        super().reload()

    def _load_alerts(self) -> None:
        company_of, scope = self.session.names.company_of, self.session.poller.query.company
        alerts = filter(is_open, self.session.store.alerts)
        self.alerts.load(
            (alert.id, alert) for alert in alerts if in_scope(company_of(alert), scope)
        )

    def show_head(self, phase: Phase | None = None) -> None:
        super().show_head(phase)
        self.alerts.set_state(STATES[self.session.store.freshness[FeedName.ALERTS].phase])
        alerts, count = self.session.store.alerts, len(self.alerts.rows.records)
        answered = self.session.store.freshness[FeedName.ALERTS].answered_at is not None
        cells = [
            Cell(plain(" ALERTS "), Tone.STRONG),
            Cell(fmt.count(count) if answered or count else signs.missing),
            *told_cells(alerts.listing, len(alerts)),
        ]
        where = " back " if self.alerts.has_focus else " to these "
        keys = keys_of("budget.alerts", self.session.settings.keys)
        key = Cell(plain(shown_key(keys[0])), Tone.ACCENT) if keys else None
        self.alerts_title.show(cells, [key, Cell(plain(where), Tone.DIM)] if key else [])

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _keys_moved(self) -> None:
        """What has the keys now says so, and is what the detail is of."""
        if self.is_attached:
            self.show_head()
            if not self.reading:
                self.show_detail(top=True)

    def take(self, change: Change) -> None:
        if change.feed is FeedName.ALERTS:
            self._load_alerts()
            self.show_head()
        else:
            super().take(change)

    def tick(self) -> None:
        super().tick()
        self.alerts.tick()

    def show_detail(self, *, top: bool = False) -> None:
        words = plain(f"of the {'alert' if isinstance(self.subject(), Alert) else 'budget'}")
        self.detail_title.show([Cell(plain(" DETAIL "), Tone.STRONG), Cell(words)])
        super().show_detail(top=top)

    @on(RecordTable.CursorMoved)
    def _alert_under_cursor(self, message: RecordTable.CursorMoved) -> None:
        if message.table is self.alerts and self.alerts.has_focus:
            self.show_detail(top=True)

    def action_alerts(self) -> None:
        if not self.reading:
            self.screen.set_focus(self.table if self.alerts.has_focus else self.alerts)

    def subject(self, row_id: str | None = None) -> Any:
        """The alert while the keys are there or its detail is read, else the budget."""
        alert = self.alerts.view.cursor
        meant = self.opened_from is self.alerts if self.reading else self.alerts.has_focus
        found = self.alerts.rows.record(alert) if meant and alert and not row_id else None
        return found or super().subject(row_id)
