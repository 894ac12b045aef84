"""What the six screens share: the title, the notices, the table and the detail of one record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Final, Generic, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from agentco_tui.api.errors import ApiError
from agentco_tui.config import ViewSettings
from agentco_tui.keys.commands import FOOTER, FOR_A_LINE
from agentco_tui.keys.places import Place
from agentco_tui.live.feeds import (
    NAMES,
    NO_LOG_FILTER,
    SCOPED,
    ActivityFilter,
    FeedName,
    Freshness,
    Phase,
)
from agentco_tui.live.store import Change
from agentco_tui.model import Company, Record
from agentco_tui.model import format as fmt
from agentco_tui.screens.cells import limit_of, limit_refused
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.detail_pane import details, link_to
from agentco_tui.screens.frame_interface import FrameInterface
from agentco_tui.screens.header_footer import misleads, notice, told_cells, without_lines, worst
from agentco_tui.screens.key_app import DetailPane, ListTable, bindings_of
from agentco_tui.screens.list_freezer import ListFreezer
from agentco_tui.screens.navigation import AGENT_LOG, NavigationEntry, breadcrumbs, name_of
from agentco_tui.screens.topics import Topics
from agentco_tui.text import SafeText, joined, plain, safe, signs
from agentco_tui.widgets.status_line import GAP, StatusLine
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.table.model import GONE
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import Item, Notice
from agentco_tui.widgets.tones import Cell, Tone, faded, total_width
from agentco_tui.widgets.workers import start_worker

LARGE_RECORD: Final = 50_000
"""Bytes of unread fields at or above which a record's detail is not drawn again each second."""
MANY: Final = 5_000
"""Records of one change above which the whole list is loaded again."""
DETAIL_DELAY: Final = 0.15
"""Seconds from the cursor's last move to its detail: longer than the pause of a repeating key."""
WIDE: Final = 120
"""Columns at or above which a detail is shown beside the list."""


