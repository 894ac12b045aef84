"""The terminal as a device: its settings saved and put back, its modes turned off.

Everything here works while other threads hang in a write to the same terminal, and from any
thread, since it is what runs when nothing else does any more.
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
"""What may be said twice: each mode that Textual turns on, off."""

_LEAVE: Final = (
    b"\x18\x1b\\"  # end a sequence that was cut in the middle
    + _TIDY
    + b"\x1b[<u"  # the keyboard protocol, on the alternate screen's own stack
    + b"\x1b[?1049l"  # back to the shell's screen, and cursor
    + _TIDY
)
"""What must be said once only: a second time it would move the shell's cursor and take the
shell's own keyboard mode away."""

_CHILD_LOOK: Final = 0.05  # seconds between two looks at a command that has the terminal
_CHILD_SECONDS: Final = 3.0  # for which a child tries after the end of this process


class TerminalDevice:
    """The terminal on standard input and standard error (or output, as the driver does), opened a
    second time so that our writes never block. Where either is none, what needs one does nothing.
    """

    def __init__(self) -> None:
        self.full_screen = False  # whether the app has the screen
        self.titled = False  # whether its title is the app's
        self.ending = False  # whether the app is to end, and takes the screen no more
        self._inputs, self._shared = _fileno(sys.__stdin__, 0), _fileno(_canvas(), 1)
        self._settings: list[Any] | None = None
        self._own: int | None = None
        if _only_tty(self._shared) is not None:
            # With non-blocking writes; its sharers (the shell) keep their own mode. In a container
            # the terminal may have a name of another place; the second always leads to it.
            flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK
            for name in (os.ttyname, lambda _: os.ctermid()):
                with contextlib.suppress(OSError):
                    self._own = os.open(name(self._shared), flags)
                    break
        self.watched = self._own if self._own is not None else _only_tty(self._inputs)
        """The descriptor to poll for a hang-up, or None when there is no terminal."""
        self.note_settings()

    def close(self) -> None:
        if self._own is not None:
            os.close(self._own)

    def canvas(self) -> TimedFile:
        """The text stream that the picture goes to, its writes timed."""
        return TimedFile(_canvas(), SPEED)

    def note_settings(self) -> None:
        with contextlib.suppress(termios.error):
            self._settings = termios.tcgetattr(self._inputs)

    def in_foreground(self) -> bool:
        """Whether this process may touch the terminal now (a shell's background job may not)."""
        try:
            return os.tcgetpgrp(self._inputs) == os.getpgrp()
        except OSError:
            return True

    def gone(self) -> bool:
        """Whether the terminal has been closed at its other end."""
        if self.watched is None:
            return False
        poller = select.poll()
        poller.register(self.watched, 0)
        return any(event & (select.POLLHUP | select.POLLERR) for _, event in poller.poll(0))

    def lost(self) -> bool:
        """The same where a terminal can't be polled (macOS)."""
        try:
            termios.tcgetattr(-1 if self.watched is None else self.watched)
        except (termios.error, ValueError):
            return self.watched is not None
        return False

    def writable(self) -> bool:
        target = self._own if self._own is not None else self._shared
        try:
            return bool(select.select([], [target], [], 0)[1])
        except (OSError, ValueError):
            return False

    def restore_settings(self) -> None:
        """Put the remembered settings back, unless the terminal is the shell's again."""
        if self._settings is None or not self.in_foreground():
            return
        # In the time between the question above and this, a shell may take the terminal back;
        # then this signal would stop us for ever.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._inputs, termios.TCSANOW, self._settings)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def lend(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Run a command in the foreground, in a group of its own, so that ctrl+c is for it alone,
        and wait for its end, or end it when the app is to end. Where it failed (CommandError) a
        person reads why first. There is no shell above that ctrl+z could come back to.
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
                    child.wait(4 * _CHILD_LOOK)
                child.kill()
                child.wait()
            elif pid:
                self._to_foreground(child.pid)
            else:
                time.sleep(_CHILD_LOOK)
        self._to_foreground(os.getpgrp())
        self.restore_settings()
        failed = child.returncode not in (0, -signal.SIGINT, 128 + signal.SIGINT)
        if failed and not self.ending:
            words = f"\r\n{command[0]} {how_it_ended(child.returncode)}: press enter to come back "
            self.say(words.encode("ascii", "replace"))
            while not (self.ending or select.select([self._inputs], [], [], _CHILD_LOOK)[0]):
                pass
        with contextlib.suppress(termios.error):
            termios.tcflush(self._inputs, termios.TCIFLUSH)  # none of it is for the app
        if failed:
            raise CommandError(how_it_ended(child.returncode))

    def _to_foreground(self, group: int) -> None:
        """Give the terminal to a group, and wake what was stopped as it had it not."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        with contextlib.suppress(OSError):
            os.tcsetpgrp(self._inputs, group)
            os.killpg(group, signal.SIGCONT)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def tidy(self) -> None:
        """Turn off what Textual's own end leaves on. Never blocks; what isn't taken is dropped."""
        if self.in_foreground():
            self.say(_TIDY)

    def say(self, what: bytes) -> None:
        """Write to the terminal, if it takes that at once."""
        if self._own is not None:
            with contextlib.suppress(OSError):
                os.write(self._own, what)

    def leave_by_force(self, seconds: float) -> None:
        """Leave the full screen although its writer may hang: give up what waits for the terminal.

        For a process that ends right after: nothing written to standard output or error reaches
        the terminal after this. Takes at most about `seconds`; when the terminal takes nothing in
        that time, a child goes on trying for a few seconds once this process, whose writes hold
        the terminal's lock, is gone.
        """
        if self._own is None or not self.in_foreground():
            return
        # Later writes go nowhere; the one that hangs ends as its bytes are given up below.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in {self._shared, 1, 2}:
            if _only_tty(descriptor) is not None:
                os.dup2(nowhere, descriptor)
        rest = self._offer(_LEAVE + POP_TITLE.encode() * self.titled, time.monotonic() + seconds)
        if not rest:
            return
        alive, held = os.pipe()
        # The end of a session's leader sends SIGHUP to all in the foreground, at once.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        with warnings.catch_warnings():
            # Forking beside threads is warned of since 3.12. The child calls the kernel only.
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
        """Write without blocking until `end`, throwing away what waits in the queue before it."""
        own = self._own
        assert own is not None
        whole = data
        while data and time.monotonic() < end:
            if data is whole:
                with contextlib.suppress(termios.error):
                    termios.tcflush(own, termios.TCOFLUSH)
                    # Stopping and starting wakes the writer that hangs, which flushing does not
                    # (Linux 6); it takes the room that came free, and lets go of the terminal.
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
    """The stream that the picture goes to: standard error as Textual does, or, when that is sent
    to a file (`2>log`), standard output.
    """
    error = sys.__stderr__
    return error if _only_tty(_fileno(error, 2)) is not None else sys.__stdout__ or error


def _only_tty(descriptor: int) -> int | None:
    return descriptor if os.isatty(descriptor) else None


def _fileno(stream: Any, otherwise: int) -> int:
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return otherwise
