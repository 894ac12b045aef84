"""`agentco-tui doctor --bundle FILE`: a recording for a bug report, with pseudonyms for all names.

A recording is a file of the answers of the platform (the service that is watched), which
`agentco-tui replay` shows on the dashboard. `Recorder` writes it; `Pseudonyms.alter` replaces
names, ids and texts in an answer before it is written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from agentco_tui.api.credentials import BaseUrl, KeyInUse
from agentco_tui.api.pseudonyms import NOWHERE, Pseudonyms
from agentco_tui.api.recorder import Recorder
from agentco_tui.commands.command_context import words_of_platform
from agentco_tui.commands.replay_command import start_recording
from agentco_tui.config import Settings
from agentco_tui.system.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.text import clean_line

_LOG_FIELDS: Final = (
    *("time", "level", "logger", "words", "request", "target", "status", "outcome", "seconds"),
)
"""Fields of a log entry that are copied into the bundle; the message may quote anything."""
_LOG_LINES: Final = 1_000
"""So many lines at the end of the log are copied into the bundle."""


class Bundle:
    """Records answers with pseudonyms in place of names and texts."""

    def __init__(self, file: str, settings: Settings) -> None:
        """Begin to record. Raises UsageError if the file cannot be written.

        Raises SettingsError if the file that describes the platform is missing or wrong.
        """
        # What the recording says of its origin: an address that does not exist, and no names.
        masked = replace(settings, base_url=BaseUrl.parse(NOWHERE), profile="bundle", company=None)
        key = None if settings.key is None else KeyInUse(settings.key)
        self._log_file = settings.log_file
        mapped_names, words = words_of_platform(settings)
        kept = (*_mapped_words(settings), *mapped_names)
        self._pseudonyms = Pseudonyms(str(settings.base_url), kept, words)
        self.recorder: Recorder = start_recording(file, masked, key, alter=self._pseudonyms.alter)

    def finish(self) -> list[str]:
        """Complete the recording and write its log; returns lines about them for the user."""
        self.recorder.close(60.0)  # waits so many seconds until all is written
        path = clean_line(str(self.recorder.path), 200)
        if self.recorder.trouble is not None:
            return [f"{path}: {self.recorder.trouble}"]
        lines = [
            f"{path} holds one answer to each read.",
            "Everything is replaced except what this program's own tables contain: names of fields,"
            " status words, and the figures and times in these fields.",
            f"Look at it before you send it: agentco-tui replay {path}",
        ]
        if self._log_file is not None:
            lines.append(self._write_log(self._log_file))
        return lines

    def _write_log(self, log: Path) -> str:
        """Write the end of a JSON log without its messages; returns a sentence about it."""
        bundle = self.recorder.path
        path = bundle.with_name(f"{bundle.name}.log")
        try:
            with atomic_write(path, mode=0o600) as file:
                for line in log.read_text("utf-8").splitlines()[-_LOG_LINES:]:
                    file.write(f"{json.dumps(self._without_names(json.loads(line)))}\n".encode())
        except (AtomicWriteError, ValueError, AttributeError) as error:
            reason = clean_line(str(error), 200)
            return f"The log is left out, because it is not one of --log-json: {reason}"
        return f"{clean_line(str(path), 200)} has the end of the log, without its messages."

    def _without_names(self, entry: dict[str, Any]) -> dict[str, Any]:
        """A log entry without its message, and with pseudonyms in its request target."""
        fields = {name: value for name, value in entry.items() if name in _LOG_FIELDS}
        if "target" in fields:
            fields["target"] = self._pseudonyms.target(fields["target"])
        return fields


def _mapped_words(settings: Settings) -> list[str]:
    """The field names and status words that the profile maps, which are not replaced."""
    mapped = settings.mapping.declared
    words = [name for names_by_field in mapped.fields.values() for name in names_by_field.values()]
    words += [word for status_words in mapped.status.values() for word in status_words]
    return words
