"""A screen whose main part is a table: moving, sorting, filtering and copying the id."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual.binding import BindingType

from agentco_tui.remembered import LONGEST_FILTER, ListMemory
from agentco_tui.screens.session import Session
from agentco_tui.screens.view import View, bindings_of
from agentco_tui.text import plain, safe
from agentco_tui.widgets.record_table import FilterError, RecordTable
from agentco_tui.widgets.tones import Cell, Tone

T = TypeVar("T")

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


class ListTable(RecordTable[T], inherit_bindings=False):
    """The record table with the program's own keys."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table", TABLE_ACTIONS)


class TableView(View, Generic[T]):
    """A table, its filter and its sort."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("table", LIST_ACTIONS),
        *bindings_of("every", LIST_ACTIONS),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.table = self.make_table()
        self.filter_text = ""

    def make_table(self) -> ListTable[T]:
        """The screen's table."""
        raise NotImplementedError

    def set_filter(self, text: str) -> FilterError | None:
        """Show only the lines that match; an error says what is wrong with the words."""
        error = self.table.set_filter(text)
        if error is None:
            self.filter_text = text
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

    def filter_cells(self) -> list[Cell]:
        """The filter, for the title: a list that hides something always says so."""
        if not self.filter_text:
            return []
        return [Cell(plain(f"  /{safe(self.filter_text, 40)}"), Tone.ACCENT)]

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a record; False if the list doesn't have it."""
        if self.table.record(row_id) is None:
            return False
        if self.filter_text:
            self.set_filter("")
        self.table.move_cursor_to(row_id)
        return True

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
        self.main.ask_filter(self)

    def action_sort(self) -> None:
        """Sort by the next column."""
        self.table.cycle_sort()
        self.show_title()

    def action_reverse(self) -> None:
        """Turn the order round."""
        self.table.reverse_sort()
        self.show_title()

    def action_copy_id(self) -> None:
        """Send the line's id to the terminal's clipboard."""
        row_id = self.table.cursor_id
        if row_id is not None:
            self.main.copy_id(self.copied_id(row_id))
