"""Our own themes: dark, light and high contrast.

One colour has one meaning. Chrome is grey and cyan; amber and red say how bad something is, green
that it is good, and nothing else. All colours are exact entries of the palette of 256, so that a
login over SSH, which most often has no more, shows what was meant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from textual.theme import BUILTIN_THEMES, Theme

DEFAULT: Final = "agentco-dark"


def _theme(
    name: str,
    *,
    grounds: tuple[str, str, str],
    text: str,
    muted: str,
    faint: str,
    accent: str,
    states: tuple[str, str, str],
    cursor: tuple[str, str],
    blurred: str,
    is_dark: bool = True,
) -> Theme:
    """`grounds`: of lists, of panes, of bars; `states`: good, warning, critical; `cursor`: ground
    and text of the line that has the keys, `blurred` its ground where another has them.
    """
    background, surface, panel = grounds
    good, warning, critical = states
    return Theme(
        name=name,
        primary=accent,
        accent=accent,
        foreground=text,
        background=background,
        surface=surface,
        panel=panel,
        boost=panel,
        success=good,
        warning=warning,
        error=critical,
        dark=is_dark,
        variables={
            "text-muted": muted,
            "text-disabled": faint,
            "text-success": good,
            "text-warning": warning,
            "text-error": critical,
            "text-accent": accent,
            "primary-muted": blurred,
            "surface-lighten-2": faint,
            "block-cursor-background": cursor[0],
            "block-cursor-foreground": cursor[1],
            "block-cursor-blurred-background": blurred,
        },
    )


THEMES: Final = (
    _theme(
        "agentco-dark",
        grounds=("#121212", "#1c1c1c", "#262626"),  # 233, 234, 235
        text="#d0d0d0", muted="#a8a8a8", faint="#949494",  # 252, 248, 246
        accent="#87d7ff",  # 117
        states=("#87d787", "#ffd75f", "#ff5f5f"),  # 114, 221, 203
        cursor=("#005f87", "#ffffff"), blurred="#303030",  # 24, 231; 236
    ),
    _theme(
        "agentco-light",
        grounds=("#ffffff", "#eeeeee", "#e4e4e4"),  # 231, 255, 254
        text="#1c1c1c", muted="#585858", faint="#626262",  # 234, 240, 241
        accent="#005faf",  # 25
        states=("#005f00", "#875f00", "#af0000"),  # 22, 94, 124
        cursor=("#afd7ff", "#080808"), blurred="#d0d0d0",  # 153, 232; 252
        is_dark=False,
    ),
    _theme(
        # Told apart by those who see no red or no green, too: blue, yellow, and a light orange.
        "agentco-contrast",
        grounds=("#000000", "#080808", "#1c1c1c"),  # 16, 232, 234
        text="#ffffff", muted="#d0d0d0", faint="#b2b2b2",  # 231, 252, 249
        accent="#5fffff",  # 87
        states=("#87afff", "#ffff00", "#ff875f"),  # 111, 226, 209
        cursor=("#ffffff", "#000000"), blurred="#303030",  # 231, 16; 236
    ),
)  # fmt: skip

SIXTEEN: Final = (
    replace(
        BUILTIN_THEMES["ansi-dark"],
        primary="ansi_bright_cyan",
        accent="ansi_bright_cyan",
        success="ansi_bright_green",
        warning="ansi_bright_yellow",
        error="ansi_bright_red",
        variables={**BUILTIN_THEMES["ansi-dark"].variables, "primary-muted": "ansi_blue"},
    ),
    replace(
        # On white no green, yellow or cyan of a console can be read.
        BUILTIN_THEMES["ansi-light"],
        accent="ansi_blue",
        success="ansi_default",
        warning="ansi_magenta",
        variables={**BUILTIN_THEMES["ansi-light"].variables, "primary-muted": "ansi_white"},
    ),
)
"""Textual's themes of the terminal's own colours, in those that can be read and mean one thing."""
