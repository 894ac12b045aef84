"""What the terminal shows, cell by cell, so that only what looks different is written.

Textual draws a whole layout whenever a widget appears or changes its size, and all of a widget when
any of it has changed. Mostly few of these cells look different then: at the start three layouts
follow each other that show the same, and a pane is drawn again with its blank lines. On a slow line
each second counts.

All that is written to the screen passes through here. Whoever knows that the terminal may show
something else (it has another size, or another program had it) calls `forget`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rich.cells import get_character_cell_size
from rich.color import ColorSystem
from textual.geometry import Size
from textual.strip import Strip

from agentco_tui.textual_patches.rendition import (
    NO_RENDITION,
    VISIBLE_ON_BLANKS,
    Rendition,
    rendition_of,
)

_LONGEST_GAP: Final = 8
"""Unchanged cells between two changed ones that are written again: a move of the cursor costs as
many bytes."""


class CellLook(NamedTuple):
    """How one cell looks; of a wide character, the second cell has the same text after a NUL."""

    text: str
    rendition: Rendition
    link: str | None


class ShownCells:
    """The cells of the terminal, as far as they are known."""

    def __init__(self) -> None:
        self._lines: dict[int, list[CellLook | None]] = {}
        self._size = Size(0, 0)

    def forget(self) -> None:
        """Take it that the terminal may show anything."""
        self._lines = {}

    def resize(self, size: Size) -> None:
        """Forget everything if the picture has another size than the one before."""
        if size != self._size:
            self.forget()
            self._size = size

    def changed(
        self, placed: Iterable[tuple[int, int, Strip]], system: ColorSystem
    ) -> Iterator[tuple[int, int, Strip]]:
        """Yield the parts of strips (each at x, y) that look different, and take them as shown.

        All of them must be written, in a terminal with this colour system.
        """
        for x, y, strip in placed:
            looks = _looks_of(strip, system)
            line = self._lines.setdefault(y, [])
            end = x + strip.cell_length
            line.extend([None] * (end - len(line)))
            before = line[x:end]
            if looks is None:
                line[x:end] = [None] * strip.cell_length
                yield x, y, strip
            else:
                for start, stop in _different_runs(before, looks):
                    yield x + start, y, strip.crop(start, stop)
                line[x:end] = looks
            # A terminal removes the other half of a wide character that is written over.
            if x and before and _is_second_half(before[0]):
                line[x - 1] = None
            if end < len(line) and _is_second_half(line[end]):
                line[end] = None


def _is_second_half(look: CellLook | None) -> bool:
    """Whether a cell is the second one of a wide character."""
    return look is not None and look.text.startswith("\0")


def _different_runs(
    before: list[CellLook | None], after: list[CellLook]
) -> Iterator[tuple[int, int]]:
    """Yield (first, end) of each run of cells that differ; runs with a short gap are one."""
    if before == after:
        return
    start = stop = -1
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        if start >= 0 and place - stop > _LONGEST_GAP:
            yield start, stop
            start = place
        elif start < 0:
            start = place
        stop = place + 1
    yield start, stop


def _looks_of(strip: Strip, system: ColorSystem) -> list[CellLook] | None:
    """Return the look of each cell of a strip; None if it has other things than cells."""
    looks: list[CellLook] = []
    for text, style, control in strip:
        if control:
            return None
        rendition = NO_RENDITION
        link: str | None = None
        if style is not None:
            rendition = rendition_of(style, system)
            link = style.link
        blank = CellLook(" ", _rendition_of_blanks(rendition), link)
        if text.isascii():
            looks += [CellLook(each, rendition, link) if each != " " else blank for each in text]
        else:
            _add_looks(looks, text, rendition, blank)
    return looks if len(looks) == strip.cell_length else None


def _add_looks(looks: list[CellLook], text: str, rendition: Rendition, blank: CellLook) -> None:
    """Add the looks of a text with characters that take two cells, or none (marks)."""
    for character in text:
        if character == " ":
            looks.append(blank)
            continue
        width = get_character_cell_size(character)
        if width == 0 and looks:
            marked = looks[-1]
            looks[-1] = marked._replace(text=marked.text + character)
        elif width:
            looks.append(CellLook(character, rendition, blank.link))
        if width == 2:
            looks.append(CellLook(f"\0{character}", rendition, blank.link))


def _rendition_of_blanks(rendition: Rendition) -> Rendition:
    """Return what can be seen of a rendition on a blank."""
    attributes, _, background = rendition
    if attributes & VISIBLE_ON_BLANKS:
        return rendition
    return frozenset(), "", background
