"""What the machine and careless scripts do while a person decides, by the throw of a dice.

A slow disk, a journal that another process keeps locked, a suspension right after a yes, and
commands with an empty argument. None of them may make the program send what was not read just now.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path

from tests.outside.console import Console
from tests.outside.machine import SlowDisk, journal_of, locked
from tests.outside.platform import pending

EMPTY_ARGUMENTS = (
    ("approve", "{task}", "--expect", ""),
    ("approve", "", "--expect", "0" * 30),
    ("approve", "{task}", "--expect", "0" * 30, "--company", ""),
    ("set-limit", "ag_ada", ""),
    ("set-limit", "", "5"),
    ("set-limit", "ag_ada", "5", "--expect", ""),
    ("create-task", "--agent", "", "--title", "T"),
    ("create-task", "--agent", "ag_ada", "--title", ""),
    ("create-task", "--agent", "ag_ada", "--title", "T", "--priority", ""),
)
"""Commands in which a shell has put nothing in the place of a variable."""
AFTER_YES = 0.4  # how often a yes is followed by one of these
COMMAND = 0.005  # how often a key is followed by a command
USAGE = 2  # the exit code for wrong arguments


class Saboteur:
    """Strikes one program; every attack ends by itself, and `end` ends them all."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._dice = random.Random(f"{seed} sabotage")
        self._folder = folder
        self._disk = SlowDisk(folder)
        self.environment = self._disk.environment
        self.did: Counter[str] = Counter()
        self.accepted: list[str] = []
        """Commands with an empty argument that were not refused."""
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()

    def before_yes(self) -> None:
        """Called when `y` is about to be pressed: disk or journal may be slow from now on."""
        if self._dice.random() >= AFTER_YES or any(each.is_alive() for each in self._threads):
            return
        how = self._dice.choice(("slow disk", "locked journal"))
        seconds = self._dice.choice((0.3, 1.2, 2.5, 4.0))
        self.did[how] += 1
        work = self._slow_disk if how == "slow disk" else self._locked_journal
        thread = threading.Thread(target=work, args=(seconds,), name=how, daemon=True)
        self._threads.append(thread)
        thread.start()

    def after_yes(self, console: Console) -> None:
        """Called when `y` was pressed: the program may be stopped for a while."""
        if self._dice.random() >= AFTER_YES:
            return
        self.did["suspension"] += 1
        if self._dice.random() < 0.5:
            time.sleep(self._dice.uniform(0.0, 0.8))  # into the hold, the read, or behind the write
        else:
            self._wait_for_read(console)
        console.signal(signal.SIGSTOP)
        time.sleep(self._dice.choice((0.2, 1.2, 2.5)))
        console.signal(signal.SIGCONT)

    def _wait_for_read(self, console: Console) -> None:
        """Wait until a list of what waits was answered, which may be the read before the write."""

        def answered() -> int:
            reads = console.platform.seen(pending)
            return sum(read.ended is not None for read in reads)

        known = answered()
        end = time.monotonic() + 1.0
        while answered() == known and time.monotonic() < end:
            time.sleep(0.001)

    def command(self, console: Console, task_id: str) -> None:
        """Run a command with an empty argument, now and then."""
        if self._dice.random() >= COMMAND:
            return
        self.did["empty argument"] += 1
        words = [word.format(task=task_id) for word in self._dice.choice(EMPTY_ARGUMENTS)]
        ran = console.run(*words)
        if ran.returncode != USAGE or "must not be empty" not in ran.stderr:
            self.accepted.append(f"{words}: {ran.returncode} {ran.stdout} {ran.stderr}")

    def end(self) -> None:
        """Let all go on, and wait until it does."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _slow_disk(self, seconds: float) -> None:
        self._disk.hold()
        self._over.wait(seconds)
        self._disk.release()

    def _locked_journal(self, seconds: float) -> None:
        with locked(journal_of(self._folder)):
            self._over.wait(seconds)
