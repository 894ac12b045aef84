"""Patches Textual's compositor: writes only the cells to repaint, and loses no Show event.

There are two patches (`textual_patches.registry` lists all). Each has a self-test, which tries
Textual's own code: once Textual has fixed the problem, the patch does not take effect.

Partial paint. In a partial update, Textual writes each line from the left edge of the widget, and
ends every segment with a reset, so that the next segment must set both its colours again
(`ChopsUpdate.render_segments`; a *chop* is a piece of a line). It writes colours as three figures
each, and the first line or column in a move of the cursor, which are the default. To repaint two
lines, it asks every widget on them for all lines of the widget, and then every container behind it
(`_get_renders`).

Shown events. Textual sends `Show` and `Resize` to widgets that are in the new layout and were not
in the previous one, and paints them (`reflow`). If code asks for a widget's size between two
layouts, Textual recomputes all positions (`full_map`) and treats the result as the previous layout:
a widget that was displayed in the meantime gets no event. Here a layout is compared with the last
real one.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

import textual.app
from rich.color import Color, ColorSystem
from rich.console import COLOR_SYSTEMS, Console
from rich.control import Control
from rich.segment import Segment
from rich.style import Style
from textual import _compositor
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from agentco_tui.system.osc import hyperlink
from agentco_tui.text.memoized import memoized
from agentco_tui.textual_patches.registry import PARTIAL_PAINT, SHOWN_EVENTS

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
_VISIBLE_ON_BLANKS: Final = frozenset({4, 5, 6, 7, 9, 21, 51, 52, 53})
"""Attributes (by their code) that can be seen on a blank."""
_RESET_ALL: Final = "\x1b[m"

Rendition = tuple[frozenset[int], str, str]
"""A style in codes of the terminal: those of attributes, text colour and background colour."""
_NO_RENDITION: Final[Rendition] = (frozenset(), "", "")


@memoized(4_096)
def _rendition(style: Style, system: ColorSystem) -> Rendition:
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
def _rendition_change(before: Rendition, after: Rendition) -> str:
    """Return the shortest escape sequence that changes one rendition into another."""
    if before == after:
        return ""
    if after == _NO_RENDITION:
        return _RESET_ALL
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


def write_strips(placed: Iterable[tuple[int, int, Strip]], console: Console) -> str:
    """Return what to write for strips at positions (x, y), with each change of style once."""
    system = COLOR_SYSTEMS.get(console.color_system or "", ColorSystem.TRUECOLOR)
    out: list[str] = []
    current = _NO_RENDITION
    link: str | None = None
    for x, y, strip in placed:
        out.append(_cursor_move(x, y))
        for text, style, control in strip:
            if control or not text:
                out.append(text)
                continue
            rendition = _NO_RENDITION
            if style is not None:
                rendition = _rendition(style, system)
                if style.link != link:
                    link = style.link
                    out.append(hyperlink(link))
            if rendition is not current and not _is_same_on(text, current, rendition):
                out.append(_rendition_change(current, rendition))
                current = rendition
            out.append(text)
    out.append(_rendition_change(current, _NO_RENDITION))
    if link is not None:
        out.append(hyperlink(None))
    return "".join(out)


def _cursor_move(x: int, y: int) -> str:
    """Return the shortest escape sequence that moves the terminal's cursor to a cell."""
    if x:
        return f"\x1b[{y + 1};{x + 1}H"
    return f"\x1b[{y + 1}H" if y else "\x1b[H"


class ShortControl(Control):
    """Rich's control codes; the first column and the first line are left out of a move."""

    @classmethod
    def move_to(cls, x: int, y: int) -> ShortControl:
        control = cls()
        control.segment = Segment(_cursor_move(x, y))
        return control


def _is_same_on(text: str, current: Rendition, other: Rendition) -> bool:
    """Return whether a text looks the same in both renditions, because it is blank."""
    current_attributes, _, current_background = current
    attributes, _, background = other
    if background != current_background or not text.isspace():
        return False
    return not (attributes | current_attributes) & _VISIBLE_ON_BLANKS


def render_partial_update(update: _compositor.ChopsUpdate, console: Console) -> str:
    """Return what to write for a partial update: only the cells of its spans."""
    return write_strips(_strips_in_spans(update), console)


