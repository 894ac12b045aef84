"""What a record table is made of: tones, cells and columns. Data only, no Textual.

A column says everything the table needs to know about one field of a record: what to show, how
wide, what goes first when it gets narrow, how to sort by it and what a filter compares. Nothing is
kept by number, so columns can be added, left out and put in another order in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Generic, Literal, TypeVar

import msgspec

from agentco_tui.text import SafeText

R = TypeVar("R")
"""The type of the records a table shows; the table itself knows nothing about it."""


class Tone(Enum):
    """How a cell looks. The theme decides the colour; the cell's text carries the sign.

    Nothing may be told by a tone alone: a warning cell says `▲` in its text too.
    """

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    GOOD = "good"
    WARNING = "warning"
    CRITICAL = "critical"
    ACCENT = "accent"


class Cell(msgspec.Struct, frozen=True):
    """The text of one cell and its tone."""

    text: SafeText
    tone: Tone = Tone.PLAIN


class Kind(Enum):
    """What a column's `filter_value` returns, and so what a filter may compare it with."""

    TEXT = "text"
    """A string; compared without regard to case."""
    NUMBER = "number"
    """An int, float or Decimal."""
    SECONDS = "seconds"
    """A duration or age in seconds; a filter gives it with a unit (`2h`)."""
    SHARE = "share"
    """A part of one, 0.8 for 80 %; a filter gives it in per cent, the sign is optional."""


class Column(msgspec.Struct, Generic[R], frozen=True):
    """One column of a table of records R."""

    key: str
    """The name the program uses: in sort settings, in filters, in tests. Unique in a table."""
    title: SafeText
    """The header. Units belong here, once, not in every cell."""
    width: int
    """Wanted width in cells."""
    cell: Callable[[R], Cell]
    """What to show. Called for rows on the screen, and once a record when a filter needs text."""
    min_width: int = 4
    """What it may shrink to before the table scrolls sideways; one that grows already before
    another is hidden."""
    grow: int = 0
    """Its share of the room that is left over."""
    priority: int = 0
    """0 is never hidden; of the others the highest goes first when it gets narrow."""
    align: Literal["left", "right", "center"] = "left"
    sort_key: Callable[[R], Any] | None = None
    """What to sort by: values of one comparable type with a hash, or None, which comes last both
    ways."""
    sort_reader: Callable[[], Callable[[R], Any]] | None = None
    """Makes what stands in for `sort_key` while a whole table is sorted once: it may remember what
    many records share."""
    ticks: bool = False
    """True if the cell depends on the clock, so that `tick` looks at it again."""
    kind: Kind = Kind.TEXT
    filter_value: Callable[[R], Any] | None = None
    """What a filter compares, of the type `kind` says, or None if it isn't known. Without it
    `column:value` looks at the cell's text and comparisons are refused."""
    descending_first: bool = False
    """True if the first sort by it should put the highest on top."""
    aliases: tuple[str, ...] = ()
    """Other names a filter may call it by."""
    shown: bool = True
    """False for a column that is only there to be filtered and sorted by."""
