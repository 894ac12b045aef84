"""The dialog that shows, hides and reorders the columns of a list; the list changes at once.

It is narrow and at the right edge, so that the list is visible beside it. Each line stands for a
column and is a `Pressable` cell with the column's key; `pane.current_link` is the key of the line
under the cursor. The table (`RecordTable`) keeps the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from agentco_tui.screens.dialogs.base import Dialog
from agentco_tui.screens.key_app import DetailPane
from agentco_tui.text import mark_safe
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import CellLine
from agentco_tui.widgets.tones import Cell, Pressable, Tone


class ColumnsScreen(Dialog[None]):
    """The columns of one table, those shown marked with an x. Changes take effect at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "flip", "Show or hide", show=False),
        Binding("less_than_sign,K", "shift(-1)", "Further left", show=False),
        Binding("greater_than_sign,J", "shift(1)", "Further right", show=False),
        Binding("0", "reset", "Reset", show=False),
        Binding("C", "dismiss", "Done", show=False, id="list.columns"),
    ]
    DEFAULT_CSS = """
    ColumnsScreen { align: right middle; background: transparent; }
    ColumnsScreen > Vertical { width: 46; }
    """

    pane: DetailPane

    def __init__(self, table: RecordTable[Any]) -> None:
        super().__init__([Cell(mark_safe("Columns"), Tone.STRONG)])
        self.table = table
        self.pane = DetailPane(classes="dialog--body")
        self.key_hints = {"space": " show ", " < >": " move ", " 0": " reset ", " esc": " done"}
        self._order: list[str] = []
        """The keys of all columns that may be hidden, in the order of the lines."""

    @property
    def _shown(self) -> list[str]:
        """The keys of the columns that the list shows, in its order."""
        return [self.table.model.columns[at].key for at in self.table.columns_shown]

    def on_mount(self) -> None:
        self.action_reset(self._shown)  # "reset" to the present columns: this lists them first

    def _show(self, keys: Sequence[str]) -> None:
        """Show the columns with these keys in the list, and all of them in the dialog."""
        self.table.show_columns(keys)
        titles = {column.key: column.title for column in self.table.model.columns}
        lines: list[CellLine] = []
        for key in self._order:
            is_shown = key in self._shown
            mark = "x" if is_shown else " "
            tone = Tone.PLAIN if is_shown else Tone.DIM
            words = mark_safe(f"[{mark}] {titles[key].strip():<16} ")
            name = Cell(mark_safe(key), Tone.DIM)
            lines.append(CellLine((Cell(mark_safe(" ")), Pressable(words, tone, key=key), name)))
        self.pane.show(lines)

    def action_reset(self, keys: Sequence[str] = ()) -> None:
        """Show the columns with these keys, or the default ones without; list the others last."""
        self.table.show_columns(keys)
        columns = self.table.model.columns
        always_shown = {column.key for column in columns if column.always_shown}
        ordered = dict.fromkeys((*self._shown, *(column.key for column in columns)))
        self._order = [key for key in ordered if key not in always_shown]
        self._show(keys)

    def action_flip(self) -> None:
        """Show the column under the cursor, or hide it."""
        shown = set(self._shown) ^ {self.pane.current_link}
        self._show([key for key in self._order if key in shown])

    def action_shift(self, by: int) -> None:
        """Move the column under the cursor by so many lines."""
        key = self.pane.current_link
        new_index = max(0, self._order.index(key) + by)
        self._order.remove(key)
        self._order.insert(new_index, key)
        self.pane.initial_link = key  # the cursor follows it
        self._show([key for key in self._order if key in self._shown])

    @on(DetailPane.LinkOpened)
    def _done(self) -> None:
        self.dismiss()
