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

REPEAT = 0.7  # seconds from which a key was surely pressed anew: keyboards repeat it sooner
APART = 0.25  # seconds from which a finger may have: keyboards are faster, but for the first pause
KEYS_KEPT = 200
FINGERS = 2  # so many pauses of that kind in a row are a finger's: a keyboard makes but one


class KeyPresses:
    """The last key of a terminal, whatever stood on the screen when it came."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.at = 0.0  # steady clock: when it was read from the terminal, not when its turn came
        self.before: str | None = None
        self.gap = 0.0  # seconds between the last two keys
        self.held_down = False  # whether it is one of those that come while a key stays down
        self._last: dict[str, tuple[float, int]] = {}  # when, and a finger's pauses before that

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
        again = self.held_down and self.key == self.before
        return again and monotonic() - self.at < REPEAT


def bindings_of(place: Place, *ids: str, cursor: bool = False) -> list[BindingType]:
    """Bindings of a place, or of some of its commands; with `cursor` those of the table."""
    return [
        Binding(one.keys, one.run, one.label, id=one.id, show=False, tooltip=one.tooltip)
        for one in COMMANDS
        if place in (one.where, *one.also) and (one.id in ids if ids else one.cursor is cursor)
    ]


class ListTable(RecordTable[R], inherit_bindings=False):
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table", cursor=True)
    MOVES = frozenset(("move(1)", "move(-1)", "first", "last", "page(1)", "page(-1)"))
    hand_comes: Callable[[], None]


class KeyApp(PatchedApp):
    """Keeps the last key whose turn it was, for questions that must not be answered by accident."""

    def __init__(self) -> None:
        super().__init__()
        self.presses = KeyPresses()

    async def turn_comes(self, event: events.Key) -> bool:
        """Keep the moment of a key, and move the cursor here and now if it does only that: the
        queues of all widgets take longer than the move itself.
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
