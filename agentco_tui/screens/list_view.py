"""What the six screens share: title, notice, a table that is still under a hand, the detail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from agentco_tui import format as fmt
from agentco_tui.api.errors import ApiError
from agentco_tui.background import start_worker
from agentco_tui.keys import Place, keys_of
from agentco_tui.live.feeds import NAMES, FeedName, Phase
from agentco_tui.live.store import Change
from agentco_tui.model import Listing, Record, SharedTask, Task
from agentco_tui.screens.decision_notes import decision_items, fate_of, line_note
from agentco_tui.screens.detail_pane import details
from agentco_tui.screens.header_footer import notice, worst
from agentco_tui.screens.key_app import KeyApp, ListTable, bindings_of
from agentco_tui.screens.prompts import FilterWords
from agentco_tui.screens.session import Session
from agentco_tui.state_folder import LONGEST_FILTER, ListMemory
from agentco_tui.text import SafeText, clipboard_text, joined, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.layout import Column, R
from agentco_tui.widgets.table.widget import RecordTable, TableState
from agentco_tui.widgets.text_pane import Item, Notice, TextPane
from agentco_tui.widgets.tones import Cell, Tone

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen

HAND = 10.0  # seconds without a key after which a person's hand is taken to have left the list
AFTER_APPROVE = 1.0  # seconds after `a` in which `y` copies nothing: it was meant for a question
MANY = 5_000  # records of one change from which on the list is taken anew
SOON = 0.15  # seconds from the cursor's last move to the detail: longer than a held key repeats
WIDE = 120
STATES = {
    Phase.LOADING: TableState.LOADING,
    Phase.LIVE: TableState.READY,
    Phase.STALE: TableState.STALE,
    Phase.FAILED: TableState.FAILED,
}


def told_cells(told: Listing[Any], shown: int) -> list[Cell]:
    """What a list says of itself: records that couldn't be read, and that more exist."""
    words = []
    if told.unread:
        words.append(f"{fmt.count(told.unread)} could not be read")
    if told.capped:
        words.append(f"only the first {fmt.count(shown)} were fetched")
    cells = [Cell(plain(f" {signs.warning} {each}"), Tone.WARNING) for each in words]
    if told.more and not told.capped:
        cells.append(Cell(plain(" and more"), Tone.DIM))
    return cells


