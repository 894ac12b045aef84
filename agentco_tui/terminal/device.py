"""The terminal as a device: saves and restores its settings, and turns its modes off.

Everything here works in any thread, and while other threads hang in a write to the same terminal,
because `terminal.guard` calls it when the app has crashed or hangs. The *picture* is all that
Textual paints. `SPEED` measures how long its writes take, to detect a slow line.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import termios
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentco_tui.system.child_process import CommandError, how_it_ended, started
from agentco_tui.system.osc import POP_TITLE
from agentco_tui.terminal.line_speed import SPEED, TimedFile

_TIDY: Final = (
    b"\x1b[?2026l"  # end synchronised output, or the terminal holds the rest back
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l"
    b"\x1b[?1016l"  # Textual turns pixel reports on and never off
    b"\x1b[?2004l\x1b[?1004l\x1b[?2048l\x1b[?7h\x1b[?25h\x1b[0m"
)
"""Turns off each mode that Textual turns on. May be sent twice."""

_LEAVE: Final = (
    b"\x18\x1b\\"  # end a sequence that was cut in the middle
    + _TIDY
    + b"\x1b[<u"  # the keyboard protocol, on the alternate screen's own stack
    + b"\x1b[?1049l"  # back to the shell's screen, and cursor
    + _TIDY
)
"""Leaves the full screen. Must be sent once only: a second time it would move the shell's cursor
and turn off the shell's own keyboard mode."""

_CHECK_INTERVAL: Final = 0.05
"""Seconds between two checks of a command that uses the terminal."""
_CHILD_SECONDS: Final = 3.0
"""Seconds for which a child process tries to restore the terminal after the end of this one."""


