"""`TextPane`: headings, labelled fields and running text, repainting only the lines that differ.

The program describes a pane's content as items (`Heading`, `FieldLine`, `Paragraph`, ...). The pane
breaks them into lines for its width, compares them with the lines shown before, and repaints the
columns that differ. Details, help and dialogs are such panes; `Notice` is a short one that hides
while it has nothing to say.

A `Cell` is a text in a `Tone` (WARNING, DIM, ...), for which the theme has a colour. `SafeText` is
text without control characters. `fit` pads or cuts it to a width, and `wrap` breaks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

import msgspec
from msgspec.structs import replace
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from agentco_tui.text import Align, SafeText, cell_width, fit, mark_safe, wrap
from agentco_tui.widgets.graph import Graph
from agentco_tui.widgets.status_line import changed_columns, lay_out_line
from agentco_tui.widgets.tones import Cell, Pressable, Tone, TonedWidget

LineCells = tuple[Cell, ...]
"""The cells of one line."""

LABEL_WIDTH = 13  # columns of a field's label, including the gap behind it
MAX_NOTICE_LINES = 8


class Heading(msgspec.Struct, frozen=True, gc=False):
    """A line that names what follows."""

    text: SafeText


class FieldLine(msgspec.Struct, frozen=True, gc=False):
    """A label with its value, which takes several lines if it is long."""

    label: SafeText
    value: SafeText
    tone: Tone = Tone.PLAIN
    label_width: int = LABEL_WIDTH
    key: str = ""
    """Makes the value clickable: the `Pressable` cell has this key."""


class Paragraph(msgspec.Struct, frozen=True, gc=False):
    """Running text, broken at the width of the pane and at its own line ends."""

    text: SafeText
    tone: Tone = Tone.PLAIN
    indent: int = 0  # columns


class CellLine(msgspec.Struct, frozen=True, gc=False):
    """One line of cells at the left and at the right, cut at the width of the pane."""

    left: tuple[Cell, ...]
    right: tuple[Cell, ...] = ()


class BlankLine(msgspec.Struct, frozen=True):
    """An empty line."""


class WrappedLines(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Lines that are ready: a long text, broken in a thread for the width of the pane."""

    lines: Sequence[LineCells]


PaneItem = WrappedLines | Heading | FieldLine | Paragraph | CellLine | BlankLine | Graph


def align_columns(
    rows: Sequence[Sequence[Cell]], max_widths: Sequence[int], *sides: Align
) -> list[list[Cell]]:
    """Return rows of cells in which each column is as wide as its widest cell.

    A column is no wider than its entry in `max_widths`, and aligned as in `sides` (default: left).
    Cells further to the right keep their widths.
    """
    aligned = [list(row) for row in rows]
    for index, max_width in enumerate(max_widths):
        widest = max((cell_width(row[index].text) for row in rows), default=0)
        width = min(max_width, widest)
        side = sides[index : index + 1]
        for row in aligned:
            row[index] = replace(row[index], text=fit(row[index].text, width, *side))
    return aligned


def break_into_lines(items: Iterable[PaneItem], width: int) -> list[LineCells]:
    """Return the items as lines of at most `width` columns."""
    lines: list[LineCells] = []
    for item in items:
        match item:
            case Heading(text):
                lines.append((Cell(fit(text, width), Tone.ACCENT),))
            case FieldLine():
                lines += _field_lines(item, width)
            case Paragraph(text, tone, indent):
                margin = Cell(mark_safe(" " * indent))
                wrapped = wrap(text, max(1, width - indent))
                lines.extend((margin, Cell(line, tone)) for line in wrapped)
            case CellLine(left, right):
                lines.append(lay_out_line(left, right, width))
            case BlankLine():
                lines.append(())
            case WrappedLines(wrapped_lines):
                lines += wrapped_lines
            case Graph():
                lines += item.lines(width)
    return lines


