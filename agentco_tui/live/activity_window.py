"""The newest part of the activity log, merged from polls that overlap.

The log can't be asked for "all since X", only for its newest entries, so two polls are known to
join only where they share an entry. Where they don't, entries may be missing, and the window says
so with a gap at that place.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentco_tui.model import Activity, Listing, Severity
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

    def __reversed__(self) -> Iterator[Activity]:
        return reversed(self._entries.values())

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
        coming = in_order(listing)
        added, changed = self._put_in(coming)
        marks = self._mark(coming, set(added), joined=joined)
        before = set(self._entries)
        self._entries = {entry.id: entry for entry in marks}
        now = set(self._entries)
        removed = [*(before - now), *self._shrink()]
        added += now - before
        self._listing = listing
        self.unread = listing.unread
        gone, new = set(removed), set(added)
        return (
            tuple(entry_id for entry_id in added if entry_id not in gone),
            tuple(entry_id for entry_id in changed if entry_id not in gone),
            tuple(entry_id for entry_id in removed if entry_id not in new),
        )

    def _put_in(self, coming: list[Activity]) -> tuple[list[str], list[str]]:
        """Put entries in their places; returns the ids added and changed.

        Logs often tell time in whole seconds, so among entries of the same time the poll's own
        order counts: what is new stands right before the next entry that is known.
        """
        added: list[str] = []
        changed: list[str] = []
        ahead_of: dict[str, list[Activity]] = {}
        waiting: list[Activity] = []
        for entry in coming:
            known = self._entries.get(entry.id)
            if known is None:
                waiting.append(entry)
                added.append(entry.id)
                continue
            ahead_of[entry.id] = waiting
            waiting = []
            if known != entry:
                self._entries[entry.id] = entry
                changed.append(entry.id)
        if added or changed:
            merged: list[Activity] = []
            for entry_id, entry in self._entries.items():
                merged += ahead_of.get(entry_id, ())
                merged.append(entry)
            self._entries = {entry.id: entry for entry in by_time(merged + waiting)}
        return added, changed

    def _mark(self, coming: list[Activity], added: set[str], *, joined: bool) -> list[Activity]:
        """The entries with the marks for gaps as the poll `coming` shows them.

        Within a poll nothing is missing. Something may be before its first entry if that is new
        and older ones are known, and on both sides of a poll that doesn't join.
        """
        entries = list(self._entries.values())
        if not coming:
            return entries
        places = {entry.id: place for place, entry in enumerate(entries)}
        first, last = places[coming[0].id], places[coming[-1].id]
        marked: list[Activity] = []
        for place, entry in enumerate(entries):
            if first < place < last and is_gap(entry):
                continue
            is_edge = (place == first and entry.id in added) or (place == last + 1 and not joined)
            if is_edge and marked and not (is_gap(entry) or is_gap(marked[-1])):
                marked.append(gap_before(entry))
            marked.append(entry)
        return marked

    def clear(self) -> tuple[str, ...]:
        """Forget all, because the question changed; returns the ids that went."""
        gone = tuple(self._entries)
        self._entries = {}
        self._listing = None
        self.unread = 0
        self.dropped = 0
        return gone

    def _shrink(self) -> list[str]:
        surplus = len(self._entries) - self.capacity
        if surplus <= 0:
            return []
        removed = list(self._entries)[:surplus]
        for entry_id in removed:
            del self._entries[entry_id]
        self.dropped += surplus
        return removed


def by_time(entries: list[Activity]) -> list[Activity]:
    """Oldest first; of the same time, and without one, they stay in their order."""
    last = 0.0
    times: list[float] = []
    for entry in entries:
        if entry.at is not None:
            last = entry.at.at
        times.append(last)
    return [entries[place] for place in sorted(range(len(entries)), key=times.__getitem__)]


def in_order(listing: Listing[Activity]) -> list[Activity]:
    """The listing's entries oldest first; platforms send either order."""
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
