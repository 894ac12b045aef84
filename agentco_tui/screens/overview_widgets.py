"""The two panels below the list of the Overview: SPEND, the budgets, and LATEST, the activity log.

Each is a title above a text pane, and fills itself from the records that were read. The functions
in `overview_panels` make the lines. A feed is one list of records that is polled from the platform,
the remote service that is watched; the workspace is what is known of it, and its scope the company
that the user has limited everything to, if any. Noisy is a log in which what goes wrong is lost
among other entries.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical

from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import FeedName
from agentco_tui.model import Budget
from agentco_tui.model import format as fmt
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.header_footer import without_records
from agentco_tui.screens.overview_panels import (
    is_noisy,
    latest_items,
    money_items,
    money_of,
    period_and_day,
)
from agentco_tui.text import mark_safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import PaneItem, Paragraph, TextPane
from agentco_tui.widgets.tones import Cell, Tone


class OverviewPanel(Vertical):
    """A title above a text pane, which is filled again when its size changes."""

    def __init__(self, dashboard: DashboardContext, classes: str) -> None:
        super().__init__(classes=f"overview--panel {classes}")
        self.title_line = StatusLine(classes="view--title")
        self.pane = TextPane()
        self.pane.can_focus = False
        self.pane.after_resize = self.fill
        self._dashboard = dashboard
        self._workspace = dashboard.workspace
        self._clock = dashboard.cell_context.clock

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.pane

    def fill(self) -> None:
        """Show the records as they were read last; lines that look the same are not painted."""
        raise NotImplementedError

    def _placeholder(self, feed: FeedName, none: str) -> PaneItem:
        """Return the line that is shown without records: `none` only if the feed has none."""
        freshness = self._workspace.store.freshness[feed]
        return Paragraph(without_records(freshness, self._workspace.scope.nothing(none)), Tone.DIM)


class SpendPanel(OverviewPanel):
    """A line for each of the budgets that matter most."""

    def __init__(self, dashboard: DashboardContext) -> None:
        super().__init__(dashboard, "overview--spend")
        self.budgets: list[Budget] = []
        """The budgets shown."""

    def fill(self) -> None:
        width, height = self.pane.scrollable_content_region.size
        budgets = money_of(self._dashboard, height)
        self.budgets = budgets
        lines = money_items(budgets, self._dashboard, width)
        is_total_offered = self._workspace.store.freshness[FeedName.BUDGET].is_offered
        feed = FeedName.BUDGET if is_total_offered else FeedName.COMPANY_BUDGETS
        self.pane.show(lines or [self._placeholder(feed, "no budgets")])
        period = next((b for b in budgets if b.period or b.resets), None)
        words = mark_safe("") if period is None else period_and_day(period, self._clock.now())
        self.title_line.show([Cell(mark_safe(" SPEND "), Tone.STRONG), Cell(words)])


class LatestPanel(OverviewPanel):
    """The newest entries of the activity log; of a busy log only those that went wrong."""

    def __init__(self, dashboard: DashboardContext) -> None:
        super().__init__(dashboard, "")
        self._is_noisy = False
        """Whether so much happens that only what went wrong is shown by default."""
        self._bad_only: bool | None = None
        """Whether the user chose to see only what went wrong; None for the default."""

    @property
    def shows_bad_only(self) -> bool:
        """Whether the entries are only those that went wrong."""
        return self._is_noisy if self._bad_only is None else self._bad_only

    def toggle_bad_only(self) -> None:
        """Show all entries, or only those that went wrong."""
        self._bad_only = not self.shows_bad_only
        self.fill()

    def fill(self) -> None:
        activity = self._workspace.store.activity
        self._is_noisy = is_noisy(activity, self._is_noisy)
        bad_only = self.shows_bad_only
        context = self._dashboard.cell_context
        lines = latest_items(activity, context, self.pane.size, bad_only=bad_only)
        if bad_only and not lines and activity:
            none = mark_safe(f"no {signs.critical} or {signs.warning} among the latest")
            lines = [Paragraph(none, Tone.DIM)]
        nothing = self._placeholder(FeedName.ACTIVITY, "nothing happened yet")
        self.pane.show(lines or [nothing])
        zone = Cell(mark_safe(f"  {fmt.zone(self._clock.now())}"), Tone.DIM)
        left = [Cell(mark_safe(" LATEST"), Tone.STRONG), zone]
        self.title_line.show(left, self._filter_cells(bad_only=bad_only))

    def _filter_cells(self, *, bad_only: bool) -> list[Cell]:
        """Return that only bad entries are shown, and the key that changes this."""
        only_bad = f"{signs.critical} {signs.warning} only"
        cells: list[Cell] = []
        if bad_only:
            cells.append(Cell(mark_safe(f"{only_bad}  "), Tone.DIM))
        key = shown_key("overview.latest", self._workspace.settings.keys)
        if key and (bad_only or self._is_noisy):
            words = " all " if bad_only else f" {only_bad} "
            cells += [Cell(mark_safe(key), Tone.ACCENT), Cell(mark_safe(words), Tone.DIM)]
        return cells
