"""Textual's command palette, which a second key on its way must not close twice."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette

PALETTE_ID = "--command-palette"
"""By which Textual knows that a palette is open."""


class Palette(CommandPalette):
    """Opens over the frame only: in a dialog there is nothing to choose."""

    def __init__(self) -> None:
        super().__init__(id=PALETTE_ID)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close it, unless that has been done: Textual would close what lies beneath instead."""
        return super().dismiss(result) if self.is_current else AwaitComplete()
