"""Turns a table into strips, and finds the cells that differ from those painted last.

`TablePainter` keeps how each line looked when it was last painted. The cells in which the new lines
differ are the only ones that go to the terminal, whatever happened to the rows in between. Rows
that are not on the screen cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import ceil
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
from agentco_tui.widgets.tones import Cell, Tone, coloured

GUTTER: Final = 3  # cells before the first column: the cursor, the mark and a blank
SCROLLBAR: Final = 1
"""Cells after the last column, always kept, so that the columns don't jump with the rows."""
SAMPLE: Final = 40
"""Rows that are looked at to find columns in which nothing is known."""
LEAST_NOTE: Final = 14
"""Cells of a note on a row, if there are so many."""
WORTH_A_JUMP: Final = 12
"""Unchanged cells between two changed ones at or above which moving over them costs less than
painting them."""


class Piece(NamedTuple):
    """A stretch of a line; `x` counts from the first column."""

    x: int
    width: int
    text: SafeText
    tone: Tone


class LaidOutRow(NamedTuple, Generic[R]):
    """A record's cells as they are in the columns, and their texts as long as they are.

    With a note, which takes the place of the first columns, there are no whole texts.
    """

    record: R
    pieces: tuple[Piece, ...]
    whole_texts: tuple[SafeText, ...] = ()
    note: Cell | None = None


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
    """Finds the fewest cells that changed, and draws the strips that show them.

    `text_instead` returns what is shown in place of rows if there are none.
    """

    def __init__(
        self, model: TableModel[R], view: Viewport, text_instead: Callable[[], SafeText]
    ) -> None:
        self.places: tuple[Placed[R], ...] = ()
        self._model = model
        self._view = view
        self._text_instead = text_instead
        self.size = Size(0, 0)
        """The size for which it was last painted."""
        self._room = 0
        """Cells for columns."""
        self._lines: list[RowLook] = []
        """The header and the rows as they were last painted."""
        self._thumb = range(0)
        """The lines of the scroll bar's thumb."""
        self._awaits = False
        """Whether a column is left out until something is known in it."""
        self.laid_out: dict[str, LaidOutRow[R]] = {}
        """The rows on the screen by their ids."""
        self._header = RowLook()
        """The titles of the columns, as long as `_header_shows` is what they are to show."""
        self._header_shows: tuple[tuple[Placed[R], ...], int | None, bool] | None = None

    def forget(self) -> None:
        """Paint everything at the next update."""
        self._lines = []

    def rearrange(self) -> None:
        """Arrange the columns again.

        Where there is too little room, those in which nothing is known are left out first, judged
        by rows from all over the table.
        """
        model = self._model
        sample: list[Any] = [
            model.record(i) for i in model.shown[:: len(model.shown) // SAMPLE + 1]
        ]
        unknown = {
            index
            for index, column in enumerate(model.columns)
            if column.priority and not column.uses_clock and index != model.sort_column
            if sample or column.hidden_while_empty
            if all(column.cell(record).text.strip() == signs.missing for record in sample)
        }
        self._awaits = any(model.columns[index].hidden_while_empty for index in unknown)
        self.places = arrange(model.columns, self._room, unknown, self._view.chosen_columns)
        self.laid_out.clear()

    def reread_rows(self, row_ids: Iterable[str]) -> None:
        """Read the cells of these rows again, also where their record is the same object."""
        for row_id in row_ids:
            self.laid_out.pop(row_id, None)

    def reread_all(self) -> None:
        """Read all cells on the screen again; show a column in which something is known now."""
        self.laid_out.clear()
        if self._awaits:
            self.rearrange()

    def update(self, size: Size) -> list[Region]:
        """Work out how everything looks now; return the regions that look different."""
        if size != self.size:
            self.size = size
            self._room = max(0, size.width - GUTTER - SCROLLBAR)
            self.rearrange()
        lines = [self._wanted_header(), *self._wanted_rows()]
        thumb = self._wanted_thumb(size.height - 1)
        regions: list[Region] = []
        if len(lines) != len(self._lines):
            regions.append(Region(0, 0, size.width, size.height))
        else:
            for y, (before, after) in enumerate(zip(self._lines, lines, strict=True)):
                if before != after:
                    regions += [Region(x, y, w, 1) for x, w in self._changes(before, after)]
                if (y in self._thumb) != (y in thumb):
                    regions.append(Region(size.width - SCROLLBAR, y, SCROLLBAR, 1))
        self._lines = lines
        self._thumb = thumb
        return regions

    def _wanted_thumb(self, height: int) -> range:
        """Return the lines of the scroll bar's thumb; none if all rows fit in the height."""
        count = len(self._model.shown)
        if not 0 < height < count:
            return range(0)
        length = max(1, height * height // count)
        room = height - length
        last_top = count - height
        top = self._view.top
        # At an end only if the view is.
        furthest = room if top >= last_top else room - 1
        start = max(0, min(ceil(top * room / last_top), furthest))
        return range(1 + start, 1 + start + length)

    def update_clock_cells(self) -> None:
        """Read the cells on the screen again that depend on the clock."""
        ticking = [index for index, place in enumerate(self.places) if place.column.uses_clock]
        if not ticking:
            return
        for row_id, row in tuple(self.laid_out.items()):
            if row.note is not None:
                del self.laid_out[row_id]
                continue
            pieces = list(row.pieces)
            whole_texts = list(row.whole_texts)
            for index in ticking:
                pieces[index], whole_texts[index] = lay_out(row.record, self.places[index])
            self.laid_out[row_id] = LaidOutRow(row.record, tuple(pieces), tuple(whole_texts))

    def _wanted_rows(self) -> list[RowLook]:
        view = self._view
        height = max(0, self.size.height - 1)
        visible = self._model.shown[view.top : view.top + height]
        lines: list[RowLook] = []
        rows: dict[str, LaidOutRow[R]] = {}
        records = self._model.records_of(visible)
        tombstones = self._model.tombstones_of(visible)
        for index, row_id in enumerate(visible, view.top):
            record = records[row_id]
            tombstone = tombstones.get(row_id)
            note = tombstone or view.annotations.get(row_id)
            row = self.laid_out.get(row_id)
            if row is None or row.record is not record or row.note != note:
                row = self._lay_out_row(record, note)
            rows[row_id] = row
            has_cursor = index == view.cursor_index
            is_band = has_cursor and not view.thin
            is_marked = row_id in view.marks
            is_gone = tombstone is not None
            lines.append(RowLook(row.pieces, has_cursor, is_marked, is_band, is_gone))
        self.laid_out = rows
        self._tell_apart(visible, lines)
        if not visible and height:
            text = fit(self._text_instead(), self._room)
            tone = Tone.GOOD if text.startswith(signs.good) else Tone.DIM
            lines.append(RowLook((Piece(0, self._room, text, tone),)))
        return lines + [RowLook()] * (height - len(lines))

    def _lay_out_row(self, record: R, note: Cell | None) -> LaidOutRow[R]:
        """Return all cells of a record, the first of them replaced by its note if it has one."""
        if note is not None:
            return LaidOutRow(record, self._lay_out_with_note(record, note), note=note)
        pieces: list[Piece] = []
        whole_texts: list[SafeText] = []
        for place in self.places:
            piece, whole_text = lay_out(record, place)
            pieces.append(piece)
            whole_texts.append(whole_text)
        return LaidOutRow(record, tuple(pieces), tuple(whole_texts))

    def _lay_out_with_note(self, record: R, note: Cell) -> tuple[Piece, ...]:
        """Return a row whose first columns give way to a note.

        They do up to the first column that grows, whose text follows the note. A long note leaves
        a third of the room for that text, so that one sees which record it is about.
        """
        places = self.places
        last = len(places) - 1
        for index, place in enumerate(places):
            if place.column.grow and place.x + place.width >= LEAST_NOTE:
                last = index
                break
        width = places[last].x + places[last].width
        text = places[last].column.cell(record).text.strip()
        kept = plain(f" {signs.separator} {text}")
        note_width = min(cell_width(note.text), width - min(cell_width(kept), width // 3))
        kept_width = width - note_width
        return (
            Piece(0, note_width, fit(note.text, note_width), note.tone),
            Piece(note_width, kept_width, fit(kept, kept_width), Tone.PLAIN),
            *(lay_out(record, place)[0]._replace(tone=Tone.PLAIN) for place in places[last + 1 :]),
        )

    def _tell_apart(self, visible: list[str], lines: list[RowLook]) -> None:
        """Show the ends of different texts of a column that are cut to the same."""
        rows = [(y, self.laid_out[row_id]) for y, row_id in enumerate(visible)]
        for index, place in enumerate(self.places):
            whole_texts_by_cut = dict[str, dict[int, SafeText]]()
            for y, row in rows:
                if row.note is None and signs.ellipsis in row.pieces[index].text[-2:]:
                    same_cut = whole_texts_by_cut.setdefault(row.pieces[index].text, {})
                    same_cut[y] = row.whole_texts[index]
            for whole_texts in whole_texts_by_cut.values():
                if len(set(whole_texts.values())) < 2:
                    continue
                for y, text in whole_texts.items():
                    pieces = list(lines[y].pieces)
                    pieces[index] = pieces[index]._replace(text=fit_ends(text, place.width))
                    lines[y] = lines[y]._replace(pieces=tuple(pieces))

    def _wanted_header(self) -> RowLook:
        shows = (self.places, self._model.sort_column, self._model.descending)
        if shows != self._header_shows:
            self._header_shows = shows
            self._header = RowLook(tuple([self._title_piece(place) for place in self.places]))
        return self._header

    def _title_piece(self, place: Placed[R]) -> Piece:
        """Return the title of a column, with the sign of the order if it is sorted by it."""
        title = place.column.title
        align = place.column.align
        if place.index != self._model.sort_column:
            return Piece(place.x, place.width, fit(title, place.width, align), Tone.PLAIN)
        sign = signs.down if self._model.descending else signs.up
        if align == "left" and cell_width(title) + 2 <= place.width:
            text = fit(plain(f"{title} {sign}"), place.width)
            return Piece(place.x, place.width, text, Tone.STRONG)
        # The sign takes the first cell of the gap behind the column, so that the title is whole.
        text = plain(fit(title, place.width, align) + sign)
        return Piece(place.x, place.width + 1, text, Tone.STRONG)

    def _changes(self, before: RowLook, after: RowLook) -> list[tuple[int, int]]:
        """Return the stretches of a line that differ, each with its first cell and its width.

        Stretches with fewer than `WORTH_A_JUMP` cells between them become one.
        """
        places_before = [(piece.x, piece.width) for piece in before.pieces]
        places_after = [(piece.x, piece.width) for piece in after.pieces]
        same_ground = before.band == after.band and before.is_tombstone == after.is_tombstone
        if places_before != places_after or not same_ground:
            return [(0, self.size.width - SCROLLBAR)]
        spans: list[tuple[int, int]] = []
        if (before.cursor, before.marked) != (after.cursor, after.marked):
            spans.append((0, GUTTER))
        worth = WORTH_A_JUMP if PARTIAL_PAINT.replaced else self.size.width
        for old, new in zip(before.pieces, after.pieces, strict=True):
            if old == new:
                continue
            x = GUTTER + new.x
            end = x + new.width
            if spans and x - sum(spans[-1]) < worth:
                x = spans.pop()[0]
            spans.append((x, end - x))
        return spans

    def strip(self, y: int, style_of: Callable[[Tone | str], Style]) -> Strip:
        """Return one line of the widget: the header, a row, or the text in place of rows."""
        room = self._room
        stale = self._view.stale and bool(self._model.shown)
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

        ground = style(Tone.PLAIN)
        mark = style_of("table--mark")
        cursor = style_of("table--cursor-sign") if line.band else mark
        pieces = [
            (signs.cursor, cursor) if line.cursor else (" ", ground),
            (f"{signs.mark} ", ground if line.band else mark) if line.marked else ("  ", ground),
            *_spread(line.pieces, room, ground, style),
            (signs.bar_full if y in self._thumb else " ", style_of("table--scrollbar")),
        ]
        return _strip(pieces, width)


def lay_out(record: R, place: Placed[R]) -> tuple[Piece, SafeText]:
    """Return a record's cell, cut and padded to its place, and its text as long as it is."""
    column = place.column
    cell = (
        column.cell_for_width(record, place.width) if column.cell_for_width else column.cell(record)
    )
    text = fit(cell.text, place.width, column.align)
    return Piece(place.x, place.width, text, cell.tone), cell.text


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
