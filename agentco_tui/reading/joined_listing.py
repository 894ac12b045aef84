"""Makes one listing of several: of the lists of each company, or of the sources of one list.

An activity log is cut where the platform's answers end: it has the newest entries only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from agentco_tui.model import Activity, Listing, Record
from agentco_tui.reading.decode import MOST_REASONS
from agentco_tui.reading.identity import mark_shared, without_repeats
from agentco_tui.text import clean_line

R = TypeVar("R", bound=Record)

_LONGEST_SHAPE: Final = 120
"""Cells to which the paths of the lists are cut."""


def join_listings(
    listings: Sequence[Listing[R]], sort_key: Callable[[R], Any] | None = None
) -> Listing[R]:
    """One listing with the records of all, in their order or sorted by a key.

    Of repeated rows one is kept; different rows with one id are marked, and get distinct ids.
    """
    records = [record for listing in listings for record in listing.records]
    if sort_key is not None:
        records.sort(key=sort_key)
    reasons = dict.fromkeys(reason for listing in listings for reason in listing.unread_reasons)
    shapes = dict.fromkeys(listing.shape for listing in listings)
    return Listing(
        records=tuple(mark_shared(without_repeats(records))),
        unread=sum(listing.unread for listing in listings),
        unread_reasons=tuple(reasons)[:MOST_REASONS],
        capped=any(listing.capped for listing in listings),
        more=any(listing.more for listing in listings),
        shape=clean_line(" + ".join(shapes), _LONGEST_SHAPE),
        pages=sum(listing.pages for listing in listings),
        digest=b"".join(listing.digest for listing in listings),
    )


def join_logs(logs: Sequence[Listing[Activity]]) -> Listing[Activity]:
    """One log with the entries of all, the newest first, of a time of which nothing is missing.

    It ends where the first of those logs ends that have more: of what is older, only a part is
    known.
    """
    joined = join_listings(logs, lambda entry: -_time_of(entry))
    ends = [
        min(map(_time_of, log.records)) for log in logs if log.records and (log.capped or log.more)
    ]
    if not ends:
        return joined
    records = tuple(entry for entry in joined.records if _time_of(entry) >= max(ends))
    return replace(joined, records=records)


def _time_of(entry: Activity) -> float:
    return entry.at.at if entry.at is not None else 0.0
