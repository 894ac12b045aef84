"""Makes one listing of several: of the lists of each company, or of the sources of one list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from agentco_tui.model import Listing, Record
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
