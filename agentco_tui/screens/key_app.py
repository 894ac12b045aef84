"""The base class of the dashboard's application: key presses, their times, bindings by table.

`KeyApp` notes when each key was pressed and whether the keyboard repeated it because it is held
down, so that a held key can't answer the question that it opened. It moves the cursor of a list
without waiting for the widgets' message queues. `bindings_of` makes Textual bindings from the table
of all commands (`COMMANDS`); a place is a screen or a part of one, such as "tasks" or "table". A
question is a confirmation dialog, in which one key (`y`) changes something on the platform, the
remote service that the dashboard shows. `PatchedApp` is Textual's `App` with fixes.
"""

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

REPEAT = 0.7
"""Seconds after which the same key was certainly pressed again: keyboards repeat a key sooner."""
APART = 0.25
"""Seconds after which it may have been pressed again: keyboards repeat faster, except for the pause
before the first repetition."""
FINGERS = 2
"""Pauses of at least `APART` in a row that only a finger makes: a keyboard makes one."""


class KeyPresses:
    """The last key press of the terminal, whichever screen was shown."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.at = 0.0
        """When it was read from the terminal, on the monotonic clock, in seconds."""
        self.held_down = False
        """Whether it was repeated by the keyboard while the key was held down."""
        self._slow_pauses = 0
        """Pauses in a row that a finger may have made."""

    def take(self, key: str, at: float) -> None:
        """Note a key that was read at `at`."""
        gap = REPEAT
        if key == self.key:
            gap = at - self.at
        if APART <= gap < REPEAT:
            self._slow_pauses += 1
        else:
            self._slow_pauses = 0
        self.held_down = gap < REPEAT and self._slow_pauses < FINGERS
        self.key = key
        self.at = at


def bindings_of(place: Place, *ids: str, cursor: bool = False) -> list[BindingType]:
    """Return the bindings of a place's commands, or with `ids` only those.

    Without `ids`, `cursor` chooses the commands that move the cursor, or those that do not.
    """
    bindings: list[BindingType] = []
    for command in COMMANDS:
        if place not in (command.where, *command.also):
            continue
        is_wanted = command.id in ids if ids else command.cursor is cursor
        if is_wanted:
            bindings.append(
                Binding(
                    command.keys,
                    command.run,
                    command.label,
                    id=command.id,
                    show=False,
                    tooltip=command.tooltip,
                )
            )
    return bindings


class ListTable(RecordTable[R], inherit_bindings=False):
    """A table of records whose keys are those of the table of commands."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table", cursor=True)
    MOVES = frozenset(("move(1)", "move(-1)", "first", "last", "page(1)", "page(-1)"))
    """The actions that only move the cursor."""
    on_interaction: Callable[[], None]
    """Called before the cursor moves; from then on new data do not reorder the list's rows."""
    takes: Callable[[events.Key], bool] | None = None
    """Handles a key before the table does; returns whether it did."""


class DetailPane(LinkPane, inherit_bindings=False):
    """A text pane with a cursor on its links, moved by the same keys as that of a table."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("table", cursor=True)


class KeyApp(PatchedApp):
    """Notes each key press, so that no question is answered by accident, and ends the program."""

    def __init__(self) -> None:
        super().__init__()
        self.presses = KeyPresses()
        self.switch: Switch | None = None
        """The dashboard that follows this one, such as that of another profile; None for none."""

    @property
    def cursor_position(self) -> Offset:
        """The position of the terminal's cursor, which braille displays and magnifiers follow."""
        focused = self.focused
        if not isinstance(focused, RecordTable | TextPane):
            return getattr(focused, "cursor_screen_offset", self._typed_at)
        inside = focused.scrollable_content_region
        return inside.offset + Offset(0, max(0, min(focused.cursor_line, inside.height - 1)))

    @cursor_position.setter
    def cursor_position(self, typed_at: Offset) -> None:
        self._typed_at = typed_at

    def leave(self, switch: Switch | None = None) -> None:
        """End the program, or end this dashboard for the one that `switch` names."""
        self.switch = switch
        if switch is not None:
            # A new executor, so that no thread that hangs (as in a DNS lookup) delays the switch.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        self.exit(return_code=0)

    async def turn_comes(self, event: events.Key) -> bool:
        """Note a key press; return whether it was handled here.

        A key that only moves a table's cursor is: passing it through the queues of all widgets
        would take longer than the move itself. Called by `PatchedApp` for each key, in order.
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
