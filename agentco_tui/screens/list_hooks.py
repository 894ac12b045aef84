"""What a screen says about its list: its feeds, its columns, its words, what its rows lead to.

`ListView` shows a list; each of the six screens (Overview, Companies, Agents, Tasks, Budget,
Activity) is a subclass of it. This file declares everything that such a subclass may set or
override, with the defaults. `ListRows` and `ListHead`, which do parts of the work, know a list only
through these declarations.

The platform is the remote service whose companies of AI agents are watched. A feed is one list of
records that is read from it, such as the tasks that wait. A place is the name of a screen. The
scope is the company that the dashboard is limited to; `poller.query.company` is its id, or None. A
tombstone is a row whose record went away while the rows are frozen, i.e. kept still: it stays, and
says what became of the record. The frame is the main screen, the workspace what is known of the
platform in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Generic, cast

from textual.widget import Widget

from agentco_tui.config import ViewSettings
from agentco_tui.keys.commands import FOOTER, NEED_A_RECORD
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import ActivityFilter, FeedName, Freshness
from agentco_tui.model import Company, Record
from agentco_tui.model import format as fmt
from agentco_tui.screens.cells import limit_agent_id, limit_refused
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.detail_pane import details
from agentco_tui.screens.frame_interface import FrameInterface
from agentco_tui.screens.header_footer import told_cells
from agentco_tui.screens.key_app import ListTable
from agentco_tui.screens.list_detail import ListDetail
from agentco_tui.screens.navigation import Destination, name_of
from agentco_tui.text import SafeText, clean_line, joined, mark_safe, signs
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.table.model import GONE
from agentco_tui.widgets.text_pane import PaneItem
from agentco_tui.widgets.tones import Cell, Tone

WIDE: Final = 120
"""Columns at or above which a detail is shown beside the list."""


class ListHooks(Widget, Generic[R]):
    """A list of records of the type R, without the code that shows it."""

    place: ClassVar[Place]
    """The name of the screen: "overview", "companies", "agents", "tasks", "budget", "activity"."""
    empty: ClassVar[str]
    """What the list says when it has no rows."""
    sort: ClassVar[tuple[str, bool] | None] = None
    """The column that it is sorted by at first, and whether the highest comes first."""
    can_freeze: ClassVar[bool] = True
    """Whether rows keep their places while the user works with the list."""
    keeps_filter: ClassVar[bool] = True
    """Whether its filter is remembered from one run to the next."""
    beside_page: ClassVar[int] = WIDE
    """Columns at or above which the list stays beside a record that is open."""
    lists: tuple[FeedName, ...]
    """The feeds whose records are its rows."""
    side_feeds: ClassVar[tuple[FeedName, ...]] = ()
    """Feeds that the screen shows besides its rows: their failures are reported, too."""
    prefixes: ClassVar[Mapping[FeedName, str]] = {}
    """What is put before the ids of a feed, where two feeds may have the same ids."""
    figures_from: ClassVar[tuple[FeedName, ...]] = ()
    """Feeds by whose figures rows are chosen or sorted, such as the budgets of the agents."""
    read_one: Any = None
    """Reads one record alone, which may have fields that the list leaves out; None if it cannot."""
    search_text: Any = None
    """Returns the text in which a filter looks for words; None for the text of all cells."""

    table: ListTable[R]
    detail: ListDetail

    def __init__(self, dashboard: DashboardContext, shown_as: ViewSettings | None) -> None:
        super().__init__(id=None if shown_as else self.place)
        self.shown_as = shown_as or ViewSettings(name="", screen=self.place)
        """The view of the settings that the list shows; without a name it is the screen's own."""
        self.tab = self.shown_as.tab if shown_as else self.place
        """The id of the tab that shows the list."""
        self.dashboard = dashboard
        self.workspace = dashboard.workspace
        self.cell_context = dashboard.cell_context
        self.collections: dict[FeedName, Any] = {
            **self.workspace.store.collections,
            FeedName.ACTIVITY: self.workspace.store.activity,
        }
        """The records of each feed, as this list shows them."""
        self.filter_text = ""
        self.filtered_at = 0.0
        """When the user entered the filter, by the platform's clock."""
        self.recalled = False
        """Whether the filter is that of an earlier run."""
        self.reading = False
        """Whether the detail is open in place of the list."""
        self._footer_subject: Record | None = None
        """The record for which the footer shows commands."""
        self.is_checked = False
        """Whether errors in the settings of this view were already reported."""

    @property
    def frame(self) -> FrameInterface:
        """The screen around this list."""
        return cast(FrameInterface, self.screen)

    # ---- which rows there are

    def columns(self) -> list[Column[R]]:
        """Return the columns of the table."""
        raise NotImplementedError

    def make_table(self) -> ListTable[R]:
        return ListTable(self.columns(), search_text=self.search_text, sort=self.sort)

    def wanted(self, record: R) -> bool:
        """Whether the list has a row for this record."""
        return True

    def subject(self, row_id: str | None = None) -> Any:
        """Return the record of a row, by default of the one under the cursor; None without one."""
        row_id = row_id or self.table.viewport.cursor
        return None if row_id is None else self.table.model.record(row_id)

    def subjects(self) -> list[Record]:
        """Return all records that the row under the cursor is about, the first most."""
        subject = self.subject()
        return [] if subject is None else [subject]

    def resolution(self, row_id: str) -> Cell:
        """Return what became of a record that left the list, for its tombstone."""
        return GONE

    def freshness_of(self, feed: FeedName) -> Freshness:
        """Return the freshness of what this list shows of a feed."""
        return self.workspace.store.freshness[feed]

    @property
    def row_freshnesses(self) -> list[Freshness]:
        """The freshness of the feeds that decide which rows there are, and their order."""
        return [self.freshness_of(feed) for feed in (*self.lists, *self.figures_from)]

    @property
    def unread(self) -> bool:
        """Whether a list was not answered yet in the present scope, be it late or failing.

        A list that the platform does not offer counts only if there is no other.
        """
        freshnesses = [self.freshness_of(feed) for feed in self.lists]
        offered = [freshness for freshness in freshnesses if freshness.is_offered]
        return not offered or any(freshness.answered_at is None for freshness in offered)

    @property
    def incomplete(self) -> bool:
        """Whether answers have yet to come, so that no count and no order is final."""
        return any(freshness.awaited for freshness in self.row_freshnesses)

    @property
    def is_read(self) -> bool:
        """Whether every answer for the present scope has come, so that a missing row is gone."""
        return not (self.incomplete or self.unread)

    # ---- what only one screen has

    @property
    def log_filter(self) -> ActivityFilter | None:
        """The part of the activity log that the screen shows; None if it shows no log."""
        return None

    def poll_now(self) -> None:
        """Poll now what only this screen reads; the poller polls everything else."""

    def show_forecasts(self) -> None:
        """Show that forecasts or figures of the past have changed."""

    def show_needs(self) -> None:
        """Show that the list of what needs the user was refreshed."""

    def show_decisions(self, task_ids: Iterable[str] = ()) -> None:
        """Show how far decisions about these tasks are, if the list has tasks."""

    def return_to(self, task_id: str) -> bool:
        """Put the cursor back on a task's line; False if this list doesn't show the task."""
        return False

    # ---- words

    def nothing(self) -> SafeText:
        """Return what the list says if it is empty."""
        return self.workspace.scope.nothing(self.empty)

    def error(self) -> SafeText | None:
        """Return that what was asked for does not exist, so that an empty list is no good news."""
        return self.workspace.scope.error()

    def breadcrumb(self) -> SafeText:
        """Return its name in the breadcrumbs: the record that is open, else the screen."""
        record = self.subject() if self.reading else None
        if record is not None:
            return name_of(record, self.workspace.names)
        return clean_line(self.shown_as.name or self.place.title(), 24)

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        """Return the cells left and right in the title; a filter is always among them.

        `about` is said before the scope and the count.
        """
        rows = self.table.model
        number = fmt.count(len(rows.records))
        if not rows.records and self.unread:
            number = signs.missing
        if self.filter_text:
            number = mark_safe(f"{fmt.count(len(rows.shown))} of {number}")
        scope = self.workspace.names.scope(self.workspace.poller.query.company)
        words = joined([*about, scope, number], f" {signs.separator} ")
        name = clean_line(self.shown_as.name or self.place.upper(), 24)
        left = [Cell(mark_safe(f" {name} "), Tone.STRONG), Cell(words)]
        if len(self.lists) == 1:
            collection = self.collections[self.lists[0]]
            left += told_cells(collection.listing, len(collection))
        if self.filter_text:
            left.append(Cell(mark_safe(f"  /{clean_line(self.filter_text, 40)}"), Tone.ACCENT))
        return left, self._order_cells()

    def _order_cells(self) -> list[Cell]:
        """Return how many rows wait while the list is frozen, and how it is sorted."""
        waiting = self.table.model.waiting_count
        cells: list[Cell] = []
        if self.table.model.frozen and waiting:
            cells.append(Cell(mark_safe(f"{waiting} new, r shows  "), Tone.ACCENT))
        key, descending = self.table.sort
        if self.sort is None or key is None:
            return cells
        if key == "level":
            words = "worst first " if descending else "worst last "
        else:
            words = f"by {key} {signs.down if descending else signs.up} "
        cells.append(Cell(mark_safe(words), Tone.DIM))
        return cells

    def detail_items(self, record: Any) -> list[PaneItem]:
        """Return the lines of a record's detail."""
        return details(record, self.cell_context, raw=self.detail.is_raw)

    # ---- actions

    @property
    def has_other_offers(self) -> bool:
        """Whether the footer shows commands for another record than the one under the cursor."""
        return self.subject() is not self._footer_subject

    def footer_actions(self) -> dict[str, str]:
        """Return the commands for the footer, the most useful first.

        By the id of the command: the words to show, "" for its label.
        """
        subject: Record | None = self.subject()
        self._footer_subject = subject
        not_now = frozenset[str]() if subject is not None else NEED_A_RECORD
        if (
            limit_agent_id(subject) is None
            or limit_refused(subject, self.workspace.store) is not None
        ):
            not_now |= {"budget.limit", "agents.limit"}
        if isinstance(subject, Company) and subject.unwritable is not None:
            not_now |= {"companies.clone"}
        if self.workspace.poller.query.company is None:
            not_now |= {"company.unscope"}
        return {id_: "" for id_ in FOOTER[self.place] if id_ not in not_now}

    def open(self, row_id: str) -> None:
        """Go where enter on a row leads: by default to its detail."""
        self.frame.go(Destination(self.place, row_id, is_open=True, view=self.shown_as.name))
