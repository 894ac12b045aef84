"""Refreshes the "needs you" list at the moment at which a snooze ends.

A need is one thing that requires the operator, who can snooze it: it is then listed last until the
chosen time. `dashboard.needs_refresh` computes the list again. The platform is the remote service
that is watched, and the workspace what is known of it in memory; the platform's clock counts, as
its answers show it.
"""

from __future__ import annotations

from typing import Final

from textual.dom import DOMNode

from agentco_tui.screens.dashboard_context import DashboardContext

AHEAD: Final = 2.0
"""Seconds before the end of a snooze within which a timer is set for it."""


class SnoozeTimer:
    """Checked once a second by the frame, the dashboard's main screen.

    The end of a snooze is a time of the platform's clock, which is set and corrected while a timer
    runs. So only the last check before the end sets a timer.
    """

    def __init__(self, node: DOMNode, dashboard: DashboardContext) -> None:
        """Timers and workers end with `node`."""
        workspace = dashboard.workspace
        self._node = node
        self._dashboard = dashboard
        self._workspace = workspace
        self._is_set = False

    def check(self) -> None:
        """Refresh the needs if a snooze has ended; set the timer if one is about to."""
        ends_at = self._workspace.needs.next_snooze_end
        if ends_at is None:
            return
        left = ends_at - self._workspace.clock.now()
        if left <= 0:
            self._dashboard.needs_refresh.start(self._node)
        elif left <= AHEAD and not self._is_set:
            self._is_set = True
            self._node.set_timer(left, self.fire, name="snooze")

    def fire(self) -> None:
        """Check again when the timer fires, as the clock may have been corrected meanwhile."""
        self._is_set = False
        self.check()
