"""Keys one after the other.

Textual hands a key to the widget that has the focus when it comes, and only then, on its way up
again, to what it is bound to. Of several keys in one packet, as slow lines deliver them, the later
ones would so go to where the keys went before the first has done anything. Here each one waits
until the one before it has been through all widgets.
"""

from __future__ import annotations

from asyncio import Event, wait_for
from collections import deque
from contextlib import suppress
from typing import Final

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen

from agentco_tui.background import start_worker
from agentco_tui.textual_patches.registry import KEY_QUEUE

Typed = events.Key | events.Paste

LOST: Final = 1.0
"""Seconds after which a widget that a key was handed to is taken to be gone, with the key."""


def _as_expected() -> bool:
    key = events.Key("a", "a")
    quiet = (key._stop_propagation, key.is_forwarded) == (False, False)
    return quiet and isinstance(Screen._modal_binding_chain, property)


class KeyQueueApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self._queues_keys = KEY_QUEUE.fits(_as_expected)
        self._ahead: deque[Typed] = deque()
        """Typed ahead: they have come and wait for their turn."""
        self._on_its_way: Typed | None = None
        """The one that was handed to a widget, until it has come back or was kept there."""
        self._handed_to: DOMNode = self
        self._over: DOMNode | None = None
        """The screen that was the uppermost when it was handed out."""

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
        event = self._meant(event)
        if self._ahead or not self._is_free():
            self._ahead.append(event)
            if len(self._ahead) == 1:
                start_worker(self, self._work_off, "take the keys that were typed ahead")
        else:
            await self._hand_out(event)

    def _meant(self, event: Typed) -> Typed:
        """Enter for ctrl+j: what a terminal makes of enter until a program asks for single keys, so
        also of one that is typed while the dashboard starts.
        """
        if not isinstance(event, events.Key) or event.key != "ctrl+j":
            return event
        if event.key in self.screen.active_bindings:
            return event
        enter = events.Key("enter", "\r")
        enter.time = event.time
        return enter

    def _is_free(self) -> bool:
        """Whether no key is on its way; one that a widget keeps, as a letter of a text, has been
        dealt with.
        """
        key = self._on_its_way
        return key is None or not self._queues_keys or key._stop_propagation

    async def _hand_out(self, event: Typed) -> None:
        if isinstance(event, events.Key) and await self.turn_comes(event):
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
        while self._ahead:
            await self._pass()
            if not self.is_running:
                return
            await self._hand_out(self._ahead[0])
            # Not before it was handed out: what comes meanwhile has to wait behind it.
            self._ahead.popleft()

    async def _pass(self) -> None:
        """Wait until the key that is on its way has been dealt with, wherever it ends.

        What follows it through the queues of the widgets above each other comes after it.
        """
        node: DOMNode | None = self._handed_to
        while node is not None and not self._is_free():
            above = node.parent
            await self._through(node)
            node = above
        self._on_its_way = None
        if self.is_running and self.screen is not self._over:
            # It opened something, which gives the keys to one of its widgets when it is mounted.
            await self._through(self.screen)
            await self._through(self)

    async def _through(self, node: DOMNode) -> None:
        passed = Event()
        if node.call_later(passed.set):
            # A widget that is taken away may leave unread what it was sent; the app never.
            with suppress(TimeoutError):
                await wait_for(passed.wait(), None if node is self else LOST)
