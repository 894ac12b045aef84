"""A screen whose main part is a table: moving, sorting, filtering and copying the id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.binding import BindingType

from agentco_tui.keys import keys_of
from agentco_tui.live.feeds import Phase
from agentco_tui.screens.decision_notes import line_note
from agentco_tui.screens.key_queue import KeyApp, MovedByKeys
from agentco_tui.screens.session import Session
from agentco_tui.screens.view import View, bindings_of
from agentco_tui.text import plain, safe, signs
from agentco_tui.ui_state import LONGEST_FILTER, ListMemory
from agentco_tui.widgets.table.filter import FilterError
from agentco_tui.widgets.table.widget import RecordTable, TableState
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

HAND = 10.0
"""Seconds without a key after which a person's hand is taken to have left the list."""

AFTER_APPROVE = 1.0
"""Seconds after the key of approve in which `y` copies nothing: it was meant for a question."""

TABLE_ACTIONS = {
    "list.down": "move(1)",
    "list.up": "move(-1)",
    "list.top": "first",
    "list.bottom": "last",
    "list.page_down": "page(1)",
    "list.page_up": "page(-1)",
    "list.open": "open",
}

LIST_ACTIONS = {
    "list.filter": "filter",
    "list.sort": "sort",
    "list.sort_reverse": "reverse",
    "list.copy_id": "copy_id",
    "list.raw": "raw",
    "app.back": "back",
}


class ListTable(RecordTable[T], MovedByKeys, inherit_bindings=False):
    """The record table with the program's own keys."""

    MOVES = frozenset(action for key, action in TABLE_ACTIONS.items() if key != "list.open")

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table", TABLE_ACTIONS)

    def hand_comes(self) -> None:
        """A key has come: a hand is on the list."""
        for node in self.ancestors:
            if isinstance(node, TableView):
                node.touch()
                return


