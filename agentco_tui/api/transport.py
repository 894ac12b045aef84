"""Sends requests to the platform, the remote service, over HTTP, and reads the answers.

A profile is the user's configuration for one platform, a `BaseUrl` its address. The API key is
added last and for the configured origin only. Nothing is taken from the environment unless the
profile says so, no redirect is followed, no cookie is kept, no body is read beyond a cap, and every
request has a time limit as a whole. Every failure is raised as an ApiError, without the exceptions
of the layers below, whose texts and frames may hold the key.

The parts: a `RequestBuilder` checks and builds requests, `Pools` sends them through pools of
connections, `read_pieces` reads a body, a `ListReader` decodes a long list while it arrives,
`retry_wait` is the retry policy, a `Recorder` writes all answers to a file, and `Measurements` keep
latency and clock skew. `beside` runs work in a thread. A decision is an approval with its reads.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from copy import copy
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import httpx

from agentco_tui import __version__
from agentco_tui.api import errors
from agentco_tui.api.capabilities import Conventions
from agentco_tui.api.connection_errors import LIBRARY_EXCEPTIONS, error_for_exception
from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError, KeyInUse
from agentco_tui.api.error_messages import (
    DEFAULT_KEY_SOURCE,
    RequestInfo,
    answer_too_large,
    error_for,
    error_for_status,
    unusable_answer,
)
from agentco_tui.api.errors import ApiError
from agentco_tui.api.generic import CONVENTIONS
from agentco_tui.api.limits import Limits
from agentco_tui.api.measurements import Measurements
from agentco_tui.api.pools import Pools, Replayed, RequestClass, exceptions_of_httpx
from agentco_tui.api.reply import Reply
from agentco_tui.api.request_builder import Pairs, RequestBuilder
from agentco_tui.api.response_body import PIECE, read_pieces
from agentco_tui.api.retry import retry_wait
from agentco_tui.api.tcp_connection import LastCheck
from agentco_tui.api.tls import proxy_of_environment, tls_context
from agentco_tui.reading.stream import ListReader, TooMuchMemoryError, UnstreamableError
from agentco_tui.system.background import beside
from agentco_tui.text import SafeText, clean_line

if TYPE_CHECKING:
    from agentco_tui.api.recorder import Recorder
    from agentco_tui.api.recording import Replay
    from agentco_tui.api.web_socket import WebSocket

_log = logging.getLogger(__name__)

T = TypeVar("T")
WhyWithheld: TypeAlias = Callable[[], SafeText | None]
"""Called when the bytes of a write are about to leave. Returns the reason why they must not, or
None: then the platform may act on the request."""
MakeReader: TypeAlias = Callable[[RequestInfo], ListReader[Any]]
"""Makes the reader of a body of more than `LONGEST_IN_MEMORY` bytes; called once per attempt."""

LONGEST_IN_MEMORY: Final = 4 * 1024 * 1024
"""Bytes: a longer body is read while it arrives, and never held as a whole."""
_USER_AGENT: Final = f"agentco-tui/{__version__}"
_WEB_SOCKET_SCHEMES: Final = {"http": "ws", "https": "wss"}
_LONGEST_ERROR_BODY: Final = 256 * 1024  # bytes
_MOST_ERROR_BODY_SECONDS: Final = 3.0


class Transport:
    """Sends requests to one platform, in one event loop. Close it with `aclose`."""

    def __init__(
        self,
        base: BaseUrl,
        key: ApiKey | KeyInUse,
        *,
        ca_file: Path | None = None,
        trust_env: bool = False,
        limits: Limits | None = None,
        attempts: int = 3,
        key_source: str = "",
        clock: Callable[[], float] = time.time,
        recorder: Recorder | None = None,
        replay: Replay | None = None,
        conventions: Conventions = CONVENTIONS,
    ) -> None:
        """`attempts`: how often a read is sent at most. `ca_file`: trust only these CAs.

        `trust_env`: take proxies and CA files from the environment. `key_source`: where the key
        comes from, for the sentence of a 401. `recorder` gets every answer except exports; `replay`
        answers instead of the platform. `conventions`: those of the interface. Raises
        CredentialError for a host name, a `ca_file` or a proxy setting that cannot be used.
        """
        self.root = str(base)
        """The address before the path of every request."""
        self.limits = limits or Limits()
        self.measured = Measurements()
        self.recorder = recorder
        self.is_replay = replay is not None
        """Whether the answers come from a recording."""
        self.key = key if isinstance(key, KeyInUse) else KeyInUse(key)
        self._attempts = attempts
        self._key_source = key_source or DEFAULT_KEY_SOURCE
        self._clock = clock
        self._request_class = RequestClass.READS
        self._host = clean_line(base.origin.partition("://")[2], 120)
        origin = _parsed_origin(base)
        context = _context_for(base, ca_file, trust_env=trust_env)
        self._context = context
        self._pools: Pools | None = None
        self.takes_web_sockets = False
        """Whether `web_socket` opens any: not through a proxy, and not in a replay."""
        try:
            if replay is None:
                proxy = proxy_of_environment(base.scheme, base.host) if trust_env else None
                self._pools = Pools(context, kept_for=self.limits.idle, proxy=proxy)
                self._client = _new_client(self._pools, context, self.limits)
                self.takes_web_sockets = proxy is None
            else:
                self._client = _new_client(Replayed(replay), context, self.limits)
        except (ValueError, ImportError, httpx.InvalidURL):
            raise CredentialError(
                "a proxy setting of the environment cannot be used: correct HTTPS_PROXY and the "
                "like, or take trust_env out of the profile"
            ) from None
        self._conventions = conventions
        self._builder = RequestBuilder(self._client, self.root, origin, conventions.prefix)
        _silence_library_logs()

    def for_decisions(self) -> Transport:
        """A transport whose reads do not wait behind the reads of this one.

        Closing either closes both. More than one answer to a request is an error here, as it always
        is for a write.
        """
        other = copy(self)
        other._request_class = RequestClass.DECISIONS
        return other

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Pairs = (),
        json_body: bytes | None = None,
        headers: Pairs = (),
        etag: str | None = None,
        stream: MakeReader | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Reply:
        """Send a request and read the whole answer. A failed read is retried, a write never.

        `path` begins with /api, identifiers in it percent-encoded. With `etag` a 304 is an answer,
        too. Without `stream` a body of more than `LONGEST_IN_MEMORY` is refused. `why_withheld` is
        called on a connection that is ready, right before the bytes leave; if it gives a reason,
        nothing is sent, and Withheld is raised. Raises ApiError.
        """
        info = self.describe(method, path)
        request = self._builder.build(
            info, self._request_class, params=params, body=json_body, headers=headers, etag=etag
        )
        if why_withheld is not None:
            check = partial(_raise_withheld, why_withheld, info)
            last_check = LastCheck(check, info.method, has_body=bool(json_body))
            request.extensions["last_check"] = last_check
        request_id = os.urandom(4).hex()
        started = time.monotonic()
        failed = 0
        while True:
            outcome = await self._logged_attempt(request, info, stream, request_id)
            if isinstance(outcome, Reply):
                return outcome
            failed += 1
            is_last = info.is_write or failed >= self._attempts
            elapsed = time.monotonic() - started
            wait = None if is_last else retry_wait(outcome, failed, elapsed)
            if wait is None:
                raise outcome
            await asyncio.sleep(wait)

    @asynccontextmanager
    async def stream(
        self, path: str, *, params: Pairs = (), accept: str = "*/*", cap: int | None = None
    ) -> AsyncIterator[tuple[Reply, AsyncGenerator[bytes]]]:
        """GET without a retry: the head of the answer, and its body in pieces as they arrive.

        The total time limit covers the head only; the read limit covers each wait for bytes. `cap`
        is in bytes. Raises ApiError, here and from the pieces.
        """
        info = self.describe("GET", path)
        request = self._builder.build(info, self._request_class, params=params, accept=accept)
        opened = await self._guarded(self._send(request, info), info, self.limits.total)
        if isinstance(opened, ApiError):
            raise opened
        pieces = read_pieces(opened, info, self.key, cap)

        async def guarded_pieces() -> AsyncGenerator[bytes]:
            while piece := await self._guarded(anext(pieces, b""), info, None):
                if isinstance(piece, ApiError):
                    raise piece
                yield piece

        async with aclosing(opened), aclosing(pieces), aclosing(guarded_pieces()) as body:
            yield Reply(info, opened.status_code, dict(opened.headers.items())), body

    @asynccontextmanager
    async def web_socket(self, path: str) -> AsyncIterator[AsyncGenerator[bytes]]:
        """Open a web socket without a retry, for its messages as they arrive.

        They never just end: when the connection does, they raise ApiError, as opening it does.
        `Limits.silence` covers a connection that is lost without a sign. Nothing is recorded.
        """
        info = self.describe("GET", path)
        request = self._builder.build(info, self._request_class)
        if not self.takes_web_sockets:
            sentence = "no web socket is opened through a proxy, or in a replay"
            raise error_for(errors.NotOffered, sentence, info)
        self._check_open(info)
        opening = self._open_web_socket(request, info)
        opened, _ = await self._logged(opening, info, f"GET {path}", os.urandom(4).hex())
        if isinstance(opened, ApiError):
            raise opened

        async def messages() -> AsyncGenerator[bytes]:
            while True:
                message = await self._guarded(opened.receive(), info, None)
                if isinstance(message, ApiError):
                    raise message
                redacted, _ = self.key.clean(message, is_last=True)
                yield redacted

        async with aclosing(messages()) as received:
            try:
                yield received
            finally:
                await opened.close()

    def connect_ahead(self) -> None:
        """Begin a connection for a write that is about to come, so that it need not wait for one.

        Nothing is sent on it. If it cannot be made, the write reports it.
        """
        if self._pools is not None and not self._client.is_closed:
            self._pools.connect_ahead(httpx.URL(self.root), self.limits.connect)

    async def aclose(self) -> None:
        """Close all connections, even if cancelled meanwhile."""
        closing = asyncio.ensure_future(self._client.aclose())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            # A pool closes one connection after the other, and would leave the rest open.
            await asyncio.wait({closing})
            raise

    def describe(self, method: str, path: str) -> RequestInfo:
        """What an error may say about a request to this platform."""
        # Captured without `self`: an error that is kept must not keep the key.
        measured = self.measured
        return RequestInfo(
            method,
            path,
            self._host,
            self._key_source,
            self._conventions,
            lambda: measured.reached,
        )

    async def _logged_attempt(
        self,
        request: httpx.Request,
        info: RequestInfo,
        stream: MakeReader | None,
        request_id: str,
    ) -> Reply | ApiError:
        """The outcome of one attempt, which is logged and recorded."""
        target = request.extensions["recorded_target"]
        attempt = self._attempt(request, info, stream)
        outcome, seconds = await self._logged(attempt, info, target, request_id)
        if self.recorder is not None:
            self.recorder.record(target, outcome, seconds, self.measured.clock_skew)
        return outcome

    async def _logged(
        self, attempt: Awaitable[T], info: RequestInfo, target: str, request_id: str
    ) -> tuple[T | ApiError, float]:
        """The outcome of one attempt within `Limits.total`, and the seconds that it took."""
        begin_fields = {"request": request_id, "target": target}
        _log.info("request %(request)s: %(target)s", begin_fields, extra={"about": begin_fields})
        begun = time.monotonic()
        outcome = await self._guarded(attempt, info, self.limits.total)
        seconds = time.monotonic() - begun
        end_fields = {
            **begin_fields,
            "status": outcome.status if isinstance(outcome, Reply | ApiError) else 101,
            "outcome": type(outcome).__name__ if isinstance(outcome, ApiError) else "ok",
            "seconds": round(seconds, 3),
        }
        _log.info(
            "request %(request)s: %(status)s %(outcome)s in %(seconds)s s",
            end_fields,
            extra={"about": end_fields},
        )
        return outcome, seconds

    async def _guarded(
        self, work: Awaitable[T], info: RequestInfo, seconds: float | None
    ) -> T | ApiError:
        """The result of `work` within `seconds`, or the error for what went wrong.

        The error is returned, not raised, so that it does not hold on to an exception from below,
        whose frames hold the headers.
        """
        try:
            async with asyncio.timeout(seconds):
                return await work
        except ApiError as error:
            return error.without_traceback()
        except LIBRARY_EXCEPTIONS as exception:
            return error_for_exception(exception, info, self.limits)
        except Exception:
            # A fault of this program: never reported as a connection that failed.
            _log.exception("a request failed in an unforeseen way")
            raise

    async def _attempt(
        self, request: httpx.Request, info: RequestInfo, stream: MakeReader | None
    ) -> Reply:
        """Send a request once and read its answer: as a whole, or with `stream` if it is long.

        No more is taken from the network while a piece is being read, so that the other side waits
        (back-pressure).
        """
        unread = BytesIO()
        reader: ListReader[Any] | None = None
        recorded: list[bytes] = []
        try:
            async with (
                aclosing(await self._send(request, info)) as response,
                aclosing(read_pieces(response, info, self.key, self.limits.body)) as pieces,
            ):
                async for piece in pieces:
                    unread.write(piece)
                    if self.recorder is not None:
                        recorded.append(piece)
                    if reader is None and unread.tell() > LONGEST_IN_MEMORY:
                        if stream is None:
                            raise answer_too_large(info, response.status_code, LONGEST_IN_MEMORY)
                        reader = stream(info)
                    if reader is not None and unread.tell() >= PIECE:
                        data = unread.getvalue()
                        unread = BytesIO()
                        # At first this is all that came before the body was known to be long.
                        for start in range(0, len(data), 2 * PIECE):
                            part = data[start : start + 2 * PIECE]
                            await beside(partial(reader.feed, part))
            if reader is not None:
                await beside(partial(reader.feed, unread.getvalue()))
                await beside(reader.finish)
        except UnstreamableError:
            reason = "4 MiB and no plain list"
            raise unusable_answer(errors.TooLarge, info, response.status_code, reason) from None
        except TooMuchMemoryError:
            reason = "what fits into memory"
            raise unusable_answer(errors.TooLarge, info, response.status_code, reason) from None
        self._refuse_surplus(response, info)
        return Reply(
            info,
            response.status_code,
            dict(response.headers.items()),
            body=unread.getvalue() if reader is None else b"",
            streamed=reader,
            pieces=recorded,
        )

    async def _send(self, request: httpx.Request, info: RequestInfo) -> httpx.Response:
        """Send a request and read the head of its answer; raise for a status that is no success."""
        self._check_open(info)
        started = time.monotonic()
        request.headers.update(self._key_headers())
        response = await self._client.send(request, stream=True)
        self._measure(response, time.monotonic() - started)
        status = response.status_code
        is_unchanged = status == 304 and "if-none-match" in request.headers
        if 200 <= status < 300 or is_unchanged:
            return response
        body = await self._error_body(response, info)
        self._refuse_surplus(response, info)
        headers = dict(response.headers.items())
        raise error_for_status(info, status, headers, body, self._clock())

    async def _open_web_socket(self, request: httpx.Request, info: RequestInfo) -> WebSocket:
        # Imported late: few platforms have web sockets, and only the dashboard opens them.
        from agentco_tui.api.web_socket import open_web_socket  # noqa: PLC0415

        url = request.url.copy_with(scheme=_WEB_SOCKET_SCHEMES[request.url.scheme])
        with exceptions_of_httpx():
            return await open_web_socket(
                info,
                str(url),
                {"User-Agent": _USER_AGENT, **self._key_headers()},
                context=self._context,
                limits=self.limits,
                now=self._clock(),
            )

    def _check_open(self, info: RequestInfo) -> None:
        if self._client.is_closed:
            raise error_for(errors.NotSent, "the client was already closed", info)

    def _key_headers(self) -> dict[str, str]:
        """The header with the key that is in use now; none if the platform needs no key."""
        if self._conventions.key_header is None:
            return {}
        header, before_key = self._conventions.key_header
        return {header: f"{before_key}{self.key.key.reveal()}"}

    def _measure(self, response: httpx.Response, seconds: float) -> None:
        # The Date of an answer from a cache, which has an Age, says nothing about the clock.
        is_from_cache = "age" in response.headers
        date = "" if is_from_cache else response.headers.get("date", "")
        latency = response.extensions.get("took", seconds)
        self.measured.add_answer(latency, date, self._clock())

    async def _error_body(self, response: httpx.Response, info: RequestInfo) -> bytes:
        """As much of an error's body as can be read soon, and close the response.

        The status is the answer; its explanation may be late, cut off, endless or badly encoded.
        """
        body = BytesIO()
        seconds = min(_MOST_ERROR_BODY_SECONDS, self.limits.total / 3)
        with suppress(ApiError, *LIBRARY_EXCEPTIONS):
            async with (
                aclosing(response),
                asyncio.timeout(seconds),
                aclosing(read_pieces(response, info, self.key, _LONGEST_ERROR_BODY)) as pieces,
            ):
                async for piece in pieces:
                    body.write(piece)
        return body.getvalue()

    def _refuse_surplus(self, response: httpx.Response, info: RequestInfo) -> None:
        """Raise Broken if more than one answer came to a request that someone acts on."""
        connection = response.extensions.get("network_stream")
        has_surplus = getattr(connection, "surplus", False)
        is_acted_on = info.is_write or self._request_class is RequestClass.DECISIONS
        if has_surplus and is_acted_on:
            raise unusable_answer(errors.Broken, info, response.status_code)


def _parsed_origin(base: BaseUrl) -> httpx.URL:
    try:
        return httpx.URL(base.origin)
    except (httpx.InvalidURL, UnicodeError):
        raise CredentialError(
            f"the host {clean_line(base.host, 80)} cannot be a host name: check base_url"
        ) from None


def _context_for(base: BaseUrl, ca_file: Path | None, *, trust_env: bool) -> ssl.SSLContext:
    if base.scheme == "https":
        return tls_context(ca_file, trust_env=trust_env)
    # Never used. It trusts no CA, so that it need not load any, which takes time.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _new_client(
    transport: httpx.AsyncBaseTransport, context: ssl.SSLContext, limits: Limits
) -> httpx.AsyncClient:
    timeout = httpx.Timeout(
        connect=limits.connect, read=limits.read, write=limits.write, pool=limits.pool
    )
    return httpx.AsyncClient(
        transport=transport,
        verify=context,
        trust_env=False,
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=timeout,
        headers={
            "User-Agent": _USER_AGENT,
            # Compressed JSON is about a tenth of the size, which counts on a slow network.
            "Accept-Encoding": "gzip",
        },
    )


def _silence_library_logs() -> None:
    """Raise the levels of the libraries' loggers: they log whole URLs and headers below WARNING."""
    for name in ("httpx", "httpcore", "websockets"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))


def _raise_withheld(why_withheld: WhyWithheld, info: RequestInfo) -> None:
    """Raise Withheld if there is a reason not to send."""
    reason = why_withheld()
    if reason is not None:
        raise error_for(errors.Withheld, reason, info)
