"""Our own themes: dark, light and high contrast.

One colour has one meaning. Chrome is grey and cyan; amber and red say how bad something is, green
that it is good, and nothing else. All colours are exact entries of the palette of 256, so that a
login over SSH, which most often has no more, shows what was meant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from textual.theme import BUILTIN_THEMES, Theme

DEFAULT, LIGHT = "agentco-dark", "agentco-light"


def made(name: str, *, dark: bool = True, **roles: str) -> Theme:
    """A theme of colours by their roles: `surface` is the ground of panes, `panel` that of bars,
    `blurred` that of the line with the cursor where another list has the keys.
    """
    text, accent, panel, faint = (roles[each] for each in ("text", "accent", "panel", "faint"))
    good, warning, critical = (roles[each] for each in ("good", "warning", "critical"))
    return Theme(
        name=name,
        primary=accent,
        accent=accent,
        foreground=text,
        background=roles["background"],
        surface=roles["surface"],
        panel=panel,
        boost=panel,
        success=good,
        warning=warning,
        error=critical,
        dark=dark,
        variables={
            "text-muted": roles["muted"],
            "text-disabled": faint,
            "text-success": good,
            "text-warning": warning,
            "text-error": critical,
            "text-accent": accent,
            "primary-muted": roles["blurred"],
            "surface-lighten-2": faint,
            "block-cursor-background": roles["cursor"],
            "block-cursor-foreground": roles["cursor_text"],
            "block-cursor-blurred-background": roles["blurred"],
        },
    )


THEMES: Final = (
    made(
        "agentco-dark",
        background="#121212", surface="#1c1c1c", panel="#262626",  # 233, 234, 235
        text="#d0d0d0", muted="#a8a8a8", faint="#949494",  # 252, 248, 246
        accent="#87d7ff",  # 117
        good="#87d787", warning="#ffd75f", critical="#ff5f5f",  # 114, 221, 203
        cursor="#005f87", cursor_text="#ffffff", blurred="#303030",  # 24, 231; 236
    ),
    made(
        "agentco-light",
        background="#ffffff", surface="#eeeeee", panel="#e4e4e4",  # 231, 255, 254
        text="#1c1c1c", muted="#585858", faint="#626262",  # 234, 240, 241
        accent="#005faf",  # 25
        good="#005f00", warning="#875f00", critical="#af0000",  # 22, 94, 124
        cursor="#afd7ff", cursor_text="#080808", blurred="#d0d0d0",  # 153, 232; 252
        dark=False,
    ),
    made(
        # Told apart by those who see no red or no green, too: blue, yellow, and a light orange.
        "agentco-contrast",
        background="#000000", surface="#080808", panel="#1c1c1c",  # 16, 232, 234
        text="#ffffff", muted="#d0d0d0", faint="#b2b2b2",  # 231, 252, 249
        accent="#5fffff",  # 87
        good="#87afff", warning="#ffff00", critical="#ff875f",  # 111, 226, 209
        cursor="#ffffff", cursor_text="#000000", blurred="#303030",  # 231, 16; 236
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
