"""Gauges for the whole, for companies and for agents, with the alerts beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from agentco_tui import format as fmt
from agentco_tui.keys import keys_of
from agentco_tui.live.feeds import NAMES, FeedName
from agentco_tui.live.insight import in_scope, is_open
from agentco_tui.live.store import Change
from agentco_tui.model import Alert, Budget, BudgetScope
from agentco_tui.screens.base_view import STATES, ListTable
from agentco_tui.screens.columns.budget_columns import alert_columns, budget_columns
from agentco_tui.screens.header_footer import shown_key
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.session import Session
from agentco_tui.text import plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone

SCOPES = {
    FeedName.BUDGET: BudgetScope.ALL,
    FeedName.COMPANY_BUDGETS: BudgetScope.COMPANY,
    FeedName.AGENT_BUDGETS: BudgetScope.AGENT,
}


class BudgetView(ListView[Budget]):
    """The budgets as one list of gauges, the alerts as another."""

    place = "budget"
    heading = "BUDGET"
    sort = ("name", False)
    empty = "no budgets"
    lists = tuple(SCOPES)

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
        &.-reading.-narrow .budget--gauges { display: none; }
        &.-reading.-narrow .budget--side { height: 1fr; }
        &.-reading.-narrow .budget--alerts { display: none; }
        &.-reading.-narrow .budget--alerts-title { display: none; }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.alerts: ListTable[Alert] = ListTable(
            alert_columns(self.look),
            search_text=lambda alert: alert.text,
            sort=("level", True),
            empty_text=plain("no alerts"),
            classes="budget--alerts",
        )
        self._reads_alert = False
        """Whether the detail that is read is that of an alert."""
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

    def feeds(self) -> Iterable[FeedName]:
        return (*self.lists, FeedName.ALERTS)

    def row_id(self, feed: FeedName, record_id: str) -> str:
        """Ids of companies and agents need not differ from each other."""
        return f"{SCOPES[feed]}:{record_id}"

    def columns(self) -> list[Column[Budget]]:
        return budget_columns(self.look)

    def search_text(self, record: Budget) -> str:
        names = self.session.names
        return f"{names.budget(record)}\n{names.company(names.company_of(record))}"

    def wanted(self, record: Budget) -> bool:
        """Whether it belongs to the company in scope; the whole always shows."""
        company = self.session.names.company_of(record)
        return record.scope is BudgetScope.ALL or in_scope(company, self.session.company)

    def reload(self) -> None:
        self._load_alerts()
        super().reload()

    def _load_alerts(self) -> None:
        names = self.session.names
        alerts = [
            (alert.id, alert)
            for alert in self.session.store.alerts
            if is_open(alert) and in_scope(names.company_of(alert), self.session.company)
        ]
        self.alerts.load(alerts)
        self._show_alerts_title()

    def _show_alerts_title(self) -> None:
        alerts, count = self.session.store.alerts, len(self.alerts.rows.records)
        answered = self.session.store.freshness[FeedName.ALERTS].answered_at is not None
        cells = [
            Cell(plain(" ALERTS "), Tone.STRONG),
            Cell(fmt.count(count) if answered or count else signs.missing),
            *self.told_cells(alerts.listing, len(alerts)),
        ]
        self.alerts_title.show(cells, self._way())

    def _way(self) -> list[Cell]:
        """The key that leads to the alerts, or back from them."""
        names = keys_of("budget.alerts", self.session.settings.keys)
        if not names:
            return []
        where = " back " if self.alerts.has_focus else " to these "
        return [Cell(plain(shown_key(names[0])), Tone.ACCENT), Cell(plain(where), Tone.DIM)]

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _keys_moved(self) -> None:
        """What has the keys now says so, and is what the detail is of."""
        if self.is_attached:
            self._show_alerts_title()
            if not self.reading:
                self.show_detail(top=True)

    def take(self, change: Change) -> None:
        """Take a change of any of the budgets, of names, or of the alerts."""
        if change.feed is FeedName.ALERTS:
            self._load_alerts()
        elif change.feed in (*self.lists, *NAMES):
            super().take(change)

    def show_state(self) -> None:
        """Gauges and alerts each by their own feeds."""
        super().show_state()
        alerts = self.session.store.freshness[FeedName.ALERTS]
        self.alerts.set_state(STATES[alerts.phase])
        self._show_alerts_title()

    def tick(self) -> None:
        super().tick()
        self.alerts.tick()

    def show_detail(self, *, top: bool = False) -> None:
        """The detail of the gauge, or of the alert if the cursor is among the alerts."""
        words = plain(f"of the {'alert' if isinstance(self.subject(), Alert) else 'budget'}")
        self.detail_title.show([Cell(plain(" DETAIL "), Tone.STRONG), Cell(words)])
        super().show_detail(top=top)

    @on(RecordTable.CursorMoved)
    def _alert_under_cursor(self, message: RecordTable.CursorMoved) -> None:
        if message.table is self.alerts and self.alerts.has_focus:
            self.show_detail(top=True)

    def open(self, row_id: str) -> None:
        self._reads_alert = self.alerts.has_focus
        super().open(row_id)

    def opened_from(self) -> ListTable[Any]:
        return self.alerts if self._reads_alert else self.table

    def action_alerts(self) -> None:
        """To the alerts, and back to the budgets; while a detail is read it keeps the keys."""
        if not self.reading:
            self.screen.set_focus(self.table if self.alerts.has_focus else self.alerts)

    def subject(self) -> Any:
        """The alert under the cursor while the keys are there or its detail is read, else the
        budget.
        """
        row_id = self.alerts.cursor_id
        meant = self._reads_alert if self.reading else self.alerts.has_focus
        alert = self.alerts.rows.record(row_id) if meant and row_id is not None else None
        return alert or super().subject()
