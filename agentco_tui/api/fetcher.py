"""Reads whole answers: one record, or a list with all its pages, and only as far as it changed.

Bodies of more than `_LARGE` bytes are parsed in the thread that reads, so that the event loop is
never held. Whatever is wrong with an answer is told as an ApiError.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

from agentco_tui.api import error_messages, errors
from agentco_tui.api.decode import Kind, Page, RefusedBody, Unshaped, decode_page
from agentco_tui.api.error_messages import Asked, unusable
from agentco_tui.api.errors import ApiError
from agentco_tui.api.pagination import PAGING_HEADERS, PageRequest, more_suspected, next_page
from agentco_tui.api.response_body import beside
from agentco_tui.model import Listing, Record
from agentco_tui.reading.error_body import error_in, says_failed
from agentco_tui.reading.json_body import (
    BodyError,
    OverfullBodyError,
    looks_like_html,
    parse_json,
)
from agentco_tui.reading.schema import Json
from agentco_tui.reading.shared_ids import identity, marked
from agentco_tui.reading.stream import KnownRows, ListReader
from agentco_tui.text import SafeText, plain

if TYPE_CHECKING:
    from agentco_tui.api.prefetch import Prefetch
    from agentco_tui.api.transport import Pairs, Reply, Transport

R = TypeVar("R", bound=Record)
T = TypeVar("T")

_LARGE: Final = 256 * 1024
"""Bytes: below this, reading takes less than a thread is worth."""
_MOST_REASONS: Final = 5
_REMEMBERED: Final = 24
"""Lists whose last answer is kept: every feed, and a few filters a person goes to and fro in."""
_LIVE: Final = 12
"""Of these, so many are kept whatever they hold: more than there are feeds."""
_MOST_RECORDS: Final = 50_000
"""Records from which on no more lists than these are kept."""
_ETAG: Final = re.compile(r'(W/)?"[!#-~]{0,200}"')
_ALONE: Final = frozenset({"companies", "agents", "tasks", "activity"})
"""Kinds of which each record is read by itself, whatever stands beside it."""


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """Where following pages ends; a listing that ended there says so (`Listing.capped`)."""

    pages: int = 200
    records: int = 200_000
    seconds: float = 60.0
    """After which no further page is asked for."""
    total_bytes: int = 64 * 1024 * 1024
    """Of all bodies of one list together, unpacked."""


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
    rows: KnownRows[R] | None = None
    """Of a page that was streamed."""


class _Last(msgspec.Struct, Generic[R], frozen=True):
    """The last answer to one list request."""

    leaves: tuple[_Leaf[R], ...]
    listing: Listing[R]
    etag: str | None
    stuck: bool
    """The answer named another page that brought nothing new."""
    capped: bool


class Fetcher:
    """Fetches, and remembers the last answer to each list."""

    def __init__(self, transport: Transport, caps: Caps) -> None:
        self._transport = transport
        self._caps = caps
        self.prefetch: Prefetch | None = None
        """A request that was sent before all this was made; its answer is taken over once."""
        self._last: OrderedDict[tuple[Any, ...], _Last[Any]] = OrderedDict()

    def over(self, transport: Transport) -> Fetcher:
        """One that remembers the same answers and asks for itself, over another transport."""
        other = copy(self)
        other._transport, other.prefetch = transport, None
        return other

    async def ask(
        self,
        method: str,
        path: str,
        work: Callable[[Json, int], T],
        *,
        json_body: bytes | None = None,
        headers: Pairs = (),
    ) -> T:
        """Send one request; what `work` makes of the JSON in its answer and of its status."""
        reply = await self._transport.request(method, path, json_body=json_body, headers=headers)
        asked = self._transport.asked(method, path)
        return await self.read(reply, asked, lambda body: work(body, reply.status))

    async def read(self, reply: Reply, asked: Asked, work: Callable[[Json], T]) -> T:
        """What `work` makes of the JSON in an answer.

        Raises WebPage or NotJson for what is no JSON, Unreadable for JSON without what was asked
        for, and OtherStatus or RateLimited for a 2xx that says that the call failed.
        """
        body, status = reply.body, reply.status

        def whole() -> T | ApiError:
            # The error is handed back, so that no parser's exception hangs on to it.
            return _outcome(body, asked, status, work)

        outcome = await beside(whole) if len(body) > _LARGE else whole()
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

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
        while True:
            seen.add(request)
            tag = last.etag if last is not None and not leaves else None
            known = last.leaves[len(leaves)] if last and len(leaves) < len(last.leaves) else None
            reply = await self._ask(kind, request, tag, known)
            if reply.status == 304 and last is not None:
                self._last.move_to_end(key)
                return last.listing
            leaf = await self._leaf(kind, reply, request, held, known)
            etag = None if leaves else usable_etag(reply.headers)
            del reply  # its body has been read, and is not kept while the next page comes
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
        if (
            last is not None
            and (last.stuck, last.capped, len(last.leaves)) == (stuck, capped, len(leaves))
            and all(map(lambda old, new: old is new, last.leaves, leaves))
        ):
            listing = last.listing
        else:
            listing = _joined(leaves, most, stuck=stuck, capped=capped)
        only = etag if len(leaves) == 1 else None
        self._remember(key, _Last(tuple(leaves), listing, only, stuck, capped))
        return listing

    def _remember(self, key: tuple[Any, ...], last: _Last[R]) -> None:
        kept = self._last
        kept[key] = last
        kept.move_to_end(key)
        while len(kept) > _REMEMBERED or (
            len(kept) > _LIVE
            and sum(len(each.listing.records) for each in kept.values()) > _MOST_RECORDS
        ):
            kept.popitem(last=False)

    async def _ask(
        self, kind: Kind[R], request: PageRequest, tag: str | None, known: _Leaf[R] | None
    ) -> Reply:
        if self.prefetch is not None:
            early = await self.prefetch.take(request.path, request.params)
            if early is not None:
                self._transport.measured.answer(early.elapsed, "", 0.0, from_cache=True)
                return early
        rows = known.rows if known is not None and known.request == request else None
        return await self._transport.request(
            "GET",
            request.path,
            params=request.params,
            headers=if_none_match(tag),
            stream=list_reader(kind, rows, self._transport.asked("GET", request.path)),
        )

    async def _leaf(
        self,
        kind: Kind[R],
        reply: Reply,
        request: PageRequest,
        before: int,
        known: _Leaf[R] | None,
    ) -> _Leaf[R]:
        streamed: ListReader[R] | None = reply.streamed
        headers: Mapping[str, str] = reply.headers
        steering = tuple(headers.get(name, "") for name in PAGING_HEADERS)
        size = len(reply.body) if streamed is None else streamed.size
        digest = streamed.digest if streamed is not None else await body_digest(reply.body)
        signature = (request, before, digest, steering)
        if known is not None and signature == (
            known.request,
            known.before,
            known.digest,
            known.steering,
        ):
            return known

        def leaf(body: Json) -> _Leaf[R]:
            page: Page[R] = decode_page(kind, body)
            rows = None
            if streamed is not None:
                rows = streamed.known
                page = msgspec.structs.replace(
                    page,
                    records=tuple(streamed.records),
                    unread=sum(streamed.unread.values()),
                    unread_reasons=tuple(streamed.unread)[:_MOST_REASONS],
                )
            here = len(page.records) + page.unread
            following = next_page(body, headers, request, here)
            more = following is None and more_suspected(body, before + here, request, headers)
            return _Leaf(*signature, page, following, more, size, rows)

        if streamed is not None:
            reply = replace(reply, body=streamed.envelope)
        asked = self._transport.asked("GET", request.path)
        return await self.read(reply, asked, leaf)

    def _is_full(self, leaves: list[_Leaf[R]], records: int, most: int) -> bool:
        return (
            len(leaves) >= self._caps.pages
            or records >= most
            or sum(leaf.size for leaf in leaves) >= self._caps.total_bytes
        )


def list_reader(
    kind: Kind[R], known: KnownRows[R] | None, asked: Asked
) -> Callable[[], ListReader[R]] | None:
    """Makes what reads a long list of this kind while it comes; None if it can't be read so."""

    def read(body: bytes) -> Page[R]:
        outcome: Page[R] | ApiError = _outcome(body, asked, 200, partial(decode_page, kind))
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

    return partial(ListReader, read, known, kind.most) if kind.name in _ALONE else None


