"""Needs that a person has put off for a while, by platform: `snoozed.json`.

Several dashboards share the file: whoever writes reads it before, and the others take up what was
written. What can't be written holds for this run.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from agentco_tui.history.period import DAY
from agentco_tui.system.state_folder import read_state, write_state
from agentco_tui.text import SafeText, plain, safe

MOST = 1_000  # snoozes of one platform; the oldest go first
LONGEST_NOTE = 200


class Snooze(msgspec.Struct, frozen=True):
    """One need put off; times in seconds since 1970 by the platform's clock."""

    level: int  # of the need when it was put off: one that is worse returns
    until: float | None = None  # None: until it is worse
    note: str = ""  # what is promised, as it was typed

    def holds(self, level: int, now: float) -> bool:
        return level <= self.level and (self.until is None or now < self.until)

    def told(self, now: float) -> SafeText:
        """When it returns, and what is promised: "back 06:30: ask Ada", "back 24 Nov"."""
        back = "until worse"
        if self.until is not None:
            then = datetime.fromtimestamp(self.until)
            back = f"back {then:%H:%M}" if self.until - now < DAY else f"back {then:%d %b}"
        return plain(f"{back}: {safe(self.note, LONGEST_NOTE)}" if self.note else back)


Kept = dict[str, dict[str, Snooze]]
"""By platform, then by the need's key."""


class Snoozes:
    """Those of one platform. `sync` is for a thread, all else for the event loop."""

    def __init__(self, path: Path | None, platform: str) -> None:
        """`platform` is its one name, as `api.origin.platform_of` gives it. `path` None: only for
        this run.
        """
        self._path, self._platform = path, platform
        self._kept: dict[str, Snooze] = {}
        self._unwritten: dict[str, Snooze | None] = {}  # since the file was last written
        self._stamp = 0  # of the file as it was last read
        self.trouble = ""  # why what was set last could not be written

    @property
    def all(self) -> dict[str, Snooze]:
        """By the needs' keys."""
        return _changed(self._kept, self._unwritten)

    def set(self, keys: Iterable[str], snooze: Snooze | None) -> None:
        """Put needs off, or with None no longer."""
        self._unwritten |= dict.fromkeys(keys, snooze)

    def sync(self) -> bool:
        """Write what is not written, and read what others wrote; whether that changed anything."""
        path, changes, before, stamp = self._path, dict(self._unwritten), self._kept, 0
        if path is None:
            return False
        with suppress(OSError):
            stamp = path.stat().st_mtime_ns
        if changes or stamp != self._stamp:
            kept = of_platforms(read_state(path, Kept) or {})
            ours = _changed(kept.get(self._platform, {}), changes)
            self._stamp, self._kept, self.trouble = stamp, ours, ""
            try:
                if changes:
                    write_state(path, {**kept, self._platform: dict([*ours.items()][-MOST:])})
            except OSError as error:
                self.trouble = f"what is snoozed holds for this run only: {error.strerror or error}"
        for key, change in changes.items():
            if self._unwritten.get(key) is change:
                del self._unwritten[key]
        return self._kept != before


def of_platforms(kept: Kept) -> Kept:
    """The same, with what earlier versions kept by profile and platform ("prod https://…") by
    platform alone. Of a need that several profiles put off, the longer time counts.
    """
    found: Kept = {}
    for key, snoozes in kept.items():
        platform = key.rpartition(" ")[2]
        known = found.setdefault(platform, {})
        for need, snooze in snoozes.items():
            other = known.get(need)
            if other is None or _is_longer(snooze, other):
                known[need] = snooze
    return found


def _is_longer(one: Snooze, other: Snooze) -> bool:
    if one.until is None or other.until is None:
        return one.until is None and other.until is not None
    return one.until > other.until


def _changed(snoozes: dict[str, Snooze], changes: dict[str, Snooze | None]) -> dict[str, Snooze]:
    found = {**snoozes, **changes}
    return {key: snooze for key, snooze in found.items() if snooze is not None}
