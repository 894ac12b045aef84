"""Copies a text to the clipboard with a command of this machine, such as pbcopy, xclip or tmux.

If none works, the caller uses OSC 52, the escape sequence by which the terminal itself fills the
clipboard.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from agentco_tui.system.child_process import CommandError, run_for_output
from agentco_tui.system.osc import multiplexer

MOST_BYTES: Final = 4_000
"""Bytes of a text for OSC 52: some terminals ignore a longer one, and none says so."""


def clipboard_commands(env: Mapping[str, str]) -> list[tuple[str, ...]]:
    """The installed commands that copy their input, the best first.

    Over SSH a tool would fill the clipboard of the remote machine. `load-buffer -w` (tmux 3.2) is
    the exception: it reaches tmux's own terminal whatever `set-clipboard` says.
    """
    commands: list[tuple[str, ...]] = []
    is_remote = "SSH_TTY" in env or "SSH_CONNECTION" in env
    if not is_remote:
        if sys.platform == "darwin":
            commands.append(("pbcopy",))
        if "WAYLAND_DISPLAY" in env:
            commands.append(("wl-copy", "--type", "text/plain"))
        if "DISPLAY" in env:
            commands.append(("xclip", "-selection", "clipboard"))
            commands.append(("xsel", "--clipboard", "--input"))
    if multiplexer(env) == "tmux":
        commands.append(("tmux", "load-buffer", "-w", "-"))
    return [command for command in commands if shutil.which(command[0], path=env.get("PATH"))]


def copy_with_tool(text: str, env: Mapping[str, str]) -> str | None:
    """Copy a text with the first command that works, and return its name; None if none did.

    Blocks for at most 3 seconds a command.
    """
    # xclip leaves a process running, which holds the text, and would keep our pipes open.
    quiet = ("sh", "-c", '"$0" "$@" >/dev/null 2>&1')
    for command in clipboard_commands(env):
        with suppress(CommandError):
            run_for_output((*quiet, *command), env, 3.0, apart=True, typed=text.encode())
            return command[0]
    return None
