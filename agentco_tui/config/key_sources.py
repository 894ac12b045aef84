"""Where the key comes from: the environment, or exactly one of the profile's four sources.

The key goes from its source straight into an `ApiKey`, which masks itself; no text made here holds
it (law 4). Nor does one repeat what stands in the config file, where a key may stand by mistake.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from agentco_tui.api.credentials import ApiKey, CredentialError
from agentco_tui.config.command_output import CommandError, run_for_output
from agentco_tui.config.problems import WrongError

COMMAND_SECONDS = 10.0
KEYRING_SECONDS = 30.0
"""A keyring that is locked asks the person in a window of its own."""
KEYRING_SERVICE = "agentco-tui"
_MAX_FILE = 64 * 1024


def from_text(text: str) -> ApiKey:
    """A key from a text; WrongError, without the text, if it cannot be one."""
    try:
        return ApiKey.parse(text)
    except CredentialError as error:
        raise WrongError(str(error)) from None


def from_command(command: tuple[str, ...], env: Mapping[str, str]) -> ApiKey:
    """What the command prints. Raises WrongError: not found, failed, too slow, or no key in it."""
    try:
        return _printed(run_for_output(command, env, COMMAND_SECONDS))
    except CommandError as failed:
        raise WrongError(f"the command {failed}") from None


def from_command_apart(
    command: tuple[str, ...], env: Mapping[str, str], until: int | None = None
) -> ApiKey:
    """The same without a terminal; ended when the descriptor `until` can be read."""
    try:
        return _printed(run_for_output(command, env, COMMAND_SECONDS, apart=True, until=until))
    except CommandError as failed:
        raise WrongError(f"the command {failed}") from None


def _printed(output: bytes) -> ApiKey:
    try:
        return from_text(output.decode("ascii"))
    except UnicodeDecodeError:
        raise WrongError("what the command printed is no key") from None
    except WrongError as wrong:
        raise WrongError(f"what the command printed cannot be used: {wrong}") from None


def from_variable(name: str, env: Mapping[str, str]) -> ApiKey:
    """What the variable holds. Raises WrongError if it is unset, empty or no key."""
    if not env.get(name, "").strip():
        raise WrongError("the environment variable that it names is not set")
    try:
        return from_text(env[name])
    except WrongError as wrong:
        raise WrongError(f"what the environment variable holds cannot be used: {wrong}") from None


def check_file(path: Path) -> None:
    """Raises WrongError if the key file is missing, is no file, or others can read or change it."""
    _open(path, read=False)


def from_file(path: Path) -> ApiKey:
    """What the file holds. Raises WrongError as `check_file` does, or if there is no key in it."""
    raw = _open(path, read=True)
    try:
        return from_text(raw.decode("ascii"))
    except UnicodeDecodeError:
        raise WrongError(f"{path} holds no key: a key is plain letters, digits and signs") from None
    except WrongError as wrong:
        raise WrongError(f"{path} cannot be used: {wrong}") from None


def _open(path: Path, *, read: bool) -> bytes:
    try:
        # Without NONBLOCK a named pipe would hold the start for ever.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise WrongError("the key file does not exist") from None
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
        raw = os.read(handle, _MAX_FILE + 1) if read else b""
    finally:
        os.close(handle)
    if len(raw) > _MAX_FILE:
        raise WrongError(f"the key file {path} is too large to hold only a key")
    return raw


def from_keyring(profile: str) -> ApiKey:
    """What the system's keyring holds for the profile. Raises WrongError: no keyring, no key.

    Stored by `keyring set agentco-tui PROFILE`.
    """
    try:
        import keyring  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise WrongError(
            "the package keyring is not installed: pip install 'agentco-tui[keyring]'"
        ) from None
    try:
        stored = keyring.get_password(KEYRING_SERVICE, profile)
    except Exception as error:  # each backend raises its own kinds
        raise WrongError(
            f"the system's keyring gave no answer ({type(error).__name__}): is it unlocked?"
        ) from None
    if not stored:
        raise WrongError(
            f"the system's keyring holds no key for it: keyring set {KEYRING_SERVICE} {profile}"
        )
    try:
        return from_text(str(stored))
    except WrongError as wrong:
        raise WrongError(f"the system's keyring holds what cannot be used: {wrong}") from None


_ASK_KEYRING = """\
import sys
from agentco_tui.config.key_sources import from_keyring
from agentco_tui.config.problems import WrongError
try:
    sys.stdout.write(from_keyring(sys.argv[1]).reveal())
except WrongError as wrong:
    sys.exit(str(wrong))
"""


def from_keyring_apart(profile: str, env: Mapping[str, str], until: int | None = None) -> ApiKey:
    """The same from a process of its own, without a terminal that a keyring could ask at.

    It is ended when the descriptor `until` can be read, and after `KEYRING_SECONDS`.
    """
    # Not from the working directory, which anybody's files may lie in, but from where this program
    # has its own modules from.
    command = (sys.executable, "-P", "-c", _ASK_KEYRING, profile)
    found_in = os.pathsep.join(entry for entry in sys.path if entry)
    own = {**env, "PYTHONPATH": found_in}
    try:
        return _printed(run_for_output(command, own, KEYRING_SECONDS, apart=True, until=until))
    except CommandError as failed:
        words = failed.said.splitlines()[-1:] or [f"the system's keyring {failed}"]
        raise WrongError(words[0]) from None
