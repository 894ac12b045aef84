"""Which sequence a terminal gets for a notification, and that no text of others gets out of it."""

from __future__ import annotations

import re

import pytest

from agentco_tui.system.osc import multiplexer, notification, notification_form, title
from agentco_tui.text import clean_line
from tests.text.payloads import PAYLOADS

WHOLE = re.compile(r"\x1b\](?:9|777|99|2);[^\x00-\x1f\x7f-\x9f]*\a")


@pytest.mark.parametrize(
    ("env", "form"),
    [
        ({"TERM": "xterm-256color"}, None),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, None),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "9"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "777"),
        ({"TERM": "xterm-ghostty"}, "777"),
        ({"TERM": "foot-extra"}, "777"),
        ({"TERM": "rxvt-unicode-256color"}, "777"),
        ({"TERM": "xterm-kitty"}, "99"),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, "99"),
    ],
)
def test_a_terminal_gets_the_one_that_it_knows(env: dict[str, str], form: str | None) -> None:
    assert notification_form(env) == form
    told = re.findall(r"\x1b\](\d+);", notification("It", "says", env))
    assert sorted(set(told)) == sorted([form] if form else ["9", "777", "99"])


@pytest.mark.parametrize("env", [{}, {"STY": "1"}, {"TERM": "screen.xterm"}])
def test_no_text_ends_a_sequence_or_begins_another(env: dict[str, str]) -> None:
    for text in (*PAYLOADS.values(), "4;1;50", "\u011b\u0107]52;c;x"):
        shown = clean_line(text, 200)
        bare = notification(shown, shown, env).replace("\x1bP", "").replace("\x1b\\", "")
        assert WHOLE.sub("", bare) == ""
        assert not re.match(r"\x1b\]9;\d+;", bare)
        assert bare.count("\x1b]") == bare.count("\a") == 4
        assert bare.split("777;", 1)[1].split("\a")[0].count(";") == 2
        assert WHOLE.fullmatch(title(shown, env))
        if env:  # screen would make ESC and BEL of some letters
            assert bare.isascii()
            assert title(shown, env).isascii()
    assert multiplexer({"STY": "1"}) == "screen"
