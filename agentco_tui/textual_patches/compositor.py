"""Patches Textual's compositor: writes only the cells to repaint, and loses no Show event.

`PARTIAL_PAINT` and `SHOWN_EVENTS` are the two `Patch` objects: each replaces Textual's methods only
if its self-test finds them as expected.

Partial paint. `ChopsUpdate.render_segments` writes each line from the left edge of the widget, and
ends every segment with a reset, so that the next must set both its colours again. For two lines,
every widget on them is asked for all of its lines (`_get_renders`), and then every container behind
it. The self-test tries the originals on a small picture: once Textual fixes this, they do not write
what is expected.

Shown events. For widgets that the new layout has and the previous one had not, Textual sends `Show`
and `Resize`, and paints them (`reflow`). Between two layouts it may recompute all positions
(`full_map`), because code asked for a widget's size, and keeps the result as the previous layout: a
widget that was displayed in between gets no event. Here a layout is compared with the last layout.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

from rich.color import Color, ColorSystem
from rich.console import COLOR_SYSTEMS, Console
from rich.segment import Segment
from rich.style import Style
from textual import _compositor
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from agentco_tui.system.osc import hyperlink
from agentco_tui.text.memoized import memoized
from agentco_tui.textual_patches.registry import PARTIAL_PAINT, SHOWN_EVENTS

_NAMES: Final = (
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
_ON: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 51, 52, 53)
_OFF: Final = dict(zip(_ON, (22, 22, 23, 24, 25, 25, 27, 28, 29, 24, 54, 54, 55), strict=True))
"""Rich's attributes with the SGR codes that turn them on and off (ECMA-48 8.3.117)."""
_SHOW_ON_BLANKS: Final = frozenset({4, 5, 6, 7, 9, 21, 51, 52, 53})
"""The codes of attributes that can be seen on a blank, such as underline."""
_RESET: Final = "\x1b[m"

Rendition = tuple[frozenset[int], str, str]
"""A style as the terminal knows it: attribute codes, codes of text colour and background."""
_PLAIN: Final[Rendition] = (frozenset(), "", "")


@memoized(4_096)
def _rendition(style: Style, system: ColorSystem) -> Rendition:
    """A style in a terminal with these colours."""
    attributes = frozenset(on for name, on in zip(_NAMES, _ON, strict=True) if getattr(style, name))
    return attributes, _codes(style.color, system, True), _codes(style.bgcolor, system, False)


_LEVELS: Final = (0, 95, 135, 175, 215, 255)
"""The levels of red, green and blue in the cube of the 256 colours."""
_BOUNDARIES: Final = (48, 115, 155, 195, 235)
"""The least values for which the next level is the nearest."""


def lowered(color: Color, system: ColorSystem) -> Color:
    """The nearest colour that the terminal has; of 256, the nearest in the cube and the greys.

    Rich considers a grey only if there is next to no tint: its dark blue-grey becomes navy.
    """
    wanted = color.triplet
    if system is not ColorSystem.EIGHT_BIT or wanted is None:
        return color.downgrade(system)
    near = [bisect(_BOUNDARIES, value) for value in wanted]
    grey = min(23, max(0, round((sum(wanted) / 3 - 8) / 10)))
    if math.dist([8 + 10 * grey] * 3, wanted) < math.dist([_LEVELS[n] for n in near], wanted):
        return Color.from_ansi(232 + grey)
    return Color.from_ansi(16 + 36 * near[0] + 6 * near[1] + near[2])


def _codes(color: Color | None, system: ColorSystem, foreground: bool) -> str:
    """The SGR codes of a colour; "" for the terminal's own.

    A grey of xterm's ramp (232 is 8, 233 is 18, up to 238) is written by its number, which saves
    five bytes: Textual's dark background is one.
    """
    if color is None or color.is_default:
        return ""
    codes = lowered(color, system).get_ansi_codes(foreground)
    if len(codes) == 5 and codes[2] == codes[3] == codes[4] and int(codes[4]) in range(8, 239, 10):
        return f"{codes[0]};5;{232 + int(codes[4]) // 10}"
    return ";".join(codes)


