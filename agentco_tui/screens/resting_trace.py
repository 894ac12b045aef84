"""Reads the trace of the task on which the cursor of a list rests, for the preview of that task.

A trace is the record of an AI agent's steps on a task. Each costs a request to the platform, the
remote service that has it, so it is read only once the user has left the cursor on the task for a
moment, and only if the preview is visible. `workspace.traces` keeps those that were read. The
workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from typing import Any, Final

from textual.timer import Timer

from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.model import Task
from agentco_tui.screens.list_view import ListView

REST_DELAY: Final = 0.6
"""Seconds after the cursor's last move until the trace of its task is read."""


class RestingTraceReader:
    """Reads traces for the preview of one list."""

    def __init__(self, view: ListView[Any]) -> None:
        self._view = view
        self._timer: Timer | None = None
        """Runs from the cursor's last move until the trace of its task is read."""

    def cursor_moved(self) -> None:
        """Read the trace of the task under the cursor in `REST_DELAY` seconds."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._view.set_timer(REST_DELAY, self.read, name="trace")

    async def read(self) -> None:
        """Read the trace of the task where the user left the cursor, once, for the preview."""
        self._timer = None
        view = self._view
        if view.detail.follows:
            return  # the cursor has moved on; this is done where it comes to rest
        workspace = view.workspace
        task = view.subject()
        is_live = workspace.store.freshness[FeedName.PENDING].phase is Phase.LIVE
        is_shown = view.detail.display and not view.dashboard.thin
        if not (view.table.viewport.user_has_moved and is_live and is_shown):
            return
        if isinstance(task, Task) and not task.shared_id and workspace.traces.get(task.id) is None:
            await workspace.traces.read(task)
            view.show_detail()
