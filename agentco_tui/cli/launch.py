"""Launches the dashboard, and the next one when the user switches to another profile.

The first request (`Prefetch`: the tasks that wait) is sent before Textual is imported, because that
takes about as long as the answer. So nothing is imported here that imports Textual.

A profile is the user's name for a platform (the service that is watched) with its API key and other
settings. A `Switch` names the next profile, "" for the list of all profiles; its `failure` says why
that could not be opened.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentco_tui.api.credentials import CredentialError, KeyInUse
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_log import log_to_file
from agentco_tui.config import Arguments, Settings, SettingsError, Switch
from agentco_tui.config.resolve import load, of_profile, reread
from agentco_tui.system.background import renew_background_thread
from agentco_tui.system.state_folder import (
    REMEMBERED_FILE,
    Remembered,
    read_remembered,
    state_folder,
)
from agentco_tui.terminal.background_color import background_query
from agentco_tui.terminal.fitness import THEMES_FOR_16_COLOURS, check_terminal, prepare_output
from agentco_tui.text import clean_line
from agentco_tui.text.memoized import forget_memoized

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Conventions, FirstRequest
    from agentco_tui.api.credentials import ApiKey
    from agentco_tui.api.recorder import Recorder
    from agentco_tui.api.recording import Recording
    from agentco_tui.screens.settings_watch import Reread

THIN_FRAME_RATE = "8"
"""Frames a second with --thin, for slow connections."""


def launch_dashboards(
    arguments: Arguments,
    env: Mapping[str, str],
    settings: Settings,
    history_path: Path | None = None,
) -> int:
    """Run a dashboard, and each that the user switches to; returns the exit code of the last.

    If the settings of the next profile can't be used, the previous dashboard is opened again, and
    shows why. `history_path` is the history file of the demo; None for that of the user.
    """
    first_profile = settings.profile
    previous = settings
    switch = Switch("") if arguments.get("all_profiles") else None
    while True:
        is_new_profile = switch is not None and switch.profile != "" and switch.failure is None
        try:
            if switch is not None and is_new_profile:
                settings = load(*of_profile(switch.profile, first_profile, arguments, env))
            key = None if settings.key is None else KeyInUse(settings.key)
            # Flags such as --base-url apply only to the profile of the start: they are taken out.
            profile_arguments = of_profile(settings.profile, first_profile, arguments, env)
            result = launch_dashboard(
                settings,
                key,
                arguments.get("record"),
                history_path,
                begun_by=switch,
                reread=partial(_reread, profile_arguments),
            )
        except (SettingsError, CredentialError) as error:
            if switch is None or not is_new_profile:
                raise
            # `previous` has the key that the previous dashboard used last.
            failure = clean_line(f"{switch.profile} can't be used: {error}", 400)
            settings = previous
            switch = Switch(switch.profile, failure=failure)
            continue
        if isinstance(result, int):
            return result
        switch = result
        # The dashboard may have replaced the key while it ran.
        previous = replace(settings, key=None if key is None else key.key)
        _free_memory()


def launch_dashboard(
    settings: Settings,
    key: KeyInUse | None,
    record_to: str | None,
    history_path: Path | None,
    *,
    begun_by: Switch | None,
    reread: Reread,
) -> int | Switch:
    """Send the first request, then import the dashboard and run it.

    `record_to` is the file for a recording, if any. The other arguments and the result are those of
    `run_dashboard`.
    """
    settings = _prepare_terminal(settings)
    first, key_sent, conventions = _first_request(settings)
    from agentco_tui.api.prefetch import Prefetch  # noqa: PLC0415 (only for a dashboard)

    with ExitStack() as ending:
        ending.enter_context(log_to_file(settings, key))
        recorder: Recorder | None = None
        if record_to is not None:
            from agentco_tui.commands.replay_command import start_recording  # noqa: PLC0415

            recorder = start_recording(record_to, settings, key)
            ending.callback(recorder.close)
        # The theme depends on the terminal's background: it is asked for during the imports.
        is_background_needed = not _is_theme_named(settings) and check_terminal().colours > 16
        with background_query(is_background_needed) as typed:
            prefetch = Prefetch.begin(
                first,
                settings.base_url,
                key_sent,
                conventions=conventions,
                recorder=recorder,
                **settings.transport_options,
            )
            from agentco_tui.cli.dashboard import run_dashboard  # noqa: PLC0415 (takes long)

        return run_dashboard(
            settings,
            key,
            prefetch,
            recorder,
            history_path,
            begun_by=begun_by,
            reread=reread,
            typed=bytes(typed),
        )


def _first_request(settings: Settings) -> tuple[FirstRequest, ApiKey | None, Conventions]:
    """What is requested first, with which key (None: it can't be sent), and how.

    Raises SettingsError with every mistake in the platform's file.
    """
    if settings.platform is None:
        from agentco_tui.api.generic import CONVENTIONS, first_request  # noqa: PLC0415

        return first_request(settings.company), settings.key, CONVENTIONS
    from agentco_tui.platforms.platform_file import load_platform  # noqa: PLC0415 (for few profiles)

    file = load_platform(settings.platform, settings.config_path)
    key, conventions = file.sending(settings.key)
    return file.first_request, key, conventions


def launch_replay(settings: Settings, recording: Recording) -> int:
    """Show a recording until the user leaves; returns the exit code. Raises UsageError."""
    if refusal := check_terminal().refusal:
        raise UsageError(refusal)
    settings = _prepare_terminal(settings)
    from agentco_tui.cli.replay_dashboard import run_replay  # noqa: PLC0415 (takes long)

    with log_to_file(settings):
        return run_replay(settings, recording)


def _is_theme_named(settings: Settings) -> bool:
    """Whether the theme does not depend on the terminal's background."""
    # `theme` is what the user chose last, and `theme_over` the theme that the settings named then:
    # if they named none, the choice counts whatever the background is.
    last = read_remembered(state_folder() / REMEMBERED_FILE).get(settings.profile, Remembered())
    is_chosen = last.theme is not None and last.theme_over is None
    return is_chosen or bool(settings.theme) or "TEXTUAL_THEME" in os.environ


def _prepare_terminal(settings: Settings) -> Settings:
    """Set what Textual reads when it is imported; returns the settings for this terminal."""
    # Imported modules are never garbage, so collecting during the imports is a waste of time. The
    # dashboard enables the collector again.
    gc.disable()
    # Sets signs, encoding and colours to what the terminal can show.
    prepare_output(check_terminal())
    if settings.thin:
        # Textual reads the highest frame rate once, when it is imported.
        os.environ.setdefault("TEXTUAL_FPS", THIN_FRAME_RATE)
    return _with_available_colours(settings)


def _with_available_colours(settings: Settings) -> Settings:
    """The settings, with a theme in the terminal's own colours if it has only 16."""
    if check_terminal().colours != 16:
        return settings
    named = settings.theme or os.environ.get("TEXTUAL_THEME")
    return replace(settings, theme=THEMES_FOR_16_COLOURS.get(named, settings.theme))


def _reread(
    profile_arguments: tuple[Arguments, Mapping[str, str]], settings: Settings
) -> tuple[Settings, list[str]]:
    """Read the settings again (`config.resolve.reread`), for the colours of this terminal.

    Returns them with the names of changed settings that take effect at the next start.
    """
    changed, postponed = reread(settings, *profile_arguments)
    return _with_available_colours(changed), postponed


def _free_memory() -> None:
    """Free the memory of the dashboard that has ended."""
    from agentco_tui.textual_patches.memo_caches import (  # noqa: PLC0415 (only after a dashboard)
        forget_what_textual_remembers,
    )

    forget_memoized()
    forget_what_textual_remembers()
    renew_background_thread()
    # The dashboard froze its objects after the start, and frozen objects are never collected.
    gc.unfreeze()
    gc.collect()
