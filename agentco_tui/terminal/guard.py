"""Runs a Textual app, and restores the terminal however it ends: by a signal, a hang-up, an error.

A *hang-up* is the loss of the terminal: its window was closed, or the SSH session ended. The
terminal itself is a `TerminalDevice`. `guarded_driver` replaces Textual's terminal driver by one
that tells the device when it takes the screen, and `in_loop` calls a function in the event loop's
thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final, Never

from rich.console import Console
from textual.app import App

from agentco_tui.terminal import crash as crash_report
from agentco_tui.terminal.device import TerminalDevice
from agentco_tui.textual_patches.driver import guarded_driver, in_loop

END_SECONDS: Final = 0.6
"""Seconds that the app has to end after a signal or a hang-up, before it is ended by force."""
LINGER_SECONDS: Final = 3.0
"""Seconds that a thread may keep the process alive after the app has ended."""
RESTORE_SECONDS: Final = 0.15
"""Seconds given to a terminal that accepts no output, before a child process takes over."""
ON_END_SECONDS: Final = 0.1
"""Seconds given to `on_end` when the process is ended by force."""
KERNEL_SECONDS: Final = 0.35
"""Seconds after which the kernel ends the process, if ending it by force hangs."""
CHECK_INTERVAL: Final = 0.5
"""Seconds between checks of a terminal that cannot be polled (macOS)."""

ENDING_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
_FORWARDED_SIGNALS: Final = (
    *(signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH),
    *(signal.SIGTTIN, signal.SIGTTOU),
)
_WRITER_THREAD: Final = "textual-output"
"""The name of Textual's thread that writes to the terminal."""

# Bytes in the pipe to the guard's thread, in addition to the numbers of signals.
_DEADLINE_CHANGED: Final = b"\xff"
"""`_deadline` is another one now."""
_END_THREAD: Final = b"\xfe"
"""The guard's thread must end."""

_log = logging.getLogger(__name__)


