"""A layout is compared with the last layout, whatever was asked between the two.

Textual 8.2.8 tells (`Show`, `Resize`) and paints what a layout has that the one before had not
(`Compositor.reflow`). But between two layouts it may work out anew where everything is, because
somebody asked for the size of a widget after one that is hidden was refreshed
(`Compositor.full_map`), and keeps that as the layout before. What was displayed in between is then
never told of, nor painted: a list showed what it had shown when the person left it, a notice never
came, and an old one stayed in the corner.
"""

from __future__ import annotations

from typing import Any, Final, cast

from textual._compositor import Compositor, CompositorMap, ReflowResult
from textual.geometry import Size
from textual.widget import Widget

from agentco_tui.textual_patches.registry import SHOWN_EVENTS

_KEPT: Final = "_agentco_map_of_the_last_layout"
_original_map: Final[Any] = vars(Compositor).get("full_map")
_original_reflow: Final[Any] = vars(Compositor).get("reflow")


def install() -> bool:
    return SHOWN_EVENTS.install(
        _as_expected,
        lambda: (
            (Compositor, "full_map", property(_full_map)),
            (Compositor, "reflow", _reflow),
        ),
    )


def _full_map(compositor: Compositor) -> CompositorMap:
    before = compositor._full_map
    now = cast("CompositorMap", _original_map.fget(compositor))
    if now is not before:
        vars(compositor).setdefault(_KEPT, before)
    return now


def _reflow(compositor: Compositor, parent: Widget, size: Size) -> ReflowResult:
    compositor._full_map = vars(compositor).pop(_KEPT, compositor._full_map)
    return cast("ReflowResult", _original_reflow(compositor, parent, size))


def _as_expected() -> bool:
    """True if a compositor has the members that this replaces, with the same parameters."""
    found: Any = vars(Compositor)
    if not isinstance(found["full_map"], property):
        return False
    code = found["reflow"].__code__
    parameters = code.co_varnames[: code.co_argcount]
    return parameters == ("self", "parent", "size") and (
        {"_full_map", "_full_map_invalidated"} <= vars(Compositor()).keys()
    )