def _field_lines(field: FieldLine, width: int) -> list[LineCells]:
    label_width = min(field.label_width, width // 2)
    margin = Cell(mark_safe(" " * label_width))
    values = wrap(field.value, max(1, width - label_width)) or [mark_safe("")]
    if cell_width(field.label) >= label_width:
        # A label that is too long for its column is not cut, but has lines of its own.
        labels = [(Cell(line, Tone.DIM),) for line in wrap(field.label, width)]
        return [*labels, *((margin, Cell(line, field.tone)) for line in values if line)]
    label = Cell(fit(field.label, label_width - 1), Tone.DIM)
    if field.key:
        value: Cell = Pressable(values[0], field.tone, field.key)
    else:
        value = Cell(values[0], field.tone)
    rest = [(margin, Cell(line, field.tone)) for line in values[1:]]
    return [(label, Cell(mark_safe(" ")), value), *rest]


class TextPane(ScrollView, TonedWidget, can_focus=True):
    """A scrolling pane of items, broken into lines for its width."""

    DEFAULT_CSS = (
        "TextPane {"
        " overflow-x: hidden; scrollbar-size-vertical: 1; scrollbar-gutter: stable;"
        " scrollbar-color: $surface-lighten-2;"
        " scrollbar-color-hover: $surface-lighten-2; scrollbar-color-active: $primary;"
        " scrollbar-background: $background; scrollbar-background-hover: $background;"
        " scrollbar-background-active: $background; }"
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False),
        Binding("k", "scroll_up", "Up", show=False),
        Binding("g", "scroll_home", "Top", show=False),
        Binding("G", "scroll_end", "Bottom", show=False),
    ]

    lines: Sequence[LineCells] = ()
    """All lines, including those that are scrolled out of view."""
    is_stale = False
    """Whether the content is out of date, and therefore dimmed."""
    after_resize: Callable[[], object] | None = None
    """Called after each change of size."""
    link = ""
    """Address that the first line leads to in terminals that show links (OSC 8); "" for none."""
    _items: tuple[PaneItem, ...] = ()
    _must_break = False
    """Whether the items are still to be broken into lines, because the pane has no width yet."""

    def show(self, items: Iterable[PaneItem], *, top: bool = False) -> None:
        """Show these items; `top` scrolls to the first line, else the pane stays where it is."""
        items = tuple(items)
        if items != self._items:
            self._items = items
            self._break_lines()
        if top:
            self.scroll_to_top()

    def lines_at_width(self, width: int) -> list[LineCells]:
        """Return the pane's lines for another width."""
        return break_into_lines(self._items, width)

    def scroll_to_top(self) -> None:
        self.scroll_home(animate=False, immediate=True)

    def set_link(self, link: str) -> None:
        if link != self.link:
            self.link = link
            self.refresh(Region(0, 0, self.size.width, 1))

    def set_stale(self, is_stale: bool) -> None:
        if is_stale is not self.is_stale:
            self.is_stale = is_stale
            self.refresh()

    @property
    def lines_below(self) -> int:
        """How many lines are below the last visible one."""
        height = self.scrollable_content_region.height
        if not height:
            return 0
        return max(0, len(self.lines) - self.scroll_offset.y - height)

    @property
    def cursor_line(self) -> int:
        """The visible line that has the cursor, counted from the pane's top; 0 without a cursor."""
        return 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(break_into_lines(self._items, width))

    def _break_lines(self) -> None:
        """Break the items into lines, and repaint those that differ."""
        width = self.scrollable_content_region.width
        self._must_break = width <= 0
        if self._must_break:
            return
        before = self.lines
        self.lines = break_into_lines(self._items, width)
        height = len(self.lines)
        if not self.styles.is_auto_height:
            # While all lines fit, a change of their number needs no new layout.
            height = max(height, self.scrollable_content_region.height)
        size = Size(width, height)
        if size != self.virtual_size:
            self.virtual_size = size
            self.refresh(layout=self.styles.is_auto_height)
            return
        top = self.scroll_offset.y
        for y in range(self.size.height):
            old = before[top + y : top + y + 1]
            new = self.lines[top + y : top + y + 1]
            if old == new:
                continue
            first: int | None = 0
            end = width
            if old and new:
                # Lines of equal looks may differ in their cells: then `first` is None.
                first, end = changed_columns(old[0], new[0])
            if first is not None:
                self.refresh(Region(first, y, end - first, 1))

    def on_resize(self, event: events.Resize) -> None:
        """Break the lines for the new width; the new height changes how far it can scroll."""
        self._break_lines()
        if self.after_resize is not None:
            self.after_resize()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a region.

        Textual sends some panes no event when they are shown again, so lines are broken here.
        """
        if self._must_break:
            self._break_lines()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        width = self.size.width
        base = self.style_of(None)
        if index >= len(self.lines):
            return Strip.blank(width, base)
        segments = [*self.segments(index), Segment(mark_safe(""), base)]
        if index == 0 and self.link:
            segments = [*Segment.apply_style(segments, post_style=Style(link=self.link))]
        return Strip(segments).adjust_cell_length(width, base)

    def segments(self, index: int) -> list[Segment]:
        """Return the segments of the line at an index in `lines`."""
        cells = self.lines[index]
        if self.is_stale:
            return [Segment(cell.text, self.style_of(Tone.DIM)) for cell in cells]
        return [Segment(cell.text, self.style_of(cell.tone)) for cell in cells]


class Notice(TextPane, can_focus=False):
    """A pane as high as its text, up to `MAX_NOTICE_LINES`, and hidden while it has none."""

    DEFAULT_CSS = """
    Notice { height: 1; display: none; scrollbar-size: 0 0; padding: 0 1; }
    """

    def show(self, items: Iterable[PaneItem], *, top: bool = False) -> None:
        items = tuple(items)
        self.display = bool(items)
        super().show(items, top=top)

    def _break_lines(self) -> None:
        super()._break_lines()
        height = max(1, min(MAX_NOTICE_LINES, len(self.lines)))
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
