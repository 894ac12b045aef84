"""What the six screens share: a title line, a notice when a feed fails, and a table whose order
stands still while a person's hand is on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from agentco_tui import format as fmt
from agentco_tui.keys import Place, keys_of
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.store import Change
from agentco_tui.model import Listing, Record, SharedTask, Task
from agentco_tui.screens.decision_notes import decided_here, fate_of, line_note
from agentco_tui.screens.header_footer import key_advice, notice, worst
from agentco_tui.screens.key_app import KeyApp, MovedByKeys, bindings_of
from agentco_tui.screens.session import Session
from agentco_tui.state_folder import LONGEST_FILTER, ListMemory
from agentco_tui.text import SafeText, clipboard_text, plain, safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.table.filter import FilterError
from agentco_tui.widgets.table.widget import RecordTable, TableState
from agentco_tui.widgets.text_pane import Notice
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

HAND = 10.0
"""Seconds without a key after which a person's hand is taken to have left the list."""
AFTER_APPROVE = 1.0
"""Seconds after the key of approve in which `y` copies nothing: it was meant for a question."""
STATES = {
    Phase.LOADING: TableState.LOADING,
    Phase.LIVE: TableState.READY,
    Phase.STALE: TableState.STALE,
    Phase.FAILED: TableState.FAILED,
}
"""How a table looks while its feed is in a phase."""


class Dialogs(Protocol):
    """What can come over the frame (`dialogs.router`)."""

    def approve(self, task: Task, note: SafeText | None = None) -> None: ...
    def approve_many(self, tasks: Sequence[Task], hidden: Mapping[str, SafeText]) -> None: ...
    def trace(self, task: Task) -> None: ...
    def form(self, command_id: str, subject: Record | None) -> None: ...


class Frame(Protocol):
    """What a screen asks of the frame around it (`frame.MainScreen`)."""

    @property
    def dialogs(self) -> Dialogs: ...
    def say(self, words: str, *, bad: bool = False) -> None: ...
    def show_footer(self) -> None: ...
    def ask_filter(self, view: View[Any]) -> None: ...
    def set_paces(self) -> None: ...
    def set_scope(self, company_id: str | None) -> None: ...
    def show_record(self, place: Place, row_id: str) -> None: ...
    def read_record(self, feed: FeedName, record_id: str) -> None: ...


