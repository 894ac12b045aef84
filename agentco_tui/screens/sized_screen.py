"""The base of all screens: it shows one sentence while the terminal is too small for the screen.

It also sets the CSS classes `-phone` and `-slim` on narrow terminals, by which screens leave out
panels. `KeyApp` is the application class of the dashboard.
"""

from __future__ import annotations

from typing import Final, TypeVar, cast

from textual import events
from textual.screen import Screen
from textual.widget import Widget

from agentco_tui.screens.key_app import KeyApp
from agentco_tui.text import mark_safe
from agentco_tui.widgets.text_pane import Paragraph, TextPane
from agentco_tui.widgets.tones import Tone

T = TypeVar("T")

LEAST_WIDTH: Final = 40
"""Columns below which only a sentence is shown."""
LEAST_HEIGHT: Final = 12
"""Lines below which only a sentence is shown."""
PHONE_WIDTH: Final = 60
"""Columns below which a screen shows one list and nothing beside it."""
PHONE_HEIGHT: Final = 16
"""Lines below which a screen shows one list and nothing beside it."""
SLIM_WIDTH: Final = 72
"""Columns below which two panels do not fit side by side."""


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
        return self.has_class("-small")

    @property
    def key_app(self) -> KeyApp:
        return cast(KeyApp, self.app)

    def on_mount(self) -> None:
        self.mount(self._small)

    def on_resize(self, event: events.Resize) -> None:
        """Hide everything below the least size; above it, show it again with the same focus.

        The event has the size of the last layout. If the terminal has another one by now, the event
        is sent again with that.
        """
        width, height = size = self.app.size
        if event.size != size:
            self.post_message(events.Resize(size, size))
        was_small = self.hidden
        is_small = width < LEAST_WIDTH or height < LEAST_HEIGHT
        if is_small and not was_small:
            self._focus_before = self.focused
        self.set_class(is_small, "-small")
        self.set_class(width < PHONE_WIDTH or height < PHONE_HEIGHT, "-phone")
        self.set_class(width < SLIM_WIDTH, "-slim")
        if is_small:
            words = f"agentco-tui needs {LEAST_WIDTH}x{LEAST_HEIGHT}; this terminal is "
            words += f"{width}x{height}. Make it larger to continue."
            self.call_after_refresh(self._small.show, [Paragraph(mark_safe(words), Tone.WARNING)])
        elif was_small:
            self.call_after_refresh(self.focus_again)

    def focus_again(self) -> None:
        """Return the focus to the widget that had it before the screen was hidden."""
        if self._focus_before is not None:
            self._focus_before.focus()
