"""Headings, labelled fields and running text in panes that repaint only the lines that differ."""

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

from agentco_tui.text import Align, SafeText, cell_width, fit, plain, wrap
from agentco_tui.widgets.graph import Plot
from agentco_tui.widgets.status_line import differing, lay_out
from agentco_tui.widgets.tones import Cell, Pressable, Tone, TonedWidget

Line = tuple[Cell, ...]

LABEL_WIDTH = 13  # columns of a field's label, the gap behind it included
MOST_LINES = 8  # lines of a notice


class Heading(msgspec.Struct, frozen=True, gc=False):
    """A line that names what follows."""

    text: SafeText


class FieldLine(msgspec.Struct, frozen=True, gc=False):
    """A label and what it says, broken over several lines where it must be."""

    label: SafeText
    value: SafeText
    tone: Tone = Tone.PLAIN
    label_width: int = LABEL_WIDTH
    key: str = ""  # what a press on it asks for


class Text(msgspec.Struct, frozen=True, gc=False):
    """Running text, broken at the width and at its own line ends."""

    text: SafeText
    tone: Tone = Tone.PLAIN
    indent: int = 0


class Cells(msgspec.Struct, frozen=True, gc=False):
    """One line of cells, cut at the width; `right` stands at the right edge."""

    left: tuple[Cell, ...]
    right: tuple[Cell, ...] = ()


class Gap(msgspec.Struct, frozen=True):
    """An empty line."""


class Laid(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Lines that were broken elsewhere, for there are so many."""

    lines: Sequence[Line]


Item = Laid | Heading | FieldLine | Text | Cells | Gap | Plot


def columns(rows: Sequence[Sequence[Cell]], most: Sequence[int], *sides: Align) -> list[list[Cell]]:
    """The cells of some lines as wide as the widest in their column, at most so many columns, and
    on these sides; what stands further right keeps its width.
    """
    laid = [list(row) for row in rows]
    for at, limit in enumerate(most):
        width = min(limit, max((cell_width(row[at].text) for row in rows), default=0))
        for row in laid:
            row[at] = replace(row[at], text=fit(row[at].text, width, *sides[at : at + 1]))
    return laid


def broken(items: Iterable[Item], width: int) -> list[Line]:
    """The items as lines of at most `width` columns."""
    lines: list[Line] = []
    for item in items:
        match item:
            case Heading(text):
                lines.append((Cell(fit(text, width), Tone.ACCENT),))
            case FieldLine(name, value, tone, label_width, key):
                label_width = min(label_width, width // 2)
                blank = Cell(plain(" " * label_width))
                values = wrap(value, max(1, width - label_width)) or [plain("")]
                if cell_width(name) >= label_width:
                    # A name that is too long for its column is not cut: it has lines of its own.
                    lines.extend((Cell(line, Tone.DIM),) for line in wrap(name, width))
                    lines.extend((blank, Cell(line, tone)) for line in values if line)
                else:
                    label = Cell(fit(name, label_width - 1), Tone.DIM)
                    said = Pressable(values[0], tone, key) if key else Cell(values[0], tone)
                    lines.append((label, Cell(plain(" ")), said))
                    lines.extend((blank, Cell(line, tone)) for line in values[1:])
            case Text(text, tone, indent):
                margin = plain(" " * indent)
                lines.extend(
                    (Cell(margin), Cell(line, tone)) for line in wrap(text, max(1, width - indent))
                )
            case Cells(left, right):
                lines.append(lay_out(left, right, width))
            case Gap():
                lines.append(())
            case Laid(laid):
                lines += laid
            case Plot():
                lines += item.lines(width)
    return lines


class TextPane(ScrollView, TonedWidget, can_focus=True):
    """Shows items broken to its width."""

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

    lines: Sequence[Line] = ()  # all of them, also those scrolled out of sight
    is_old = False  # all of it is dimmed
    fitted: Callable[[], object] = bool  # called when it has another size
    link = ""  # where the first line leads in terminals that show links, as `osc.LINKABLE`
    _items: tuple[Item, ...] = ()
    _due = False

    def show(self, items: Iterable[Item], *, top: bool = False) -> None:
        """Show these items; with `top` from their first line, else where the pane stands."""
        before, self._items = self._items, tuple(items)
        if self._items != before:
            self._break()
        if top:
            self.show_top()

    def told(self, width: int) -> list[Line]:
        return broken(self._items, width)

    def show_top(self) -> None:
        self.scroll_home(animate=False, immediate=True)

    def lead(self, link: str) -> None:
        if link != self.link:
            self.link = link
            self.refresh(Region(0, 0, self.size.width, 1))

    def fade(self, is_old: bool) -> None:
        if is_old is not self.is_old:
            self.is_old = is_old
            self.refresh()

    @property
    def below(self) -> int:
        """How many lines lie below the last one in sight."""
        height = self.scrollable_content_region.height
        return max(0, len(self.lines) - self.scroll_offset.y - height) if height else 0

    @property
    def cursor_line(self) -> int:
        """Of its lines on the screen the one that is selected, else the first."""
        return 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(broken(self._items, width))

    def _break(self) -> None:
        width = self.scrollable_content_region.width
        self._due = width <= 0  # hidden: when it is drawn again
        if self._due:
            return
        before, self.lines = self.lines, broken(self._items, width)
        height = len(self.lines)
        if not self.styles.is_auto_height:
            # As long as all fits, its length changes nothing but its own lines.
            height = max(height, self.scrollable_content_region.height)
        size = Size(width, height)
        if size != self.virtual_size:
            self.virtual_size = size
            self.refresh(layout=self.styles.is_auto_height)
            return
        top = self.scroll_offset.y
        for at in range(top, top + self.size.height):
            old, new = before[at : at + 1], self.lines[at : at + 1]
            if old == new:
                continue
            first, last = differing(old[0], new[0]) if old and new else (0, width)
            if first is not None:
                self.refresh(Region(first, at - top, last - first, 1))

    def on_resize(self, event: events.Resize) -> None:
        """A new width breaks the lines anew; a new height decides what there is to scroll."""
        self._break()
        self.fitted()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Some lines as Textual wants them; it doesn't tell each pane that it is shown again."""
        if self._due:
            self._break()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        width = self.size.width
        base = self.style_of(None)
        if at >= len(self.lines):
            return Strip.blank(width, base)
        segments = [*self.segments(at), Segment(plain(""), base)]
        if not at and self.link:
            segments = [*Segment.apply_style(segments, post_style=Style(link=self.link))]
        return Strip(segments).adjust_cell_length(width, base)

    def segments(self, at: int) -> list[Segment]:
        return [
            Segment(cell.text, self.style_of(Tone.DIM if self.is_old else cell.tone))
            for cell in self.lines[at]
        ]


class Notice(TextPane, can_focus=False):
    """Takes as many lines as it has to say, at most `MOST_LINES`, and none if nothing."""

    DEFAULT_CSS = """
    Notice { height: 1; display: none; scrollbar-size: 0 0; padding: 0 1; }
    """

    def show(self, items: Iterable[Item], *, top: bool = False) -> None:
        kept = tuple(items)
        self.display = bool(kept)
        super().show(kept, top=top)

    def _break(self) -> None:
        super()._break()
        lines = max(1, min(MOST_LINES, len(self.lines)))
        if self.styles.height is None or self.styles.height.value != lines:
            self.styles.height = lines
