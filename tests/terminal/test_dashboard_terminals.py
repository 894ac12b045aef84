"""Terminals people have: small, wide, resized, without colours, without Unicode, or none."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.dashboard import (
    TITLES,
    assert_restored,
    back,
    command,
    dashboard,
    leave,
    ready,
    rows_with,
    show,
    shows,
)
from tests.terminal.platform_process import PlatformProcess, own_folders
from tests.terminal.pty_session import PtySession

COLOUR = re.compile(rb"\x1b\[(?:[\d;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[\d;]*)?m")
"""A colour of text or ground, in any of the forms; bold, dim, underlined and reversed are none."""


def drawn(rows: int, marked: str, screen: str) -> None:
    """All lines are there, and the tab."""
    fills(screen, rows)
    assert marked in screen


def walk(session: PtySession, size: tuple[int, int]) -> None:
    """Every screen fills the terminal, and none is wider."""
    columns, rows = size
    for number, title in enumerate(TITLES, start=1):
        marked = f"▌{number} "
        lines = show(session, number, partial(drawn, rows, marked)).split("\n")
        assert columns < 60 or lines[0].startswith(" agentco")
        assert marked in lines[1]
        assert lines[2].startswith(f" {title}")
        assert max(map(len, lines)) <= columns


def fills(screen: str, rows: int) -> None:
    lines = screen.split("\n")
    assert len(lines) == rows
    assert "q quit" in lines[-1]
    assert "? help" in lines[-1]


def test_every_size_and_below_what_can_be_read(platform: PlatformProcess, tmp_path: Path) -> None:
    with dashboard(platform, tmp_path, size=(80, 24)) as session:
        ready(session)
        walk(session, (80, 24))
        show(session, 4)
        session.press("j", "j")
        before = session.wait_for(lambda screen: cursor_row(screen) == 6)
        task = before.split("\n")[6].lstrip("▌")
        for columns, rows in ((39, 24), (80, 11), (20, 5), (1, 1)):
            session.resize(columns, rows)
            if columns >= 20:
                session.wait_for(lambda screen: "needs 40x12" in " ".join(screen.split()))
        session.press("j", "k")
        session.resize(40, 12)
        session.wait_for(lambda screen: "TASKS ▌pending" in screen and cursor_row(screen) > 0)
        walk(session, (40, 12))
        show(session, 4)
        session.resize(80, 24)
        session.wait_for(lambda screen: screen.split("\n")[cursor_row(screen)].lstrip("▌") == task)
        session.resize(200, 60)
        walk(session, (200, 60))
        leave(session)
        assert COLOUR.search(session.raw), "the search finds colours where there are some"


def test_what_others_write_over_the_screen_is_drawn_over(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    """Only cells that look different are written, so this needs a key."""
    with dashboard(platform, tmp_path) as session:
        ready(session)
        show(session, 2)
        session.wait_quiet(0.5)
        before = session.text
        terminal = Path(f"/proc/{session.pid}/fd/0").readlink()
        with terminal.open("wb", buffering=0) as other:
            other.write(b"\x1b7\x1b[20;30Hmessage from root\x1b8")
        session.wait_for("message from root")
        session.press("ctrl+l")
        session.wait_for(lambda screen: screen == before)
        leave(session)


def cursor_row(screen: str) -> int:
    """The row of the list's cursor; 0 if there is none."""
    rows = screen.split("\n")
    return next((at for at, row in enumerate(rows) if at > 1 and row.startswith("▌")), 0)


def test_without_colours_the_signs_are_still_there(
    platform: PlatformProcess, tmp_path: Path
) -> None:
    with dashboard(platform, tmp_path, env={"NO_COLOR": "1"}) as session:
        ready(session)
        shows(session, has_signs)
        for number in range(2, 7):
            show(session, number)
        show(session, 4)
        session.press("a")
        session.wait_for("APPROVE 1 task")
        back(session, "APPROVE 1 task")
        leave(session)
        assert COLOUR.search(session.raw) is None


SSH = {"COLORTERM": None}
NORD = {"TEXTUAL_THEME": "nord"}


