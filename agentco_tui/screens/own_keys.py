"""The keys of a person's own commands; what they run is imported when one is first wanted."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from textual import events
from textual.screen import Screen

from agentco_tui.config import OwnCommand
from agentco_tui.keys import Place
from agentco_tui.screens.session import Session

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen
    from agentco_tui.screens.key_app import KeyApp
    from agentco_tui.screens.own_commands import OwnCommands


class OwnKeys(Screen[None]):
    """What the frame does with keys that it has no binding for."""

    session: Session
    place: Place

    @property
    def own(self) -> dict[str, OwnCommand]:
        """A person's own commands by their ids."""
        return {one.command.id: one for one in self.session.settings.commands}

    @cached_property
    def own_commands(self) -> OwnCommands:
        from agentco_tui.screens.own_commands import OwnCommands  # noqa: PLC0415

        return OwnCommands(cast("MainScreen", self))

    def on_key(self, event: events.Key) -> None:
        """No widget wanted it. One that is held down would run its command again and again."""
        for own in self.own.values():
            keys = own.key.split(",") if own.key else ()
            if event.key in keys and self.place in own.command.places:
                event.stop()
                if not cast("KeyApp", self.app).presses.held_down:
                    self.own_commands.run(own)

    def action_output(self) -> None:
        self.own_commands.show_output()