class ListView(Widget, Generic[R]):
    """One of the six screens: a subclass declares which feeds it lists, and its columns."""

    place: ClassVar[Place]
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
    beside: ClassVar[tuple[FeedName, ...]] = ()
    """Other feeds that it shows, whose failures it reports."""
    prefixes: ClassVar[Mapping[FeedName, str]] = {}
    """What is put before the ids of a feed, where feeds may have the same ids."""
    figures_from: ClassVar[tuple[FeedName, ...]] = ()
    """Feeds by whose figures rows are chosen or sorted."""
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
        workspace = dashboard.workspace
        super().__init__(id=None if shown_as else self.place)
        self.shown_as = shown_as or ViewSettings(name="", screen=self.place)
        self.dashboard = dashboard
        self.workspace = workspace
        self.cell_context = dashboard.cell_context
        self.collections: dict[FeedName, Any] = {
            **workspace.store.collections,
            FeedName.ACTIVITY: workspace.store.activity,
        }
        self.title_line = StatusLine(classes="view--title")
        self.notice = Notice()
        self.table = self.make_table()
        self.freezer = ListFreezer(
            workspace.clock,
            self.table,
            can_freeze=self.can_freeze,
            is_incomplete=lambda: self.incomplete,
            reload=self.reload,
        )
        self.opened_from: RecordTable[Any] = self.table
        """The table whose row under the cursor the detail shows."""
        self.detail = DetailPane(classes="list--detail")
        self.filter_text = ""
        self.filtered_at = 0.0
        self.recalled = False
        """Whether the filter is that of an earlier run."""
        self.reading = False
        """Whether the detail is open in place of the list."""
        self._raw = False
        """Whether the detail shows hidden characters."""
        self._whole: Record | None = None
        """The record under the cursor, if it was read alone: that has more fields."""
        self._names_seen: Mapping[str, SafeText] = {}
        """The names of companies and agents when the rows were loaded."""
        self._detail_timer: Timer | None = None
        """Runs from the cursor's last move until the detail is shown."""
        self._detail_of: str | None = None
        """The row whose detail was already shown from its top."""

    def make_table(self) -> ListTable[R]:
        table = ListTable(self.columns(), search_text=self.search_text, sort=self.sort)
        table.on_interaction = self.on_interaction
        return table

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.notice
        with Horizontal():
            yield self.table
            yield self.detail

    def on_mount(self) -> None:
        """Show what the store has already, laid out for the terminal from the first picture on."""
        self._fit()
        self.reload()
        self._follow(self.frame.topics)
        self.frame.show_frame()

    def _follow(self, topics: Topics) -> None:
        """Show what happens while the list is mounted, also while it is hidden."""
        topics.changes.subscribe(self, self.show_change)
        topics.decisions.subscribe(self, self.show_decisions)
        topics.needs.subscribe(self, lambda _: self.show_needs() if self.display else None)
        topics.forecasts.subscribe(self, lambda _: self.show_forecasts())
        topics.freshness.subscribe(self, self._show_freshness)
        topics.appearance.subscribe(self, lambda _: self.show_head())

    def _show_freshness(self, feed: FeedName) -> None:
        if self.display and feed in (*self.lists, *self.beside, *self.figures_from):
            self.show_head()

    @on(events.Resize)
    def _fit(self) -> None:
        # On a thin line a detail beside the list would cost more than the list at each move. It is
        # hidden only if the settings say `thin`: nothing may move when a line turns out slow.
        width = 0 if self.workspace.settings.thin else self.app.size.width
        self.set_class(width >= WIDE, "-wide")
        self.set_class(width < self.beside_page, "-narrow")

    @property
    def tab(self) -> str:
        """The tab that shows it."""
        name = self.shown_as.name
        return f"{self.place}:{name}" if name else self.place

    @property
    def frame(self) -> FrameInterface:
        """The screen around this view."""
        return cast(FrameInterface, self.screen)

    def columns(self) -> list[Column[R]]:
        raise NotImplementedError

    read_one: Any = None
    """Reads one record alone, which may have fields that the list leaves out; None if it cannot."""
    is_checked = False
    """Whether errors in the settings of this view were already reported."""
    search_text: Any = None
    """Returns the text in which a filter looks for words; None: the text of all cells."""

    def wanted(self, record: R) -> bool:
        """Whether the list shows this record."""
        return True

    def resolution(self, row_id: str) -> Cell:
        """Return what became of a record that left the list, for its tombstone."""
        return GONE

    def reload(self) -> None:
        """Load all rows from the store."""
        self.freezer.reload_due = False
        self._names_seen = self._names()
        self.table.load(
            (f"{self.prefixes.get(feed, '')}{record.id}", record)
            for feed in self.lists
            for record in self.collections[feed]
            if self.wanted(record)
        )
        self.table.reread_cells()
        self.show_head()
        self.show_detail()

    def show_change(self, change: Change) -> None:
        """Show a change of a feed that is listed, or from which cells take names and figures."""
        if change.feed in self.lists:
            self._take_rows(change)
        elif change.feed in NAMES and self._names() != self._names_seen:
            self.freezer.request_reload()
        else:
            if change.feed in self.figures_from:
                records = self.table.model.records
                changed = self._changed_ids(change)
                self.table.apply(changed=[(i, records[i]) for i in changed if i in records])
            self.table.reread_cells()
            self.show_detail()
        self.show_head()

    def _changed_ids(self, change: Change) -> dict[str, str]:
        """Return the ids of all records of a change, by the ids of their rows."""
        prefix = self.prefixes.get(change.feed, "")
        ids = (*change.added, *change.changed, *change.removed)
        return {f"{prefix}{record_id}": record_id for record_id in ids}

    def _take_rows(self, change: Change) -> None:
        """Sort changed records of a listed feed in, or let them wait while the list is frozen."""
        changed = self._changed_ids(change)
        if change.feed in NAMES:
            self._names_seen = self._names()
        if self.freshness_of(change.feed).answered_at is None:
            self.freezer.let_first_answer_in()
        if len(changed) > MANY and not self.freezer.is_frozen:
            self.reload()  # which takes a long list over several turns of the event loop
        else:
            self._apply_rows(change.feed, changed)
        if self._whole is not None and self._whole.id in changed.values():
            self._whole = None
        if self.table.idle.is_set():
            self.freezer.continue_freezing()
        if self.table.viewport.cursor is None or self.table.viewport.cursor in changed:
            self.show_detail()

    def _apply_rows(self, feed: FeedName, changed: Mapping[str, str]) -> None:
        records = {row_id: self.collections[feed].get(i) for row_id, i in changed.items()}
        listed = {
            row_id: record
            for row_id, record in records.items()
            if record is not None and self.wanted(record)
        }
        removed = [row_id for row_id in changed if row_id not in listed]
        if self.freezer.is_frozen and not self.table.model.shown:
            # There is no row that must keep its place, as after another company was chosen.
            self.table.release()
        if self.freezer.is_frozen:
            for row_id in removed:
                if self.table.model.record(row_id) is not None:
                    self.table.set_tombstone(row_id, self.resolution(row_id))
        self.table.apply(changed=listed.items(), removed=removed)

    def show_forecasts(self) -> None:
        """Show that forecasts or figures of the past have changed."""

    def show_needs(self) -> None:
        """Show that the needs were found again."""

    def _names(self) -> dict[str, SafeText]:
        collections = map(self.workspace.store.collections.__getitem__, NAMES)
        return {r.id: r.name for records in collections for r in records if r.name is not None}

    @property
    def incomplete(self) -> bool:
        """Whether answers have yet to come, so that no count and no order is final."""
        return any(each.awaited for each in self._row_freshnesses())

    def _row_freshnesses(self) -> list[Freshness]:
        """Return the freshness of the feeds that decide which rows there are, and their order."""
        return [self.freshness_of(feed) for feed in (*self.lists, *self.figures_from)]

    def freshness_of(self, feed: FeedName) -> Freshness:
        """Return the freshness of what this screen shows of a feed."""
        return self.workspace.store.freshness[feed]

    def poll_now(self) -> None:
        """Poll now what only this screen reads; the poller polls everything else."""

    @property
    def log_filter(self) -> ActivityFilter | None:
        """The part of the activity log that the screen shows; None if it shows no log."""
        return None

    def footer_actions(self) -> dict[str, str]:
        """Return the commands for the footer, the most useful first.

        By the id of the command: the words to show, "" for its label.
        """
        subject = self.subject()
        not_now = frozenset[str]() if subject is not None else FOR_A_LINE
        if limit_of(subject) is None or limit_refused(subject, self.workspace.store) is not None:
            not_now |= {"budget.limit", "agents.limit"}
        if isinstance(subject, Company) and subject.unwritable is not None:
            not_now |= {"companies.clone"}
        if self.workspace.poller.query.company is None:
            not_now |= {"company.unscope"}
        return {id_: "" for id_ in FOOTER[self.place] if id_ not in not_now}

    def begin_scope_change(self) -> None:
        """Another company is about to be shown: rows that go now leave no tombstones."""
        self.freezer.begin_scope_change()

    def end_scope_change(self) -> None:
        """Load the rows of the company in scope."""
        self.freezer.end_scope_change()
        self.show_from_top()

    def show_from_top(self) -> None:
        """Load the rows again; where they depend on the scope, the cursor goes to the first one."""
        self.table.release()
        if not set(self.lists).isdisjoint(SCOPED):
            self.table.action_first()
            self.freezer.open()
        self.reload()

    def show_head(self, phase: Phase | None = None) -> None:
        """Show the title and the notices, and dim the rows if they are old.

        The notice is about the feed in the worst state. `phase` is the state of the rows; by
        default the worst of the feeds listed that were answered.
        """
        if not self.is_attached:  # the program may be ending
            return
        self._show_notice()
        is_old = self._show_row_state(phase) is Phase.STALE
        self.detail.fade(is_old)
        self._show_title(is_old)
        # While the list opens, answers are to come that may change which row is the first.
        self.freezer.end_opening_if_complete(self._row_freshnesses())

    def _show_notice(self) -> None:
        workspace = self.workspace
        freshness_by_feed = {feed: self.freshness_of(feed) for feed in (*self.lists, *self.beside)}
        freshness = worst(freshness_by_feed.values())
        failing = [
            feed for feed, each in freshness_by_feed.items() if each.phase is freshness.phase
        ]
        is_about_all = len(failing) == len(freshness_by_feed)
        about = "" if is_about_all else f"{', '.join(failing)}: "
        failure = notice(freshness, workspace.clock.monotonic(), about, workspace.settings)
        has_own_filter = self.filter_text == self.shown_as.filter
        filtered_at = workspace.clock.now() if has_own_filter else self.filtered_at
        filter_or_error = misleads(
            workspace, self.error(), self.table.model, filtered_at, self.recalled
        )
        self.notice.show([*filter_or_error, *failure])

    def _show_row_state(self, phase: Phase | None) -> Phase:
        """Dim the rows if they are old, or say why there are none; return their phase."""
        workspace = self.workspace
        listed = [self.freshness_of(feed) for feed in self.lists]
        answered = [each for each in listed if each.answered_at is not None]
        phase = phase or worst(answered or listed).phase
        words = without_lines(phase, self.nothing())
        if FeedName.COMPANIES not in self.lists and not workspace.scope.allows_counts():
            phase = workspace.scope.phase()
            words = self.nothing() if phase is Phase.FAILED else without_lines(phase, words)
        self.table.viewport.thin = self.dashboard.thin
        self.table.set_state(words, stale=phase in (Phase.STALE, Phase.FAILED))
        return phase

    def _show_title(self, is_old: bool) -> None:
        (name, *about), right = self.title()
        if self.reading:
            name = Cell(plain(f" {self.breadcrumb()}"), Tone.STRONG)
            about = []
            if self.has_class("-narrow"):
                right = []  # the list is hidden, and so is how it is sorted
        width = GAP + total_width([name, *about, *right])
        way = breadcrumbs(self.frame.navigation.behind, self.size.width - width)
        self.title_line.show([*way, name, *faded(about, is_old)], faded(right, is_old))

    def nothing(self) -> SafeText:
        """Return what the list says if it is empty."""
        return self.workspace.scope.nothing(self.empty)

    def error(self) -> SafeText | None:
        """Return that what was asked for does not exist, so that an empty list is no good news."""
        return self.workspace.scope.error()

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        """Return the cells left and right in the title; a filter is always among them.

        `about` is said before the scope and the count.
        """
        rows = self.table.model
        number = fmt.count(len(rows.records))
        if self.filter_text:
            number = plain(f"{fmt.count(len(rows.shown))} of {number}")
        scope = self.workspace.names.scope(self.workspace.poller.query.company)
        words = joined([*about, scope, number], f" {signs.separator} ")
        name = safe(self.shown_as.name or self.place.upper(), 24)
        left = [Cell(plain(f" {name} "), Tone.STRONG), Cell(words)]
        if len(self.lists) == 1:
            collection = self.collections[self.lists[0]]
            left += told_cells(collection.listing, len(collection))
        if self.filter_text:
            left.append(Cell(plain(f"  /{safe(self.filter_text, 40)}"), Tone.ACCENT))
        return left, self._order_cells()

    def _order_cells(self) -> list[Cell]:
        """Return how many rows wait while the list is frozen, and how it is sorted."""
        waiting = self.table.model.waiting_count
        cells: list[Cell] = []
        if self.freezer.is_frozen and waiting:
            cells.append(Cell(plain(f"{waiting} new, r shows  "), Tone.ACCENT))
        key, descending = self.table.sort
        if self.sort is None or key is None:
            return cells
        if key == "level":
            words = "worst first " if descending else "worst last "
        else:
            words = f"by {key} {signs.down if descending else signs.up} "
        cells.append(Cell(plain(words), Tone.DIM))
        return cells

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
            self.bring_up_to_date()
        self.on_interaction()

    def tick(self) -> None:
        """Show ages as they are now, and release the list if the user has left it."""
        self.show_decisions()
        self.show_head()
        self.table.update_clock_cells()
        is_covered = self.app.screen is not self.screen
        is_large = len(getattr(self.subject(), "extra", b"")) >= LARGE_RECORD
        if not is_covered and not is_large:
            self.show_detail()  # its ages are those of the row
        if self.freezer.tick(is_covered=is_covered):
            self.show_head()

    def bring_up_to_date(self) -> None:
        """End the freeze."""
        self.freezer.release()
        self.show_head()

    def subject(self, row_id: str | None = None) -> Any:
        """Return the record of a row, by default of the one under the cursor."""
        row_id = row_id or self.table.viewport.cursor
        return None if row_id is None else self.table.model.record(row_id)

    def show_detail(self, *, top: bool = False) -> None:
        """Show the record under the cursor in the detail, with `top` from its first line."""
        record = self.subject()
        if self._whole is not None and record is not None and self._whole.id == record.id:
            record = self._whole
        if self.display:
            self.detail.lead(link_to(self.workspace.settings.web_url, record))
            self.detail.show([] if record is None else self.detail_items(record), top=top)

    def detail_items(self, record: Any) -> list[Item]:
        return details(record, self.cell_context, raw=self._raw)

    def show_decisions(self, task_ids: Iterable[str] = ()) -> None:
        """Show how far decisions about these tasks are, where the list has tasks."""

    def return_to(self, task_id: str) -> bool:
        """Put the cursor back on a task's line; False if this list doesn't show the task."""
        return False

    async def _read_whole(self, row_id: str) -> None:
        try:
            record = await self.read_one(row_id)
        except ApiError as error:
            self.frame.say(str(error), bad=True)
            return
        if self.table.viewport.cursor == record.id:
            self._whole = record
            self.show_detail()

    @on(RecordTable.CursorMoved)
    def _cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        # The detail is drawn where the cursor comes to rest, not on the way.
        if message.table is not self.table:
            return
        if self._detail_timer is None:
            self._detail_timer = self.set_timer(DETAIL_DELAY, self._show_moved, name="detail")
        else:
            self._detail_timer.reset()

    def _show_moved(self) -> None:
        self._detail_timer = None
        self.show_detail(top=self.table.viewport.cursor != self._detail_of)
        self.frame.show_frame()

    @on(RecordTable.Opened)
    def _opened(self, message: RecordTable.Opened) -> None:
        self.opened_from = message.table
        self.open(message.row_id)

    def open(self, row_id: str) -> None:
        self.frame.go(self.place, row_id, is_open=True, view=self.shown_as.name)

    @on(DetailPane.Entered)
    def _entered(self, message: DetailPane.Entered) -> None:
        """Go where a line of the detail leads: a screen, a row of it, or the log of an agent.

        From a company's page, everything is shown of that company.
        """
        place, _, row_id = message.key.partition(":")
        if place == AGENT_LOG:
            self.frame.go("activity", log=ActivityFilter(agent=row_id))
            return
        subject = self.subject()
        self.frame.go(
            cast("Place", place),
            row_id or None,
            scope=subject.id if isinstance(subject, Company) else "",
            is_open=bool(row_id),
            log=NO_LOG_FILTER if place == "activity" else None,
        )

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
        self._detail_of = self.table.viewport.cursor
        self.set_class(self.reading, "-reading")
        # At once: a key that follows in the same packet is for the detail.
        if not self.frame.prompt.display:
            self.screen.set_focus(self.detail if self.reading else self.opened_from)
        self.frame.show_frame()
        self.show_head()
        self.show_detail(top=True)
        if self.reading and self.read_one is not None:
            start_worker(self, partial(self._read_whole, entry.row or ""), f"read {entry.row}")
        return is_there

    def breadcrumb(self) -> SafeText:
        """Return its name in the breadcrumbs: the record that is open, else the screen."""
        record = self.subject() if self.reading else None
        if record is not None:
            return name_of(record, self.workspace.names)
        return safe(self.shown_as.name or self.place.title(), 24)

    def set_filter(self, text: str) -> SafeText | None:
        """Filter the rows; return what is wrong with the filter, None if nothing is."""
        self.bring_up_to_date()
        error = self.table.set_filter(text)
        self.filter_text = "" if error else text
        self.recalled = False
        self.filtered_at = self.workspace.clock.now()
        self.on_interaction()
        self.show_head()
        return error

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a record; False if the list does not have it."""
        self.bring_up_to_date()
        if self.table.model.record(row_id) is None:
            return False
        if self.filter_text and row_id not in self.table.model.shown:
            self.set_filter("")
        self.on_interaction()
        self.opened_from = self.table
        return self.table.move_cursor_to(row_id)

    def leave(self) -> bool:
        """Leave what hides or marks rows; False if there is nothing of that kind."""
        is_filtered = self.filter_text != self.shown_as.filter
        if not is_filtered or self.reading:
            return False
        self.set_filter(self.shown_as.filter)
        return True

    def action_filter(self) -> None:
        self.table.warm_filter()
        self.frame.ask_filter()

    def action_sort(self, change: str) -> None:
        self.bring_up_to_date()
        getattr(self.table, change)()
        self.on_interaction()
        self.show_head()

    def action_columns(self) -> None:
        self.frame.dialogs.columns()

    def action_open(self) -> None:
        self.table.action_open()

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.show_detail(top=True)