@pytest.mark.parametrize(
    ("env", "critical", "never"),
    [
        # A console's own colours, also where the theme named is one of ours.
        ({"TERM": "xterm", **SSH}, b"91", rb"[34]8;"),
        ({"TERM": "xterm", **SSH, "TEXTUAL_THEME": "agentco-light"}, b"31", rb"[34]8;"),
        # GNU screen 4 hands COLORTERM on, and takes true colours for dim and reverse.
        (
            {"TERM": "screen.xterm-256color", "STY": "1.x", "COLORTERM": "truecolor"},
            b"38;5;203",
            rb"[34]8;2;",
        ),
        # A theme whose colours are not among the 256; those of ours are written by their numbers.
        ({"TERM": "xterm-kitty", **SSH, **NORD}, b"38;2;212;150;156", None),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x,1,0", **SSH, **NORD}, b"38;2;212;150;156", None),
        ({**SSH, "TEXTUAL_COLOR_SYSTEM": "many"}, b"38;5;203", rb"[34]8;2;"),
        ({"NO_COLOR": "1", "TEXTUAL_COLOR_SYSTEM": "many"}, b"1", rb"(?:3[0-8]|4[0-8]|9[0-7])"),
    ],
)
def test_the_colours_that_the_terminal_has(
    env: dict[str, str | None],
    critical: bytes,
    never: bytes | None,
    platform: PlatformProcess,
    tmp_path: Path,
) -> None:
    with dashboard(platform, tmp_path, env=env) as session:
        ready(session)
        shows(session, has_signs)
        leave(session)
        codes = rb"\x1b\[(?:[\d;]*;)?"
        assert re.search(codes + critical + rb"(?:;[\d;]*)?m[^\x1b]*\xe2\x9c\x96", session.raw)
        assert never is None or not re.search(codes + never + rb"[\d;]*m", session.raw)


def has_signs(screen: str) -> None:
    """What is urgent is told without colours too."""
    assert rows_with(screen, "✖", "Rotate the staging")
    assert rows_with(screen, "▲", "Acme Robotics", "83 %")


def in_ascii(screen: str) -> None:
    """Tasks and gauges, all of it in ASCII."""
    assert screen.isascii()
    assert rows_with(screen, "x ", "Rotate the staging", "Ada")
    assert rows_with(screen, "Refund 214 customers", "Linus")
    assert rows_with(screen, "Globex", "29 %", "#")


def test_in_ascii_all_is_readable(platform: PlatformProcess, tmp_path: Path) -> None:
    env: dict[str, str | None] = {"LANG": "C", "TERM": "linux", "COLORTERM": None}
    with dashboard(platform, tmp_path, env=env, size=(100, 30)) as session:
        ready(session)
        shows(session, in_ascii)
        for number in range(2, 7):
            assert show(session, number).isascii()
        show(session, 4)
        session.press("a")
        session.wait_for("APPROVE 1 task")
        assert session.text.isascii()
        back(session, "APPROVE 1 task")
        session.press("?")
        session.wait_for("Keys on Tasks")
        back(session, "Keys on Tasks")
        leave(session)
        assert session.raw.isascii()


@pytest.mark.parametrize(
    ("arguments", "env", "word"),
    [
        ((), {"TERM": "dumb"}, "TERM=dumb"),
        ((), {"TERM": None}, "TERM is not set"),
        (("demo",), {"TERM": "dumb"}, "TERM=dumb"),
    ],
)
def test_a_terminal_that_draws_nothing_is_refused(
    arguments: tuple[str, ...],
    env: dict[str, str | None],
    word: str,
    platform: PlatformProcess,
    tmp_path: Path,
) -> None:
    with dashboard(platform, tmp_path, *arguments, env=env) as session:
        assert session.wait_gone() == 2
        said = session.text.strip()
        for words in (word, "agentco-tui --plain", "`status`"):
            assert words in " ".join(said.split())
        assert session.raw.count(b"\n") == 1
        assert b"\x1b" not in session.raw
        assert_restored(session)
    assert platform.requests() == []


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_a_stream_that_is_no_terminal_is_refused(
    stream: str, platform: PlatformProcess, tmp_path: Path
) -> None:
    place = Path("/dev/null") if stream == "stdin" else tmp_path / "out"
    streams: dict[str, Any] = {stream: place}
    with dashboard(platform, tmp_path, **streams) as session:
        assert session.wait_gone() == 2
        assert "`agentco-tui --plain` and `status`" in " ".join(session.text.split())
        assert session.raw.count(b"\n") == 1
        assert place.read_bytes() == b""


def test_without_any_setting_it_says_how_to_start(tmp_path: Path) -> None:
    with PtySession(command(), env=own_folders(tmp_path), size=(100, 30)) as session:
        session.wait_for("d, l, e or q, then enter:")
        session.press("e", "enter")
        assert session.wait_gone() == 2
        said = session.text
        for words in ("agentco-tui demo", "AGENTCO_BASE_URL", "AGENTCO_API_KEY", "config init"):
            assert words in said
        assert len(said.strip().splitlines()) < 20
        assert "Traceback" not in said
        assert_restored(session)
        assert b"\x1b" not in session.raw
    env = {**own_folders(tmp_path), "AGENTCO_BASE_URL": "http://127.0.0.1:9"}
    with PtySession(command(), env=env, size=(100, 30)) as session:
        assert session.wait_gone() == 2
        assert "AGENTCO_API_KEY" in session.text, "half of it names the other half"
        assert "agentco-tui demo" not in session.text
