"""The dashboard in a pseudo-terminal on a scripted platform, with the words a test wants of it.

    with Console(platform, tmp_path, "--screen", "tasks") as console:   # ready: list and cursor
        console.ask("Pay ACME")              # the cursor onto that task, `a`, its question stands
        console.yes()                        # `y` once it is armed; the question is gone then
        console.approve("Pay Bolt", "approved here")             # both, and wait for its line
        assert console.notices() == ""
        assert console.outcomes("t1") == ["approved here"]       # by the journal

It is a `PtySession`, so `press`, `write` (several keys in one packet), `text`, `wait_for`,
`signal`, `hold` are there too. `config` is the text of a config file, such as `NO_HOLD`; "" leaves
all as it is by itself. Every pattern is a regular expression, looked for anywhere. The dashboard
polls twice a second (`--refresh`), its files lie below the given folder; two consoles with one
folder share the journal.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.outside.platform import Hold, Match, Platform
from tests.terminal.dashboard import command, ready
from tests.terminal.platform_process import settings
from tests.terminal.pty_session import (
    PATIENCE,
    REPOSITORY,
    NotSeenError,
    PtySession,
    clean_environment,
)

NO_HOLD = "[approve]\nhold = 0\n"
"""A config file with which a single yes is carried out at once."""
SHORT_HOLD = "[approve]\nhold = 0.5\n"
"""One with which it is held only as long as it takes to pass through the hold."""
LIST_TOP = 4
"""Rows above the first line of a list: header, tabs, title and column names."""
DETAIL_BESIDE, DETAIL_AT = 112, 75
"""Where the header is longer than that, the detail stands beside the list, from that column on."""
PAUSE = 0.8
"""Seconds a person takes from one key to the next that is meant."""
BETWEEN_DIGITS = 0.2
"""Seconds between two digits that are typed."""
AT_ONCE: dict[str, str | None] = {"TEXTUAL_ANIMATIONS": "none"}
"""An environment in which nothing glides: what stands after a key is where the key leads."""


class Console(PtySession):
    """One dashboard. `start=False` doesn't wait until its list is there."""

    def __init__(
        self,
        platform: Platform,
        folder: Path,
        *arguments: str,
        config: str = SHORT_HOLD,
        key: str | None = None,
        env: dict[str, str | None] | None = None,
        size: tuple[int, int] = (120, 40),
        refresh: float = 0.5,
        start: bool = True,
        **options: Any,
    ) -> None:
        self.platform = platform
        self.environment = {**settings(platform, folder, key), **(env or {})}
        if "AGENTCO_CONFIG" not in self.environment:
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / "config.toml"
            file.write_text(config)
            self.environment["AGENTCO_CONFIG"] = str(file)
        words = command("--refresh", f"{refresh:g}", *arguments)
        super().__init__(words, env=self.environment, size=size, **options)
        if start:
            try:
                ready(self)
            except BaseException:
                self.close()
                raise

    # ---- what stands where

    def lines(self) -> list[str]:
        """The lines of the list as they stand, without the detail beside it or boxes over it."""
        return lines_in(self.screen)

    def line(self, title: str) -> str:
        """The line of a task in the list; "" if there is none."""
        return next((row for row in self.lines() if title in row and "│" not in row), "")

    def cursor_line(self) -> str:
        """The line under the cursor."""
        return next((row for row in self.lines() if row.startswith(("▌", ">"))), "")

    def box(self) -> str:
        """What stands in the box of a question, hold, form or prompt; "" if there is none."""
        return box_in(self.screen)

    def footer(self) -> str:
        """The last row."""
        return self.screen[-1]

    def notices(self) -> str:
        """The messages at the right, joined to one text."""
        return notices_in(self.screen)

    # ---- waiting

    def until(self, check: Callable[[], object], what: str, timeout: float = PATIENCE) -> None:
        """Wait until a check of this console is true."""

        def holds(_: str) -> bool:
            return bool(check())

        holds.__name__ = what
        self.wait_for(holds, timeout)

    def line_shows(self, title: str, pattern: str, timeout: float = PATIENCE) -> str:
        """Wait until the line of a task matches; gives the line."""
        return self._shows(lambda: self.line(title), pattern, f"on the line of {title}", timeout)

    def box_shows(self, pattern: str, timeout: float = PATIENCE) -> str:
        """Wait until the box on the screen matches; gives its text."""
        return self._shows(self.box, pattern, "in the box", timeout)

    def notice(self, pattern: str, timeout: float = PATIENCE) -> str:
        """Wait until the messages match; gives them."""
        return self._shows(self.notices, pattern, "in a notice", timeout)

    def _shows(self, part: Callable[[], str], pattern: str, where: str, timeout: float) -> str:
        seen = ""

        def matches() -> bool:
            nonlocal seen
            seen = part()
            return re.search(pattern, seen) is not None

        self.until(matches, f"{pattern!r} {where}", timeout)
        return seen

    def no_box(self, timeout: float = PATIENCE) -> None:
        """Wait until no box stands."""
        self.until(lambda: not self.box(), "no box", timeout)

    # ---- doing

    def pause(self, seconds: float = PAUSE) -> None:
        """Take as long as a person does before the next key; never to wait for the program."""
        time.sleep(seconds)

    def to(self, title: str) -> None:
        """Move the cursor onto a task's line; a key is pressed when the one before has shown."""

        def rows() -> tuple[int, int]:
            lines = self.lines()
            at = next((n for n, row in enumerate(lines) if row.startswith(("▌", ">"))), -1)
            return at, next((n for n, row in enumerate(lines) if title in row), -1)

        def task() -> str:
            at = self.screen[LIST_TOP - 1].find("TASK")  # not there in half a picture
            return "" if at < 0 else self.cursor_line()[at:DETAIL_AT].strip()

        while True:
            while title not in self.cursor_line():
                self.until(
                    lambda: task() and min(rows()) >= 0, f"a cursor, and the line of {title}"
                )
                (at, wanted), before = rows(), task()
                if at == wanted or not before:  # the picture changed between two looks
                    continue
                self.press("j" if wanted > at else "k")
                # Where a key before it had not shown yet, the two may lead back to where it was.
                with contextlib.suppress(NotSeenError):
                    self.until(lambda: task() not in ("", before), "another line", 5.0)  # noqa: B023
            self.wait_quiet(0.2)
            if title in self.cursor_line():
                return

    def ask(self, title: str) -> str:
        """Open the question of a task; gives its text."""
        self.to(title)
        self.press("a")
        # Down to the keys, its last line: a picture may come in two pieces.
        return self.box_shows(rf"APPROVE 1 task[\s\S]*{re.escape(title)}[\s\S]*esc no")

    def yes(self, taken: Callable[[], object] | None = None, tries: int = 20) -> None:
        """Answer the question that stands with `y`, again if it came too soon, until it is gone.

        `taken` is what shows it, where the box stays.
        """
        assert self.box(), "no question stands"
        for _ in range(tries):
            # As a person does: a look first; a key that came too soon is pressed again.
            self.pause()
            self.press("y")
            with contextlib.suppress(NotSeenError):
                self.until(taken or (lambda: not self.box()), "the yes is taken", timeout=1.5)
                return
        raise NotSeenError(f"`y` was not taken\n{self.text}")

    def type_number(self, number: str, tries: int = 20) -> None:
        """Type the number of a set's tasks, a digit at a time: those of a burst don't count."""
        for _ in range(tries):
            for digit in number:
                self.pause(BETWEEN_DIGITS)
                self.press(digit)
            with contextlib.suppress(NotSeenError):
                shown = rf"type {number}, press y to approve"
                self.until(lambda: re.search(shown, self.box()), "the number", timeout=1.5)  # noqa: B023
                self.pause(BETWEEN_DIGITS)  # before the `y`
                return
            self.pause(BETWEEN_DIGITS)
            self.press(*["backspace"] * len(number))
        raise NotSeenError(f"{number} was not taken\n{self.text}")

    def approve(self, title: str, shows: str = "") -> None:
        """Ask about a task and answer yes; wait until its line matches."""
        self.ask(title)
        self.yes()
        if shows:
            self.line_shows(title, shows)

    def approve_held(self, title: str, match: Match, **how: Any) -> Hold:
        """Ask about a task and answer yes, and wait until a request of that sort is held."""
        self.ask(title)
        held = self.platform.hold(match, **how)
        self.yes()
        held.arrived()
        return held

    def no(self) -> None:
        """Close what stands over the list."""
        self.press("esc")
        self.no_box()

    def mark_tasks(self, *titles: str) -> None:
        """Mark tasks; the cursor has gone on to the next line when it is back."""

        def marked(title: str) -> bool:
            goes_on = title not in (self.lines() or [""])[-1]
            return "■" in self.line(title) and goes_on == (title not in self.cursor_line())

        for title in titles:
            self.to(title)
            self.press("space")
            self.until(lambda: marked(title), f"a mark at {title}")  # noqa: B023

    # ---- what it wrote

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run another command of the program with the same settings and folders."""
        return subprocess.run(
            command(*arguments),
            env=clean_environment(self.environment),
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def journal(self) -> list[dict[str, Any]]:
        """What `journal --json` tells, an entry a line."""
        told = self.run("journal", "--json").stdout.strip()
        if told.startswith("["):
            return list(json.loads(told))
        return [json.loads(line) for line in told.splitlines()]

    def outcomes(self, task_id: object) -> list[str]:
        """The words of the journal for what became of each attempt on a task; "" for none yet."""
        about = [entry for entry in self.journal() if str(entry["subject"]) == str(task_id)]
        return [(entry.get("outcome") or {}).get("is", "") for entry in about]


def cases(count: int, title: str = "Case{}") -> dict[str, str]:
    """So many tasks: ids to titles."""
    return {f"t{n}": title.format(n) for n in range(count)}


@contextmanager
def scene(
    folder: Path, tasks: Mapping[str, str], *arguments: str, **options: Any
) -> Iterator[tuple[Platform, Console]]:
    """A platform with these tasks (ids to titles), and a dashboard that lists them."""
    with Platform() as platform:
        platform.add_all(tasks)
        with Console(platform, folder, "--screen", "tasks", *arguments, **options) as console:
            yield platform, console


def box_in(rows: list[str]) -> str:
    """The text in the last box on a screen, without its borders; "" if there is none."""
    for top in range(len(rows) - 1, -1, -1):
        left = rows[top].find("╭")
        right = rows[top].rfind("╮")
        if left < 0 or right < left:
            continue
        inside = []
        for row in rows[top + 1 :]:
            if row[left : left + 1] == "╰":
                break
            inside.append(row[left + 1 : right].strip(" │"))
        return "\n".join(inside).strip("\n")
    return ""


def lines_in(rows: list[str]) -> list[str]:
    """The lines of the list on a screen, without the detail beside it."""
    beside = len(rows[0]) > DETAIL_BESIDE and "NEEDS YOU" not in rows[2]
    cut = [row[:DETAIL_AT] if beside else row for row in rows[LIST_TOP:-1]]
    return [row for row in cut if row.strip()]


def notices_in(rows: list[str]) -> str:
    """The messages on a screen."""
    found = (re.search(r"(?<=.{30})▌ (.*)", row) for row in rows[LIST_TOP - 1 : -1])
    return " ".join(match.group(1).strip() for match in found if match)
