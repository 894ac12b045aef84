"""Figures over time, drawn with signs that fonts have: one line of blocks, or a graph of several.

Pure functions from numbers to cells. What isn't known (None) is left empty and never drawn as
nothing: nothing has a sign of its own. Where no colour shows, the signs alone tell past, range and
limit apart.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby
from math import isfinite

import msgspec

from agentco_tui.text import SafeText, cell_width, fit, plain, signs
from agentco_tui.widgets.tones import Cell, Tone

Figures = Sequence[float | None]

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


def spark(values: Figures, width: int, *, top: float | None = None) -> SafeText:
    """One line of exactly `width` cells, the oldest first; `top` is what the highest sign stands
    for, by default the highest figure.

    Nothing (and what is below it) is the lowest sign, whatever is more than nothing a higher one.
    """
    columns = joined_to(values, max(0, width))
    top = max((v for v in columns if v is not None), default=0.0) if top is None else top
    return plain("".join(" " if v is None else signs.heights[_height(v, top)] for v in columns))


def _height(value: float, top: float) -> int:
    """Of the signs for heights, the place of this figure's: never that of a full cell, so that
    lines one above the other stay apart.
    """
    highest = len(signs.heights) - 2
    if not value > 0:
        return 0
    return max(1, round(min(1.0, value / top) * highest)) if top > 0 else highest


def sampled(
    samples: Sequence[tuple[float, float | None]],
    seen: Sequence[tuple[float, float]],
    span: tuple[float, float],
    count: int,
) -> tuple[float | None, ...]:
    """What a figure was in each of `count` equal parts of a time: what held when it was last seen
    in it, None where it wasn't. `samples` are moments and figures, oldest first; each holds until
    the next. Costs by `count`, not by samples.
    """
    (start, end), found = span, list[float | None]()
    for at in range(count):
        begins, ends = (start + (end - start) * part / count for part in (at, at + 1))
        last = bisect_right(seen, ends, key=lambda each: each[0]) - 1
        when = min(ends, seen[last][1]) if last >= 0 else begins - 1
        held = bisect_right(samples, when, key=lambda each: each[0]) - 1
        found.append(samples[held][1] if when >= begins and held >= 0 else None)
    return tuple(found)


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """A graph: what was in each part of the time until now, and the range that lies ahead.

    Its scale stands at the left: 0, and the figures that have labels. The limit is a line.
    """

    past: tuple[float | None, ...]  # equal parts of the time from the left edge to now
    passed: float = 1.0  # where now is: 0 the left edge, 1 the right one
    limit: float | None = None
    ahead: tuple[float, float] | None = None  # the least and the most at the right edge
    labels: tuple[tuple[float, SafeText], ...]  # what figures of the scale are called, best last
    starts: SafeText  # what the axis of time says at its left, of now, and at its right
    now: SafeText
    ends: SafeText
    tone: Tone = Tone.PLAIN
    height: int = 6

    def lines(self, width: int) -> list[tuple[Cell, ...]]:
        """The graph in at most so many columns; empty where these are too few."""
        top = highest(self.past, self.ahead, self.limit)
        labels = [(value, text) for value, text in self.labels if value <= top]
        margin = max([cell_width(text) for _, text in labels], default=1)
        room = min(MOST_PLOT, width - margin - 2)
        if room < LEAST_PLOT:
            return []
        scale = {self._row(value, top): text for value, text in labels}
        scale[0], columns, lines = plain("0"), self._columns(room, top), list[tuple[Cell, ...]]()
        for row in reversed(range(self.height)):
            label = fit(scale.get(row, plain("")), margin, "right")
            cells = [Cell(plain(f"{label} {signs.vertical}"), Tone.DIM)]
            for tone, run in groupby((column[row] for column in columns), lambda each: each[1]):
                cells.append(Cell(plain("".join(sign for sign, _ in run)), tone))
            lines.append(tuple(cells))
        return [*lines, (Cell(plain(" " * (margin + 2))), Cell(self._axis(room), Tone.DIM))]

    def _row(self, value: float, top: float) -> int:
        """The line in which a figure lies, from below."""
        part = max(0.0, min(1.0, value / top)) if top > 0 else 0.0
        return min(self.height - 1, int(part * self.height))

    def _columns(self, room: int, top: float) -> list[list[tuple[str, Tone]]]:
        """Each column from below: its signs, and how they look."""
        until, full = max(1, min(room, round(self.passed * room))), len(signs.heights) - 1
        past = joined_to(self.past, until)
        last = next((value for value in reversed(past) if value is not None), 0.0)
        is_in = self.limit is not None and self.limit <= top
        line = self._row(self.limit or 0.0, top) if is_in else self.height
        columns = list[list[tuple[str, Tone]]]()
        for at in range(room):
            column = [(" ", Tone.PLAIN)] * self.height
            if line < self.height:
                column[line] = signs.bar_empty, Tone.DIM
            if at >= until and self.ahead is not None and top > 0:
                part = (at + 1 - until) / (room - until)
                low, high = (self._row(last + (end - last) * part, top) for end in self.ahead)
                column[low : high + 1] = [(signs.spread, Tone.DIM)] * (high + 1 - low)
            elif at < until and (value := past[at]) is not None:
                part = max(0.0, min(1.0, value / top)) if top > 0 else 0.0
                filled = round(part * self.height * full)
                for row in range(1 + max(0, filled - 1) // full):
                    height = max(value > 0, min(full, filled - row * full))
                    column[row] = signs.heights[height], self.tone
            columns.append(column)
        return columns

    def _axis(self, room: int) -> SafeText:
        """When it begins, now, and when it ends; now only where there is room for it."""
        is_over = self.passed >= 1
        left, right = self.starts, self.now if is_over else self.ends
        rest = room - cell_width(left) - cell_width(right)
        if rest < 1:
            return fit(left, room)
        now = plain(f"{signs.up} {self.now}")
        before = max(1, round(self.passed * room) - 1 - cell_width(left))
        is_room = not is_over and before + cell_width(now) < rest
        between = plain(" " * before + now if is_room else "")
        return plain(f"{left}{fit(between, rest)}{right}")


def highest(
    past: Figures, ahead: tuple[float, float] | None = None, limit: float | None = None
) -> float:
    """What the scale of a graph ends at: the limit too, unless it is far beyond all else."""
    known = [v for v in (*past, *(ahead or ())) if v is not None and isfinite(v)]
    top = max(known, default=0.0)
    is_near = limit is not None and isfinite(limit) and top < limit <= (top or limit) * FAR
    return limit if is_near and limit is not None else top
