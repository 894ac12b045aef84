"""When a key was pressed, and whether the keyboard sent it by itself because it is held down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset

from agentco_tui.config import Switch
from agentco_tui.keys.commands import COMMANDS
from agentco_tui.keys.places import Place
from agentco_tui.textual_patches.patched_app import PatchedApp
from agentco_tui.widgets.link_pane import LinkPane
from agentco_tui.widgets.table.layout import R
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.text_pane import TextPane

REPEAT = 0.7  # seconds from which a key was surely pressed anew: keyboards repeat it sooner
APART = 0.25  # seconds from which a finger may have: keyboards are faster, but for the first pause
FINGERS = 2  # so many pauses of that kind in a row are a finger's: a keyboard makes but one


class KeyPresses:
    """The last key of a terminal, whatever stood on the screen when it came."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.at = 0.0  # steady clock: when it was read from the terminal, not when its turn came
        self.held_down = False  # whether it is one of those that come while a key stays down
        self._pauses = 0  # so many in a row that a finger may have made

    def take(self, key: str, at: float) -> None:
        gap = at - self.at if key == self.key else REPEAT
        self._pauses = self._pauses + 1 if APART <= gap < REPEAT else 0
        self.held_down = gap < REPEAT and self._pauses < FINGERS
        self.key, self.at = key, at


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
    on_interaction: Callable[[], None]
    takes: Callable[[events.Key], bool] | None = None  # keys that something else on the view wants


class DetailPane(LinkPane, inherit_bindings=False):
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table", cursor=True)


class KeyApp(PatchedApp):
    """Keeps the last key whose turn it was, for questions that must not be answered by accident."""

    def __init__(self) -> None:
        super().__init__()
        self.presses = KeyPresses()
        self.switch: Switch | None = None  # what comes after this app

    @property
    def cursor_position(self) -> Offset:
        """Of the terminal's real cursor, which braille displays and magnifiers follow."""
        focused = self.focused
        if not isinstance(focused, RecordTable | TextPane):
            return getattr(focused, "cursor_screen_offset", self._typed_at)
        inside = focused.scrollable_content_region
        return inside.offset + Offset(0, max(0, min(focused.cursor_line, inside.height - 1)))

    @cursor_position.setter
    def cursor_position(self, typed_at: Offset) -> None:
        self._typed_at = typed_at

    def leave(self, switch: Switch | None = None) -> None:
        """End the program, or make room for another dashboard."""
        self.switch = switch
        if switch is not None:
            # A thread that hangs, as over the name of a host, is waited for by nobody.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        self.exit(return_code=0)

    async def turn_comes(self, event: events.Key) -> bool:
        """Keep the moment of a key, and move the cursor here and now if it does only that: the
        queues of all widgets take longer than the move itself.
        """
        self.presses.take(event.key, event.time)
        moved = self.focused
        if not isinstance(moved, ListTable) or not self.app_focus:
            return False
        if moved.takes is not None and moved.takes(event):
            return True
        for action in self.bound_actions(moved, event.key):
            if action in moved.MOVES:
                moved.on_interaction()
                return await self.run_action(action, moved)
        return False
