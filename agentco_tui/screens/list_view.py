"""What the six screens share: title, notice, a table that is still under a hand, the detail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Generic, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from agentco_tui.api.errors import ApiError
from agentco_tui.config import ViewSettings
from agentco_tui.keys.commands import FOOTER, FOR_A_LINE, Place
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
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.screens.detail_pane import details, link_to
from agentco_tui.screens.frame_interface import FrameInterface
from agentco_tui.screens.header_footer import misleads, notice, told_cells, without_lines, worst
from agentco_tui.screens.key_app import DetailPane, ListTable, bindings_of
from agentco_tui.screens.trail import AGENT_LOG, Spot, crumbs, name_of
from agentco_tui.text import SafeText, joined, plain, safe, signs
from agentco_tui.widgets.status_line import GAP, StatusLine
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.table.model import GONE
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import Item, Notice
from agentco_tui.widgets.tones import Cell, Tone, faded, total_width
from agentco_tui.widgets.workers import start_worker

HAND = 10.0  # seconds without a key after which a person's hand is taken to have left the list
LARGE = 50_000  # bytes of a record from which on its detail is not told anew each second
MANY = 5_000  # records of one change from which on the list is taken anew
SOON = 0.15  # seconds from the cursor's last move to the detail: longer than a held key repeats
WIDE = 120


class ListView(Widget, Generic[R]):
    """One of the six screens: it declares what it lists, and what its cells take from elsewhere."""

    place: ClassVar[Place]
    empty: ClassVar[str]
    sort: ClassVar[tuple[str, bool] | None] = None
    calm: ClassVar[bool] = True  # whether the order stands still under a person's hand
    keeps_filter: ClassVar[bool] = True  # from one run to the next
    beside_page: ClassVar[int] = WIDE  # columns from which on the list stays beside what is open
    lists: tuple[FeedName, ...]
    beside: ClassVar[tuple[FeedName, ...]] = ()
    prefixes: ClassVar[Mapping[FeedName, str]] = {}  # for ids of feeds that may be the same
    figures_from: ClassVar[tuple[FeedName, ...]] = ()  # feeds by which rows are there and sorted
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

    def __init__(self, session: DashboardWorkspace, shown_as: ViewSettings | None = None) -> None:
        """`shown_as`: the view that it is; without one, and a name, the screen's own list."""
        super().__init__(id=None if shown_as else self.place)
        self.shown_as = shown_as or ViewSettings(name="", screen=self.place)
        self.session, self.look = session, session.look
        self.collections: dict[FeedName, Any] = {
            **session.store.collections,
            FeedName.ACTIVITY: session.store.activity,
        }
        self.title_line, self.notice = StatusLine(classes="view--title"), Notice()
        self.table = self.make_table()
        self.open_anew()
        self.opened_from: RecordTable[Any] = self.table  # to whose line the detail belongs
        self.detail = DetailPane(classes="list--detail")
        self.filter_text, self.filtered_at = "", 0.0
        self.reading = self._raw = self.recalled = False  # a filter of an earlier run
        self._whole: Record | None = None  # the record under the cursor, as it was read by itself
        self._names_seen: Mapping[str, SafeText] = {}
        self._soon: Timer | None = None
        self._stood: str | None = None  # the line whose detail stands from its top already
        self._reload_due = self._hold_due = self.leaving = False

    def make_table(self) -> ListTable[R]:
        table = ListTable(self.columns(), search_text=self.search_text, sort=self.sort)
        table.hand_comes = self.touch
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
        self.frame.show_frame()

    @on(events.Resize)
    def _fit(self) -> None:
        # On a thin line a detail beside the list would cost more than the list at each move; but
        # it goes only where a person asked for that, for nothing may jump by itself.
        width = 0 if self.session.settings.thin else self.app.size.width
        self.set_class(width >= WIDE, "-wide")
        self.set_class(width < self.beside_page, "-narrow")

    @property
    def frame(self) -> FrameInterface:
        """The screen around this view."""
        return cast(FrameInterface, self.screen)

    def columns(self) -> list[Column[R]]:
        raise NotImplementedError

    read_one: Any = None  # reads a record by itself: it may have fields that the list leaves out
    is_checked = False  # whether it was said what is wrong with the view that it is
    search_text: Any = None  # where a filter looks for words, if not in the text of all cells

    def wanted(self, record: R) -> bool:
        return True

    def fate(self, row_id: str) -> Cell:
        """What became of a record that the list has no more, for its ghost."""
        return GONE

    def reload(self) -> None:
        self._reload_due = False
        self._names_seen = self._names()
        self.table.load(
            (f"{self.prefixes.get(feed, '')}{record.id}", record)
            for feed in self.lists
            for record in self.collections[feed]
            if self.wanted(record)
        )
        self.table.renew()
        self.show_head()
        self.show_detail()

    def reload_calmly(self) -> None:
        if self.table.rows.held:
            self._reload_due = True
        else:
            self.reload()

    def take(self, change: Change) -> None:
        """Take a change of what is listed, or of what the cells take names and figures from."""
        feed, table, rows = change.feed, self.table, self.table.rows
        before = self.prefixes.get(feed, "")
        ids = {f"{before}{i}": i for i in (*change.added, *change.changed, *change.removed)}
        if feed in self.lists:
            if feed in NAMES:
                self._names_seen = self._names()
            if self.freshness_of(feed).answered_at is None:
                self._let_first_answer_in()
            if len(ids) > MANY and not rows.held:
                self.reload()  # which takes a long list over several turns of the event loop
            else:
                found = {row_id: self.collections[feed].get(i) for row_id, i in ids.items()}
                there = {i: each for i, each in found.items() if each and self.wanted(each)}
                gone = [row_id for row_id in ids if row_id not in there]
                if rows.held and not rows.shown:
                    # There is nothing that a hand could be on, as after another company was chosen.
                    table.release()
                for row_id in gone if rows.held else ():
                    if rows.record(row_id) is not None:
                        table.ghost(row_id, self.fate(row_id))
                table.apply(changed=there.items(), removed=gone)
            if self._whole is not None and self._whole.id in ids.values():
                self._whole = None
            if self._hold_due and table.idle.is_set():
                self._hold()
            if table.view.cursor is None or table.view.cursor in ids:
                self.show_detail()
        elif feed in NAMES and self._names() != self._names_seen:
            self.reload_calmly()
        else:
            if feed in self.figures_from:
                table.apply(changed=[(i, rows.records[i]) for i in ids if i in rows.records])
            table.renew()
            self.show_detail()
        self.show_head()

    def _let_first_answer_in(self) -> None:
        """Rows of an answer that is still loading are not new: they take their places at once, also
        while the user moves, and the cursor stays with its record and at its line.
        """
        if self.table.rows.held:
            self.table.release()
            self._hold_due = True

    def take_outlook(self) -> None:
        """What lies ahead or behind of the records has changed."""

    def take_needs(self) -> None:
        """What needs a person has been found anew."""

    def _names(self) -> dict[str, SafeText]:
        collections = map(self.session.store.collections.__getitem__, NAMES)
        return {r.id: r.name for records in collections for r in records if r.name is not None}

    @property
    def incomplete(self) -> bool:
        """Whether answers to the question of now are still to come: no count or order is final."""
        return any(each.awaited for each in self._bring_rows())

    def _bring_rows(self) -> list[Freshness]:
        """Of the feeds by which rows are there and in their order."""
        return [self.freshness_of(feed) for feed in (*self.lists, *self.figures_from)]

    def freshness_of(self, feed: FeedName) -> Freshness:
        """How fresh what this screen shows of a feed is."""
        return self.session.store.freshness[feed]

    def poll_now(self) -> None:
        """Ask at once for what only this screen reads; the poller asks for all else."""

    @property
    def log_filter(self) -> ActivityFilter | None:
        """Which part of the activity log the screen shows; None if it shows no log."""
        return None

    def open_anew(self) -> None:
        """Until the answers that are to come have come, the cursor is the first line's."""
        self.table.view.opening, self._touched_at = True, 0.0
        self._opened_at = self.session.clock.monotonic()

    def offers(self) -> dict[str, str]:
        """What means something here and now, most wanted first; its words, "" for its label."""
        subject = self.subject()
        not_now = frozenset[str]() if subject is not None else FOR_A_LINE
        if limit_of(subject) is None or limit_refused(subject, self.session.store) is not None:
            not_now |= {"budget.limit", "agents.limit"}
        if isinstance(subject, Company) and subject.unwritable is not None:
            not_now |= {"companies.clone"}
        if self.session.poller.query.company is None:
            not_now |= {"company.unscope"}
        return {id_: "" for id_ in FOOTER[self.place] if id_ not in not_now}

    def leave_scope(self) -> None:
        """Another company is about to be in scope: that is a load, which leaves no ghosts."""
        self.leaving = True
        self.table.release()

    def rescope(self) -> None:
        self.leaving = False
        self.table.release()
        if not set(self.lists).isdisjoint(SCOPED):
            self.table.action_first()
            self.open_anew()
        self.reload()

    def show_head(self, phase: Phase | None = None) -> None:
        """What stands above the list, by the worst of its feeds; what its rows are worth, by the
        worst of those listed that were answered, if no `phase` says it.
        """
        if not self.is_attached:  # the program may be ending
            return
        session, feeds = self.session, (*self.lists, *self.beside)
        known = {feed: self.freshness_of(feed) for feed in feeds}
        freshness = worst(known.values())
        failing = [feed for feed in feeds if known[feed].phase is freshness.phase]
        about = "" if len(failing) == len(feeds) else f"{', '.join(failing)}: "
        told = notice(freshness, session.clock.monotonic(), about, session.settings)
        is_own = self.filter_text == self.shown_as.filter
        since = session.clock.now() if is_own else self.filtered_at, self.recalled
        self.notice.show([*misleads(session, self.error(), self.table.rows, *since), *told])
        listed = [known[feed] for feed in self.lists]
        answered = [each for each in listed if each.answered_at is not None]
        phase = phase or worst(answered or listed).phase
        words = without_lines(phase, self.nothing())
        if FeedName.COMPANIES not in self.lists and not session.is_scope_shown():
            phase = session.scope_phase()
            words = self.nothing() if phase is Phase.FAILED else without_lines(phase, words)
        self.table.view.thin = session.thin
        self.table.set_state(words, stale=phase in (Phase.STALE, Phase.FAILED))
        self.detail.fade(is_old := phase is Phase.STALE)
        (name, *about_it), right = self.title()
        if self.reading:
            name, about_it = Cell(plain(f" {self.called()}"), Tone.STRONG), []
            right = [] if self.has_class("-narrow") else right  # how a list is sorted that hides
        rest = GAP + total_width([name, *about_it, *right])
        way = crumbs(self.frame.behind, self.size.width - rest)
        self.title_line.show([*way, name, *faded(about_it, is_old)], faded(right, is_old))
        # While the list opens, answers are to come that may change which row is the first.
        asked = (each for each in self._bring_rows() if each.failure is None)
        due = any(each.awaited or (each.answered_at or 0.0) < self._opened_at for each in asked)
        self.table.view.opening &= due or not self.table.idle.is_set()

    def nothing(self) -> SafeText:
        """What the list says if it is empty: of what there is nothing."""
        return self.session.none_here(self.empty)

    def error(self) -> SafeText | None:
        """What was asked for and does not exist, so that an empty list is no good news."""
        return self.session.scope_error()

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        """The cells left and right of the title; a list that hides something always says so."""
        rows, (key, descending) = self.table.rows, self.table.sort
        number, right = fmt.count(len(rows.records)), list[Cell]()
        if self.filter_text:
            number = plain(f"{fmt.count(len(rows.shown))} of {number}")
        scope = self.session.names.scope(self.session.poller.query.company)
        words = joined([*about, scope, number], f" {signs.separator} ")
        name = safe(self.shown_as.name or self.place.upper(), 24)
        left = [Cell(plain(f" {name} "), Tone.STRONG), Cell(words)]
        if len(self.lists) == 1:
            collection = self.collections[self.lists[0]]
            left += told_cells(collection.listing, len(collection))
        if rows.held and rows.waiting:
            right.append(Cell(plain(f"{rows.waiting} new, r shows  "), Tone.ACCENT))
        if self.sort is not None and key is not None:
            sign = signs.down if descending else signs.up
            by_level = "worst first " if descending else "worst last "
            right.append(Cell(plain(by_level if key == "level" else f"by {key} {sign} "), Tone.DIM))
        if self.filter_text:
            left.append(Cell(plain(f"  /{safe(self.filter_text, 40)}"), Tone.ACCENT))
        return left, right

    @on(events.Key)
    @on(events.Click)
    def touch(self) -> None:
        """A hand is on the list: what comes waits from now on, and what goes leaves a ghost. While
        the first answers come in, nobody who has not moved has chosen a line yet.
        """
        if self.incomplete and not (self.table.marked or self.table.view.touched):
            return
        self._touched_at = self.session.clock.monotonic()
        self.table.view.opening = False
        self._hold()

    def _hold(self) -> None:
        """Let the order stand still; as soon as it is sorted, if that is still under way."""
        # Holding a large table would end its sorting or filtering in one go.
        self._hold_due = not self.table.idle.is_set()
        if self.calm and not self._hold_due and not self.table.rows.held and self.table.rows.shown:
            self.table.hold()

    @on(RecordTable.WorkDone)
    def _counts_settled(self) -> None:
        if self._hold_due:
            self._hold()
        self.show_head()

    def arrive(self) -> None:
        if not self.table.marked:
            self.bring_up_to_date()
        self.touch()

    def tick(self) -> None:
        """Tell ages anew, and bring a list up to date that no hand is on any more."""
        self.take_decisions()
        self.show_head()
        self.table.tick()
        if self.app.screen is self.screen and len(getattr(self.subject(), "extra", b"")) < LARGE:
            self.show_detail()  # its ages are those of the line
        if self.table.marked and not self.table.rows.held:
            self.touch()  # what is marked is about to be acted on, hand or no hand
        if not self.table.rows.held:
            return
        if self.app.screen is not self.screen:
            self.touch()
        elif self.session.clock.monotonic() - self._touched_at >= HAND and not self.table.marked:
            self.bring_up_to_date()

    def bring_up_to_date(self) -> None:
        self.table.release()
        if self._reload_due:
            self.reload()
        self.show_head()

    def subject(self, row_id: str | None = None) -> Any:
        """A row's record; by default of the one that a command is about, under the cursor."""
        row_id = row_id or self.table.view.cursor
        return None if row_id is None else self.table.rows.record(row_id)

    def show_detail(self, *, top: bool = False) -> None:
        record, whole = self.subject(), self._whole
        record = whole if whole and record and whole.id == record.id else record
        if self.display:
            self.detail.lead(link_to(self.session.settings.web_url, record))
            self.detail.show([] if record is None else self.detail_items(record), top=top)

    def detail_items(self, record: Any) -> list[Item]:
        return details(record, self.look, raw=self._raw)

    def take_decisions(self, task_ids: Iterable[str] = ()) -> None:
        """Say on tasks' lines what is known of decisions, where there are such lines."""

    def return_to(self, task_id: str) -> bool:
        """Put the cursor back on a task's line; False if this list doesn't show the task."""
        return False

    async def _read_whole(self, row_id: str) -> None:
        try:
            record = await self.read_one(row_id)
        except ApiError as error:
            self.frame.say(str(error), bad=True)
            return
        if self.table.view.cursor == record.id:
            self._whole = record
            self.show_detail()

    @on(RecordTable.CursorMoved)
    def _cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        # Where the cursor comes to rest: on its way it costs the line only what it moves.
        if message.table is not self.table:
            return
        if self._soon is None:
            self._soon = self.set_timer(SOON, self._show_moved, name="detail")
        else:
            self._soon.reset()

    def _show_moved(self) -> None:
        self._soon = None
        self.show_detail(top=self.table.view.cursor != self._stood)
        self.frame.show_frame()

    @on(RecordTable.Opened)
    def _opened(self, message: RecordTable.Opened) -> None:
        self.opened_from = message.table
        self.open(message.row_id)

    def open(self, row_id: str) -> None:
        self.frame.go(self.place, row_id, is_open=True, view=self.shown_as.name)

    @on(DetailPane.Entered)
    def _entered(self, message: DetailPane.Entered) -> None:
        """Go where the line leads: a screen, a row of it, or the log of an agent; from a company's
        page all is shown of that company.
        """
        subject, (place, _, row_id) = self.subject(), message.key.partition(":")
        scope = subject.id if isinstance(subject, Company) else ""
        if place == AGENT_LOG:
            self.frame.go("activity", log=ActivityFilter(agent=row_id))
            return
        whole_log = NO_LOG_FILTER if place == "activity" else None
        self.frame.go(
            cast("Place", place), row_id or None, scope=scope, is_open=bool(row_id), log=whole_log
        )

    def stand(self, at: Spot) -> bool:
        """Be as that spot says; False if the list doesn't have its line."""
        if at.filter not in (None, self.filter_text):
            self.set_filter(at.filter)
        is_there = at.row in (None, self.opened_from.view.cursor) or self.go_to(at.row)
        self.table.view.opening &= at.row is None
        self.reading, self._stood = at.is_open and is_there, self.table.view.cursor
        self.set_class(self.reading, "-reading")
        # At once: a key that follows in the same packet is for the detail.
        if not self.frame.prompt.display:
            self.screen.set_focus(self.detail if self.reading else self.opened_from)
        self.frame.show_frame()
        self.show_head()
        self.show_detail(top=True)
        if self.reading and self.read_one is not None:
            start_worker(self, partial(self._read_whole, at.row or ""), f"read {at.row}")
        return is_there

    def called(self) -> SafeText:
        """What the way here calls it: the record that stands open, else the screen."""
        record = self.subject() if self.reading else None
        own = safe(self.shown_as.name or self.place.title(), 24)
        return name_of(record, self.session.names) if record else own

    def set_filter(self, text: str) -> SafeText | None:
        self.bring_up_to_date()
        error = self.table.set_filter(text)
        self.filter_text, self.recalled = "" if error else text, False
        self.filtered_at = self.session.clock.now()
        self.touch()
        self.show_head()
        return error

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a record; False if the list doesn't have it."""
        self.bring_up_to_date()
        if self.table.rows.record(row_id) is None:
            return False
        if self.filter_text and row_id not in self.table.rows.shown:
            self.set_filter("")
        self.touch()
        self.opened_from = self.table
        return self.table.move_cursor_to(row_id)

    def leave(self) -> bool:
        """Leave what hides or marks lines; False if there is nothing of that kind."""
        if hides := self.filter_text != self.shown_as.filter and not self.reading:
            self.set_filter(self.shown_as.filter)
        return hides

    def action_filter(self) -> None:
        self.table.warm_filter()
        self.frame.ask_filter()

    def action_sort(self, change: str) -> None:
        self.bring_up_to_date()
        getattr(self.table, change)()
        self.touch()
        self.show_head()

    def action_columns(self) -> None:
        self.frame.dialogs.columns()

    def action_open(self) -> None:
        self.table.action_open()

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.show_detail(top=True)
