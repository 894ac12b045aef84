"""Reads the platform's API key from the environment, or from the source that the profile names.

The platform is the remote service that the dashboard watches; a profile is a named table of the
config file that describes one platform. The sources are a command, an environment variable, a file,
and the system's keyring. A key is put into an `ApiKey` at once, which masks itself. No message made
here contains a key, or the value of a setting, because a key may have been written into the config
file by mistake.

At the start, a command or the keyring may ask the user for a passphrase at the terminal. While a
dashboard runs, the terminal is its own: then the key is read `apart`, by a process without a
terminal that can be ended at any time.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from agentco_tui.api.credentials import ApiKey, CredentialError
from agentco_tui.config.validators import WrongError
from agentco_tui.system.child_process import MAX_BYTES, CommandError, run_for_output

API_KEY: Final = "AGENTCO_API_KEY"
"""The environment variable that holds the key."""
NO_KEY: Final = "no key"
"""The setting of a location where there is none, for a platform that may need no key."""
COMMAND_SECONDS: Final = 10.0
"""Time limit of `api_key_command`."""
KEYRING_SECONDS: Final = 30.0
"""Time limit of the keyring; longer, because a locked one asks the user in a window."""
_READABLE_OR_WRITABLE_BY_OTHERS: Final = 0o066


@dataclass(frozen=True)
class KeyLocation:
    """Where the key can be read: the environment, or a source of the profile. Contains no key."""

    setting: str
    """AGENTCO_API_KEY, api_key_command, api_key_env, api_key_file or keyring; or `NO_KEY`."""
    profile: str
    value: Any = field(repr=False)
    """The setting's value (an absolute path for a file); not shown, as it may be a key by mistake.
    Of `NO_KEY`: whether the file has the profile.
    """
    env: Mapping[str, str] = field(repr=False, compare=False)
    """The environment to read. It may contain secrets. It is not compared, because the program
    itself changes its environment, which is not a change of the settings."""

    @property
    def description(self) -> str:
        """The location in a sentence: "AGENTCO_API_KEY", "api_key_file of profile prod"."""
        if self.setting == NO_KEY:
            is_in_file = bool(self.value)
            if is_in_file:
                return f"profile {self.profile}, which has no key"
            return f"{API_KEY}, which is not set"
        return API_KEY if self.setting == API_KEY else f"{self.setting} of profile {self.profile}"

    @property
    def can_change(self) -> bool:
        """Whether the user can replace the key while the program runs; not in the environment."""
        return self.setting not in (API_KEY, NO_KEY, "api_key_env")

    @property
    def is_file(self) -> bool:
        """Whether reading the key costs nothing and asks the user nothing."""
        return self.setting == "api_key_file"

    def read(self, *, apart: bool = False, until: int | None = None) -> ApiKey:
        """Read the key; blocks as long as the command or the keyring takes.

        With `apart`, the process that reads it has no terminal, and is ended when the file
        descriptor `until` becomes readable. Raises WrongError, which may quote stderr of a command,
        but never a key.
        """
        match self.setting:
            case "api_key_file":
                return from_file(Path(self.value), self._login_command)
            case "api_key_env":
                return self._from_variable()
            case "api_key_command":
                return self._from_command(apart=apart, until=until)
            case "keyring":
                return self._from_keyring(apart=apart, until=until)
            case "no key":
                raise WrongError(f"profile {self.profile} has no key")
            case _:
                return _parse(self.env[API_KEY])

    @property
    def _login_command(self) -> str:
        return f"agentco-tui login --profile {shlex.quote(self.profile)}"

    def _from_variable(self) -> ApiKey:
        text = self.env.get(self.value, "")
        if not text.strip():
            raise WrongError("the environment variable that it names is not set")
        return _parse(text, "what the environment variable holds")

    def _from_command(self, **options: Any) -> ApiKey:
        try:
            output = run_for_output(self.value, self.env, COMMAND_SECONDS, **options)
        except CommandError as error:
            raise WrongError(f"the command {error}") from None
        return _parse_output(output, "what the command printed")

    def _from_keyring(self, **options: Any) -> ApiKey:
        try:
            output = run_keyring("get", self.profile, self.env, **options)
        except CommandError as error:
            # `said` is what the command wrote to stderr; None if it had to be ended.
            if error.said == "":
                reason = f"holds no key for it: {self._login_command}"
            elif error.said:
                reason = "gave no answer: is it unlocked?"
            else:
                reason = str(error)
            raise WrongError(f"the system's keyring {reason}") from None
        return _parse_output(output, "what the keyring holds")


def _parse_output(output: bytes, source: str) -> ApiKey:
    try:
        return _parse(output.decode("ascii"), source)
    except UnicodeDecodeError:
        raise WrongError(f"{source} is not a key") from None


def _parse(text: str, source: str = "") -> ApiKey:
    """Convert a text to a key. Raises WrongError, whose message begins with `source`, if given."""
    try:
        return ApiKey.parse(text)
    except CredentialError as error:
        message = f"{source} cannot be used: {error}" if source else str(error)
        raise WrongError(message) from None


def run_keyring(action: str, profile: str, env: Mapping[str, str], **options: Any) -> bytes:
    """Run `get`, `set` or `del` of the system's keyring for a profile's key; returns its output.

    `options` are those of `run_for_output`. Raises CommandError; WrongError if the package keyring
    is missing.
    """
    if find_spec("keyring") is None:
        raise WrongError("the package keyring is not installed: pip install 'agentco-tui[keyring]'")
    # A separate process can be ended, and kept from asking at the terminal. It imports modules from
    # the same places as this program, and not from the working directory (-P), where others may
    # have put files.
    command = (sys.executable, "-P", "-m", "keyring", action, "agentco-tui", profile)
    python_path = os.pathsep.join(entry for entry in sys.path if entry)
    return run_for_output(command, {**env, "PYTHONPATH": python_path}, KEYRING_SECONDS, **options)


def from_file(path: Path, login: str = "agentco-tui login") -> ApiKey:
    """Read the key from a file; `login` is the command that the message for a missing one names.

    Raises WrongError, also if other users can read or change the file.
    """
    try:
        # Without NONBLOCK, opening a named pipe would never return.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise WrongError(f"the key file does not exist: {login}") from None
    except OSError as error:
        raise WrongError(f"the key file cannot be read: {error.strerror}") from None
    try:
        # The open file is checked, because its name could belong to another file by now.
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise WrongError(f"the key file {path} is not a regular file")
        if status.st_mode & _READABLE_OR_WRITABLE_BY_OTHERS:
            raise WrongError(
                f"others can read or change the key file: chmod 600 {shlex.quote(str(path))}"
            )
        raw = os.read(descriptor, MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(raw) > MAX_BYTES:
        raise WrongError(f"the key file {path} is too large to hold only a key")
    try:
        return _parse(raw.decode("ascii"), str(path))
    except UnicodeDecodeError:
        raise WrongError(
            f"{path} holds no key: a key is letters, digits and signs of ASCII"
        ) from None
