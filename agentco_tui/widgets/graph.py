"""Figures over time, drawn with signs that fonts have: one line of blocks, or a graph of several.

Pure functions from numbers to cells. What isn't known (None or nan) is left empty and never drawn
as nothing: nothing has a sign of its own. Where no colour shows, the signs alone tell past, range
and limit apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite

import msgspec

from agentco_tui.text import SafeText, cell_width, fit, plain, signs
from agentco_tui.widgets.tones import Cell, Tone

Figures = Sequence[float | None] | Sequence[float]

LEAST_PLOT = 16  # columns of a graph, beside its scale
MOST_PLOT = 120
FAR = 4.0  # times the highest figure, from which on a limit is beyond the graph


def joined_to(values: Figures, width: int) -> list[float | None]:
    """The figures of `width` columns: the mean of those that are known in each; None where that is
    less than half of them.
    """
    count, columns = len(values), list[float | None]()
    for at in range(width if count else 0):
        first = at * count // width
        few = values[first : max(first + 1, (at + 1) * count // width)]
        known = [value for value in few if value is not None and isfinite(value)]
        columns.append(sum(known) / len(known) if 2 * len(known) >= len(few) else None)
    return columns or [None] * width


def spark(values: Figures, width: int) -> SafeText:
    """One line of exactly `width` cells, the oldest first, up to the highest figure.

    Nothing (and what is below it) is the lowest sign, whatever is more than nothing a higher one;
    none is a full cell, so that lines one above the other stay apart.
    """
    columns, full = joined_to(values, width), len(signs.heights) - 2
    top = max((value for value in columns if value is not None), default=0.0)
    levels = (None if value is None else _level(value, top, full) for value in columns)
    return plain("".join(" " if level is None else signs.heights[level] for level in levels))


def _level(value: float, top: float, full: int) -> int:
    """How much of `full` a figure is; what is more than nothing is at least one."""
    return max(1, round(min(1.0, value / top) * full)) if value > 0 and top > 0 else 0


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """A graph: what was in each part of the time until now, and the range that lies ahead.

    Its scale stands at the left: 0, the limit, which is a line, and the highest figure; the limit
    not where it is far beyond all else.
    """

    past: Figures  # equal parts of the time from the left edge to now
    passed: float = 1.0  # where now is: 0 the left edge, 1 the right one
    limit: float | None = None
    ahead: tuple[float, float] | None = None  # the least and the most at the right edge
    named: Callable[[float], SafeText]  # a figure of the scale
    starts: SafeText  # what the axis of time says at its left and at its right
    ends: SafeText
    tone: Tone = Tone.PLAIN
    height: int = 6

    def lines(self, width: int) -> list[tuple[Cell, ...]]:
        """The graph in at most so many columns; empty where these are too few."""
        figures = [*self.past, *(self.ahead or ())]
        top = max((v for v in figures if v is not None and isfinite(v)), default=0.0)
        limit = self.limit if self.limit is not None and isfinite(self.limit) else inf
        if top < limit <= (top or limit) * FAR and limit < inf:
            top = limit
        scale, at_limit = {self._row(top, top): self.named(top)}, self.height
        if limit <= top:
            at_limit = self._row(limit, top)
            scale[at_limit] = plain(f"limit {self.named(limit)}")
        scale[0] = plain("0")
        margin = max(map(cell_width, scale.values()))
        room = min(MOST_PLOT, width - margin - 2)
        if room < LEAST_PLOT:
            return []
        until, full = max(1, min(room, round(self.passed * room))), len(signs.heights) - 1
        past = joined_to(self.past, until)
        levels = [-1 if v is None else _level(v, top, self.height * full) for v in past]
        spread = self._spread(past, top, room - until)
        lines = list[tuple[Cell, ...]]()
        for row in reversed(range(self.height)):
            empty = signs.bar_empty if row == at_limit else " "
            label = fit(scale.get(row, plain("")), margin, "right")
            was = (_sign(level - row * full, empty, lowest=row == 0) for level in levels)
            comes = (signs.spread if row in rows else empty for rows in spread)
            lines.append(
                (
                    Cell(plain(f"{label} {signs.vertical}"), Tone.DIM),
                    Cell(plain("".join(was)), self.tone),
                    Cell(plain("".join(comes)), Tone.DIM),
                )
            )
        return [*lines, (Cell(plain(" " * (margin + 2))), Cell(self._axis(room, until), Tone.DIM))]

    def _row(self, value: float, top: float) -> int:
        """The line in which a figure lies, from below."""
        part = max(0.0, min(1.0, value / top)) if top > 0 else 0.0
        return min(self.height - 1, int(part * self.height))

    def _spread(self, past: Figures, top: float, columns: int) -> list[range]:
        """The lines of the range that lies ahead, in each of so many columns."""
        last = next((value for value in reversed(past) if value is not None), 0.0)
        rows = list[range]()
        for part in ((at + 1) / columns for at in range(columns)):
            ends = [last + (end - last) * part for end in self.ahead or ()]
            low, high = (self._row(end, top) for end in ends) if ends else (0, -1)
            rows.append(range(low, high + 1))
        return rows

    def _axis(self, room: int, until: int) -> SafeText:
        """When it begins, now where there is room for that, too, and when it ends."""
        reach = max(cell_width(self.starts) + 1, until - 1)
        now = plain(f"{fit(self.starts, reach)}{signs.up} now")
        for left in (now, self.starts) if self.passed < 1 else (self.starts,):
            rest = room - cell_width(left) - cell_width(self.ends)
            if rest > 0:
                return plain(f"{left}{' ' * rest}{self.ends}")
        return fit(self.starts, room)


def _sign(level: int, empty: str, *, lowest: bool) -> str:
    """Of what reaches so far above the foot of a line; nothing has a sign in the lowest one."""
    if level < 0 or (level == 0 and not lowest):
        return empty
    return signs.heights[min(level, len(signs.heights) - 1)]
