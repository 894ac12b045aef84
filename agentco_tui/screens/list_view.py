"""What the six screens share: a title line, a notice when a feed fails, a table whose order stands
still while a person's hand is on it, and the detail of the line under the cursor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from agentco_tui import format as fmt
from agentco_tui.keys import Place, keys_of
from agentco_tui.live.feeds import NAMES, FeedName, Phase
from agentco_tui.live.store import Change
from agentco_tui.model import Listing, Record
from agentco_tui.screens.detail_pane import details
from agentco_tui.screens.header_footer import notice_items, worst
from agentco_tui.screens.key_app import KeyApp, ListTable, bindings_of
from agentco_tui.screens.session import Session
from agentco_tui.state_folder import LONGEST_FILTER, ListMemory
from agentco_tui.text import SafeText, clipboard_text, joined, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.filter import FilterError
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.table.widget import RecordTable, TableState
from agentco_tui.widgets.text_pane import Item, Notice, TextPane
from agentco_tui.widgets.tones import Cell, Tone

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen

HAND = 10.0
"""Seconds without a key after which a person's hand is taken to have left the list."""
AFTER_APPROVE = 1.0
"""Seconds after the key of approve in which `y` copies nothing: it was meant for a question."""
MANY = 5_000
"""Records of one change from which on the list is taken anew."""
SOON = 0.15
"""Seconds from the last move of the cursor to the detail of its line: longer than a held key takes
to repeat."""
WIDE = 120
"""Columns from which the detail stands beside the list."""
STATES = {
    Phase.LOADING: TableState.LOADING,
    Phase.LIVE: TableState.READY,
    Phase.STALE: TableState.STALE,
    Phase.FAILED: TableState.FAILED,
}
"""How a table looks while its feed is in a phase."""


def told_cells(told: Listing[Any], shown: int) -> list[Cell]:
    """What a list says of itself: records that couldn't be read, and that more exist."""
    words = []
    if told.unread:
        words.append(f"{fmt.count(told.unread)} could not be read")
    if told.capped:
        words.append(f"only the first {fmt.count(shown)} were fetched")
    cells = [Cell(plain(f" {signs.warning} {each}"), Tone.WARNING) for each in words]
    if told.more and not told.capped:
        cells.append(Cell(plain(f" at least {fmt.count(shown)}"), Tone.DIM))
    return cells