class TerminalGuard:
    """Runs an app and restores the terminal at its end. The dashboard is always started by `run`.

    A separate thread, which needs neither the event loop nor the main thread, waits for signals and
    for the terminal to hang up. It asks the app to end; if that takes too long, it restores the
    terminal and ends the process.
    """

    def __init__(
        self,
        app: App[Any],
        *,
        crash_folder: Callable[[], Path],
        redact: Callable[[str], str] = str,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        """`crash_folder` returns the folder for reports, and is called after an error only.

        `redact` removes keys from a text. `on_end` is called once at the end: in the main thread
        after a graceful end, in another one (for `ON_END_SECONDS` at most) after a forced one.
        """
        self._app = app
        self._crash_folder = crash_folder
        self._redact = redact
        self._on_end = on_end
        self._on_end_lock = threading.Lock()
        """Taken by the thread that calls `on_end`, and never released."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._device = TerminalDevice()
        self._errors: list[BaseException] = []
        self._console = io.StringIO()
        """What Textual prints about an error."""
        self._code: int | None = None
        """The exit code that a signal or a hang-up determined."""
        self._deadline: float | None = None
        """When the process is ended by force, in monotonic time."""
        self._writer_lost = False
        """Whether the thread that writes to the terminal has died."""
        self._restoring_lock = threading.Lock()
        """Taken by the thread that restores the terminal, and never released."""
        self._is_restored = threading.Event()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._thread = threading.Thread(
            target=self._watch_terminal, name="terminal-guard", daemon=True
        )
        numbers = (*ENDING_SIGNALS, *_FORWARDED_SIGNALS)
        self._handlers = {number: signal.getsignal(number) for number in numbers}

    def run(self) -> int:
        """Run the app to its end, and return the exit code for the process.

        That is 0 or the app's own return code after a normal end, 128 + n after signal n (129 after
        a hang-up), and 1 after an error in the program: then two lines on standard error say what
        happened and where the report is.

        Call it in the main thread, and `close` afterwards, or end the process soon: after a signal
        the process is ended by force within `END_SECONDS`, wherever it is then.
        """
        app = self._app
        # Textual prints its report, with all local variables, to this console.
        app.error_console = Console(file=self._console)
        app.driver_class = guarded_driver(app.driver_class, self._device)
        for number in ENDING_SIGNALS:
            # A signal that the parent ignores (nohup, `&` without job control) stays ignored.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        # Errors in threads and finalisers are logged, because a traceback would spoil the screen.
        threading.excepthook = self._on_thread_error
        sys.unraisablehook = lambda args: self._log_error(
            args.err_msg or "an error while clearing away", args.exc_value
        )
        self._thread.start()
        code = 1
        try:
            code = asyncio.run(self._main())
        except KeyboardInterrupt:
            code = 128 + signal.SIGINT
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(bool(leaving.code))
        except BaseException as error:
            self._errors.append(error)
        finally:
            self._restore_once()
        self._call_on_end()
        if self._code is not None:
            # The deadline stays: a thread that cannot be stopped may keep the interpreter alive.
            return self._code
        self._deadline = None
        return 1 if self._errors else code

    def close(self) -> None:
        """Release signals, thread and descriptors after `run`, so that another guard can be made.

        Does not return if a signal has come: then the process ends.
        """
        signal.set_wakeup_fd(-1)
        # The hooks hold the app, and each thread holds the hook that it was created with.
        threading.excepthook = threading.__excepthook__
        sys.unraisablehook = sys.__unraisablehook__
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._wake(_END_THREAD)
        self._thread.join()
        for descriptor in (self._wake_read, self._wake_write):
            os.close(descriptor)
        self._device.close()

    async def _main(self) -> int:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(
            lambda _, said: self._log_error(str(said.get("message")), said.get("exception"))
        )
        try:
            await self._app.run_async()
        except Exception as raised:
            self._errors.append(raised)
        finally:
            # What Textual caught: the first error, or the message that the app gave to `panic`.
            error = getattr(self._app, "_exception", None)
            if isinstance(error, BaseException):
                self._errors.insert(0, error)
                self._console = io.StringIO()
            if self._device.is_hung_up():
                self._request_end(128 + signal.SIGHUP)
            self._restore_once()
            if self._code is None:
                self._deadline = time.monotonic() + LINGER_SECONDS
                self._wake(_DEADLINE_CHANGED)
        return 1 if self._errors else self._app.return_code or 0

    def _restore_once(self) -> None:
        """Restore the terminal, and report a crash. A second call does nothing."""
        if self._is_restored.is_set():
            return
        # If the guard's thread has the lock, it ends the process, and this thread must wait.
        self._restoring_lock.acquire()
        try:
            self._restore_terminal(stuck=False)
        finally:
            self._is_restored.set()

    def _restore_terminal(self, *, stuck: bool) -> None:
        """Restore the terminal, and report a crash to the user.

        `stuck` says that the terminal does not accept output.
        """
        device = self._device
        by_force = stuck or device.full_screen or self._writer_lost
        if by_force:
            device.leave_by_force(RESTORE_SECONDS)
        device.restore_settings()
        device.reset_modes()
        message = self._console.getvalue()
        # After a hang-up every part of Textual fails, which is no defect of the program.
        if not (self._errors or message) or device.is_hung_up():
            return
        crash = crash_report.Crash(tuple(self._errors), message)
        self._errors = self._errors or [RuntimeError(message)]
        try:
            path = crash_report.write_report(crash, self._crash_folder(), self._redact)
            where = f"the report, without the key, is in {path}"
        except Exception as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            where = f"no report could be written: {reason}"
        text = f"agentco-tui: stopped by an error: {crash.summary()}\n{where}\n"
        with contextlib.suppress(OSError):
            if by_force:
                device.write_if_ready(text.encode("ascii", "replace"))
            elif sys.__stderr__ is not None:
                sys.__stderr__.write(text)
                sys.__stderr__.flush()

    def _call_on_end(self) -> None:
        if self._on_end is None or not self._on_end_lock.acquire(blocking=False):
            return
        try:
            self._on_end()
        except Exception as error:
            self._log_error("the last work before the end failed", error)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        # The interpreter has written the number to the pipe already, unless other code took the
        # wake-up descriptor. No lock here: this runs between any two steps of the main thread.
        self._device.ending = True
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        self._wake(bytes([number]))

    def _on_thread_error(self, args: threading.ExceptHookArgs) -> None:
        name = "a thread"
        if args.thread is not None:
            name = args.thread.name
        self._log_error(f"{name} ended with an error", args.exc_value)
        if name == _WRITER_THREAD and args.exc_value and not self._device.is_hung_up():
            # Without its writing thread, the app paints into a queue until that is full, and hangs.
            self._errors.append(args.exc_value)
            self._writer_lost = True
            self._request_end(1)

    def _log_error(self, message: str, error: BaseException | None) -> None:
        errors = () if error is None else (error,)
        crash = crash_report.Crash(errors, message)
        _log.error("%s", crash.report(self._redact))

    # ---- in the guard's thread

    def _watch_terminal(self) -> None:
        poller = select.poll()
        poller.register(self._wake_read, select.POLLIN)
        watched = self._device.watched_fd
        if watched is not None:
            poller.register(watched, 0)
        # Whether the terminal cannot be polled, and is checked at intervals instead.
        is_checking = False
        while True:
            for descriptor, event in poller.poll(self._poll_timeout(is_checking)):
                if descriptor == self._wake_read:
                    received = os.read(self._wake_read, 256)
                    self._handle_signals(received)
                    if _END_THREAD in received and self._code is None:
                        return
                elif event & select.POLLNVAL and not is_checking:
                    is_checking = True
                    poller.unregister(descriptor)
                else:
                    poller.unregister(descriptor)
                    self._request_end(128 + signal.SIGHUP)
            if is_checking and self._device.is_lost():
                is_checking = False
                self._request_end(128 + signal.SIGHUP)
            deadline = self._deadline
            if deadline is not None and time.monotonic() >= deadline:
                self._end_by_force()

    def _poll_timeout(self, is_checking: bool) -> float | None:
        """Return the milliseconds to wait for an event; None to wait until there is one."""
        deadline = self._deadline
        if deadline is not None:
            return max(0.0, deadline - time.monotonic()) * 1000 + 1
        if is_checking:
            return CHECK_INTERVAL * 1000
        return None

    def _handle_signals(self, numbers: bytes) -> None:
        for number in numbers:
            if number in ENDING_SIGNALS:
                self._request_end(128 + number)
            elif number in _FORWARDED_SIGNALS and self._loop is not None:
                # If the kernel gave it to another thread, the main thread would sleep on and not
                # run its handler, because the descriptor that wakes its loop is ours.
                in_loop(self._loop, lambda: None)

    def _request_end(self, code: int) -> None:
        """Ask the app to end with this code, and set the deadline. Only the first call counts."""
        if self._code is not None:
            return
        self._code = code
        self._device.ending = True
        self._deadline = time.monotonic() + END_SECONDS
        if self._loop is not None:
            in_loop(self._loop, lambda: self._app.exit(return_code=code))
        self._wake(_DEADLINE_CHANGED)

    def _end_by_force(self) -> Never:
        # The last resort: the kernel's default action for this signal ends the process.
        signal.setitimer(signal.ITIMER_REAL, KERNEL_SECONDS)
        on_end_thread = threading.Thread(target=self._call_on_end, daemon=True)
        on_end_thread.start()
        if self._restoring_lock.acquire(blocking=False):
            self._restore_terminal(stuck=not self._device.is_writable())
        else:
            self._is_restored.wait(RESTORE_SECONDS)
        on_end_thread.join(ON_END_SECONDS)
        code = self._code
        if code is None:
            code = 1 if self._errors else self._app.return_code or 0
        os._exit(code)

    def _wake(self, what: bytes) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, what)
