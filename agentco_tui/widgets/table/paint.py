"""How the rows of a record table become strips, and which cells of two pictures differ.

A `Look` is all that decides how one line of the table looks. The table keeps the looks it last
asked to be painted; comparing them with the new ones gives the few cells that have to go to the
terminal, whatever happened to the rows in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agentco_tui.text import SafeText, cell_width, fit, plain, signs
from agentco_tui.widgets.table.layout import Column, Layout
from agentco_tui.widgets.tones import Cell, Tone

GUTTER: Final = 3
"""Cells before the first column: the cursor, the mark and a blank."""
SCROLLBAR: Final = 1
"""Cells after the last column, always kept, so that the columns don't jump with the rows."""


class Piece(NamedTuple):
    """A stretch of a line: where it starts, how wide it is, its text, its tone."""

    x: int
    width: int
    text: SafeText
    tone: Tone


class Look(NamedTuple):
    """All that decides how a row looks."""

    pieces: tuple[Piece, ...]
    cursor: bool = False
    marked: bool = False
    band: bool = False
    """True if the whole row is painted as the cursor's, not only the sign before it."""
    ghost: bool = False


EMPTY: Final = Look(())


@dataclass(frozen=True)
class Palette:
    """The styles in use, worked out once for a theme."""

    tones: dict[Tone, Style]
    cursor: Style
    cursor_tones: dict[Tone, Style]
    """Those of the cursor's row that differ: what is wrong stays to be seen."""
    cursor_sign: Style
    """The sign before a cursor row that is painted whole; `mark` is that of one that isn't."""
    mark: Style
    header: Style
    header_sorted: Style
    scrollbar: Style
    dimmed: Style
    """What rows, ghosts and all, look like while the table is stale."""

    def sign(self, look: Look) -> Style:
        """The style of the cursor's sign."""
        return self.cursor_sign if look.band else self.mark

    def of(self, tone: Tone, look: Look, stale: bool) -> Style:
        """The style of a piece of a row. The cursor's row has few: it is painted most often, and
        each change of style costs as much as a dozen letters.
        """
        if look.band:
            return self.cursor if stale else self.cursor_tones.get(tone, self.cursor)
        if stale or (look.ghost and tone is Tone.PLAIN):
            return self.dimmed
        return self.tones[tone]


def lay_out(
    cells: Sequence[Cell], columns: Sequence[Column[Any]], layout: Layout
) -> tuple[Piece, ...]:
    """The cells of the columns shown, cut and padded to their places."""
    return tuple(
        Piece(x, width, fit(cell.text, width, columns[index].align), cell.tone)
        for (index, x, width), cell in zip(
            ((placed.index, placed.x, placed.width) for placed in layout.columns),
            cells,
            strict=True,
        )
    )


def lay_out_ghost(
    cells: Sequence[Cell], note: Cell, columns: Sequence[Column[Any]], layout: Layout
) -> tuple[Piece, ...]:
    """As `lay_out`, but what became of the record stands where its first columns were, up to the
    one that grows, whose text follows it.
    """
    places = layout.columns
    last = next((at for at, placed in enumerate(places) if columns[placed.index].grow), 0)
    width = places[last].x + places[last].width
    said = min(width, cell_width(note.text))
    title = plain(f" {signs.separator} {cells[last].text.strip()}")
    rest = lay_out(cells[last + 1 :], columns, Layout(places[last + 1 :], layout.width))
    return (
        Piece(0, said, fit(note.text, said), note.tone),
        Piece(said, width - said, fit(title, width - said), Tone.PLAIN),
        *(piece._replace(tone=Tone.PLAIN) for piece in rest),
    )


def header(
    columns: Sequence[Column[Any]], layout: Layout, sorted_by: int | None, descending: bool
) -> tuple[Piece, ...]:
    """The titles, the one sorted by with its sign."""
    pieces = []
    for placed in layout.columns:
        column = columns[placed.index]
        width = cell_width(column.title)
        if placed.index != sorted_by:
            text = fit(column.title, placed.width, column.align)
            pieces.append(Piece(placed.x, placed.width, text, Tone.PLAIN))
            continue
        sign = signs.down if descending else signs.up
        if column.align == "left" and width + 2 <= placed.width:
            text = fit(plain(f"{column.title} {sign}"), placed.width)
            pieces.append(Piece(placed.x, placed.width, text, Tone.STRONG))
        else:
            # The first cell of the gap behind the column is the sign's, so the title stays whole.
            text = plain(fit(column.title, placed.width, column.align) + sign)
            pieces.append(Piece(placed.x, placed.width + 1, text, Tone.STRONG))
    return tuple(pieces)


