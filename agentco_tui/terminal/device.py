"""The terminal as a device: saves and restores its settings, and switches its modes off.

`TerminalGuard` uses it to give the terminal back in order, however the program ends. So everything
here works in any thread, even while other threads hang in a write to the same terminal. *Settings*
are those of the line (termios: echo, line editing); *modes* are what escape sequences turned on
(the alternate screen, mouse reports).
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

_RESET_MODES: Final = (
    b"\x1b[?2026l"  # end synchronised output, or the terminal holds the rest back
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l"
    b"\x1b[?1016l"  # Textual turns pixel reports on and never off
    b"\x1b[?2004l\x1b[?1004l\x1b[?2048l\x1b[?7h\x1b[?25h\x1b[0m"
)
"""Turns off each mode that Textual turns on, except the full screen. May be sent twice."""

_LEAVE_FULL_SCREEN: Final = (
    b"\x18\x1b\\"  # end a sequence that was cut off
    + _RESET_MODES
    + b"\x1b[<u"  # turn off kitty's keyboard protocol, which each screen has separately
    + b"\x1b[?1049l"  # return to the shell's screen and cursor
    + _RESET_MODES
)
"""Leaves the full screen. Must be sent once only: a second time it would move the shell's cursor
and turn off the shell's own keyboard mode."""

_CHECK_INTERVAL: Final = 0.05
"""Seconds between two checks of a command that uses the terminal."""
_CHILD_SECONDS: Final = 3.0
"""Seconds for which a child process tries to restore the terminal after the end of this one."""


