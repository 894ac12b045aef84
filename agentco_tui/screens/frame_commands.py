"""The commands of the dashboard that work on every screen and do not only move between screens.

They open a prompt or a dialog, copy the record under the cursor, poll now, or take an approval
back. A key reaches them by its entry in the table of all commands (`COMMANDS`), whose action is
`command(NAME)`; `run` carries out any command by its id, for a click on the footer and for the `:`
prompt. The frame is the screen around the lists; its `view` is the list shown. A place is the name
of a screen, or of a part in which keys work. The lists show what was polled from the platform, a
remote service. The frame is the main screen, the workspace what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from agentco_tui.keys.commands import COMMANDS_BY_ID
from agentco_tui.keys.places import Place
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.dialogs.help_screen import HelpScreen
from agentco_tui.screens.own_commands import OwnCommands
from agentco_tui.screens.platform_verbs import PlatformVerbs
from agentco_tui.screens.prompts import FilterWords, GoToWords
from agentco_tui.screens.take_back import take_back_one
from agentco_tui.widgets.workers import start_worker

if TYPE_CHECKING:
    from agentco_tui.screens.reload_key import ReloadKey


class FrameCommands:
    """The commands of one frame, the user's own commands, and the verbs of the platform."""

    def __init__(self, frame: BaseFrame) -> None:
        self.own_commands = OwnCommands(frame)
        self.verbs = PlatformVerbs(frame)
        self.extra_places: tuple[Place, ...] = ()
        """Places whose commands work in addition to those of the list: "replay" in a replay."""
        self._frame = frame
        self._by_name: dict[str, Callable[..., object]] = {
            "copy": self.copy,
            "go_to": self.ask_where_to_go,
            "help": self.show_help,
            "output": self.own_commands.show_output,
            "pager": self.show_in_pager,
            "poll_now": self.poll_now,
            "since": self.show_since,
            "take_back": self.take_back,
            "verb": self.verbs.run,
        }
        """What the action `command(NAME)` calls, by the name."""

    @cached_property
    def reload_key(self) -> ReloadKey:
        """Reads the key again on request; imported when that is first wanted."""
        from agentco_tui.screens.reload_key import ReloadKey  # noqa: PLC0415

        return ReloadKey(self._frame.dashboard, self._frame.say)

    async def run(self, command_id: str) -> None:
        """Run a command in the namespace of the widget that its key belongs to.

        `command.cursor` marks those of the table; `command.where` is the place of the others.
        """
        frame = self._frame
        own = self.own_commands.by_id.get(command_id)
        if own is not None:
            self.own_commands.run(own)
            return
        command = self.verbs.commands.get(command_id) or COMMANDS_BY_ID[command_id]
        if command.cursor:
            await frame.app.run_action(command.run, frame.view.table)
        elif command.where in ("every", *self.extra_places) or command_id in self.verbs.commands:
            await frame.app.run_action(command.run, frame)
        else:
            await frame.app.run_action(command.run, frame.view)

    def run_named(self, name: str, *arguments: str) -> None:
        """Carry out the action `command(NAME)`."""
        self._by_name[name](*arguments)

    # ---- prompts

    def ask_where_to_go(self) -> None:
        """Open the `:` prompt, which goes to anything or runs any command."""
        GoToWords(self._frame)

    def ask_filter(self) -> None:
        """Open the prompt for the filter of the list shown."""
        FilterWords(self._frame)

    # ---- dialogs

    def show_help(self) -> None:
        frame = self._frame
        help_screen = HelpScreen(
            frame.place,
            frame.workspace.settings,
            frame.lines.denied,
            self.extra_places,
            verbs=self.verbs.commands,
            platform=frame.workspace.client.name,
        )
        frame.app.push_screen(help_screen)

    def show_since(self) -> None:
        """Show what happened while the user was away."""
        self._frame.dialogs.show_since()

    # ---- the record under the cursor

    def copy(self, part: str | None = None) -> None:
        """Copy a part of the record under the cursor, such as "id"; None to ask which."""
        from agentco_tui.screens import copying  # noqa: PLC0415 - when it is first wanted

        record = self._frame.view.subject()
        # A key that is still held down has just answered a question, and is not meant for this.
        if record is not None and not self._frame.key_app.presses.held_down:
            copying.choose(self._frame, record, part)

    def show_in_pager(self) -> None:
        """Show the detail of the record under the cursor in the user's pager."""
        from agentco_tui.screens.copying import page  # noqa: PLC0415 - when it is first wanted

        frame = self._frame
        page(frame.key_app, frame.workspace, frame.view.detail.lines_at_width(frame.size.width))

    # ---- the platform

    def poll_now(self) -> None:
        """Bring the list up to date, poll every feed, and read a refused API key again."""
        view = self._frame.view
        view.freezer.release()
        view.poll_now()
        self._frame.workspace.poller.poll_now()
        start_worker(self._frame, self.reload_key.run, "read the key again")

    def take_back(self) -> None:
        """Take back an approval that was not sent yet."""
        take_back_one(self._frame)
