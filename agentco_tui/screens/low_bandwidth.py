"""Painting less for a thin line: asked for with --thin, or because the terminal can't keep up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

PAINTING_LESS: Final = (
    "the terminal takes long to show what is written: painting less until it keeps up"
)
PAINTING_ALL: Final = "the terminal keeps up again: everything is painted"

SECONDS_BETWEEN_AGES: Final = 10
"""Between two times that ages are told anew, on a thin line."""


class ThinLine:
    """Whether less is painted now, and who wants to know when that changes."""

    def __init__(self, *, asked: bool) -> None:
        self.asked = asked
        """True if a person wants it, so that it stays."""
        self._slow = False
        self._listeners: list[Callable[[], None]] = []
        self._seconds = 0

    @property
    def on(self) -> bool:
        """Whether less is painted."""
        return self.asked or self._slow

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever `on` has changed."""
        self._listeners.append(listener)

    def set_slow(self, slow: bool) -> bool:
        """Say whether the terminal keeps up; True if that changes what is painted."""
        before, self._slow = self.on, slow
        if self.on is before:
            return False
        for listener in self._listeners:
            listener()
        return True

    def tells_ages(self) -> bool:
        """Called once a second: whether ages are told anew in this one."""
        self._seconds += 1
        return not self.on or self._seconds % SECONDS_BETWEEN_AGES == 0
