"""The files of the user's own themes, `themes/NAME.toml` beside the config file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentco_tui.config import validators
from agentco_tui.config.declaration import Table
from agentco_tui.config.toml_file import TomlFile

ROLES = (
    *("background", "surface", "panel", "text", "muted", "faint", "accent"),
    *("good", "warning", "critical", "cursor", "cursor_text", "blurred"),
)
"""What the colours of a theme are for; a file needs all of them."""
THEME: Table = {**dict.fromkeys(ROLES, validators.hex_colour), "dark": validators.boolean}


class ThemeFile(TomlFile):
    """The colours of a theme; they can be used if `problems` is empty."""

    @property
    def colours(self) -> Mapping[str, Any]:
        """Each role's colour, such as "#87d7ff", and whether the theme is `dark`."""
        return self.checked

    def _check(self, data: Mapping[str, Any]) -> None:
        self.checked = self._checked_table("", data, THEME)
        missing = [role for role in ROLES if role not in data]
        if missing:
            self._mark_unreadable(f"needs {', '.join(missing)}")


def themes_beside(config: Path) -> list[Path]:
    """The theme files that belong to a config file, sorted by name."""
    return sorted(config.parent.glob("themes/*.toml"))
