"""The least size at which anything can be read, and what is said below it."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget

from agentco_tui.text import plain
from agentco_tui.widgets.text_pane import Item, Text, TextPane
from agentco_tui.widgets.tones import Tone

T = TypeVar("T")

LEAST_WIDTH, LEAST_HEIGHT = 60, 16


def too_small(size: Size) -> bool:
    """Whether a terminal of that size can't show what has to be read."""
    return size.width < LEAST_WIDTH or size.height < LEAST_HEIGHT


def size_needed(size: Size) -> list[Item]:
    """The sentence that stands there instead."""
    words = (
        f"agentco-tui needs {LEAST_WIDTH}x{LEAST_HEIGHT}; this terminal is "
        f"{size.width}x{size.height}. Make it larger to go on."
    )
    return [Text(plain(words), Tone.WARNING)]


class Overlay(ModalScreen[T]):
    """A screen over the frame that hides what would be cut, and says which size it needs.

    What is asked must be seen whole, so nothing is to be answered meanwhile: see `hidden`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "app.leave", "Leave", show=False, id="app.quit"),
    ]

    DEFAULT_CSS = """
    Overlay > .overlay--small {
        display: none; width: 1fr; height: 1fr; padding: 0 1; background: $background;
    }
    Overlay.-small > * { display: none; }
    Overlay.-small > .overlay--small { display: block; }
    """

    ASKS: ClassVar[bool] = False
    """Whether a single key here says yes to something."""

    def __init__(self) -> None:
        super().__init__()
        self._small = TextPane(classes="overlay--small")
        self._small.can_focus = False
        self._focus_before: Widget | None = None

    @property
    def hidden(self) -> bool:
        """Whether the terminal is too small to show what stands here."""
        return self.has_class("-small")

    def leave_first(self) -> bool:
        """Leaving was asked for: leave this, without an answer. False to leave the program."""
        self.dismiss(None)
        return True

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Close it, unless that has been done, or something stands over it: Textual would close
        what lies beneath instead, or fail.

        Two keys typed at once both reach a dialog before the first has closed it.
        """
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    def on_mount(self) -> None:
        """Put the sentence beside what it stands in for."""
        self.mount(self._small)

    def on_resize(self, event: events.Resize) -> None:
        """Hide all below the least size, and bring it back with the keys where they were."""
        small = too_small(event.size)
        if small and not self.hidden:
            self._focus_before = self.focused
        self.set_class(small, "-small")
        if small:
            self.call_after_refresh(self._small.show, size_needed(event.size))
        elif self._focus_before is not None:
            before, self._focus_before = self._focus_before, None
            self.call_after_refresh(before.focus)
