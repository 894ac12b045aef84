"""When a key was pressed, and whether the keyboard sent it by itself because it is held down."""

from __future__ import annotations

from asyncio import Event, wait_for
from collections import deque
from contextlib import suppress
from time import monotonic
from typing import ClassVar

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.widget import Widget

from agentco_tui.widgets.workers import start_worker

REPEAT = 0.7
"""Seconds between two events of one key from which it was surely pressed anew: longer than
keyboards wait before they repeat."""
APART = 0.25
"""Seconds between two events of one key from which a finger may have pressed it twice: keyboards
repeat faster, but for the first pause."""
KEYS_KEPT = 200
FINGERS = 2
"""So many pauses of that kind in a row are a finger's: a keyboard makes but one."""


class KeyPresses:
    """The last key of a terminal, whatever stood on the screen when it came."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.at = 0.0
        """Steady clock: when it was read from the terminal, not when its turn came."""
        self.before: str | None = None
        """The key before the last."""
        self.gap = 0.0
        """Seconds between the last two keys."""
        self.held_down = False
        """Whether it is one of those that come while a key stays down."""
        self._last: dict[str, tuple[float, int]] = {}
        """When each key came last, and how many pauses of a finger lie before that."""

    def take(self, key: str, at: float, *, repeated: bool = False) -> None:
        """A key was read from the terminal; `repeated` if that says that it is held down."""
        if len(self._last) > KEYS_KEPT:
            self._last = {known: seen for known, seen in self._last.items() if known == self.key}
        last, pauses = self._last.get(key, (-REPEAT, 0))
        if repeated or at - last < APART:
            self.held_down, pauses = True, 0
        elif at - last < REPEAT:
            pauses += 1
            self.held_down = pauses < FINGERS
        else:
            self.held_down, pauses = False, 0
        self._last[key] = at, pauses
        self.before, self.gap = self.key, at - self.at
        self.key, self.at = key, at

    def goes_on(self) -> bool:
        """Whether a key is being held down just now."""
        again = self.held_down and self.key == self.before
        return again and monotonic() - self.at < REPEAT


Typed = events.Key | events.Paste

LOST = 1.0
"""Seconds after which a widget that a key was handed to is taken to be gone, with the key."""


class MovedByKeys(Widget):
    """A widget with keys that do nothing but move its cursor."""

    MOVES: ClassVar[frozenset[str]] = frozenset()
    """The actions of such keys."""

    def hand_comes(self) -> None:
        """One of them has come."""


class KeyApp(App[None]):
    """An app whose keys are dealt with one after the other, and that keeps the last one.

    Textual hands a key to the widget that has the focus when it comes, and only then, on its way
    up again, to what it is bound to. Of several keys in one packet, as slow lines deliver them, the
    later ones would so go to where the keys went before the first has done anything. Here each one
    waits until the one before it has been through all widgets.

    It keeps the last key for questions that must not be answered by accident: the one whose turn
    it is, not one that has come since.
    """

    def __init__(self) -> None:
        super().__init__()
        self.presses = KeyPresses()
        self._ahead: deque[Typed] = deque()
        """Typed ahead: they have come and wait for their turn."""
        self._on_its_way: Typed | None = None
        """The one that was handed to a widget, until it has come back or was kept there."""
        self._handed_to: DOMNode = self
        self._over: DOMNode | None = None
        """The screen that was the uppermost when it was handed out."""

    @property
    def typed_ahead(self) -> int:
        """How many keys have come whose turn has not."""
        return len(self._ahead)

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
        return self._on_its_way is None or self._on_its_way._stop_propagation

    async def _hand_out(self, event: Typed) -> None:
        if isinstance(event, events.Key):
            # A moment that is kept before anybody acts on the key.
            # Terminals with kitty's keyboard protocol can say so (terminal/input_parser.py).
            held_down = getattr(event, "held_down", False)
            self.presses.take(event.key, event.time, repeated=held_down)
            if await self._done_at_once(event.key):
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

    async def _done_at_once(self, key: str) -> bool:
        """Let a key that only moves the cursor do so here and now; False for all others.

        Those pass through the queues of all widgets above each other, which takes longer than the
        move itself.
        """
        moved = self.focused
        if not isinstance(moved, MovedByKeys) or not self.app_focus:
            return False
        for namespace, bindings in self.screen._modal_binding_chain:
            if namespace is moved:
                for binding in bindings.key_to_bindings.get(key, ()):
                    if binding.action in moved.MOVES:
                        moved.hand_comes()
                        return await self.run_action(binding.action, moved)
        return False

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
        """Wait until a widget has dealt with all that it has been sent."""
        passed = Event()
        if node.call_later(passed.set):
            # A widget that is taken away may leave unread what it was sent; the app never.
            with suppress(TimeoutError):
                await wait_for(passed.wait(), None if node is self else LOST)
