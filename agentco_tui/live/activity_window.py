"""Keeps the newest part of the activity log, merged from polls that overlap.

The activity log is the platform's record of what the AI agents did; the platform is the remote
service that runs them. Its REST API cannot return "all entries since X", only the newest ones. So
two polls are known to be contiguous only if they share an entry. If they don't, or if ids are
numbers and one is skipped, entries may be missing: the window has a gap there, an entry of ours
with the text MISSING. `backfill.GapFiller` tries to fill it; if it can't, `give_up` changes the
text to NO_MORE.

An entry whose id another entry has, too, gets an id of its own from `mark_shared`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from msgspec.structs import replace

from agentco_tui.model import Activity, Listing, Severity
from agentco_tui.reading.identity import mark_shared
from agentco_tui.text import mark_safe

GAP_PREFIX = "gap:"  # with which the id of a gap entry begins
MISSING = mark_safe("entries may be missing here: more came than one poll can bring")
NO_MORE = mark_safe("entries may be missing here: the platform gave no more")
DEFAULT_CAPACITY = 5_000  # entries
_ENOUGH_TO_JUDGE: Final = 20
"""Entries in an answer that show whether the log numbers them; one in so many may be skipped."""
_NUMBERED: Final = re.compile(r"(.*?)(\d{1,18})", re.ASCII | re.DOTALL)


class LogEntries:
    """Entries of the log by their ids, the oldest first."""

    _entries: dict[str, Activity]

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._entries

    def __iter__(self) -> Iterator[Activity]:
        return iter(self._entries.values())

    def __reversed__(self) -> Iterator[Activity]:
        return reversed(self._entries.values())

    def get(self, entry_id: str | None) -> Activity | None:
        if entry_id is None:
            return None
        return self._entries.get(entry_id)


class ActivityWindow(LogEntries):
    """Entries by id, oldest first, at most `capacity` of them."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self.capacity = capacity
        self.listing: Listing[Activity] = Listing(records=())
        """The last poll without its records, and without `more`, which every poll of a log has."""
        self._entries: dict[str, Activity] = {}
        self._listing: Listing[Activity] | None = None
        self._numbered: bool | None = None
        """Whether the log numbers its entries; None until an answer shows it."""

    def is_contiguous_with(self, listing: Listing[Activity]) -> bool:
        """Whether the listing shares an entry with the window, so that nothing is missing between.

        A short answer is no proof: platforms lower the limit without saying so.
        """
        if not self._entries or not listing.records:
            return True
        return any(entry.id in self._entries for entry in listing.records)

    def merge(
        self, listing: Listing[Activity], *, is_poll: bool = True
    ) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Take a poll, or another part of the log; returns the ids added, changed and removed.

        Entries are removed if there are more than the capacity.
        """
        if listing is self._listing:
            return (), (), ()
        before = self._entries
        coming = _oldest_first(listing.records)
        joined = self.is_contiguous_with(listing)
        self._entries = self._without_repeats_of(coming)
        coming = self._with_distinct_ids(coming)
        merged = self._insert_gaps(self._merge_by_time(coming), coming, joined=joined)
        if is_poll:
            self._listing = listing
            self.listing = Listing(records=(), unread=listing.unread)
        else:
            # A new object: whatever was derived from the old one is stale.
            self.listing = replace(self.listing)
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
        """The known entries, without those that come again under a derived id.

        That happens once another entry has the same id.
        """
        sharing = {entry.sent_id: entry for entry in coming if entry.shared_id}
        alone = [key for key in sharing if key in self._entries]
        if not alone:
            return self._entries
        sent = {(entry.sent_id, _content_of(entry)) for entry in coming if entry.shared_id}
        repeated = {key for key in alone if (key, _content_of(self._entries[key])) in sent}
        return {key: entry for key, entry in self._entries.items() if key not in repeated}

    def _with_distinct_ids(self, coming: list[Activity]) -> list[Activity]:
        """The entries of a poll, with a derived id for one that reuses the id of another entry.

        Otherwise it would replace the other.
        """
        apart: list[Activity] = []
        for entry in coming:
            known = self._entries.get(entry.id)
            if known is not None and known.at != entry.at and _has_other_content(known, entry):
                _, entry_with_own_id = mark_shared((known, entry))
                apart.append(entry_with_own_id)
            else:
                apart.append(entry)
        return apart

    def _merge_by_time(self, coming: list[Activity]) -> list[Activity]:
        """The known and the new entries in order of time.

        Times are often whole seconds, so among entries of the same time the poll's order counts:
        a new entry is placed right before the next known one.
        """
        known = dict(self._entries)
        ahead_of: dict[str, dict[str, Activity]] = {}
        waiting: dict[str, Activity] = {}
        for entry in coming:
            if entry.id not in known:
                waiting[entry.id] = entry
                continue
            ahead_of[entry.id] = waiting
            waiting = {}
            if known[entry.id] != entry:
                known[entry.id] = entry
        merged: list[Activity] = []
        for entry_id, entry in known.items():
            merged += ahead_of.get(entry_id, {}).values()
            merged.append(entry)
        merged += waiting.values()
        # An entry without a time stays after the one before it; the first, before the next.
        last_time = next((entry.at.at for entry in merged if entry.at is not None), 0.0)
        sort_times: list[float] = []
        for entry in merged:
            if entry.at is not None:
                last_time = entry.at.at
            sort_times.append(last_time)
        order = sorted(range(len(merged)), key=sort_times.__getitem__)
        return [merged[index] for index in order]

    def _after_jumps(self, coming: list[Activity]) -> set[str]:
        """The ids of the entries before which a number is skipped."""
        id_by_number: dict[tuple[str, int], str] = {}
        for entry in coming:
            numbered = _numbered_id(entry)
            if numbered is not None:
                id_by_number[numbered] = entry.id
        jumps: set[str] = set()
        for (prefix, number), following in pairwise(sorted(id_by_number)):
            if following != (prefix, number + 1):
                jumps.add(id_by_number[following])
        if self._numbered is None and len(coming) >= _ENOUGH_TO_JUDGE:
            is_few = len(jumps) * _ENOUGH_TO_JUDGE <= len(coming)
            self._numbered = is_few and len(id_by_number) == len(coming)
        return jumps if self._numbered else set()

    def _insert_gaps(
        self, entries: list[Activity], coming: list[Activity], *, joined: bool
    ) -> list[Activity]:
        """The entries with gap entries where the poll `coming` shows them.

        Within a poll nothing is missing, except where a number is skipped. Entries may be missing
        before its first entry if that is new and older ones are known, and on both sides of a poll
        that shares no entry.
        """
        if not coming:
            return entries
        places = {entry.id: place for place, entry in enumerate(entries)}
        first = places[coming[0].id]
        last = places[coming[-1].id]
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

    def untried_gaps(self) -> list[tuple[Activity, Activity, Activity]]:
        """The gaps that were not tried yet, newest first, each between its two neighbours."""
        entries = list(self)
        trios = zip(entries, islice(entries, 1, None), islice(entries, 2, None), strict=False)
        untried = [trio for trio in trios if is_gap(trio[1]) and trio[1].text == MISSING]
        return untried[::-1]

    def give_up(self, tried: Iterable[str]) -> tuple[str, ...]:
        """Mark these gaps as final; returns the ids of those that still exist.

        From then on skipped numbers are no gaps: this log skips some.
        """
        lacking = tuple(key for key in tried if key in self._entries)
        for key in lacking:
            self._entries[key] = replace(self._entries[key], text=NO_MORE)
            self._numbered = False
        return lacking

    def clear(self) -> tuple[str, ...]:
        """Remove everything, because the filter or the scope changed; returns the removed ids."""
        removed = tuple(self._entries)
        self._entries = {}
        self._listing = None
        self.listing = Listing(records=())
        self._numbered = None
        return removed


def _oldest_first(records: Sequence[Activity]) -> list[Activity]:
    """The entries of an answer, oldest first; platforms send either order.

    An entry without a time stays after the next older one.
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


def _content_of(entry: Activity) -> tuple[object, ...]:
    """The content of an entry, except its id and what may be filled in later."""
    return entry.at, entry.text, entry.verb, entry.agent, entry.target


def _has_other_content(one: Activity, other: Activity) -> bool:
    """Whether two entries have different content, whatever their times."""
    return _content_of(one)[1:] != _content_of(other)[1:]


def _numbered_id(entry: Activity) -> tuple[str, int] | None:
    """The text of an id before the number at its end, and that number; None if it has none."""
    if entry.id_derived or entry.shared_id:
        return None
    match = _NUMBERED.fullmatch(entry.id)
    if match is None:
        return None
    return match[1], int(match[2])


def is_gap(entry: Activity) -> bool:
    """Whether an entry is a gap: one of ours that marks where entries may be missing."""
    return entry.id.startswith(GAP_PREFIX) and entry.id_derived
