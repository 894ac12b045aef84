"""Escape sequences (OSC) for the user's terminal, also through tmux or GNU screen.

The functions return the sequence and write nothing. `env` is the environment, which tells the kind
of terminal. A safe text is one without control characters (`agentco_tui.text.safe`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from itertools import chain
from typing import Final, Literal

from agentco_tui.text import nearest_ascii

ONE_PIECE: Final = 700
"""Characters of one string that screen passes on; it has room for 768."""
LINKABLE: Final = r"https?://[\x21-\x7e]{1,1990}"
"""A URL that is safe in OSC 8: nothing in it can end the sequence or begin another."""

Multiplexer = Literal["tmux", "screen"]


def multiplexer(env: Mapping[str, str]) -> Multiplexer | None:
    """The multiplexer between program and terminal, by its environment variables, or None."""
    term = env.get("TERM", "")
    if "TMUX" in env and term.startswith(("tmux", "screen")):
        return "tmux"
    if "STY" in env:
        return "screen"
    return None


def through(sequence: str, env: Mapping[str, str]) -> str:
    """A sequence that ends in BEL (not in ST), wrapped so that the multiplexer passes it on.

    tmux does so with `allow-passthrough on` only, which is off by default. Screen would show tmux's
    form as text, so each gets its own.
    """
    match multiplexer(env):
        case "tmux":
            doubled = sequence.replace("\x1b", "\x1b\x1b")
            return f"\x1bPtmux;{doubled}\x1b\\"
        case "screen":
            pieces = range(0, len(sequence), ONE_PIECE)
            return "".join(f"\x1bP{sequence[at : at + ONE_PIECE]}\x1b\\" for at in pieces)
    return sequence


def clipboard(text: str, env: Mapping[str, str]) -> str:
    """Asks the terminal to copy a text to its clipboard (OSC 52). No terminal says if it did.

    tmux copies it itself, and passes it on with `set-clipboard on` only.
    """
    sequence = f"\x1b]52;c;{b64encode(text.encode()).decode()}\x07"
    if multiplexer(env) == "tmux":
        return sequence
    return through(sequence, env)


def hyperlink(url: str | None) -> str:
    """Begins a link (OSC 8) to a LINKABLE URL, or ends one if `url` is None."""
    return f"\x1b]8;;{url or ''}\x1b\\"


PUSH_TITLE: Final = "\x1b[22;2t"
"""Saves the terminal's title on a stack."""
POP_TITLE: Final = "\x1b]2;\a\x1b[23;2t"
"""Restores the saved title. It is emptied first: screen has no stack, and shows its own then."""


def _shown(text: str, env: Mapping[str, str]) -> str:
    """A text in ASCII for screen, which takes the lowest byte of other characters: ESC of `ě`."""
    is_screen = "STY" in env or env.get("TERM", "").startswith("screen")
    if not is_screen:
        return text
    return "".join(map(nearest_ascii, text))


def title(text: str, env: Mapping[str, str]) -> str:
    """Sets the terminal's title to a safe text."""
    return f"\x1b]2;{_shown(text, env)}\a"


def notification_form(env: Mapping[str, str]) -> str | None:
    """OSC code (9, 99 or 777) by which the terminal shows notifications; None if unknown."""
    program = env.get("TERM_PROGRAM")
    term = env.get("TERM", "").removeprefix("xterm-")
    if {program, term.partition("-")[0]} & {"WezTerm", "ghostty", "foot", "rxvt"}:
        return "777"
    if program == "iTerm.app":
        return "9"
    if term == "kitty" or "KITTY_WINDOW_ID" in env:
        return "99"
    return None


def notification(title: str, text: str, env: Mapping[str, str]) -> str:
    """Shows a notification of two safe texts, in every known form if the right one is unknown."""
    # A `;` separates the fields, and ConEmu takes OSC 9 with a digit before it for a progress bar.
    title = _shown(title.replace(";", ","), env)
    text = _shown(text.replace(";", ","), env)
    commands_by_form = {
        "9": [f"9;{text}"],
        "777": [f"777;notify;{title};{text}"],
        "99": [f"99;i=agentco:d=0:o=unfocused;{title}", f"99;i=agentco:p=body:o=unfocused;{text}"],
    }
    form = notification_form(env)
    commands = commands_by_form[form] if form else chain(*commands_by_form.values())
    return "".join(through(f"\x1b]{command}\a", env) for command in commands)