def changes(before: Look, after: Look) -> list[tuple[int, int]] | None:
    """The stretches (x and width among the columns) that differ; None if the whole line does.

    The gutter, left of the columns, is the stretch that starts at -GUTTER.
    """
    if before[3:] != after[3:] or len(before.pieces) != len(after.pieces):
        return None
    spans: list[tuple[int, int]] = []
    if before[1:3] != after[1:3]:
        spans.append((-GUTTER, GUTTER))
    for old, new in zip(before.pieces, after.pieces, strict=True):
        if old == new:
            continue
        if old.x != new.x or old.width != new.width:
            return None
        spans.append((new.x, new.width))
    return spans


def joined_spans(spans: Iterable[tuple[int, int]], worth: int) -> list[tuple[int, int]]:
    """Spans (left and right edge, from left to right) of some width, in one where less than
    `worth` cells lie between.
    """
    joined: list[tuple[int, int]] = []
    for left, right in spans:
        if left >= right:
            continue
        if joined and left - joined[-1][1] < worth:
            joined[-1] = (joined[-1][0], right)
        else:
            joined.append((left, right))
    return joined


def paint(
    look: Look, palette: Palette, *, stale: bool, room: int, scrolled: int, scrollbar: bool
) -> Strip:
    """The strip of a row: gutter, columns scrolled sideways by `scrolled`, scroll bar."""
    ground = palette.of(Tone.PLAIN, look, stale)
    sign = palette.sign(look) if look.cursor else ground
    mark = palette.mark if look.marked and not look.band else ground
    parts = [
        (signs.cursor if look.cursor else " ", sign),
        (f"{signs.mark} " if look.marked else "  ", mark),
        *_columns(look, palette, stale, room, scrolled),
        (signs.bar_full if scrollbar else " ", palette.scrollbar),
    ]
    return _strip(parts, GUTTER + room + SCROLLBAR)


def paint_header(pieces: tuple[Piece, ...], palette: Palette, room: int, scrolled: int) -> Strip:
    """The strip of the header."""
    parts: list[tuple[str, Style]] = []
    x = 0
    for piece in pieces:
        style = palette.header_sorted if piece.tone is Tone.STRONG else palette.header
        parts.append((" " * (piece.x - x), palette.header))
        parts.append((piece.text, style))
        x = piece.x + piece.width
    end = scrolled + room + SCROLLBAR
    strip = _strip(parts, x).crop_extend(scrolled, end, palette.header)
    return Strip([Segment(" " * GUTTER, palette.header), *strip], GUTTER + room + SCROLLBAR)


def paint_text(text: SafeText, palette: Palette, room: int) -> Strip:
    """A line that says something in place of rows."""
    style = palette.tones[Tone.DIM]
    return _strip(
        [(" " * GUTTER, style), (fit(text, room + SCROLLBAR), style)], GUTTER + room + SCROLLBAR
    )


def _columns(
    look: Look, palette: Palette, stale: bool, room: int, scrolled: int
) -> Iterator[tuple[str, Style]]:
    """The columns' texts and styles, exactly `room` cells of them."""
    plain_style = palette.of(Tone.PLAIN, look, stale)
    x = 0
    parts: list[tuple[str, Style]] = []
    for piece in look.pieces:
        if piece.x > x:
            parts.append((" " * (piece.x - x), plain_style))
        parts.append((piece.text, palette.of(piece.tone, look, stale)))
        x = piece.x + piece.width
    if not scrolled and x <= room:
        yield from parts
        if x < room:
            yield " " * (room - x), plain_style
        return
    cut = _strip(parts, x).crop_extend(scrolled, scrolled + room, plain_style)
    yield from ((segment.text, segment.style or plain_style) for segment in cut)


def _strip(parts: Sequence[tuple[str, Style]], width: int) -> Strip:
    """A strip of the parts, neighbours of one style in one segment: each segment costs bytes.

    Blanks take the style before them where only the letters' looks differ, for the same reason.
    """
    segments: list[Segment] = []
    text, style = "", None
    for part, wanted in parts:
        if not part:
            continue
        if style is not None and (
            wanted == style or (_only_blank(part) and _same_ground(wanted, style))
        ):
            text += part
        else:
            if style is not None:
                segments.append(Segment(text, style))
            text, style = part, wanted
    if style is not None:
        segments.append(Segment(text, style))
    return Strip(segments, width)


def _only_blank(text: str) -> bool:
    return not text.strip(" ")


def _same_ground(one: Style, other: Style) -> bool:
    """True if a blank looks the same in both styles."""
    return one.bgcolor == other.bgcolor and not (
        one.underline
        or other.underline
        or one.reverse
        or other.reverse
        or one.strike
        or other.strike
    )
