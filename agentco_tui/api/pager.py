"""A list with all its pages, read again only as far as it has changed (SHAPES A, law 5)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from copy import copy
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from agentco_tui.api.decode import Kind, Page, decode_page
from agentco_tui.api.etags import if_none_match, usable_etag
from agentco_tui.api.long_list import LongList
from agentco_tui.api.memo import Memo
from agentco_tui.api.page_headers import PAGING_HEADERS
from agentco_tui.api.paging import PageRequest, more_suspected, next_page
from agentco_tui.api.reading import LARGE, beside, body_digest, read_body
from agentco_tui.api.slices import Sliced, read_sliced
from agentco_tui.model.records import Listing, Record
from agentco_tui.reading.schema import Json
from agentco_tui.reading.shared_ids import identity, marked
from agentco_tui.text import SafeText

if TYPE_CHECKING:
    from agentco_tui.api.head_start import HeadStart
    from agentco_tui.api.incoming import Reply
    from agentco_tui.api.transport import Transport

R = TypeVar("R", bound=Record)
K = TypeVar("K")
V = TypeVar("V")

_MOST_REASONS: Final = 5
_REMEMBERED: Final = 24
"""Lists whose last answer is kept: every feed, and a few filters a person goes to and fro in."""
_LIVE: Final = 12
"""Of these, so many are kept whatever they hold: more than there are feeds."""
_MOST_RECORDS: Final = 50_000
"""Records from which on no more lists than these are kept."""


class _Answer(NamedTuple, Generic[R]):
    """One answer as it came."""

    reply: Reply
    sliced: Sliced[R] | None
    """What was read of a long list while it came."""
    known: _Leaf[R] | None
    """The same page as it came the last time."""


class _Leaf(msgspec.Struct, Generic[R], frozen=True):
    """One page as it came."""

    request: PageRequest
    before: int
    """How many records the pages before it held."""
    digest: bytes
    """Hash of the body."""
    steering: tuple[str, ...]
    """The headers that say where the next page is."""
    page: Page[R]
    following: PageRequest | None
    more: bool
    size: int
    """Bytes of the body."""
    memo: Memo[R] | None = None
    """Of a long page: its records, to be known again."""


class _Last(msgspec.Struct, Generic[R], frozen=True):
    """The last answer to one list request."""

    leaves: tuple[_Leaf[R], ...]
    listing: Listing[R]
    etag: str | None
    stuck: bool
    """The answer named another page that brought nothing new."""
    capped: bool


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """Where following pages ends; a listing that ended there says so (`Listing.capped`)."""

    pages: int = 200
    records: int = 200_000
    seconds: float = 60.0
    """After which no further page is asked for."""
    total_bytes: int = 64 * 1024 * 1024
    """Of all bodies of one list together, unpacked."""


class Pager:
    """Fetches lists, and remembers the last answer to each."""

    def __init__(self, transport: Transport, caps: Caps) -> None:
        self._transport = transport
        self._caps = caps
        self.head_start: HeadStart | None = None
        """A request that was sent before all this was made; its answer is taken over once."""
        self._last: OrderedDict[tuple[Any, ...], _Last[Any]] = OrderedDict()
        self._uneven: OrderedDict[tuple[Any, ...], None] = OrderedDict()
        """Lists whose long answers have to be there as a whole to be read."""

    def over(self, transport: Transport) -> Pager:
        """One that remembers the same answers and asks for itself, over another transport."""
        other = copy(self)
        other._transport, other.head_start = transport, None
        return other

    async def listing(
        self,
        kind: Kind[R],
        path: str,
        params: tuple[tuple[str, str], ...],
        at_most: int | None = None,
    ) -> Listing[R]:
        """All pages of one list in one listing.

        With `at_most`, the person's own limit, no further page is asked for once so many records
        are there: many platforms take a limit for the length of a page. Where nothing has changed
        since the last time it is the very same object, and nothing was decoded. Raises ApiError;
        if any page cannot be had, the listing cannot be either.
        """
        key = (kind.name, path, params)
        most = min(self._caps.records, kind.most)
        last: _Last[R] | None = self._last.get(key)
        leaves: list[_Leaf[R]] = []
        seen: set[PageRequest] = set()
        ids: set[str] = set()
        held = 0
        request = PageRequest(path, params, str(self._transport.base))
        ends = monotonic() + self._caps.seconds
        etag: str | None = None
        listing: Listing[R] | None = None
        while True:
            seen.add(request)
            tag = last.etag if last is not None and not leaves else None
            known = last.leaves[len(leaves)] if last and len(leaves) < len(last.leaves) else None
            answer = await self._answer(kind, key, request, tag, known)
            if answer.reply.status == 304 and last is not None:
                self._last.move_to_end(key)
                return last.listing
            leaf = await self._leaf(kind, key, answer, request, held)
            etag = None if leaves else usable_etag(answer.reply.headers)
            del answer  # its body has been read, and is not kept while the next page comes
            leaves.append(leaf)
            held += len(leaf.page.records) + leaf.page.unread
            old = len(ids)
            if leaf.following is not None or len(leaves) > 1:
                # A list in one page has no other page to repeat it, and may be very long.
                ids.update(record.id for record in leaf.page.records)
            nothing_new = len(leaves) > 1 and len(ids) == old
            if leaf.following is None or leaf.following in seen or nothing_new:
                # A page that was asked for and repeats the others: we asked in vain for the rest.
                repeats = nothing_new and bool(leaf.page.records)
                stuck, capped = leaf.following is not None or repeats, False
                break
            enough = at_most is not None and held >= at_most
            if enough or self._is_full(leaves, len(ids), most) or monotonic() > ends:
                stuck, capped = False, True
                break
            request = leaf.following
        if last is not None and (last.stuck, last.capped) == (stuck, capped):
            listing = last.listing if _same(last.leaves, leaves) else None
        if listing is None:
            listing = self._listing(leaves, most, stuck=stuck, capped=capped)
        only = etag if len(leaves) == 1 else None
        _remember(self._last, key, _Last(tuple(leaves), listing, only, stuck, capped))
        while len(self._last) > _LIVE and self._held > _MOST_RECORDS:
            self._last.popitem(last=False)
        return listing

    @property
    def _held(self) -> int:
        """Records of all lists that are remembered."""
        return sum(len(last.listing.records) for last in self._last.values())

    async def _answer(
        self,
        kind: Kind[R],
        key: tuple[Any, ...],
        request: PageRequest,
        tag: str | None,
        known: _Leaf[R] | None,
    ) -> _Answer[R]:
        memo = _memo_of(known, request)
        coming = LongList(kind, memo, as_a_whole=key in self._uneven)
        reply = await self._ask(request, tag, coming)
        if coming.lost:
            _remember(self._uneven, key, None)
            reply = await self._ask(request, tag, LongList(kind, memo, as_a_whole=True))
        return _Answer(reply, coming.sliced, known)

    async def _ask(self, request: PageRequest, tag: str | None, coming: LongList[R]) -> Reply:
        if self.head_start is not None:
            early = await self.head_start.take(request.path, request.params, coming)
            if early is not None:
                self._transport.measured.answer(early.elapsed, "", 0.0, from_cache=True)
                return early
        return await self._transport.request(
            "GET",
            request.path,
            params=request.params,
            headers=if_none_match(tag),
            intake=coming,
        )

    async def _leaf(
        self,
        kind: Kind[R],
        key: tuple[Any, ...],
        answer: _Answer[R],
        request: PageRequest,
        before: int,
    ) -> _Leaf[R]:
        reply, sliced, known = answer
        digest = await body_digest(reply.body) if sliced is None else sliced.digest
        size = len(reply.body) if sliced is None else sliced.size
        headers: Mapping[str, str] = reply.headers
        steering = tuple(headers.get(name, "") for name in PAGING_HEADERS)
        if known is not None and (known.request, known.before, known.digest, known.steering) == (
            request,
            before,
            digest,
            steering,
        ):
            return known

        def leaf(page: Page[R], body: Json, memo: Memo[R] | None) -> _Leaf[R]:
            here = len(page.records) + page.unread
            following = next_page(body, headers, request, here)
            more = following is None and more_suspected(body, before + here, request, headers)
            return _Leaf(request, before, digest, steering, page, following, more, size, memo)

        if sliced is None and len(reply.body) > LARGE:
            memo = _memo_of(known, request)
            sliced = await beside(lambda: read_sliced(kind, reply.body, memo))
            if sliced is not None:
                self._uneven.pop(key, None)
        if sliced is not None:
            return leaf(sliced.page, sliced.body, sliced.memo)
        asked = self._transport.asked("GET", request.path)
        return await read_body(
            reply.body,
            asked,
            reply.status,
            lambda body: leaf(decode_page(kind, body), body, None),
        )

    def _is_full(self, leaves: list[_Leaf[R]], records: int, most: int) -> bool:
        return (
            len(leaves) >= self._caps.pages
            or records >= most
            or sum(leaf.size for leaf in leaves) >= self._caps.total_bytes
        )

    def _listing(
        self, leaves: list[_Leaf[R]], most: int, *, stuck: bool, capped: bool
    ) -> Listing[R]:
        records = leaves[0].page.records
        if len(leaves) > 1:
            # Of a record that moved from page to page between two requests, the later one counts.
            rows = (row for leaf in leaves for row in leaf.page.records)
            records = tuple({identity(row): row for row in rows}.values())
        records = tuple(marked(records))
        if len(records) > most:
            records, capped = records[:most], True
        digests = [leaf.digest for leaf in leaves]
        pages = [leaf.page for leaf in leaves]
        totals = [page.total for page in pages if page.total is not None]
        return Listing(
            records=records,
            unread=sum(page.unread for page in pages),
            unread_reasons=_reasons(pages),
            capped=capped,
            more=stuck or leaves[-1].more,
            total=totals[-1] if totals else None,
            shape=pages[0].shape,
            pages=len(leaves),
            digest=digests[0] if len(digests) == 1 else blake2b(b"".join(digests)).digest()[:16],
        )


def _remember(kept: OrderedDict[K, V], key: K, value: V) -> None:
    """Keep a value as the youngest, and let go of the oldest where there are too many."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _REMEMBERED:
        kept.popitem(last=False)


def _memo_of(known: _Leaf[R] | None, request: PageRequest) -> Memo[R] | None:
    """What is remembered of the same page."""
    return known.memo if known is not None and known.request == request else None


def _same(before: tuple[_Leaf[R], ...], now: list[_Leaf[R]]) -> bool:
    """True if no page had to be decoded again."""
    return len(before) == len(now) and all(map(lambda old, new: old is new, before, now))


def _reasons(pages: list[Page[R]]) -> tuple[SafeText, ...]:
    told = [page.notice for page in pages if page.notice is not None]
    for page in pages:
        told += page.unread_reasons
    return tuple(dict.fromkeys(told))[:_MOST_REASONS]
