"""A small app behind the guard. `python -m tests.terminal.apps.calm FOLDER [WHAT ...]`.

On the key f it blocks its event loop. WHAT says what else it does: `flood` (writes much, for
ever), `thread` (a thread worker that nobody can stop); on the key x `stopped` or `continued` (it
gets that signal just while it puts something on the way to the terminal), `aside` (the kernel
tells another thread that the program was continued) or `resized` (the terminal gets another size,
and one more while the program reads the first); or how it fails on the key x: `handler`, `worker`,
`thread-worker`, `timer`, `task`, `mount`, `unmount`, `writer`, `panic`, `system-exit`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import termios
import threading
import time
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.events import Key, Resize
from textual.widgets import Static

from agentco_tui.terminal import fitness, guard

CANARY = "sk_canary_9f8e7d6c5b4a"
FOREVER = 3600.0  # seconds: longer than any test waits for the end


class CalmApp(App[None]):
    """Shows a frame, counts what it is asked to."""

    ENABLE_COMMAND_PALETTE = False
    CSS = "Static { border: solid red; height: 5; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("q", "quit", "quit"),
        ("ctrl+z", "suspend_process", "suspend"),
        ("x", "fail", "fail"),
        ("7", "leave(7)", "leave"),
    ]

    def __init__(self, what: list[str]) -> None:
        super().__init__()
        self.what = what
        self.count = 0
        self.lost: asyncio.Task[None] | None = None
        self.headers = {"Authorization": f"Bearer {CANARY}"}

    def compose(self) -> ComposeResult:
        yield Static("calm ● José 東", id="box")
        yield Static("pressed: -", id="keys")

    def on_mount(self) -> None:
        if "mount" in self.what:
            self.break_down()
        if "flood" in self.what:
            self.set_interval(0.02, self.flood)
        if "thread" in self.what:
            self.run_worker(lambda: time.sleep(FOREVER), thread=True)

    def on_unmount(self) -> None:
        if "unmount" in self.what:
            self.break_down()

    def on_key(self, event: Key) -> None:
        self.query_one("#keys", Static).update(f"pressed: {event.key}")
        if event.key == "f":
            self.call_after_refresh(time.sleep, FOREVER)

    def flood(self) -> None:
        self.count += 1
        columns, rows = self.size
        line = f"{self.count:09d} " * (columns // 10)
        self.query_one("#box", Static).styles.height = rows
        self.query_one("#box", Static).update("\n".join([line] * rows))

    def action_leave(self, code: int) -> None:
        self.exit(return_code=code)

    def action_fail(self) -> None:
        if "handler" in self.what:
            self.break_down()
        elif "worker" in self.what:
            self.run_worker(self.break_down_later())
        elif "thread-worker" in self.what:
            self.run_worker(self.break_down, thread=True)
        elif "timer" in self.what:
            self.set_timer(0.01, self.break_down)
        elif "task" in self.what:
            self.lost = asyncio.create_task(self.break_down_later())
        elif "system-exit" in self.what:
            raise SystemExit(3)
        elif "panic" in self.what:
            self.panic("it is\x1b[31m over")
        elif "writer" in self.what and self._driver is not None:
            # private: only a broken writer fails in its own thread.
            self.writer()._file = None
            self._driver.write(b"no text")  # type: ignore[arg-type]
        elif "stopped" in self.what:
            self.get_while_writing(signal.SIGTSTP)
        elif "continued" in self.what:
            self.get_while_writing(signal.SIGCONT)
        elif "aside" in self.what:
            threading.Timer(0.3, self.get_aside).start()  # By then the main thread sleeps.
        elif "resized" in self.what:
            self.get_resized()

    def writer(self) -> Any:
        return next(one for one in threading.enumerate() if one.name == "textual-output")

    def get_while_writing(self, number: signal.Signals) -> None:
        """A signal that comes when the main thread is within `put` of the writer's queue."""
        # private: the lock that a signal may find taken.
        with self.writer()._queue.mutex:
            os.kill(os.getpid(), number)

    def on_resize(self, event: Resize) -> None:
        if event.size.height == 15:
            self.query_one("#keys", Static).update("size: 60x15")

    def get_resized(self) -> None:
        driver: Any = self._driver
        # private: the terminal is resized just after Textual has read its size.
        size_of = driver._get_terminal_size

        def read() -> tuple[int, int]:
            # private: as above.
            driver._get_terminal_size = size_of
            size: tuple[int, int] = size_of()
            termios.tcsetwinsize(1, (15, 60))
            return size

        # private: as above.
        driver._get_terminal_size = read
        termios.tcsetwinsize(1, (20, 70))

    def get_aside(self) -> None:
        """A signal that the kernel gives to a thread that is not the main one."""
        signal.pthread_kill(threading.get_ident(), signal.SIGCONT)

    async def break_down_later(self) -> None:
        await asyncio.sleep(0)  # from Python 3.12 on Textual lets tasks begin at once
        self.lost = None  # nobody holds the task any more, so nobody can ask how it ended
        self.break_down()

    def break_down(self) -> NoReturn:
        headers = {"Authorization": f"Bearer {CANARY}", "X-Key": CANARY}
        raise RuntimeError(f"a fault with {headers} and \x1b[31mcolour")


def note_end(folder: Path) -> None:
    with (folder / "ended").open("a") as file:
        file.write("once\n")


def main() -> int:
    folder, what = Path(sys.argv[1]), sys.argv[2:]
    logging.basicConfig(filename=folder / "log")
    fit = fitness.check_terminal()
    if fit.refusal:
        sys.stderr.write(f"agentco-tui: {fit.refusal}\n")
        return 2
    fitness.prepare_output(fit)
    return guard.TerminalGuard(
        CalmApp(what),
        crash_folder=lambda: folder / "state",
        redact=lambda text: text.replace(CANARY, "****"),
        on_end=lambda: note_end(folder),
    ).run()


if __name__ == "__main__":
    sys.exit(main())
