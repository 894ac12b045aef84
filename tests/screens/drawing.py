"""Cells as SVG that looks the same wherever it is shown: each run of text has its own place and
width and no two blanks beside each other, and blocks are drawn, so that gauges have no gaps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from xml.sax.saxutils import escape

from agentco_tui.text import cell_width
from agentco_tui.textual_patches.compositor import install_partial_paint
from tests.screens.harness import Stage
from tests.screens.looks import Cell, Look, Picture, Variant, cells_of, written

CELL, LINE, EDGE, BASE = 8.4, 18, 14, 13.5
"""Width of a cell, height of a line, what is around the picture, and where letters stand."""
TEXT, GROUND = "#d0d0d0", "#121212"
"""The terminal's own colours."""
EIGHTHS = " ▏▎▍▌▋▊▉█"
WORDS = re.compile(r"\S+(?: \S+)*")
FONT = "14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
DECORATIONS = {
    "b": ";font-weight:bold",
    "i": ";font-style:italic",
    "u": ";text-decoration:underline",
}


class Drawing:
    """Lines of cells, and the styles they are drawn in."""

    def __init__(self, ground: str = GROUND) -> None:
        self.ground = ground
        self._classes: dict[str, str] = {}

    def line(self, cells: list[Cell]) -> str:
        """A line whose top is at 0."""
        parts: list[str] = []
        x = 0
        for look, run in groupby(cells, key=lambda cell: cell.look):
            text = "".join(cell.text for cell in run)
            parts += self._run(x, text, look)
            x += cell_width(text)
        return "".join(parts)

    def style(self) -> str:
        """The style sheet of what was drawn until now."""
        classes = "".join(f".{name}{{{style}}}" for style, name in self._classes.items())
        return f"rect{{shape-rendering:crispEdges}}text{{font:{FONT}}}{classes}"

    def _run(self, x: int, text: str, look: Look) -> Iterator[str]:
        color, ground = look.color or TEXT, look.ground or GROUND
        if "r" in look.attributes:
            color, ground = ground, color
        if ground != self.ground:
            yield self._rect(x, cell_width(text), ground)
        more = "".join(DECORATIONS.get(each, "") for each in look.attributes)
        for block, piece in groupby(text, key=lambda each: each if each in EIGHTHS[1:] else ""):
            part = "".join(piece)
            if block:
                share = EIGHTHS.index(block) / 8
                places = [x] if share == 1 else range(x, x + len(part))
                long = len(part) if share == 1 else share
                yield from (self._rect(place, long, color) for place in places)
            else:
                for words in WORDS.finditer(part):
                    at = x + cell_width(part[: words.start()])
                    yield self._text(at, words[0], color, more)
            x += cell_width(part)

    def _rect(self, x: float, width: float, color: str) -> str:
        left, wide = round(x * CELL, 1), round(width * CELL, 1)
        return f'<rect x="{left}" width="{wide}" height="{LINE}" {self._fill(color)}/>'

    def _text(self, x: float, words: str, color: str, more: str) -> str:
        left, long = round(x * CELL, 1), round(cell_width(words) * CELL, 1)
        place = f'x="{left}" y="{BASE}" textLength="{long}"'
        return f"<text {place} {self._fill(color, more)}>{escape(words)}</text>"

    def _fill(self, color: str, more: str = "") -> str:
        name = self._classes.setdefault(f"fill:{color}{more}", f"c{len(self._classes)}")
        return f'class="{name}"'


def framed(width: int, height: float, ground: str, style: str, inner: str) -> str:
    """An SVG of so many cells and lines on its ground."""
    wide, tall = width * CELL + 2 * EDGE, height * LINE + 2 * EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {tall:.0f}">\n'
        f"<style>{style}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{ground}"/>\n{inner}\n</svg>\n'
    )


def svg(rows: Picture) -> str:
    """A picture on the ground that most of it has."""
    ground = Counter(cell.look.ground or GROUND for row in rows for cell in row).most_common(1)
    drawing = Drawing(ground[0][0])
    lines = "\n".join(
        f'<g transform="translate({EDGE} {EDGE + y * LINE})">{drawing.line(row)}</g>'
        for y, row in enumerate(rows)
    )
    return framed(len(rows[0]), len(rows), drawing.ground, drawing.style(), lines)


def picture(s: Stage) -> str:
    """The screen as SVG."""
    install_partial_paint()
    sent = written(s.app.screen, Variant(s.app.theme, 16_777_216))
    return svg(cells_of(sent, *s.app.screen.size))
