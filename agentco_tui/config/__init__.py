"""The settings: declared in `settings`, and found in flags, environment and file by `resolve`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from agentco_tui.config.problems import NothingSetError, Problem, SettingsError
from agentco_tui.config.settings import (
    DEFAULT_PROFILE,
    AlertLimits,
    Notify,
    OwnCommand,
    Settings,
    ViewSettings,
)
from agentco_tui.text import SafeText, plain, safe

__all__ = [
    "DEFAULT_PROFILE",
    "AlertLimits",
    "Arguments",
    "NothingSetError",
    "Notify",
    "OwnCommand",
    "Problem",
    "Settings",
    "SettingsError",
    "Switch",
    "ViewSettings",
    "off_by",
]

Arguments = Mapping[str, Any]
"""The command line's arguments by name; a flag that was not given is absent.

`resolve.of_profile` adds `first`, the profile of the start, and `is_other`: whether the arguments
are for another one.
"""


class Switch(msgspec.Struct, frozen=True):
    """Which dashboard replaces the one that ends."""

    profile: str
    """The profile of the next dashboard; empty: the overview of all profiles."""
    need: str | None = None
    """The need to put the cursor on, on the Overview."""
    failure: SafeText | None = None
    """Why `profile` could not be used, so that the dashboard before is opened again."""


def off_by(settings: Settings) -> SafeText | None:
    """The sentence that says what turned writing off; None where it is on."""
    if not settings.read_only:
        return None
    source = settings.sources.get("read_only", "--read-only").partition(",")[0]
    return plain(f"writing is off ({safe(source, 40)})")
