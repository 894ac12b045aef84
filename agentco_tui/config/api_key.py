"""Where the key comes from: the environment, or exactly one of the profile's four sources.

The key goes from its source straight into an `ApiKey`, which masks itself; no text made here holds
it, nor what stands in the config file, where a key may stand by mistake.

At the start a command may ask for a passphrase at the terminal, and so may a keyring. Later the
terminal belongs to the dashboard: whatever is run then (`apart`) has none, can be ended at any
time, and is never given longer than its limit.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from agentco_tui.api.credentials import ApiKey, CredentialError
from agentco_tui.child_process import MAX_BYTES, CommandError, run_for_output
from agentco_tui.config.validators import WrongError

API_KEY = "AGENTCO_API_KEY"
COMMAND_SECONDS = 10.0
KEYRING_SECONDS = 30.0
"""A keyring that is locked asks the person in a window of its own."""


class KeyPlace(NamedTuple):
    """The environment, or one of the profile's four sources; holds no key itself."""

    setting: str
    """AGENTCO_API_KEY, api_key_command, api_key_env, api_key_file or keyring."""
    profile: str
    value: Any
    """The setting's value, a path absolute; a key may stand there by mistake."""
    env: Mapping[str, str]

    @property
    def words(self) -> str:
        """Fit for a sentence: "AGENTCO_API_KEY", "api_key_file of profile prod"."""
        return API_KEY if self.setting == API_KEY else f"{self.setting} of profile {self.profile}"

    @property
    def can_change(self) -> bool:
        """Whether another key may stand there while the program runs; not in its environment."""
        return self.setting not in (API_KEY, "api_key_env")

    @property
    def is_file(self) -> bool:
        """Whether looking there costs nothing and disturbs nobody."""
        return self.setting == "api_key_file"

    def __eq__(self, other: object) -> bool:
        """Whether the key is looked for at the same place, whatever else the environments hold.

        A running program changes its own environment; that is no change of the settings.
        """
        if not isinstance(other, KeyPlace):
            return NotImplemented
        own = (self.setting, self.profile, self.value)
        return own == (other.setting, other.profile, other.value)

    def __ne__(self, other: object) -> bool:
        return not self == other  # a tuple's own would compare the environments

    def __hash__(self) -> int:
        return hash((self.setting, self.profile, str(self.value)))

    def __repr__(self) -> str:
        # Neither the value nor the environment: secrets may stand in both.
        return f"KeyPlace({self.words})"

    def in_file(self) -> ApiKey | None:
        """The key that stands in its file now; None where there is none, or it can't be read."""
        with suppress(WrongError):
            return self.read() if self.is_file else None
        return None

    def read(self, *, apart: bool = False, until: int | None = None) -> ApiKey:
        """The key that stands there now; may take as long as the command or the keyring.

        `apart`: what is run for it has no terminal, and is ended when the descriptor `until` can be
        read. Raises WrongError without the key, but with what a command wrote to stderr.
        """
        login = f"agentco-tui login --profile {shlex.quote(self.profile)}"
        match self.setting:
            case "api_key_file":
                return from_file(Path(self.value), login)
            case "api_key_env":
                if not self.env.get(self.value, "").strip():
                    raise WrongError("the environment variable that it names is not set")
                return _parsed(self.env[self.value], "what the environment variable holds")
            case "api_key_command":
                run = partial(run_for_output, self.value, self.env, COMMAND_SECONDS)
            case "keyring":
                run = partial(run_keyring, "get", self.profile, self.env)
            case _:
                return _parsed(self.env[API_KEY])
        what = "the command printed" if self.setting == "api_key_command" else "the keyring holds"
        try:
            return _parsed(run(apart=apart, until=until).decode("ascii"), f"what {what}")
        except CommandError as failed:
            if self.setting == "api_key_command":
                raise WrongError(f"the command {failed}") from None
            why = "gave no answer: is it unlocked?" if failed.said else str(failed)
            if failed.said == "":
                why = f"holds no key for it: {login}"
            raise WrongError(f"the system's keyring {why}") from None
        except UnicodeDecodeError:
            raise WrongError(f"what {what} is no key") from None


def _parsed(text: str, what: str = "") -> ApiKey:
    try:
        return ApiKey.parse(text)
    except CredentialError as error:
        raise WrongError(f"{what} cannot be used: {error}" if what else str(error)) from None


def run_keyring(action: str, profile: str, env: Mapping[str, str], **how: Any) -> bytes:
    """Have the keyring `get`, `set` or `del` a profile's key. Raises CommandError, WrongError."""
    if find_spec("keyring") is None:
        raise WrongError("the package keyring is not installed: pip install 'agentco-tui[keyring]'")
    # In a process of its own it can be ended, and kept from a terminal it could ask at.
    # Not from the working directory, which anybody's files may lie in, but from where
    # this program has its own modules from.
    command = (sys.executable, "-P", "-m", "keyring", action, "agentco-tui", profile)
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return run_for_output(command, {**env, "PYTHONPATH": path}, KEYRING_SECONDS, **how)


def from_file(path: Path, login: str = "agentco-tui login") -> ApiKey:
    """What the file holds; WrongError also where others can read or change it."""
    try:
        # Without NONBLOCK a named pipe would hold the start for ever.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise WrongError(f"the key file does not exist: {login}") from None
    except OSError as error:
        raise WrongError(f"the key file cannot be read: {error.strerror}") from None
    try:
        # The open file is looked at, not its name, which could change in between.
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise WrongError(f"the key file {path} is no ordinary file")
        if found.st_mode & 0o066:
            raise WrongError(
                f"others can read or change the key file: chmod 600 {shlex.quote(str(path))}"
            )
        raw = os.read(handle, MAX_BYTES + 1)
    finally:
        os.close(handle)
    if len(raw) > MAX_BYTES:
        raise WrongError(f"the key file {path} is too large to hold only a key")
    try:
        return _parsed(raw.decode("ascii"), str(path))
    except UnicodeDecodeError:
        raise WrongError(f"{path} holds no key: a key is plain letters, digits and signs") from None