class ListView(Widget, Generic[R]):
    """One of the six screens: it declares what it lists, and what its cells take from elsewhere."""

    place: ClassVar[Place]
    empty: ClassVar[str]
    sort: ClassVar[tuple[str, bool] | None] = None
    calm: ClassVar[bool] = True  # whether the order stands still under a person's hand
    can_mark: ClassVar[bool] = False
    lists: tuple[FeedName, ...]
    beside: ClassVar[tuple[FeedName, ...]] = ()
    prefixes: ClassVar[Mapping[FeedName, str]] = {}  # for ids of feeds that may be the same
    task_rows: ClassVar[str | None] = None  # what stands before a task's id in its row's
    gone: ClassVar[str] = "gone"  # what a ghost says whose fate isn't known
    names_from: ClassVar[frozenset[FeedName]] = NAMES  # the feeds that cells take names from
    figures_from: ClassVar[frozenset[FeedName]] = frozenset()  # by which rows are sorted
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
        self.session, self.look = session, session.look
        self.collections: dict[FeedName, Any] = {
            **session.store.collections,
            FeedName.ACTIVITY: session.store.activity,
        }
        self.title_line = StatusLine(classes="view--title")
        self.notice = Notice()
        self.table = self.make_table()
        self.opened_from: RecordTable[Any] = self.table  # to whose line the detail belongs
        self.detail = TextPane(classes="list--detail")
        self.filter_text = ""
        self.reading = self._raw = False
        self._whole: Record | None = None  # the record under the cursor, as it was read by itself
        self._names_seen: Mapping[str, SafeText] = {}
        self._soon: Timer | None = None
        self._touched_at = 0.0
        self._reload_due = self._hold_due = False

    def make_table(self) -> ListTable[R]:
        table = ListTable(
            self.columns(),
            search_text=self.search_text,
            sort=self.sort,
            empty_text=plain(self.empty),
            can_mark=self.can_mark,
        )
        table.hand_comes = self.touch
        table.view.thin = self.session.thin
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

    @on(events.Resize)
    def _fit(self) -> None:
        # On a thin line a detail beside the list would cost more than the list at each move; but
        # it goes only where a person asked for that, for nothing may jump by itself.
        wide = self.app.size.width >= WIDE and not self.session.settings.thin
        self.set_class(wide, "-wide")
        self.set_class(not wide, "-narrow")

    @property
    def main(self) -> MainScreen:
        return cast("MainScreen", self.screen)

    def columns(self) -> list[Column[R]]:
        raise NotImplementedError

    search_text: Any = None  # where a filter looks for words, if not in the text of all cells

    def wanted(self, record: R) -> bool:
        return True

    def fate(self, row_id: str) -> Cell:
        """What became of a record that the list has no more, for its ghost."""
        record = self.subject(row_id)
        if isinstance(record, Task):
            return fate_of(self.session, record.id)
        return Cell(plain(self.gone), Tone.DIM)

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
            if table.view.cursor is None or table.view.cursor in ids:
                self.show_detail()
        elif feed in self.names_from and self._names() != self._names_seen:
            self.reload_calmly()
        else:
            if feed in self.figures_from:
                # Figures of the same ids, or such as are counted over all.
                known = [i for i in ids if rows.record(i) is not None]
                there = {i: rows.record(i) for i in known or rows.shown if not rows.ghost_note(i)}
                table.apply(changed=[(i, record) for i, record in there.items() if record])
            table.renew()
            self.show_detail()
        self.show_head()

    def _names(self) -> dict[str, SafeText]:
        collections = map(self.session.store.collections.__getitem__, self.names_from)
        return {r.id: r.name for records in collections for r in records if r.name is not None}

    def leave_scope(self) -> None:
        """Another company is about to be in scope."""

    def rescope(self) -> None:
        self.table.release()
        self.reload()

    def show_head(self, phase: Phase | None = None) -> None:
        """What stands above the list, by the worst of its feeds; what its rows are worth, by the
        worst of those listed that were answered, if no `phase` says it.
        """
        session, known = self.session, self.session.store.freshness
        feeds = (*self.lists, *self.beside)
        freshness = worst(known[feed] for feed in feeds)
        failing = [feed for feed in feeds if known[feed].phase is freshness.phase]
        about = "" if len(failing) == len(feeds) else f"{', '.join(failing)}: "
        self.notice.show(notice(freshness, session.clock.monotonic(), about, session.settings))
        listed = [known[feed] for feed in self.lists]
        answered = [each for each in listed if each.answered_at is not None]
        phase = phase or worst(answered or listed).phase
        failed = phase is Phase.FAILED
        self.table.view.thin = session.thin
        self.table.set_state(STATES[phase], plain("nothing could be read yet") if failed else None)
        self.title_line.show(*self.title())

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        """The cells left and right of the title; a list that hides something always says so."""
        rows, (key, descending) = self.table.rows, self.table.sort
        number, right = fmt.count(len(rows.records)), list[Cell]()
        if self.filter_text:
            number = plain(f"{fmt.count(len(rows.shown))} of {number}")
        scope = self.session.names.scope(self.session.poller.query.company)
        words = joined([*about, scope, number], f" {signs.separator} ")
        left = [Cell(plain(f" {self.place.upper()} "), Tone.STRONG), Cell(words)]
        if len(self.lists) == 1:
            collection = self.collections[self.lists[0]]
            left += told_cells(collection.listing, len(collection))
        if rows.held and rows.waiting:
            right.append(Cell(plain(f"{rows.waiting} new, r shows  "), Tone.ACCENT))
        if self.sort is not None and key is not None:
            sign = signs.down if descending else signs.up
            right.append(Cell(plain(f"by {key} {sign} "), Tone.DIM))
        if self.filter_text:
            left.append(Cell(plain(f"  /{safe(self.filter_text, 40)}"), Tone.ACCENT))
        return left, right

    @on(events.Key)
    @on(events.Click)
    def touch(self) -> None:
        """A hand is on the list: what comes waits from now on, and what goes leaves a ghost."""
        self._touched_at = self.session.clock.monotonic()
        # Holding a large table would end its sorting or filtering in one go.
        self._hold_due = not self.table.idle.is_set()
        if self.calm and not self._hold_due and not self.table.rows.held and self.table.rows.shown:
            self.table.hold()

    @on(RecordTable.WorkDone)
    def _counts_settled(self) -> None:
        if self._hold_due:
            self.touch()
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
        if self.table.marked and not self.table.rows.held:
            # What is marked is about to be acted on, whether a hand is on the list or not.
            self.touch()
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
        """The record under the cursor, and what is known of a decision about it."""
        record, items, decisions = self.subject(), list[Item](), self.session.decisions.by_task
        if record is not None and self._whole is not None and self._whole.id == record.id:
            record = self._whole
        decision = decisions.get(record.id) if isinstance(record, Task) else None
        if decision is not None:
            items += decision_items(self.session, decision)
            read = None if decision.outcome is None else decision.outcome.record
            if isinstance(read, Task) and self.table.rows.ghost_note(record.id):
                record = read  # as it was read since it left the list
        if record is not None:
            items += details(record, self.look, raw=self._raw)
        self.detail.show(items, top=top)

    def take_decisions(self, task_ids: Iterable[str] = ()) -> None:
        """Say on tasks' lines how far a decision is, and on these ghosts what it came to."""
        if self.task_rows is None or not self.is_attached:  # the program may be ending
            return
        decisions, table = self.session.decisions, self.table
        notes = {f"{self.task_rows}{d.task.id}": line_note(self.session, d) for d in decisions.open}
        table.remark(notes)
        for task_id in task_ids:
            row_id = f"{self.task_rows}{task_id}"
            if table.rows.ghost_note(row_id):
                table.ghost(row_id, fate_of(self.session, task_id))
        subject = self.subject()
        if isinstance(subject, Task) and subject.id in decisions.by_task:
            self.show_detail()

    def read_whole(self, read_one: Callable[[str], Awaitable[Record]], row_id: str) -> None:
        """Read a record by itself: it may have fields that the list leaves out."""

        async def read() -> None:
            try:
                record = await read_one(row_id)
            except ApiError as error:
                self.main.say(str(error), bad=True)
                return
            if self.table.view.cursor == record.id:
                self._whole = record
                self.show_detail()

        start_worker(self, read, f"read {row_id}")

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
        self.show_detail(top=True)

    @on(RecordTable.Opened)
    def _opened(self, message: RecordTable.Opened) -> None:
        self.opened_from = message.table
        self.open(message.row_id)

    def open(self, row_id: str) -> None:
        self.reading = True
        self.add_class("-reading")
        # At once: a key that follows in the same packet is for the detail.
        self.screen.set_focus(self.detail)
        self.main.show_frame()
        self.show_detail(top=True)

    def set_filter(self, text: str) -> SafeText | None:
        self.bring_up_to_date()
        error = self.table.set_filter(text)
        if error is None:
            self.filter_text = text
        self.touch()
        self.show_head()
        return error

    def recall(self, memory: ListMemory) -> None:
        sortable = {column.key for column in self.table.rows.columns if column.sort_key is not None}
        if memory.sort in sortable:
            self.table.sort_by(memory.sort, memory.descending)
        if memory.filter and self.table.set_filter(memory.filter) is None:
            self.filter_text = memory.filter

    @property
    def memory(self) -> ListMemory:
        return ListMemory(*self.table.sort, self.filter_text[:LONGEST_FILTER])

    def show_row(self, row_id: str) -> None:
        if not self.go_to(row_id):
            self.main.say("that is not in the list any more")

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a record; False if the list doesn't have it."""
        self.bring_up_to_date()
        if self.table.rows.record(row_id) is None:
            return False
        if self.filter_text:
            self.set_filter("")
        self.touch()
        return self.table.move_cursor_to(row_id)

    def action_back(self) -> None:
        if self.reading:
            self.reading = False
            self.remove_class("-reading")
            self.screen.set_focus(self.opened_from)
            self.main.show_frame()
        elif self.filter_text:
            self.set_filter("")
        elif self.table.marked:
            self.table.clear_marks()

    def action_filter(self) -> None:
        self.table.warm_filter()
        FilterWords(self.main, self)

    def action_sort(self, change: str) -> None:
        self.bring_up_to_date()
        getattr(self.table, change)()
        self.touch()
        self.show_head()

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
        approve, presses = keys_of("tasks.approve", self.session.settings.keys), app.presses
        # A `y` right behind the key of approve was meant for a question, which didn't come; one
        # that is held down has just answered one.
        meant_yes = presses.before in approve and presses.gap < AFTER_APPROVE
        if subject is not None and not meant_yes and not presses.goes_on():
            app.copy_to_clipboard(clipboard_text(subject.id))
            self.main.say(f"sent to the terminal's clipboard: {safe(subject.id, 60)}")

    def _selected_task(self, to: str) -> Task | None:
        subject = self.subject()
        if isinstance(subject, Task):
            return subject
        self.main.say(f"put the cursor on a task to {to}")
        return None

    def action_approve(self) -> None:
        task = self._selected_task("approve it")
        if isinstance(task, SharedTask):
            self.main.say(task.refusal)
        elif task is not None:
            self.main.dialogs.approve(task)

    def action_trace(self) -> None:
        task = self._selected_task("read its trace")
        if task is not None:
            self.main.dialogs.trace(task)
