"""Reports when the platform's answers can't be recorded (`--record FILE`), and when they can again.

The platform is the remote service that is watched; its answers are written to a file for a later
replay. `Recorder.trouble` says why writing fails, such as a full disk; None while it works.
"""

from __future__ import annotations

from typing import Protocol

from agentco_tui.api.recorder import Recorder
from agentco_tui.text import SafeText


class Say(Protocol):
    """Shows a notice."""

    def __call__(self, words: str, *, bad: bool = False) -> None: ...


class RecordingWatch:
    """Reports the troubles of one recorder; `check` is called once a second."""

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
