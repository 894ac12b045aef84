"""NO_COLOR means no colour at all: neither of the text nor of its ground, nor shades of grey.

Textual turns colours into greys, which are colours to a terminal and fight with its own. Bold,
underlined and reversed stay; what was told by a light ground on a dark screen (the place where one
types) is reversed instead, so that it can still be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

_CLEARLY = 0.3
"""How much lighter than the text a ground must be to stand out, black to white being 1."""


class WithoutColours(LineFilter):
    """Takes the colours out of all that is drawn. `is_dark` says if the theme is a dark one."""

    def __init__(self, is_dark: Callable[[], bool]) -> None:
        super().__init__()
        self._is_dark = is_dark

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        dark = self._is_dark()
        return [
            Segment(text, None if style is None else without_colours(style, dark), control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=1024)
def without_colours(style: Style, dark: bool) -> Style:
    """A style without its colours; reversed if they were the other way round than the theme's."""
    plain = style.without_color
    if style.color is None or style.bgcolor is None or style.reverse:
        return plain
    ground = Color.from_rich_color(style.bgcolor).brightness
    text = Color.from_rich_color(style.color).brightness
    lighter = ground - text if dark else text - ground
    return plain + Style(reverse=True) if lighter > _CLEARLY else plain
