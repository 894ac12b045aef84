"""The newest part of the activity log, merged from polls that overlap.

The log can't be asked for "all since X", only for its newest entries, so two polls are known to
join only where they share an entry. Where they don't, or where ids are numbers and one is left
out, entries may be missing, and the window says so with a gap at that place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from msgspec.structs import replace

from agentco_tui.model import Activity, Listing, Severity
from agentco_tui.reading.identity import mark_shared
from agentco_tui.text import plain

GAP_PREFIX = "gap:"
MISSING = plain("entries may be missing here: more came than one poll can bring")
NO_MORE = plain("entries may be missing here: the platform gave no more")
DEFAULT_CAPACITY = 5_000
_ENOUGH: Final = 20  # entries that show whether a log numbers them; one in so many may be missing
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
        """Whether ids are numbers; None until an answer shows it."""

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
        """Whether the listing shares an entry with the window, so that nothing is missing between.
        What is merely short doesn't: platforms cut limits down without saying so.
        """
        known, coming = self._entries, listing.records
        return not known or not coming or any(entry.id in known for entry in coming)

    def merge(
        self, listing: Listing[Activity], *, is_poll: bool = True
    ) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Take a poll, or another part of the log; returns the ids added, changed and removed (for
        the capacity).
        """
        if listing is self._listing:
            return (), (), ()
        before = self._entries
        coming = _oldest_first(listing.records)
        joined = self.joins(listing)
        self._entries = self._without_repeats_of(coming)
        coming = self._told_apart(coming)
        merged = self._marked(self._merged(coming), coming, joined=joined)
        if is_poll:
            self._listing = listing
            self.listing = Listing(records=(), unread=listing.unread)
        else:
            self.listing = replace(self.listing)  # what was concluded from the entries is due again
        merged = merged[-self.capacity :]
        if merged and is_gap(merged[0]):
            del merged[0]
        now = self._entries = {entry.id: entry for entry in merged}
        return (
            tuple(key for key in now if key not in before),
            tuple(key for key, entry in now.items() if before.get(key, entry) != entry),
            tuple(key for key in before if key not in now),
        )

    def _without_repeats_of(self, coming: list[Activity]) -> dict[str, Activity]:
        """The entries known before, without those that come again under an id of their own, because
        another entry has the same id by now.
        """
        sharing = {entry.sent_id: entry for entry in coming if entry.shared_id}
        alone = [key for key in sharing if key in self._entries]
        if not alone:
            return self._entries
        sent = {(entry.sent_id, _told_by(entry)) for entry in coming if entry.shared_id}
        repeated = {key for key in alone if (key, _told_by(self._entries[key])) in sent}
        return {key: entry for key, entry in self._entries.items() if key not in repeated}

    def _told_apart(self, coming: list[Activity]) -> list[Activity]:
        """The entries of a poll; one that has the id of a different entry known before gets an id
        of its own, so that neither takes the place of the other.
        """
        apart: list[Activity] = []
        for entry in coming:
            known = self._entries.get(entry.id)
            is_other = known is not None and known.at != entry.at and _differ(known, entry)
            apart.append(mark_shared((known, entry))[1] if known and is_other else entry)
        return apart

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
        # One without a time keeps its place behind the one before it, the first before the next.
        last = next((entry.at.at for entry in merged if entry.at is not None), 0.0)
        times: list[float] = []
        for entry in merged:
            if entry.at is not None:
                last = entry.at.at
            times.append(last)
        return [merged[place] for place in sorted(range(len(merged)), key=times.__getitem__)]

    def _after_jumps(self, coming: list[Activity]) -> set[str]:
        """The entries before which a number is left out, by their ids."""
        found = {number: entry.id for entry in coming if (number := _number(entry))}
        jumps = {found[b] for a, b in pairwise(sorted(found)) if b != (a[0], a[1] + 1)}
        if self._numbered is None and len(coming) >= _ENOUGH:
            is_few = len(jumps) * _ENOUGH <= len(coming)
            self._numbered = is_few and len(found) == len(coming)
        return jumps if self._numbered else set()

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
        jumps = self._after_jumps(coming)
        marked: list[Activity] = []
        for place, entry in enumerate(entries):
            if first < place < last and is_gap(entry):
                continue
            is_new_first = place == first and entry.id not in self._entries
            is_edge = is_new_first or (place == last + 1 and not joined)
            is_edge = is_edge or entry.id in jumps
            if is_edge and marked and not (is_gap(entry) or is_gap(marked[-1])):
                gap = Activity(
                    id=f"{GAP_PREFIX}{entry.id}",
                    id_derived=True,
                    at=entry.at,
                    text=MISSING,
                    severity=Severity.WARNING,
                )
                marked.append(gap)
            marked.append(entry)
        return marked

    def gaps(self) -> list[tuple[Activity, Activity, Activity]]:
        """The gaps that nobody tried to fill yet, newest first, each between its neighbours."""
        entries = list(self)
        trios = zip(entries, islice(entries, 1, None), islice(entries, 2, None), strict=False)
        return [trio for trio in trios if is_gap(trio[1]) and trio[1].text == MISSING][::-1]

    def give_up(self, tried: Iterable[str]) -> tuple[str, ...]:
        """Note that what is missing at these gaps can't be had; returns the ids of those that are
        still there. From then on numbers say nothing: a log may leave some out.
        """
        lacking = tuple(key for key in tried if key in self._entries)
        for key in lacking:
            self._entries[key], self._numbered = replace(self._entries[key], text=NO_MORE), False
        return lacking

    def clear(self) -> tuple[str, ...]:
        """Forget all, because the question changed; returns the ids that went."""
        gone = tuple(self._entries)
        self._entries, self._listing, self.listing = {}, None, Listing(records=())
        self._numbered = None
        return gone


def _oldest_first(records: Sequence[Activity]) -> list[Activity]:
    """The entries of an answer, oldest first; platforms send either order. An entry without a time
    stays behind the one that is older than it in the answer.
    """
    entries = list(records)
    times = [entry.at.at for entry in entries if entry.at is not None]
    is_newest_first = len(times) < 2 or times[0] >= times[-1]
    if is_newest_first:
        entries.reverse()
        times.reverse()
    sort_times = list[float]()
    last_time = times[0] if times else 0.0
    for entry in entries:
        if entry.at is not None:
            last_time = entry.at.at
        sort_times.append(last_time)
    order = sorted(range(len(entries)), key=sort_times.__getitem__)
    return [entries[place] for place in order]


def _told_by(entry: Activity) -> tuple[object, ...]:
    """What an entry tells, apart from its id and what may be filled in later."""
    return entry.at, entry.text, entry.verb, entry.agent, entry.target


def _differ(one: Activity, other: Activity) -> bool:
    """Whether two entries tell of different things, at whatever time."""
    return _told_by(one)[1:] != _told_by(other)[1:]


def _number(entry: Activity) -> tuple[str, int] | None:
    """The number that an id ends in, behind what stands before it."""
    found = None if entry.id_derived or entry.shared_id else _NUMBERED.fullmatch(entry.id)
    return found and (found[1], int(found[2]))


def is_gap(entry: Activity) -> bool:
    """Whether this is our own mark for a place where entries may be missing."""
    return entry.id.startswith(GAP_PREFIX) and entry.id_derived
