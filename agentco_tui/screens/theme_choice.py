"""Chooses the theme of a dashboard.

In this order: the flag `--theme`, the theme that the user chose last in the dashboard, the config
file or environment, and what suits the terminal's background. `Remembered` is what the last run
stored; `theme_over` is the theme that the settings named when the user chose another, because the
choice counts only while they name the same one. `settings.themes` are the user's own themes, each
read from a file.
"""

from __future__ import annotations

import os
from typing import Any

from textual.app import App

from agentco_tui.config import Settings
from agentco_tui.system.state_folder import Remembered
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.widgets import themes


def named_theme(settings: Settings) -> str | None:
    """Return the theme that a flag, the config file or the environment names; None if none does."""
    return settings.theme or os.environ.get("TEXTUAL_THEME")


class ThemeChoice:
    """Registers the themes of one app, and says which of them is wanted."""

    def __init__(self, app: App[Any], fallback: str) -> None:
        """`fallback` is used if nothing names a theme."""
        self._app = app
        self._fallback = fallback
        for theme in (*themes.THEMES, *themes.ANSI_THEMES):
            app.register_theme(theme)

    def apply(self, settings: Settings, remembered: Remembered) -> None:
        """Register the user's own themes, and show the one that is wanted."""
        for name, roles in settings.themes.items():
            self._app.register_theme(themes.make_theme(name, **roles))
        wanted = self._wanted(settings, remembered)
        if self._app.theme == wanted:
            # Textual sees no change in a theme of the same name with other colours.
            self._app.theme = themes.DEFAULT_THEME
        self._app.theme = wanted

    def apply_changed(self, before: Settings, settings: Settings, remembered: Remembered) -> bool:
        """Apply the settings if their themes differ from those before.

        False if the file of the theme in use has gone.
        """
        if (settings.theme, settings.themes) == (before.theme, before.themes):
            return True
        has_file = self._app.theme not in before.themes or self._app.theme in settings.themes
        self.apply(settings, remembered)
        return has_file

    def unreadable(self, settings: Settings, remembered: Remembered) -> str | None:
        """The theme that the user chose last, if it has no file that can be read."""
        chosen = _chosen(settings, remembered)
        return None if chosen in self._app.available_themes else chosen

    def _wanted(self, settings: Settings, remembered: Remembered) -> str:
        for name in (_chosen(settings, remembered), named_theme(settings)):
            if name is not None and name in self._app.available_themes:
                return name
        return self._fallback


def _chosen(settings: Settings, remembered: Remembered) -> str | None:
    """The theme that the user chose last, unless a flag or changed settings name another."""
    is_by_flag = settings.sources.get("theme") == "--theme"
    if is_by_flag or remembered.theme_over != named_theme(settings):
        return None
    return remembered.theme


def unreadable_words(name: str) -> SafeText:
    """A notice that a theme in use can't be read."""
    words = "its file is missing or wrong (agentco-tui config check says what is wrong)"
    return mark_safe(f"the theme {clean_line(name, 40)} cannot be read: {words}")
