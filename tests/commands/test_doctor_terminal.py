"""What `doctor` says about the terminal."""

from __future__ import annotations

from typing import Any

import pytest

from agentco_tui.commands.doctor import look
from agentco_tui.terminal.fitness import Fitness


def _fitness(**changed: Any) -> Fitness:
    found = {
        "refusal": None,
        "ascii": False,
        "colours": 256,
        "columns": 120,
        "rows": 40,
        "term": "xterm-256color",
        "encoding": "utf-8",
    }
    return Fitness(**{**found, **changed})


def test_a_good_terminal_needs_no_hint() -> None:
    found = look(_fitness(), {})
    assert (found["fits"], found["hints"]) == (True, [])
    assert (found["multiplexer"], found["ssh"]) == (None, False)
    found = look(_fitness(refusal="no"), {"TMUX": "x", "SSH_CONNECTION": "y"})
    assert (found["fits"], found["multiplexer"], found["ssh"]) == (False, "tmux", True)


@pytest.mark.parametrize(
    ("changed", "env", "words"),
    [
        ({"columns": 59}, {}, "60 columns and 16 rows"),
        ({"rows": 15}, {}, "60 columns and 16 rows"),
        ({"columns": 79}, {}, "80 columns"),
        ({"ascii": True}, {}, "UTF-8"),
        ({}, {"NO_COLOR": ""}, "NO_COLOR"),
        ({"colours": 16, "term": "xterm"}, {}, "TERM=xterm-256color"),
        ({"term": "tmux-256color"}, {"TMUX": "x"}, "set-clipboard on"),
        ({"term": "xterm"}, {"TMUX": "x"}, "is xterm"),
        ({}, {"STY": "x"}, "screen"),
        ({}, {"SSH_TTY": "/dev/pts/1"}, "OSC 52"),
    ],
)
def test_hints(changed: dict[str, Any], env: dict[str, str], words: str) -> None:
    assert any(words in hint for hint in look(_fitness(**changed), env)["hints"])
