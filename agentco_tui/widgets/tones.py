"""What a piece of text means, so that colour is chosen in one place and never alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual.widget import Widget

from agentco_tui.text import cell_width
from agentco_tui.widgets.table_columns import Cell, Tone

__all__ = ["Cell", "Pressable", "Tone", "Toned", "columns"]


@dataclass(frozen=True, slots=True)
class Pressable(Cell):
    """A cell that can be clicked; `key` names what that asks for."""

    key: str = ""


class Toned(Widget):
    """A widget that draws cells in the theme's colours for their tones."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"tone--{tone.value}" for tone in Tone}

    DEFAULT_CSS = """
    Toned {
        & > .tone--plain { color: $foreground; }
        & > .tone--dim { color: $text-muted; }
        & > .tone--strong { text-style: bold; }
        & > .tone--good { color: $text-success; }
        & > .tone--warning { color: $text-warning; }
        & > .tone--critical { color: $text-error; text-style: bold; }
        & > .tone--accent { color: $text-accent; }
    }
    """

    def tone_style(self, tone: Tone) -> Style:
        """The style of a tone over the widget's own background."""
        return self.rich_style + self.get_component_rich_style(f"tone--{tone.value}", partial=True)


def columns(cells: Iterable[Cell]) -> int:
    """How many columns cells take together."""
    return sum(cell_width(cell.text) for cell in cells)