class ListView(Widget, Generic[R]):
    """One of the six screens, inside the frame of header, tabs and footer.

    It lists the records of one feed or of several, kept up to date from their collections. A
    screen declares what it lists and what its cells take from elsewhere.
    """

    place: ClassVar[Place]
    heading: ClassVar[str]
    empty: ClassVar[str]
    sort: ClassVar[tuple[str, bool] | None] = None
    calm: ClassVar[bool] = True
    """Whether the order stands still while a person's hand is on the list."""
    can_mark: ClassVar[bool] = False
    lists: tuple[FeedName, ...]
    """The feeds that are listed."""
    beside: ClassVar[tuple[FeedName, ...]] = ()
    """Further feeds that the screen shows."""
    names_from: ClassVar[frozenset[FeedName]] = NAMES
    """The feeds that cells take names from."""
    figures_from: ClassVar[frozenset[FeedName]] = frozenset()
    """The feeds with figures by which rows are sorted and filtered."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table")

    DEFAULT_CSS = """
    ListView {
        layout: vertical; height: 1fr;
        & > .view--title { background: $panel; }
        & > Horizontal { height: 1fr; }
        & .list--detail {
            width: 38%; max-width: 70; display: none; padding: 0 1; background: $surface;
        }
        &.-wide .list--detail { display: block; }
        &.-reading .list--detail { display: block; width: 1fr; max-width: 100%; }
        &.-reading.-narrow RecordTable { display: none; }
    }
    """

    def __init__(self, session: Session) -> None:
        super().__init__(id=self.place)
        self.session = session
        self.look = session.look
        self.title_line = StatusLine(classes="view--title")
        self.notice = Notice()
        self.table = self.make_table()
        self.detail = TextPane(classes="list--detail")
        self.filter_text = ""
        self.reading = False
        """Whether a detail is being read rather than the list."""
        self._raw = False
        self._whole: Record | None = None
        """The record under the cursor, as it was read by itself."""
        self._names_seen: Mapping[str, SafeText] = {}
        self._soon: Timer | None = None
        self._touched_at = 0.0
        self._reload_due = False
        self._hold_due = False

    def make_table(self) -> ListTable[R]:
        table = ListTable(
            self.columns(),
            search_text=self.search_text,
            sort=self.sort,
            empty_text=plain(self.empty),
            can_mark=self.can_mark,
        )
        table.hand_comes = self.touch
        table.view.thin = self.session.thin.on
        return table

    def paint_as_told(self) -> None:
        """Paint the list's cursor as its sign only on a thin line."""
        self.table.view.thin = self.session.thin.on

    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self.notice
        with Horizontal():
            yield self.table
            yield self.detail

    def on_mount(self) -> None:
        """Show what the store has already, laid out for the terminal from the first picture on."""
        self._fit(self.app.size.width)
        self.reload()
        self.take_freshness()

    def on_resize(self, event: events.Resize) -> None:
        self._fit(event.size.width)

    def _fit(self, width: int) -> None:
        """Put the detail beside the list where there is room."""
        # On a thin line a detail beside the list would cost more than the list at each move; but
        # it goes only where a person asked for that, for nothing may jump by itself.
        wide = width >= WIDE and not self.session.thin.asked
        self.set_class(wide, "-wide")
        self.set_class(not wide, "-narrow")

    @property
    def main(self) -> MainScreen:
        return cast("MainScreen", self.screen)

    # ---- what each screen says of itself

    def columns(self) -> list[Column[R]]:
        raise NotImplementedError

    search_text: Any = None
    """A function from a record to what the words of a filter are looked for in, if that is not the
    text of all cells."""

    def collection(self, feed: FeedName) -> Any:
        return self.session.store.collections[feed]

    def row_id(self, feed: FeedName, record_id: str) -> str:
        return record_id

    def wanted(self, record: R) -> bool:
        return True

    def told(self) -> Listing[Any]:
        """What the feed's last answer said of itself; of several feeds, nothing."""
        if len(self.lists) > 1:
            return Listing(records=())
        told: Listing[Any] = self.collection(*self.lists).listing
        return told

    def fate(self, record_id: str) -> Cell:
        """What became of a record that the list has no more, for its ghost."""
        return Cell(plain("gone"), Tone.DIM)

    def title_parts(self) -> list[SafeText]:
        """What the title says before the company."""
        return []

    def detail_items(self, record: Any) -> list[Item]:
        return details(record, self.look, raw=self._raw)

    # ---- the store

    def reload(self) -> None:
        """Take all records anew."""
        self._reload_due = False
        self._names_seen = self._names()
        self.table.load(
            (self.row_id(feed, record.id), record)
            for feed in self.lists
            for record in self.collection(feed)
            if self.wanted(record)
        )
        self.table.renew()
        self.show_state()
        self.show_detail()

    def reload_calmly(self) -> None:
        """Take all records anew, once the order may change."""
        if self.table.rows.held:
            self._reload_due = True
        else:
            self.reload()

    def take(self, change: Change) -> None:
        """Take a change of what is listed, or of what the cells take names and figures from."""
        feed, table = change.feed, self.table
        ids = (*change.added, *change.changed, *change.removed)
        if feed in self.lists:
            if feed in NAMES:
                self._names_seen = self._names()
            self._apply(change)
            self.show_state()
            if self._whole is not None and self._whole.id in ids:
                self._whole = None
            cursor = table.view.cursor
            if cursor is None or cursor in {self.row_id(feed, record_id) for record_id in ids}:
                self.show_detail()
        elif feed in self.names_from and self._names() != self._names_seen:
            self.reload_calmly()
        else:
            if feed in self.figures_from:
                # Figures of the same ids, or such as are counted over all.
                rows = [row_id for row_id in ids if table.rows.record(row_id) is not None]
                there = ((i, table.rows.record(i)) for i in rows or table.rows.shown)
                table.apply(
                    changed=[(i, r) for i, r in there if r and not table.rows.ghost_note(i)]
                )
            table.renew()
            self.show_detail()
        self.show_title()

    def _apply(self, change: Change) -> None:
        rows, feed = self.table.rows, change.feed
        size = len(change.added) + len(change.changed) + len(change.removed)
        if size > MANY and not rows.held:
            self.reload()  # which takes a long list over several turns of the event loop
            return
        there: list[tuple[str, R]] = []
        removed = [self.row_id(feed, record_id) for record_id in change.removed]
        for record_id in (*change.added, *change.changed):
            row_id, record = self.row_id(feed, record_id), self.collection(feed).get(record_id)
            if record is not None and self.wanted(record):
                there.append((row_id, record))
            elif rows.record(row_id) is not None:
                removed.append(row_id)
        if rows.held and not rows.shown:
            # There is nothing that a hand could be on, as after another company was chosen.
            self.table.release()
        for row_id in removed if rows.held else ():
            self.table.ghost(row_id, self.fate(row_id))
        self.table.apply(changed=there, removed=removed)

    def _names(self) -> dict[str, SafeText]:
        collections = map(self.session.store.collections.__getitem__, self.names_from)
        return {r.id: r.name for records in collections for r in records if r.name is not None}

    def leave_scope(self) -> None:
        """Another company is about to be in scope."""

    def rescope(self) -> None:
        """Another company is in scope: what was held belongs to another question."""
        self.table.release()
        self.reload()

    # ---- freshness, title

    @property
    def feeds(self) -> tuple[FeedName, ...]:
        """The feeds whose figures this screen shows."""
        return (*self.lists, *self.beside)

    def take_freshness(self) -> None:
        """A feed answered or failed: the worst of those shown is told of."""
        self.show_title()
        self.notice.show(notice_items(self.session, self.feeds))
        self.show_state()

    def show_state(self) -> None:
        """Dim the rows when they are not the platform's last word."""
        known = [self.session.store.freshness[feed] for feed in self.lists]
        answered = [freshness for freshness in known if freshness.answered_at is not None]
        self.show_phase(worst(answered or known).phase)

    def show_phase(self, phase: Phase) -> None:
        failed = phase is Phase.FAILED
        self.table.set_state(STATES[phase], plain("nothing could be read yet") if failed else None)

    def show_title(self) -> None:
        self.title_line.show(self.title_cells(), self.title_right())

    def title_cells(self) -> list[Cell]:
        """Heading, what is shown of it, company, and what the answer said of itself."""
        number = fmt.count(len(self.table.rows.records))
        if self.filter_text:
            number = plain(f"{fmt.count(len(self.table.rows.shown))} of {number}")
        scope = self.session.names.scope(self.session.company)
        return [
            Cell(plain(f" {self.heading} "), Tone.STRONG),
            Cell(joined([*self.title_parts(), scope, number], f" {signs.separator} ")),
            *told_cells(self.told(), sum(len(self.collection(feed)) for feed in self.lists)),
            *self.filter_cells(),
        ]

    def filter_cells(self) -> list[Cell]:
        """The filter, for the title: a list that hides something always says so."""
        words = plain(f"  /{safe(self.filter_text, 40)}")
        return [Cell(words, Tone.ACCENT)] if self.filter_text else []

    def title_right(self) -> list[Cell]:
        """How many rows wait until the list may change, and what it is sorted by."""
        cells, rows, (key, descending) = list[Cell](), self.table.rows, self.table.sort
        if rows.held and rows.waiting:
            cells.append(Cell(plain(f"{rows.waiting} new, r shows  "), Tone.ACCENT))
        if self.sort is not None and key is not None:
            sign = signs.down if descending else signs.up
            cells.append(Cell(plain(f"by {key} {sign} "), Tone.DIM))
        return cells

    # ---- calm

    def touch(self) -> None:
        """A hand is on the list. Let the order stand still: what comes waits, what goes leaves a
        ghost.
        """
        self._touched_at = self.session.clock.monotonic()
        # Holding a large table would end its sorting or filtering in one go.
        self._hold_due = self.table.work.busy
        if self.calm and not self._hold_due and not self.table.rows.held and self.table.rows.shown:
            self.table.hold()

    def on_key(self) -> None:
        self.touch()

    def on_click(self) -> None:
        self.touch()

    @on(RecordTable.WorkDone)
    def _counts_settled(self) -> None:
        """Work over a large table is done, so its counts are right now."""
        if self._hold_due:
            self.touch()
        self.show_title()

    def arrive(self) -> None:
        """The person comes back to this screen: as it is now, and then calm."""
        if not self.table.marked:
            self.bring_up_to_date()
        self.touch()

    def tick(self) -> None:
        """A second has passed: ages are told anew, and a list that no hand is on any more is
        brought up to date.
        """
        self.take_freshness()
        self.table.tick()
        if self.table.marked and not self.table.rows.held:
            # What is marked is about to be acted on, whether a hand is on the list or not.
            self.touch()
        if not self.table.rows.held:
            return
        now = self.session.clock.monotonic()
        if self.app.screen is not self.screen:
            self._touched_at = now
        elif now - self._touched_at >= HAND and not self.table.marked:
            self.bring_up_to_date()

    def bring_up_to_date(self) -> None:
        """Let new rows in, ghosts go, and the order be what it is."""
        self.table.release()
        if self._reload_due:
            self.reload()
        self.show_title()

    # ---- the detail

    def subject(self) -> Any:
        """The record that a command is about: the one under the cursor."""
        row_id = self.table.view.cursor
        return None if row_id is None else self.table.rows.record(row_id)

    def show_detail(self, *, top: bool = False) -> None:
        record = self.subject()
        if record is not None and self._whole is not None and self._whole.id == record.id:
            record = self._whole
        self.detail.show(() if record is None else self.detail_items(record), top=top)

    def show_whole(self, feed: FeedName, record: Record) -> None:
        """A record was read by itself: it may have fields that the list leaves out."""
        if feed in self.lists and self.table.view.cursor == record.id:
            self._whole = record
            self.show_detail()

    @on(RecordTable.CursorMoved)
    def _cursor_moved(self, message: RecordTable.CursorMoved) -> None:
        # Where the cursor comes to rest: on its way it costs the line only what it moves.
        if message.table is self.table and self._soon is None:
            self._soon = self.set_timer(SOON, self._show_moved, name="detail")
        elif message.table is self.table and self._soon is not None:
            self._soon.reset()

    def _show_moved(self) -> None:
        self._soon = None
        self.show_detail(top=True)

    @on(RecordTable.Opened)
    def _opened(self, message: RecordTable.Opened) -> None:
        self.open(message.row_id)

    def open(self, row_id: str) -> None:
        """Enter on a line: read its detail."""
        self.reading = True
        self.add_class("-reading")
        # At once: a key that follows in the same packet is for the detail.
        self.screen.set_focus(self.detail)
        self.main.show_footer()
        self.show_detail(top=True)

    @property
    def opened_from(self) -> ListTable[Any]:
        """The list to whose line the detail belongs that is read."""
        return self.table

    @property
    def wants_keys(self) -> Widget:
        """What the keys go to."""
        return self.detail if self.reading else self.table

    # ---- sort, filter, cursor

    def set_filter(self, text: str) -> FilterError | None:
        """Show only the lines that match; an error says what is wrong with the words."""
        self.bring_up_to_date()
        error = self.table.set_filter(text)
        if error is None:
            self.filter_text = text
        self.touch()
        self.show_title()
        return error

    def recall(self, memory: ListMemory) -> None:
        """Sort and filter as the list was left; a column that is no more is passed over."""
        sortable = {column.key for column in self.table.rows.columns if column.sort_key is not None}
        if memory.sort in sortable:
            self.table.sort_by(memory.sort, memory.descending)
        if memory.filter and self.table.set_filter(memory.filter) is None:
            self.filter_text = memory.filter

    @property
    def memory(self) -> ListMemory:
        return ListMemory(*self.table.sort, self.filter_text[:LONGEST_FILTER])

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a record; False if the list doesn't have it."""
        self.bring_up_to_date()
        if self.table.rows.record(row_id) is None:
            return False
        if self.filter_text:
            self.set_filter("")
        self.touch()
        return self.table.move_cursor_to(row_id)

    # ---- commands

    def action_back(self) -> None:
        if self.reading:
            self.reading = False
            self.remove_class("-reading")
            self.screen.set_focus(self.opened_from)
            self.main.show_footer()
        elif self.filter_text:
            self.set_filter("")
        elif self.table.marked:
            self.table.clear_marks()

    def action_filter(self) -> None:
        self.table.warm_filter()
        self.main.ask_filter(self)

    def action_sort(self, change: str) -> None:
        self.bring_up_to_date()
        getattr(self.table, change)()
        self.touch()
        self.show_title()

    def action_open(self) -> None:
        self.table.action_open()

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.show_detail(top=True)

    def action_form(self, command_id: str) -> None:
        self.main.dialogs.form(command_id, self.subject())

    def action_copy_id(self) -> None:
        """Send the line's id to the terminal's clipboard; whether it took it, no terminal tells."""
        app, subject = cast(KeyApp, self.app), self.subject()
        approve = keys_of("tasks.approve", self.session.settings.keys)
        presses = app.presses
        # A `y` right behind the key of approve was meant for a question, which didn't come; one
        # that is held down has just answered one.
        meant_yes = presses.before in approve and presses.gap < AFTER_APPROVE
        if subject is not None and not meant_yes and not presses.goes_on():
            app.copy_to_clipboard(clipboard_text(subject.id))
            self.main.say(f"sent to the terminal's clipboard: {safe(subject.id, 60)}")
