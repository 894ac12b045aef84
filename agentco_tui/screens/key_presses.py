"""When a key was pressed, and whether the keyboard sent it by itself because it is held down."""

from __future__ import annotations

from time import monotonic

from textual import events
from textual.app import App

REPEAT = 0.7
"""Seconds between two events of one key from which it was pressed anew: longer than keyboards
wait before they repeat."""


class KeyPresses:
    """The last key of a terminal, whatever stood on the screen when it came."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.at = 0.0
        """Steady clock: when it was read from the terminal, not when its turn came."""
        self.held_down = False
        """Whether it is one of those that come while a key stays down."""

    def take(self, key: str, at: float) -> None:
        """A key was read from the terminal."""
        self.held_down = key == self.key and at - self.at < REPEAT
        self.key, self.at = key, at

    def goes_on(self) -> bool:
        """Whether a key is being held down just now."""
        return self.held_down and monotonic() - self.at < REPEAT


class KeyApp(App[None]):
    """An app that keeps its last key, for questions that must not be answered by accident."""

    def __init__(self) -> None:
        super().__init__()
        self.presses = KeyPresses()

    async def on_event(self, event: events.Event) -> None:
        """Note a key before anybody acts on it."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.presses.take(event.key, event.time)
        await super().on_event(event)
