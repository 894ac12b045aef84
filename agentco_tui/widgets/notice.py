"""A few lines that appear above a list when there is something to say, and else take no room."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events

from agentco_tui.widgets.pane_content import Item
from agentco_tui.widgets.text_pane import TextPane

MOST_LINES = 4


class Notice(TextPane, can_focus=False):
    """Takes as many lines as it has to say, at most `MOST_LINES`, and none if nothing."""

    DEFAULT_CSS = """
    Notice { height: 1; display: none; scrollbar-size: 0 0; padding: 0 1; }
    """

    def show(self, items: Iterable[Item], *, top: bool = False) -> None:
        """Say this; nothing hides the notice."""
        kept = tuple(items)
        self.display = bool(kept)
        super().show(kept, top=top)
        self._fit()

    def on_resize(self, event: events.Resize) -> None:
        """Break the lines anew and take the height they need."""
        super().on_resize(event)
        self._fit()

    def _fit(self) -> None:
        lines = max(1, min(MOST_LINES, len(self._lines)))
        if self.styles.height is None or self.styles.height.value != lines:
            self.styles.height = lines