class TableView(View, Generic[T]):
    """A table, its filter and its sort."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("table", LIST_ACTIONS),
        *bindings_of("every", LIST_ACTIONS),
    ]

    calm: ClassVar[bool] = True
    """Whether the order stands still while a person's hand is on the list."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.table = self.make_table()
        self.table.thin = session.thin.on
        self.filter_text = ""
        self._touched_at = 0.0
        self._reload_due = False
        self._hold_due = False
        self._marked: tuple[object, tuple[str, ...]] = (None, ())

    def paint_as_told(self) -> None:
        """Whether less is painted has changed."""
        self.table.thin = self.session.thin.on

    def make_table(self) -> ListTable[T]:
        """The screen's table."""
        raise NotImplementedError

    # ---- calm

    def on_key(self) -> None:
        """A key on its way to what it does: a hand is on the list."""
        self.touch()

    def on_click(self) -> None:
        """A click counts as a hand as well."""
        self.touch()

    def touch(self) -> None:
        """Let the order stand still: what comes waits, what goes leaves a ghost."""
        self._touched_at = self.session.clock.monotonic()
        # Holding a large table would end its sorting or filtering in one go.
        self._hold_due = self.table.busy
        if self.calm and not self._hold_due and not self.table.hold and self.table.shown_count:
            self.table.hold = True

    def arrive(self) -> None:
        """The person comes back to this screen: as it is now, and then calm."""
        if not self.table.marked:
            self.bring_up_to_date()
        self.touch()

    def tick(self) -> None:
        """A second has passed; a list that no hand is on any more is brought up to date."""
        super().tick()
        self.take_decisions()
        if self.table.marked and not self.table.hold:
            # What is marked is about to be acted on, whether a hand is on the list or not.
            self.touch()
        if not self.table.hold:
            return
        now = self.session.clock.monotonic()
        if self.app.screen is not self.screen:
            self._touched_at = now
        elif now - self._touched_at >= HAND and not self.table.marked:
            self.bring_up_to_date()

    def show_phase(self, phase: Phase) -> None:
        """Dim the lines when they are not the platform's last word."""
        match phase:
            case Phase.LOADING:
                self.table.set_state(TableState.LOADING)
            case Phase.LIVE:
                self.table.set_state(TableState.READY)
            case Phase.STALE:
                self.table.set_state(TableState.STALE)
            case Phase.FAILED:
                self.table.set_state(TableState.FAILED, plain("nothing could be read yet"))

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
        self.table.hold = False
        self.reload()

    def reload_calmly(self) -> None:
        """Take all records anew, once the order may change."""
        if self.table.hold:
            self._reload_due = True
        else:
            self.reload()

    def take_decisions(self) -> None:
        """Say on the lines of tasks how far a decision is, until what came of it was looked at."""
        remarks: dict[str, Cell] = {}
        for decision in self.session.decisions.open:
            row_id = self.row_of_task(decision.task.id)
            if row_id is not None:
                remarks[row_id] = line_note(self.session, decision)
        self.table.remark(remarks)

    def renote(self, task_ids: Iterable[str]) -> None:
        """Write anew what became of these tasks, where they stand as ghosts."""
        if not self.is_attached:
            return  # the program is ending
        for task_id in task_ids:
            row_id = self.row_of_task(task_id)
            if row_id is not None and self.table.is_ghost(row_id):
                self.table.ghost(row_id, self.main.fate_of(task_id))

    def row_of_task(self, task_id: str) -> str | None:
        """The row that a task has here, if this screen shows tasks."""
        return None

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
            and (self.table.record(row_id) is None or self.table.is_ghost(row_id))
            and not self.main.decided_here(row_id)
        ]
        if lost:
            self.main.say(self.words_on_lost(lost), bad=True)
        self.show_title()

    def words_on_lost(self, row_ids: Sequence[str]) -> str:
        """What is said of marked records that the list has no more."""
        count = "1 marked line" if len(row_ids) == 1 else f"{len(row_ids)} marked lines"
        return f"{signs.warning} no longer here, and not marked any more: {count}"

    def calm_cells(self) -> list[Cell]:
        """How many rows wait until the list is brought up to date, for the title."""
        if not self.table.hold or not self.table.held_new:
            return []
        return [Cell(plain(f"{self.table.held_new} new, r shows  "), Tone.ACCENT)]

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
        sortable = {column.key for column in self.table.columns if column.sort_key is not None}
        if memory.sort in sortable:
            self.table.sort_by(memory.sort, memory.descending)
        if memory.filter and self.table.set_filter(memory.filter) is None:
            self.filter_text = memory.filter

    @property
    def memory(self) -> ListMemory:
        """How the list stands, for the next start."""
        key, descending = self.table.sort
        return ListMemory(key, descending, self.filter_text[:LONGEST_FILTER])

    @on(RecordTable.WorkDone)
    def _counts_settled(self) -> None:
        """Work over a large table is done, so its counts are right now."""
        if self._hold_due:
            self.touch()
        self.show_title()

    def filter_cells(self) -> list[Cell]:
        """The filter, for the title: a list that hides something always says so."""
        if not self.filter_text:
            return []
        return [Cell(plain(f"  /{safe(self.filter_text, 40)}"), Tone.ACCENT)]

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a record; False if the list doesn't have it."""
        self.bring_up_to_date()
        if self.table.record(row_id) is None:
            return False
        if self.filter_text:
            self.set_filter("")
        self.touch()
        return self.table.move_cursor_to(row_id)

    def copied_id(self, row_id: str) -> str:
        """What is copied for a line."""
        return row_id

    def action_back(self) -> None:
        """Leave the filter, else take the marks away."""
        if self.filter_text:
            self.set_filter("")
        elif self.table.marked:
            self.table.clear_marks()

    def action_filter(self) -> None:
        """Ask for the filter's words."""
        self.table.warm_filter()
        self.main.ask_filter(self)

    def action_sort(self) -> None:
        """Sort by the next column."""
        self.bring_up_to_date()
        self.table.cycle_sort()
        self.touch()
        self.show_title()

    def action_reverse(self) -> None:
        """Turn the order round."""
        self.bring_up_to_date()
        self.table.reverse_sort()
        self.touch()
        self.show_title()

    def _follows_approve(self, app: KeyApp) -> bool:
        """Whether the key before this one asked for a question, which didn't come."""
        presses, rebound = app.presses, self.session.settings.keys
        approve = keys_of("tasks.approve", rebound)
        return presses.before in approve and presses.gap < AFTER_APPROVE

    def action_copy_id(self) -> None:
        """Send the line's id to the terminal's clipboard."""
        row_id = self.table.cursor_id
        app: object = self.app
        if isinstance(app, KeyApp) and (app.presses.goes_on() or self._follows_approve(app)):
            return  # a finger that has just said yes to a question, or means to say it to one
        if row_id is not None:
            self.main.copy_id(self.copied_id(row_id))
