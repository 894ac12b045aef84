"""Walks through the pages of one list: which page is requested next, when to stop, and the result.

A row is one object of a list as the platform, the remote service, sends it; a record is made of it.
`Fetcher` asks a `PageWalk` for the next request and adds each page as it was read, until none is
left; `finish` makes a `Listing` of them. `ListRest` is what an answer says about further pages.
`KnownRows` and `CachedRows` are kept so that the next reading decodes only new rows.
"""

from __future__ import annotations

from hashlib import blake2b
from time import monotonic
from typing import Any, Final, Generic, TypeVar

import msgspec

from agentco_tui.api.pagination import ListRest, PageRequest
from agentco_tui.model import Listing, Record
from agentco_tui.reading.decode import MOST_REASONS, Page
from agentco_tui.reading.identity import mark_shared, same_row
from agentco_tui.reading.row_cache import CachedRows
from agentco_tui.reading.stream import KnownRows
from agentco_tui.text import SafeText

R = TypeVar("R", bound=Record)

_LONGEST_WALK: Final = 60.0
"""Seconds after which no further page of a list is requested."""


class PageSignature(msgspec.Struct, frozen=True):
    """What a page depends on: if a page is read again and this is equal, it has not changed."""

    request: PageRequest
    rows_before: int
    """How many rows were on the pages before it."""
    digest: bytes
    """Hash of its body."""
    paging_headers: tuple[str, ...]


class CachedPage(msgspec.Struct, Generic[R]):
    """One page as it was read last."""

    signature: PageSignature
    etag: str | None
    page: Page[R]
    rest: ListRest
    size: int
    """Bytes of the body."""
    known_rows: KnownRows[R] | None = None
    """Of a page that was streamed."""
    cached_rows: CachedRows[R] | None = None
    """Of a page that was read as a whole."""


class CachedListing(msgspec.Struct, Generic[R], frozen=True):
    """A list as it was read last, with its pages."""

    pages: list[CachedPage[R]]
    listing: Listing[R]
    is_stuck: bool
    """See `PageWalk.is_stuck`."""
    is_capped: bool
    """See `PageWalk.is_capped`."""

    def page_at(self, index: int) -> CachedPage[R] | None:
        """The page with this index, if the list had that many."""
        if index >= len(self.pages):
            return None
        return self.pages[index]


class WalkLimits(msgspec.Struct, frozen=True):
    """Limits after which no further page is requested."""

    pages: int
    records: int
    size: int
    """Bytes of all bodies together."""
    wanted_rows: int | None
    """The user's own limit; None for all rows."""


class PageWalk(Generic[R]):
    """Collects the pages of one list while they are read, one after the other."""

    def __init__(self, first: PageRequest, limits: WalkLimits) -> None:
        self.pages: list[CachedPage[R]] = []
        self.row_count = 0
        """Rows on the pages so far, those that are no records included."""
        self.is_stuck = False
        """Whether the platform names another page, but that repeats pages that were read."""
        self.is_capped = False
        """Whether a limit ended the reading although there is another page."""
        self._limits = limits
        self._named: PageRequest | None = first
        """The page that the answers so far name as the next."""
        self._requested: set[PageRequest] = set()
        self._ids: set[str] = set()
        self._size = 0
        self._deadline = monotonic() + _LONGEST_WALK

    @property
    def next_request(self) -> PageRequest | None:
        """The request for the page to read next; None if the walk has ended."""
        if self.is_stuck or self.is_capped:
            return None
        return self._named

    def add(self, page: CachedPage[R]) -> None:
        """Add the page that `next_request` asked for."""
        self._requested.add(page.signature.request)
        self.pages.append(page)
        self.row_count += page.page.row_count
        self._size += page.size
        self._named = page.rest.request
        is_single_page = self._named is None and len(self.pages) == 1
        if is_single_page:
            # No other page can repeat it, and it may be very long: its ids are not collected.
            return
        ids_before = len(self._ids)
        self._ids.update(record.id for record in page.page.records)
        # A page of rows that were not asked for has no ids that could be new.
        is_repetition = (
            len(self.pages) > 1 and len(self._ids) == ids_before and not page.page.left_out
        )
        if is_repetition:
            self.is_stuck = self._named is not None or bool(page.page.records)
        else:
            self.is_stuck = self._named in self._requested
        if self._named is not None and not self.is_stuck:
            self.is_capped = self._has_reached_limit()

    def _has_reached_limit(self) -> bool:
        limits = self._limits
        has_wanted_rows = limits.wanted_rows is not None and self.row_count >= limits.wanted_rows
        return (
            has_wanted_rows
            or len(self.pages) >= limits.pages
            or len(self._ids) >= limits.records
            or self._size >= limits.size
            or monotonic() > self._deadline
        )

    def is_same_as(self, cached: CachedListing[R]) -> bool:
        """Whether every page is unchanged, and the walk ended for the same reason."""
        if self.is_stuck != cached.is_stuck or self.is_capped != cached.is_capped:
            return False
        if len(self.pages) != len(cached.pages):
            return False
        return all(new is old for new, old in zip(self.pages, cached.pages, strict=True))

    def finish(self) -> CachedListing[R]:
        """The listing that the pages make."""
        records, is_cut = self._joined_records()
        pages = [cached.page for cached in self.pages]
        totals = [cached.rest.total for cached in self.pages if cached.rest.total is not None]
        left_out = sum(page.left_out for page in pages)
        listing = Listing(
            records=records,
            unread=sum(page.unread for page in pages),
            unread_reasons=_reasons_of(pages),
            capped=self.is_capped or is_cut,
            more=self.is_stuck or self.pages[-1].rest.more,
            total=totals[-1] if totals and not left_out else None,
            shape=pages[0].shape,
            pages=len(pages),
            digest=self._digest(),
        )
        return CachedListing(self.pages, listing, self.is_stuck, self.is_capped)

    def _joined_records(self) -> tuple[tuple[R, ...], bool]:
        """The records of all pages, and whether the limit cut some off."""
        records = self.pages[0].page.records
        if len(self.pages) > 1:
            # A record may move from page to page between two requests: the later one counts.
            by_row = dict[Any, R]()
            for cached in self.pages:
                for record in cached.page.records:
                    by_row[same_row(record)] = record
            records = tuple(by_row.values())
        # Rows that share an id get ids of their own, and a mark that no request may name them.
        records = tuple(mark_shared(records))
        most = self._limits.records
        return records[:most], len(records) > most

    def _digest(self) -> bytes:
        digests = [cached.signature.digest for cached in self.pages]
        if len(digests) == 1:
            return digests[0]
        return blake2b(b"".join(digests)).digest()[:16]


def _reasons_of(pages: list[Page[R]]) -> tuple[SafeText, ...]:
    """Notices first, then why rows could not be read; each once."""
    reasons = [page.notice for page in pages if page.notice is not None]
    for page in pages:
        reasons += page.unread_reasons
    return tuple(dict.fromkeys(reasons))[:MOST_REASONS]