def usable_etag(headers: Mapping[str, str]) -> str | None:
    """The ETag, if it is one as RFC 9110 has them and so may go back in a header."""
    tag = headers.get("etag", "").strip()
    return tag if _ETAG.fullmatch(tag) else None


def if_none_match(tag: str | None) -> tuple[tuple[str, str], ...]:
    """The header that asks for an answer only if it is another one; none without a tag."""
    return () if tag is None else (("If-None-Match", tag),)


async def body_digest(body: bytes) -> bytes:
    """A hash of a body: 16 bytes. A megabyte takes about a millisecond."""

    def digest() -> bytes:
        return blake2b(body, digest_size=16).digest()

    return await beside(digest) if len(body) > 4 * _LARGE else digest()


def not_the_export(
    first: bytes, content_type: str, wanted: str, asked: Asked, status: int
) -> ApiError | None:
    """What is wrong with an export that begins with `first`; None if it looks as it should.

    A sign-in page or a JSON error may come with a 200 and under any content type, so the first
    bytes are looked at too. Only for the format `wanted` "json" may it be JSON.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if "html" in kind or looks_like_html(first):
        return unusable(errors.WebPage, asked, status)
    begins = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not begins or wanted == "json" or not (kind.endswith("json") or begins in (b"{", b"[")):
        return None
    try:
        found = parse_json(first)
    except BodyError:
        found = None
    if says_failed(found) or (isinstance(found, dict) and "error" in found):
        return error_messages.failed_inside(asked, status, error_in(found))
    return unusable(errors.Unreadable, asked, status, f"JSON where {wanted} was due")


def _outcome(body: bytes, asked: Asked, status: int, work: Callable[[Json], T]) -> T | ApiError:
    if status == 200 and asked.method == "GET" and (not body or body.isspace()):
        # A 204 says that there is nothing; a 200 without a body says nothing, and "no task waits"
        # must not be made of that.
        return unusable(errors.NotJson, asked, status, plain("the answer is empty"))
    try:
        return work(parse_json(body))
    except OverfullBodyError:
        return unusable(errors.TooLarge, asked, status, "what fits into memory")
    except BodyError as error:
        kind = errors.WebPage if error.is_html else errors.NotJson
        return unusable(kind, asked, status, error.reason)
    except RefusedBody as error:
        return error_messages.failed_inside(asked, status, error.refusal)
    except Unshaped as error:
        return unusable(errors.Unreadable, asked, status, error.sentence)


def _joined(leaves: list[_Leaf[R]], most: int, *, stuck: bool, capped: bool) -> Listing[R]:
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
    told: list[SafeText] = [page.notice for page in pages if page.notice is not None]
    for page in pages:
        told += page.unread_reasons
    return Listing(
        records=records,
        unread=sum(page.unread for page in pages),
        unread_reasons=tuple(dict.fromkeys(told))[:_MOST_REASONS],
        capped=capped,
        more=stuck or leaves[-1].more,
        total=totals[-1] if totals else None,
        shape=pages[0].shape,
        pages=len(leaves),
        digest=digests[0] if len(digests) == 1 else blake2b(b"".join(digests)).digest()[:16],
    )
