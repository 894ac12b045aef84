"""Gauges for the whole, for companies and for agents, with the alerts beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from agentco_tui import format as fmt
from agentco_tui.keys import keys_of
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import in_scope, is_open
from agentco_tui.live.store import Change, Told
from agentco_tui.model import Alert, Budget, BudgetScope
from agentco_tui.screens.base_view import STATES, ListTable
from agentco_tui.screens.columns.budget_columns import alert_columns, budget_columns
from agentco_tui.screens.detail_pane import details
from agentco_tui.screens.header_footer import shown_key
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.screens.session import Session
from agentco_tui.text import plain, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone

BUDGET_FEEDS = (FeedName.BUDGET, FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS)


class BudgetView(ListView[Budget]):
    """The budgets as one list of gauges, the alerts as another."""

    place = "budget"
    heading = "BUDGET"
    sort = ("name", False)
    empty = "no budgets"

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

    @property
    def feed(self) -> FeedName:
        store = self.session.store
        order = ("failed", "stale", "loading", "live")
        answered = [feed for feed in BUDGET_FEEDS if store.freshness[feed].answered_at is not None]
        feeds = answered or BUDGET_FEEDS
        return min(feeds, key=lambda feed: order.index(store.freshness[feed].phase))

    def feeds(self) -> Iterable[FeedName]:
        return (*BUDGET_FEEDS, FeedName.ALERTS)

    def columns(self) -> list[Column[Budget]]:
        return budget_columns(self.look)

    def search_text(self, record: Budget) -> str:
        names = self.session.names
        return f"{names.budget(record)}\n{names.company(names.company_of(record))}"

    def records(self) -> Iterable[Budget]:
        store = self.session.store
        for collection in (store.budget, store.company_budgets, store.agent_budgets):
            yield from collection

    def record_count(self) -> int:
        return sum(1 for _ in self.records())

    def told(self) -> Told:
        return Told()

    def wanted(self, record: Budget) -> bool:
        """Whether it belongs to the company in scope; the whole always shows."""
        if record.scope is BudgetScope.ALL:
            return True
        return in_scope(self.session.names.company_of(record), self.session.company)

    def record_of(self, record_id: str) -> Budget | None:
        return next((b for b in self.records() if self.key(b) == record_id), None)

    @staticmethod
    def key(budget: Budget) -> str:
        """A row's key: ids of companies and agents need not differ from each other."""
        return f"{budget.scope}:{budget.id}"

    def copied_id(self, row_id: str) -> str:
        """The id alone, without what the row's key has before it."""
        return row_id.partition(":")[2]

    def reload(self) -> None:
        """Take all budgets and alerts anew."""
        self._reload_due = False
        self._names_seen = self._names()
        self.table.load((self.key(b), b) for b in self.records() if self.wanted(b))
        self._load_alerts()
        self.show_state()
        self.show_detail()

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
        told = self.session.store.alerts.told
        answered = self.session.store.freshness[FeedName.ALERTS].answered_at is not None
        cells = [
            Cell(plain(" ALERTS "), Tone.STRONG),
            Cell(
                fmt.count(len(self.alerts.rows.records))
                if answered or self.alerts.rows.records
                else signs.missing
            ),
            *self.unread_cells(
                told.unread,
                capped=told.capped,
                more=told.more,
                shown=len(self.session.store.alerts),
            ),
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
        """Take a change of any of the budgets, or of the alerts."""
        if change.feed in BUDGET_FEEDS:
            self._take_budgets(change)
        elif change.feed is FeedName.ALERTS:
            self._load_alerts()
        elif self._names() != self._names_seen:
            self.reload_calmly()
        self.show_title()

    def _take_budgets(self, change: Change) -> None:
        store = self.session.store
        collection, scope = {
            FeedName.BUDGET: (store.budget, BudgetScope.ALL),
            FeedName.COMPANY_BUDGETS: (store.company_budgets, BudgetScope.COMPANY),
            FeedName.AGENT_BUDGETS: (store.agent_budgets, BudgetScope.AGENT),
        }[change.feed]
        pairs = [(f"{scope}:{i}", collection.get(i)) for i in (*change.added, *change.changed)]
        wanted = [(key, record) for key, record in pairs if record and self.wanted(record)]
        there = {key for key, _ in wanted if self.table.rows.record(key) is not None}
        self.table.apply(
            [pair for pair in wanted if pair[0] not in there],
            [pair for pair in wanted if pair[0] in there],
            [
                key
                for key in (f"{scope}:{i}" for i in change.removed)
                if self.table.rows.record(key)
            ],
        )
        self.show_state()
        self.show_detail()

    def show_state(self) -> None:
        """Dim what is not the platform's last word, gauges and alerts each by their own feeds."""
        super().show_state()
        alerts = self.session.store.freshness[FeedName.ALERTS]
        self.alerts.set_state(STATES[alerts.phase])
        self._show_alerts_title()

    def tick(self) -> None:
        """A second has passed."""
        super().tick()
        self.alerts.tick()

    def show_detail(self, *, top: bool = False) -> None:
        """The detail of the gauge, or of the alert if the cursor is among the alerts."""
        alert = self._alert_meant()
        of = "the alert" if alert is not None else "the budget"
        self.detail_title.show([Cell(plain(" DETAIL "), Tone.STRONG), Cell(plain(f"of {of}"))])
        if alert is not None:
            self.detail.show(details(alert, self.look, raw=self._raw), top=top)
        else:
            super().show_detail(top=top)

    def _alert_meant(self) -> Alert | None:
        """The alert under the cursor, while the keys are there or its detail is read."""
        meant = self._reads_alert if self.reading else self.alerts.has_focus
        row_id = self.alerts.cursor_id
        return self.alerts.rows.record(row_id) if meant and row_id is not None else None

    @on(RecordTable.CursorMoved)
    def _alert_under_cursor(self, message: RecordTable.CursorMoved) -> None:
        if message.table is self.alerts and self.alerts.has_focus:
            self.show_detail(top=True)

    @on(RecordTable.Opened)
    def _alert_opened(self, message: RecordTable.Opened) -> None:
        if message.table is self.alerts:
            self.open(message.row_id)

    def open(self, row_id: str) -> None:
        """Enter on a line: read its detail."""
        self._reads_alert = self.alerts.has_focus
        super().open(row_id)

    def opened_from(self) -> ListTable[Any]:
        """The budgets, or the alerts."""
        return self.alerts if self._reads_alert else self.table

    def action_alerts(self) -> None:
        """To the alerts, and back to the budgets; while a detail is read it keeps the keys."""
        if not self.reading:
            self.screen.set_focus(self.table if self.alerts.has_focus else self.alerts)

    def subject(self) -> Any:
        """The alert under the cursor while the keys are there, else the budget."""
        return self._alert_meant() or super().subject()