@memoized(4_096)
def _change(before: Rendition, after: Rendition) -> str:
    """The shortest sequence that changes one rendition into the other."""
    if before == after:
        return ""
    if after == _PLAIN:
        return _RESET
    old_attributes, old_color, old_background = before
    attributes, color, background = after
    off = {_OFF[on] for on in old_attributes - attributes}
    codes = [str(code) for code in sorted(off)]
    for on in _ON:
        # A code that turns one attribute off may turn another off, too.
        is_still_on = on in old_attributes and _OFF[on] not in off
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
    """What to write for strips at their positions (x and y), with each change of style once."""
    system = COLOR_SYSTEMS.get(console.color_system or "", ColorSystem.TRUECOLOR)
    out: list[str] = []
    now, link = _PLAIN, None
    for x, y, strip in placed:
        out.append(f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H")
        for text, style, control in strip:
            if control or not text:
                out.append(text)
            else:
                look = _PLAIN if style is None else _rendition(style, system)
                if style is not None and style.link != link:
                    link = style.link
                    out.append(hyperlink(link))
                if look is not now:
                    shows = (look[0] | now[0]) & _SHOW_ON_BLANKS
                    if look[2] == now[2] and text.isspace() and not shows:
                        look = now
                    out.append(_change(now, look))
                    now = look
                out.append(text)
    return "".join(out) + _change(now, _PLAIN) + hyperlink(None) * (link is not None)


def render_chops(update: _compositor.ChopsUpdate, console: Console) -> str:
    """What to write for a partial update: only the cells of its spans (line, left, right)."""
    return write_strips(
        (
            (max(x, left), y, strip.crop(max(x, left) - x, min(end, right) - x))
            for y, left, right in update.spans
            for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False)
            if strip is not None and x < right and end > left
        ),
        console,
    )


def render_layout(update: _compositor.LayoutUpdate, console: Console) -> str:
    """What to write for a whole layout."""
    x, top, *_ = update.region
    lines = enumerate(update.strips, top)
    return write_strips(((x, y, Strip.join(strips)) for y, strips in lines), console)


def renders(
    compositor: _compositor.Compositor, crop: Region | None = None
) -> Iterator[tuple[Region, Region, list[Strip]]]:
    """The widgets on the lines to be repainted, from front to back, until everything is covered.

    Yields the region of each widget, the visible part of it, and the strips of that part.
    """
    crop = compositor.size.region if crop is None else crop
    lines = Region(0, crop.y, compositor.size.width, crop.height)
    # For each line, a bit for each column that is covered by a widget in front.
    covered = [0] * crop.height
    full = ((1 << crop.width) - 1) << crop.x
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
        if all(line & full == full for line in covered):
            return


def install_partial_paint() -> bool:
    return PARTIAL_PAINT.install(
        _paints_as_expected,
        lambda: (
            (_compositor.ChopsUpdate, "render_segments", render_chops),
            (_compositor.LayoutUpdate, "render_segments", render_layout),
            (_compositor.Compositor, "_get_renders", renders),
        ),
    )


def _paints_as_expected() -> bool:
    """True if the originals write a small picture in the way that this module replaces."""
    compositor: Any = _compositor.Compositor
    if compositor._get_renders.__code__.co_varnames[:2] != ("self", "crop"):
        return False
    if not isinstance(compositor.visible_widgets, property):
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
_original_reflow: Final[Any] = vars(_compositor.Compositor).get("reflow")


def install_shown_events() -> bool:
    return SHOWN_EVENTS.install(
        _tells_as_expected, lambda: ((_compositor.Compositor, "reflow", _reflow),)
    )


def _reflow(
    compositor: _compositor.Compositor, parent: Widget, size: Size
) -> _compositor.ReflowResult:
    compositor._full_map = vars(compositor).get(_LAST_LAYOUT, compositor._full_map)
    result = cast("_compositor.ReflowResult", _original_reflow(compositor, parent, size))
    vars(compositor)[_LAST_LAYOUT] = compositor._full_map
    return result


def _tells_as_expected() -> bool:
    """True if `reflow` has the expected parameters, and a compositor keeps its map."""
    code = _compositor.Compositor.reflow.__code__
    is_same = code.co_varnames[: code.co_argcount] == ("self", "parent", "size")
    return is_same and "_full_map" in vars(_compositor.Compositor())
