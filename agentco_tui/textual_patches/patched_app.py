"""An app whose end is no crash, and whose timers tick however late they are."""

from __future__ import annotations

import logging

from textual.app import App
from textual.timer import Timer, TimerCallback

from agentco_tui.textual_patches.registry import ENDING, LATE_TIMERS

_log = logging.getLogger(__name__)


class PatchedApp(App[None]):
    """An app that ends as it was asked to, whatever still comes in while its parts are closed.

    Textual 8.2.8 closes the widgets of a screen one by one and lets the others go on with the keys
    and answers that wait for them: one that mounts something then, or looks for a part of itself,
    finds no place for it (MountError, NoMatches). That makes a crash of an end that was asked for:
    a report, two lines on the terminal, and after `q` the exit code 1.

    And a timer of Textual's skips the ticks that are past when it looks at the clock. For one that
    has a single tick that is the end: the new size of a terminal, for which the app sets a timer of
    8 ms and no second one while that is there, is then never drawn, nor any size after it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ends_known = ENDING.fits(self._as_expected)
        self._timers_known = LATE_TIMERS.fits(lambda: Timer(self, 1.0, skip=False)._skip is False)

    def _as_expected(self) -> bool:
        states = [getattr(self, name) for name in ("_exit", "_is_mounted", "_running")]
        return states == [False, False, False] and callable(App._handle_exception)

    def stopped(self) -> None:
        """The process is about to be stopped (SIGTSTP), or was (SIGCONT); called in the event loop,
        for one ctrl+z perhaps twice.
        """

    def _handle_exception(self, error: Exception) -> None:
        # An app that was never mounted doesn't run either, and has its own errors to tell.
        if self._ends_known and (self._exit or (self._is_mounted and not self._running)):
            _log.warning("an error while the app was ending", exc_info=error)
        else:
            super()._handle_exception(error)

    def set_timer(
        self,
        delay: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        if self._timers_known:
            timer._skip = False  # its task has not begun yet
        return timer
