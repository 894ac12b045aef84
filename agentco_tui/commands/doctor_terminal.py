"""Describes for `agentco-tui doctor` what the user's terminal can do for the dashboard.

`Fitness` has what `terminal.fitness.check` found out: size, number of colours, encoding, whether
only ASCII is safe, and the reason if the dashboard cannot be shown (`refusal`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import asdict

from agentco_tui.system.clipboard import clipboard_commands
from agentco_tui.terminal.fitness import Fitness

_SSH_VARIABLES: Final = ("SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT")


def describe_terminal(fitness: Fitness, env: Mapping[str, str]) -> dict[str, Any]:
    """What the terminal can do, for the JSON report; `hints` are sentences for the user."""
    multiplexer = _multiplexer(env)
    clipboard_tools = [command[0] for command in clipboard_commands(env)]
    return {
        **asdict(fitness),
        "fits": fitness.refusal is None,
        "no_color": "NO_COLOR" in env,
        "multiplexer": multiplexer,
        "ssh": any(env.get(name) for name in _SSH_VARIABLES),
        "clipboard": clipboard_tools[0] if clipboard_tools else "the terminal (OSC 52)",
        "hints": _hints(fitness, env, multiplexer),
    }


def _multiplexer(env: Mapping[str, str]) -> str | None:
    """The terminal multiplexer, "tmux" or "screen" (GNU screen); None without one."""
    if env.get("TMUX"):
        return "tmux"
    if env.get("STY"):
        return "screen"
    return None


def _hints(fitness: Fitness, env: Mapping[str, str], multiplexer: str | None) -> list[str]:
    hints: list[str] = []
    if fitness.columns < 40 or fitness.rows < 12:
        hints.append("the window is too small: the dashboard needs 40 columns and 12 rows")
    if fitness.ascii:
        hints.append(
            "signs are drawn in ASCII: set a locale with UTF-8 (LANG, LC_ALL) for the others"
        )
    if "NO_COLOR" in env:
        hints.append("NO_COLOR is set: there are no colours, but signs have the same meaning")
    if 0 < fitness.colours <= 16 and fitness.term != "linux":
        hints.append("16 colours: if the terminal has more, set TERM=xterm-256color")
    if multiplexer == "tmux":
        hints.append(
            "tmux drops text copied by OSC 52 unless set-clipboard on is set, and notifications"
            " unless allow-passthrough on is set (tmux show -g; tmux show -gw)"
        )
        if not fitness.term.startswith(("tmux", "screen")):
            hints.append(f"inside tmux, TERM should be tmux-256color; it is {fitness.term}")
    if multiplexer == "screen":
        hints.append("GNU screen splits copied text into pieces, which not all terminals accept")
    return hints
