"""The base of the six screens: a list of records with a title, notices, and a detail.

A screen subclasses `ListView` and declares what it lists; all that it may override is in
`ListHooks`. The work is divided: `ListRows` brings the rows in line with the store (the records as
last read), `ListFreezer` keeps them still (frozen) while the user works with the list, `ListHead`
shows the lines above, `ListDetail` is the pane of the record under the cursor. The view itself
follows the topics (kinds of news) of the frame, the screen around it, and carries out the user's
keys. A feed is one list of records read from the platform, the remote service with AI agents that
is watched; the scope is the company that the dashboard is limited to, a place the name of a screen.
The frame is the main screen, the workspace what is known of the platform in memory.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Final, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from agentco_tui.api.errors import ApiError, NotOffered
from agentco_tui.config import ViewSettings
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import NO_LOG_FILTER, SCOPED, ActivityFilter, FeedName, Phase
from agentco_tui.live.store import Change
from agentco_tui.model import Company
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.detail_pane import link_to
from agentco_tui.screens.key_app import DetailPane, bindings_of
from agentco_tui.screens.list_detail import ListDetail
from agentco_tui.screens.list_freezer import ListFreezer
from agentco_tui.screens.list_head import ListHead
from agentco_tui.screens.list_hooks import WIDE, ListHooks
from agentco_tui.screens.list_rows import ListRows
from agentco_tui.screens.navigation import AGENT_LOG, Destination, NavigationEntry
from agentco_tui.text import SafeText
from agentco_tui.widgets.table.layout import R
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.workers import start_worker

LARGE_RECORD: Final = 50_000
"""Bytes of unread fields at or above which a record's detail is not drawn again each second."""


