"""The terminal's real cursor, which braille displays and magnifiers follow, hidden as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.terminal.dashboard import CURSOR, back, dashboard, leave, ready, show
from tests.terminal.platform_process import PlatformProcess
from tests.terminal.pty_session import PtySession


def selected(screen: str) -> int:
    """The row of the line that is selected."""
    rows = enumerate(screen.split("\n"))
    return next((at for at, row in rows if at > 2 and row and row[0] in CURSOR), -1)


def is_footer(row: int, screen: str) -> bool:
    return "q quit" in screen.split("\n")[row]


def prompted(screen: str) -> int:
    rows = enumerate(screen.split("\n"))
    return next((at for at, row in rows if row.lstrip().startswith("/ re")), -1)


def asked(screen: str) -> int:
    """The row in which what is asked begins; the question grows while its facts come in."""
    rows = enumerate(screen.split("\n"))
    return next((at + 1 for at, row in rows if "APPROVE 1 task" in row), -1)


def stands(session: PtySession, row: Callable[[str], int]) -> int:
    session.wait_for(lambda screen: session.cursor == (row(screen), session.cursor[1]))
    return session.cursor[0]


def test_it_stands_on_what_is_selected_asked_or_typed(tmp_path: Path) -> None:
    with PlatformProcess(speed=0) as platform, dashboard(platform, tmp_path) as session:
        ready(session)
        show(session, 4)
        first = stands(session, selected)
        session.press("j")
        session.wait_for(lambda screen: selected(screen) == first + 1)
        assert stands(session, selected) == first + 1
        for columns, rows in ((80, 24), (45, 16)):
            session.resize(columns, rows)
            session.wait_for(partial(is_footer, rows - 1))
            stands(session, selected)
        session.press("G")
        last = stands(session, selected)
        assert last < 16
        session.press("a")
        session.wait_for("APPROVE 1 task")
        stands(session, asked)
        back(session, "APPROVE 1 task")
        stands(session, selected)
        session.press("/", "r", "e")
        session.wait_for("/re")
        stands(session, prompted)
        back(session, "/ re")
        stands(session, selected)
        assert b"\x1b[?25h" not in session.raw
        leave(session)
