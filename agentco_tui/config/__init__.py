"""The settings. `settings` declares them, `file` reads the config file, and `resolve` finds the
effective value of each in flags, environment variables, config file and defaults.

A *profile* is a named table of the config file. It describes one *platform*, that is, one remote
service whose companies of AI agents the dashboard shows: its address, its API key, and so on. An
`OwnCommand` is a program of the user, bound to a key; `AlertLimits` are the shares of a budget and
the times of waiting from which something is a warning or critical. `NothingSetError` says that no
platform is configured, as at the first start.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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
from agentco_tui.text import SafeText, clean_line, mark_safe

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import Recognised

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
    "how_to_choose",
    "off_by",
    "platform_line",
]

Arguments = Mapping[str, Any]
"""The arguments of the command line by name; a flag that was not given is absent.

`resolve.of_profile` adds two: `first` is the profile that the program started with, and `is_other`
says that the arguments are for another one.
"""


class Switch(msgspec.Struct, frozen=True):
    """Says which dashboard is opened after the present one."""

    profile: str
    """The profile of the next dashboard; empty for the overview of all profiles."""
    need: str | None = None
    """The id of the "needs you" list's item on which the next dashboard puts the cursor."""
    failure: SafeText | None = None
    """Why `profile` could not be used; then the previous dashboard is opened again."""


def platform_line(name: str) -> str:
    """The line of a profile that chooses a platform's file by its name."""
    return f"platform = {msgspec.json.encode(name).decode()}"


def how_to_choose(found: Recognised) -> SafeText:
    """A sentence for a user whose settings name no platform, but whose address is a known one's."""
    key = "" if found.needs_key else ", which needs no key"
    line = platform_line(found.name)
    flag = f"--platform {shlex.quote(found.name)}"
    words = f"this is {found.title}{key}: put {line} into the profile, or start with {flag}"
    return clean_line(f"{words}; `agentco-tui login` writes a profile", 300)


def off_by(settings: Settings) -> SafeText | None:
    """The sentence that says which setting forbids to change anything on the platform; or None."""
    if not settings.read_only:
        return None
    source = settings.sources.get("read_only", "--read-only").partition(",")[0]
    return mark_safe(f"writing is off ({clean_line(source, 40)})")
