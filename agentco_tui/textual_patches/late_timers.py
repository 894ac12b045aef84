"""A timer of one tick ticks, however late it is."""

from __future__ import annotations

from textual.app import App
from textual.timer import Timer, TimerCallback

from agentco_tui.textual_patches.registry import LATE_TIMERS


class LateTimersApp(App[None]):
    """An app whose own timers tick once even if the machine was busy when they began.

    A timer of Textual's skips the ticks that are past when it looks at the clock. For one that has
    a single tick that is the end: the new size of a terminal, for which the app sets a timer of
    8 ms and no second one while that is there, is then never drawn, nor any size after it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._timers_known = LATE_TIMERS.fits(lambda: Timer(self, 1.0, skip=False)._skip is False)

    def set_timer(
        self,
        delay: float,
        callback: TimerCallback | None = None,
        *,
        name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        """Call a function once, after so many seconds."""
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        if self._timers_known:
            timer._skip = False  # its task has not begun yet
        return timer
