"""Figures over time as signs: gaps are gaps, more is never less, and every line has its width."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.text import mark_safe
from agentco_tui.text.signs import signs, use_ascii
from agentco_tui.widgets.graph import MAX_PLOT_WIDTH, MIN_PLOT_WIDTH, Graph, sparkline
from agentco_tui.widgets.text_pane import break_into_lines
from agentco_tui.widgets.tones import total_width

FIGURES = st.lists(st.none() | st.floats(0, 1e9), max_size=60)


@pytest.fixture(params=[False, True], ids=["unicode", "ascii"])
def is_ascii(request: pytest.FixtureRequest) -> Iterator[bool]:
    use_ascii(request.param)
    yield request.param
    use_ascii(False)


def plot(**chosen: Any) -> Graph:
    usual: dict[str, Any] = {
        "past": tuple(float(at) for at in range(100)),
        "passed": 0.5,
        "limit": 180.0,
        "forecast": (150.0, 200.0),
        "format_value": lambda figure: mark_safe(f"${figure:.3g}"),
        "start_label": mark_safe("1 Sep"),
        "end_label": mark_safe("1 Oct"),
    }
    return Graph(**{**usual, **chosen})


def drawn(graph: Graph, width: int = 80) -> list[str]:
    return ["".join(cell.text for cell in line) for line in graph.lines(width)]


@given(FIGURES, st.integers(0, 40))
def test_a_spark_has_its_width_and_says_nothing_of_gaps(
    figures: list[float | None], width: int
) -> None:
    found = sparkline(figures, width)
    assert len(found) == width
    assert set(found) <= {" ", *signs.heights[:-1]}, "lines one above the other stay apart"
    if len(figures) == width:
        assert [sign == " " for sign in found] == [figure is None for figure in figures]


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=40))
def test_in_a_spark_more_is_never_lower_and_only_nothing_is_the_lowest(
    figures: list[float],
) -> None:
    heights = [signs.heights.index(sign) for sign in sparkline(figures, len(figures))]
    for figure, height in zip(figures, heights, strict=True):
        assert (height == 0) == (figure == 0)
        assert all(
            height <= other for more, other in zip(figures, heights, strict=True) if more >= figure
        )


def test_a_spark_says_by_its_highest_what_is_much(is_ascii: bool) -> None:
    assert sparkline([1, None, 0, 2], 4) == ("= _%" if is_ascii else "▄ ▁▇")
    assert sparkline([1, 3, None, None, 2, None], 3) == ("% %" if is_ascii else "▇ ▇")
    assert sparkline([1, None, None, 1, None, None], 2) == "  ", "less than half is no data"
    assert sparkline([], 3) == sparkline([None], 3) == "   "


@given(FIGURES, st.integers(0, 200), st.floats(0, 1), st.none() | st.floats(0, 1e9))
def test_a_graph_has_its_width_and_leaves_gaps_empty(
    figures: list[float | None], width: int, passed: float, limit: float | None
) -> None:
    graph = plot(past=tuple(figures), passed=passed, limit=limit, forecast=None)
    lines = graph.lines(width)
    assert len(lines) in (0, graph.height + 1)
    for line in lines:
        assert total_width(line) <= width
        assert total_width(line) == total_width(lines[0]) <= MAX_PLOT_WIDTH + 18
    if lines and all(figure is None for figure in figures):
        rows = ["".join(cell.text for cell in line[1:]) for line in lines[:-1]]
        assert set("".join(rows)) <= {" ", signs.horizontal}


def test_a_graph_has_a_scale_a_limit_a_range_and_an_axis(is_ascii: bool) -> None:
    lines = drawn(plot())
    assert " ".join(lines[-1].split()) == f"1 Sep {signs.up} now 1 Oct"
    assert lines[-2].startswith(f"         0 {signs.vertical}")
    limit = next(line for line in lines if "limit $180" in line)
    assert signs.horizontal * 20 in limit
    assert limit.endswith(signs.spread)
    assert sum(signs.spread in line for line in lines) >= 3
    assert all(line.isascii() == is_ascii for line in lines[:-1])
    assert "#" in lines[-2] if is_ascii else "█" in lines[-2]


def test_what_is_above_the_limit_hides_its_line_and_a_far_limit_does_not_flatten_the_rest() -> None:
    lines = drawn(plot(limit=40.0, forecast=None))
    limit = next(at for at, line in enumerate(lines) if "limit $40" in line)
    assert signs.horizontal in lines[limit]
    assert "█" in lines[limit - 1]
    lines = drawn(plot(limit=99_000.0, forecast=None))
    assert not any("limit" in line for line in lines)
    assert "$99" in lines[0]


def test_a_graph_over_its_gaps_and_zeros() -> None:
    lines = drawn(plot(past=(0.0, nan, 0.0), passed=1.0, limit=None, forecast=None), 34)
    assert lines[-2].endswith("▁" * 10 + " " * 10 + "▁" * 10)
    assert lines[-1].split() == ["1", "Sep", "1", "Oct"]


def test_a_graph_is_an_item_of_a_pane_and_has_none_of_its_lines_where_it_is_too_narrow() -> None:
    graph = plot()
    assert break_into_lines([graph], 80) == graph.lines(80)
    assert break_into_lines([graph], MIN_PLOT_WIDTH) == []


@given(
    st.lists(st.none() | st.floats(), max_size=30),
    st.none() | st.floats(),
    st.none() | st.tuples(st.floats(), st.floats()),
)
def test_no_figure_is_too_odd_to_be_drawn(
    figures: list[float | None], limit: float | None, forecast: tuple[float, float] | None
) -> None:
    assert len(sparkline(figures, 12)) == 12
    lines = plot(past=tuple(figures), limit=limit, forecast=forecast).lines(80)
    assert len({total_width(line) for line in lines}) == 1
