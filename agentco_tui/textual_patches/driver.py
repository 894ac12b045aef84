"""Patches Textual's terminal driver: job control, resizing, and errors while keys are read.

A driver draws on the terminal and reads from it in a thread. `TerminalGuard` replaces Textual's by
that of `guarded_driver`. *Job control* is what a shell does with ctrl+z, `fg`, `bg` and `kill %1`.

Seen with Textual 8.2.8:
- When continued after SIGSTOP, it starts a second time on top of itself.
- A stopped job that gets SIGTERM and SIGCONT, as `kill %1` sends them, starts again in the
  background and is stopped once more.
- ctrl+z without a parent shell stops it for good.
- ctrl+z during painting hangs it forever: the handler waits for the lock of the queue to the
  writing thread, which the interrupted code holds.
- A change of size while another one is handled overtakes it, and the app draws for the older size.
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
from agentco_tui.system.selectable_event import SelectableEvent
from agentco_tui.textual_patches.compositor import SHOWN
from agentco_tui.textual_patches.input_parser import LARGEST_SCREEN, InputParser, as_expected
from agentco_tui.textual_patches.patched_app import PatchedApp, Typed
from agentco_tui.textual_patches.registry import DRIVER, INPUT_PARSER

SIGNAL_WAIT: Final = 0.05
"""Seconds for which a job that is continued in the background waits for a signal to end it."""
LAST_READ_WAIT: Final = 0.1
"""Seconds for which input is still read at the end, so that the shell does not get it."""
READ_SIZE: Final = 4096  # bytes that are read from the terminal at once
_USER_INPUT: Final[tuple[type[Message], ...]] = (
    events.Key,
    events.MouseDown,
    events.MouseScrollDown,
    events.MouseScrollUp,
)
# The members of Textual's driver that this one overrides or calls.
_MEMBERS: Final = (
    *("_sigtstp_application", "_sigcont_application", "_get_terminal_size", "can_suspend"),
    *("close", "process_message", "run_input_thread", "start_application_mode"),
    *("stop_application_mode", "write"),
)

_log = logging.getLogger(__name__)


class ControllingTerminal(Protocol):
    """What the driver needs from a terminal; `terminal.device.TerminalDevice` has it."""

    full_screen: bool
    """Whether the app uses the full screen."""
    ending: bool
    """Whether the app is about to end, and must not take the screen again."""
    shows_app_title: bool
    """Whether the terminal shows the app's title."""

    def save_settings(self) -> None:
        """Save the settings, to be restored at the end."""

    def is_in_foreground(self) -> bool:
        """Return whether this process may use the terminal now."""

    def timed_stream(self) -> Any:
        """Return the text stream to draw on."""

    def run_in_foreground(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Run a command in the terminal until it ends."""


def has_parent_shell() -> bool:
    """Return whether the parent process is a shell that can continue this process once stopped.

    That is a parent in the same session and in another process group. Without one (in a terminal
    that runs the program directly, or with `ssh -t host agentco-tui`) a stopped process would never
    continue, which is why the kernel ignores SIGTSTP there.
    """
    parent = os.getppid()
    try:
        return os.getsid(parent) == os.getsid(0) and os.getpgid(parent) != os.getpgrp()
    except (ProcessLookupError, PermissionError):
        return False


def in_loop(loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> None:
    """Make an event loop call `work`; may be used in a signal handler or another thread."""
    with suppress(RuntimeError):  # the loop is closed: the program is about to end
        loop.call_soon_threadsafe(work)


def guarded_driver(base: type[Driver], terminal: ControllingTerminal) -> type[Driver]:
    """Return the driver class to use: `JobControlDriver` for Textual's on Linux, else `base`."""
    if base is not LinuxDriver or not DRIVER.fits(_as_expected):
        return base
    return type("GuardedDriver", (JobControlDriver,), {"terminal": terminal})


def _as_expected() -> bool:
    attribute_names = LinuxDriver.__init__.__code__.co_names
    has_members = all(hasattr(LinuxDriver, name) for name in _MEMBERS)
    return has_members and "_file" in attribute_names


class JobControlDriver(LinuxDriver):
    """The driver for Linux and macOS; `terminal.full_screen` is true while it has the screen."""

    terminal: ClassVar[ControllingTerminal]
    typed_before_start: ClassVar = b""
    """Keys that were read from the terminal before the driver started."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._reported_size = Size(*self._get_terminal_size())
        """The size that the terminal has reported last, if it does that by itself."""
        self._exit = SelectableEvent()
        self.exit_event = self._exit  # which Textual sets to end the thread that reads
        self._file: Any = self.terminal.timed_stream()
        self._started_before = False
        self._loop = asyncio.get_running_loop()
        self._continued = False
        signal.signal(signal.SIGTSTP, lambda *_: in_loop(self._loop, self._stop_process))
        signal.signal(signal.SIGCONT, self._on_continued)

    @property
    def can_suspend(self) -> bool:
        return has_parent_shell()

    def _get_terminal_size(self) -> tuple[int, int]:
        columns, rows = super()._get_terminal_size()
        return min(columns, LARGEST_SCREEN), min(rows, LARGEST_SCREEN)

    # ---- job control

    def _on_continued(self, *_: object) -> None:
        self._continued = True
        in_loop(self._loop, self._take_screen_again)

    def _stop_process(self) -> None:
        """Release the screen and stop the process; returns after it was continued."""
        if has_parent_shell():
            self._notify_app_of_stop()
            self._sigtstp_application()
            self._take_screen_again()

    def _take_screen_again(self) -> None:
        """Take the screen again, once each time the process was continued."""
        if self._continued:
            self._notify_app_of_stop()
            self._sigcont_application()

    def _notify_app_of_stop(self) -> None:
        """Call `PatchedApp.stopped`, before keys are read that were typed meanwhile."""
        if isinstance(self._app, PatchedApp):
            with self._app._context():
                self._app.stopped()

    def start_application_mode(self) -> None:
        """Take the screen; called at the start and after each SIGCONT."""
        while not (self.terminal.is_in_foreground() or self.terminal.ending):
            # `kill %1` sends SIGTERM and SIGCONT. Another thread may get SIGTERM while this one
            # acts on SIGCONT; if the process were stopped now, it would never end.
            time.sleep(SIGNAL_WAIT)
            if not (self.terminal.is_in_foreground() or self.terminal.ending):
                os.kill(os.getpid(), signal.SIGSTOP)
        self._continued = False
        SHOWN.forget()  # the alternate screen is empty
        if self.terminal.ending:
            return
        if self.terminal.full_screen:
            self.stop_application_mode()
            self.close()
        self.terminal.save_settings()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        signal.signal(signal.SIGWINCH, lambda *_: in_loop(self._loop, self._post_size))
        self.terminal.full_screen = True
        self.show_title()
        if self._started_before:
            # Textual alone would repaint only changed parts, on a screen that is empty now.
            self._app.call_later(self._app.refresh, layout=True)
        self._started_before = True

    def _post_size(self) -> None:
        """Post the current size of the terminal to the app."""
        SHOWN.forget()  # the terminal may have moved its lines
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
        SHOWN.forget()  # another program has the terminal, or the dashboard of another profile

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
        arrivals = self._watched_arrivals()
        decode = getincrementaldecoder("utf-8")("surrogateescape").decode
        typed = JobControlDriver.typed_before_start
        JobControlDriver.typed_before_start = b""
        self._post_messages(lambda: parser.feed(decode(typed)), parser, arrivals)
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self._exit, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                wait_began = time.monotonic()
                # Between keys nothing is due, and the thread sleeps until something comes.
                waits = [wait for wait in (parser.wait, arrivals.wait) if wait]
                seconds = min(waits, default=None)
                ready = [key.fileobj for key, _ in selector.select(seconds)]
                if self.fileno in ready:
                    if not self._read_once(parser, decode, arrivals):
                        # The terminal has hung up: the guard ends the program.
                        self.exit_event.wait()
                elif seconds is not None and not ready and not parser.is_within_key:
                    arrivals.record_empty(wait_began + seconds)
                self._post_messages(parser.tick, parser, arrivals)
            selector.unregister(self._exit)
            if selector.select(LAST_READ_WAIT):
                self._read_once(parser, decode, arrivals)

    def _watched_arrivals(self) -> KeyArrivals:
        """Return the app's record of which keys came alone; this thread writes it from now on."""
        arrivals = KeyArrivals()
        if isinstance(self._app, PatchedApp):
            arrivals = self._app.arrivals
        arrivals.watched = True
        return arrivals

    def _read_once(
        self, parser: InputParser, decode: Callable[[bytes], str], arrivals: KeyArrivals
    ) -> bool:
        """Read once and post the messages; return False after a hang-up. Raises OSError."""
        began = time.monotonic()
        try:
            data = os.read(self.fileno, READ_SIZE)
        except BlockingIOError:
            return True
        self._post_messages(lambda: parser.feed(decode(data)), parser, arrivals)
        if len(data) < READ_SIZE and not parser.is_within_key:
            arrivals.record_empty(began)  # all input that had come by then was read
        return bool(data)

    def _post_messages(
        self, read: Callable[[], list[Message]], parser: InputParser, arrivals: KeyArrivals
    ) -> None:
        """Post the messages that `read` returns; all keys among them get the time of its end."""
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
        """Post a message from the terminal, and pause background work after a key or a click."""
        if isinstance(message, events.Resize) and message.size != self._reported_size:
            self._reported_size = message.size
            in_loop(self._loop, SHOWN.forget)
        if isinstance(message, _USER_INPUT):
            person_acts()  # background work that runs in slices pauses for a moment
        super().process_message(message)

    def write(self, data: str) -> None:
        """Write to the terminal. An ending app that has left the full screen writes nothing."""
        if self.terminal.full_screen or not self.terminal.ending:
            super().write(data)
