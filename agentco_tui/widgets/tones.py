"""What a piece of text means, so that colour is chosen in one place and never alone."""

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

from agentco_tui.text import SafeText, cell_width, plain, signs
from agentco_tui.text.memoized import memoized
from agentco_tui.textual_patches.compositor import lowered

ENOUGH: Final = 4.5  # the contrast that WCAG 2 asks of running text (1 to 21)
NEARLY: Final = 0.9
STEPS: Final = 10


class Tone(Enum):
    """How a cell looks. The theme decides the colour; the cell's text carries the sign.

    Nothing may be told by a tone alone: a warning cell says `▲` in its text too.
    """

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    GOOD = "good"
    WARNING = "warning"
    CRITICAL = "critical"
    ACCENT = "accent"
    BADGE = "badge"
    """Filled: what must not be overlooked although nothing is wrong."""
    ALARM = "alarm"
    """Filled: how much is critical."""
    GREY = "grey"
    BLUE = "blue"
    CYAN = "cyan"
    GREEN = "green"
    YELLOW = "yellow"
    ORANGE = "orange"
    RED = "red"
    MAGENTA = "magenta"
    """Filled, as the seven before it: of the platform whose colour a person chose to be this."""


class Cell(msgspec.Struct, frozen=True, gc=False):
    text: SafeText
    tone: Tone = Tone.PLAIN


class Pressable(Cell, frozen=True, gc=False):
    """A cell that can be clicked; `key` names what that asks for."""

    key: str = ""


def faded(cells: Iterable[Cell], is_old: object) -> list[Cell]:
    """The cells, dimmed if what they tell `is_old`, but for what a person chose."""
    return [
        msgspec.structs.replace(cell, tone=Tone.DIM)
        if is_old and cell.tone is not Tone.ACCENT
        else cell
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
"""The variable of the theme that has a tone's colour."""


_FILLED: Final = {
    Tone.GREY: ("#bcbcbc", "#585858", "ansi_white", "ansi_bright_black"),
    Tone.BLUE: ("#87afff", "#005faf", "ansi_bright_blue", "ansi_blue"),
    Tone.CYAN: ("#5fd7d7", "#005f5f", "ansi_bright_cyan", "ansi_default"),
    Tone.GREEN: ("#87d787", "#005f00", "ansi_bright_green", "ansi_default"),
    Tone.YELLOW: ("#ffd75f", "#5f5f00", "ansi_bright_yellow", "ansi_default"),
    Tone.ORANGE: ("#ffaf5f", "#875f00", "ansi_yellow", "ansi_default"),
    Tone.RED: ("#ff5f5f", "#af0000", "ansi_bright_red", "ansi_red"),
    Tone.MAGENTA: ("#ff87ff", "#870087", "ansi_bright_magenta", "ansi_default"),
}
"""A platform's colour on dark and on light, and of the terminal's own, where white takes few and
magenta is the warning."""


def tone_style(widget: Widget, tone: Tone) -> Style:
    """The style of a tone on the widget's background, by the theme.

    As a component class of each widget, tones would be matched with all rules of the style sheet
    wherever one is made: a tenth of what the screens take to come up.
    """
    style, app = widget.rich_style, widget.app
    if tone in (Tone.STRONG, Tone.CRITICAL, Tone.BADGE, Tone.ALARM):
        style += Style(bold=True, reverse=tone in (Tone.BADGE, Tone.ALARM))
    if tone is Tone.DIM and app.native_ansi_color:
        style += Style(dim=True)
    if (filled := _FILLED.get(tone)) is not None:
        at = 2 * app.native_ansi_color + (not app.current_theme.dark)
        style = coloured(style, Style(color=Color.parse(filled[at]).rich_color))
        return style + Style(bold=True, reverse=True)
    if tone in _COLOURS:
        word, _, share = app.theme_variables[_COLOURS[tone]].partition(" ")
        color = Color.automatic() if word == "auto" else Color.parse(word)
        color = color.multiply_alpha(float(share.rstrip("%") or 100) / 100)
        style += Style(color=(widget.background_colors[1] + color).rich_color)
    return style


class TonedWidget(Widget):
    """Draws cells by their tones. The styles are worked out once, until theme, focus or style sheet
    change.
    """

    def __init__(self, *children: Widget, **options: Any) -> None:
        super().__init__(*children, **options)
        self._styles: dict[Tone | str | None, Style] = {}

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()

    def style_of(self, tone: Tone | str | None) -> Style:
        """The style of a tone, or of a component class; of None that of the widget itself."""
        if (style := self._styles.get(tone)) is None:
            if isinstance(tone, str):
                style = self.get_component_rich_style(tone)
            else:
                style = self.rich_style if tone is None else tone_style(self, tone)
            self._styles[tone] = style
        return style


def total_width(cells: Iterable[Cell]) -> int:
    return cell_width("".join([cell.text for cell in cells]))


def bar(
    share: Decimal | None, width: int, *, passed: float | None = None, track: bool = True
) -> SafeText:
    """A bar of exactly `width` cells for `share` (1 is full), in steps of an eighth of a cell.

    The last cell stays free for the sign that a share above 1 sticks out. A mark stands where the
    part `passed` of the time is over. Without `track` the rest stays blank, which costs less to
    write. A share above nothing always shows something, and one below the whole is never full.
    """
    room, empty = max(0, width - 1), signs.bar_empty if track else " "
    if share is None or not room:
        return plain(" " * max(0, width))
    steps = len(signs.bar_parts) + 1
    filled = int(max(Decimal(0), min(Decimal(1), share)) * room * steps)
    if share > 0:
        filled = max(1, filled)
    if share < 1:
        filled = min(room * steps - 1, filled)
    full, part = divmod(filled, steps)
    head = signs.bar_full * full + (signs.bar_parts[part - 1] if part else "")
    cells = [*head, *empty * (room - len(head)), signs.bar_over if share > 1 else " "]
    if passed is not None:
        cells[min(room - 1, int(passed * room))] = signs.vertical
    return plain("".join(cells))


def contrast(one: Color, other: Color) -> float:
    """How well one colour stands out from another: 1 not at all, 21 black on white (WCAG 2)."""

    def luminance(color: Color) -> float:
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in color.normalized
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@memoized(64)
def coloured(base: Style, tone: Style) -> Style:
    """`base` with the colour of `tone`, moved towards that of `base` as far as it takes to be read
    as running text should be, or nearly as well as `base` where that can be read less; in a colour
    that a terminal of 256 has, too.

    Colours that are the terminal's own are taken as they are: nobody knows them.
    """
    if tone.color is None:
        return base
    colors = (tone.color, base.color, base.bgcolor)
    if any(color is None or color.type is not ColorType.TRUECOLOR for color in colors):
        return base + Style(color=tone.color)
    wanted, text, ground = (Color.from_rich_color(color) for color in colors)
    enough = min(ENOUGH, NEARLY * contrast(text, ground))
    steps = (wanted.blend(text, step / STEPS).rich_color for step in range(STEPS + 1))
    mixed = (Color.from_rich_color(lowered(step, ColorSystem.EIGHT_BIT)) for step in steps)
    found = next((color for color in mixed if contrast(color, ground) >= enough), text)
    return base + Style(color=found.rich_color)
