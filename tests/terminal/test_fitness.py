"""Poor terminals: what is refused, and that what is drawn there is readable."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentco_tui.terminal import fitness
from agentco_tui.terminal.fitness import ASCII_ERROR_HANDLER, ascii_for
from agentco_tui.text import cell_width
from tests.terminal.calm import calm


class Stream(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def check(environ: Mapping[str, str], encoding: str = "utf-8") -> fitness.Fitness:
    out = Stream()
    out.encoding = encoding
    return fitness.check_terminal(environ, Stream(), Stream(), out)


@pytest.mark.parametrize(
    ("environ", "colours"),
    [
        ({"TERM": "linux"}, 16),
        ({"TERM": "linux", "COLORTERM": "truecolor"}, 16),
        ({"TERM": "xterm"}, 16),
        ({"TERM": "screen-256color"}, 256),
        ({"TERM": "xterm-256color", "COLORTERM": "24bit"}, 16_777_216),
        # True colour without saying so, as after `ssh`.
        ({"TERM": "xterm-kitty"}, 16_777_216),
        ({"TERM": "foot-extra"}, 16_777_216),
        ({"TERM": "xterm-direct"}, 16_777_216),
        # tmux lowers it for the terminal beneath; GNU screen 4 takes it for dim and reverse.
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x,1,0"}, 16_777_216),
        ({"TERM": "screen.xterm-256color", "COLORTERM": "truecolor", "STY": "1.x"}, 256),
        ({"TERM": "screen", "COLORTERM": "truecolor", "STY": "1.x"}, 16),
        ({"TERM": "xterm-256color", "TEXTUAL_COLOR_SYSTEM": "standard"}, 16),
        ({"TERM": "xterm-256color", "TEXTUAL_COLOR_SYSTEM": "many"}, 256),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, 0),
        ({"TERM": "dumb"}, 0),
    ],
)
def test_colours(environ: dict[str, str], colours: int) -> None:
    found = check(environ)
    assert found.colours == colours
    assert (found.refusal is None) == (environ["TERM"] != "dumb")


@pytest.mark.parametrize("said", [None, "", "auto", "many"])
def test_textual_is_told_what_was_found(said: str | None) -> None:
    environ = {"TERM": "xterm-256color", **({} if said is None else {"TEXTUAL_COLOR_SYSTEM": said})}
    fitness.prepare_output(check(environ), environ)
    assert environ["TEXTUAL_COLOR_SYSTEM"] == "256"


@pytest.mark.parametrize(
    ("environ", "encoding", "ascii_only"),
    [
        ({"TERM": "xterm", "LANG": "C"}, "utf-8", True),
        ({"TERM": "xterm", "LANG": "de_DE.UTF-8"}, "utf-8", False),
        ({"TERM": "xterm", "LANG": "de_DE.UTF-8"}, "ascii", True),
        ({"TERM": "linux", "LANG": "de_DE.UTF-8"}, "utf-8", True),
        # As Python itself changes the environment of LANG=C, or of no locale at all.
        ({"TERM": "xterm", "LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8", True),
        ({"TERM": "xterm", "LC_CTYPE": "C.UTF-8"}, "utf-8", False),
        ({"TERM": "xterm", "LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, "utf-8", False),
    ],
)
def test_ascii_where_the_locale_needs_it(
    environ: dict[str, str], encoding: str, ascii_only: bool
) -> None:
    assert check(environ, encoding).ascii is ascii_only


def test_each_glyph_keeps_its_width() -> None:
    glyphs = "─│┌┐└┘╭╮╰╯━┃█▁▔▊▎•●▲✖✓–…éßñ東京\u3000ﬁ½\U0001f4c1\ue000"
    for glyph in glyphs:
        assert len(ascii_for(glyph)) == cell_width(glyph), glyph
        assert ascii_for(glyph).isascii()
    assert "José ●│…".encode("ascii", ASCII_ERROR_HANDLER) == b"Jose *|~"
    assert "\ud800x".encode("utf-8", ASCII_ERROR_HANDLER) in {b"?x", b"x"}


@pytest.mark.parametrize(
    "env",
    [
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii:backslashreplace"},
    ],
    ids=["locale", "encoding"],
)
def test_in_an_ascii_world_only_ascii_is_written(env: dict[str, str], tmp_path: Path) -> None:
    """What `TERM` and `LANG` say is tried with the dashboard itself."""
    with calm(tmp_path, env=env, size=(40, 12)) as session:
        screen = session.wait_for("calm * Jose ??")
        assert session.raw.isascii()
        assert "\\u" not in screen
        lines = [line for line in screen.splitlines() if line]
        assert lines[0] == "+" + "-" * 38 + "+"
        assert all(line[0] == line[-1] == "|" and len(line) == 40 for line in lines[1:4])


@pytest.mark.parametrize(
    ("env", "forbidden"),
    [
        ({"TERM": "linux", "COLORTERM": "truecolor"}, rb"[34]8;[25];"),
        ({"TERM": "xterm-256color", "COLORTERM": None}, rb"[34]8;2;"),
    ],
)
def test_no_more_colours_than_there_are(
    env: dict[str, str | None], forbidden: bytes, tmp_path: Path
) -> None:
    with calm(tmp_path, env=env) as session:
        session.wait_for("calm")
        assert not re.search(rb"\x1b\[[0-9;]*" + forbidden, session.raw)
        assert re.search(rb"\x1b\[[0-9;]*m", session.raw)
