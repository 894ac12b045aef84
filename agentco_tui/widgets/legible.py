"""Colours that can be read on a ground they were not chosen for."""

from __future__ import annotations

from typing import Final

from rich.color import ColorType
from rich.style import Style
from textual.color import Color

ENOUGH: Final = 4.5
"""The contrast that WCAG 2 asks of running text (1 to 21)."""
NEARLY: Final = 0.9
STEPS: Final = 10


def contrast(one: Color, other: Color) -> float:
    """How well one colour stands out from another: 1 not at all, 21 black on white (WCAG 2)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def coloured(base: Style, tone: Style) -> Style:
    """`base` with the colour of `tone`, moved towards that of `base` as far as it takes to be read
    as running text should be, or nearly as well as `base` where that can be read less.

    Colours that are the terminal's own are taken as they are: nobody knows them.
    """
    if tone.color is None:
        return base
    colors = (tone.color, base.color, base.bgcolor)
    if any(color is None or color.type is not ColorType.TRUECOLOR for color in colors):
        return base + Style(color=tone.color)
    wanted, text, ground = (Color.from_rich_color(color) for color in colors)
    enough = min(ENOUGH, NEARLY * contrast(text, ground))
    mixed = (wanted.blend(text, step / STEPS) for step in range(STEPS + 1))
    found = next((color for color in mixed if contrast(color, ground) >= enough), text)
    return base + Style(color=found.rich_color)
