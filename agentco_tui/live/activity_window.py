"""The newest part of the activity log, merged from polls that overlap.

The log can't be asked for "all since X", only for its newest entries, so two polls are known to
join only where they share an entry. Where they don't, entries may be missing, and the window says
so with a gap at that place (law 1).
"""

from __future__ import annotations

from collections.abc import Iterator

from agentco_tui.api.records import Activity, Listing, Severity
from agentco_tui.text import plain

GAP_PREFIX = "gap:"
DEFAULT_CAPACITY = 5_000


class ActivityWindow:
    """Entries by id, oldest first, at most `capacity` of them."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self.capacity = capacity
        self.unread = 0
        self.dropped = 0
        """How many older entries were let go to stay within the capacity."""
        self._entries: dict[str, Activity] = {}
        self._listing: Listing[Activity] | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Activity]:
        return iter(self._entries.values())

    def get(self, entry_id: str | None) -> Activity | None:
        """The entry with that id, or None."""
        return None if entry_id is None else self._entries.get(entry_id)

    def joins(self, listing: Listing[Activity]) -> bool:
        """Whether the listing shares an entry with the window, so that nothing is missing between.

        An empty window joins with anything, and an empty listing too. One that is merely shorter
        than what was asked for doesn't: platforms cut limits down without saying so.
        """
        if not self._entries or not listing.records:
            return True
        return any(entry.id in self._entries for entry in listing.records)

    def merge(
        self, listing: Listing[Activity]
    ) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Take a poll; returns the ids added, changed and removed (for the capacity)."""
        if listing is self._listing:
            return (), (), ()
        joined = self.joins(listing)
        added: list[str] = []
        changed: list[str] = []
        for entry in in_order(listing):
            known = self._entries.get(entry.id)
            if known is None:
                if not joined:
                    gap = gap_before(entry)
                    self._entries[gap.id] = gap
                    added.append(gap.id)
                    joined = True
                self._entries[entry.id] = entry
                added.append(entry.id)
            elif known != entry:
                self._entries[entry.id] = entry
                changed.append(entry.id)
        if added:
            self._sort()
        removed = self._shrink()
        self._listing = listing
        self.unread = listing.unread
        gone, new = set(removed), set(added)
        return (
            tuple(entry_id for entry_id in added if entry_id not in gone),
            tuple(entry_id for entry_id in changed if entry_id not in gone),
            tuple(entry_id for entry_id in removed if entry_id not in new),
        )

    def clear(self) -> tuple[str, ...]:
        """Forget all, because the question changed; returns the ids that went."""
        gone = tuple(self._entries)
        self._entries = {}
        self._listing = None
        self.unread = 0
        self.dropped = 0
        return gone

    def _sort(self) -> None:
        """Oldest first; entries without a time stay where they came in."""
        last = 0.0
        keyed: list[tuple[float, int, Activity]] = []
        for position, entry in enumerate(self._entries.values()):
            if entry.at is not None:
                last = entry.at.at
            keyed.append((last, position, entry))
        keyed.sort(key=lambda item: item[:2])
        self._entries = {entry.id: entry for _, _, entry in keyed}

    def _shrink(self) -> list[str]:
        surplus = len(self._entries) - self.capacity
        if surplus <= 0:
            return []
        removed = list(self._entries)[:surplus]
        for entry_id in removed:
            del self._entries[entry_id]
        self.dropped += surplus
        return removed


def in_order(listing: Listing[Activity]) -> list[Activity]:
    """The listing's entries oldest first; platforms send either order (SHAPES E)."""
    entries = list(listing.records)
    timed = [entry.at.at for entry in entries if entry.at is not None]
    if len(timed) < 2 or timed[0] >= timed[-1]:
        entries.reverse()
    entries.sort(key=lambda entry: entry.at.at if entry.at else timed[-1] if timed else 0.0)
    return entries


def is_gap(entry: Activity) -> bool:
    """Whether this is our own mark for a place where entries may be missing."""
    return entry.id.startswith(GAP_PREFIX) and entry.id_derived


def gap_before(entry: Activity) -> Activity:
    """The mark that entries may be missing just before this one."""
    return Activity(
        id=f"{GAP_PREFIX}{entry.id}",
        id_derived=True,
        at=entry.at,
        text=plain("entries may be missing here: more came than one poll can bring"),
        severity=Severity.WARNING,
    )
