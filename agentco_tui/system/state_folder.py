"""Where the program keeps what it remembers by itself, and how each profile was left.

Only the owner can read it, and nothing is ever kept in the config file. Nothing depends on how a
profile was left: a file that can't be read or written costs the memory and is told in the log, not
the dashboard.
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
from agentco_tui.text import SafeText, safe

log = logging.getLogger(__name__)

T = TypeVar("T")

FOLDER_MODE = 0o700
FILE_MODE = 0o600
REMEMBERED_FILE = "remembered.json"
HISTORY_FILE = "history.sqlite3"
SNOOZED_FILE = "snoozed.json"
NOTIFIED_FILE = "notified.json"
JOURNAL_FILE = "journal.jsonl"
LONGEST_FILTER = 200
MOST_PROFILES = 50


def state_folder() -> Path:
    """The platform's state folder for this program (platformdirs); it need not exist."""
    return user_state_path("agentco-tui", appauthor=False)


def made_state_folder() -> Path:
    """The state folder, made if it isn't there. Raises OSError if it can't be."""
    folder = state_folder()
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(FOLDER_MODE)
    return folder


def why_not_writable(folder: Path) -> SafeText | None:
    """Why nothing can be kept in a folder, made if it isn't there, or None if it can be."""
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            # As much as a line of the journal takes: a full disk says so only then.
            file.write(b"\n" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return safe(error.strerror or type(error).__name__, 120)
    return None


class ListMemory(msgspec.Struct, frozen=True):
    """How a list was left."""

    sort: str | None = None
    descending: bool = False
    filter: str = ""
    filtered_at: float | None = None
    """When it was filtered so, in seconds since 1970 by the platform's clock."""
    columns: tuple[str, ...] = ()  # those that a person chose


class Remembered(msgspec.Struct, frozen=True):
    """How a profile's dashboard was left."""

    screen: str | None = None
    lists: dict[str, ListMemory] = {}
    left_at: float | None = None  # in seconds since 1970 by the platform's clock
    theme: str | None = None  # that was chosen last
    theme_over: str | None = None  # which one the settings named then: it counts while they do


def read_state(path: Path, kind: type[T]) -> T | None:
    """What a file of ours keeps; None if it isn't there, or makes no sense, which is logged."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        log.warning("%s can't be recalled: %s", path.name, type(error).__name__)
        return None


def write_private(path: Path, content: bytes, *, replace: bool = True) -> None:
    """Write what only the owner can read, and its folder. Raises AtomicWriteError."""
    with suppress(OSError):  # told below, as a folder that isn't there
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    with atomic_write(path, replace=replace, mode=FILE_MODE) as file:
        file.write(content)


def write_state(path: Path, value: object) -> None:
    """Keep it in a file of ours. Raises OSError."""
    try:
        write_private(path, msgspec.json.format(msgspec.json.encode(value), indent=1))
    except AtomicWriteError as error:
        raise OSError(str(error)) from error


def recall(path: Path) -> dict[str, Remembered]:
    """How each profile was left, by its name; nothing if that can't be read."""
    return read_state(path, dict[str, Remembered]) or {}


def remember(path: Path, profile: str, remembered: Remembered) -> None:
    """Write how a profile is left; other profiles stay as they are.

    The profiles are kept in the order in which they were left. The one that was left the longest
    time ago gives way to one too many.
    """
    known = recall(path)
    known.pop(profile, None)  # assigned to its old place it would be the first to give way
    known[profile] = remembered
    while len(known) > MOST_PROFILES:
        known.pop(next(iter(known)))
    try:
        write_state(path, known)
    except OSError as error:
        log.warning("what was shown last can't be remembered: %s", error)
