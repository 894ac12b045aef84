"""`agentco-tui replay FILE`: the dashboard on a recording, and how one is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from agentco_tui import __version__
from agentco_tui.api.credentials import BaseUrl, CredentialError, KeyInUse
from agentco_tui.api.recorder import Alter, Recorder
from agentco_tui.api.recording import Recording
from agentco_tui.api.recording_format import About, RecordingError
from agentco_tui.cli.arguments import UsageError
from agentco_tui.config import Given, Settings, SettingsError
from agentco_tui.config.resolve import Resolver
from agentco_tui.config.validators import REFRESH_FROM, REFRESH_TO
from agentco_tui.reading.mapping import ProfileMapping


def start_recording(
    file: str, settings: Settings, key: KeyInUse | None, *, alter: Alter | None = None
) -> Recorder:
    """A recorder that writes the answers to a file, with the settings a replay needs.

    `key` is removed from them, and `alter` is as of `Recorder`. Raises UsageError if the file
    can't be written.
    """
    about = About(
        program=__version__,
        base_url=str(settings.base_url),
        profile=settings.profile,
        company=settings.company,
        refresh=settings.refresh,
        mapping=settings.mapping.told,
    )
    try:
        redact = key.redact if key is not None else str
        return Recorder(Path(file).expanduser(), about, redact, alter=alter)
    except (RecordingError, RuntimeError) as error:
        raise UsageError(str(error)) from None


def run(
    given: Given, env: Mapping[str, str], dashboard: Callable[[Settings, Recording], int]
) -> int:
    """Show a recording; the exit code. It reads no API key and no profile."""
    try:
        recording = Recording(Path(given["file"]).expanduser())
        settings = settings_for(recording.about, given, env)
    except (RecordingError, RuntimeError) as error:
        raise UsageError(str(error)) from None
    return dashboard(settings, recording)


def settings_for(about: About, given: Given, env: Mapping[str, str]) -> Settings:
    """The settings of the recording, with the user's keys, theme and thresholds.

    Raises SettingsError for the user's settings, RecordingError for those of the recording.
    """
    resolved = Resolver(given, env, with_profile=False)
    if resolved.problems:
        raise SettingsError(resolved.problems)
    try:
        base_url = BaseUrl.parse(about.base_url, allow_http=True)
        mapping = ProfileMapping(about.mapping)
    except (CredentialError, ValueError, KeyError):
        raise RecordingError("what the recording is of can't be read") from None
    refresh = min(max(REFRESH_FROM, about.refresh), REFRESH_TO)
    values = {
        **resolved.values,
        "company": about.company,
        "refresh": refresh,
        "mapping": mapping,
        "read_only": True,
        "trust_env": False,
        "ca_file": None,
        "sources": {**resolved.values["sources"], "read_only": "a replay"},
    }
    return Settings(base_url=base_url, profile=about.profile, **values)
