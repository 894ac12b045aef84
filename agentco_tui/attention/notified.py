"""Remembers across restarts what `watch` has notified of, in `notified.json` in the state folder.

`agentco-tui watch` runs without a screen, and calls the user's command for critical events. Each
entry belongs to one platform (the remote service that is watched), one scope (a company, or all)
and one command: a `watch` in a terminal, which runs no command, must not keep the one that pages
someone from doing so.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from agentco_tui.model.period import DAY
from agentco_tui.system.state_folder import read_state, write_state
from agentco_tui.text import SafeText, clean_line

MOST_EVENTS: Final = 5_000  # of one entry; the ones that ended first are dropped
MOST_ENTRIES: Final = 50
LONGEST_UNUSED: Final = 30 * DAY  # seconds after which an entry that was not written is dropped


class Outage(msgspec.Struct):
    """An outage that was reported and whose end was not. Times are seconds since 1970."""

    feeds: list[str]
    """The names of the platform's lists that do not answer."""
    since: float
    until: float | None = None
    """When the feeds answered again; None while they don't."""


class Notified(msgspec.Struct):
    """One entry. Times are seconds since 1970 by the machine's clock."""

    saved_at: float = 0.0
    last_seen: dict[str, float] = msgspec.field(default_factory=dict, name="stood")
    """When each event was last found, by its key. "stood" is its name in the file."""
    outages: dict[str, Outage] = {}
    """By the keys of the events."""
    unsent: list[tuple[str, ...]] = []
    """The fields of each `NotificationEvent` for which the command was not run yet: it runs only a
    few times an hour."""


class NotifiedFile:
    """One entry of the file; several `watch` may share the file."""

    def __init__(self, path: Path, *owner: str) -> None:
        """`owner` tells whose entry it is; only a digest of it is written."""
        self._path = path
        self._entry = blake2b("\0".join(owner).encode(), digest_size=12).hexdigest()
        self.trouble: SafeText | None = None
        """Why the last `save` did not write."""

    def load(self) -> Notified:
        """The entry, or an empty one if there is none or it can't be read."""
        return self._entries().get(self._entry) or Notified()

    def save(self, notified: Notified) -> None:
        """Write the entry; the others stay, except those unused for a month."""
        recent = {
            name: entry
            for name, entry in self._entries().items()
            if notified.saved_at - entry.saved_at < LONGEST_UNUSED and name != self._entry
        }
        newest = sorted(recent, key=lambda name: recent[name].saved_at)[-(MOST_ENTRIES - 1) :]
        entries = {name: recent[name] for name in newest}
        entries[self._entry] = notified
        self.trouble = None
        try:
            write_state(self._path, entries)
        except OSError as error:
            words = error.strerror or str(error)
            self.trouble = clean_line(f"what was notified is not remembered: {words}", 200)

    def _entries(self) -> dict[str, Notified]:
        return read_state(self._path, dict[str, Notified]) or {}
