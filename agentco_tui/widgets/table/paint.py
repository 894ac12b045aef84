"""How a table becomes strips, and which cells of two pictures differ.

`TablePainter` keeps the looks of the lines that it last asked to be painted; comparing them with
the new ones gives the few cells that have to go to the terminal, whatever happened to the rows in
between. What isn't on the screen costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip

from agentco_tui.text import SafeText, cell_width, fit, plain, signs
from agentco_tui.text.width import fit_ends
from agentco_tui.textual_patches.registry import PARTIAL_PAINT
from agentco_tui.widgets.table.layout import Placed, R, arrange
from agentco_tui.widgets.table.model import TableModel
from agentco_tui.widgets.table.viewport import Viewport
from agentco_tui.widgets.tones import Tone, coloured

GUTTER: Final = 3  # cells before the first column: the cursor, the mark and a blank
SCROLLBAR: Final = 1
"""Cells after the last column, always kept, so that the columns don't jump with the rows."""
SAMPLE: Final = 40  # rows by which a column counts as one in which nothing is known
NOTE: Final = 14  # cells that what became of a record has at least, where there are so many
WORTH_A_JUMP: Final = 12
"""Unchanged cells between two changed ones from which on it is cheaper to jump over them."""


class Piece(NamedTuple):
    """A stretch of a line; `x` counts from the first column."""

    x: int
    width: int
    text: SafeText
    tone: Tone


class RowLook(NamedTuple):
    """A line of the body: a row, or a text in place of rows."""

    pieces: tuple[Piece, ...] = ()
    cursor: bool = False
    marked: bool = False
    band: bool = False
    """True if the whole row is painted as the cursor's, not only the sign before it."""
    is_tombstone: bool = False


TABLE_CSS = """
    RecordTable {
        width: 1fr; height: 1fr; background: $background; color: $foreground;
        & > .table--header { color: $text-muted; }
        & > .table--header-sorted { color: $foreground; text-style: bold; }
        & > .table--cursor, & > .table--cursor-sign {
            background: $block-cursor-blurred-background; color: $foreground;
        }
        &:focus > .table--cursor, &:focus > .table--cursor-sign {
            background: $block-cursor-background; color: $block-cursor-foreground;
        }
        & > .table--mark { color: $accent; text-style: bold; }
        & > .table--scrollbar { color: $text-disabled; }
        & > .table--stale { color: $text-disabled; }
        &:ansi > .table--stale { text-style: dim; }
        &:ansi:focus > .table--cursor, &:nocolor:focus > .table--cursor {
            background: transparent; color: $foreground; text-style: reverse;
        }
    }
"""
SEVERE: Final = (Tone.WARNING, Tone.CRITICAL)
"""Tones that are told from others under the cursor too."""


