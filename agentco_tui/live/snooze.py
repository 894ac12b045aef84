"""Needs that a person has put off for a while, by profile and platform: `snoozed.json`.

Several dashboards share the file: whoever writes reads it before, under a lock, and the others take
up what was written. What can't be written holds for this run.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from agentco_tui.state_folder import FILE_MODE, FOLDER_MODE, read_state, write_state
from agentco_tui.text import SafeText, plain, safe

MOST = 200  # snoozes of one platform; the oldest go first
MOST_PLATFORMS = 50
LONGEST_NOTE = 200
DAY = 86_400.0


class Snooze(msgspec.Struct, frozen=True):
    """One need put off; times in seconds since 1970 by the platform's clock."""

    made: float
    level: int  # of the need when it was put off: one that is worse returns
    until: float | None = None  # None: until it is worse
    note: str = ""  # what is promised, as it was typed

    def holds(self, level: int, now: float) -> bool:
        return level <= self.level and (self.until is None or now < self.until)

    @property
    def said(self) -> SafeText:
        return safe(self.note, LONGEST_NOTE)

    def back(self, now: float) -> SafeText:
        """When it returns: "back 06:30", "back 24 Nov", "until worse"."""
        if self.until is None:
            return plain("until worse")
        then = datetime.fromtimestamp(self.until)
        return plain(f"back {then:%H:%M}" if self.until - now < DAY else f"back {then:%d %b}")


def next_time(clock: str, now: float) -> float | None:
    """When the local clock shows "08:00" next, seconds since 1970; None if that is no such time."""
    try:
        wanted = datetime.strptime(clock, "%H:%M").time()
        today = datetime.fromtimestamp(now)
        at = datetime.combine(today.date(), wanted)
        return (at if at > today else at + timedelta(days=1)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


Kept = dict[str, dict[str, Snooze]]
"""By platform, then by the need's key."""


class Snoozes:
    """Those of one platform. `sync` is for a thread, all else for the event loop."""

    def __init__(self, path: Path | None, platform: str) -> None:
        """`path` None: only for this run."""
        self._path, self._platform = path, platform
        self._kept: dict[str, Snooze] = {}
        self._unwritten: dict[str, Snooze | None] = {}  # since the file was last written
        self._stamp = 0  # of the file as it was last read
        self.trouble: SafeText | None = None  # why the file could not be written

    @property
    def all(self) -> dict[str, Snooze]:
        """By the needs' keys."""
        found = {**self._kept, **self._unwritten}
        return {key: snooze for key, snooze in found.items() if snooze is not None}

    def set(self, keys: Iterable[str], snooze: Snooze | None) -> None:
        """Put needs off, or with None no longer."""
        self._unwritten |= dict.fromkeys(keys, snooze)

    def sync(self, now: float) -> bool:
        """Write what is not written, and read what others wrote; whether that changed anything."""
        if self._path is None:
            return False
        changes, before = dict(self._unwritten), self._kept
        try:
            if changes:
                self._kept = self._write(self._path, changes, now)
            elif self._stamp != (stamp := _stamp(self._path)):
                self._stamp = stamp
                self._kept = (read_state(self._path, Kept) or {}).get(self._platform, {})
        except BlockingIOError:  # another dashboard writes: the next time
            return False
        except OSError as error:
            why = safe(error.strerror or str(error), 200)
            self.trouble = plain(f"what is snoozed holds for this run only: {why}")
            return False
        self.trouble = None
        for key, change in changes.items():
            if self._unwritten.get(key) is change:
                del self._unwritten[key]
        return self._kept != before

    def _write(
        self, path: Path, changes: Mapping[str, Snooze | None], now: float
    ) -> dict[str, Snooze]:
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, FILE_MODE)
        with os.fdopen(handle) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            kept = read_state(path, Kept) or {}
            ours = {**kept.pop(self._platform, {}), **changes}
            lasting = [
                (key, snooze)
                for key, snooze in ours.items()
                if snooze is not None and (snooze.until is None or now < snooze.until)
            ]
            lasting.sort(key=lambda each: each[1].made)
            kept[self._platform] = dict(lasting[-MOST:])
            write_state(path, dict([*kept.items()][-MOST_PLATFORMS:]))
            return kept[self._platform]


def _stamp(path: Path) -> int:
    """When a file was last changed; 0 if there is none."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
