"""Tones and cells: texts with a meaning, for which the theme chooses the colour in one place.

The type `SafeText` is text without control characters; `mark_safe` declares a text of our own to be
such. `signs` has the characters that are drawn, in Unicode or ASCII, whichever the terminal shows.

All widgets of this package draw `Cell`s, a text with a `Tone` such as WARNING or DIM, and get the
Rich style of a tone from `TonedWidget.style_of`. Colours are kept readable: a tone on a coloured
background is blended towards the text colour until its contrast is sufficient.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from enum import Enum
from typing import Any, Final

import msgspec
from rich.color import ColorSystem, ColorType
from rich.style import Style
from textual.color import Color
from textual.widget import Widget

from agentco_tui.text import SafeText, cell_width, mark_safe, signs
from agentco_tui.text.memoized import memoized
from agentco_tui.textual_patches.rendition import nearest_color

MIN_CONTRAST: Final = 4.5
"""The contrast ratio (1 to 21) that WCAG 2 requires of running text."""
MIN_RELATIVE_CONTRAST: Final = 0.9
"""The share of the text's own contrast that is sufficient if that is less than `MIN_CONTRAST`."""
BLEND_STEPS: Final = 10
"""Steps in which a colour is moved to that of the text."""


class Tone(Enum):
    """What a cell means. The theme chooses the colour.

    A tone must never be the only sign of its meaning: the text of a warning has a `▲`, too.
    """

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    GOOD = "good"
    WARNING = "warning"
    CRITICAL = "critical"
    ACCENT = "accent"
    BADGE = "badge"
    """Text on a coloured field, for what must not be overlooked although nothing is wrong."""
    ALARM = "alarm"
    """Text on a coloured field, for the number of critical things."""
    GREY = "grey"
    BLUE = "blue"
    CYAN = "cyan"
    GREEN = "green"
    YELLOW = "yellow"
    ORANGE = "orange"
    RED = "red"
    MAGENTA = "magenta"
    """Text on a field of this colour, as with the seven tones above. The user chooses one in the
    settings of a server, so that its dashboard is not taken for that of another server."""


class Cell(msgspec.Struct, frozen=True, gc=False):
    """A text in one tone: the smallest thing that widgets draw."""

    text: SafeText
    tone: Tone = Tone.PLAIN


class Pressable(Cell, frozen=True, gc=False):
    """A cell that can be clicked."""

    key: str = ""
    """Names the command or the target of the click, for the widget's owner."""


def dim_if_stale(cells: Iterable[Cell], is_stale: object) -> list[Cell]:
    """Return the cells, dimmed if what they show is stale (out of date, if `is_stale` is true).

    Cells in ACCENT keep their tone: they show what the user chose, which is never stale.
    """
    if not is_stale:
        return list(cells)
    return [
        cell if cell.tone is Tone.ACCENT else msgspec.structs.replace(cell, tone=Tone.DIM)
        for cell in cells
    ]


_COLOURS: Final = {
    Tone.PLAIN: "foreground",
    Tone.DIM: "text-muted",
    Tone.GOOD: "text-success",
    Tone.WARNING: "text-warning",
    Tone.CRITICAL: "text-error",
    Tone.ACCENT: "text-accent",
    Tone.BADGE: "text-accent",
    Tone.ALARM: "text-error",
}
"""The theme variable with the colour of a tone."""

_FIELD_COLOURS: Final = {
    Tone.GREY: ("#bcbcbc", "#585858", "ansi_white", "ansi_bright_black"),
    Tone.BLUE: ("#87afff", "#005faf", "ansi_bright_blue", "ansi_blue"),
    Tone.CYAN: ("#5fd7d7", "#005f5f", "ansi_bright_cyan", "ansi_default"),
    Tone.GREEN: ("#87d787", "#005f00", "ansi_bright_green", "ansi_default"),
    Tone.YELLOW: ("#ffd75f", "#5f5f00", "ansi_bright_yellow", "ansi_default"),
    Tone.ORANGE: ("#ffaf5f", "#875f00", "ansi_yellow", "ansi_default"),
    Tone.RED: ("#ff5f5f", "#af0000", "ansi_bright_red", "ansi_red"),
    Tone.MAGENTA: ("#ff87ff", "#870087", "ansi_bright_magenta", "ansi_default"),
}
"""A colour that the user may choose, in dark and in light themes; then the same in themes of the
terminal's 16 colours, of which few can be read on white, and magenta is the warning there."""


