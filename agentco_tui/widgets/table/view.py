"""The painted half of a record table: from rows, cursor and marks to the fewest changed cells.

After anything happened, `sync` works out how each line should look, compares that with how it
looked before, and asks for a repaint of the stretches that differ. Nobody has to know which change
touches which line, and what isn't on the screen costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, Generic

from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from agentco_tui.text import SafeText, plain
from agentco_tui.widgets import partial_paint
from agentco_tui.widgets.table import paint
from agentco_tui.widgets.table.layout import Column, Layout, R, arrange
from agentco_tui.widgets.table.marks import Marks
from agentco_tui.widgets.table.model import Rows
from agentco_tui.widgets.tones import Cell, Tone, coloured

_WORTH_A_JUMP: Final = 12
"""Unchanged cells between two changed ones from which on it is cheaper to jump over them."""
SEVERE: Final = (Tone.WARNING, Tone.CRITICAL)
"""Tones that are told from others under the cursor too."""
_PREFIX: Final = "record-table--"
_PARTS: Final = ("header", "header-sorted", "cursor", "cursor-sign", "mark", "scrollbar", "stale")

Line = paint.Look | SafeText
"""What stands in a line of the body: a row, or a text in place of rows."""


class TableView(Widget, Generic[R]):
    """Paints rows; knows nothing of how they come to be what they are."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"{_PREFIX}{name}" for name in _PARTS),
        *(f"{_PREFIX}{tone.value}" for tone in Tone),
    }

    DEFAULT_CSS = """
    TableView {
        width: 1fr; height: 1fr; background: $background; color: $foreground;
        & > .record-table--header { color: $text-muted; }
        & > .record-table--header-sorted { color: $foreground; text-style: bold; }
        & > .record-table--cursor { background: $surface; color: $foreground; }
        & > .record-table--cursor-sign { background: $surface; color: $text-muted; }
        &:focus > .record-table--cursor { background: $panel; }
        &:focus > .record-table--cursor-sign { background: $panel; color: $accent; }
        & > .record-table--mark { color: $accent; text-style: bold; }
        & > .record-table--scrollbar { color: $text-disabled; }
        & > .record-table--dim { color: $text-muted; }
        & > .record-table--strong { text-style: bold; }
        & > .record-table--good { color: $text-success; }
        & > .record-table--warning { color: $text-warning; }
        & > .record-table--critical { color: $text-error; text-style: bold; }
        & > .record-table--accent { color: $text-accent; }
        & > .record-table--stale { color: $text-disabled; }
        &:ansi > .record-table--dim { text-style: dim; }
        &:ansi > .record-table--stale { text-style: dim; }
        &:ansi:focus > .record-table--cursor { text-style: reverse; }
    }
    """

    def __init__(
        self,
        columns: Sequence[Column[R]],
        search_text: Callable[[R], str] | None,
        widget_id: str | None,
        classes: str | None,
    ) -> None:
        super().__init__(id=widget_id, classes=classes)
        self._rows: Rows[R] = Rows(columns, search_text)
        self.thin = False
        """True for a slow line: the cursor is its sign only, and the view moves in larger steps."""
        self._marks = Marks()
        self._cursor_at = 0
        self._top = 0
        self._sideways = 0
        self._stale = False
        self._layout_now = Layout((), 0)
        self._laid: dict[str, tuple[R, bool, tuple[paint.Piece, ...]]] = {}
        self._lines: list[Line] = []
        self._header: tuple[paint.Piece, ...] = ()
        self._thumb = range(0)
        self._palette_now: paint.Palette | None = None
        self._arranged_for = -1
        self._fitted_to = Size(0, 0)
        self._fit_due = True
        self._ticked: dict[str, tuple[tuple[paint.Piece, ...], list[Cell]]] = {}
        """What the ticking cells of the rows on the screen said at the last tick."""
        self._remarks: dict[str, Cell] = {}

    # ---- what the other half says

    def _text_instead(self) -> SafeText:
        """What stands in the body when no row is shown."""
        return plain("")

    # ---- measures

    @property
    def _height(self) -> int:
        """Lines for rows; those it had last while it is hidden and has no size."""
        return max(0, (self.size.height or self._fitted_to.height) - 1)

    @property
    def _room(self) -> int:
        """Cells for columns."""
        return max(0, self.size.width - paint.GUTTER - paint.SCROLLBAR)

    @property
    def _last_top(self) -> int:
        """The first row on the screen when it is scrolled to the end."""
        return max(0, len(self._rows.shown) - self._height)

    def _arrange(self) -> None:
        """Fits the columns to the width, if that isn't done yet."""
        if self._arranged_for == self._room:
            return
        self._arranged_for = self._room
        self._layout_now = arrange(self._rows.columns, self._room)
        self._laid.clear()
        self._sideways = min(self._sideways, max(0, self._layout_now.width - self._room))

    # ---- from rows to looks

    def _sync(self) -> None:
        """Asks for a repaint of what looks different now, and of nothing else."""
        if regions := self._look_again():
            self.refresh(*regions)

    def _look_again(self) -> list[Region]:
        """Works out how all looks now; returns where that is different from before."""
        width, height = self.size
        if not self.is_attached or width == 0 or height == 0:
            self._fit_due = True  # as soon as there is something to draw on
            return []
        self._arrange()
        self._top = max(0, min(self._top, self._last_top))
        lines = self._wanted_lines()
        thumb = self._wanted_thumb()
        regions: list[Region] = []
        header = paint.header(
            self._rows.columns, self._layout_now, self._rows.sort_column, self._rows.descending
        )
        if header != self._header:
            regions.append(Region(0, 0, width, 1))
        fresh = len(lines) != len(self._lines)
        for at, line in enumerate(lines):
            if fresh:
                regions.append(Region(0, at + 1, width, 1))
                continue
            if self._lines[at] != line:
                regions.extend(self._differences(self._lines[at], line, at + 1))
            if (at in self._thumb) != (at in thumb):
                regions.append(Region(width - paint.SCROLLBAR, at + 1, 1, 1))
        self._lines, self._thumb, self._header = lines, thumb, header
        return regions

    def _repaint(self) -> None:
        """Forgets what was painted and paints all."""
        self._lines = []
        self._header = ()
        self._laid.clear()
        self._sync()

    def _wanted_lines(self) -> list[Line]:
        rows = self._rows
        visible = rows.shown[self._top : self._top + self._height]
        lines: list[Line] = []
        laid: dict[str, tuple[R, bool, tuple[paint.Piece, ...]]] = {}
        for at, row_id in enumerate(visible, self._top):
            laid[row_id] = self._pieces(row_id)
            lines.append(
                paint.Look(
                    laid[row_id][2],
                    cursor=at == self._cursor_at,
                    marked=row_id in self._marks,
                    band=at == self._cursor_at and not self.thin,
                    ghost=laid[row_id][1],
                )
            )
        self._laid = laid
        if not visible and self._height:
            lines.append(self._text_instead())
        lines.extend([paint.EMPTY] * (self._height - len(lines)))
        return lines

    def _pieces(self, row_id: str) -> tuple[R, bool, tuple[paint.Piece, ...]]:
        """The row laid out; as it was, if neither its record nor the columns changed."""
        rows = self._rows
        record = rows.known(row_id)
        ghost = rows.is_ghost(row_id)
        known = self._laid.get(row_id)
        remark = rows.note(row_id) if ghost else self._remarks.get(row_id)
        if remark is None and known is not None and known[0] is record and not known[1]:
            return known
        columns = rows.columns
        cells = [columns[placed.index].cell(record) for placed in self._layout_now.columns]
        if remark is not None:
            pieces = paint.lay_out_ghost(cells, remark, columns, self._layout_now)
        else:
            pieces = paint.lay_out(cells, columns, self._layout_now)
        return record, ghost, pieces

    def tick(self) -> None:
        """Looks again at the cells that depend on the clock, in the rows on the screen."""
        columns = self._rows.columns
        ticking = [
            (at, placed)
            for at, placed in enumerate(self._layout_now.columns)
            if columns[placed.index].ticks
        ]
        if not ticking:
            return
        before, self._ticked, changed = self._ticked, {}, False
        for row_id, (record, ghost, pieces) in self._laid.items():
            if ghost or row_id in self._remarks:
                continue
            cells = [columns[placed.index].cell(record) for _, placed in ticking]
            laid, told = before.get(row_id, ((), []))
            if laid is not pieces or told != cells:
                fresh = list(pieces)
                for (at, placed), cell in zip(ticking, cells, strict=True):
                    fresh[at] = paint.lay_out((cell,), columns, Layout((placed,), 0))[0]
                pieces = tuple(fresh)  # noqa: PLW2901
                self._laid[row_id] = (record, ghost, pieces)
                changed = True
            self._ticked[row_id] = (pieces, cells)
        if changed:
            self._sync()

    def remark(self, remarks: Mapping[str, Cell]) -> None:
        """Says something of rows, in the place where a ghost says what became of it; of no others.

        Ids without a row are kept: the row may come, or come back.
        """
        if remarks == self._remarks:
            return
        for row_id in self._remarks.keys() | remarks.keys():
            if self._remarks.get(row_id) != remarks.get(row_id):
                self._laid.pop(row_id, None)
        self._remarks = dict(remarks)
        self._sync()

    def renew(self) -> None:
        """Looks again at all cells on the screen: what they take from elsewhere has changed."""
        self._laid.clear()
        self._sync()

    def _differences(self, before: Line, after: Line, y: int) -> list[Region]:
        """The stretches of a line that have to be painted."""
        whole = [Region(0, y, self.size.width - paint.SCROLLBAR, 1)]
        if isinstance(after, str) or isinstance(before, str):
            return whole
        spans = paint.changes(before, after)
        if spans is None:
            return whole
        worth = _WORTH_A_JUMP if partial_paint.installed() else self.size.width
        edges = (self._edges(x, width) for x, width in spans)
        return [
            Region(left, y, right - left, 1) for left, right in paint.joined_spans(edges, worth)
        ]

    def _edges(self, x: int, width: int) -> tuple[int, int]:
        """Left and right edge on the screen of a stretch among the columns, or of the gutter."""
        if x < 0:
            return 0, paint.GUTTER
        left = max(0, x - self._sideways)
        right = min(self._room, x + width - self._sideways)
        return paint.GUTTER + left, paint.GUTTER + right

    def _wanted_thumb(self) -> range:
        """The lines of the body where the scroll bar shows its thumb."""
        count, height = len(self._rows.shown), self._height
        if count <= height or not height:
            return range(0)
        size = max(1, height * height // count)
        room, last = height - size, count - height
        start = (self._top * room + last // 2) // last
        if self._top and room:
            start = max(1, start)
        if self._top < last:
            start = min(start, room - 1) if room else 0
        return range(start, start + size)

    # ---- from looks to strips

    def render_line(self, y: int) -> Strip:
        """One line of the widget: the header or a row (Textual's line API)."""
        palette = self._palette()
        if y == 0:
            return paint.paint_header(self._header, palette, self._room, self._sideways)
        at = y - 1
        line = self._lines[at] if at < len(self._lines) else paint.EMPTY
        if isinstance(line, str):
            return paint.paint_text(line, palette, self._room)
        return paint.paint(
            line,
            palette,
            stale=self._stale,
            room=self._room,
            scrolled=self._sideways,
            scrollbar=at in self._thumb,
        )

    def _palette(self) -> paint.Palette:
        if self._palette_now is None:

            def style(name: str) -> Style:
                return self.get_component_rich_style(f"{_PREFIX}{name}")

            cursor = style("cursor")
            self._palette_now = paint.Palette(
                tones={tone: style(tone.value) for tone in Tone},
                cursor=cursor,
                cursor_tones={tone: coloured(cursor, style(tone.value)) for tone in SEVERE},
                cursor_sign=style("cursor-sign"),
                mark=style("mark"),
                header=style("header"),
                header_sorted=style("header-sorted"),
                scrollbar=style("scrollbar"),
                dimmed=style("stale"),
            )
        return self._palette_now

    def notify_style_update(self) -> None:
        """Textual calls it when theme, focus or style sheet change: styles are worked out anew."""
        super().notify_style_update()
        self._palette_now = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a part. After a change of size all are asked for before `on_resize` comes:
        they are fitted to it here, so that the very first picture has the rows.
        """
        if self._must_fit:
            self._fit()
        return super().render_lines(crop)

    def on_resize(self) -> None:
        """Another size, not yet painted: the columns are fitted anew, and all is painted."""
        if self._must_fit:
            self.refresh(*self._fit())

    @property
    def _must_fit(self) -> bool:
        """Whether nothing was worked out for this size yet, or not since the table was hidden."""
        return self._fit_due or self._fitted_to != self.size

    def _fit(self) -> list[Region]:
        cursor, before = self._cursor_at, self._fitted_to.height - 1
        if before <= 0:
            self._top = 0  # wherever it was put while there was no room for any row
        in_view = before <= 0 or self._top <= cursor < self._top + before
        self._fitted_to, self._fit_due = self.size, False
        if in_view:
            self._top = max(min(self._top, cursor), cursor - max(0, self._height - 1))
        self._arranged_for = -1
        self._lines = []
        self._header = ()
        return self._look_again()

    def on_show(self) -> None:
        """Shown again: what happened meanwhile is worked out."""
        self._sync()
