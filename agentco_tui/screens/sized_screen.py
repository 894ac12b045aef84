"""A screen that hides where the terminal is too small to show what has to be read, and says which
size it needs.
"""

from __future__ import annotations

from typing import TypeVar

from textual import events
from textual.screen import Screen
from textual.widget import Widget

from agentco_tui.text import plain
from agentco_tui.widgets.text_pane import Text, TextPane
from agentco_tui.widgets.tones import Tone

T = TypeVar("T")

LEAST_WIDTH, LEAST_HEIGHT = 60, 16


class SizedScreen(Screen[T]):
    """Shows one sentence below the least size, and all of itself again above it."""

    DEFAULT_CSS = """
    SizedScreen > .screen--small {
        display: none; width: 1fr; height: 1fr; padding: 0 1; background: $background;
    }
    SizedScreen.-small > * { display: none; }
    SizedScreen.-small > .screen--small { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._small = TextPane(classes="screen--small")
        self._small.can_focus = False
        self._focus_before: Widget | None = None

    @property
    def hidden(self) -> bool:
        """Whether the terminal is too small to show what stands here."""
        return self.has_class("-small")

    def on_mount(self) -> None:
        self.mount(self._small)

    def on_resize(self, event: events.Resize) -> None:
        """Hide all below the least size, and bring it back with the keys where they were.

        A screen is told by its own layout of the size that it has just taken; where the terminal
        has another by then, that echo takes the new size's place in the queue.
        """
        width, height = size = self.app.size
        if event.size != size:
            self.post_message(events.Resize(size, size))
        was_small, small = self.hidden, width < LEAST_WIDTH or height < LEAST_HEIGHT
        if small and not was_small:
            self._focus_before = self.focused
        self.set_class(small, "-small")
        if small:
            words = (
                f"agentco-tui needs {LEAST_WIDTH}x{LEAST_HEIGHT}; this terminal is "
                f"{width}x{height}. Make it larger to go on."
            )
            self.call_after_refresh(self._small.show, [Text(plain(words), Tone.WARNING)])
        elif was_small:
            self.call_after_refresh(self.focus_again)

    def focus_again(self) -> None:
        """What was hidden has lost the keys."""
        if self._focus_before is not None:
            self._focus_before.focus()
