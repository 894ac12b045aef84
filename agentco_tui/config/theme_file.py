"""A person's own themes: `themes/NAME.toml` beside the config file, a colour for each role."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agentco_tui.config import Problem, validators
from agentco_tui.config.toml_file import Table, TomlFile

GROUNDS: Final = ("background", "surface", "panel")
"""Of lists, of panes, of bars."""
TEXTS: Final = ("text", "muted", "faint", "accent", "good", "warning", "critical")
ROLES: Final = (*GROUNDS, *TEXTS, "cursor", "cursor_text", "blurred")
THEME: Final[Table] = {**dict.fromkeys(ROLES, validators.hex_colour), "dark": validators.boolean}
ENOUGH: Final = 4.5
"""The contrast from which on text can be read (WCAG 2.2, 1.4.3)."""


class ThemeFile(TomlFile):
    """What a theme's file says; it can be used if nothing is in `problems`."""

    def __init__(self, path: Path) -> None:
        self.colours: Mapping[str, Any] = {}  # and whether it is `dark`
        self.warnings: list[Problem] = []
        """What is hard to read."""
        super().__init__(path, must_exist=True)

    def _check(self, data: Mapping[str, Any]) -> None:
        colours = self.colours = self._right("", data, THEME)
        missing = [role for role in ROLES if role not in data]
        if missing:
            self._unreadable(f"needs {', '.join(missing)}")
        if self.problems:
            return
        pairs = [(text, ground) for text in TEXTS for ground in GROUNDS]
        for text, ground in (*pairs, ("cursor_text", "cursor"), ("text", "blurred")):
            found = contrast(colours[text], colours[ground])
            if found < ENOUGH:
                words = f"is hard to read on {ground}: a contrast of {found:.1f}, below {ENOUGH}"
                self.warnings.append(self.problem(text, words))


def own_themes(folder: Path) -> dict[str, ThemeFile]:
    """The themes in a folder of settings, by name, also those that can't be used."""
    return {path.stem: ThemeFile(path) for path in sorted(folder.glob("themes/*.toml"))}


def contrast(one: str, other: str) -> float:
    """Of two colours, from 1 to 21, by WCAG 2.2."""

    def luminance(colour: str) -> float:
        parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        red, green, blue = (
            each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)
