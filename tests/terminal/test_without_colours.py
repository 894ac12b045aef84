"""Styles under NO_COLOR."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from agentco_tui.terminal.without_colours import WithoutColours, without_colours

WHITE_ON_BLACK = Style(color="#ffffff", bgcolor="#000000")
BLACK_ON_WHITE = Style(color="#000000", bgcolor="#ffffff")


@pytest.mark.parametrize(
    ("style", "dark", "wanted"),
    [
        (WHITE_ON_BLACK, True, Style.null()),
        (BLACK_ON_WHITE, True, Style(reverse=True)),
        (BLACK_ON_WHITE, False, Style.null()),
        (WHITE_ON_BLACK, False, Style(reverse=True)),
        (Style(color="red", bold=True, underline=True), True, Style(bold=True, underline=True)),
        (WHITE_ON_BLACK + Style(reverse=True), True, Style(reverse=True)),
        (Style(color="#888888", bgcolor="#999999"), True, Style.null()),
    ],
)
def test_only_what_is_no_colour_stays(style: Style, dark: bool, wanted: Style) -> None:
    found = without_colours(style, dark)
    assert (found.color, found.bgcolor) == (None, None)
    for name in ("bold", "underline", "reverse", "dim", "italic"):
        assert bool(getattr(found, name)) is bool(getattr(wanted, name))


def test_a_line_keeps_its_text_and_what_has_no_style() -> None:
    line = [Segment("one ", WHITE_ON_BLACK), Segment("two"), Segment("x", BLACK_ON_WHITE)]
    found = WithoutColours(lambda: True).apply(line, Color.parse("black"))
    assert [segment.text for segment in found] == ["one ", "two", "x"]
    assert found[1].style is None
    assert found[2].style is not None
    assert found[2].style.reverse
