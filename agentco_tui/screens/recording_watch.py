"""Says when answers can't be recorded, and when they can be again."""

from __future__ import annotations

from typing import Protocol

from agentco_tui.api.recorder import Recorder
from agentco_tui.text import SafeText


class Say(Protocol):
    """Shows a notice."""

    def __call__(self, words: str, *, bad: bool = False) -> None: ...


class RecordingWatch:
    """Follows the state of one recorder."""

    def __init__(self, recorder: Recorder, say: Say) -> None:
        self._recorder = recorder
        self._say = say
        self._trouble_shown: SafeText | None = None

    def check(self) -> None:
        """Show a notice if the state has changed since the last check."""
        trouble = self._recorder.trouble
        if trouble == self._trouble_shown:
            return
        self._trouble_shown = trouble
        self._say(trouble or "answers are recorded again", bad=trouble is not None)
