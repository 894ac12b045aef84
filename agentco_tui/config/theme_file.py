"""Reads the user's themes: files `themes/NAME.toml` next to the config file."""

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
"""The colours of a theme by their use; a file must set all of them. `surface` is the background of
panes, `panel` that of bars, `cursor` that of the row under the cursor, and `blurred` the same while
the table has no focus; `faint` is fainter than `muted`."""
THEME: Table = {**dict.fromkeys(ROLES, validators.hex_colour), "dark": validators.boolean}


class ThemeFile(TomlFile):
    """A theme file; its colours can be used if `problems` is empty."""

    @property
    def colours(self) -> Mapping[str, Any]:
        """The colour of each role, such as "#87d7ff"; "dark" is a boolean."""
        return self.checked

    def _check(self, data: Mapping[str, Any]) -> None:
        self.checked = self._checked_table("", data, THEME)
        missing = [role for role in ROLES if role not in data]
        if missing:
            self._mark_unreadable(f"needs {', '.join(missing)}")


def themes_beside(config: Path) -> list[Path]:
    """The theme files next to a config file, sorted by name."""
    return sorted(config.parent.glob("themes/*.toml"))
