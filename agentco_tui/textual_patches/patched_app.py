"""An app whose end is no crash, whose timers tick however late they are, and whose keys come one
after the other.
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
from agentco_tui.text import safe
from agentco_tui.textual_patches.registry import ENDING, KEY_QUEUE, LATE_TIMERS

Typed = events.Key | events.Paste

LOST: Final = 1.0
"""Seconds after which a widget that a key was handed to is taken to be gone, with the key."""

_log = logging.getLogger(__name__)


def _hands_keys_as_expected() -> bool:
    key = events.Key("a", "a")
    quiet = (key._stop_propagation, key.is_forwarded) == (False, False)
    return quiet and isinstance(Screen._modal_binding_chain, property)


class PatchedApp(App[None]):
    """Does otherwise what Textual 8.2.8 does in three places.

    It closes the widgets of a screen one by one and lets the others go on with the keys and answers
    that wait for them: one that mounts something then finds no place for it (MountError), and an
    end that was asked for becomes a crash.

    A timer skips the ticks that are past when it looks at the clock; for one that has a single tick
    that is the end.

    A key is handed to the widget that has the focus when it comes, and only on its way up again to
    what it is bound to. Here each one waits until the one before it has been through all widgets.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ends_known = ENDING.fits(self._as_expected)
        self._timers_known = LATE_TIMERS.fits(lambda: Timer(self, 1.0, skip=False)._skip is False)
        self._queues_keys = KEY_QUEUE.fits(_hands_keys_as_expected)
        self.arrivals = KeyArrivals()
        self._ahead: deque[Typed] = deque()  # typed ahead: they have come and wait for their turn
        self._on_its_way: Typed | None = None
        """The one that was handed to a widget, until it has come back or was kept there."""
        self._handed_to: DOMNode = self
        self._over: DOMNode | None = None
        """The screen that was the uppermost when it was handed out."""
        self.terminal_title = ""

    def _as_expected(self) -> bool:
        states = [getattr(self, name) for name in ("_exit", "_is_mounted", "_running")]
        return states == [False, False, False] and callable(App._handle_exception)

    def stopped(self) -> None:
        """The process is about to be stopped (SIGTSTP), or was (SIGCONT); called in the event loop,
        for one ctrl+z perhaps twice.
        """

    def to_terminal(self, sequence: str) -> None:
        """Write a sequence between two pictures: a bell, a title, what goes to the clipboard."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)
            self._driver.flush()

    def lend_terminal(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Let a command have the terminal until it ends; nothing is read, painted or done here
        meanwhile, as after ctrl+z. What goes wrong with it is a notice, by its name.
        """
        driver: Any = self._driver
        if not hasattr(driver, "terminal"):
            self.notify(safe(f"{name} needs a terminal"), markup=False, severity="warning")
            return
        driver.suspend_application_mode()
        try:
            driver.terminal.lend(command, env)
        except CommandError as error:
            self.notify(safe(f"{name} {error}"), markup=False, severity="warning", timeout=8)
        finally:
            driver.resume_application_mode()

    def set_terminal_title(self, title: str) -> None:
        """The terminal's title while the app has the screen; a safe text."""
        if title != self.terminal_title:
            self.terminal_title = title
            getattr(self._driver, "show_title", bool)()

    def _handle_exception(self, error: Exception) -> None:
        # An app that was never mounted doesn't run either, and has its own errors to tell.
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
        """The turn of a key has come; True if it was dealt with here."""
        return False

    def bound_actions(self, node: DOMNode, key: str) -> list[str]:
        if not self._queues_keys:
            return []
        return [
            binding.action
            for owner, bindings in self.screen._modal_binding_chain
            if owner is node
            for binding in bindings.key_to_bindings.get(key, ())
        ]

    async def on_event(self, event: events.Event) -> None:
        """Let keys in one by one; whatever else comes is none of this."""
        if not isinstance(event, Typed):
            await super().on_event(event)
            return
        if not self.is_running:
            return  # the program is ending: there is nothing left that a key could be for
        if event.is_forwarded:
            # It has been through all widgets and does now what it is bound to.
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
            # What a terminal makes of enter until a program asks for single keys, so also of one
            # that is typed while the dashboard starts.
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
        """Whether no key is on its way; one that a widget keeps, as a letter of a text, has been
        dealt with.
        """
        key = self._on_its_way
        return key is None or not self._queues_keys or key._stop_propagation

    async def _hand_out(self, event: Typed) -> None:
        if isinstance(event, events.Key):
            # Somebody is here, also where no focus was told. What had the keys has them again
            # before this one gets its sender: from one above that, it would not come back.
            self.app_focus = True
            if await self.turn_comes(event):
                return
        # From the app itself it would look as if the screen kept it: nothing goes on to its sender.
        event.set_sender(self.focused or self.screen)
        self._on_its_way = event
        self._over = self.screen
        await super().on_event(event)
        if event.is_forwarded:
            self._handed_to = self.focused or self.screen
        else:
            self._on_its_way = None

    async def _work_off(self) -> None:
        """Hand them out, each when the one before has been dealt with, wherever that ends."""
        while self._ahead:
            # What follows a key through the queues of the widgets above each other comes after it.
            node: DOMNode | None = self._handed_to
            while node is not None and not self._is_free():
                above = node.parent
                await self._through(node)
                node = above
            self._on_its_way = None
            if self.is_running and self.screen is not self._over:
                # It opened something, which gives the keys to one of its widgets when mounted.
                await self._through(self.screen)
                await self._through(self)
            if not self.is_running:
                return
            await self._hand_out(self._ahead[0])
            # Not before it was handed out: what comes meanwhile has to wait behind it.
            self._ahead.popleft()

    async def _through(self, node: DOMNode) -> None:
        passed = Event()
        if node.call_later(passed.set):
            # A widget that is taken away may leave unread what it was sent; the app never.
            with suppress(TimeoutError):
                await wait_for(passed.wait(), None if node is self else LOST)