class TerminalDevice:
    """The terminal on standard input and on standard error or output.

    It is opened a second time, so that writes to it from here never block. Without a terminal, the
    methods do nothing.
    """

    def __init__(self) -> None:
        self.full_screen = False
        """Whether the app uses the full screen."""
        self.shows_app_title = False
        """Whether the terminal shows the app's title, and has the shell's on its stack."""
        self.ending = False
        """Whether the app is about to end, and must not take the screen again."""
        self._input_fd = _fileno(sys.__stdin__, 0)
        self._drawing_fd = _fileno(_drawing_stream(), 1)
        """The descriptor that Textual draws on; it is shared with the shell."""
        self._settings: list[Any] | None = None
        self._own_fd: int | None = None
        """Our own, non-blocking descriptor."""
        if _fd_of_terminal(self._drawing_fd) is not None:
            # Opened again, because O_NONBLOCK on the other descriptor would affect the shell, too.
            # In a container the name of the terminal may be wrong; that of `ctermid` never is.
            flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK
            for name in (os.ttyname, lambda _: os.ctermid()):
                with contextlib.suppress(OSError):
                    self._own_fd = os.open(name(self._drawing_fd), flags)
                    break
        self.watched_fd = self._own_fd
        """The descriptor to poll for a hang-up, or None if there is no terminal."""
        if self.watched_fd is None:
            self.watched_fd = _fd_of_terminal(self._input_fd)
        self.save_settings()

    def close(self) -> None:
        if self._own_fd is not None:
            os.close(self._own_fd)

    def timed_stream(self) -> TimedFile:
        """Return the text stream on which Textual draws, with timed writes."""
        return TimedFile(_drawing_stream(), SPEED)

    def save_settings(self) -> None:
        """Save the settings, to be restored at the end of the program."""
        with contextlib.suppress(termios.error):
            self._settings = termios.tcgetattr(self._input_fd)

    def is_in_foreground(self) -> bool:
        """Return whether this process may use the terminal (a shell's background job may not)."""
        try:
            return os.tcgetpgrp(self._input_fd) == os.getpgrp()
        except OSError:
            return True

    def is_hung_up(self) -> bool:
        """Return whether the terminal was closed (the window or the SSH session is gone)."""
        if self.watched_fd is None:
            return False
        poller = select.poll()
        poller.register(self.watched_fd, 0)
        return any(event & (select.POLLHUP | select.POLLERR) for _, event in poller.poll(0))

    def is_lost(self) -> bool:
        """Return the same as `is_hung_up`, for a terminal that cannot be polled (macOS)."""
        if self.watched_fd is None:
            return False
        try:
            termios.tcgetattr(self.watched_fd)
        except (termios.error, ValueError):
            return True
        return False

    def is_writable(self) -> bool:
        """Return whether the terminal accepts output without blocking."""
        descriptor = self._own_fd
        if descriptor is None:
            descriptor = self._drawing_fd
        try:
            _, writable, _ = select.select([], [descriptor], [], 0)
        except (OSError, ValueError):
            return False
        return bool(writable)

    def restore_settings(self) -> None:
        """Restore the saved settings, unless the shell has the terminal again."""
        if self._settings is None or not self.is_in_foreground():
            return
        # The shell may take the terminal back at this moment: SIGTTOU would stop the process then.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._input_fd, termios.TCSANOW, self._settings)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def run_in_foreground(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Run a command in the terminal, and wait for its end; end it if the app is about to end.

        It has its own process group, so that ctrl+c ends only the command. It is continued at once
        after ctrl+z, because it has no shell that could continue it. If it fails, its output stays
        visible until a key is pressed, and CommandError is raised.
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
            notice = f"\r\n{command[0]} {how_it_ended(child.returncode)}: press enter to come back "
            self.write_if_ready(notice.encode("ascii", "replace"))
            self._wait_for_key()
        with contextlib.suppress(termios.error):
            # What was typed is not for the app.
            termios.tcflush(self._input_fd, termios.TCIFLUSH)
        if failed:
            raise CommandError(how_it_ended(child.returncode))

    def _wait_for_key(self) -> None:
        """Wait until the terminal has input, or the app is about to end."""
        while not self.ending:
            readable, _, _ = select.select([self._input_fd], [], [], _CHECK_INTERVAL)
            if readable:
                return

    def _to_foreground(self, group: int) -> None:
        """Put a process group in the foreground, and continue it if it was stopped."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        with contextlib.suppress(OSError):
            os.tcsetpgrp(self._input_fd, group)
            os.killpg(group, signal.SIGCONT)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def reset_modes(self) -> None:
        """Turn off the modes that Textual leaves on, unless the terminal would block."""
        if self.is_in_foreground():
            self.write_if_ready(_RESET_MODES)

    def write_if_ready(self, data: bytes) -> None:
        """Write to the terminal; what it does not accept at once is dropped."""
        if self._own_fd is not None:
            with contextlib.suppress(OSError):
                os.write(self._own_fd, data)

    def leave_by_force(self, seconds: float) -> None:
        """Leave the full screen even if another thread hangs in a write: queued output is
        discarded.

        For a process that ends right afterwards: nothing that it writes to standard output or error
        reaches the terminal any more. Takes at most about `seconds`. If the terminal accepts
        nothing in that time, a child process tries again for a few seconds after this process has
        ended, because until then the hung write holds the lock of the terminal.
        """
        if self._own_fd is None or not self.is_in_foreground():
            return
        # Later writes go to /dev/null. One that hangs ends when its bytes are discarded below.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in {self._drawing_fd, 1, 2}:
            if _fd_of_terminal(descriptor) is not None:
                os.dup2(nowhere, descriptor)
        leave = _LEAVE_FULL_SCREEN
        if self.shows_app_title:
            leave += POP_TITLE.encode()
        rest = self._write_until(leave, time.monotonic() + seconds)
        if not rest:
            return
        # The child reads from the pipe until this process, which has the other end, has ended.
        read_end, write_end = os.pipe()
        # When a session leader ends, the kernel sends SIGHUP to the whole foreground group.
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
            os.close(write_end)
            os.read(read_end, 1)
            self._write_until(rest, time.monotonic() + _CHILD_SECONDS)
        finally:
            os._exit(0)

    def _write_until(self, data: bytes, end: float) -> bytes:
        """Discard the output queue, then write without blocking until the time `end` (monotonic).

        Returns what could not be written.
        """
        own = self._own_fd
        assert own is not None
        whole = data
        while data and time.monotonic() < end:
            if data is whole:
                with contextlib.suppress(termios.error):
                    termios.tcflush(own, termios.TCOFLUSH)
                    # Stopping and starting output wakes a hung writer, which flushing does not
                    # (Linux 6). It fills the space that is free now, and releases the terminal.
                    termios.tcflow(own, termios.TCOOFF)
                    termios.tcflow(own, termios.TCOON)
            try:
                data = data[os.write(own, data) :]
            except BlockingIOError:
                time.sleep(0.005)
            except OSError:
                return b""
        return data


def _drawing_stream() -> Any:
    """Return the stream to draw on.

    That is standard error, as in Textual, or standard output if standard error is redirected.
    """
    error = sys.__stderr__
    if _fd_of_terminal(_fileno(error, 2)) is not None:
        return error
    return sys.__stdout__ or error


def _fd_of_terminal(descriptor: int) -> int | None:
    """Return the descriptor if it is that of a terminal, else None."""
    if os.isatty(descriptor):
        return descriptor
    return None


def _fileno(stream: Any, default: int) -> int:
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return default
