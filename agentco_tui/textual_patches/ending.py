"""An app's own taking apart is no error."""

from __future__ import annotations

import logging

from textual.app import App

from agentco_tui.textual_patches.late_timers import LateTimersApp
from agentco_tui.textual_patches.registry import ENDING

_log = logging.getLogger(__name__)


class EndingApp(LateTimersApp):
    """An app that ends as it was asked to, whatever still comes in while its parts are closed.

    Textual closes the widgets of a screen one by one and lets the others go on with the keys and
    answers that wait for them: one that mounts something then, or looks for a part of itself,
    finds no place for it (MountError, NoMatches). In Textual 8.2.8 that makes a crash of an end
    that was asked for: a report, two lines on the terminal, and after `q` the exit code 1.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ends_known = ENDING.fits(self._as_expected)

    def _as_expected(self) -> bool:
        names = ("_exit", "_is_mounted", "_running")
        states = [getattr(self, name) for name in names]
        return states == [False, False, False] and callable(App._handle_exception)

    def stopped(self) -> None:
        """The process is about to be stopped (SIGTSTP), or was (SIGCONT); called in the event loop.

        Between the two of one ctrl+z it may be called twice.
        """

    def _handle_exception(self, error: Exception) -> None:
        """An error is told and ends the app; after the end has begun it is only logged."""
        # An app that was never mounted doesn't run either, and has its own errors to tell.
        if self._ends_known and (self._exit or (self._is_mounted and not self._running)):
            _log.warning("an error while the app was ending", exc_info=error)
            return
        super()._handle_exception(error)