def _strips_in_spans(update: _compositor.ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Yield x, y and strip of each part of a chop that is within a span (y, left, right)."""
    for y, left, right in update.spans:
        chops = zip(update.chop_ends[y], update.chops[y].items(), strict=False)
        for end, (x, strip) in chops:
            if strip is not None and x < right and end > left:
                shown_x = max(x, left)
                shown_end = min(end, right)
                yield shown_x, y, strip.crop(shown_x - x, shown_end - x)


def render_whole_layout(update: _compositor.LayoutUpdate, console: Console) -> str:
    """Return what to write for a whole layout."""
    x, top, *_ = update.region
    lines = enumerate(update.strips, top)
    return write_strips(((x, y, Strip.join(strips)) for y, strips in lines), console)


def visible_renders(
    compositor: _compositor.Compositor, crop: Region | None = None
) -> Iterator[tuple[Region, Region, list[Strip]]]:
    """Yield the widgets on the lines to repaint, front to back, until everything is covered.

    For each widget it yields its region, the visible part of that, and the strips of that part.
    """
    if crop is None:
        crop = compositor.size.region
    lines = Region(0, crop.y, compositor.size.width, crop.height)
    # For each line, a number with a bit set for each column that a widget in front covers.
    covered = [0] * crop.height
    all_columns = ((1 << crop.width) - 1) << crop.x
    for widget, (region, clip) in compositor.visible_widgets.items():
        seen = clip.intersection(lines)
        shown = region.intersection(seen)
        if not crop.overlaps(shown):
            continue
        strips = widget.render_lines(shown.translate(-region.offset))
        yield region, seen, strips
        columns = ((1 << shown.width) - 1) << shown.x
        for y, strip in enumerate(strips, shown.y - lines.y):
            if strip.cell_length == shown.width:
                covered[y] |= columns
        if all(line & all_columns == all_columns for line in covered):
            return


def install_partial_paint() -> bool:
    return PARTIAL_PAINT.install(
        _paints_as_expected,
        lambda: (
            (_compositor.ChopsUpdate, "render_segments", render_partial_update),
            (_compositor.LayoutUpdate, "render_segments", render_whole_layout),
            (_compositor.Compositor, "_get_renders", visible_renders),
            # After each update, the app moves the terminal's cursor to where a person types.
            (textual.app, "Control", ShortControl),
        ),
    )


def _paints_as_expected() -> bool:
    """Return whether Textual's own code writes a small picture in the way described above."""
    compositor: Any = _compositor.Compositor
    if compositor._get_renders.__code__.co_varnames[:2] != ("self", "crop"):
        return False
    if not isinstance(compositor.visible_widgets, property):
        return False
    if vars(textual.app).get("Control") is not Control:
        return False
    if Control.move_to(0, 4).segment.text != "\x1b[5;1H":
        return False
    console = Console(color_system="truecolor", force_terminal=True, width=8, height=2)
    bold = Style(bold=True)
    strip = Strip([Segment("abcd", bold), Segment("efgh")], 8)
    chops = _compositor.ChopsUpdate([{0: strip}, {0: strip}], [(0, 2, 6), (1, 0, 8)], [[8], [8]])
    expected = "\x1b[1;1H\x1b[1mabcd\x1b[0mef\n\x1b[2;1H\x1b[1mabcd\x1b[0mefgh"
    if chops.render_segments(console) != expected:
        return False
    layout = _compositor.LayoutUpdate([[strip], [strip]], Region(0, 0, 8, 2))
    line = "\x1b[1mabcd\x1b[0mefgh"
    return layout.render_segments(console) == f"\x1b[1;1H{line}\n\x1b[2;1H{line}"


# ---- shown events

_LAST_LAYOUT: Final = "_agentco_map_of_the_last_layout"
"""The attribute that this module adds to a compositor."""
_original_reflow: Final[Any] = vars(_compositor.Compositor).get("reflow")


def install_shown_events() -> bool:
    return SHOWN_EVENTS.install(
        _reflows_as_expected, lambda: ((_compositor.Compositor, "reflow", _reflow),)
    )


def _reflow(
    compositor: _compositor.Compositor, parent: Widget, size: Size
) -> _compositor.ReflowResult:
    compositor._full_map = vars(compositor).get(_LAST_LAYOUT, compositor._full_map)
    result = cast("_compositor.ReflowResult", _original_reflow(compositor, parent, size))
    vars(compositor)[_LAST_LAYOUT] = compositor._full_map
    return result


def _reflows_as_expected() -> bool:
    """Return whether `reflow` has the expected parameters, and a compositor keeps its map."""
    code = _compositor.Compositor.reflow.__code__
    is_same = code.co_varnames[: code.co_argcount] == ("self", "parent", "size")
    return is_same and "_full_map" in vars(_compositor.Compositor())
