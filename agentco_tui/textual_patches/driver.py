"""Patches Textual's terminal driver: job control, resizing, and errors while keys are read.

Seen with Textual 8.2.8:
- Continued after SIGSTOP, it starts a second time over itself.
- A stopped job that gets SIGTERM and SIGCONT, as `kill %1` sends them, starts again in the
  background and is stopped once more.
- ctrl+z without a parent shell stops it for good.
- ctrl+z while something is painted hangs it forever: the handler waits for the lock of the queue to
  the writing thread, which the interrupted code holds.
- A change of size during the handling of another one overtakes it, and the app draws for the older
  size.
- An error in the thread that reads the keys ends the program.

So the signal handlers here leave the work to the event loop, and the thread survives errors. The
driver takes and releases the screen by way of a `ControllingTerminal` (`terminal.device`), which
restores the terminal when the program crashes. `KeyArrivals` records which keys came alone: a
dialog accepts only such a key as an answer. `PatchedApp` is the base class of the app.
"""

from __future__ import annotations

import asyncio
import logging
import os
import selectors
import signal
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final, Protocol

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message

from agentco_tui.keys.key_arrivals import KeyArrivals
from agentco_tui.system import osc
from agentco_tui.system.background import person_acts
from agentco_tui.textual_patches.input_parser import LARGEST_SCREEN, InputParser, as_expected
from agentco_tui.textual_patches.patched_app import PatchedApp, Typed
from agentco_tui.textual_patches.registry import DRIVER, INPUT_PARSER

GRACE: Final = 0.05
"""Seconds that a job that is continued in the background waits for a signal that ends it."""
LAST_LOOK: Final = 0.1
"""Seconds for which input is still read before the terminal is released."""
ONE_READ: Final = 4096  # bytes that are read from the terminal at once
BY_HAND: Final = (events.Key, events.MouseDown, events.MouseScrollDown, events.MouseScrollUp)
"""Messages that show that the user is doing something."""
# The members of Textual's driver that this one replaces or calls.
_MEMBERS: Final = (
    *("_sigtstp_application", "_sigcont_application", "_get_terminal_size", "can_suspend"),
    *("close", "process_message", "run_input_thread", "start_application_mode"),
    *("stop_application_mode", "write"),
)

_log = logging.getLogger(__name__)


