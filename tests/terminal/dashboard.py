"""The real dashboard in a pseudo-terminal, on a platform that runs as a process of its own."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.terminal.calm import assert_restored
from tests.terminal.platform_process import Served, settings
from tests.terminal.pty_session import NotSeenError, PtySession

__all__ = ["assert_restored"]

PLACES = ("OVERVIEW", "COMPANIES", "AGENTS", "TASKS", "BUDGET", "ACTIVITY")
"""The six screens in the order of their keys 1 to 6."""

TITLES = ("NEEDS YOU", "COMPANIES all", "AGENTS all", "TASKS ", "BUDGET all", "ACTIVITY all")
"""The title line of each screen begins so."""

CURSOR = "▌>"
"""At the beginning of the line under the cursor, in Unicode and in ASCII."""

LIVE = re.compile(r"\blive +<?\d")
"""In the header while the platform answers."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "agentco_tui", *arguments]


def dashboard(
    platform: Served,
    folder: Path,
    *arguments: str,
    key: str | None = None,
    env: dict[str, str | None] | None = None,
    size: tuple[int, int] = (120, 40),
    **options: Any,
) -> PtySession:
    """The dashboard on a platform, not yet seen; its own files lie below `folder`."""
    return PtySession(
        command(*arguments),
        env={**settings(platform, folder, key), **(env or {})},
        size=size,
        **options,
    )


def ready(session: PtySession) -> str:
    return shows(session, is_whole)


def is_whole(screen: str) -> None:
    """All that a list needs is there: also the cursor, drawn last, without which no key acts."""
    assert LIVE.search(screen)
    assert "loading" not in screen
    assert any(row[:1] in CURSOR for row in screen.split("\n")[3:] if row)


def show(session: PtySession, number: int, check: Callable[[str], object] = lambda _: None) -> str:
    """Press the key of a screen and wait until it is there with its records, and passes `check`."""
    title = TITLES[number - 1]

    def whole(screen: str) -> None:
        assert title in screen
        is_whole(screen)
        check(screen)

    session.press(str(number))
    return shows(session, whole)


def shows(session: PtySession, check: Callable[[str], object]) -> str:
    """Wait until the screen passes a check; if it never does, what the check says of it then."""

    def passes(screen: str) -> bool:
        try:
            check(screen)
        except AssertionError:
            return False
        return True

    try:
        return session.wait_for(passes)
    except NotSeenError:
        check(session.text)
        raise


def say_yes(session: PtySession, question: str) -> None:
    """Answer a question with `y`, once more if it came before the question could be read."""
    while question in session.text:
        session.wait_quiet(0.4)
        session.press("y")
        with contextlib.suppress(NotSeenError):
            session.wait_for(lambda screen: question not in screen, timeout=2.0)


def say_yes_to_set(session: PtySession, number: str) -> None:
    """Type the number of a set's tasks and answer `y`; again as often as either came too soon."""
    typed = f"type {number}, press y to approve them"
    begun = "APPROVING"
    while begun not in session.text:
        session.wait_quiet(0.9)
        if typed not in session.text:
            session.press(*["backspace"] * len(number), *number)
            with contextlib.suppress(NotSeenError):
                session.wait_for(typed, timeout=2.0)
            continue
        session.press("y")
        with contextlib.suppress(NotSeenError):
            session.wait_for(lambda screen: begun in screen or typed not in screen, timeout=2.0)


def approve(session: PtySession) -> None:
    """Say yes to the task under the cursor."""
    session.press("a")
    session.wait_for("APPROVE 1 task")
    say_yes(session, "APPROVE 1 task")


def back(session: PtySession, *shown: str) -> None:
    """Press escape, and wait until what was shown is gone: the next key is not part of it then."""
    session.press("esc")
    session.wait_for(lambda screen: not any(words in screen for words in shown))


def rows_with(screen: str, *words: str) -> list[str]:
    return [row for row in screen.split("\n") if all(word in row for word in words)]


def leave(session: PtySession) -> None:
    """Quit, and check that the terminal is as it was found."""
    session.press("q")
    assert session.wait_gone() == 0
    assert_restored(session)
    assert session.after_screen() == ""


def files_below(folder: Path) -> bytes:
    """The names and contents of all files the program may have written."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    assert found, "the program remembers something, or there is nothing to search"
    return b"\n".join(str(path).encode() + b"\n" + path.read_bytes() for path in found)
