"""Sequences for the terminal that a person looks at, through the multiplexer it runs in."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from itertools import chain
from typing import Final, Literal

from agentco_tui.text import nearest_ascii

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


PUSH_TITLE: Final = "\x1b[22;2t"
POP_TITLE: Final = "\x1b]2;\a\x1b[23;2t"  # empty first: screen, without a stack, shows its own


def _shown(text: str, env: Mapping[str, str]) -> str:
    """In ASCII where screen may be: of other characters it takes the lowest byte, ESC of `ě`."""
    is_screen = "STY" in env or env.get("TERM", "").startswith("screen")
    return "".join(map(nearest_ascii, text)) if is_screen else text


def title(text: str, env: Mapping[str, str]) -> str:
    """What gives the terminal a title; a safe text."""
    return f"\x1b]2;{_shown(text, env)}\a"


def notification_form(env: Mapping[str, str]) -> str | None:
    """By which sequence the terminal shows them, and if by several by one; None: it isn't known."""
    program, term = env.get("TERM_PROGRAM"), env.get("TERM", "").removeprefix("xterm-")
    if {program, term.partition("-")[0]} & {"WezTerm", "ghostty", "foot", "rxvt"}:
        return "777"
    is_kitty = term == "kitty" or "KITTY_WINDOW_ID" in env
    return "9" if program == "iTerm.app" else "99" if is_kitty else None


def notification(title: str, text: str, env: Mapping[str, str]) -> str:
    """What has the terminal show one, of two safe texts; where it isn't known how, in each way."""
    # A `;` parts the fields, and ConEmu takes OSC 9 with a digit before one for a progress bar.
    title, text = (_shown(each.replace(";", ","), env) for each in (title, text))
    kitty = f"99;i=agentco:d=0:o=unfocused;{title}", f"99;i=agentco:p=body:o=unfocused;{text}"
    forms = {"9": (f"9;{text}",), "777": (f"777;notify;{title};{text}",), "99": kitty}
    known = notification_form(env)
    parts = forms[known] if known else chain(*forms.values())
    return "".join(through(f"\x1b]{part}\a", env) for part in parts)
