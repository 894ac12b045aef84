"""What a text pane shows: headings, labelled fields and running text, broken to a width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from agentco_tui.text import SafeText, cell_width, fit, plain, signs, wrap
from agentco_tui.widgets.status_line import cut, lay_out
from agentco_tui.widgets.tones import Cell, Tone

Line = tuple[Cell, ...]

LABEL_WIDTH = 13
"""Columns of a field's label, the gap behind it included."""


class Heading(msgspec.Struct, frozen=True):
    """A line that names what follows."""

    text: SafeText


class Field(msgspec.Struct, frozen=True):
    """A label and what it says, broken over several lines where it must be."""

    label: SafeText
    value: SafeText
    tone: Tone = Tone.PLAIN
    label_width: int = LABEL_WIDTH


class Text(msgspec.Struct, frozen=True):
    """Running text, broken at the width and at its own line ends."""

    text: SafeText
    tone: Tone = Tone.PLAIN
    indent: int = 0


class Cells(msgspec.Struct, frozen=True):
    """One line of cells, cut at the width; `right` stands at the right edge."""

    left: tuple[Cell, ...]
    right: tuple[Cell, ...] = ()


class Gap(msgspec.Struct, frozen=True):
    """An empty line."""


class Rule(msgspec.Struct, frozen=True):
    """A thin line over the whole width."""


Item = Heading | Field | Text | Cells | Gap | Rule


def broken(items: Iterable[Item], width: int) -> list[Line]:
    """The items as lines of at most `width` columns."""
    lines: list[Line] = []
    for item in items:
        match item:
            case Heading(text):
                lines.append((Cell(fit(text, width), Tone.ACCENT),))
            case Field():
                lines.extend(_field(item, width))
            case Text(text, tone, indent):
                margin = plain(" " * indent)
                lines.extend(
                    (Cell(margin), Cell(line, tone)) for line in wrap(text, max(1, width - indent))
                )
            case Cells(left, right):
                lines.append(lay_out(left, right, width) if right else tuple(cut(left, width)))
            case Gap():
                lines.append(())
            case Rule():
                lines.append((Cell(plain(signs.rule * width), Tone.DIM),))
    return lines


def _field(field: Field, width: int) -> Sequence[Line]:
    label_width = min(field.label_width, width // 2)
    blank = Cell(plain(" " * label_width))
    gap = Cell(plain(" "))
    values = wrap(field.value, max(1, width - label_width)) or [plain("")]
    if cell_width(field.label) >= label_width:
        # A name that is too long for its column is not cut: it has lines of its own.
        above = [(Cell(line, Tone.DIM),) for line in wrap(field.label, width)]
        return [*above, *((blank, Cell(line, field.tone)) for line in values if line)]
    label = Cell(fit(field.label, label_width - 1), Tone.DIM)
    return [
        (label, gap, Cell(line, field.tone)) if first else (blank, Cell(line, field.tone))
        for first, line in ((at == 0, line) for at, line in enumerate(values))
    ]
