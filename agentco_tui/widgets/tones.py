"""What a piece of text means, so that colour is chosen in one place and never alone."""

from __future__ import annotations

from collections.abc import Iterable

from rich.style import Style
from textual.widget import Widget

from agentco_tui.text import cell_width
from agentco_tui.widgets.table_columns import Cell, Tone

__all__ = ["TONE_CLASSES", "TONE_CSS", "Cell", "Pressable", "Tone", "columns", "tone_style"]


class Pressable(Cell, frozen=True):
    """A cell that can be clicked; `key` names what that asks for."""

    key: str = ""


TONE_CLASSES = {f"tone--{tone.value}" for tone in Tone}
"""Component classes, for a widget's COMPONENT_CLASSES."""

TONE_CSS = """
    & > .tone--plain { color: $foreground; }
    & > .tone--dim { color: $text-muted; }
    & > .tone--strong { text-style: bold; }
    & > .tone--good { color: $text-success; }
    & > .tone--warning { color: $text-warning; }
    & > .tone--critical { color: $text-error; text-style: bold; }
    & > .tone--accent { color: $text-accent; }
"""
"""Their colours, for the widget's own block of DEFAULT_CSS.

Textual takes component classes and default CSS along the first base that is a widget only, so a
widget class that brought them along could not be combined with ScrollView.
"""


def tone_style(widget: Widget, tone: Tone) -> Style:
    """The style of a tone on the widget's own background, which automatic colours depend on."""
    return widget.rich_style + widget.get_component_rich_style(f"tone--{tone.value}")


class ToneStyles:
    """The styles of a widget's tones, worked out once; to be forgotten when its style changes.

    Textual puts them together from all rules anew each time, which takes longer than painting.
    """

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._known: dict[Tone | None, Style] = {}

    def of(self, tone: Tone | None) -> Style:
        """The style of a tone; of None that of the widget itself."""
        style = self._known.get(tone)
        if style is None:
            style = self._widget.rich_style if tone is None else tone_style(self._widget, tone)
            self._known[tone] = style
        return style

    def forget(self) -> None:
        """Theme, focus or style sheet have changed."""
        self._known.clear()


def columns(cells: Iterable[Cell]) -> int:
    """How many columns cells take together."""
    return sum(cell_width(cell.text) for cell in cells)
