"""Draws a table's lines, and finds the cells that differ from those painted last.

`TablePainter` keeps each line as it was last painted. `RecordTable` (widget.py) calls `update`
after every change: it lays out the visible rows again and returns the regions in which they differ,
and only these go to the terminal, whatever happened to the rows in between. Textual then asks for
the strips of those lines. Rows that are not visible cost nothing.

A *piece* is a stretch of a line in one tone, for which the theme has a colour; a *note* is a text
that replaces the first cells of a row, on a tombstone (a row whose record was removed) or where the
program annotates a row. `fit` pads or cuts a text to a width. `signs` has the characters that are
drawn: `signs.missing` is the dash of a cell without a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import ceil, inf
from typing import Any, Final, Generic, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip

from agentco_tui.text import SafeText, cell_width, fit, mark_safe, signs
from agentco_tui.text.width import fit_ends
from agentco_tui.textual_patches.registry import PARTIAL_PAINT
from agentco_tui.widgets.table.layout import Placed, R, arrange
from agentco_tui.widgets.table.model import TableModel
from agentco_tui.widgets.table.viewport import Viewport
from agentco_tui.widgets.tones import Cell, Tone, with_readable_colour

GUTTER: Final = 3  # cells before the first column: the cursor, the mark and a blank
SCROLLBAR: Final = 1
"""Cells behind the last column. They are always kept, so that a scroll bar moves no column."""
SAMPLE_ROWS: Final = 40
"""Rows that are examined to find columns without any value."""
MIN_NOTE_WIDTH: Final = 14
"""Cells that a note gets, if the row is as wide."""
JUMP_WIDTH: Final = 12
"""Unchanged cells between two changed ones from which moving the terminal's cursor over them costs
fewer bytes than painting them."""


class Piece(NamedTuple):
    """A stretch of a line; `x` counts from the first column."""

    x: int
    width: int
    text: SafeText
    tone: Tone


class LaidOutRow(NamedTuple, Generic[R]):
    """The cells of a record, fitted to the columns, or a note in place of the first of them."""

    record: R
    pieces: tuple[Piece, ...]
    whole_texts: tuple[SafeText, ...] = ()
    """The texts before they were cut to the width of their columns; none in a row with a note."""
    note: Cell | None = None
    changes_at: float = -inf
    """When the clock changes one of the cells, in seconds since 1970."""


class LineLook(NamedTuple):
    """Everything that decides how a line is painted: the header, a row, or the placeholder."""

    pieces: tuple[Piece, ...] = ()
    has_cursor: bool = False
    is_marked: bool = False
    is_highlighted: bool = False
    """Whether the whole row has the cursor's colours, and not only the cursor's sign."""
    is_tombstone: bool = False
    """Whether the record was removed: texts without a tone of their own are dimmed."""


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
"""Tones that keep their colour in the cursor's row, too."""