class TablePainter(Generic[R]):
    """From rows and view to the fewest changed cells, and to the strips that show them.

    `text_instead` gives what stands in the body when no row is shown.
    """

    def __init__(
        self, model: TableModel[R], view: Viewport, text_instead: Callable[[], SafeText]
    ) -> None:
        self.places: tuple[Placed[R], ...] = ()
        self._model, self._view, self._text_instead = model, view, text_instead
        self.size = Size(0, 0)  # as it was painted last
        self._room = 0  # cells for columns
        self._lines: list[RowLook] = []
        """The header and the rows as they were painted last."""
        self._thumb = range(0)
        self._awaits = False  # whether a column is left out until something is known in it
        self.pieces: dict[str, tuple[R, tuple[Piece, ...]]] = {}
        """Records on the screen as they were laid out."""

    def forget(self) -> None:
        """Everything is painted at the next update."""
        self._lines = []

    def rearrange(self) -> None:
        """Columns find their places anew. One that may go does so first if nothing is known in it,
        by rows from all over the table; not where that is to be expected to come.
        """
        model = self._model
        sample: list[Any] = [
            model.record(i) for i in model.shown[:: len(model.shown) // SAMPLE + 1]
        ]
        unknown = {
            index
            for index, column in enumerate(model.columns)
            if column.priority and not column.ticks and index != model.sort_column
            if sample or column.comes_later
            if all(column.cell(record).text.strip() == signs.missing for record in sample)
        }
        self._awaits = any(model.columns[index].comes_later for index in unknown)
        self.places = arrange(model.columns, self._room, unknown, self._view.columns)
        self.pieces.clear()

    def renew(self) -> None:
        """Looks again at all cells on the screen; a column that came to be known is put in."""
        self.pieces.clear()
        if self._awaits:
            self.rearrange()

    def update(self, size: Size) -> list[Region]:
        """Works out how all looks now; gives the regions where that is different from before."""
        width, height = size
        if size != self.size:
            self.size, self._room = size, max(0, width - GUTTER - SCROLLBAR)
            self.rearrange()
        lines, thumb = [self._wanted_header(), *self._wanted_rows()], range(0)
        count, rows = len(self._model.shown), height - 1
        if 0 < rows < count:
            long = max(1, rows * rows // count)
            room, last, top = rows - long, count - rows, self._view.top
            # At an end only if the view is.
            start = max(0, min(-(-top * room // last), room - (top < last)))
            thumb = range(1 + start, 1 + start + long)
        regions = []
        if len(lines) != len(self._lines):
            regions = [Region(0, 0, width, height)]
        else:
            for y, (before, after) in enumerate(zip(self._lines, lines, strict=True)):
                if before != after:
                    regions += [Region(x, y, w, 1) for x, w in self._changes(before, after)]
                if (y in self._thumb) != (y in thumb):
                    regions.append(Region(width - SCROLLBAR, y, SCROLLBAR, 1))
        self._lines, self._thumb = lines, thumb
        return regions

    def tick(self) -> None:
        """Looks again at the cells of the rows on the screen that depend on the clock."""
        for row_id, (record, pieces) in self.pieces.items():
            known = zip(pieces, self.places, strict=True)
            fresh = (lay_out(record, at) if at.column.ticks else piece for piece, at in known)
            self.pieces[row_id] = record, tuple(fresh)

    def _wanted_rows(self) -> list[RowLook]:
        view, places, height = self._view, self.places, max(0, self.size.height - 1)
        visible = self._model.shown[view.top : view.top + height]
        lines: list[RowLook] = []
        pieces: dict[str, tuple[R, tuple[Piece, ...]]] = {}
        for at, row_id in enumerate(visible, view.top):
            record, resolution = self._model.record(row_id), self._model.tombstone(row_id)
            assert record is not None
            if note := resolution or view.annotations.get(row_id):
                # What became of the record stands where its first columns were, up to the one that
                # grows, whose text follows it.
                ends = {at: p.x + p.width for at, p in enumerate(places) if p.column.grow}
                last = next((at for at in ends if ends[at] >= NOTE), len(places) - 1)
                width, title = places[last].x + places[last].width, places[last].column.cell(record)
                kept = plain(f" {signs.separator} {title.text.strip()}")
                # A long note leaves room for which record it is of.
                said = min(cell_width(note.text), width - min(cell_width(kept), width // 3))
                laid = (
                    Piece(0, said, fit(note.text, said), note.tone),
                    Piece(said, width - said, fit(kept, width - said), Tone.PLAIN),
                    *(lay_out(record, p)._replace(tone=Tone.PLAIN) for p in places[last + 1 :]),
                )
            else:
                known = self.pieces.get(row_id)
                if known is None or known[0] is not record:
                    known = record, tuple(lay_out(record, place) for place in places)
                laid = known[1]
                pieces[row_id] = known
            cursor, marked = at == view.cursor_at, row_id in view.marks
            is_band = cursor and not view.thin
            lines.append(RowLook(laid, cursor, marked, is_band, resolution is not None))
        self.pieces = pieces
        self._tell_apart(visible, lines)
        if not visible and height:
            text = fit(self._text_instead(), self._room)
            tone = Tone.GOOD if text.startswith(signs.good) else Tone.DIM
            lines.append(RowLook((Piece(0, self._room, text, tone),)))
        return lines + [RowLook()] * (height - len(lines))

    def _tell_apart(self, visible: list[str], lines: list[RowLook]) -> None:
        """Where different texts of a column are cut to the same, their ends show."""
        for at, place in enumerate(self.places):
            alike = dict[str, dict[int, SafeText]]()
            for y, row_id in enumerate(visible):
                record, laid = self.pieces.get(row_id, (None, ()))
                if record is not None and signs.ellipsis in laid[at].text[-2:]:
                    alike.setdefault(laid[at].text, {})[y] = place.column.cell(record).text
            for wholes in alike.values():
                for y, whole in wholes.items() if len({*wholes.values()}) > 1 else ():
                    pieces = list(lines[y].pieces)
                    pieces[at] = pieces[at]._replace(text=fit_ends(whole, place.width))
                    lines[y] = lines[y]._replace(pieces=tuple(pieces))

    def _wanted_header(self) -> RowLook:
        model, pieces = self._model, []
        for place in self.places:
            title, align, width = place.column.title, place.column.align, place.width
            text, tone = fit(title, width, align), Tone.PLAIN
            if place.index == model.sort_column:
                sign = signs.down if model.descending else signs.up
                tone = Tone.STRONG
                if align == "left" and cell_width(title) + 2 <= width:
                    text = fit(plain(f"{title} {sign}"), width)
                else:
                    # The first cell of the gap behind the column is the sign's: the title is whole.
                    text, width = plain(text + sign), width + 1
            pieces.append(Piece(place.x, width, text, tone))
        return RowLook(tuple(pieces))

    def _changes(self, before: RowLook, after: RowLook) -> list[tuple[int, int]]:
        """The stretches (x and width) of a line that differ; less than `WORTH_A_JUMP` cells
        between two of them are painted with them.
        """
        was, now = ([piece[:2] for piece in one.pieces] for one in (before, after))
        if was != now or before[3:] != after[3:]:
            return [(0, self.size.width - SCROLLBAR)]
        spans = [(0, GUTTER)] if before[1:3] != after[1:3] else []
        worth = WORTH_A_JUMP if PARTIAL_PAINT.replaced else self.size.width
        for old, new in zip(before.pieces, after.pieces, strict=True):
            if old == new:
                continue
            x, end = GUTTER + new.x, GUTTER + new.x + new.width
            if spans and x - sum(spans[-1]) < worth:
                x = spans.pop()[0]
            spans.append((x, end - x))
        return spans

    def strip(self, y: int, style_of: Callable[[Tone | str], Style]) -> Strip:
        """One line of the widget: the header, a row, or what is said in place of rows."""
        room, stale = self._room, self._view.stale and bool(self._model.shown)
        line = self._lines[y] if y < len(self._lines) else RowLook()
        width = GUTTER + room + SCROLLBAR
        if y == 0:
            header = style_of("table--header")
            titles = {Tone.PLAIN: header, Tone.STRONG: style_of("table--header-sorted")}
            spread = _spread(line.pieces, room + SCROLLBAR, header, titles.__getitem__)
            return _strip([(" " * GUTTER, header), *spread], width)

        def style(tone: Tone) -> Style:
            """The cursor's row has few: it is painted most often, and each change of style costs
            as much as a dozen letters.
            """
            if line.band:
                cursor = style_of("table--cursor")
                return cursor if stale or tone not in SEVERE else coloured(cursor, style_of(tone))
            dimmed = stale or (line.is_tombstone and tone is Tone.PLAIN)
            return style_of("table--stale" if dimmed else tone)

        ground, mark = style(Tone.PLAIN), style_of("table--mark")
        cursor = style_of("table--cursor-sign") if line.band else mark
        pieces = [
            (signs.cursor, cursor) if line.cursor else (" ", ground),
            (f"{signs.mark} ", ground if line.band else mark) if line.marked else ("  ", ground),
            *_spread(line.pieces, room, ground, style),
            (signs.bar_full if y in self._thumb else " ", style_of("table--scrollbar")),
        ]
        return _strip(pieces, width)


def lay_out(record: R, place: Placed[R]) -> Piece:
    """A record's cell cut and padded to its place."""
    column = place.column
    cell = column.drawn(record, place.width) if column.drawn else column.cell(record)
    return Piece(place.x, place.width, fit(cell.text, place.width, column.align), cell.tone)


def _spread(
    pieces: Iterable[Piece], room: int, ground: Style, style: Callable[[Tone], Style]
) -> Iterator[tuple[str, Style]]:
    """Pieces with the blanks between and behind them."""
    x = 0
    for piece in pieces:
        yield " " * (piece.x - x), ground
        yield piece.text, style(piece.tone)
        x = piece.x + piece.width
    yield " " * (room - x), ground


def _strip(parts: Iterable[tuple[str, Style]], width: int) -> Strip:
    """A strip of the parts, neighbours of one style in one segment: each segment costs bytes.

    Blanks take the style before them where only the letters' looks differ, for the same reason.
    """
    segments: list[Segment] = []
    text, style = "", Style.null()
    for part, wanted in parts:
        alike = wanted == style or (
            part.isspace()
            and wanted.bgcolor == style.bgcolor
            and not any(s.underline or s.reverse or s.strike for s in (wanted, style))
        )
        if text and alike:
            text += part
        elif part:
            segments.append(Segment(text, style))
            text, style = part, wanted
    segments.append(Segment(text, style))
    return Strip([segment for segment in segments if segment.text], width)
