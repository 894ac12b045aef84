"""Reads whole answers: one record, or a list with all its pages, and only as far as it changed.

Bodies of more than `_LARGE` bytes are parsed in the thread that reads, so that the event loop is
never held. Whatever is wrong with an answer is told as an ApiError.
"""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing
from functools import partial
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.api.error_messages import Asked, failed_inside, unusable
from agentco_tui.api.errors import ApiError
from agentco_tui.api.pagination import PAGING_HEADERS, ListRest, PageRequest, next_page
from agentco_tui.model import Listing, Record, Task
from agentco_tui.reading.decode import Page, RefusedBody, UnexpectedShape, read_page
from agentco_tui.reading.identity import mark_shared, same_row
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import BodyError, OverfullBodyError, parse_json
from agentco_tui.reading.mapping import AS_SENT, ProfileMapping
from agentco_tui.reading.row_cache import CachedRows, RowDecoder
from agentco_tui.reading.schema import Kind
from agentco_tui.reading.stream import Beginning, KnownRows, ListReader
from agentco_tui.system.background import beside
from agentco_tui.text import SafeText, plain

if TYPE_CHECKING:
    from agentco_tui.api.transport import Pairs, Reply, Transport

R = TypeVar("R", bound=Record)
T = TypeVar("T")

_TASKS: Final = "/api/tasks"
_MOST_SECONDS: Final = 60.0  # after which no further page of a list is asked for
_LARGE: Final = 256 * 1024  # bytes: below, reading takes less than a thread is worth
_MOST_REASONS: Final = 5
_REMEMBERED: Final = 12  # lists whose last answer is kept: more than there are feeds
_ALONE: Final = frozenset({"company", "agent", "task", "activity"})
"""Kinds of which each record is read by itself, whatever stands beside it."""


class Prefetch:
    """The request for the tasks that wait, which every screen needs, on its way while Textual and
    the screens are still being imported; what came of it can be taken over once.
    """

    def __init__(self, params: Pairs) -> None:
        self.params = params
        self._reply: Future[Reply | None] | None = Future()
        # So that a request that waited in vain can't cancel it.
        self._reply.set_running_or_notify_cancel()
        self._beginning: Beginning[Task] = Future()

    @classmethod
    def begin(
        cls, company: str | None, base: BaseUrl, key: ApiKey | None, **settings: Any
    ) -> Prefetch | None:
        """Ask for the tasks of a company or of all, from a thread, with a connection of its own.

        None without a key. `settings` are those of the Transport.
        """
        if key is None:
            return None
        scope = () if company is None else (("company_id", company),)
        early = cls((*scope, ("status", "pending")))
        reply, under_way = early._reply, threading.Event()

        def reader(asked: Asked) -> ListReader[Task]:
            from agentco_tui.reading.kinds.task import TASKS  # noqa: PLC0415 - for a long list only

            return list_reader(TASKS, None, early._beginning, asked)

        async def asked() -> Reply:
            from agentco_tui.api.transport import Transport  # noqa: PLC0415

            async with aclosing(Transport(base, key, attempts=1, **settings)) as transport:
                under_way.set()
                return await transport.request("GET", _TASKS, params=early.params, stream=reader)

        def work() -> None:
            assert reply is not None
            try:
                reply.set_result(asyncio.run(asked()))
            except ApiError as error:
                reply.set_exception(error)
            except (CredentialError, OSError):
                reply.set_result(None)  # told when the transport itself is made, or asks
            finally:
                under_way.set()

        threading.Thread(target=work, name="prefetch", daemon=True).start()
        # Two threads that import take turns: the request would be sent when both are through.
        under_way.wait()
        return early

    async def take(
        self, path: str, params: Pairs, beginning: Beginning[Any] | None = None
    ) -> Reply | None:
        """The answer, if this is the request that was sent and it was not taken before, else None.

        `beginning` gets the first rows of a long list. Raises ApiError as the request itself would.
        """
        reply = self._reply
        if reply is None or (path, tuple(params)) != (_TASKS, self.params):
            return None
        # The first list must not be held for as long as the program runs.
        self._reply = None
        if beginning is not None:
            self._beginning.add_done_callback(lambda first: beginning.set_result(first.result()))
        return await asyncio.wrap_future(reply)


class _Leaf(msgspec.Struct, Generic[R]):
    signature: tuple[PageRequest, int, bytes, tuple[str, ...]]
    """Its request, how many records stood before it, the hash of its body, and `PAGING_HEADERS`:
    with the same ones it is the same page."""
    etag: str | None
    page: Page[R]
    following: ListRest
    size: int  # bytes of the body
    rows: KnownRows[R] | None = None  # of a page that was streamed
    cached_rows: CachedRows[R] | None = None  # of a page that was not