class ListView(ListHooks[R]):
    """One of the six screens, or a view of the settings: a screen's list with a filter of its own.

    Every list that was visited stays mounted, hidden while another one is shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table")
    DEFAULT_CSS = """
    ListView {
        layout: vertical; height: 1fr;
        & .view--title { background: $panel; }
        & .list--detail {
            width: 38%; max-width: 70; display: none; padding: 0 1; background: $surface;
        }
        &.-wide .list--detail { display: block; }
        &.-reading .list--detail { display: block; width: 1fr; max-width: 100%; }
        &.-reading.-narrow RecordTable { display: none; }
    }
    """

    def __init__(self, dashboard: DashboardContext, shown_as: ViewSettings | None = None) -> None:
        """`shown_as` is the view of the settings that it is; None for the screen's own list."""
        super().__init__(dashboard, shown_as)
        self.table = self.make_table()
        self.table.on_interaction = self.on_interaction
        self.opened_from: RecordTable[Any] = self.table
        """The table whose row under the cursor the detail shows."""
        self.detail = ListDetail()
        self.freezer = ListFreezer(self, reload=self.reload, on_released=self.show_head)
        self.rows = ListRows(self, self.freezer)
        self.head = ListHead(self)
        self._is_head_due = False
        """Whether the title and the notices are about to be painted."""

    def compose(self) -> ComposeResult:
        yield self.head.title_line
        yield self.head.notice
        with Horizontal():
            yield self.table
            yield self.detail

    def on_mount(self) -> None:
        """Show what the store has already, laid out for the size of the terminal.

        The topics are followed as long as the list is mounted, also while it is hidden.
        """
        self._fit()
        self.reload()
        topics = self.frame.topics
        topics.changes.subscribe(self, self.show_change)
        topics.decisions.subscribe(self, self.show_decisions)
        topics.needs.subscribe(self, lambda _: self.show_needs() if self.display else None)
        topics.forecasts.subscribe(self, lambda _: self.show_forecasts())
        topics.freshness.subscribe(self, self._show_freshness)
        topics.appearance.subscribe(self, lambda _: self._show_appearance())
        topics.seconds.subscribe(self, lambda _: self.tick() if self.display else None)
        topics.scope_leaving.subscribe(self, lambda _: self.freezer.begin_scope_change())
        topics.scope_entered.subscribe(self, lambda _: self.end_scope_change())
        self.frame.lines.show()

    def _show_freshness(self, feed: FeedName) -> None:
        if self.display and feed in (*self.lists, *self.side_feeds, *self.figures_from):
            self.show_head_soon()

    def _show_appearance(self) -> None:
        """Read all cells again, too: the limits that decide their levels may be others now."""
        self.table.reread_cells()
        self.show_head()

    @on(events.Resize)
    def _fit(self) -> None:
        # On a thin line a detail beside the list would cost more than the list at each move. It is
        # hidden only if the settings say `thin`: nothing may move when a line turns out slow.
        width = 0 if self.workspace.settings.thin else self.app.size.width
        self.set_class(width >= WIDE, "-wide")
        self.set_class(width < self.beside_page, "-narrow")

    # ---- what is shown

    def reload(self) -> None:
        """Load all rows from the store."""
        self.rows.load()
        self.show_head()
        self.show_detail()

    def show_change(self, change: Change) -> None:
        """Show a change of a feed that is listed, or from which cells take names and figures."""
        if change.feed in self.lists:
            self.detail.forget_whole({*change.added, *change.changed, *change.removed})
        if self.rows.take(change):
            self.show_detail()
        self.show_head_soon()

    def end_scope_change(self) -> None:
        """Load the rows of the company in scope."""
        self.freezer.end_scope_change()
        self.show_from_top()

    def show_from_top(self) -> None:
        """Load the rows again; where they depend on the scope, the cursor goes to the first one."""
        self.table.release()
        if not set(self.lists).isdisjoint(SCOPED):  # the feeds that depend on the scope
            self.table.action_first()
            self.freezer.open()
        self.reload()

    def show_head(self, phase: Phase | None = None) -> None:
        """Show the title and the notices, and dim the rows if they are old.

        `phase` is the state of the rows; None to derive it from the feeds.
        """
        self._is_head_due = False
        if not self.is_attached:  # the program may be ending
            return
        self.head.show(phase)
        # While the list opens, answers are to come that may change which row is the first.
        self.freezer.end_opening_if_complete(self.row_freshnesses)

    def show_head_soon(self) -> None:
        """Show the title and the notices once for all that is reported in this turn."""
        if not self._is_head_due:
            self._is_head_due = True
            self.call_next(self.show_head)

    def show_detail(self, *, top: bool = False) -> None:
        """Show the record under the cursor in the detail, with `top` from its first line."""
        record = self.detail.whole(self.subject())
        if self.display:
            self.detail.set_link(link_to(self.workspace.settings.web_url, record))
            self.detail.show([] if record is None else self.detail_items(record), top=top)

    def tick(self) -> None:
        """Show ages as they are now, and release the list if the user has left it."""
        self.show_decisions()
        self.show_head()
        self.table.update_clock_cells(self.workspace.clock.now())
        is_covered = self.app.screen is not self.screen
        is_large = len(getattr(self.subject(), "extra", b"")) >= LARGE_RECORD
        if not is_covered and not is_large:
            self.show_detail()  # its ages are those of the row
        self.freezer.tick(is_covered=is_covered)

    # ---- what the user does

    @on(events.Key)
    @on(events.Click)
    def on_interaction(self) -> None:
        """Keep the rows still: the user works with the list."""
        self.freezer.on_interaction()

    @on(RecordTable.WorkDone)
    def _counts_settled(self) -> None:
        self.freezer.continue_freezing()
        self.show_head()

    def arrive(self) -> None:
        """Show the list again, up to date unless rows are marked."""
        if not self.table.marked:
            self.freezer.release()
        self.on_interaction()

    @on(RecordTable.CursorMoved)
    def _cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        if message.table is self.table:
            self.detail.follow(self.cursor_rests)

    def cursor_rests(self) -> None:
        """Show the detail of the row that the cursor has come to."""
        self.show_detail(top=self.table.viewport.cursor != self.detail.shown_row)
        self.frame.lines.show()

    @on(RecordTable.Opened)
    def _opened(self, message: RecordTable.Opened) -> None:
        self.opened_from = message.table
        self.open(message.row_id)

    @on(DetailPane.LinkOpened)
    def _entered(self, message: DetailPane.LinkOpened) -> None:
        """Go where a line of the detail leads: a screen, a row of it, or the log of an agent.

        From a company's page, everything is shown of that company.
        """
        place, _, row_id = message.key.partition(":")
        if place == AGENT_LOG:
            self.frame.go(Destination("activity", log=ActivityFilter(agent=row_id)))
            return
        subject = self.subject()
        self.frame.go(
            Destination(
                cast("Place", place),
                row_id or None,
                scope=subject.id if isinstance(subject, Company) else "",
                is_open=bool(row_id),
                log=NO_LOG_FILTER if place == "activity" else None,
            )
        )

    # ---- where the user is

    def restore(self, entry: NavigationEntry) -> bool:
        """Show what this entry says: its filter, its row, and whether that is open.

        Return False if the list does not have the row.
        """
        if entry.filter is not None and entry.filter != self.filter_text:
            self.set_filter(entry.filter)
        is_there = True
        if entry.row is not None:
            is_there = entry.row == self.opened_from.viewport.cursor or self.go_to(entry.row)
            self.freezer.end_opening()
        self.reading = entry.is_open and is_there
        self.detail.shown_row = self.table.viewport.cursor
        self.set_class(self.reading, "-reading")
        # At once: a key that follows in the same packet is for the detail.
        if not self.frame.prompt.display:
            self.screen.set_focus(self.detail if self.reading else self.opened_from)
        self.frame.lines.show()
        self.show_head()
        self.show_detail(top=True)
        if self.reading and self.read_one is not None:
            start_worker(self, partial(self._read_whole, entry.row or ""), f"read {entry.row}")
        return is_there

    async def _read_whole(self, row_id: str) -> None:
        """Read the record that is open alone, and show the fields that the list leaves out."""
        record = await self.detail.read_whole(self.read_one(row_id))
        if isinstance(record, NotOffered):
            return  # the list has all that there is of it
        if isinstance(record, ApiError):
            self.frame.say(str(record), bad=True)
        elif self.table.viewport.cursor == record.id:
            self.show_detail()

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a record; False if the list does not have it."""
        self.freezer.release()
        if self.table.model.record(row_id) is None:
            return False
        if self.filter_text and row_id not in self.table.model.shown:
            self.set_filter("")
        self.on_interaction()
        self.opened_from = self.table
        return self.table.move_cursor_to(row_id)

    def set_filter(self, text: str) -> SafeText | None:
        """Filter the rows; return what is wrong with the filter, None if nothing is."""
        self.freezer.release()
        error = self.table.set_filter(text)
        self.filter_text = "" if error else text
        self.recalled = False
        self.filtered_at = self.workspace.clock.now()
        self.on_interaction()
        self.show_head()
        return error

    def leave(self) -> bool:
        """Leave what hides or marks rows; False if there is nothing of that kind."""
        is_filtered = self.filter_text != self.shown_as.filter
        if not is_filtered or self.reading:
            return False
        self.set_filter(self.shown_as.filter)
        return True

    # ---- commands

    def action_filter(self) -> None:
        self.table.warm_filter()  # read the texts of all rows ahead, so that typing is not slow
        self.frame.commands.ask_filter()

    def action_sort(self, change: str) -> None:
        """Call a method of the table by its name: `cycle_sort` or `reverse_sort`."""
        self.freezer.release()
        getattr(self.table, change)()
        self.on_interaction()
        self.show_head()

    def action_columns(self) -> None:
        self.frame.dialogs.choose_columns()

    def action_open(self) -> None:
        self.table.action_open()

    def action_raw(self) -> None:
        """Show or hide hidden characters in the detail."""
        self.detail.is_raw = not self.detail.is_raw
        self.show_detail(top=True)
