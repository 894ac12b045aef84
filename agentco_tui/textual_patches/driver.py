"""Textual's terminal driver, made to know whether it holds the screen.

Seen with Textual 8.2.8: continued after a SIGSTOP it starts a second time over itself; a stopped
job that gets SIGTERM and SIGCONT, as `kill %1` sends them, starts again in the background and is
stopped once more; Ctrl-Z without a shell above stops it for good; and one that comes while
something is being painted hangs the program for ever: the handler waits for the lock of the queue
to the writing thread, which the code that it interrupted holds; a change of size that comes while
the one before is being told overtakes it, and the program draws for a terminal that is gone. So the
handlers here leave the work to the event loop. An error in the thread that reads the keys ends the
program; here it goes on.
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
"""Seconds that a job continued in the background waits for a signal that is to end it."""
LAST_LOOK: Final = 0.1
"""Seconds in which what the terminal still sends is read before it is given back."""
ONE_READ: Final = 4096  # bytes that are read from the terminal at once
BY_HAND: Final = (events.Key, events.MouseDown, events.MouseScrollDown, events.MouseScrollUp)
_MEMBERS: Final = (
    *("_sigtstp_application", "_sigcont_application", "_get_terminal_size", "can_suspend"),
    *("close", "process_message", "run_input_thread", "start_application_mode"),
    *("stop_application_mode", "write"),
)

_log = logging.getLogger(__name__)


class ControllingTerminal(Protocol):
    """What the driver needs of the terminal."""

    full_screen: bool  # whether the app has the screen
    ending: bool  # whether the app is to end; then it takes the screen no more
    titled: bool  # whether its title is the app's

    def note_settings(self) -> None: ...  # as they are now, as the ones to put back
    def in_foreground(self) -> bool: ...  # whether this process may touch the terminal now
    def canvas(self) -> Any: ...  # the text stream that the picture goes to
    def lend(self, command: Sequence[str], env: Mapping[str, str]) -> None: ...  # until it ends


def shell_above() -> bool:
    """Whether somebody is there to continue us once stopped: a parent in our own session that is
    of another process group. Without one (a terminal that runs the program itself, `ssh -t host
    agentco-tui`) being stopped is for ever, which is why the kernel ignores SIGTSTP there.
    """
    parent = os.getppid()
    try:
        return os.getsid(parent) == os.getsid(0) and os.getpgid(parent) != os.getpgrp()
    except (ProcessLookupError, PermissionError):
        return False


def in_loop(loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> None:
    """Leave work to an event loop, from a signal handler or another thread, and wake the loop."""
    with suppress(RuntimeError):  # Closed: the program is about to end anyway.
        loop.call_soon_threadsafe(work)


def guarded(base: type[Driver], terminal: ControllingTerminal) -> type[Driver]:
    """The driver class to run with: our own in place of Textual's, any other as it is."""
    if base is not LinuxDriver or not DRIVER.fits(_as_expected):
        return base
    return type("GuardedDriver", (JobControlDriver,), {"terminal": terminal})


def _as_expected() -> bool:
    made = LinuxDriver.__init__.__code__.co_names
    return all(hasattr(LinuxDriver, name) for name in _MEMBERS) and "_file" in made


class JobControlDriver(LinuxDriver):
    """The Linux and macOS driver, with a memory."""

    terminal: ClassVar[ControllingTerminal]
    typed: ClassVar = b""  # what was read of the terminal before: the first keys

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._file: Any = self.terminal.canvas()
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
        """Give the screen back and stop; returns when the process goes on."""
        if shell_above():
            self._tell_app()
            self._sigtstp_application()
            self._go_on()

    def _go_on(self) -> None:
        """Take the screen again, once for each time that the process was continued."""
        if self._continued:
            self._tell_app()
            self._sigcont_application()

    def _tell_app(self) -> None:
        """Before keys are read again that were typed while the process stood still."""
        if isinstance(self._app, PatchedApp):
            with self._app._context():
                self._app.stopped()

    def start_application_mode(self) -> None:
        """Take the screen; called at the start and after each SIGCONT."""
        while not (self.terminal.in_foreground() or self.terminal.ending):
            # `kill %1` sends SIGTERM and SIGCONT, and another of our threads may get the
            # first while this one acts on the second; stopped now, it would never end.
            time.sleep(GRACE)
            if not (self.terminal.in_foreground() or self.terminal.ending):
                os.kill(os.getpid(), signal.SIGSTOP)
        self._continued = False
        if self.terminal.ending:
            return
        if self.terminal.full_screen:
            self.stop_application_mode()
            self.close()
        self.terminal.note_settings()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        signal.signal(signal.SIGWINCH, lambda *_: in_loop(self._loop, self._tell_size))
        self.terminal.full_screen = True
        self.show_title()
        if self._started_before:
            # Textual repaints what changed, onto a screen that is empty now.
            self._app.call_later(self._app.refresh, layout=True)
        self._started_before = True

    def _tell_size(self) -> None:
        """Tell the app the size of the terminal, as it is now."""
        if not self._in_band_window_resize:
            size = Size(*self._get_terminal_size())
            self._app.post_message(events.Resize(size, size))

    def stop_application_mode(self) -> None:
        if self.terminal.full_screen:
            if self.terminal.titled:
                self.terminal.titled = False
                self.write(osc.POP_TITLE)
            super().stop_application_mode()
            self.terminal.full_screen = False

    def show_title(self) -> None:
        """Have the terminal show the app's title until the screen is given back."""
        text = getattr(self._app, "terminal_title", "")
        if text and self.terminal.full_screen:
            push = "" if self.terminal.titled else osc.PUSH_TITLE
            self.write(push + osc.title(text, os.environ))
            self.terminal.titled = True

    # ---- input and output

    def run_input_thread(self) -> None:
        """Read from the terminal until `exit_event`, and pass on what it means."""
        if not INPUT_PARSER.fits(as_expected):
            super().run_input_thread()
            return
        parser = InputParser()
        arrivals = self._arrivals()
        decode = getincrementaldecoder("utf-8")("surrogateescape").decode
        typed, JobControlDriver.typed = JobControlDriver.typed, b""
        self._pass_on(lambda: parser.feed(decode(typed)), parser, arrivals)
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                looks_at = time.monotonic()
                looks_for = min(parser.wait, arrivals.wait or parser.wait)
                if selector.select(looks_for):
                    if not self._take(parser, decode, arrivals):
                        # Nobody is there any more: what ends the program is the guard's.
                        self.exit_event.wait()
                elif not parser.is_within_key:
                    arrivals.record_empty(looks_at + looks_for)
                self._pass_on(parser.tick, parser, arrivals)
            if selector.select(LAST_LOOK):
                self._take(parser, decode, arrivals)

    def _arrivals(self) -> KeyArrivals:
        """Where the app looks up which keys came alone; this thread records them from now on."""
        arrivals = self._app.arrivals if isinstance(self._app, PatchedApp) else KeyArrivals()
        arrivals.watched = True
        return arrivals

    def _take(
        self, parser: InputParser, decode: Callable[[bytes], str], arrivals: KeyArrivals
    ) -> bool:
        """Read once; False if there is nothing more to come. Raises OSError."""
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
        """Pass on what was read; its keys have the time at which the read ended, all the same."""
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
        """Passes on what came from the terminal; background work makes room at once."""
        if isinstance(message, BY_HAND):
            person_acts()
        super().process_message(message)

    def write(self, data: str) -> None:
        """Write to the terminal; what an app that is to end writes elsewhere is lost."""
        if self.terminal.full_screen or not self.terminal.ending:
            super().write(data)