class ListTable(RecordTable[T], MovedByKeys, inherit_bindings=False):
    """The record table with the program's own keys."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table", cursor=True)
    MOVES = frozenset(("move(1)", "move(-1)", "first", "last", "page(1)", "page(-1)"))

    def hand_comes(self) -> None:
        next(node for node in self.ancestors if isinstance(node, View)).touch()


class View(Widget, Generic[T]):
    """One of the six screens, inside the frame of header, tabs and footer."""

    place: ClassVar[Place]
    heading: ClassVar[str]
    calm: ClassVar[bool] = True
    """Whether the order stands still while a person's hand is on the list."""
    task_rows: ClassVar[str | None] = None
    """What stands before a task's id in its row's, if the screen shows tasks."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table")

    DEFAULT_CSS = """
    View { layout: vertical; height: 1fr; }
    View > .view--title { background: $panel; }
    """

    def __init__(self, session: Session) -> None:
        super().__init__(id=self.place)
        self.session = session
        self.look = session.look
        self.title_line = StatusLine(classes="view--title")
        self.notice = Notice()
        self.table = self.make_table()
        self.table.view.thin = session.thin.on
        self.filter_text = ""
        self.reading = False
        """Whether a detail is being read rather than the list."""
        self._touched_at = 0.0
        self._reload_due = False
        self._hold_due = False
        self._marked: tuple[object, tuple[str, ...]] = (None, ())

    @property
    def main(self) -> Frame:
        """The frame the view stands in."""
        return cast(Frame, self.screen)

    # ---- what each screen says of itself

    def make_table(self) -> ListTable[T]:
        """The screen's table."""
        raise NotImplementedError

    def feeds(self) -> Iterable[FeedName]:
        """The feeds whose figures this screen shows."""
        raise NotImplementedError

    def take(self, change: Change) -> None:
        """The store has changed."""
        raise NotImplementedError

    def subject(self) -> Record | None:
        """The record that a command is about: the one under the cursor."""
        raise NotImplementedError

    def title_cells(self) -> list[Cell]:
        """What stands in the title line, left."""
        raise NotImplementedError

    @property
    def wants_keys(self) -> Widget:
        """What the keys go to."""
        return self.table

    def show_whole(self, feed: FeedName, record: Record) -> None:
        """A record was read by itself: it may have fields that the list leaves out."""

    def leave_scope(self) -> None:
        """Another company is about to be in scope."""

    # ---- title and notice

    def title_right(self) -> list[Cell]:
        """What stands in the title line, right: how many rows wait until the list may change."""
        if not self.table.rows.held or not self.table.rows.waiting:
            return []
        return [Cell(plain(f"{self.table.rows.waiting} new, r shows  "), Tone.ACCENT)]

    def told_cells(self, told: Listing[Any], shown: int) -> list[Cell]:
        """What a list says of itself: records that couldn't be read, and that more exist."""
        cells: list[Cell] = []
        if told.unread:
            words = f" {signs.warning} {fmt.count(told.unread)} could not be read"
            cells.append(Cell(plain(words), Tone.WARNING))
        if told.capped:
            words = f" {signs.warning} only the first {fmt.count(shown)} were fetched"
            cells.append(Cell(plain(words), Tone.WARNING))
        elif told.more:
            cells.append(Cell(plain(f" at least {fmt.count(shown)}"), Tone.DIM))
        return cells

    def filter_cells(self) -> list[Cell]:
        """The filter, for the title: a list that hides something always says so."""
        words = plain(f"  /{safe(self.filter_text, 40)}")
        return [Cell(words, Tone.ACCENT)] if self.filter_text else []

    def show_title(self) -> None:
        """Draw the title line; only what differs is painted."""
        self.title_line.show(self.title_cells(), self.title_right())

    def take_freshness(self) -> None:
        """A feed answered or failed: the worst of those shown is told of."""
        self.show_title()
        known, feeds = self.session.store.freshness, tuple(self.feeds())
        freshness = worst(known[feed] for feed in feeds)
        failing = [feed for feed in feeds if known[feed].phase is freshness.phase]
        about = None if len(failing) == len(feeds) else plain(", ".join(failing))
        now, advice = self.session.clock.monotonic(), key_advice(self.session.settings)
        self.notice.show(notice(freshness, now, about, advice))

    def show_phase(self, phase: Phase) -> None:
        """Dim the lines when they are not the platform's last word."""
        failed = phase is Phase.FAILED
        self.table.set_state(STATES[phase], plain("nothing could be read yet") if failed else None)

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
        self.take_decisions()
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

    def reload(self) -> None:
        """Take all records anew."""
        self._reload_due = False

    def rescope(self) -> None:
        """Another company is in scope: what was held belongs to another question."""
        self.table.release()
        self.reload()

    def reload_calmly(self) -> None:
        """Take all records anew, once the order may change."""
        if self.table.rows.held:
            self._reload_due = True
        else:
            self.reload()

    @on(RecordTable.WorkDone)
    def _counts_settled(self) -> None:
        """Work over a large table is done, so its counts are right now."""
        if self._hold_due:
            self.touch()
        self.show_title()

    # ---- decisions about tasks

    def take_decisions(self) -> None:
        """Say on the lines of tasks how far a decision is, until what came of it was looked at."""
        if self.task_rows is not None:
            decisions = self.session.decisions.open
            notes = {f"{self.task_rows}{d.task.id}": line_note(self.session, d) for d in decisions}
            self.table.remark(notes)

    def renote(self, task_ids: Iterable[str]) -> None:
        """Write anew what became of these tasks, where they stand as ghosts."""
        if not self.is_attached or self.task_rows is None:
            return  # the program is ending
        for task_id in task_ids:
            row_id = f"{self.task_rows}{task_id}"
            if self.table.rows.is_ghost(row_id):
                self.table.ghost(row_id, fate_of(self.session, task_id))

    @on(RecordTable.MarksChanged)
    def _marks_changed(self, message: RecordTable.MarksChanged) -> None:
        """Tell of marks that went because what was marked waits no more: it will not be acted on.

        A hand takes marks from rows that are there; only what came from outside is told.
        """
        if message.table is not self.table:
            return
        (table, before), now = self._marked, self.table.marked
        self._marked = (self.table, now)
        left = set(now)
        lost = [
            row_id
            for row_id in (before if table is self.table else ())
            if row_id not in left
            and (self.table.rows.record(row_id) is None or self.table.rows.is_ghost(row_id))
            and not decided_here(self.session, row_id)
        ]
        if lost:
            self.main.say(self.words_on_lost(lost), bad=True)
        self.show_title()

    def words_on_lost(self, row_ids: Sequence[str]) -> str:
        """What is said of marked records that the list has no more."""
        raise NotImplementedError

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
        """How the list stands, for the next start."""
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
        """Leave the filter, else take the marks away."""
        if self.filter_text:
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

    def action_form(self, command_id: str) -> None:
        self.main.dialogs.form(command_id, self.subject())

    def selected_task(self, to: str = "") -> Task | None:
        """The task under the cursor; if the line is no task, that is said, where it is wanted
        `to` do something.
        """
        subject = self.subject()
        if isinstance(subject, Task):
            return subject
        if to:
            self.main.say(f"put the cursor on a task to {to}")
        return None

    def action_approve(self) -> None:
        """Ask whether to approve the task under the cursor."""
        task = self.selected_task("approve it")
        if isinstance(task, SharedTask):
            self.main.say(task.refusal)
        elif task is not None:
            self.main.dialogs.approve(task)

    def action_trace(self) -> None:
        """Show what the agent did for the task under the cursor."""
        task = self.selected_task("read its trace")
        if task is not None:
            self.main.dialogs.trace(task)

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
