"""Notifies an absent user: by bell, desktop notification, terminal title, and a custom command.

The `Notifier` decides which needs (things that require the user, such as a task to approve) are new
and critical. This controller asks it after each refresh of the needs, and sends its events through
the terminal's escape sequences and the user's own command, the setting `on_critical`
(`CriticalCommand`). A feed is one list of records that is polled from the platform, the remote
service that is watched; the queue is the list of tasks that wait for approval. The workspace is
what is known of the platform in memory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from math import inf

from agentco_tui.attention.notification_event import NotificationEvent, words_of_events
from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.live.insight import Level
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.key_app import KeyApp
from agentco_tui.system import osc
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.widgets.workers import start_worker

PRESENT_FOR = 60.0
"""Seconds after a key for which the user counts as present."""
BELL_EVERY = 60.0
"""Seconds between two bells, at least."""


class NotificationController:
    """Notifies of needs that appear after its creation; earlier ones count as seen."""

    def __init__(self, app: KeyApp, dashboard: DashboardContext) -> None:
        # Imported here, so that the first screen does not wait for these modules.
        workspace = dashboard.workspace
        from agentco_tui.attention.critical_command import CriticalCommand  # noqa: PLC0415
        from agentco_tui.attention.notifier import Notifier  # noqa: PLC0415

        self._app = app
        self._workspace = workspace
        self._reports_focus = False  # whether the terminal does: tmux mostly does not
        self._began_at = time.monotonic()
        self._rang_at = -inf
        self._command = CriticalCommand(workspace.child_environment(), workspace.key.redact)
        self._command.on_trouble = partial(app.notify, markup=False, severity="warning", timeout=30)
        self._notifier = Notifier(workspace.outlook, workspace.settings.notify)
        self._show_needs = dashboard.needs_refresh.on_refreshed
        dashboard.needs_refresh.on_refreshed = self._needs_refreshed

    def _needs_refreshed(self) -> None:
        self._show_needs()
        workspace = self._workspace
        notify = workspace.settings.notify
        if notify.title and os.environ.get("TERM") != "linux":
            self._app.set_terminal_title(self._title())
        self._notifier.notify = notify  # the settings may have been read again
        is_present = self._is_user_present()
        freshness = workspace.store.freshness
        events = self._notifier.find_events(
            workspace.needs.critical(),
            {
                feed: freshness[feed]
                for feed in FeedName
                if workspace.poller.pace(feed) is not Pace.OFF
            },
            critical_tasks=workspace.needs.critical_tasks(),
            is_here=is_present,
            asked_since=workspace.poller.asked_since(),  # by feed: when an unanswered poll began
        )
        if events or self._command.unsent:  # earlier events that the command did not get yet
            run = partial(self._command.run, notify.on_critical, events)
            start_worker(self._app, run, "on_critical")
        if events:
            self._ring(is_present)
            self._notify_desktop(events)

    def _is_user_present(self) -> bool:
        """Whether the terminal has the focus, or if it does not report that, a key was recent."""
        if not self._app.app_focus:
            self._reports_focus = True
        if self._reports_focus:
            return self._app.app_focus
        last_sign = max(self._began_at, self._app.presses.at)
        return time.monotonic() - last_sign < PRESENT_FOR

    def _name(self) -> SafeText:
        settings = self._workspace.settings
        return clean_line(settings.label or settings.profile, 40)

    def _title(self) -> SafeText:
        """Return the terminal's title: "prod – 2 critical, 5 wait"."""
        critical = self._workspace.needs.levels[Level.CRITICAL]
        waiting = self._workspace.needs.queue.count
        parts = []
        if critical:
            parts.append(f"{critical} critical")
        if waiting:
            parts.append(f"{waiting} wait")
        name = self._name()
        return mark_safe(f"{name} – {', '.join(parts)}") if parts else mark_safe(name)

    def _ring(self, is_present: bool) -> None:
        now = time.monotonic()
        if is_present or not self._workspace.settings.notify.bell:
            return
        if now - self._rang_at >= BELL_EVERY:
            self._rang_at = now
            self._app.to_terminal("\a")

    def _notify_desktop(self, events: Sequence[NotificationEvent]) -> None:
        """Show a desktop notification, unless the terminal has the focus.

        Without the setting it depends on whether the terminal is known to have notifications.
        """
        wanted = self._workspace.settings.notify.desktop
        if wanted is None:
            wanted = osc.notification_form(os.environ) is not None
        if wanted and not self._app.app_focus:
            title = f"agentco-tui {self._name()}"
            self._app.to_terminal(osc.notification(title, words_of_events(events), os.environ))
