"""Styles as a terminal's codes: which turn a style on, and the shortest change from one to another.

The codes are those of SGR (ECMA-48 8.3.117). A style is Rich's; its *rendition* are the codes of
its attributes and of its two colours, in a terminal with so many colours.
"""

from __future__ import annotations

import math
from bisect import bisect
from typing import Final

from rich.color import Color, ColorSystem
from rich.style import Style

from agentco_tui.text.memoized import memoized

_ATTRIBUTES: Final = (
    "bold",
    "dim",
    "italic",
    "underline",
    "blink",
    "blink2",
    "reverse",
    "conceal",
    "strike",
    "underline2",
    "frame",
    "encircle",
    "overline",
)
_CODES_ON: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 51, 52, 53)
_CODES_OFF: Final = dict(
    zip(_CODES_ON, (22, 22, 23, 24, 25, 25, 27, 28, 29, 24, 54, 54, 55), strict=True)
)
"""The SGR codes (ECMA-48 8.3.117) that turn Rich's attributes off, by those that turn them on."""
VISIBLE_ON_BLANKS: Final = frozenset({4, 5, 6, 7, 9, 21, 51, 52, 53})
"""Attributes (by their code) that can be seen on a blank."""
RESET_ALL: Final = "\x1b[m"

Rendition = tuple[frozenset[int], str, str]
"""A style in codes of the terminal: those of attributes, text colour and background colour."""
NO_RENDITION: Final[Rendition] = (frozenset(), "", "")


@memoized(4_096)
def rendition_of(style: Style, system: ColorSystem) -> Rendition:
    """Return the rendition of a style in a terminal with this colour system."""
    codes_by_name = zip(_ATTRIBUTES, _CODES_ON, strict=True)
    attributes = frozenset(code for name, code in codes_by_name if getattr(style, name))
    color = _color_codes(style.color, system, True)
    background = _color_codes(style.bgcolor, system, False)
    return attributes, color, background


_CUBE_LEVELS: Final = (0, 95, 135, 175, 215, 255)
"""The levels of red, green and blue in the cube of the 256 colours."""
_CUBE_BOUNDARIES: Final = (48, 115, 155, 195, 235)
"""The smallest values to which the second, third … level is the nearest."""
_FIRST_FIXED_NUMBER: Final = 22
"""The first number of the 256 colours that is the same in all terminals: people choose 0 to 15
themselves, and some sets of colours change 16 to 21, too."""


def nearest_color(color: Color, system: ColorSystem) -> Color:
    """Return the nearest colour that the terminal has; of 256, that of the cube or the greys.

    Rich considers the greys only if there is hardly any tint: its dark blue-grey becomes navy.
    """
    triplet = color.triplet
    if system is not ColorSystem.EIGHT_BIT or triplet is None:
        return color.downgrade(system)
    red, green, blue = (bisect(_CUBE_BOUNDARIES, value) for value in triplet)
    cube_color = [_CUBE_LEVELS[index] for index in (red, green, blue)]
    grey = min(23, max(0, round((sum(triplet) / 3 - 8) / 10)))
    grey_color = [8 + 10 * grey] * 3
    if math.dist(grey_color, triplet) < math.dist(cube_color, triplet):
        return Color.from_ansi(232 + grey)
    return Color.from_ansi(16 + 36 * red + 6 * green + blue)


def _color_codes(color: Color | None, system: ColorSystem, foreground: bool) -> str:
    """Return the SGR codes of a colour; "" for the terminal's default colour.

    A true colour that is one of xterm's 256 colours is written by its number, which saves up to
    eight bytes: all colours of the program's themes are among them.
    """
    if color is None or color.is_default:
        return ""
    codes = nearest_color(color, system).get_ansi_codes(foreground)
    # A true colour has the codes 38 (or 48), 2, red, green and blue.
    if len(codes) == 5:
        red, green, blue = int(codes[2]), int(codes[3]), int(codes[4])
        number = _palette_number(red, green, blue)
        if number is not None:
            return f"{codes[0]};5;{number}"
    return ";".join(codes)


def _palette_number(red: int, green: int, blue: int) -> int | None:
    """Return the number of a colour among the 256, if it is exactly one that is never changed.

    Number 232 is the grey 8, 233 is 18, up to 238; before them is the cube.
    """
    if red == green == blue and red in range(8, 239, 10):
        return 232 + red // 10
    if not {red, green, blue} <= set(_CUBE_LEVELS):
        return None
    number = 16
    for value, weight in ((red, 36), (green, 6), (blue, 1)):
        number += _CUBE_LEVELS.index(value) * weight
    return number if number >= _FIRST_FIXED_NUMBER else None


@memoized(4_096)
def rendition_change(before: Rendition, after: Rendition) -> str:
    """Return the shortest escape sequence that changes one rendition into another."""
    if before == after:
        return ""
    if after == NO_RENDITION:
        return RESET_ALL
    old_attributes, old_color, old_background = before
    attributes, color, background = after
    off = {_CODES_OFF[on] for on in old_attributes - attributes}
    codes = [str(code) for code in sorted(off)]
    for on in _CODES_ON:
        # A code that turns one attribute off may turn another off, too.
        is_still_on = on in old_attributes and _CODES_OFF[on] not in off
        if on in attributes and not is_still_on:
            codes.append(str(on))
    if old_color != color:
        codes.append(color or "39")
    if old_background != background:
        codes.append(background or "49")
    change = f"\x1b[{';'.join(codes)}m"
    all_codes = [str(code) for code in sorted(attributes)]
    all_codes += [code for code in (color, background) if code]
    from_scratch = f"\x1b[0;{';'.join(all_codes)}m"
    return min(change, from_scratch, key=len)


def is_same_on(text: str, current: Rendition, other: Rendition) -> bool:
    """Return whether a text looks the same in both renditions, because it is blank."""
    current_attributes, _, current_background = current
    attributes, _, background = other
    if background != current_background or not text.isspace():
        return False
    return not (attributes | current_attributes) & VISIBLE_ON_BLANKS
