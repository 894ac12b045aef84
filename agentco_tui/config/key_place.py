"""The place that the key is kept in, and reading it there again once the dashboard runs.

At the start a command may ask for a passphrase at the terminal, and so may a keyring. Later the
terminal belongs to the dashboard: whatever is run then has none, can be ended at any time, and is
never given longer than its limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agentco_tui.api.credentials import ApiKey
from agentco_tui.config import key_sources
from agentco_tui.config.problems import WrongError
from agentco_tui.config.sources import API_KEY

# Tuples: a data class takes several times as long to make, and every start makes these.


class Unread(NamedTuple):
    """The key could not be read."""

    sentence: str
    """Why, and what to do, without a key in it; may quote what a command wrote to stderr."""


class KeyPlace(NamedTuple):
    """The environment, or one of the profile's four sources; holds no key itself."""

    words: str
    """Fit for a sentence: "AGENTCO_API_KEY", "api_key_file of profile prod"."""
    setting: str
    """AGENTCO_API_KEY, api_key_command, api_key_env, api_key_file or keyring."""
    profile: str
    value: Any
    """The setting's value, a path absolute; a key may stand there by mistake."""
    env: Mapping[str, str]

    @property
    def can_change(self) -> bool:
        """Whether another key may stand there while the program runs; not in its environment."""
        return self.setting not in (API_KEY, "api_key_env")

    @property
    def is_file(self) -> bool:
        """Whether looking there costs nothing and disturbs nobody."""
        return self.setting == "api_key_file"

    def __repr__(self) -> str:
        # Neither the value nor the environment: secrets may stand in both.
        return f"KeyPlace({self.words})"

    def read(self) -> ApiKey:
        """The key, while the terminal is still the command's too.

        May take as long as the command, and ask the system's keyring. Raises WrongError.
        """
        match self.setting:
            case "api_key_command":
                return key_sources.from_command(self.value, self.env)
            case "keyring":
                return key_sources.from_keyring(self.profile)
            case _:
                return self._read_at_once()

    def read_again(self, until: int | None = None) -> ApiKey | Unread:
        """The key that stands there now; for a thread, as it may take as long as the command.

        What is run for it has no terminal. It is ended when the descriptor `until` can be read.
        """
        try:
            match self.setting:
                case "api_key_command":
                    return key_sources.from_command_apart(self.value, self.env, until)
                case "keyring":
                    return key_sources.from_keyring_apart(self.profile, self.env, until)
                case _:
                    return self._read_at_once()
        except WrongError as wrong:
            return Unread(str(wrong))

    def _read_at_once(self) -> ApiKey:
        match self.setting:
            case "api_key_file":
                return key_sources.from_file(Path(self.value))
            case "api_key_env":
                return key_sources.from_variable(self.value, self.env)
            case _:
                return key_sources.from_text(self.env[API_KEY])
