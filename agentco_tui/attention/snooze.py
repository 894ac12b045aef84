"""Snoozes: needs that the user has put off for a while, stored in `snoozed.json`.

They are stored by platform, that is, by the remote service that the needs are about; a profile is
the user's name for one, with its settings and key.

A need is one item of the "needs you" list (what the user should look at); it has a key that stays
the same ("task:t1") and a level of severity. A snoozed need is shown at the end of the list, until
the time it was put off to, or until its level rises. Several dashboards share the file: each reads
it before it writes, and takes up what others wrote. A snooze that can't be written holds until this
program ends. `SafeText` is text without control characters; `mark_safe` declares a text to be such.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from agentco_tui.model.period import DAY
from agentco_tui.system.state_folder import read_state, write_state
from agentco_tui.text import SafeText, clean_line, mark_safe

MOST = 1_000  # snoozes of one platform; the oldest are dropped first
LONGEST_NOTE = 200  # cells


class Snooze(msgspec.Struct, frozen=True):
    """One need that is put off. Times are seconds since 1970 by the platform's clock."""

    level: int  # `Level` of the need when it was put off; at a higher level it returns
    until: float | None = None  # None: until the level is higher
    note: str = ""  # as the user typed it

    def holds(self, level: int, now: float) -> bool:
        """Whether a need of this level is still put off."""
        return level <= self.level and (self.until is None or now < self.until)

    def return_words(self, now: float) -> SafeText:
        """When the need returns, and the note: "back 06:30: ask Ada", "back 24 Nov"."""
        back = "until worse"
        if self.until is not None:
            then = datetime.fromtimestamp(self.until)
            is_within_a_day = self.until - now < DAY
            back = f"back {then:%H:%M}" if is_within_a_day else f"back {then:%d %b}"
        if self.note:
            back = f"{back}: {clean_line(self.note, LONGEST_NOTE)}"
        return mark_safe(back)


SnoozesByPlatform = dict[str, dict[str, Snooze]]
"""Snoozes by platform, then by the key of the need."""


class Snoozes:
    """The snoozes of one platform. `sync` is called in a thread, the rest on the event loop."""

    def __init__(self, path: Path | None, platform: str) -> None:
        """`platform` is its name as `api.origin.platform_of` returns it.

        Without a `path` nothing is stored.
        """
        self._path = path
        self._platform = platform
        self._kept: dict[str, Snooze] = {}
        self._unwritten: dict[str, Snooze | None] = {}  # since the file was last written
        self._stamp = 0  # of the file as it was last read
        self.trouble = ""  # why the last snooze could not be written

    @property
    def all(self) -> dict[str, Snooze]:
        """All snoozes by the keys of their needs."""
        return _with_changes(self._kept, self._unwritten)

    def set(self, keys: Iterable[str], snooze: Snooze | None) -> None:
        """Put needs off, or end their snoozes with None."""
        self._unwritten |= dict.fromkeys(keys, snooze)

    def sync(self) -> bool:
        """Write new snoozes and read those that others wrote; returns whether any differ now."""
        path = self._path
        changes = dict(self._unwritten)
        before = self._kept
        stamp = 0
        if path is None:
            return False
        with suppress(OSError):
            stamp = path.stat().st_mtime_ns
        if changes or stamp != self._stamp:
            kept = merge_profiles(read_state(path, SnoozesByPlatform) or {})
            ours = _with_changes(kept.get(self._platform, {}), changes)
            self._stamp = stamp
            self._kept = ours
            self.trouble = ""
            try:
                if changes:
                    newest = dict([*ours.items()][-MOST:])
                    write_state(path, {**kept, self._platform: newest})
            except OSError as error:
                self.trouble = f"what is snoozed holds for this run only: {error.strerror or error}"
        for key, change in changes.items():
            if self._unwritten.get(key) is change:
                del self._unwritten[key]
        return self._kept != before


def merge_profiles(kept: SnoozesByPlatform) -> SnoozesByPlatform:
    """Return the same snoozes by platform alone.

    Earlier versions stored them by profile and platform ("prod https://…"). If several profiles put
    off the same need, the longer snooze counts.
    """
    found: SnoozesByPlatform = {}
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


def _with_changes(
    snoozes: dict[str, Snooze], changes: dict[str, Snooze | None]
) -> dict[str, Snooze]:
    found = {**snoozes, **changes}
    return {key: snooze for key, snooze in found.items() if snooze is not None}
