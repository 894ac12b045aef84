"""`StatusLine`: one line of cells that repaints only the columns that differ.

Header, footer, tabs and titles are status lines. A line has cells at its left and cells at its
right; if it is too narrow, those at the left are cut. A `Cell` is a text in a `Tone` (WARNING, DIM,
...), for which the theme has a colour; a `Pressable` cell can be clicked, and its key says which.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from agentco_tui.text import cell_width, fit, mark_safe
from agentco_tui.text.signs import OWN_CHARACTERS
from agentco_tui.widgets.tones import Cell, Pressable, Tone, TonedWidget, total_width

GAP = 2  # blank columns, at least, between the cells at the left and those at the right


class StatusLine(TonedWidget):
    """A header, a row of tabs, a panel's title or a row of keys."""

    DEFAULT_CSS = "StatusLine { height: 1; width: 1fr; }"

    class Pressed(Message):
        """The user clicked a `Pressable` cell, which has this key."""

        def __init__(self, line: StatusLine, key: str) -> None:
            super().__init__()
            self.line = line
            self.key = key

    _left: tuple[Cell, ...] = ()
    _right: tuple[Cell, ...] = ()
    _cells: tuple[Cell, ...] = ()
    _laid_out_for: int | None = None
    """The width for which `_cells` were laid out; None if they are to be laid out again."""
    filled: Tone | None = None
    """The colour of the whole line's background; None for the widget's own."""

    def fill(self, tone: Tone | None) -> None:
        """Fill the whole line with a colour; None ends that.

        Header and footer have the colour that the user chose for the server in use, if any.
        """
        if tone is not self.filled:
            self.filled = tone
            self.refresh()

    def style_of(self, tone: Tone | str | None) -> Style:
        """Return the style of a tone; a filled line is in the one colour that fills it.

        Elsewhere a badge, an alarm and a cell in that colour have a coloured background. Here they
        stand out by having none. None is the style of the widget, a str a component class.
        """
        if self.filled is None or not isinstance(tone, Tone):
            return super().style_of(tone)
        is_field = tone in (self.filled, Tone.BADGE, Tone.ALARM)
        is_bold = tone not in (Tone.PLAIN, Tone.DIM)
        return super().style_of(self.filled) + Style(bold=is_bold, reverse=not is_field)

    def show(self, left: Sequence[Cell], right: Sequence[Cell] = ()) -> None:
        """Show these cells, and repaint only the columns that differ from those shown before."""
        left = tuple(left)
        right = tuple(right)
        if left == self._left and right == self._right:
            return
        before = self.cells
        self._left = left
        self._right = right
        self._laid_out_for = None
        first, end = changed_columns(before, self.cells)
        if not self.size.width:
            self.refresh()
        elif first is not None:
            self.refresh(Region(first, 0, end - first, 1))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells as they are laid out for the width of the line."""
        width = self.size.width
        if width != self._laid_out_for:
            self._cells = lay_out_line(self._left, self._right, width)
            self._laid_out_for = width
        return self._cells

    def render_line(self, y: int) -> Strip:
        return Strip([Segment(cell.text, self.style_of(cell.tone)) for cell in self.cells])

    def on_click(self, event: events.Click) -> None:
        right_edge = 0
        for cell in self.cells:
            right_edge += cell_width(cell.text)
            if event.x < right_edge:
                if isinstance(cell, Pressable):
                    self.post_message(self.Pressed(self, cell.key))
                return


def lay_out_line(left: Sequence[Cell], right: Sequence[Cell], width: int) -> tuple[Cell, ...]:
    """Return cells for exactly `width` columns.

    If it is too narrow, the cells at the left are cut first, with an ellipsis; then those at the
    right are dropped, the first ones first.
    """
    if width <= 0:
        return ()
    kept_right = list(right)
    while kept_right and total_width(kept_right) > width:
        kept_right.pop(0)
    room = width - total_width(kept_right)
    if kept_right:
        room -= GAP
    cells: list[Cell] = []
    if total_width(left) <= room:
        cells.extend(left)
        left = ()
    for cell in left:
        width_of_cell = cell_width(cell.text)
        if width_of_cell > room:
            cells.append(structs.replace(cell, text=fit(cell.text, max(0, room))))
            break
        cells.append(cell)
        room -= width_of_cell
    blank = " " * (width - total_width(cells) - total_width(kept_right))
    return (*cells, Cell(mark_safe(blank)), *kept_right)


def changed_columns(before: Sequence[Cell], after: Sequence[Cell]) -> tuple[int | None, int]:
    """Return the first column that differs and the one behind the last; (None, 0) if none does.

    Lines of different widths differ from the first column on.
    """
    old = _columns(before)
    new = _columns(after)
    if len(old) != len(new):
        return 0, max(len(old), len(new))
    changed = [index for index, column in enumerate(new) if column != old[index]]
    if not changed:
        return None, 0
    return changed[0], changed[-1] + 1


def _columns(cells: Sequence[Cell]) -> list[tuple[str, Tone]]:
    """Return the character and its tone for each column; a wide character is repeated."""
    columns: list[tuple[str, Tone]] = []
    for cell in cells:
        # All of them, those of the program's own texts, are one column wide.
        if OWN_CHARACTERS.issuperset(cell.text):
            columns.extend([(character, cell.tone) for character in cell.text])
            continue
        for character in cell.text:
            columns.extend([(character, cell.tone)] * cell_width(character))
    return columns
