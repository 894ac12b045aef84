"""Run a program in a real pseudo-terminal, as a person at a terminal would.

    with PtySession([sys.executable, "-m", "agentco_tui", "demo"], size=(100, 30)) as session:
        session.wait_for("NEEDS YOU")
        session.press("q")
        assert session.wait_gone() == 0 and session.left_on() == set()

The program leads a session of its own with that terminal, so hang-ups and job control behave as
in life. Every byte it writes is kept (`raw`), and drawn by pyte (`screen`, `text`) when asked for.
Each `wait_` returns as soon as what it waits for is so; `NotSeenError` if it never is.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.terminal.picture import Picture, modes_left_on

REPOSITORY = Path(__file__).resolve().parents[2]
"""The folder that the program is started in, so `-m agentco_tui` is the one under test."""

PATIENCE = 60.0
"""Seconds after which what is waited for is taken not to come; a good run never gets near."""

_SEQUENCE = re.compile(r"\x1b\[[0-9;<=>?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x07")

KEYS = {
    **{"enter": b"\r", "esc": b"\x1b", "tab": b"\t", "shift+tab": b"\x1b[Z", "space": b" "},
    **{"backspace": b"\x7f", "delete": b"\x1b[3~", "insert": b"\x1b[2~", "f1": b"\x1bOP"},
    **{"up": b"\x1b[A", "down": b"\x1b[B", "right": b"\x1b[C", "left": b"\x1b[D"},
    **{"home": b"\x1b[H", "end": b"\x1b[F", "pageup": b"\x1b[5~", "pagedown": b"\x1b[6~"},
}
"""What a terminal sends for a key."""

Condition = str | re.Pattern[str] | Callable[[str], bool]


class NotSeenError(AssertionError):
    """What was waited for did not happen in time; the message holds the picture seen instead."""


def clean_environment(extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """An environment that is the same on every machine: a 256-colour UTF-8 terminal.

    `extra` is laid over it; a value of None takes a variable away.
    """
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.environ.get("HOME", "/"),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "COLORFGBG": "15;0",  # so that no program asks whether it is light
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "default",
    }
    for name, value in (extra or {}).items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


class PtySession:
    """One program in one pseudo-terminal. Use it as a context manager: leaving kills the program.

    `argv`: the program and its arguments. `size`: columns, rows. `env`: laid over
    `clean_environment()` (None takes a variable away). `ignored`: signals that the program
    starts with ignored, as under nohup. `stdin`, `stdout`, `stderr`: a path instead of the
    terminal. `replies`: what the terminal answers when the program writes the given bytes, as
    real ones answer mode queries.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        size: tuple[int, int] = (80, 24),
        env: Mapping[str, str | None] | None = None,
        cwd: Path = REPOSITORY,
        ignored: Sequence[signal.Signals] = (),
        stdin: Path | None = None,
        stdout: Path | None = None,
        stderr: Path | None = None,
        replies: Mapping[bytes, bytes] | None = None,
    ) -> None:
        self._raw = bytearray()
        self._changed = threading.Condition()
        self._reading = threading.Event()
        self._reading.set()
        self._paused = threading.Event()
        self._replies = dict(replies or {})
        self._drawn = 0
        self._master, self._slave = os.openpty()
        os.set_blocking(self._master, False)
        self._picture = Picture(*size)
        self.resize(*size)
        self.termios_before = self.termios()
        """The terminal's settings before the program touched them; compare with `termios()`."""
        self._wake_read, self._wake_write = os.pipe()
        launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("_in_terminal.py"))]
        launcher.append(",".join(str(int(number)) for number in ignored))
        launcher += [str(place) if place else "-" for place in (stdin, stdout, stderr)]
        self.started = time.monotonic()
        self._process = subprocess.Popen(
            [*launcher, "--", *argv],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env=clean_environment(env),
            cwd=cwd,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="pty-reader", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the program if it still runs, and give back every descriptor and thread."""
        if self._process.poll() is None:
            # The whole group: a shell's children are in sessions of the same terminal and go
            # with the hang-up that follows.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self.hang_up()
        if self._slave >= 0:
            os.close(self._slave)
            self._slave = -1
            os.close(self._wake_read)
            os.close(self._wake_write)

    # What the program shows

    @property
    def raw(self) -> bytes:
        with self._changed:
            return bytes(self._raw)

    @property
    def screen(self) -> list[str]:
        self._draw()
        return self._picture.rows()

    @property
    def text(self) -> str:
        return "\n".join(self.screen)

    @property
    def cursor(self) -> tuple[int, int]:
        """The row and the column of the real cursor, from 0."""
        self._draw()
        return self._picture.cursor()

    def mark(self) -> int:
        """The number of bytes written so far, for `since`."""
        with self._changed:
            return len(self._raw)

    def since(self, mark: int) -> bytes:
        with self._changed:
            return bytes(self._raw[mark:])

    def after_screen(self) -> str:
        """What was written after the alternate screen was left, without escape sequences."""
        tail = self.raw.rpartition(b"\x1b[?1049l")[2].decode("utf-8", "replace")
        return _SEQUENCE.sub("", tail).replace("\r\n", "\n")

    def left_on(self) -> set[str]:
        return modes_left_on(self.raw)

    # What the person does

    def write(self, data: bytes | str) -> None:
        """Type bytes. What a program that has ended would not read any more is dropped."""
        pending = data.encode() if isinstance(data, str) else data
        while pending:
            try:
                pending = pending[os.write(self._master, pending) :]
            except BlockingIOError:
                if not self.alive:
                    return
                select.select([], [self._master], [], 1.0)

    def press(self, *keys: str) -> None:
        """Press keys: names of `KEYS`, `ctrl+x`, `alt+x`, or text typed as it is."""
        for key in keys:
            if key.startswith("ctrl+"):
                self.write(bytes([ord(key[-1].upper()) & 0x1F]))
            else:
                plain = key.removeprefix("alt+")
                self.write(b"\x1b" * (plain != key) + KEYS.get(plain, plain.encode()))

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size; the program gets SIGWINCH."""
        self._draw()
        self._picture.resize(rows, columns)
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def hold(self) -> None:
        """Stop reading, as a stalled line does: the program's writes block once buffers fill."""
        self._reading.clear()
        os.write(self._wake_write, b"h")
        self._paused.wait()

    def release(self) -> None:
        self._reading.set()

    def hang_up(self) -> None:
        """Close the terminal's window: the program gets SIGHUP and its terminal is gone."""
        if self._master >= 0:
            master, self._master = self._master, -1
            self._reading.set()
            os.write(self._wake_write, b"x")
            self._reader.join()
            os.close(master)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program (not to its children)."""
        self._process.send_signal(number)

    # Waiting

    def wait_for(self, wanted: Condition, timeout: float = PATIENCE) -> str:
        """Wait until the screen holds a text, matches a pattern or fulfils a predicate.

        Gives the screen it was found on. Seconds; raises NotSeenError, at once if the program
        ended without it.
        """
        if isinstance(wanted, str):
            return self._wait_screen(lambda screen: wanted in screen, repr(wanted), timeout)
        if isinstance(wanted, re.Pattern):
            return self._wait_screen(
                lambda screen: wanted.search(screen) is not None, wanted.pattern, timeout
            )
        return self._wait_screen(wanted, getattr(wanted, "__name__", "condition"), timeout)

    def wait_raw(self, wanted: bytes, timeout: float = PATIENCE, *, mark: int = 0) -> None:
        end = time.monotonic() + timeout
        with self._changed:
            while self._raw.find(wanted, mark) < 0:
                if not self._changed.wait(end - time.monotonic()) and time.monotonic() >= end:
                    raise NotSeenError(
                        f"{wanted!r} was not written in {timeout} s\n{self._shown()}"
                    )

    def wait_more(self, mark: int, timeout: float) -> bool:
        """Wait until more than `mark` bytes are written; False if none come in so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._raw) != mark, timeout)

    def stop_output(self) -> None:
        """Stop the output in the kernel, as ctrl-s does."""
        termios.tcflow(self._slave, termios.TCOOFF)

    def wait_quiet(self, quiet: float = 0.3, timeout: float = PATIENCE) -> int:
        """Wait until nothing was written for `quiet` seconds; gives the mark of that moment."""
        end = time.monotonic() + timeout
        with self._changed:
            while True:
                before = len(self._raw)
                self._changed.wait_for(lambda: len(self._raw) != before, quiet)  # noqa: B023
                if len(self._raw) == before:
                    return before
                if time.monotonic() > end:
                    raise NotSeenError(f"the program was never quiet for {quiet} s")

    def catch_up(self) -> None:
        """Wait until all that the program has written by now is read."""
        while True:
            with self._changed:
                waiting = fcntl.ioctl(self._master, termios.FIONREAD, bytes(4))
                if not int.from_bytes(waiting, sys.byteorder):
                    return
                self._changed.wait(0.05)

    def wait_gone(self, timeout: float = PATIENCE) -> int:
        """Wait for the end; gives the exit code as a shell would (128 + n after a signal)."""
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise NotSeenError(f"still running after {timeout} s\n{self._shown()}") from None
        if self._master >= 0 and self._reading.is_set():
            self.catch_up()
        return 128 - code if code < 0 else code

    # The program and its terminal

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def cpu_seconds(self) -> float:
        """Processor time used by the program so far, in seconds (Linux)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def termios(self) -> list[Any]:
        """The terminal's settings now; equal to `termios_before` once all is restored."""
        return termios.tcgetattr(self._slave)

    def _shown(self) -> str:
        return f"--- screen ---\n{self.text.rstrip()}\n--- end of raw ---\n{self.raw[-300:]!r}"

    def _draw(self) -> None:
        with self._changed:
            fresh = bytes(self._raw[self._drawn :])
            self._drawn = len(self._raw)
        self._picture.feed(fresh)

    def _wait_screen(self, found: Callable[[str], bool], name: str, timeout: float) -> str:
        end = time.monotonic() + timeout
        while True:
            seen = self.mark()
            screen = self.text
            if found(screen):
                return screen
            ended = not self.alive
            with self._changed:
                arrived = self._changed.wait_for(
                    lambda: len(self._raw) != seen,  # noqa: B023
                    min(0.1, max(0.0, end - time.monotonic())),
                )
            if arrived:
                continue
            if ended or time.monotonic() >= end:
                how = f"the program ended ({self._process.poll()})" if ended else f"{timeout} s"
                raise NotSeenError(f"{name} not seen: {how}\n{self._shown()}")

    def _read(self) -> None:
        """The reader thread: keep what the program writes, answer what a terminal answers."""
        master = self._master
        while self._master >= 0:
            ready, _, _ = select.select([self._wake_read, master], [], [])
            if self._wake_read in ready:
                os.read(self._wake_read, 64)
                self._paused.set()
                self._reading.wait()
                self._paused.clear()
                continue
            with self._changed:
                try:
                    fresh = os.read(master, 65536)
                except OSError:
                    return
                self._raw += fresh
                self._changed.notify_all()
            for query, answer in self._replies.items():
                if query in fresh:
                    os.write(master, answer)
