"""What the program remembers by itself for each profile: last screen, and sort and filter of each.

Kept in the state folder, never in the config file. Nothing depends on it: a file that can't be read
or written costs the memory and is told in the log, not the dashboard.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec

from agentco_tui.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.state_folder import FILE_MODE, FOLDER_MODE

log = logging.getLogger(__name__)

LONGEST_FILTER = 200
MOST_PROFILES = 50


class ListMemory(msgspec.Struct, frozen=True):
    """How a list was left."""

    sort: str | None = None
    descending: bool = False
    filter: str = ""


class Remembered(msgspec.Struct, frozen=True):
    """How a profile's dashboard was left."""

    screen: str | None = None
    lists: dict[str, ListMemory] = {}


class Memory:
    """Reads and writes `remembered.json` in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def recall(self, profile: str) -> Remembered:
        """How the profile was left; nothing if it wasn't, or can't be read."""
        return self._read().get(profile, Remembered())

    def keep(self, profile: str, remembered: Remembered) -> None:
        """Write how the profile is left; other profiles stay as they are.

        Says in the log if it can't be written.
        """
        known = {**self._read(), profile: remembered}
        while len(known) > MOST_PROFILES:
            known.pop(next(iter(known)))
        try:
            self.path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            with atomic_write(self.path, replace=True, mode=FILE_MODE) as file:
                file.write(msgspec.json.format(msgspec.json.encode(known), indent=1))
        except (OSError, AtomicWriteError) as error:
            log.warning("what was shown last can't be remembered: %s", error)

    def _read(self) -> Mapping[str, Remembered]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, Remembered])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("what was shown last can't be recalled: %s", type(error).__name__)
            return {}