class TerminalDevice:
    """The terminal on standard input and on standard error or output.

    It is opened a second time, so that our writes never block. If there is no terminal, methods
    that need one do nothing.
    """

    def __init__(self) -> None:
        self.full_screen = False
        """Whether the app uses the full screen."""
        self.titled = False
        """Whether the terminal's title is the app's."""
        self.ending = False
        """Whether the app is about to end, and must not take the screen again."""
        self._inputs = _fileno(sys.__stdin__, 0)
        self._shared = _fileno(_canvas(), 1)
        """The descriptor that the picture goes to; the shell has it, too."""
        self._settings: list[Any] | None = None
        self._own: int | None = None
        """Our own, non-blocking descriptor."""
        if _only_tty(self._shared) is not None:
            # Opened again, because the shell shares the mode of the other descriptor. In a
            # container the name of the terminal may be wrong; that of `ctermid` is always right.
            flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK
            for name in (os.ttyname, lambda _: os.ctermid()):
                with contextlib.suppress(OSError):
                    self._own = os.open(name(self._shared), flags)
                    break
        self.watched = self._own if self._own is not None else _only_tty(self._inputs)
        """The descriptor to poll for a hang-up, or None if there is no terminal."""
        self.note_settings()

    def close(self) -> None:
        if self._own is not None:
            os.close(self._own)

    def canvas(self) -> TimedFile:
        """The text stream that the picture goes to, with timed writes."""
        return TimedFile(_canvas(), SPEED)

    def note_settings(self) -> None:
        """Save the settings, to be restored at the end."""
        with contextlib.suppress(termios.error):
            self._settings = termios.tcgetattr(self._inputs)

    def in_foreground(self) -> bool:
        """Whether this process may use the terminal now (a shell's background job may not)."""
        try:
            return os.tcgetpgrp(self._inputs) == os.getpgrp()
        except OSError:
            return True

    def is_hung_up(self) -> bool:
        """Whether the terminal has been closed at its other end."""
        if self.watched is None:
            return False
        poller = select.poll()
        poller.register(self.watched, 0)
        return any(event & (select.POLLHUP | select.POLLERR) for _, event in poller.poll(0))

    def is_lost(self) -> bool:
        """The same as `is_hung_up`, for a terminal that cannot be polled (macOS)."""
        try:
            termios.tcgetattr(-1 if self.watched is None else self.watched)
        except (termios.error, ValueError):
            return self.watched is not None
        return False

    def writable(self) -> bool:
        """Whether the terminal takes output without blocking."""
        target = self._own if self._own is not None else self._shared
        try:
            return bool(select.select([], [target], [], 0)[1])
        except (OSError, ValueError):
            return False

    def restore_settings(self) -> None:
        """Restore the saved settings, unless the terminal is the shell's again."""
        if self._settings is None or not self.in_foreground():
            return
        # A shell may take the terminal back right now; then this signal would stop us forever.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._inputs, termios.TCSANOW, self._settings)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def lend(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Run a command in the foreground, and wait for its end; end it if the app is to end.

        It has its own process group, so that ctrl+c is for it alone, and is continued after ctrl+z,
        because there is no shell to return to. If it fails, the user sees its output until a key
        is pressed, and CommandError is raised.
        """
        child = started(command, env, process_group=0)
        self._to_foreground(child.pid)
        while child.returncode is None:
            pid, status = os.waitpid(child.pid, os.WUNTRACED | os.WNOHANG)
            if pid and not os.WIFSTOPPED(status):
                child.returncode = os.waitstatus_to_exitcode(status)
            elif self.ending:
                os.killpg(child.pid, signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(4 * _CHECK_INTERVAL)
                child.kill()
                child.wait()
            elif pid:
                self._to_foreground(child.pid)
            else:
                time.sleep(_CHECK_INTERVAL)
        self._to_foreground(os.getpgrp())
        self.restore_settings()
        failed = child.returncode not in (0, -signal.SIGINT, 128 + signal.SIGINT)
        if failed and not self.ending:
            words = f"\r\n{command[0]} {how_it_ended(child.returncode)}: press enter to come back "
            self.say(words.encode("ascii", "replace"))
            while not (self.ending or select.select([self._inputs], [], [], _CHECK_INTERVAL)[0]):
                pass
        with contextlib.suppress(termios.error):
            termios.tcflush(self._inputs, termios.TCIFLUSH)  # none of it is for the app
        if failed:
            raise CommandError(how_it_ended(child.returncode))

    def _to_foreground(self, group: int) -> None:
        """Make a process group the foreground, and continue it if it was stopped."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        with contextlib.suppress(OSError):
            os.tcsetpgrp(self._inputs, group)
            os.killpg(group, signal.SIGCONT)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def tidy(self) -> None:
        """Turn off the modes that Textual leaves on. Never blocks: what is not taken is dropped."""
        if self.in_foreground():
            self.say(_TIDY)

    def say(self, what: bytes) -> None:
        """Write to the terminal, if it does not block."""
        if self._own is not None:
            with contextlib.suppress(OSError):
                os.write(self._own, what)

    def leave_by_force(self, seconds: float) -> None:
        """Leave the full screen even if a writer hangs: output that waits is discarded.

        For a process that ends right afterwards: nothing written to standard output or error
        reaches the terminal any more. Takes at most about `seconds`. If the terminal takes nothing
        in that time, a child process goes on trying for a few seconds after this one has ended,
        because its writes hold the terminal's lock.
        """
        if self._own is None or not self.in_foreground():
            return
        # Later writes go nowhere; one that hangs ends when its bytes are discarded below.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in {self._shared, 1, 2}:
            if _only_tty(descriptor) is not None:
                os.dup2(nowhere, descriptor)
        leave = _LEAVE
        if self.titled:
            leave += POP_TITLE.encode()
        rest = self._offer(leave, time.monotonic() + seconds)
        if not rest:
            return
        alive, held = os.pipe()
        # The end of the session leader sends SIGHUP to the whole foreground group, at once.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        with warnings.catch_warnings():
            # Python 3.12 warns of a fork in a process with threads. The child only makes system
            # calls.
            warnings.simplefilter("ignore")
            child = os.fork()
        if child:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return
        try:
            os.close(held)
            os.read(alive, 1)  # until this process is gone
            self._offer(rest, time.monotonic() + _CHILD_SECONDS)
        finally:
            os._exit(0)

    def _offer(self, data: bytes, end: float) -> bytes:
        """Write until a time without blocking, and discard what waits in the queue before it.

        Returns what could not be written.
        """
        own = self._own
        assert own is not None
        whole = data
        while data and time.monotonic() < end:
            if data is whole:
                with contextlib.suppress(termios.error):
                    termios.tcflush(own, termios.TCOFLUSH)
                    # Stopping and starting output wakes a writer that hangs, which flushing does
                    # not (Linux 6); it fills the room that came free, and releases the terminal.
                    termios.tcflow(own, termios.TCOOFF)
                    termios.tcflow(own, termios.TCOON)
            try:
                data = data[os.write(own, data) :]
            except BlockingIOError:
                time.sleep(0.005)
            except OSError:
                return b""
        return data


def _canvas() -> Any:
    """The stream that the picture goes to.

    Standard error, as in Textual, or standard output if that is redirected (`2>log`).
    """
    error = sys.__stderr__
    if _only_tty(_fileno(error, 2)) is not None:
        return error
    return sys.__stdout__ or error


def _only_tty(descriptor: int) -> int | None:
    """The descriptor, or None if it is no terminal."""
    return descriptor if os.isatty(descriptor) else None


def _fileno(stream: Any, default: int) -> int:
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return default
