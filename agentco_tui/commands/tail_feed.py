"""Which entries of a poll are new, and whether some may have been missed in between. Pure.

The log cannot be asked for "all since X", only for its newest entries, so two polls are known to
join only where they share an entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentco_tui.live.activity_window import in_order
from agentco_tui.model.records import Activity, Listing

KEPT_IDS = 20_000
"""Ids that are remembered; more than a poll brings, so that nothing is told twice."""


@dataclass(frozen=True)
class News:
    """What a poll brought."""

    entries: Sequence[Activity]
    """Not told before, oldest first."""
    missed: bool = False
    """True if entries may be missing before the first of them."""


class TailFeed:
    """Remembers what was told."""

    def __init__(self, first: int, limit: int) -> None:
        """`first` entries of the first poll are told; `limit` is what each poll asks for."""
        self._first = first
        self._limit = limit
        self._seen: dict[str, None] = {}
        self._polled = False

    def joins(self, listing: Listing[Activity]) -> bool:
        """Whether nothing can be missing between what was told and this poll.

        A poll that follows an empty log joins if it was not filled to its limit.
        """
        if not self._polled or not listing.records:
            return True
        if not self._seen:
            return len(listing.records) < self._limit
        return any(entry.id in self._seen for entry in listing.records)

    def take(self, listing: Listing[Activity], *, asked_for_more: bool = False) -> News:
        """The news of a poll.

        `asked_for_more`: the poll reached further back than the others; what lies before the first
        known entry is the past then, and no news.
        """
        missed = not self.joins(listing)
        entries = in_order(listing)
        if not self._polled:
            news = entries[-self._first :] if self._first else []
        else:
            start = 0
            if asked_for_more and not missed:
                start = next((at for at, entry in enumerate(entries) if entry.id in self._seen), 0)
            news = [entry for entry in entries[start:] if entry.id not in self._seen]
        self._polled = True
        self._remember(entries)
        return News(news, missed)

    def _remember(self, entries: Sequence[Activity]) -> None:
        for entry in entries:
            # Put last again: the ids that polls still bring are never the first to be forgotten.
            self._seen.pop(entry.id, None)
            self._seen[entry.id] = None
        for entry_id in list(self._seen)[: max(0, len(self._seen) - KEPT_IDS)]:
            del self._seen[entry_id]
