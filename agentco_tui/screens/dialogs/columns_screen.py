"""The dialog for the columns of a list and their order; the list beside it changes at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from agentco_tui.screens.dialogs.base import Dialog
from agentco_tui.screens.key_app import DetailPane
from agentco_tui.text import plain
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import Cells
from agentco_tui.widgets.tones import Cell, Pressable, Tone


class ColumnsScreen(Dialog[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "flip", "Show or hide", show=False),
        Binding("less_than_sign,K", "shift(-1)", "Further left", show=False),
        Binding("greater_than_sign,J", "shift(1)", "Further right", show=False),
        Binding("0", "usual", "As usual", show=False),
        Binding("C", "dismiss", "Done", show=False, id="list.columns"),
    ]
    pane: DetailPane
    DEFAULT_CSS = """
    ColumnsScreen { align: right middle; background: transparent; }
    ColumnsScreen > Vertical { width: 46; }
    """

    def __init__(self, table: RecordTable[Any]) -> None:
        super().__init__([Cell(plain("Columns"), Tone.STRONG)])
        self.table = table
        self.pane = DetailPane(classes="dialog--body")
        self.keys = {"space": " show ", " < >": " move ", " 0": " as usual ", " esc": " done"}
        self._order: list[str] = []
        """The keys of the columns that may be hidden, in their order."""

    @property
    def _shown(self) -> list[str]:
        return [self.table.model.columns[at].key for at in self.table.columns_shown]

    def on_mount(self) -> None:
        self.action_usual(self._shown)

    def _show(self, keys: Sequence[str]) -> None:
        self.table.show_columns(keys)
        titles = {column.key: column.title for column in self.table.model.columns}
        lines: list[Cells] = []
        for key in self._order:
            is_shown = key in self._shown
            mark = "x" if is_shown else " "
            tone = Tone.PLAIN if is_shown else Tone.DIM
            words = plain(f"[{mark}] {titles[key].strip():<16} ")
            name = Cell(plain(key), Tone.DIM)
            lines.append(Cells((Cell(plain(" ")), Pressable(words, tone, key=key), name)))
        self.pane.show(lines)

    def action_usual(self, keys: Sequence[str] = ()) -> None:
        """Show the columns with these keys, by default the usual ones; offer the others last."""
        self.table.show_columns(keys)
        columns = self.table.model.columns
        always_shown = {column.key for column in columns if column.always_shown}
        ordered = dict.fromkeys((*self._shown, *(column.key for column in columns)))
        self._order = [key for key in ordered if key not in always_shown]
        self._show(keys)

    def action_flip(self) -> None:
        """Show the column under the cursor, or hide it."""
        shown = set(self._shown)
        shown ^= {self.pane.here}
        self._show([key for key in self._order if key in shown])

    def action_shift(self, by: int) -> None:
        """Move the column under the cursor by so many places."""
        moved = self.pane.here
        place = max(0, self._order.index(moved) + by)
        self._order.remove(moved)
        self._order.insert(place, moved)
        self.pane.first = moved
        self._show([key for key in self._order if key in self._shown])

    @on(DetailPane.Entered)
    def _done(self) -> None:
        self.dismiss()
