"""What the platform offers for the line under the cursor, beside what every platform does.

A platform may let a person reject a task, pause an agent or comment (`Capabilities.verbs`). Each of
these verbs has a key; several verbs have the same one if no record offers both. The key, a click on
the footer and the palette all end in `run`, which opens the verb's form. The frame is the main
screen, the workspace what is known of the platform, the remote service, in memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentco_tui.api.capabilities import OfferedVerb
from agentco_tui.keys.commands import Command
from agentco_tui.keys.verb_commands import VERB_ID
from agentco_tui.model import Record
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.text import mark_safe


class PlatformVerbs:
    """The verbs of the platform of one frame."""

    def __init__(self, frame: BaseFrame) -> None:
        self._frame = frame
        self._client = frame.workspace.client
        self.commands: Mapping[str, Command] = frame.workspace.verb_commands
        """The command of each verb, by its id; empty on a platform that has none."""

    @property
    def keys(self) -> Mapping[str, str]:
        """The keys of all commands, by their ids: those of the settings, and of the verbs."""
        own = {command.id: command.keys for command in self.commands.values()}
        return {**own, **self._frame.workspace.settings.keys}

    def of_line(self) -> dict[str, tuple[OfferedVerb, Record]]:
        """The verbs that work on the line under the cursor, by their keys, with their records.

        A line may be about several records: the first that offers something for a key has it.
        """
        if not self.commands:
            return {}
        found: dict[str, tuple[OfferedVerb, Record]] = {}
        for record in self._frame.view.subjects():
            for name in self._client.verbs_of(record):
                verb = self._client.capabilities.verb(name)
                if verb is not None and self._works_here(verb):
                    found.setdefault(verb.key, (verb, record))
        return found

    def _works_here(self, verb: OfferedVerb) -> bool:
        return self._frame.place in self.commands[f"{VERB_ID}{verb.name}"].places

    def offers(self) -> dict[str, str]:
        """The verbs of the line for the footer: the words to show, by the id of the command."""
        verbs = [verb for verb, _ in self.of_line().values()]
        return {f"{VERB_ID}{verb.name}": str(verb.label) for verb in verbs}

    def run_for_key(self, key: str) -> bool:
        """Run the verb of the line under the cursor that a key belongs to.

        Return False if the key belongs to no verb on this screen.
        """
        frame = self._frame
        is_bound = any(
            key == command.keys and frame.place in command.places
            for command in self.commands.values()
        )
        if not is_bound:
            return False
        if frame.key_app.presses.held_down:
            return True
        offered = self.of_line().get(key)
        if offered is None:
            self._say_not_offered()
        else:
            frame.dialogs.open_verb(*offered)
        return True

    def run(self, name: str) -> None:
        """Open the form of a verb for the line under the cursor, or say that it is not for it."""
        for verb, record in self.of_line().values():
            if verb.name == name:
                self._frame.dialogs.open_verb(verb, record)
                return
        self._say_not_offered()

    def _say_not_offered(self) -> None:
        self._frame.say(mark_safe(f"{self._client.name} does not offer this for this line"))
