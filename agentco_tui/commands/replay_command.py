"""`agentco-tui replay FILE`: opens the dashboard on a recording of a platform's answers.

A platform is the service that the dashboard watches. `start_recording` begins a recording, for
`--record` and `doctor --bundle`; an `About` at its beginning says what was recorded: the address,
the profile (the user's name for the platform), the company to which all requests were limited, and
the mapping, which says which of the platform's fields means what. `Resolver` finds the settings of
the user and the source of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from agentco_tui import __version__
from agentco_tui.api.credentials import BaseUrl, CredentialError, KeyInUse
from agentco_tui.api.recorder import Alter, Recorder
from agentco_tui.api.recording import Recording
from agentco_tui.api.recording_format import About, RecordingError
from agentco_tui.cli.arguments import UsageError
from agentco_tui.config import Arguments, Settings, SettingsError
from agentco_tui.config.resolve import Resolver
from agentco_tui.config.validators import REFRESH_FROM, REFRESH_TO
from agentco_tui.reading.mapping import ProfileMapping


def start_recording(
    file: str, settings: Settings, key: KeyInUse | None, *, alter: Alter | None = None
) -> Recorder:
    """A recorder that writes the platform's answers to a file, with the settings for a replay.

    `key` is removed from the answers, and `alter` may change them (see `Recorder`). Raises
    UsageError if the file can't be written.
    """
    about = About(
        program=__version__,
        base_url=str(settings.base_url),
        profile=settings.profile,
        company=settings.company,
        refresh=settings.refresh,
        mapping=settings.mapping.declared,
        platform=settings.platform,
    )
    try:
        redact = key.redact if key is not None else str
        return Recorder(Path(file).expanduser(), about, redact, alter=alter)
    except (RecordingError, RuntimeError) as error:
        raise UsageError(str(error)) from None


def run(
    arguments: Arguments, env: Mapping[str, str], dashboard: Callable[[Settings, Recording], int]
) -> int:
    """Open `dashboard` on a recording; returns its exit code.

    No API key and no profile is read. Raises UsageError if the file is no recording.
    """
    try:
        recording = Recording(Path(arguments["file"]).expanduser())
        settings = replay_settings(recording.about, arguments, env)
    except (RecordingError, RuntimeError) as error:
        raise UsageError(str(error)) from None
    return dashboard(settings, recording)


def replay_settings(about: About, arguments: Arguments, env: Mapping[str, str]) -> Settings:
    """The settings of the recording, with the user's key bindings, theme and thresholds.

    Raises SettingsError if the user's settings are wrong, RecordingError if the recording's are.
    """
    # No profile is needed: the recording has the address, and no key is used.
    resolved = Resolver(arguments, env, with_profile=False)
    if resolved.problems:
        raise SettingsError(resolved.problems)
    try:
        base_url = BaseUrl.parse(about.base_url, allow_http=True)
        mapping = ProfileMapping(about.mapping)
    except (CredentialError, ValueError, KeyError):
        raise RecordingError("the recording's description of its platform is invalid") from None
    refresh = min(max(REFRESH_FROM, about.refresh), REFRESH_TO)
    values = {
        **resolved.values,
        "company": about.company,
        "refresh": refresh,
        "mapping": mapping,
        "platform": about.platform,
        "read_only": True,
        "trust_env": False,
        "ca_file": None,
        "sources": {**resolved.values["sources"], "read_only": "a replay"},
    }
    return Settings(base_url=base_url, profile=about.profile, **values)