class _Last(msgspec.Struct, Generic[R], frozen=True):
    leaves: list[_Leaf[R]]
    listing: Listing[R]
    end: tuple[bool, bool]
    """Whether the answer named another page that brought nothing new, and whether a cap ended."""


class Fetcher:
    """Fetches, and remembers the last answer to each list."""

    def __init__(
        self,
        transport: Transport,
        *,
        page_cap: int = 200,
        record_cap: int = 200_000,
        mapping: ProfileMapping = AS_SENT,
    ) -> None:
        """`page_cap` and `record_cap` end the following of pages; a Listing says if they did."""
        self.transport = transport
        self.mapping = mapping
        self.prefetch: Prefetch | None = None
        self._page_cap, self._record_cap = page_cap, record_cap
        self._last = dict[tuple[Any, ...], _Last[Any]]()

    async def _read(
        self,
        reply: Reply,
        work: Callable[[Json], T],
        parse: Callable[[bytes], Json] = parse_json,
    ) -> T:
        """What `work` makes of the JSON in an answer; an ApiError for what it cannot be made of."""
        # The error is handed back, so that no parser's exception hangs on to it.
        told = partial(_outcome, reply.body, reply.asked, reply.status, work, parse)
        outcome = await beside(told) if len(reply.body) > _LARGE else told()
        if isinstance(outcome, ApiError):
            raise outcome
        self.transport.measured.reached = True
        return outcome

    async def read_with(
        self, path: str, params: Sequence[tuple[str, str]], work: Callable[[Json], T]
    ) -> T:
        """What `work` makes of the answer to one GET; errors are those of every other read."""
        reply = await self.transport.request("GET", path, params=tuple(params))
        return await self._read(reply, work)

    async def _listing(
        self,
        kind: Kind[R],
        path: str,
        filters: Mapping[str, str | None] = {},
        *,
        at_most: int | None = None,
        begins: Callable[[Sequence[R]], None] | None = None,
        once: bool = False,
    ) -> Listing[R]:
        """All pages of one list in one listing; filters that are None are left out.

        With `at_most`, the person's own limit, no further page is asked for once so many records
        are there: many platforms take a limit for the length of a page. `begins` gets the first
        rows of a list that is long and new. Where nothing has changed since the last time it is the
        very same object, but for a question that is put `once`. Raises ApiError, also if a single
        page cannot be had.
        """
        kind = self.mapping.kind(kind)
        params = tuple((name, value) for name, value in filters.items() if value is not None)
        key = (kind.name, path, params)
        most = min(self._record_cap, kind.most)
        last: _Last[R] | None = self._last.get(key)
        leaves: list[_Leaf[R]] = []
        seen: set[PageRequest] = set()
        ids: set[str] = set()
        held = size = 0
        following: PageRequest | None = PageRequest(path, params, self.transport.root)
        ends = monotonic() + _MOST_SECONDS
        beginning: Beginning[R] | None = None
        if begins is not None and last is None:
            beginning, loop = Future(), asyncio.get_running_loop()
            beginning.add_done_callback(
                lambda first: loop.call_soon_threadsafe(begins, first.result())
            )
        stuck = capped = False
        while following is not None and not stuck and not capped:
            seen.add(following)
            known = last.leaves[len(leaves)] if last and len(leaves) < len(last.leaves) else None
            tag = known.etag if last and known and len(last.leaves) == 1 else None
            leaf = await self._page(kind, following, held, known, tag=tag, beginning=beginning)
            leaves.append(leaf)
            held += len(leaf.page.records) + leaf.page.unread
            size += leaf.size
            following = leaf.following.request
            old = len(ids)
            if following is not None or len(leaves) > 1:
                # A list in one page has no other page to repeat it, and may be very long.
                ids.update(record.id for record in leaf.page.records)
            if len(leaves) > 1 and len(ids) == old:
                # A page that was asked for and repeats the others: we asked in vain for the rest.
                stuck = following is not None or bool(leaf.page.records)
                break
            stuck = following in seen
            capped = following is not None and (
                (at_most is not None and held >= at_most)
                or len(leaves) >= self._page_cap
                or len(ids) >= most
                or size >= self.transport.limits.body
                or monotonic() > ends
            )
        capped = capped and not stuck
        is_known = last is not None and (
            (last.end, len(last.leaves)) == ((stuck, capped), len(leaves))
            and all(map(operator.is_, last.leaves, leaves))
        )
        if last is None or not is_known:
            listing = _joined(leaves, most, stuck=stuck, capped=capped)
            last = _Last(leaves, listing, (stuck, capped))
        if once:
            return last.listing
        self._last.pop(key, None)  # the one asked for last stands last
        self._last[key] = last
        if len(self._last) > _REMEMBERED:
            del self._last[next(iter(self._last))]
        return last.listing

    async def _page(
        self,
        kind: Kind[R],
        request: PageRequest,
        before: int,
        known: _Leaf[R] | None,
        *,
        tag: str | None,
        beginning: Beginning[R] | None,
    ) -> _Leaf[R]:
        """One page behind `before` records; `known` itself if it has not changed."""
        early = self.prefetch
        reply = await early.take(request.path, request.params, beginning) if early else None
        if reply is None:
            rows = known.rows if known and known.signature[0] == request else None
            reply = await self.transport.request(
                "GET",
                request.path,
                params=request.params,
                etag=tag,
                stream=partial(list_reader, kind, rows, beginning) if kind.name in _ALONE else None,
            )
        if reply.status == 304 and known is not None:
            return known
        headers, etag = reply.headers, reply.headers.get("etag")
        streamed: ListReader[R] | None = reply.streamed
        if streamed is None:
            digest, size = blake2b(reply.body, digest_size=16).digest(), len(reply.body)
        else:
            digest, size = streamed.digest, streamed.size
            reply = replace(reply, body=streamed.envelope)
        steering = tuple(headers.get(name, "") for name in PAGING_HEADERS)
        signature = (request, before, digest, steering)
        if known is not None and known.signature == signature:
            known.etag = etag
            return known

        is_same_request = known is not None and known.signature[0] == request
        cached_rows = known.cached_rows if known is not None and is_same_request else None
        decoder = RowDecoder(kind, cached_rows)

        def leaf(body: Json) -> _Leaf[R]:
            rows = None
            if streamed is None:
                page = decoder.read_page(body)
            else:
                page = read_page(kind, body)
                rows = streamed.known
                page = replace(
                    page,
                    records=tuple(streamed.records),
                    unread=sum(streamed.unread.values()),
                    unread_reasons=tuple(streamed.unread)[:_MOST_REASONS],
                )
            length = len(page.records) + page.unread
            following = next_page(body, headers, request, length, before)
            return _Leaf(signature, etag, page, following, size, rows, decoder.rows)

        parse = decoder.parse if streamed is None else parse_json
        return await self._read(reply, leaf, parse)


