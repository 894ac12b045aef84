"""Which columns a list shows, and in what order; the list beside it changes at once."""

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
        self.table, self.pane = table, DetailPane(classes="dialog--body")
        self.keys = {"space": " show ", " < >": " move ", " 0": " as usual ", " esc": " done"}
        self._order: list[str] = []  # the keys of those that may be hidden

    @property
    def _shown(self) -> list[str]:
        return [self.table.rows.columns[at].key for at in self.table.columns_shown]

    def on_mount(self) -> None:
        self.action_usual(self._shown)

    def _show(self, keys: Sequence[str]) -> None:
        self.table.show_columns(keys)
        titles, lines = {one.key: one.title for one in self.table.rows.columns}, []
        for key in self._order:
            mark, tone = ("x", Tone.PLAIN) if key in self._shown else (" ", Tone.DIM)
            words = plain(f"[{mark}] {titles[key].strip():<16} ")
            name = Cell(plain(key), Tone.DIM)
            lines.append(Cells((Cell(plain(" ")), Pressable(words, tone, key=key), name)))
        self.pane.show(lines)

    def action_usual(self, keys: Sequence[str] = ()) -> None:
        """Show these, or those that show as usual; the others come last."""
        self.table.show_columns(keys)
        columns = self.table.rows.columns
        known = dict.fromkeys((*self._shown, *(one.key for one in columns)))
        self._order = [key for key in known if key not in {c.key for c in columns if c.stays}]
        self._show(keys)

    def action_flip(self) -> None:
        here, shown = self.pane.here, self._shown
        self._show([key for key in self._order if (key in shown) is not (key == here)])

    def action_shift(self, by: int) -> None:
        key, order = self.pane.here, self._order
        to = max(0, order.index(key) + by)
        order.remove(key)
        order.insert(to, key)
        self.pane.first = key
        self._show([key for key in order if key in self._shown])

    @on(DetailPane.Entered)
    def _done(self) -> None:
        self.dismiss()
