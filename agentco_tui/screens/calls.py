"""The dashboard calls a person who doesn't look: by bell, notification, title and own command."""

from __future__ import annotations

import os
import time
from functools import partial
from math import inf

from agentco_tui.live.feeds import FeedName, Pace
from agentco_tui.live.insight import Level
from agentco_tui.screens.dashboard_workspace import DashboardWorkspace
from agentco_tui.screens.key_app import KeyApp
from agentco_tui.system import osc
from agentco_tui.text import plain, safe
from agentco_tui.widgets.workers import start_worker

HERE, APART = 60.0, 60.0  # seconds for which a key shows a person; and between two bells


class Calls:
    """Takes what stands for seen, and calls for what comes from now on."""

    def __init__(self, app: KeyApp, session: DashboardWorkspace) -> None:
        from agentco_tui.live.notifier import CriticalCommand, Notifier  # noqa: PLC0415 (later)

        self._app, self._session, self._tells_focus = app, session, False
        self._began, self._rang_at = time.monotonic(), -inf
        self._show, redact = session.needs_refresh.on_refreshed, session.client.transport.key.redact
        self._command = CriticalCommand(session.child_environment(), redact)
        self._command.on_trouble = partial(app.notify, markup=False, severity="warning", timeout=30)
        self._notifier = Notifier(session.outlook, session.settings.notify)
        session.needs_refresh.on_refreshed = self._found

    def _found(self) -> None:
        self._show()
        app, session, settings = self._app, self._session, self._session.settings
        notify, name = settings.notify, safe(settings.label or settings.profile, 40)
        critical, waits = session.needs.levels[Level.CRITICAL], session.needs.queue.count
        told = [f"{critical} critical"] * bool(critical) + [f"{waits} wait"] * bool(waits)
        if notify.title and os.environ.get("TERM") != "linux":
            app.set_terminal_title(plain(f"{name}{' – ' * bool(told)}{', '.join(told)}"))
        self._notifier.notify = notify  # the settings may have been read again
        known, pace, now = session.store.freshness, session.poller.pace, time.monotonic()
        polled = {feed: known[feed] for feed in FeedName if pace(feed) is not Pace.OFF}
        self._tells_focus |= not app.app_focus  # the terminal does; tmux mostly doesn't
        is_here = now - max(self._began, app.presses.at) < HERE
        is_here = app.app_focus if self._tells_focus else is_here
        causes = self._notifier.look(
            session.needs.critical(),
            polled,
            critical_tasks=session.needs.critical_tasks(),
            is_here=is_here,
            asked_since=session.poller.asked_since(),
        )
        if not causes and not self._command.unsent:
            return
        run = partial(self._command.run, notify.on_critical, causes)
        start_worker(app, run, "on_critical")
        if not causes:
            return
        if notify.bell and not is_here and now - self._rang_at >= APART:
            self._rang_at = now
            app.to_terminal("\a")
        is_known = osc.notification_form(os.environ) is not None
        if not app.app_focus and (is_known if notify.desktop is None else notify.desktop):
            words = self._notifier.words(causes)
            app.to_terminal(osc.notification(f"agentco-tui {name}", words, os.environ))
