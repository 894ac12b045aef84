"""Draws values over time in characters: a sparkline (one line), or a graph of several lines.

Pure functions and data, without Textual; `TextPane` shows a `Graph`, table cells a sparkline. A
value that is unknown (None or NaN) is left blank and never drawn as 0, for which there is a
character of its own. The characters alone distinguish past, forecast and limit, for terminals
without colour; `signs` has them, in Unicode or ASCII, whichever the terminal shows.

A `Cell` is a text in a `Tone`, from which the theme makes a colour. `SafeText` is text without
control characters, and `fit` pads or cuts it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

import msgspec

from agentco_tui.text import SafeText, cell_width, fit, mark_safe, signs
from agentco_tui.widgets.tones import Cell, Tone

Values = Sequence[float | None] | Sequence[float]

MIN_PLOT_WIDTH = 16  # columns of a graph, without its scale
MAX_PLOT_WIDTH = 120
FAR_LIMIT = 4.0
"""A limit that is more than so many times the highest value is not drawn."""


def column_means(values: Values, width: int) -> list[float | None]:
    """Return the values as `width` columns: the mean of the known values of each column.

    A column is None if less than half of its values are known.
    """
    count = len(values)
    if not count:
        return [None] * width
    columns: list[float | None] = []
    for column in range(width):
        start = column * count // width
        end = max(start + 1, (column + 1) * count // width)
        part = values[start:end]
        known = [value for value in part if value is not None and isfinite(value)]
        if 2 * len(known) >= len(part):
            columns.append(sum(known) / len(known))
        else:
            columns.append(None)
    return columns


def sparkline(values: Values, width: int) -> SafeText:
    """Return one line of exactly `width` cells, the oldest value first.

    Its scale goes from 0 to the highest value. A value of 0 or less is the lowest character, any
    other a higher one. No cell is full, so that lines below each other stay apart.
    """
    columns = column_means(values, width)
    highest = max((value for value in columns if value is not None), default=0.0)
    # `signs.heights` has bars of rising height; its last one fills a cell.
    max_level = len(signs.heights) - 2
    characters: list[str] = []
    for value in columns:
        if value is None:
            characters.append(" ")
        else:
            characters.append(signs.heights[_level(value, highest, max_level)])
    return mark_safe("".join(characters))


def _level(value: float, highest: float, max_level: int) -> int:
    """Return the level of a value on a scale from 0 to `max_level`; at least 1 if it is above 0."""
    if value <= 0 or highest <= 0:
        return 0
    share = min(1.0, value / highest)
    return max(1, round(share * max_level))


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """A graph of the past up to now, and of the forecast range from now to the right edge.

    The scale at the left has 0, the highest value, and the limit, which is drawn as a line unless
    it is far above everything else.
    """

    past: Values
    """The values of equal parts of the time from the left edge to now."""
    passed: float = 1.0
    """The position of now: 0 is the left edge, 1 the right one."""
    limit: float | None = None
    """The value at which a line is drawn, such as the limit of a budget; None for no line."""
    forecast: tuple[float, float] | None = None
    """The lowest and the highest forecast for the right edge."""
    format_value: Callable[[float], SafeText]
    """Returns the label of a value on the scale."""
    start_label: SafeText
    """Label of the left edge of the time axis."""
    end_label: SafeText
    """Label of the right edge of the time axis."""
    tone: Tone = Tone.PLAIN
    height: int = 6  # lines, without the time axis

    def lines(self, width: int) -> list[tuple[Cell, ...]]:
        """Return the lines of the graph, at most `width` columns wide; none if it does not fit."""
        highest = self._highest()
        limit_row = self._limit_row(highest)
        labels = self._scale_labels(highest, limit_row)
        margin = max(map(cell_width, labels.values()))
        plot_width = min(MAX_PLOT_WIDTH, width - margin - 2)
        if plot_width < MIN_PLOT_WIDTH:
            return []
        past_width = max(1, min(plot_width, round(self.passed * plot_width)))
        past = column_means(self.past, past_width)
        levels_of_row = len(signs.heights) - 1
        max_level = self.height * levels_of_row
        levels = [-1 if value is None else _level(value, highest, max_level) for value in past]
        forecast_rows = self._forecast_rows(past, highest, plot_width - past_width)
        lines: list[tuple[Cell, ...]] = []
        for row in reversed(range(self.height)):
            empty = signs.horizontal if row == limit_row else " "
            label = fit(labels.get(row, mark_safe("")), margin, "right")
            past_characters = [
                _character(level - row * levels_of_row, empty, is_lowest_row=row == 0)
                for level in levels
            ]
            forecast_characters = [signs.spread if row in rows else empty for rows in forecast_rows]
            lines.append(
                (
                    Cell(mark_safe(f"{label} {signs.vertical}"), Tone.DIM),
                    Cell(mark_safe("".join(past_characters)), self.tone),
                    Cell(mark_safe("".join(forecast_characters)), Tone.DIM),
                )
            )
        axis = Cell(self._time_axis(plot_width, past_width), Tone.DIM)
        lines.append((Cell(mark_safe(" " * (margin + 2))), axis))
        return lines

    def _highest(self) -> float:
        """Return the value at the top of the scale."""
        values = [*self.past, *(self.forecast or ())]
        known = (value for value in values if value is not None and isfinite(value))
        highest = max(known, default=0.0)
        limit = self._finite_limit()
        if limit is not None and highest < limit <= (highest or limit) * FAR_LIMIT:
            return limit
        return highest

    def _finite_limit(self) -> float | None:
        if self.limit is None or not isfinite(self.limit):
            return None
        return self.limit

    def _limit_row(self, highest: float) -> int | None:
        """Return the row of the limit's line; None if it is not drawn."""
        limit = self._finite_limit()
        if limit is None or limit > highest:
            return None
        return self._row(limit, highest)

    def _scale_labels(self, highest: float, limit_row: int | None) -> dict[int, SafeText]:
        """Return the labels of the scale by row; the lowest row is 0."""
        labels = {self._row(highest, highest): self.format_value(highest)}
        if limit_row is not None and self.limit is not None:
            labels[limit_row] = mark_safe(f"limit {self.format_value(self.limit)}")
        labels[0] = mark_safe("0")
        return labels

    def _row(self, value: float, highest: float) -> int:
        """Return the row in which a value lies; the lowest row is 0."""
        share = max(0.0, min(1.0, value / highest)) if highest > 0 else 0.0
        return min(self.height - 1, int(share * self.height))

    def _forecast_rows(self, past: Values, highest: float, width: int) -> list[range]:
        """Return the rows that the forecast range covers, for each of `width` columns.

        The range opens from the last known value to the two forecasts at the right edge.
        """
        if self.forecast is None:
            return [range(0)] * width
        last = next((value for value in reversed(past) if value is not None), 0.0)
        lowest_end, highest_end = self.forecast
        rows: list[range] = []
        for column in range(width):
            share = (column + 1) / width
            low = self._row(last + (lowest_end - last) * share, highest)
            high = self._row(last + (highest_end - last) * share, highest)
            rows.append(range(low, high + 1))
        return rows

    def _time_axis(self, width: int, past_width: int) -> SafeText:
        """Return the labels of start, now (if it fits) and end, `width` columns wide."""
        labels = [self.start_label]
        if self.passed < 1:
            now_at = max(cell_width(self.start_label) + 1, past_width - 1)
            labels.insert(0, mark_safe(f"{fit(self.start_label, now_at)}{signs.up} now"))
        for label in labels:
            blanks = width - cell_width(label) - cell_width(self.end_label)
            if blanks > 0:
                return mark_safe(f"{label}{' ' * blanks}{self.end_label}")
        return fit(self.start_label, width)


def _character(level: int, empty: str, *, is_lowest_row: bool) -> str:
    """Return the character of a column in a row above whose foot the column has so many levels.

    A value of 0 has a character in the lowest row; unknown values are negative.
    """
    if level < 0 or (level == 0 and not is_lowest_row):
        return empty
    return signs.heights[min(level, len(signs.heights) - 1)]
