"""When a key was pressed, and whether the keyboard sent it by itself because it is held down."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from agentco_tui.keys import COMMANDS, Place
from agentco_tui.textual_patches.patched_app import PatchedApp
from agentco_tui.widgets.table.layout import R
from agentco_tui.widgets.table.widget import RecordTable

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


def bindings_of(place: Place, *ids: str, cursor: bool = False) -> list[BindingType]:
    """Bindings for the commands of a place, or for those of its commands with these ids.

    With `cursor` for those that the table itself carries out, else for all others.
    """
    return [
        Binding(one.keys, one.run, one.label, id=one.id, show=False, tooltip=one.tooltip)
        for one in COMMANDS
        if place in (one.where, *one.also) and (one.id in ids if ids else one.cursor is cursor)
    ]


class ListTable(RecordTable[R], inherit_bindings=False):
    """The record table with the program's own keys."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table", cursor=True)
    MOVES = frozenset(("move(1)", "move(-1)", "first", "last", "page(1)", "page(-1)"))
    """The actions of keys that do nothing but move the cursor."""
    hand_comes: Callable[[], None]
    """Called when such a key has come."""


class KeyApp(PatchedApp):
    """An app whose keys are dealt with one after the other, and that keeps the last one whose turn
    it was, for questions that must not be answered by accident.
    """

    def __init__(self) -> None:
        super().__init__()
        self.presses = KeyPresses()

    async def turn_comes(self, event: events.Key) -> bool:
        """Keep the moment of a key before anybody acts on it; a key that only moves the cursor
        does so here and now.

        Others pass through the queues of all widgets above each other, which takes longer than
        the move itself.
        """
        # Terminals with kitty's keyboard protocol can say so (textual_patches/input_parser.py).
        held_down = getattr(event, "held_down", False)
        self.presses.take(event.key, event.time, repeated=held_down)
        moved = self.focused
        if not isinstance(moved, ListTable) or not self.app_focus:
            return False
        for action in self.bound_actions(moved, event.key):
            if action in moved.MOVES:
                moved.hand_comes()
                return await self.run_action(action, moved)
        return False
