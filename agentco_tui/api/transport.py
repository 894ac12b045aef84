"""The one place that speaks HTTP: what goes out, what may come back, and for how long.

Built as SAFETY found it safe: the key is added last and for the configured origin only, nothing
is taken from the environment unless asked, no redirect is followed, no cookie kept, no body read
past a cap, and every request has a time limit as a whole. Whatever goes wrong comes out as an
ApiError, without the exceptions of the layers below, whose texts and frames may hold the key.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator
from contextlib import aclosing, asynccontextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Final, Self, TypeVar

import anyio
import httpcore
import httpx

from agentco_tui import __version__
from agentco_tui.api import answered
from agentco_tui.api.answered import KEY_SOURCE, Asked
from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError, KeyInUse
from agentco_tui.api.errors import ApiError, Broken
from agentco_tui.api.held import OF_ALL
from agentco_tui.api.incoming import OFFERED_ENCODING, Incoming, Reply, unpacked_body
from agentco_tui.api.intake import Intake, Whole
from agentco_tui.api.limits import Limits
from agentco_tui.api.measured import Measured
from agentco_tui.api.outgoing import Outgoing, Pairs, outgoing
from agentco_tui.api.pools import Lane, Pools, has_surplus, proxy_of_environment
from agentco_tui.api.redaction import quiet_http_loggers
from agentco_tui.api.retry import RetryPolicy
from agentco_tui.api.tls import no_tls_context, tls_context
from agentco_tui.api.unanswered import Trouble, trouble_of, unanswered
from agentco_tui.api.unpacking import DamagedBodyError
from agentco_tui.api.wire import Wire
from agentco_tui.text import safe

__all__ = ["Incoming", "Limits", "Reply", "Transport"]

_ERROR_BODY_CAP: Final = 256 * 1024
_ERROR_BODY_SECONDS: Final = 3.0
_PORTS: Final = {"http": 80, "https": 443}

BELOW: Final = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    httpx.CookieConflict,
    httpcore.ConnectionNotAvailable,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
    anyio.BrokenResourceError,
    anyio.BusyResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    DamagedBodyError,
    UnicodeError,
    # Holds ssl.SSLError, TimeoutError and ConnectionError.
    OSError,
)
"""All that the layers below are known to raise; anything else is a mistake of ours."""

T = TypeVar("T")


class BearerAuth(httpx.Auth):
    """Adds the key in use to a request for the configured origin, and to no other."""

    def __init__(self, key: KeyInUse, origin: httpx.URL) -> None:
        self._key = key
        self._origin = _origin(origin)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Raises NotSent for a request to anywhere else; part of httpx's interface."""
        if _origin(request.url) != self._origin:
            asked = Asked(request.method, "", safe(self._origin[1].decode("ascii", "replace")))
            raise answered.not_sent(asked, "the request would have left the configured address")
        request.headers["Authorization"] = f"Bearer {self._key.key.reveal()}"
        yield request

    def __repr__(self) -> str:
        return f"BearerAuth({self._key!r})"


