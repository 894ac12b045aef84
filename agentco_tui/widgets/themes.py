"""The program's own Textual themes: dark, light and high contrast.

Each colour has one meaning. Grey and cyan are for chrome, amber and red say how bad something is,
green says that it is good. All colours are exact entries of the palette of 256 colours, which is
all that most logins over SSH have, so that they are shown as chosen; a comment gives the number of
each in that palette. `make_theme` also makes the themes of the user's theme files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from textual.theme import BUILTIN_THEMES, Theme

DEFAULT_THEME = "agentco-dark"
LIGHT_THEME = "agentco-light"


def make_theme(name: str, *, dark: bool = True, **colours: str) -> Theme:
    """Return a theme made of colours by their roles; all roles below are required.

    `surface` is the background of panes, `panel` that of bars, `blurred` that of the cursor's line
    in a list without the focus.
    """
    text = colours["text"]
    accent = colours["accent"]
    panel = colours["panel"]
    faint = colours["faint"]
    good = colours["good"]
    warning = colours["warning"]
    critical = colours["critical"]
    return Theme(
        name=name,
        primary=accent,
        accent=accent,
        foreground=text,
        background=colours["background"],
        surface=colours["surface"],
        panel=panel,
        boost=panel,
        success=good,
        warning=warning,
        error=critical,
        dark=dark,
        variables={
            "text-muted": colours["muted"],
            "text-disabled": faint,
            "text-success": good,
            "text-warning": warning,
            "text-error": critical,
            "text-accent": accent,
            "primary-muted": colours["blurred"],  # behind the input that has the focus
            "surface-lighten-2": faint,  # the scrollbar
            "block-cursor-background": colours["cursor"],
            "block-cursor-foreground": colours["cursor_text"],
            "block-cursor-blurred-background": colours["blurred"],
        },
    )


THEMES: Final = (
    make_theme(
        "agentco-dark",
        background="#121212", surface="#1c1c1c", panel="#262626",  # 233, 234, 235
        text="#d0d0d0", muted="#a8a8a8", faint="#949494",  # 252, 248, 246
        accent="#87d7ff",  # 117
        good="#87d787", warning="#ffd75f", critical="#ff5f5f",  # 114, 221, 203
        cursor="#005f87", cursor_text="#ffffff", blurred="#303030",  # 24, 231; 236
    ),
    make_theme(
        "agentco-light",
        background="#ffffff", surface="#eeeeee", panel="#e4e4e4",  # 231, 255, 254
        text="#1c1c1c", muted="#585858", faint="#626262",  # 234, 240, 241
        accent="#005faf",  # 25
        good="#005f00", warning="#875f00", critical="#af0000",  # 22, 94, 124
        cursor="#afd7ff", cursor_text="#080808", blurred="#d0d0d0",  # 153, 232; 252
        dark=False,
    ),
    make_theme(
        # Blue, yellow and light orange can be distinguished without seeing red or green.
        "agentco-contrast",
        background="#000000", surface="#080808", panel="#1c1c1c",  # 16, 232, 234
        text="#ffffff", muted="#d0d0d0", faint="#b2b2b2",  # 231, 252, 249
        accent="#5fffff",  # 87
        good="#87afff", warning="#ffff00", critical="#ff875f",  # 111, 226, 209
        cursor="#ffffff", cursor_text="#000000", blurred="#303030",  # 231, 16; 236
    ),
)  # fmt: skip

ANSI_THEMES: Final = (
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
        # The green, yellow and cyan of a console cannot be read on white.
        BUILTIN_THEMES["ansi-light"],
        accent="ansi_blue",
        success="ansi_default",
        warning="ansi_magenta",
        variables={**BUILTIN_THEMES["ansi-light"].variables, "primary-muted": "ansi_white"},
    ),
)
"""Textual's themes in the 16 colours of the terminal, of which only the readable ones are used."""
