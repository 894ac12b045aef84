"""Ways to the clipboard: a tool of this machine, tmux, or the terminal itself (OSC 52)."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from agentco_tui.system.child_process import CommandError, run_for_output
from agentco_tui.system.osc import multiplexer

MOST_BYTES: Final = 4_000
"""Of a text that the terminal is asked to take: some drop all of a longer one, and none tells."""


def tools(env: Mapping[str, str]) -> list[tuple[str, ...]]:
    """The commands that would take a text, the best first; none if only the terminal can. Over SSH
    a tool fills the clipboard of a machine that nobody sits at, but for `load-buffer -w` (tmux
    3.2), which reaches tmux's own terminal whatever `set-clipboard` says.
    """
    found: list[tuple[str, ...]] = [("pbcopy",)] * (sys.platform == "darwin")
    found += [("wl-copy", "--type", "text/plain")] * ("WAYLAND_DISPLAY" in env)
    if "DISPLAY" in env:
        found += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    if "SSH_TTY" in env or "SSH_CONNECTION" in env:
        found.clear()
    found += [("tmux", "load-buffer", "-w", "-")] * (multiplexer(env) == "tmux")
    return [command for command in found if shutil.which(command[0], path=env.get("PATH"))]


def copy_with_tool(text: str, env: Mapping[str, str]) -> str | None:
    """Give a text to the first tool that takes it; its name, None if none did. Blocks."""
    # What xclip leaves running, to hold the text, would keep our pipes open.
    quiet = ("sh", "-c", '"$0" "$@" >/dev/null 2>&1')
    for tool in tools(env):
        with suppress(CommandError):
            run_for_output((*quiet, *tool), env, 3.0, apart=True, typed=text.encode())
            return tool[0]
    return None
