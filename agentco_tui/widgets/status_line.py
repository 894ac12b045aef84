"""One line of cells, some to the left and some to the right, that repaints only what differs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from agentco_tui.text import cell_width, fit, plain
from agentco_tui.text.signs import OWN
from agentco_tui.widgets.tones import Cell, Pressable, Tone, TonedWidget, total_width

GAP = 2  # columns kept free between what stands left and what stands right


class StatusLine(TonedWidget):
    """A header, a row of tabs, a panel's title or a row of keys."""

    DEFAULT_CSS = "StatusLine { height: 1; width: 1fr; }"

    class Pressed(Message):
        """A cell with a key was clicked."""

        def __init__(self, line: StatusLine, key: str) -> None:
            super().__init__()
            self.line, self.key = line, key

    _left: tuple[Cell, ...] = ()
    _right: tuple[Cell, ...] = ()
    filled: Tone | None = None
    """The colour that all of it is filled with, but for what is filled elsewhere and left out."""

    _cells: tuple[Cell, ...] = ()
    _laid_out_for: int | None = None
    """The width for which `_cells` were laid out; None if they are to be laid out again."""

    def fill(self, tone: Tone | None) -> None:
        if tone is not self.filled:
            self.filled = tone
            self.refresh()

    def style_of(self, tone: Tone | str | None) -> Style:
        if self.filled is None or not isinstance(tone, Tone):
            return super().style_of(tone)
        is_left_out = tone in (self.filled, Tone.BADGE, Tone.ALARM)
        is_bold = tone not in (Tone.PLAIN, Tone.DIM)
        return super().style_of(self.filled) + Style(bold=is_bold, reverse=not is_left_out)

    def show(self, left: Sequence[Cell], right: Sequence[Cell] = ()) -> None:
        """Draw these cells; only the columns that differ from what stands there are painted."""
        wanted = tuple(left), tuple(right)
        if wanted == (self._left, self._right):
            return
        before = self.cells
        self._left, self._right = wanted
        self._laid_out_for = None
        first, last = differing(before, self.cells)
        if not self.size.width:
            self.refresh()
        elif first is not None:
            self.refresh(Region(first, 0, last - first, 1))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """What the line says now, as wide as it is."""
        width = self.size.width
        if width != self._laid_out_for:
            self._cells = lay_out(self._left, self._right, width)
            self._laid_out_for = width
        return self._cells

    def render_line(self, y: int) -> Strip:
        return Strip([Segment(cell.text, self.style_of(cell.tone)) for cell in self.cells])

    def on_click(self, event: events.Click) -> None:
        at = 0
        for cell in self.cells:
            at += cell_width(cell.text)
            if event.x < at:
                if isinstance(cell, Pressable):
                    self.post_message(self.Pressed(self, cell.key))
                return


def lay_out(left: Sequence[Cell], right: Sequence[Cell], width: int) -> tuple[Cell, ...]:
    """Cells for exactly `width` columns; what stands left gives way first, cut with a sign."""
    if width <= 0:
        return ()
    kept = list(right)
    while kept and total_width(kept) > width:
        kept.pop(0)
    room = width - total_width(kept) - (GAP if kept else 0)
    cells: list[Cell] = []
    if total_width(left) <= room:
        cells.extend(left)
        left = ()
    for cell in left:
        taken = cell_width(cell.text)
        if taken > room:
            cells.append(structs.replace(cell, text=fit(cell.text, max(0, room))))
            break
        cells.append(cell)
        room -= taken
    fill = width - total_width(cells) - total_width(kept)
    return (*cells, Cell(plain(" " * fill)), *kept)


def differing(before: Sequence[Cell], after: Sequence[Cell]) -> tuple[int | None, int]:
    """The first column that differs and the one after the last; (None, 0) if none does."""
    old = _columns(before)
    new = _columns(after)
    if len(old) != len(new):
        return 0, max(len(old), len(new))
    changed = [at for at, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    return (changed[0], changed[-1] + 1) if changed else (None, 0)


def _columns(cells: Sequence[Cell]) -> list[tuple[str, Tone]]:
    """Return a character and its tone for each column; a wide character is there twice."""
    columns: list[tuple[str, Tone]] = []
    for cell in cells:
        if OWN.issuperset(cell.text):
            columns.extend([(character, cell.tone) for character in cell.text])
            continue
        for character in cell.text:
            columns.extend([(character, cell.tone)] * cell_width(character))
    return columns
