"""Patches Textual's compositor: writes only the cells to repaint, and loses no Show event.

There are two patches (`textual_patches.registry` lists all). Each has a self-test, which tries
Textual's own code: once Textual has fixed the problem, the patch does not take effect.

Partial paint. In a partial update, Textual writes each line from the left edge of the widget, and
ends every segment with a reset, so that the next segment must set both its colours again
(`ChopsUpdate.render_segments`; a *chop* is a piece of a line). It writes colours as three figures
each, and the first line or column in a move of the cursor, which are the default. To repaint two
lines, it asks every widget on them for all lines of the widget, and then every container behind it
(`_get_renders`). A new layout (`LayoutUpdate`) it writes as a whole, although most of its lines may
be shown already.

Shown events. Textual sends `Show` and `Resize` to widgets that are in the new layout and were not
in the previous one, and paints them (`reflow`). If code asks for a widget's size between two
layouts, Textual recomputes all positions (`full_map`) and treats the result as the previous layout:
a widget that was displayed in the meantime gets no event. Here a layout is compared with the last
real one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

import textual.app
from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console
from rich.control import Control
from rich.segment import Segment
from rich.style import Style
from textual import _compositor
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from agentco_tui.system.osc import hyperlink
from agentco_tui.textual_patches.registry import PARTIAL_PAINT, SHOWN_EVENTS
from agentco_tui.textual_patches.rendition import (
    NO_RENDITION,
    is_same_on,
    rendition_change,
    rendition_of,
)
from agentco_tui.textual_patches.shown_cells import ShownCells


def write_strips(placed: Iterable[tuple[int, int, Strip]], console: Console) -> str:
    """Return what to write for strips at positions (x, y), with each change of style once."""
    system = _system_of(console)
    out: list[str] = []
    current = NO_RENDITION
    link: str | None = None
    for x, y, strip in placed:
        out.append(_cursor_move(x, y))
        for text, style, control in strip:
            if control or not text:
                out.append(text)
                continue
            rendition = NO_RENDITION
            if style is not None:
                rendition = rendition_of(style, system)
                if style.link != link:
                    link = style.link
                    out.append(hyperlink(link))
            if rendition is not current and not is_same_on(text, current, rendition):
                out.append(rendition_change(current, rendition))
                current = rendition
            out.append(text)
    out.append(rendition_change(current, NO_RENDITION))
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


SHOWN: Final = ShownCells()
"""What the terminal of this process shows. The driver forgets it."""


def render_partial_update(update: _compositor.ChopsUpdate, console: Console) -> str:
    """Return what to write for a partial update: the cells of its spans that look different."""
    return _write_changed(_strips_in_spans(update), console)


def _write_changed(placed: Iterable[tuple[int, int, Strip]], console: Console) -> str:
    return write_strips(SHOWN.changed(placed, _system_of(console)), console)


def _system_of(console: Console) -> ColorSystem:
    return COLOR_SYSTEMS.get(console.color_system or "", ColorSystem.TRUECOLOR)


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
    """Return what to write for a whole layout: the cells that look different."""
    x, top, width, height = update.region
    SHOWN.resize(Size(x + width, top + height))
    lines = enumerate(update.strips, top)
    return _write_changed(((x, y, Strip.join(strips)) for y, strips in lines), console)


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
