"""Files, environment and flags to one `Settings`. Knows no screen; the file is never written."""

from agentco_tui.config.resolve import load, load_for_demo
from agentco_tui.config.settings import (
    AlertLimits,
    Flags,
    NothingSetError,
    Problem,
    Settings,
    SettingsError,
)

__all__ = [
    "AlertLimits",
    "Flags",
    "NothingSetError",
    "Problem",
    "Settings",
    "SettingsError",
    "load",
    "load_for_demo",
]
