"""Where settings come from besides the file: the environment's names, and the file's place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from agentco_tui.config.settings import Flags

BASE_URL = "AGENTCO_BASE_URL"
API_KEY = "AGENTCO_API_KEY"
PROFILE = "AGENTCO_PROFILE"
CONFIG = "AGENTCO_CONFIG"
READ_ONLY = "AGENTCO_READ_ONLY"
"""The environment variables the settings come from; one that is empty counts as not set."""


def default_config_path() -> Path:
    """The config file in the platform's config folder; it need not exist."""
    return platformdirs.user_config_path("agentco-tui", appauthor=False) / "config.toml"


def config_path(flags: Flags, env: Mapping[str, str]) -> tuple[Path, str]:
    """(the config file, what named it: "--config", "AGENTCO_CONFIG" or "default")."""
    for text, source in ((flags.config, "--config"), (env.get(CONFIG), CONFIG)):
        if text and text.strip():
            try:
                return Path(text).expanduser().absolute(), source
            except RuntimeError:
                return Path(text).absolute(), source
    return default_config_path(), "default"