def style_of_tone(widget: Widget, tone: Tone) -> Style:
    """Return the style of a tone on the widget's background.

    Tones are no component classes: Textual would match each with all rules of the style sheet for
    every widget, which takes a tenth of the time in which a screen appears.
    """
    app = widget.app
    style = widget.rich_style
    if tone in (Tone.STRONG, Tone.CRITICAL, Tone.BADGE, Tone.ALARM):
        is_field = tone in (Tone.BADGE, Tone.ALARM)
        style += Style(bold=True, reverse=is_field)
    if tone is Tone.DIM and app.native_ansi_color:
        style += Style(dim=True)
    if tone in _FIELD_COLOURS:
        dark, light, ansi_dark, ansi_light = _FIELD_COLOURS[tone]
        if app.native_ansi_color:
            dark = ansi_dark
            light = ansi_light
        name = dark if app.current_theme.dark else light
        style = with_readable_colour(style, Style(color=Color.parse(name).rich_color))
        return style + Style(bold=True, reverse=True)
    if tone in _COLOURS:
        # A theme variable is a colour or "auto", with an opacity if there is a second word.
        name, _, opacity = app.theme_variables[_COLOURS[tone]].partition(" ")
        color = Color.automatic() if name == "auto" else Color.parse(name)
        color = color.multiply_alpha(float(opacity.rstrip("%") or 100) / 100)
        background = widget.background_colors[1]
        style += Style(color=(background + color).rich_color)
    return style


class TonedWidget(Widget):
    """A widget that draws cells. It caches the styles of tones until Textual changes its style."""

    def __init__(self, *children: Widget, **options: Any) -> None:
        super().__init__(*children, **options)
        self._styles: dict[Tone | str | None, Style] = {}

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()

    def style_of(self, tone: Tone | str | None) -> Style:
        """Return the style of a tone, or of a component class; of the widget itself for None."""
        style = self._styles.get(tone)
        if style is None:
            style = self._compute_style(tone)
            self._styles[tone] = style
        return style

    def _compute_style(self, tone: Tone | str | None) -> Style:
        if tone is None:
            return self.rich_style
        if isinstance(tone, str):
            return self.get_component_rich_style(tone)
        return style_of_tone(self, tone)


def total_width(cells: Iterable[Cell]) -> int:
    """Return the columns that cells take in a line."""
    return cell_width("".join([cell.text for cell in cells]))


def share_bar(
    share: Decimal | None, width: int, *, passed: float | None = None, track: bool = True
) -> SafeText:
    """Return a bar of exactly `width` columns for `share` (1 is full), in eighths of a column.

    The last column is reserved for an arrow, for a share above 1. A share above 0 always shows
    something, and one below 1 is never full. None leaves the bar blank.

    `passed` is the part of the time (0 to 1) that is over, marked in the bar. Without `track` the
    rest of the bar is blank, which takes fewer bytes to write.
    """
    room = max(0, width - 1)
    if share is None or not room:
        return mark_safe(" " * max(0, width))
    steps = len(signs.bar_parts) + 1  # in one column
    filled_steps = int(max(Decimal(0), min(Decimal(1), share)) * room * steps)
    if share > 0:
        filled_steps = max(1, filled_steps)
    if share < 1:
        filled_steps = min(room * steps - 1, filled_steps)
    full, part = divmod(filled_steps, steps)
    filled = signs.bar_full * full
    if part:
        filled += signs.bar_parts[part - 1]
    empty = signs.horizontal if track else " "
    end = signs.bar_over if share > 1 else " "
    characters = [*filled, *empty * (room - len(filled)), end]
    if passed is not None:
        characters[min(room - 1, int(passed * room))] = signs.vertical
    return mark_safe("".join(characters))


def contrast_ratio(one: Color, other: Color) -> float:
    """Return the contrast of two colours: 1 is none, 21 is black on white (WCAG 2)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@memoized(64)  # an `lru_cache` of that size
def with_readable_colour(base: Style, tone: Style) -> Style:
    """Return `base` in the colour of `tone`, changed as little as needed to be readable.

    The colour is moved towards that of `base` until its contrast with the background is that of
    running text, or nearly that of `base` if `base` has less. The result is one of the 256 colours
    that most terminals have. The terminal's own colours are not changed, as their values are
    unknown.
    """
    if tone.color is None:
        return base
    colors = (tone.color, base.color, base.bgcolor)
    if any(color is None or color.type is not ColorType.TRUECOLOR for color in colors):
        return base + Style(color=tone.color)
    wanted, text, ground = (Color.from_rich_color(color) for color in colors)
    sufficient = min(MIN_CONTRAST, MIN_RELATIVE_CONTRAST * contrast_ratio(text, ground))
    for step in range(BLEND_STEPS + 1):
        blended = wanted.blend(text, step / BLEND_STEPS).rich_color
        # As it is painted in a terminal with 256 colours.
        color = Color.from_rich_color(nearest_color(blended, ColorSystem.EIGHT_BIT))
        if contrast_ratio(color, ground) >= sufficient:
            return base + Style(color=color.rich_color)
    return base + Style(color=text.rich_color)
