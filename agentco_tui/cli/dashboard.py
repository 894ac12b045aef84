"""Runs one dashboard: opens what it needs, runs the app, and saves what is remembered.

`DashboardContext` has what the screens share: the workspace (what is known in memory of the
platform, the service that is watched), the services for changes, and the journal, a file in which
each change is noted before it is sent. `TerminalGuard` runs the app and restores the terminal,
whatever ends it. A profile is the user's name for a platform with its key and settings.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from agentco_tui.api.credentials import KeyInUse
from agentco_tui.app import NOTHING_REMEMBERED, DashboardApp
from agentco_tui.config import Settings, Switch
from agentco_tui.keys.places import SCREENS, Place
from agentco_tui.platforms.opener import recognise_platform
from agentco_tui.screens.dashboard_context import DashboardContext, write_permissions
from agentco_tui.system.state_folder import (
    JOURNAL_FILE,
    REMEMBERED_FILE,
    create_state_folder,
    read_remembered,
    remember,
    state_folder,
)
from agentco_tui.terminal.guard import TerminalGuard
from agentco_tui.textual_patches import compositor, frame_timer
from agentco_tui.textual_patches.driver import JobControlDriver
from agentco_tui.workspace.opening import client_for, history_for, snoozes_for
from agentco_tui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from agentco_tui.api.prefetch import Prefetch
    from agentco_tui.api.recorder import Recorder
    from agentco_tui.screens.settings_watch import Reread

THREAD_SLICE: Final = 0.001
"""Interval of thread switches in seconds: how long a thread that decodes a long answer may delay
the event loop."""


def run_dashboard(
    settings: Settings,
    key: KeyInUse | None,
    prefetch: Prefetch | None = None,
    recorder: Recorder | None = None,
    history_path: Path | None = None,
    *,
    begun_by: Switch | None = None,
    reread: Reread | None = None,
    typed: bytes = b"",
) -> int | Switch:
    """Run the dashboard; returns the exit code, or a `Switch` to the profile that comes next.

    key: the API key in use, and each that replaces it.
    prefetch: the first request, which has been sent already.
    history_path: the file of the demo's history; None for that of the user.
    begun_by: the switch that opened this dashboard, if any.
    reread: reads the settings again when the config file changes.
    typed: what the user typed while the terminal was asked for its background.
    """
    sys.setswitchinterval(THREAD_SLICE)
    compositor.install_partial_paint()  # patches Textual to write only the cells that changed
    frame_timer.install_frame_timer()  # and to sleep once they are written
    folder = state_folder()
    # The demo's platform is a new one at each start, so nothing is remembered of it.
    is_remembered = settings.profile != "demo"
    # One attempt: the poller retries, and shows meanwhile that the platform does not answer.
    client = client_for(settings, key, attempts=1, recorder=recorder, prefetch=prefetch)
    history = None
    if is_remembered or history_path is not None:
        history = history_for(settings, client, history_path)
    workspace = Workspace(
        settings,
        client,
        # What the user has put off, of the things that need attention.
        snoozes=snoozes_for(settings, folder if is_remembered else None),
        history=history,
    )
    # The permissions allow no change if the settings say so, or if the folder can't be written.
    dashboard = DashboardContext(
        workspace, folder / JOURNAL_FILE, permissions=write_permissions(settings, folder)
    )
    remembered = NOTHING_REMEMBERED
    if is_remembered:
        profiles = read_remembered(folder / REMEMBERED_FILE)
        remembered = profiles.get(settings.profile, NOTHING_REMEMBERED)
    place = known_place(settings.screen or remembered.screen)
    if begun_by is not None and begun_by.need:
        place = "overview"  # which lists what needs the user: the cursor goes to that item
    app = DashboardApp(dashboard, place, remembered, begun_by, reread)
    if settings.platform is None:
        app.recognise = partial(
            recognise_platform,
            settings.base_url,
            settings.config_path,
            ca_file=settings.ca_file,
            trust_env=settings.trust_env,
        )

    def keep() -> None:
        """Save what is remembered; called when the app has ended, also by an error or a signal."""
        if is_remembered and app.main_screen is not None:
            remember(folder / REMEMBERED_FILE, settings.profile, app.main_screen.remembered())
        if history is not None:
            history.close()

    try:
        JobControlDriver.typed_before_start = typed  # the first keys for the app
        guard = TerminalGuard(
            app, crash_folder=create_state_folder, redact=workspace.key.redact, on_end=keep
        )
        code = guard.run()
        if app.switch is None or code != 0:
            return code
        guard.close()  # another guard takes the terminal for the next dashboard
        return app.switch
    finally:
        workspace.close()
        _complain_of_unsettled(dashboard)


def _complain_of_unsettled(dashboard: DashboardContext) -> None:
    """Report changes with an unknown outcome, after the dashboard has left the terminal."""
    # Imported late, because they are not needed to start.
    from agentco_tui.commands.command_output import print_to_stderr  # noqa: PLC0415
    from agentco_tui.commands.journal_command import unsettled_report  # noqa: PLC0415

    with suppress(OSError):
        print_to_stderr(*unsettled_report(dashboard.services.journal, time.time()))


def known_place(name: str | None) -> Place:
    """The screen with this name; the overview if there is none."""
    return next((place for place in SCREENS if place == name), "overview")
