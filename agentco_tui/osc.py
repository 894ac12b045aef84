"""Sequences for the terminal that a person looks at, through the multiplexer it runs in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

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
            return f"\x1bP{sequence}\x1b\\"
    return sequence