class ControllingTerminal(Protocol):
    """What the driver needs of the terminal."""

    full_screen: bool
    """Whether the app uses the full screen."""
    ending: bool
    """Whether the app is about to end, and must not take the screen again."""
    shows_app_title: bool
    """Whether the terminal's title is the app's."""

    def save_settings(self) -> None:
        """Save the settings, to be restored at the end."""

    def is_in_foreground(self) -> bool:
        """Whether this process may use the terminal now."""

    def timed_stream(self) -> Any:
        """The text stream that the picture goes to."""

    def run_in_foreground(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Run a command in the terminal until it ends."""


def shell_above() -> bool:
    """Whether a shell can continue this process once it is stopped.

    That is a parent in the same session and in another process group. Without one (a terminal that
    runs the program itself, `ssh -t host agentco-tui`) a stopped process would never continue,
    which is why the kernel ignores SIGTSTP there.
    """
    parent = os.getppid()
    try:
        return os.getsid(parent) == os.getsid(0) and os.getpgid(parent) != os.getpgrp()
    except (ProcessLookupError, PermissionError):
        return False


def in_loop(loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> None:
    """Have an event loop call `work`, from a signal handler or another thread."""
    with suppress(RuntimeError):  # Closed: the program is about to end anyway.
        loop.call_soon_threadsafe(work)


def guarded(base: type[Driver], terminal: ControllingTerminal) -> type[Driver]:
    """The driver class to use: ours instead of Textual's for Linux, any other unchanged."""
    if base is not LinuxDriver or not DRIVER.fits(_as_expected):
        return base
    return type("GuardedDriver", (JobControlDriver,), {"terminal": terminal})


def _as_expected() -> bool:
    made = LinuxDriver.__init__.__code__.co_names
    return all(hasattr(LinuxDriver, name) for name in _MEMBERS) and "_file" in made


class JobControlDriver(LinuxDriver):
    """The driver for Linux and macOS, which knows whether it holds the screen."""

    terminal: ClassVar[ControllingTerminal]
    typed: ClassVar = b""
    """What was read from the terminal before the start: the first keys."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._file: Any = self.terminal.timed_stream()
        self._started_before = False
        self._loop = asyncio.get_running_loop()
        self._continued = False
        signal.signal(signal.SIGTSTP, lambda *_: in_loop(self._loop, self._stop))
        signal.signal(signal.SIGCONT, self._told_to_go_on)

    @property
    def can_suspend(self) -> bool:
        return shell_above()

    def _get_terminal_size(self) -> tuple[int, int]:
        columns, rows = super()._get_terminal_size()
        return min(columns, LARGEST_SCREEN), min(rows, LARGEST_SCREEN)

    # ---- job control

    def _told_to_go_on(self, *_: object) -> None:
        self._continued = True
        in_loop(self._loop, self._go_on)

    def _stop(self) -> None:
        """Release the screen and stop the process; returns when it is continued."""
        if shell_above():
            self._tell_app()
            self._sigtstp_application()
            self._go_on()

    def _go_on(self) -> None:
        """Take the screen again, once each time that the process was continued."""
        if self._continued:
            self._tell_app()
            self._sigcont_application()

    def _tell_app(self) -> None:
        """Called before keys are read that were typed while the process was stopped."""
        if isinstance(self._app, PatchedApp):
            with self._app._context():
                self._app.stopped()

    def start_application_mode(self) -> None:
        """Take the screen; called at the start and after each SIGCONT."""
        while not (self.terminal.is_in_foreground() or self.terminal.ending):
            # `kill %1` sends SIGTERM and SIGCONT, and another of our threads may get the
            # first while this one acts on the second; stopped now, it would never end.
            time.sleep(GRACE)
            if not (self.terminal.is_in_foreground() or self.terminal.ending):
                os.kill(os.getpid(), signal.SIGSTOP)
        self._continued = False
        if self.terminal.ending:
            return
        if self.terminal.full_screen:
            self.stop_application_mode()
            self.close()
        self.terminal.save_settings()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        signal.signal(signal.SIGWINCH, lambda *_: in_loop(self._loop, self._tell_size))
        self.terminal.full_screen = True
        self.show_title()
        if self._started_before:
            # Textual repaints what changed, onto a screen that is empty now.
            self._app.call_later(self._app.refresh, layout=True)
        self._started_before = True

    def _tell_size(self) -> None:
        """Tell the app the current size of the terminal."""
        if not self._in_band_window_resize:
            size = Size(*self._get_terminal_size())
            self._app.post_message(events.Resize(size, size))

    def stop_application_mode(self) -> None:
        if self.terminal.full_screen:
            if self.terminal.shows_app_title:
                self.terminal.shows_app_title = False
                self.write(osc.POP_TITLE)
            super().stop_application_mode()
            self.terminal.full_screen = False

    def show_title(self) -> None:
        """Show the app's title until the screen is released."""
        text = getattr(self._app, "terminal_title", "")
        if text and self.terminal.full_screen:
            push = "" if self.terminal.shows_app_title else osc.PUSH_TITLE
            self.write(push + osc.title(text, os.environ))
            self.terminal.shows_app_title = True

    # ---- input and output

    def run_input_thread(self) -> None:
        """Read from the terminal until `exit_event`, and pass on the messages that result."""
        if not INPUT_PARSER.fits(as_expected):
            super().run_input_thread()
            return
        parser = InputParser()
        arrivals = self._arrivals()
        decode = getincrementaldecoder("utf-8")("surrogateescape").decode
        typed = JobControlDriver.typed
        JobControlDriver.typed = b""
        self._pass_on(lambda: parser.feed(decode(typed)), parser, arrivals)
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                looks_at = time.monotonic()
                looks_for = min(parser.wait, arrivals.wait or parser.wait)
                if selector.select(looks_for):
                    if not self._take(parser, decode, arrivals):
                        # The terminal has hung up: the guard ends the program.
                        self.exit_event.wait()
                elif not parser.is_within_key:
                    arrivals.record_empty(looks_at + looks_for)
                self._pass_on(parser.tick, parser, arrivals)
            if selector.select(LAST_LOOK):
                self._take(parser, decode, arrivals)

    def _arrivals(self) -> KeyArrivals:
        """The app's record of which keys came alone; this thread writes it from now on."""
        arrivals = self._app.arrivals if isinstance(self._app, PatchedApp) else KeyArrivals()
        arrivals.watched = True
        return arrivals

    def _take(
        self, parser: InputParser, decode: Callable[[bytes], str], arrivals: KeyArrivals
    ) -> bool:
        """Read once; False after a hang-up. Raises OSError."""
        begins_at = time.monotonic()
        try:
            data = os.read(self.fileno, ONE_READ)
        except BlockingIOError:
            return True
        self._pass_on(lambda: parser.feed(decode(data)), parser, arrivals)
        if len(data) < ONE_READ and not parser.is_within_key:
            arrivals.record_empty(begins_at)  # all that had come by then was read
        return bool(data)

    def _pass_on(
        self, read: Callable[[], list[Message]], parser: InputParser, arrivals: KeyArrivals
    ) -> None:
        """Pass on what was read; all its keys get the time at which the read ended."""
        try:
            messages = read()
            keys = [message for message in messages if isinstance(message, Typed)]
            count = len(keys) + parser.take_dropped_keys()
            if count:
                at = time.monotonic()
                for key in keys:
                    key.time = at
                arrivals.record_keys(count, at)
            for message in messages:
                self.process_message(message)
        except Exception as error:
            _log.warning("dropped what came from the terminal", exc_info=error)

    def process_message(self, message: Message) -> None:
        """Pass on what came from the terminal, and pause background work after a key or click."""
        if isinstance(message, BY_HAND):
            person_acts()  # pauses sliced background work for a moment
        super().process_message(message)

    def write(self, data: str) -> None:
        """Write to the terminal. What an ending app writes outside the full screen is lost."""
        if self.terminal.full_screen or not self.terminal.ending:
            super().write(data)
