"""What the platform offers for the record under the cursor, beside what every platform does.

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

    def of_record(self, record: Record | None) -> list[OfferedVerb]:
        """The verbs that the platform offers for a record, in its order."""
        if record is None or not self.commands:
            return []
        verbs = map(self._client.capabilities.verb, self._client.verbs_of(record))
        return [verb for verb in verbs if verb is not None]

    def offers(self, record: Record | None) -> dict[str, str]:
        """The verbs of a record for the footer: the words to show, by the id of the command."""
        return {f"{VERB_ID}{verb.name}": str(verb.label) for verb in self.of_record(record)}

    def run_for_key(self, key: str) -> bool:
        """Run the verb of the record under the cursor that a key belongs to.

        Return False if the key belongs to no verb on this screen.
        """
        frame = self._frame
        is_bound = any(
            key == command.keys and frame.place in command.places
            for command in self.commands.values()
        )
        if not is_bound:
            return False
        verbs = [verb for verb in self.of_record(frame.view.subject()) if verb.key == key]
        if frame.key_app.presses.held_down:
            return True
        if verbs:
            self.run(verbs[0].name)
        else:
            frame.say(mark_safe(f"{self._client.name} does not offer this for this line"))
        return True

    def run(self, name: str) -> None:
        """Open the form of a verb for the record under the cursor, or say why there is none."""
        frame = self._frame
        record = frame.view.subject()
        verb = next((verb for verb in self.of_record(record) if verb.name == name), None)
        if record is None or verb is None:
            frame.say(mark_safe(f"{self._client.name} does not offer this for this line"))
            return
        frame.dialogs.open_verb(verb, record)
