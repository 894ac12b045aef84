"""A long list that is used from the first moment on becomes complete, and stands still."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from pathlib import Path

from tests.outside.console import AT_ONCE, Console
from tests.outside.platform import Platform, pending
from tests.terminal.pty_session import PATIENCE

TASKS = 20_000  # so many are read while the first of them are shown
BEGINNING = 200_000  # bytes of the answer that come first


def test_keys_from_the_first_moment_on_keep_no_rows_back(tmp_path: Path) -> None:
    with Platform() as platform:
        for number in range(TASKS):
            # Served in such an order that the rows which come later belong above the first ones.
            waits = timedelta(hours=2, seconds=number)
            since = (platform.began - waits).isoformat()
            platform.task(f"t{number}", f"Case{number:05}", created_at=since, description="Short.")
        gate = platform.pause(pending, BEGINNING)
        with Console(platform, tmp_path, "--screen", "tasks", env=AT_ONCE, start=False) as console:
            console.wait_for("Case")
            console.until(console.cursor_line, "the cursor")
            for _ in range(3):
                move(console, "j")
                # Once the first rows are sorted, a key holds their order.
                console.wait_quiet()
            first, second = on_screen(console), move(console, "j")
            move(console, "k")
            gate.set()
            end = time.monotonic() + PATIENCE
            while not is_complete(console):
                # No pause between two keys is long enough for the list to be left alone.
                assert move(console, "j") == second
                assert move(console, "k") == first
                assert time.monotonic() < end, console.text
            assert move(console, "j") == second, "the cursor has stayed with its record"
            # A list that is complete stands still under a hand again.
            platform.task("new", "A new case", created_at=platform.began.isoformat())
            while "1 new, r shows" not in console.text:
                move(console, "j")
                move(console, "k")
                assert time.monotonic() < end, console.text


def on_screen(console: Console) -> tuple[int, str]:
    """The line of the list under the cursor, and the case on it."""
    rows = console.screen
    titles = next(number for number, row in enumerate(rows) if re.search(r"\bTASK\b", row))
    line = next(number for number, row in enumerate(rows) if number > titles and row[:1] == "▌")
    return line - titles, rows[line].partition("Case")[2][:5]


def move(console: Console, key: str) -> tuple[int, str]:
    """Press a key that moves the cursor; where it is then, as soon as that is painted."""
    before = on_screen(console)
    console.press(key)
    console.until(lambda: has_moved(console, before), f"the cursor moved from {before}")
    return on_screen(console)


def has_moved(console: Console, before: tuple[int, str]) -> bool:
    rows = console.screen
    cursors = [row for number, row in enumerate(rows) if row.startswith("▌") and number > 2]
    return len(cursors) == 1 and "Case" in cursors[0] and on_screen(console)[1] != before[1]


def is_complete(console: Console) -> bool:
    return f"{TASKS:,}" in console.screen[2] and "new, r shows" not in console.text
