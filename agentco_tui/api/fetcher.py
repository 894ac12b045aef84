"""Fetches records and lists, and caches the last answer to each list.

A `Kind` describes one kind of record (tasks, AI agents, …): the names of its fields in answers, and
how a record is built. A `Listing` has the records of all pages of a list. A row is one object of a
list in an answer; a record is made of it. A list that has not changed is the very same object as
before, and of a list that has changed only the new rows are decoded. Long bodies are decoded in the
reading thread, so that the event loop is not blocked. Whatever is wrong with an answer is raised as
an ApiError.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from msgspec.structs import replace

from agentco_tui.api.errors import ApiError
from agentco_tui.api.page_walk import (
    CachedListing,
    CachedPage,
    PageSignature,
    PageWalk,
    WalkLimits,
)
from agentco_tui.api.pagination import PAGING_HEADERS, PageRequest, next_page
from agentco_tui.api.reply_decoding import decode_body, list_reader
from agentco_tui.model import Listing, Record
from agentco_tui.reading.decode import MOST_REASONS, Page, read_page
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import parse_json
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping
from agentco_tui.reading.row_cache import RowDecoder
from agentco_tui.reading.schema import Kind
from agentco_tui.reading.shared_values import SharedValues
from agentco_tui.reading.stream import Beginning, ListReader
from agentco_tui.system.background import beside

if TYPE_CHECKING:
    from agentco_tui.api.prefetch import Prefetch
    from agentco_tui.api.reply import Reply
    from agentco_tui.api.transport import MakeReader, Transport

R = TypeVar("R", bound=Record)
T = TypeVar("T")

_LONG_BODY: Final = 64 * 1024
"""Bytes: a shorter body is decoded in some 10 ms, for which no thread is needed."""
_MOST_CACHED_LISTS: Final = 12
"""More lists than the dashboard polls."""
_STREAMED_KINDS: Final = frozenset({"company", "agent", "task", "activity"})
"""Kinds whose rows can be read one by one, independently of the rest of the body."""

CacheKey: TypeAlias = tuple[str, str, str, tuple[tuple[str, str], ...]]
"""Name of the kind, which of several lists it is, path and parameters of a list."""


class Fetcher:
    """Fetches records and lists through one transport, and caches the lists."""

    def __init__(
        self,
        transport: Transport,
        *,
        page_cap: int = 200,
        record_cap: int = 200_000,
        mapping: ProfileMapping = AS_SENT,
    ) -> None:
        """No list is read beyond `page_cap` pages or `record_cap` records; its `capped` says so.

        `mapping` has the names, units and words that the user has declared for this platform, the
        remote service; `AS_SENT` declares none.
        """
        self.transport = transport
        self.mapping = mapping
        self.prefetch: Prefetch | None = None
        self._page_cap = page_cap
        self._record_cap = record_cap
        self._most_cached_lists = _MOST_CACHED_LISTS
        self._cache: OrderedDict[CacheKey, CachedListing[Any]] = OrderedDict()
        """The list that was requested last is at the end."""

    async def _decode_reply(
        self,
        reply: Reply,
        decode: Callable[[Json], T],
        parse: Callable[[bytes], Json] = parse_json,
    ) -> T:
        """What `decode` makes of the JSON in an answer. Raises ApiError."""
        work = partial(decode_body, reply.body, reply.request, reply.status, decode, parse)
        # `beside` runs it in the background thread.
        outcome = await beside(work) if len(reply.body) > _LONG_BODY else work()
        if isinstance(outcome, ApiError):
            raise outcome
        self.transport.measured.reached = True  # the address is right: errors no longer doubt it
        return outcome

    async def _fetch_listing(
        self,
        kind: Kind[R],
        path: str,
        filters: Mapping[str, str | None] = {},
        *,
        at_most: int | None = None,
        begins: Callable[[Sequence[R]], None] | None = None,
        once: bool = False,
    ) -> Listing[R]:
        """All pages of a list in one listing; filters that are None are left out.

        `at_most` is the user's own limit: no further page is requested once so many rows are read,
        because many platforms take a limit for the length of a page. `begins` is called with the
        first rows of a list that is long and not cached. A list that is requested `once` is not
        cached. An unchanged list is the same object as before. Raises ApiError, also if one of the
        pages cannot be read.
        """
        kind = self.mapping.kind(kind)
        params = tuple((name, value) for name, value in filters.items() if value is not None)
        cache_key = (kind.name, kind.source, path, params)
        cached: CachedListing[R] | None = self._cache.get(cache_key)
        beginning: Beginning[R] | None = None
        if begins is not None and cached is None:
            beginning = _beginning_for(begins)
        limits = WalkLimits(
            pages=self._page_cap,
            records=min(self._record_cap, kind.max_rows),  # the cap of its kind
            size=self.transport.limits.body,
            wanted_rows=at_most,
        )
        walk: PageWalk[R] = PageWalk(PageRequest(path, params, self.transport.root), limits)
        shared_values = SharedValues()
        while (request := walk.next_request) is not None:
            old_page = cached.page_at(len(walk.pages)) if cached else None
            is_only_page = cached is not None and len(cached.pages) == 1
            # Of a list that is described by a file each page is asked for if it has changed.
            is_same_page = kind.where is not None and _asks_for(request, walk.row_count, old_page)
            etag = old_page.etag if old_page and (is_only_page or is_same_page) else None
            page = await self._fetch_page(
                *(kind, request, walk.row_count, old_page, shared_values),
                etag=etag,
                beginning=beginning,
            )
            walk.add(page)
        if cached is None or not walk.is_same_as(cached):
            cached = walk.finish()
        if not once:
            self._remember(cache_key, cached)
        return cached.listing

    def _remember(self, cache_key: CacheKey, cached: CachedListing[R]) -> None:
        self._cache[cache_key] = cached
        self._cache.move_to_end(cache_key)
        if len(self._cache) > self._most_cached_lists:
            self._cache.popitem(last=False)

    def _last_listed(self, kind: str, record_id: str) -> Record | None:
        """The record with this id from the newest cached list of its kind, or None."""
        for (name, *_), cached in reversed(self._cache.items()):
            if name != kind:
                continue
            records: Sequence[Record] = cached.listing.records
            for record in records:
                if record.id == record_id:
                    return record
        return None

    async def _fetch_page(
        self,
        kind: Kind[R],
        request: PageRequest,
        rows_before: int,
        cached: CachedPage[R] | None,
        shared_values: SharedValues,
        *,
        etag: str | None,
        beginning: Beginning[R] | None,
    ) -> CachedPage[R]:
        """One page after `rows_before` rows; `cached` itself if it has not changed.

        `shared_values` are those of the pages before it.
        """
        # Rows are compared with those of the same request only.
        same_request = cached if cached and cached.signature.request == request else None
        stream: MakeReader | None = None
        if kind.name in _STREAMED_KINDS and kind.where is None:
            known_rows = same_request.known_rows if same_request else None
            stream = partial(list_reader, kind, known_rows, beginning)
        reply = await self._request_page(kind, request, etag, stream, beginning)
        if reply.status == 304 and cached is not None:
            return cached
        streamed: ListReader[R] | None = reply.streamed
        if streamed is None:
            digest = blake2b(reply.body, digest_size=16).digest()
        else:
            digest = streamed.digest
        paging_headers = tuple(reply.headers.get(name, "") for name in PAGING_HEADERS)
        signature = PageSignature(request, rows_before, digest, paging_headers)
        if cached is not None and cached.signature == signature:
            cached.etag = reply.headers.get("etag")
            return cached
        if streamed is not None:
            return await self._streamed_page(kind, reply, streamed, signature)
        cached_rows = same_request.cached_rows if same_request else None
        decoder = RowDecoder(kind, cached_rows, shared_values)
        return await self._decoded_page(reply, decoder, signature)

    async def _request_page(
        self,
        kind: Kind[Any],
        request: PageRequest,
        etag: str | None,
        stream: MakeReader | None,
        beginning: Beginning[Any] | None,
    ) -> Reply:
        """The answer to one GET of a list, which may have been sent already (`prefetch`).

        `kind` is for subclasses with several kinds of records in one body.
        """
        if self.prefetch is not None:
            reply = await self.prefetch.take(request.path, request.params, beginning)
            if reply is not None:
                return reply
        return await self.transport.request(
            "GET", request.path, params=request.params, etag=etag, stream=stream
        )

    async def _decoded_page(
        self, reply: Reply, decoder: RowDecoder[R], signature: PageSignature
    ) -> CachedPage[R]:
        """A page whose body is in the reply."""

        def decode(body: Json) -> CachedPage[R]:
            page = decoder.read_page(body)
            cached = _page_with_rest(
                page, body, reply, signature, len(reply.body), kind=decoder.kind
            )
            cached.cached_rows = decoder.rows
            return cached

        return await self._decode_reply(reply, decode, decoder.parse)

    async def _streamed_page(
        self, kind: Kind[R], reply: Reply, streamed: ListReader[R], signature: PageSignature
    ) -> CachedPage[R]:
        """A page whose rows were read while its body arrived: only its envelope is decoded here."""

        def decode(envelope: Json) -> CachedPage[R]:
            page = replace(
                read_page(kind, envelope),
                records=tuple(streamed.records),
                unread=sum(streamed.unread.values()),
                unread_reasons=tuple(streamed.unread)[:MOST_REASONS],
            )
            cached = _page_with_rest(page, envelope, reply, signature, streamed.size, kind=kind)
            cached.known_rows = replace(streamed.known, records=page.records)
            return cached

        return await self._decode_reply(replace(reply, body=streamed.envelope), decode)


def _page_with_rest(
    page: Page[R], body: Json, reply: Reply, signature: PageSignature, size: int, *, kind: Kind[R]
) -> CachedPage[R]:
    """A page with what its answer, or else its kind, says about the next one."""
    row_count = page.row_count
    rest = next_page(body, reply.headers, signature.request, row_count, signature.rows_before)
    if kind.offset is not None and rest.request is None and row_count >= kind.offset.size:
        rows_read = str(signature.rows_before + row_count)
        request = signature.request.with_token(rows_read, kind.offset.parameter)
        rest = rest._replace(request=request, more=request is None)
    return CachedPage(signature, reply.headers.get("etag"), page, rest, size)


def _asks_for(request: PageRequest, rows_before: int, page: CachedPage[Any] | None) -> bool:
    """Whether a request is the one that brought a page before."""
    if page is None:
        return False
    return (page.signature.request, page.signature.rows_before) == (request, rows_before)


def _beginning_for(begins: Callable[[Sequence[R]], None]) -> Beginning[R]:
    """A future whose result, set in the reading thread, is passed to `begins` in the event loop."""
    beginning: Beginning[R] = Future()
    loop = asyncio.get_running_loop()
    beginning.add_done_callback(lambda first: loop.call_soon_threadsafe(begins, first.result()))
    return beginning
