"""Ways to the clipboard, by where the program runs."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from agentco_tui.system import osc
from agentco_tui.system.clipboard import clipboard_commands, copy_with_tool

WAYLAND, X11 = {"WAYLAND_DISPLAY": "wayland-0"}, {"DISPLAY": ":0"}
TMUX = {"TMUX": "/tmp/x,1,0", "TERM": "tmux-256color"}
SCREEN = {"STY": "1.x", "TERM": "screen"}


@pytest.fixture
def path(tmp_path: Path) -> dict[str, str]:
    """Every tool is there; each writes its name into a file, but for one that fails."""
    for name in ("wl-copy", "xclip", "xsel", "pbcopy", "tmux"):
        tool = tmp_path / name
        fails = (
            "exit 1"
            if name == "xclip"
            else f'echo {name} "$@" > {tmp_path}/log; cat >> {tmp_path}/log'
        )
        # One that stays, as xclip does, and keeps its outputs open.
        tool.write_text(f"#!/bin/sh\n{fails}\n{'sleep 60 &' if name == 'xsel' else ''}")
        tool.chmod(0o755)
    return {"PATH": f"{tmp_path}:/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, []),
        (WAYLAND, ["wl-copy"]),
        (X11, ["xclip", "xsel"]),
        ({**WAYLAND, **X11, **TMUX}, ["wl-copy", "xclip", "xsel", "tmux"]),
        ({**WAYLAND, **X11, "SSH_TTY": "/dev/pts/1"}, []),
        ({**X11, **TMUX, "SSH_CONNECTION": "1 2 3 4"}, ["tmux"]),
        ({**X11, **SCREEN, "SSH_CONNECTION": "1 2 3 4"}, []),
    ],
)
def test_which_tools_would_take_it(
    env: dict[str, str], expected: list[str], path: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert [tool[0] for tool in clipboard_commands({**path, **env})] == expected
    assert clipboard_commands({**env, "PATH": "/nowhere"}) == []
    monkeypatch.setattr("sys.platform", "darwin")
    local = not any(name.startswith("SSH") for name in env)
    commands = [command[0] for command in clipboard_commands({**path, **env})]
    assert commands == ["pbcopy"] * local + expected


def test_one_that_fails_is_followed_by_the_next_and_one_that_stays_is_not_waited_for(
    path: dict[str, str], tmp_path: Path
) -> None:
    assert copy_with_tool("wörd", {**path, **X11}) == "xsel"
    assert (tmp_path / "log").read_text() == "xsel --clipboard --input\nwörd"
    assert copy_with_tool("x", path) is None


def test_what_the_terminal_is_asked_with() -> None:
    text = "é" * 1_500
    plain = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"
    assert osc.clipboard(text, {}) == osc.clipboard(text, TMUX) == plain
    pieces = re.findall(r"\x1bP(.{1,700}?)\x1b\\", osc.clipboard(text, SCREEN), re.DOTALL)
    assert len(pieces) > 4
    assert "".join(pieces) == plain