class TablePainter(Generic[R]):
    """Finds the fewest cells that changed, and draws the strips that show them."""

    def __init__(
        self, model: TableModel[R], view: Viewport, placeholder: Callable[[], SafeText]
    ) -> None:
        """`placeholder` returns the text that is shown in place of rows if there are none."""
        self.places: tuple[Placed[R], ...] = ()
        """The visible columns."""
        self._model = model
        self._view = view
        self._placeholder = placeholder
        self.size = Size(0, 0)
        """The size for which the lines were laid out last."""
        self._columns_width = 0
        """Cells for the columns."""
        self._lines: list[LineLook] = []
        """The header and the rows as they were last painted."""
        self._thumb = range(0)
        """The lines of the scroll bar's thumb."""
        self._hides_empty_columns = False
        """Whether a column is hidden until a record has a value in it."""
        self.laid_out: dict[str, LaidOutRow[R]] = {}
        """The visible rows, by their ids."""
        self._clock_read_at = -inf
        """When cells that depend on the clock were last read, in seconds since 1970."""
        self._header = LineLook()
        self._header_shows: tuple[tuple[Placed[R], ...], int | None, bool] | None = None
        """Columns, sort column and direction for which `_header` was laid out."""

    def repaint_all(self) -> None:
        """Paint everything at the next update."""
        self._lines = []

    def rearrange(self) -> None:
        """Arrange the columns again, and lay out all rows at the next update.

        If there is too little room, columns without any value are hidden first, judged by rows from
        all over the table.
        """
        model = self._model
        step = len(model.shown) // SAMPLE_ROWS + 1
        sample: list[Any] = [model.record(row_id) for row_id in model.shown[::step]]
        unknown: set[int] = set()
        for index, column in enumerate(model.columns):
            may_be_hidden = column.priority and not column.uses_clock
            if not may_be_hidden or index == model.sort_column:
                continue
            if not sample and not column.hidden_while_empty:
                continue
            if all(column.cell(record).text.strip() == signs.missing for record in sample):
                unknown.add(index)
        self._hides_empty_columns = any(
            model.columns[index].hidden_while_empty for index in unknown
        )
        self.places = arrange(
            model.columns,
            self._columns_width,
            unknown,
            self._view.chosen_columns,
            self._view.needed_columns,
        )
        self.laid_out.clear()

    def reread_rows(self, row_ids: Iterable[str]) -> None:
        """Read the cells of these rows again at the next update, even if the record is the same."""
        for row_id in row_ids:
            self.laid_out.pop(row_id, None)

    def reread_all(self) -> None:
        """Read all visible cells again at the next update; show columns that have a value now."""
        self.laid_out.clear()
        if self._hides_empty_columns:
            self.rearrange()

    def update(self, size: Size) -> list[Region]:
        """Lay out everything again, and return the regions that look different now."""
        if size != self.size:
            self.size = size
            self._columns_width = max(0, size.width - GUTTER - SCROLLBAR)
            self.rearrange()
        lines = [self._lay_out_header(), *self._lay_out_rows()]
        thumb = self._thumb_lines(size.height - 1)
        regions: list[Region] = []
        if len(lines) != len(self._lines):
            regions.append(Region(0, 0, size.width, size.height))
        else:
            for y, (before, after) in enumerate(zip(self._lines, lines, strict=True)):
                if before != after:
                    regions += [Region(x, y, width, 1) for x, width in self._changes(before, after)]
                if (y in self._thumb) != (y in thumb):
                    regions.append(Region(size.width - SCROLLBAR, y, SCROLLBAR, 1))
        self._lines = lines
        self._thumb = thumb
        return regions

    def _thumb_lines(self, height: int) -> range:
        """Return the lines of the scroll bar's thumb; none if all rows fit in the height."""
        count = len(self._model.shown)
        if not 0 < height < count:
            return range(0)
        length = max(1, height * height // count)
        room = height - length
        max_top = count - height
        top = self._view.top
        # The thumb is at an end only if the view is.
        furthest = room if top >= max_top else room - 1
        start = max(0, min(ceil(top * room / max_top), furthest))
        return range(1 + start, 1 + start + length)

    def update_clock_cells(self, now: float) -> bool:
        """Read the visible cells again that the clock has changed by `now`; False if none has."""
        clock_columns = [
            index for index, place in enumerate(self.places) if place.column.uses_clock
        ]
        is_time_back = now < self._clock_read_at  # as a replay may go
        self._clock_read_at = now
        if not clock_columns:
            return False
        due = [
            (row_id, row)
            for row_id, row in self.laid_out.items()
            if row.changes_at <= now or is_time_back
        ]
        for row_id, row in due:
            if row.note is not None:
                del self.laid_out[row_id]
                continue
            pieces = list(row.pieces)
            whole_texts = list(row.whole_texts)
            for index in clock_columns:
                pieces[index], whole_texts[index] = lay_out(row.record, self.places[index])
            changes_at = self._clock_changes_at(row.record)
            self.laid_out[row_id] = LaidOutRow(
                row.record, tuple(pieces), tuple(whole_texts), changes_at=changes_at
            )
        return bool(due)

    def _clock_changes_at(self, record: R) -> float:
        """Return when the clock changes a cell of a record; -inf if a column cannot say."""
        changes_at = inf
        for place in self.places:
            column = place.column
            if not column.uses_clock:
                continue
            if column.changes_at is None:
                return -inf
            changes_at = min(changes_at, column.changes_at(record))
        return changes_at

    def _lay_out_rows(self) -> list[LineLook]:
        view = self._view
        height = max(0, self.size.height - 1)
        visible = self._model.shown[view.top : view.top + height]
        lines: list[LineLook] = []
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
            is_highlighted = has_cursor and not view.thin
            is_marked = row_id in view.marks
            is_gone = tombstone is not None
            lines.append(LineLook(row.pieces, has_cursor, is_marked, is_highlighted, is_gone))
        self.laid_out = rows
        self._show_ends_of_alike(visible, lines)
        if not visible and height:
            text = fit(self._placeholder(), self._columns_width)
            tone = Tone.GOOD if text.startswith(signs.good) else Tone.DIM
            lines.append(LineLook((Piece(0, self._columns_width, text, tone),)))
        return lines + [LineLook()] * (height - len(lines))

    def _lay_out_row(self, record: R, note: Cell | None) -> LaidOutRow[R]:
        """Return all cells of a record, with the note in place of the first of them, if any."""
        if note is not None:
            return LaidOutRow(record, self._lay_out_with_note(record, note), note=note)
        pieces: list[Piece] = []
        whole_texts: list[SafeText] = []
        for place in self.places:
            piece, whole_text = lay_out(record, place)
            pieces.append(piece)
            whole_texts.append(whole_text)
        changes_at = self._clock_changes_at(record)
        return LaidOutRow(record, tuple(pieces), tuple(whole_texts), changes_at=changes_at)

    def _lay_out_with_note(self, record: R, note: Cell) -> tuple[Piece, ...]:
        """Return a row with a note in place of its first columns.

        It replaces all up to the first column that grows, whose text follows it. A long note leaves
        a third of the room to that text, so that the user sees which record it is about.
        """
        places = self.places
        last = len(places) - 1
        for index, place in enumerate(places):
            if place.column.grow and place.x + place.width >= MIN_NOTE_WIDTH:
                last = index
                break
        width = places[last].x + places[last].width
        text = places[last].column.cell(record).text.strip()
        subject = mark_safe(f" {signs.separator} {text}")
        subject_width = min(cell_width(subject), width // 3)
        note_width = min(cell_width(note.text), width - subject_width)
        subject_width = width - note_width
        rest = [lay_out(record, place)[0]._replace(tone=Tone.PLAIN) for place in places[last + 1 :]]
        return (
            Piece(0, note_width, fit(note.text, note_width), note.tone),
            Piece(note_width, subject_width, fit(subject, subject_width), Tone.PLAIN),
            *rest,
        )

    def _show_ends_of_alike(self, visible: list[str], lines: list[LineLook]) -> None:
        """Show the ends of texts of a column that differ, but look the same when they are cut."""
        rows = [(y, self.laid_out[row_id]) for y, row_id in enumerate(visible)]
        for index, place in enumerate(self.places):
            whole_texts_by_cut: dict[str, dict[int, SafeText]] = {}
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

    def _lay_out_header(self) -> LineLook:
        shows = (self.places, self._model.sort_column, self._model.descending)
        if shows != self._header_shows:
            self._header_shows = shows
            self._header = LineLook(tuple([self._title_piece(place) for place in self.places]))
        return self._header

    def _title_piece(self, place: Placed[R]) -> Piece:
        """Return the title of a column, with an arrow if the table is sorted by it."""
        title = place.column.title
        align = place.column.align
        if place.index != self._model.sort_column:
            return Piece(place.x, place.width, fit(title, place.width, align), Tone.PLAIN)
        sign = signs.down if self._model.descending else signs.up
        if align == "left" and cell_width(title) + 2 <= place.width:
            text = fit(mark_safe(f"{title} {sign}"), place.width)
            return Piece(place.x, place.width, text, Tone.STRONG)
        # The arrow takes the first cell of the gap behind the column, so that the title is not cut.
        text = mark_safe(fit(title, place.width, align) + sign)
        return Piece(place.x, place.width + 1, text, Tone.STRONG)

    def _changes(self, before: LineLook, after: LineLook) -> list[tuple[int, int]]:
        """Return the stretches of a line that differ, each with its first cell and its width.

        Stretches with fewer than `JUMP_WIDTH` cells between them become one.
        """
        places_before = [(piece.x, piece.width) for piece in before.pieces]
        places_after = [(piece.x, piece.width) for piece in after.pieces]
        has_same_colours = (
            before.is_highlighted == after.is_highlighted
            and before.is_tombstone == after.is_tombstone
        )
        if places_before != places_after or not has_same_colours:
            return [(0, self.size.width - SCROLLBAR)]
        spans: list[tuple[int, int]] = []
        if before.has_cursor != after.has_cursor or before.is_marked != after.is_marked:
            spans.append((0, GUTTER))
        # Textual's own way of painting a span writes everything to its left, too, unless our patch
        # PARTIAL_PAINT has replaced it.
        jump_width = JUMP_WIDTH if PARTIAL_PAINT.replaced else self.size.width
        for old, new in zip(before.pieces, after.pieces, strict=True):
            if old == new:
                continue
            start, width = _changed_cells(old, new)
            x = GUTTER + start
            end = x + width
            if spans:
                last_x, last_width = spans[-1]
                if x - (last_x + last_width) < jump_width:
                    spans.pop()
                    x = last_x
            spans.append((x, end - x))
        return spans

    def strip(self, y: int, style_of: Callable[[Tone | str], Style]) -> Strip:
        """Return one line of the widget: the header, a row, or the placeholder.

        `style_of` returns the style of a tone, or of a component class.
        """
        line = self._lines[y] if y < len(self._lines) else LineLook()
        if y == 0:
            return self._header_strip(line, style_of)
        is_stale = self._view.stale and bool(self._model.shown)

        def row_style(tone: Tone) -> Style:
            dimmed = is_stale or (line.is_tombstone and tone is Tone.PLAIN)
            return style_of("table--stale" if dimmed else tone)

        def cursor_row_style(tone: Tone) -> Style:
            """Few different styles: the cursor's row is painted most often, and each change of
            style costs as much as a dozen letters.
            """
            cursor = style_of("table--cursor")
            if is_stale or tone not in SEVERE:
                return cursor
            return with_readable_colour(cursor, style_of(tone))

        style = cursor_row_style if line.is_highlighted else row_style
        ground = style(Tone.PLAIN)
        mark_style = style_of("table--mark")
        cursor_style = style_of("table--cursor-sign") if line.is_highlighted else mark_style
        cursor = (signs.cursor, cursor_style) if line.has_cursor else (" ", ground)
        mark = ("  ", ground)
        if line.is_marked:
            mark = (f"{signs.mark} ", ground if line.is_highlighted else mark_style)
        thumb = signs.bar_full if y in self._thumb else " "
        parts = [
            cursor,
            mark,
            *_with_blanks(line.pieces, self._columns_width, ground, style),
            (thumb, style_of("table--scrollbar")),
        ]
        return _join_parts(parts, GUTTER + self._columns_width + SCROLLBAR)

    def _header_strip(self, line: LineLook, style_of: Callable[[Tone | str], Style]) -> Strip:
        plain_style = style_of("table--header")
        styles = {Tone.PLAIN: plain_style, Tone.STRONG: style_of("table--header-sorted")}
        width = self._columns_width + SCROLLBAR
        titles = _with_blanks(line.pieces, width, plain_style, styles.__getitem__)
        return _join_parts([(" " * GUTTER, plain_style), *titles], GUTTER + width)


def lay_out(record: R, place: Placed[R]) -> tuple[Piece, SafeText]:
    """Return a record's cell, fitted to a column, and its whole text."""
    column = place.column
    if column.cell_for_width:
        cell = column.cell_for_width(record, place.width)
    else:
        cell = column.cell(record)
    text = fit(cell.text, place.width, column.align)
    return Piece(place.x, place.width, text, cell.tone), cell.text


def _changed_cells(old: Piece, new: Piece) -> tuple[int, int]:
    """Return the first cell that differs between two pieces at one place, and how many follow it.

    Only of ASCII texts it is certain that each character is one cell, whatever it stands beside.
    """
    is_comparable = old.tone == new.tone and len(old.text) == len(new.text)
    if not (is_comparable and old.text.isascii() and new.text.isascii()):
        return new.x, new.width
    different = [
        index
        for index, (before, after) in enumerate(zip(old.text, new.text, strict=True))
        if before != after
    ]
    if not different:
        return new.x, new.width
    first = different[0]
    last = different[-1]
    return new.x + first, last - first + 1


def _with_blanks(
    pieces: Iterable[Piece], width: int, ground: Style, style: Callable[[Tone], Style]
) -> Iterator[tuple[str, Style]]:
    """Yield the texts of pieces with their styles, and the blanks between and behind them."""
    x = 0
    for piece in pieces:
        yield " " * (piece.x - x), ground
        yield piece.text, style(piece.tone)
        x = piece.x + piece.width
    yield " " * (width - x), ground


def _join_parts(parts: Iterable[tuple[str, Style]], width: int) -> Strip:
    """Return a strip of the parts, with as few segments as possible: each one costs bytes.

    Neighbours of one style become one segment, and so do blanks that would look the same in the
    style before them.
    """
    segments: list[Segment] = []
    text = ""
    style = Style.null()
    for part, part_style in parts:
        looks_the_same = part_style == style or (
            part.isspace()
            and part_style.bgcolor == style.bgcolor
            and not _shows_on_blanks(part_style)
            and not _shows_on_blanks(style)
        )
        if text and looks_the_same:
            text += part
        elif part:
            segments.append(Segment(text, style))
            text = part
            style = part_style
    segments.append(Segment(text, style))
    return Strip([segment for segment in segments if segment.text], width)


def _shows_on_blanks(style: Style) -> bool:
    return bool(style.underline or style.reverse or style.strike)
