"""`PatchedApp`: an app that ends without a crash, whose late timers tick, and whose keys wait.

Each key waits until the previous one has had its effect. These are three patches of Textual
(`ENDING`, `LATE_TIMERS`, `KEY_QUEUE`); each is used only if Textual's code is as expected. The
class also writes to the terminal and lends it to other programs. The dashboard's app derives from
it.
"""

from __future__ import annotations

import logging
from asyncio import Event, wait_for
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen
from textual.timer import Timer, TimerCallback

from agentco_tui.keys.key_arrivals import KeyArrivals
from agentco_tui.system.child_process import CommandError
from agentco_tui.text import clean_line
from agentco_tui.textual_patches.registry import ENDING, KEY_QUEUE, LATE_TIMERS

Typed = events.Key | events.Paste

LOST: Final = 1.0
"""Seconds after which a widget that has not handled a key is taken to be removed."""

_log = logging.getLogger(__name__)


def _hands_keys_as_expected() -> bool:
    key = events.Key("a", "a")
    quiet = (key._stop_propagation, key.is_forwarded) == (False, False)
    return quiet and isinstance(Screen._modal_binding_chain, property)


class PatchedApp(App[None]):
    """Changes what Textual 8.2.8 does in three places.

    At the end, Textual closes the widgets of a screen one by one, while the others still handle
    messages. A widget that mounts something then raises MountError, and the requested end becomes a
    crash. Here such an error is only logged.

    A timer of Textual skips the ticks that are past when it first looks at the clock. If it has
    only one tick (`set_timer`), it never ticks. Here it ticks late.

    Textual hands a key to the widget that has the focus when the key arrives; the key then bubbles
    up to the widget that binds it. Of several keys at once, all go to the widget that had the focus
    before the first had any effect. Here each key waits until the previous one has been through all
    widgets.
    """

    def __init__(self) -> None:
        super().__init__()
        # Whether Textual's code is as each patch expects.
        self._ends_known = ENDING.fits(self._as_expected)
        self._timers_known = LATE_TIMERS.fits(lambda: Timer(self, 1.0, skip=False)._skip is False)
        self._queues_keys = KEY_QUEUE.fits(_hands_keys_as_expected)
        self.arrivals = KeyArrivals()
        """Records which keys were pressed alone, and not as part of a burst such as a paste."""
        self._ahead: deque[Typed] = deque()
        """Keys and pastes that have arrived and wait for their turn."""
        self._on_its_way: Typed | None = None
        """The key that is being handled, until it has bubbled up or a widget has stopped it."""
        self._handed_to: DOMNode = self
        """The widget that this key was given to first."""
        self._over: DOMNode | None = None
        """The topmost screen at that time."""
        self.terminal_title = ""

    def _as_expected(self) -> bool:
        states = [getattr(self, name) for name in ("_exit", "_is_mounted", "_running")]
        return states == [False, False, False] and callable(App._handle_exception)

    def stopped(self) -> None:
        """Called before the process is stopped (SIGTSTP) and after it continues (SIGCONT).

        It is called in the event loop, perhaps twice for one ctrl+z. Subclasses may override it.
        """

    def to_terminal(self, sequence: str) -> None:
        """Write an escape sequence to the terminal: a bell, a title, a text for the clipboard."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
            self._driver.flush()

    def lend_terminal(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Run a command in the terminal; returns when it has ended.

        The app is suspended meanwhile: it neither reads keys nor paints. A failure is shown as a
        notification that begins with `name`.
        """
        driver: Any = self._driver
        if not hasattr(driver, "terminal"):
            self.notify(clean_line(f"{name} needs a terminal"), markup=False, severity="warning")
            return
        driver.suspend_application_mode()
        try:
            driver.terminal.run_in_foreground(command, env)
        except CommandError as error:
            self.notify(clean_line(f"{name} {error}"), markup=False, severity="warning", timeout=8)
        finally:
            driver.resume_application_mode()

    def set_terminal_title(self, title: str) -> None:
        """Set the terminal's title while the app has the screen; a text without controls."""
        if title != self.terminal_title:
            self.terminal_title = title
            getattr(self._driver, "show_title", bool)()

    def _handle_exception(self, error: Exception) -> None:
        # An app that was never mounted does not run either; its errors are no errors at the end.
        if self._ends_known and (self._exit or (self._is_mounted and not self._running)):
            _log.warning("an error while the app was ending", exc_info=error)
        else:
            super()._handle_exception(error)

    def set_timer(
        self, delay: float, callback: TimerCallback | None = None, **options: Any
    ) -> Timer:
        timer = super().set_timer(delay, callback, **options)
        if self._timers_known:
            timer._skip = False  # its task has not begun yet
        return timer

    # ---- keys one after the other

    async def turn_comes(self, event: events.Key) -> bool:
        """Called before a key goes to a widget; return True if it was handled here."""
        return False

    def bound_actions(self, node: DOMNode, key: str) -> list[str]:
        """The actions that a widget or screen binds to a key, if the focus is below it."""
        if not self._queues_keys:
            return []
        return [
            binding.action
            for owner, bindings in self.screen._modal_binding_chain
            if owner is node
            for binding in bindings.key_to_bindings.get(key, ())
        ]

    async def on_event(self, event: events.Event) -> None:
        """Handle keys and pastes one by one; other events are handled as in Textual."""
        if not isinstance(event, Typed):
            await super().on_event(event)
            return
        if not self.is_running:
            return  # the program is ending: no widget is left to handle a key
        if event.is_forwarded:
            # It has bubbled up through all widgets; now the action that it is bound to runs.
            await super().on_event(event)
            if event is self._on_its_way:
                self._on_its_way = None
            return
        self.arrivals.record_event(event.time)
        if (
            isinstance(event, events.Key)
            and event.key == "ctrl+j"
            and event.key not in self.screen.active_bindings
        ):
            # Until a program turns on raw mode, a terminal sends a line feed (ctrl+j) for enter: so
            # for an enter that is typed while the dashboard starts.
            typed, event = event, events.Key("enter", "\r")
            event.time = typed.time
        if self._ahead or not self._is_free():
            self._ahead.append(event)
            if len(self._ahead) == 1:
                hand_out: Callable[[], Coroutine[None, None, Any]] = self._work_off
                self.run_worker(hand_out, description="hand out the keys that were typed ahead")
        else:
            await self._hand_out(event)

    def _is_free(self) -> bool:
        """Whether no key is being handled. One that a widget stopped, such as a letter in an input,
        is done.
        """
        key = self._on_its_way
        return key is None or not self._queues_keys or key._stop_propagation

    async def _hand_out(self, event: Typed) -> None:
        if isinstance(event, events.Key):
            # A key shows that the terminal has the focus, even if it has not reported that. Setting
            # this restores the focused widget, which must be done before the sender is set below.
            self.app_focus = True
            if await self.turn_comes(event):
                return
        # A message does not bubble to its sender: from the app, the key would never come back.
        event.set_sender(self.focused or self.screen)
        self._on_its_way = event
        self._over = self.screen
        await super().on_event(event)
        if event.is_forwarded:
            self._handed_to = self.focused or self.screen
        else:
            self._on_its_way = None

    async def _work_off(self) -> None:
        """Hand out the waiting keys, each when the previous one has been handled completely."""
        while self._ahead:
            # The key bubbles through the queues of these widgets: a call that is queued after it
            # runs when the key has passed.
            node: DOMNode | None = self._handed_to
            while node is not None and not self._is_free():
                above = node.parent
                await self._through(node)
                node = above
            self._on_its_way = None
            if self.is_running and self.screen is not self._over:
                # The key opened a screen, which focuses one of its widgets once it is mounted.
                await self._through(self.screen)
                await self._through(self)
            if not self.is_running:
                return
            await self._hand_out(self._ahead[0])
            # Removed only now, so that keys that arrive meanwhile wait behind it.
            self._ahead.popleft()

    async def _through(self, node: DOMNode) -> None:
        """Wait until a widget has handled all the messages that are in its queue now."""
        passed = Event()
        if node.call_later(passed.set):
            # A removed widget may never handle its messages; the app always does.
            with suppress(TimeoutError):
                await wait_for(passed.wait(), None if node is self else LOST)
