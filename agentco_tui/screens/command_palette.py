"""Textual's command palette, safe to type at faster than it draws."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette


class Palette(CommandPalette):
    """Opens over the frame only: in a dialog there is nothing to choose."""

    def leave_first(self) -> bool:
        """Leaving was asked for: leave the palette."""
        self.dismiss()
        return True

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close it, unless that has been done: Textual would close what lies beneath instead."""
        return super().dismiss(result) if self.is_current else AwaitComplete()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Page through the list only once it has a place (before, KeyError in Textual 8.2.8)."""
        if action == "command_list" and parameters[0] in {"page_up", "page_down"}:
            return bool(self.query_one(CommandList).scrollable_content_region)
        return super().check_action(action, parameters)
