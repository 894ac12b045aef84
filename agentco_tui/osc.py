"""Sequences for the terminal that a person looks at, through the multiplexer it runs in."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Final, Literal

ONE_PIECE: Final = 700
"""Characters of one string that screen hands on; it has room for 768."""
LINKABLE: Final = r"https?://[\x21-\x7e]{1,1990}"
"""An address that may stand in OSC 8: nothing in it can end the sequence or begin another."""

Multiplexer = Literal["tmux", "screen"]


def multiplexer(env: Mapping[str, str]) -> Multiplexer | None:
    """The one that stands between the program and the terminal, by TERM and what each sets."""
    term = env.get("TERM", "")
    if "TMUX" in env and term.startswith(("tmux", "screen")):
        return "tmux"
    return "screen" if "STY" in env else None


def through(sequence: str, env: Mapping[str, str]) -> str:
    """A sequence that ends in BEL, not ST, wrapped so that tmux or screen hands it on.

    tmux does so with `allow-passthrough on` only, which is off unless a person sets it; screen
    takes tmux's form for text, so each gets its own.
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
    """Asks the terminal to take a text into its clipboard (OSC 52); no terminal tells if it did.

    tmux takes it itself, and hands it on with `set-clipboard on` only.
    """
    sequence = f"\x1b]52;c;{b64encode(text.encode()).decode()}\x07"
    return sequence if multiplexer(env) == "tmux" else through(sequence, env)


def hyperlink(url: str | None) -> str:
    """Begins a link (OSC 8) to a LINKABLE address, or ends one."""
    return f"\x1b]8;;{url or ''}\x1b\\"
