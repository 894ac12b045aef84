"""What the dashboard does once a second: ages, late answers, ended snoozes, and the user's absence.

A need is one item of "needs you", the list of what requires the operator. Some needs follow from
the clock, the log or the forecasts, and not from a change of a record, so the needs are refreshed
from time to time. A snoozed need comes back when its time is over. The frame is the dashboard's
main screen; its lists show what was polled from the platform, a remote service. Views are lists
that the settings define. The workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.idle_tracker import NOTICE_SECONDS
from agentco_tui.screens.snooze_timer import SnoozeTimer
from agentco_tui.screens.views import open_views_soon

TICK: Final = 1.0
"""Seconds between two ticks."""
TICKS_PER_REFRESH: Final = 10
"""Ticks after which the needs are refreshed, and on a slow terminal ages are painted again."""


class FrameTicker:
    """The work of each second for one frame."""

    def __init__(self, frame: BaseFrame) -> None:
        self.reports_absence = True
        """Whether a user who comes back is offered the page of what happened."""
        self.snooze_timer = SnoozeTimer(frame, frame.dashboard)
        self.checks: list[Callable[[], None]] = []
        """What others have to do once a second: one timer wakes the program for all."""
        self._frame = frame
        self._dashboard = frame.dashboard
        self._workspace = frame.workspace
        self._ticks = 0

    def start(self) -> None:
        self._frame.set_interval(TICK, self.tick, name="ages")

    def tick(self) -> None:
        """Repaint ages once a second; on a slow terminal every `TICKS_PER_REFRESH` seconds."""
        self._ticks += 1
        for check in self.checks:
            check()
        self.check_absence(is_active=False)
        self._workspace.poller.mark_late()  # data whose next answer is overdue may be old
        is_refresh_due = self._ticks % TICKS_PER_REFRESH == 0
        if is_refresh_due:
            self._dashboard.needs_refresh.start(self._frame)
            open_views_soon(self._frame)
        self.snooze_timer.check()
        if is_refresh_due or not self._dashboard.thin:
            self._frame.topics.seconds.publish(None)
            self._frame.lines.show_news()

    def check_absence(self, *, is_active: bool = True) -> None:
        """Offer the page of what happened, if the user is back after a long absence.

        A notice offers it, because a dialog would take a key that was meant for the list. Called
        with `is_active` at every key.
        """
        if not self.reports_absence:
            return
        words = self._frame.idle_tracker.check(is_active=is_active)
        if words is not None:
            self._frame.app.notify(words, markup=False, timeout=NOTICE_SECONDS)