def list_reader(
    kind: Kind[R], known: KnownRows[R] | None, beginning: Beginning[R] | None, asked: Asked
) -> ListReader[R]:
    """Reads a long list while it comes; `known` is what the last reading of it left."""

    def read(body: bytes) -> Page[R]:
        outcome = _outcome(body, asked, 200, partial(read_page, kind))
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

    return ListReader(read, known, kind.most, beginning)


def _outcome(
    body: bytes,
    asked: Asked,
    status: int,
    work: Callable[[Json], T],
    parse: Callable[[bytes], Json] = parse_json,
) -> T | ApiError:
    if status == 200 and asked.method == "GET" and (not body or body.isspace()):
        # A 204 says that there is nothing; a 200 without a body says nothing, and "no task waits"
        # must not be made of that.
        return unusable(errors.NotJson, asked, status, plain("the answer is empty"))
    try:
        return work(parse(body))
    except OverfullBodyError:
        return unusable(errors.TooLarge, asked, status, "what fits into memory")
    except BodyError as error:
        kind = errors.WebPage if error.is_html else errors.NotJson
        return unusable(kind, asked, status, error.reason)
    except RefusedBody as error:
        return failed_inside(asked, status, error.refusal)
    except UnexpectedShape as error:
        return unusable(errors.Unreadable, asked, status, error.sentence)


def _joined(leaves: list[_Leaf[R]], most: int, *, stuck: bool, capped: bool) -> Listing[R]:
    records = leaves[0].page.records
    if len(leaves) > 1:
        # Of a record that moved from page to page between two requests, the later one counts.
        rows = (row for leaf in leaves for row in leaf.page.records)
        records = tuple({same_row(row): row for row in rows}.values())
    records = tuple(mark_shared(records))
    if len(records) > most:
        records, capped = records[:most], True
    digests = [leaf.signature[2] for leaf in leaves]
    pages = [leaf.page for leaf in leaves]
    totals = [total for leaf in leaves if (total := leaf.following.total) is not None]
    told: list[SafeText] = [page.notice for page in pages if page.notice is not None]
    for page in pages:
        told += page.unread_reasons
    return Listing(
        records=records,
        unread=sum(page.unread for page in pages),
        unread_reasons=tuple(dict.fromkeys(told))[:_MOST_REASONS],
        capped=capped,
        more=stuck or leaves[-1].following.more,
        total=totals[-1] if totals else None,
        shape=pages[0].shape,
        pages=len(leaves),
        digest=digests[0] if len(digests) == 1 else blake2b(b"".join(digests)).digest()[:16],
    )
