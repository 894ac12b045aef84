"""Runs a dashboard that shows a recording instead of a platform (the service that is watched).

A recording has every answer of a platform to the dashboard that recorded it. `RecordedPlatform`
answers requests from it, by the time that the `ReplayClock` shows; `ReplayPoller` reads whatever
the recording has next. The `Workspace` is what is known in memory of the platform.
"""

from __future__ import annotations

import secrets
import sys
import tempfile
from pathlib import Path

from textual.screen import Screen

from agentco_tui.api.credentials import ApiKey, KeyInUse
from agentco_tui.api.recording import Recording
from agentco_tui.app import DashboardApp
from agentco_tui.cli.dashboard import THREAD_SLICE, known_place
from agentco_tui.config import Settings
from agentco_tui.live.replay_clock import ReplayClock
from agentco_tui.live.replay_poller import RecordedPlatform, ReplayPoller
from agentco_tui.platforms.opener import open_platform_of
from agentco_tui.screens.dashboard_context import DashboardContext, write_permissions
from agentco_tui.screens.replay_screen import ReplayScreen
from agentco_tui.system.state_folder import JOURNAL_FILE, create_state_folder
from agentco_tui.terminal.guard import TerminalGuard
from agentco_tui.textual_patches import compositor, frame_timer
from agentco_tui.workspace.opening import snoozes_for
from agentco_tui.workspace.workspace import Workspace


class ReplayApp(DashboardApp):
    """A dashboard whose screen has the controls of a replay."""

    def get_default_screen(self) -> Screen[None]:
        self.main_screen = ReplayScreen(self.dashboard, self.place)
        return self.main_screen


def replay_app(settings: Settings, recording: Recording, folder: Path) -> ReplayApp:
    """A dashboard that shows a recording and sends no request.

    `folder` is for its journal, which stays empty, because nothing can be approved or changed.
    Raises SettingsError if the file of the recorded platform is missing or wrong.
    """
    clock = ReplayClock(recording)
    client = open_platform_of(
        settings,
        # No key is needed; the client wants one, so it gets a random one.
        KeyInUse(ApiKey(secrets.token_hex(20))),
        attempts=1,
        clock=clock.time,
        replay=RecordedPlatform(recording, clock).answer,
    )
    workspace = Workspace(
        settings,
        client,
        snoozes=snoozes_for(settings, folder),  # items that the user puts off; none at the start
        clock=clock,
        poller_class=ReplayPoller,
    )
    dashboard = DashboardContext(
        workspace, folder / JOURNAL_FILE, permissions=write_permissions(settings, folder)
    )
    return ReplayApp(dashboard, known_place(settings.screen))


def run_replay(settings: Settings, recording: Recording) -> int:
    """Show a recording until the user leaves; returns the exit code."""
    sys.setswitchinterval(THREAD_SLICE)
    compositor.install_partial_paint()  # patches Textual to write only the cells that changed
    frame_timer.install_frame_timer()  # and to sleep once they are written
    with tempfile.TemporaryDirectory(prefix="agentco-tui-") as folder:
        app = replay_app(settings, recording, Path(folder))
        try:
            return TerminalGuard(app, crash_folder=create_state_folder).run()
        finally:
            app.workspace.close()
