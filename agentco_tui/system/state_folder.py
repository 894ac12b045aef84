"""The folder in which the program stores its own files, and how each profile's dashboard was left.

Only the owner can read them; nothing is ever written into the config file. A profile is the user's
configuration of one platform, that is, of one remote service that the dashboard shows. `Remembered`
is the screen, sort order and filter with which a profile's dashboard was left. Nothing depends on
it: if its file can't be read or written, that is logged, and the dashboard starts with its
defaults.
"""

from __future__ import annotations

import logging
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec
from platformdirs import user_state_path

from agentco_tui.system.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.text import SafeText, clean_line

log = logging.getLogger(__name__)

T = TypeVar("T")

FOLDER_MODE = 0o700
FILE_MODE = 0o600
# Names of the files in the folder.
REMEMBERED_FILE = "remembered.json"  # how each profile's dashboard was left
HISTORY_FILE = "history.sqlite3"  # samples of what was polled from the platforms
SNOOZED_FILE = "snoozed.json"  # items of the "needs you" list that the user has put off
NOTIFIED_FILE = "notified.json"  # what the user was notified of already
JOURNAL_FILE = "journal.jsonl"  # the changes that were sent to the platforms
LONGEST_FILTER = 200
"""Characters of a filter that is remembered."""
MOST_PROFILES = 50
"""How many profiles are remembered."""


def state_folder() -> Path:
    """The operating system's state folder for this program (platformdirs); it need not exist."""
    return user_state_path("agentco-tui", appauthor=False)


def create_state_folder() -> Path:
    """The state folder, which is created if it does not exist. Raises OSError."""
    folder = state_folder()
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(FOLDER_MODE)
    return folder


def why_not_writable(folder: Path) -> SafeText | None:
    """The reason why files cannot be written into a folder; None if they can.

    The folder is created if it does not exist.
    """
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            # As much as a line of the journal takes: a full disk fails only then.
            file.write(b"\n" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return clean_line(error.strerror or type(error).__name__, 120)
    return None


class ListMemory(msgspec.Struct, frozen=True):
    """How a list of the dashboard was left."""

    sort: str | None = None
    descending: bool = False
    filter: str = ""
    filtered_at: float | None = None
    """When it was filtered so, in seconds since 1970 by the platform's clock."""
    columns: tuple[str, ...] = ()  # those that the user chose


class Remembered(msgspec.Struct, frozen=True):
    """How a profile's dashboard was left."""

    screen: str | None = None
    lists: dict[str, ListMemory] = {}
    left_at: float | None = None  # in seconds since 1970 by the platform's clock
    theme: str | None = None  # the one that the user chose last
    theme_over: str | None = None
    """The theme that the settings named then; `theme` counts until they name another."""


def read_state(path: Path, kind: type[T]) -> T | None:
    """The value of type `kind` in a file; None if it is missing, or damaged, which is logged."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        log.warning("%s can't be recalled: %s", path.name, type(error).__name__)
        return None


def write_private(path: Path, content: bytes, *, replace: bool = True) -> None:
    """Write a file that only its owner can read, and its folder. Raises AtomicWriteError."""
    with suppress(OSError):  # reported below, as a folder that does not exist
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    with atomic_write(path, replace=replace, mode=FILE_MODE) as file:
        file.write(content)


def write_state(path: Path, value: object) -> None:
    """Write a value as JSON into a file that only the owner can read. Raises OSError."""
    try:
        write_private(path, msgspec.json.format(msgspec.json.encode(value), indent=1))
    except AtomicWriteError as error:
        raise OSError(str(error)) from error


def read_remembered(path: Path) -> dict[str, Remembered]:
    """How each profile was left, by its name; empty if the file can't be read."""
    return read_state(path, dict[str, Remembered]) or {}


def remember(path: Path, profile: str, remembered: Remembered) -> None:
    """Store how a profile's dashboard was left; other profiles stay unchanged.

    The profiles are stored in the order in which they were left. Beyond `MOST_PROFILES`, the one
    that was left the longest time ago is dropped.
    """
    profiles = read_remembered(path)
    profiles.pop(profile, None)  # so that it is added at the end
    profiles[profile] = remembered
    while len(profiles) > MOST_PROFILES:
        profiles.pop(next(iter(profiles)))
    try:
        write_state(path, profiles)
    except OSError as error:
        log.warning("what was shown last can't be remembered: %s", error)
