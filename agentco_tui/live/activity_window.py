"""The newest part of the activity log, merged from polls that overlap.

The log can't be asked for "all since X", only for its newest entries, so two polls are known to
join only where they share an entry, or where ids are numbers without holes and the next number
follows. Where they don't, or where a number is left out, entries may be missing, and the window
says so with a gap at that place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final

from msgspec.structs import replace

from agentco_tui.model import Activity, Listing, Severity
from agentco_tui.text import plain

GAP_PREFIX = "gap:"
MISSING = plain("entries may be missing here: more came than one poll can bring")
NO_MORE = plain("entries may be missing here: the platform gave no more")
DEFAULT_CAPACITY = 5_000
_ENOUGH: Final = 20  # entries with numbers in a row that show how a log numbers its entries
_NUMBERED: Final = re.compile(r"(.*?)(\d{1,18})", re.ASCII | re.DOTALL)


class ActivityWindow:
    """Entries by id, oldest first, at most `capacity` of them."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self.capacity = capacity
        self.listing: Listing[Activity] = Listing(records=())
        """What the last poll said of itself, but for what every poll of a log says: more exists."""
        self._entries: dict[str, Activity] = {}
        self._listing: Listing[Activity] | None = None
        self._numbered: bool | None = None
        """Whether ids are numbers without holes; None until an answer shows it."""
        self._holes: frozenset[str] = frozenset()
        """Entries of the last answer before which a number is left out."""

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._entries

    def __iter__(self) -> Iterator[Activity]:
        return iter(self._entries.values())

    def __reversed__(self) -> Iterator[Activity]:
        return reversed(self._entries.values())

    def get(self, entry_id: str | None) -> Activity | None:
        return None if entry_id is None else self._entries.get(entry_id)

    def joins(self, listing: Listing[Activity]) -> bool:
        """Whether the listing shares an entry with the window, or goes on with the next number, so
        that nothing is missing between. What is merely short doesn't: platforms cut limits down
        without saying so.
        """
        known, coming = self._entries, listing.records
        if not known or not coming or any(entry.id in known for entry in coming):
            return True
        newest = known[next(reversed(known))]
        return any(self._follows(newest, entry) for entry in coming)

    def _follows(self, before: Activity, entry: Activity) -> bool:
        """Whether the ids show that nothing is missing between two entries."""
        left, right = _number(before), _number(entry)
        if not self._numbered or left is None or right is None:
            return False
        return left == (right[0], right[1] - 1)

    def merge(
        self, listing: Listing[Activity], *, is_poll: bool = True
    ) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Take a poll, or another part of the log; returns the ids added, changed and removed (for
        the capacity).
        """
        if listing is self._listing:
            return (), (), ()
        before = self._entries
        # Oldest first; platforms send either order.
        coming = list(listing.records)
        timed = [entry.at.at for entry in coming if entry.at is not None]
        if len(timed) < 2 or timed[0] >= timed[-1]:
            coming.reverse()
        coming.sort(key=lambda entry: entry.at.at if entry.at else timed[-1] if timed else 0.0)
        self._look_for_holes(coming)
        merged = self._marked(self._merged(coming), coming, joined=self.joins(listing))
        if is_poll:
            self._listing = listing
            self.listing = Listing(records=(), unread=listing.unread)
        merged = merged[-self.capacity :]
        if merged and is_gap(merged[0]):
            del merged[0]
        now = self._entries = {entry.id: entry for entry in merged}
        return (
            tuple(key for key in now if key not in before),
            tuple(key for key, entry in now.items() if before.get(key, entry) != entry),
            tuple(key for key in before if key not in now),
        )

    def _merged(self, coming: list[Activity]) -> list[Activity]:
        """Old and new in their places.

        Logs often tell time in whole seconds, so among entries of the same time the poll's own
        order counts: what is new stands right before the next entry that is known.
        """
        known = dict(self._entries)
        ahead_of: dict[str, dict[str, Activity]] = {}
        waiting: dict[str, Activity] = {}
        for entry in coming:
            if entry.id not in known:
                waiting[entry.id] = entry
                continue
            ahead_of[entry.id], waiting = waiting, {}
            if known[entry.id] != entry:
                known[entry.id] = entry
        merged: list[Activity] = []
        for entry_id, entry in known.items():
            merged += ahead_of.get(entry_id, {}).values()
            merged.append(entry)
        merged += waiting.values()
        last, times = 0.0, list[float]()
        for entry in merged:  # one without a time keeps its place behind the one before it
            last = last if entry.at is None else entry.at.at
            times.append(last)
        return [merged[place] for place in sorted(range(len(merged)), key=times.__getitem__)]

    def _look_for_holes(self, coming: list[Activity]) -> None:
        self._holes = frozenset()
        numbers = [(number, entry) for entry in coming if (number := _number(entry))]
        found = {number[1]: entry for number, entry in numbers}
        is_one_row = len({number[0] for number, _ in numbers}) == 1
        if len(found) < len(coming) or not is_one_row or self._numbered is False:
            return
        holes = {found[b].id for a, b in pairwise(sorted(found)) if b != a + 1}
        if self._numbered:
            self._holes = frozenset(holes)
        elif len(found) >= _ENOUGH:
            self._numbered = not holes

    def _marked(
        self, entries: list[Activity], coming: list[Activity], *, joined: bool
    ) -> list[Activity]:
        """The entries with the marks for gaps as the poll `coming` shows them.

        Within a poll nothing is missing, but where a number is left out. Something may be before
        its first entry if that is new and older ones are known, and on both sides of a poll that
        doesn't join.
        """
        if not coming:
            return entries
        places = {entry.id: place for place, entry in enumerate(entries)}
        first, last = places[coming[0].id], places[coming[-1].id]
        marked: list[Activity] = []
        for place, entry in enumerate(entries):
            if first < place < last and is_gap(entry):
                continue
            is_new_first = place == first and entry.id not in self._entries
            is_edge = is_new_first or (place == last + 1 and not joined)
            if marked and (is_edge or is_gap(marked[-1])):
                is_after_gap = is_gap(marked[-1])
                if self._follows(marked[-2 if is_after_gap else -1], entry):
                    is_edge = False
                    del marked[len(marked) - is_after_gap :]
            is_edge = is_edge or entry.id in self._holes
            if is_edge and marked and not (is_gap(entry) or is_gap(marked[-1])):
                gap_id = f"{GAP_PREFIX}{entry.id}"
                gap = self._entries.get(gap_id) or Activity(
                    id=gap_id,
                    id_derived=True,
                    at=entry.at,
                    text=MISSING,
                    severity=Severity.WARNING,
                )
                marked.append(gap)
            marked.append(entry)
        return marked

    def gaps(self) -> list[tuple[Activity, Activity]]:
        """The entries on both sides of each gap that nobody tried to fill yet, newest first."""
        entries = list(self)
        trios = zip(entries, islice(entries, 1, None), islice(entries, 2, None), strict=False)
        found = [(old, new) for old, gap, new in trios if is_gap(gap) and gap.text == MISSING]
        return found[::-1]

    def give_up(self, left: str, right: str) -> tuple[str, ...]:
        """Note that what is missing between these entries, by their ids, can't be had; returns the
        ids of the gaps there. Where it was told by a number alone, numbers say nothing any more.
        """
        found = self.gaps_between(left, right)
        for gap in found:
            self._entries[gap.id] = replace(gap, text=NO_MORE)
            if gap.id.removeprefix(GAP_PREFIX) in self._holes:
                self._numbered = False
        return tuple(gap.id for gap in found)

    def gaps_between(self, left: str, right: str) -> list[Activity]:
        """The gaps between two entries that nobody tried to fill yet; `left` may be gone by now."""
        found, is_between = list[Activity](), left not in self._entries
        for entry in self:
            if is_between and is_gap(entry) and entry.text == MISSING:
                found.append(entry)
            is_between = (is_between or entry.id == left) and entry.id != right
        return found

    def clear(self) -> tuple[str, ...]:
        """Forget all, because the question changed; returns the ids that went."""
        gone = tuple(self._entries)
        self._entries, self._listing, self.listing = {}, None, Listing(records=())
        self._numbered = None
        return gone


def _number(entry: Activity) -> tuple[str, int] | None:
    """The number that an id ends in, behind what stands before it."""
    found = None if entry.id_derived else _NUMBERED.fullmatch(entry.id)
    return found and (found[1], int(found[2]))


def is_gap(entry: Activity) -> bool:
    """Whether this is our own mark for a place where entries may be missing."""
    return entry.id.startswith(GAP_PREFIX) and entry.id_derived