class Transport:
    """Sends requests to one platform. Use it with `async with`, in one event loop."""

    def __init__(
        self,
        base: BaseUrl,
        key: ApiKey | KeyInUse,
        *,
        ca_file: Path | None = None,
        trust_env: bool = False,
        limits: Limits | None = None,
        retry: RetryPolicy | None = None,
        key_source: str = KEY_SOURCE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Nothing is sent yet.

        `ca_file`: believe only these CAs. `trust_env`: take proxies and CA files from the
        environment. `key_source`: the words for where the key is kept, for the sentence of a 401.
        `clock`: seconds since 1970. Raises CredentialError for a host name, a `ca_file` or a proxy
        setting that cannot be used.
        """
        self.base = base
        self.limits = limits or Limits()
        self.measured = Measured()
        self._retry = retry or RetryPolicy()
        self._key_source = key_source
        self._clock = clock
        self._lane = Lane.READS
        try:
            origin = httpx.URL(base.origin)
        except (httpx.InvalidURL, UnicodeError):
            raise CredentialError(
                f"the host {safe(base.host, 80)} cannot be a host name: check base_url"
            ) from None
        self._host = safe(base.origin.partition("://")[2], 120)
        self.key = key if isinstance(key, KeyInUse) else KeyInUse(key)
        self._auth = BearerAuth(self.key, origin)
        self._client = _http_client(base, ca_file, trust_env=trust_env, limits=self.limits)
        self._closing: list[asyncio.Future[None]] = []
        """One, as soon as it is to be closed."""
        quiet_http_loggers()

    def for_decisions(self) -> Transport:
        """The same, with reads that wait for no place among the others.

        An answer that came with more than itself is not believed here, as it never is to a write.
        Closing either closes both.
        """
        other = copy(self)
        other._lane = Lane.DECISIONS
        return other

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Pairs = (),
        json_body: bytes | None = None,
        accept: str = "application/json",
        headers: Pairs = (),
        attempts: int | None = None,
        intake: Intake | None = None,
    ) -> Reply:
        """Send a request and read the whole answer; a failed read is tried again, a write never.

        `path` begins with /api, identifiers in it percent-encoded. `attempts` beats the retry
        policy's own number. A 304 is an answer if `headers` holds If-None-Match. `intake` takes
        the body while it comes. Raises ApiError.
        """
        asked = self.asked(method, path)
        call = outgoing(
            self.base, asked, params=params, body=json_body, accept=accept, headers=headers
        )
        policy = self._retry if attempts is None else replace(self._retry, attempts=attempts)
        started = time.monotonic()
        attempt = 1
        whole = partial(self._whole, intake or Whole())
        while True:
            outcome, _ = await self._attempt(whole, call)
            if isinstance(outcome, Reply):
                return outcome
            elapsed = time.monotonic() - started
            wait = policy.delay(outcome, attempt=attempt, method=method, elapsed=elapsed)
            if wait is None:
                raise outcome
            await asyncio.sleep(wait)
            attempt += 1

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        path: str,
        *,
        params: Pairs = (),
        accept: str = "*/*",
        headers: Pairs = (),
        cap: int | None = None,
    ) -> AsyncIterator[Incoming]:
        """Send a request and hand out the answer while it comes.

        The total time limit ends with the head of the answer; between arrivals of bytes the read
        limit goes on. `cap` is in bytes, None for no cap. Nothing is tried again. Raises ApiError,
        here and from `chunks`.
        """
        asked = self.asked(method, path)
        call = outgoing(self.base, asked, params=params, accept=accept, headers=headers)
        opened, wire = await self._attempt(self._send, call)
        if isinstance(opened, ApiError):
            raise opened
        chunks = self._told(self._pieces(opened, asked, cap), asked, wire)
        try:
            yield Incoming(opened.status_code, dict(opened.headers.items()), chunks)
        finally:
            await chunks.aclose()
            await opened.aclose()

    async def aclose(self) -> None:
        """Close all connections, also when cancelled meanwhile; a second call waits for it."""
        if not self._closing:
            self._closing.append(asyncio.ensure_future(self._client.aclose()))
        try:
            await asyncio.shield(self._closing[0])
        except asyncio.CancelledError:
            # A pool closes one connection after the other, and would leave the rest open.
            await asyncio.wait(self._closing)
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    def asked(self, method: str, path: str) -> Asked:
        """What a sentence about this request may say; NotSent after `aclose`."""
        asked = Asked(method, path, self._host, self._key_source)
        self._not_closed(asked)
        return asked

    def _not_closed(self, asked: Asked) -> None:
        if self._closing:
            raise answered.not_sent(asked, "the connection was closed here already")

    async def _attempt(
        self, work: Callable[[Outgoing, Wire], Awaitable[T]], call: Outgoing
    ) -> tuple[T | ApiError, Wire]:
        """One attempt: `work` done, twice for a read that found its kept connection closed."""
        for may_be_stale in (not call.asked.writes, False):
            wire = Wire()
            outcome = await self._guarded(work(call, wire), call.asked, wire, self.limits.total)
            stale = isinstance(outcome, Broken) and not (wire.fresh or wire.began)
            if not (may_be_stale and stale):
                break
        return outcome, wire

    async def _guarded(
        self, work: Awaitable[T], asked: Asked, wire: Wire, seconds: float | None
    ) -> T | ApiError:
        """What `work` brings within `seconds`, or the error for what went wrong.

        The error is handed back and not raised, so that the exception of the layers below, whose
        frames hold the headers, does not hang on to it as its context.
        """
        deadline = asyncio.timeout(seconds)
        try:
            async with deadline:
                return await work
        except ApiError as error:
            return error.bare()
        except BELOW as cause:
            trouble = Trouble.TOTAL_WAIT if deadline.expired() else trouble_of(cause)
            return unanswered(
                trouble,
                cause,
                asked,
                bytes_left=wire.bytes_left,
                seconds=self.limits.of(trouble),
                answer_began=wire.began,
            )

    async def _whole(self, intake: Intake, call: Outgoing, wire: Wire) -> Reply:
        """One try, up to the last byte of the answer."""
        started = time.monotonic()
        response = await self._send(call, wire)
        try:
            coming = self._redacted(self._pieces(response, call.asked, self.limits.body))
            async with aclosing(coming) as pieces:
                body = await OF_ALL.into(intake, pieces, call.asked, response.status_code)
        finally:
            await response.aclose()
        self._alone(response, call.asked)
        now = time.monotonic()
        headers = dict(response.headers.items())
        return OF_ALL.until_read(Reply(response.status_code, headers, body, now - started, now))

    async def _send(self, call: Outgoing, wire: Wire) -> httpx.Response:
        """One try, up to the head of the answer; raises for a status that is not wanted."""
        self._not_closed(call.asked)  # between two tries, or two pages
        self.measured.requests += 1
        started = time.monotonic()
        request = self._client.build_request(
            call.asked.method,
            call.url,
            content=call.body,
            headers=list(call.headers),
            extensions={"trace": wire.trace, "lane": self._lane},
        )
        try:
            response = await self._client.send(
                request, auth=self._auth, stream=True, follow_redirects=False
            )
        finally:
            await wire.close_half_open()
        self.measured.answer(
            time.monotonic() - started,
            response.headers.get("date", ""),
            self._clock(),
            from_cache="age" in response.headers,
        )
        status = response.status_code
        if 200 <= status < 300 or (status == 304 and call.takes_304):
            return response
        try:
            said = await self._what_it_says(response, call.asked)
        finally:
            await response.aclose()
        self._alone(response, call.asked)
        headers = dict(response.headers.items())
        raise answered.refused(call.asked, status, headers, said, self._clock())

    def _alone(self, response: httpx.Response, asked: Asked) -> None:
        """Raises Broken where more came than one answer, and what it says is to be acted on.

        Which of several answers is the one to this request can't be told.
        """
        if (asked.writes or self._lane is Lane.DECISIONS) and has_surplus(response):
            raise answered.more_than_one(asked, response.status_code)

    async def _what_it_says(self, response: httpx.Response, asked: Asked) -> bytes:
        """The body of a refusal, as far as it comes soon and is not too much."""
        said = bytearray()
        try:
            async with asyncio.timeout(min(_ERROR_BODY_SECONDS, self.limits.total / 3)):
                async for piece in self._pieces(response, asked, _ERROR_BODY_CAP):
                    said += piece
        except (ApiError, *BELOW):
            # The status is the answer; its explanation may be late, cut, endless or packed oddly.
            return self.key.redact_bytes(bytes(said))
        return self.key.redact_bytes(bytes(said))

    def _pieces(
        self, response: httpx.Response, asked: Asked, cap: int | None
    ) -> AsyncGenerator[bytes]:
        return unpacked_body(
            response.aiter_raw(),
            response.status_code,
            response.headers,
            asked,
            cap=cap,
            measured=self.measured,
        )

    async def _told(
        self, pieces: AsyncGenerator[bytes], asked: Asked, wire: Wire
    ) -> AsyncGenerator[bytes]:
        """The pieces, with what goes wrong between them told as ApiError."""
        async with aclosing(self._redacted(pieces)) as redacted:
            while True:
                piece = await self._guarded(anext(redacted, None), asked, wire, None)
                if isinstance(piece, ApiError):
                    raise piece
                if piece is None:
                    return
                yield piece

    async def _redacted(self, pieces: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        """The pieces without the keys, also where one lies across two of them."""
        redactor = self.key.redactor()
        async with aclosing(pieces):
            async for piece in pieces:
                if told := redactor.feed(piece):
                    yield told
        if rest := redactor.rest():
            yield rest


def _origin(url: httpx.URL) -> tuple[str, bytes, int | None]:
    return url.scheme, url.raw_host, url.port or _PORTS.get(url.scheme)


def _http_client(
    base: BaseUrl, ca_file: Path | None, *, trust_env: bool, limits: Limits
) -> httpx.AsyncClient:
    context = no_tls_context()
    if base.scheme == "https":
        own = tls_context(ca_file, trust_env=trust_env)
        context = own or httpx.create_ssl_context(trust_env=False)
    try:
        proxy = proxy_of_environment(base.scheme, base.host) if trust_env else None
        return httpx.AsyncClient(
            transport=Pools(context, limits, proxy),
            verify=context,
            trust_env=False,
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=httpx.Timeout(
                connect=limits.connect, read=limits.read, write=limits.write, pool=limits.pool
            ),
            headers={
                "User-Agent": f"agentco-tui/{__version__}",
                "Accept-Encoding": OFFERED_ENCODING,
            },
        )
    except (ValueError, ImportError, httpx.InvalidURL):
        raise CredentialError(
            "a proxy setting of the environment cannot be used: correct HTTPS_PROXY and the like, "
            "or take trust_env out of the profile"
        ) from None
