"""Publishes what is new in the workspace to the lists of a frame, and repaints the frame after it.

The workspace holds what is known of the platform, the remote service that is watched. It calls one
listener for each kind of news: a change of the store (the records), the freshness of a feed (one
list of records that is polled), a decision (an approval that was started here), refreshed needs
(what requires the user), forecasts. This file is that listener. It is the one place that knows in
which order the rest follows: first the needs, then the lists, which subscribe to `Topics`, then
header, tabs and footer. The frame is the dashboard's main screen, around the lists.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.widgets.workers import start_worker

COVERED_DELAY: Final = 0.5
"""Seconds for which decisions are gathered while a dialog covers the rows: painting rows paints the
dialog above them again."""

ROW_FEEDS: Final = (FeedName.PENDING, FeedName.TASKS, FeedName.ACTIVITY)
"""Feeds on which the commands in the footer depend only through the record under the cursor."""


class NewsPublisher:
    """The listener of one workspace, for the lists of one frame."""

    def __init__(self, frame: BaseFrame) -> None:
        self._frame = frame
        self._dashboard = frame.dashboard
        self._workspace = frame.workspace
        self._topics = frame.topics
        self._decided: set[str] = set()
        """The ids of tasks whose decisions changed and are not published yet."""

    def start(self) -> None:
        """Listen to the store and to decisions, and refresh the needs for the first time."""
        dashboard = self._dashboard
        workspace = self._workspace
        workspace.store.subscribe(self._on_change)
        workspace.store.on_freshness = self._on_freshness
        workspace.on_company_found = self._on_company_found
        workspace.on_key_renewed = self._on_key_renewed
        dashboard.decisions.subscribe(self._on_decision)
        dashboard.needs_refresh.start(self._frame)

    def start_showing(self) -> None:
        """Listen to needs and forecasts, too, once there is a list that can show them."""
        self._dashboard.needs_refresh.on_refreshed = self._on_needs_refreshed
        self._workspace.outlook.on_change = self._on_forecasts

    def _on_change(self, change: Change) -> None:
        dashboard = self._dashboard
        workspace = self._workspace
        # Approvals that had ended badly, and whose tasks have left the list now.
        to_read_again = dashboard.decisions.take_change(change)
        with self._frame.app.batch_update():
            # None until the outlook (the forecasts) has searched the log for the first time: until
            # then, changes of the log and of the list of all tasks refresh the needs, too.
            needs_follow_log = workspace.outlook.log_of is None
            if needs_follow_log or change.feed not in (FeedName.ACTIVITY, FeedName.TASKS):
                dashboard.needs_refresh.start(self._frame)
            tasks_in_log = self._tasks_in_log(change)
            self._topics.changes.publish(change)
            if tasks_in_log:
                self._topics.decisions.publish(tasks_in_log)
            self._frame.restore_awaited()  # put the cursor on a row that was asked for earlier
            self._frame.lines.show_news_soon(with_footer=change.feed not in ROW_FEEDS)
        for decision in to_read_again:
            work = partial(self._frame.dialogs.recheck_decision, decision)
            name = f"read {decision.task.id} after all"
            start_worker(self._frame, work, name, group="writes")

    def _tasks_in_log(self, change: Change) -> list[str]:
        """Return the ids of the tasks that new entries of the log are about."""
        if change.feed is not FeedName.ACTIVITY:
            return []
        entries = map(self._workspace.store.activity.get, change.added)
        return [entry.task.id for entry in entries if entry and entry.task and entry.task.id]

    def _on_needs_refreshed(self) -> None:
        self._topics.needs.publish(None)
        self._frame.lines.show_news_soon()

    def _on_forecasts(self) -> None:
        with self._frame.app.batch_update():
            self._topics.forecasts.publish(None)

    def _on_freshness(self, feed: FeedName) -> None:
        self._topics.freshness.publish(feed)
        self._frame.lines.show_news_soon()

    def _on_decision(self, task_id: str) -> None:
        """Show how far a decision is, soon: a set of tasks changes many at once.

        Later while a dialog is open: what is painted beneath it paints the dialog again, too.
        """
        frame = self._frame
        if not self._decided and frame.app.screen is frame:
            frame.call_later(self._publish_decisions)
        elif not self._decided:
            frame.set_timer(COVERED_DELAY, self._publish_decisions, name="decisions")
        self._decided.add(task_id)

    def _publish_decisions(self) -> None:
        changed = self._decided
        self._decided = set()
        self._dashboard.needs_refresh.take_decisions(self._frame)
        self._topics.decisions.publish(changed)
        self._frame.lines.show_news_soon(with_footer=True)

    def _on_company_found(self, company_id: str) -> None:
        """Show the company that the settings name, now that its id is known."""
        self._frame.navigation.clear()
        self._frame.call_later(self._frame.set_scope, company_id)

    def _on_key_renewed(self) -> None:
        self._frame.say("the key was read again: another one is used from now on")
