"""The one place that speaks HTTP: what goes out, what may come back, and for how long.

The key is added last and for the configured origin only, nothing is taken from the environment
unless asked, no redirect is followed, no cookie kept, no body read past a cap, and every request
has a time limit as a whole. Whatever goes wrong comes out as an ApiError, without the exceptions
of the layers below, whose texts and frames may hold the key.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import ssl
import time
import zlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from copy import copy
from functools import partial
from http.cookiejar import CookieJar, DefaultCookiePolicy
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, urlencode

import httpx
import msgspec

from agentco_tui import __version__
from agentco_tui.api import error_messages, errors
from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError, KeyInUse
from agentco_tui.api.error_messages import KEY_SOURCE, Asked, error_for, larger_than, unusable
from agentco_tui.api.errors import ApiError, Sent
from agentco_tui.api.pools import Pools, Replayed, RequestClass
from agentco_tui.api.tcp_connection import LastCheck
from agentco_tui.api.tls import proxy_of_environment, tls_context
from agentco_tui.reading.stream import ListReader, TooMuchMemoryError, UnstreamableError
from agentco_tui.system.background import beside
from agentco_tui.text import SafeText, safe

if TYPE_CHECKING:
    from agentco_tui.api.recording import Recorder, Replay

_log = logging.getLogger(__name__)

Pairs = Iterable[tuple[str, str]]  # names and values of a query or of headers, in order
T = TypeVar("T")
WhyWithheld = Callable[[], SafeText | None]
"""Asked when a write's bytes are about to leave: why they must not, None if they may. What it
returns is the last word: if it is None, the platform may act on the request."""
MakeReader = Callable[[Asked], ListReader[Any]]
"""Makes what reads a body of more than four megabytes, anew for each attempt."""

_PATH: Final = re.compile(r"/api(/(?!\.{1,2}(/|$))[A-Za-z0-9_.~%!$&'()*+,;=:@-]+)+")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
_HEADER_VALUE: Final = re.compile(r"[!-~]([ -~]{0,1022}[!-~])?")
_ETAG: Final = re.compile(r'(W/)?"[!#-~]{0,200}"')
_LONGEST_URL: Final = 16_000
_ERROR_BODY_CAP: Final = 256 * 1024
_ERROR_BODY_SECONDS: Final = 3.0

ONE_PIECE: Final = 4 * 1024 * 1024
"""Bytes: a longer body is never held as a whole, but read while it comes."""
_PIECE: Final = 256 * 1024
"""Bytes: no unpacked piece is larger, and so much is read at once of what is streamed."""


class DamagedBodyError(ValueError):
    """The packed bytes are wrong, end too early, or go on after their end."""


NOT_SENT: Final = (
    *(httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol),
)
"""Only these prove that no byte of a request has left this machine."""
BELOW: Final = (
    *(httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, httpx.CookieConflict),
    *(DamagedBodyError, UnicodeError, OSError),
)
"""All that the layers below are known to raise; anything else is a mistake of ours."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds and bytes."""

    connect: float = 5.0
    read: float = 10.0  # between two arrivals of bytes
    write: float = 10.0
    pool: float = 10.0  # for a connection to become free
    total: float = 30.0  # for one attempt as a whole: a server that drips outlives all the others
    body: int = 64 * 1024 * 1024  # of one body, as it comes and after unpacking
    idle: float = 15.0  # for which an unused connection is kept


class Reply(msgspec.Struct, frozen=True):
    """An answer with a 2xx, or a 304 that was asked for."""

    asked: Asked
    status: int
    headers: Mapping[str, str]
    """Names in lower case. Values are platform text, not cleaned."""
    body: bytes = b""  # unpacked; empty if it was streamed
    streamed: ListReader[Any] | None = None  # what has read a long body while it came
    pieces: list[bytes] = []  # all of the body, where a recorder wants it


class Measured:
    """What the requests themselves show: how fast the platform answers, what its clock says."""

    def __init__(self) -> None:
        self.smoothed_latency: float | None = None
        """Seconds from a request to the headers of its answer, newer ones weighing more."""
        self.steady_latency: float | None = None
        """The same when it last became another that a person would notice: to be shown."""
        self.reached = False  # whether the address has answered what it was asked
        # The median of a few: one slow answer must not move it.
        self._skews: deque[float] = deque(maxlen=5)

    @property
    def clock_skew(self) -> float | None:
        """Seconds that the platform's clock is ahead of ours, to about half a second."""
        return median(self._skews) if self._skews else None

    def answer(self, latency: float, date: str, now: float) -> None:
        """Headers came after `latency` seconds, at `now` by our clock, with this Date header."""
        before, steady = self.smoothed_latency, self.steady_latency
        smooth = latency if before is None else before + 0.3 * (latency - before)
        self.smoothed_latency = smooth
        if steady is None or (abs(smooth - steady) >= 0.05 and not 0.5 <= smooth / steady <= 2):
            self.steady_latency = smooth
        if date and (said := error_messages.http_date(date)) is not None:
            # The header was cut to whole seconds, and written somewhere between question and now.
            self._skews.append(said + 0.5 - (now - latency / 2))


class Transport:
    """Sends requests to one platform, in one event loop; to be closed."""

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
    ) -> None:
        """`attempts`: how often a read is sent at most. `ca_file`: believe only these CAs.

        `trust_env`: take proxies and CA files from the environment. `key_source`: for the sentence
        of a 401. `recorder` is given every answer but exports; `replay` answers in the platform's
        place. Raises CredentialError for a host name, a `ca_file` or a proxy setting that cannot
        be used.
        """
        self.root = str(base)  # what stands before the path of every request
        self.limits = limits or Limits()
        self.measured = Measured()
        self._attempts = attempts
        self._key_source = key_source or KEY_SOURCE
        self._clock = clock
        self.recorder = recorder
        self._request_class = RequestClass.READS
        try:
            origin = httpx.URL(base.origin)
        except (httpx.InvalidURL, UnicodeError):
            raise CredentialError(
                f"the host {safe(base.host, 80)} cannot be a host name: check base_url"
            ) from None
        self._origin = origin.scheme, origin.netloc
        self._host = safe(base.origin.partition("://")[2], 120)
        self.key = key if isinstance(key, KeyInUse) else KeyInUse(key)
        # One that is never asked believes nobody, which costs nothing.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if base.scheme == "https":
            context = tls_context(ca_file, trust_env=trust_env)
        times = {name: getattr(self.limits, name) for name in ("connect", "read", "write", "pool")}
        try:
            proxy = proxy_of_environment(base.scheme, base.host) if trust_env else None
            self._pools: Pools | None = None
            if replay is None:
                self._pools = Pools(context, kept_for=self.limits.idle, proxy=proxy)
            self._client = httpx.AsyncClient(
                transport=Replayed(replay) if replay is not None else self._pools,
                verify=context,
                trust_env=False,
                follow_redirects=False,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                timeout=httpx.Timeout(**times),
                headers={
                    "User-Agent": f"agentco-tui/{__version__}",
                    # On a slow line, JSON comes ten times faster packed.
                    "Accept-Encoding": "gzip",
                },
            )
        except (ValueError, ImportError, httpx.InvalidURL):
            raise CredentialError(
                "a proxy setting of the environment cannot be used: correct HTTPS_PROXY and the "
                "like, or take trust_env out of the profile"
            ) from None
        for name in ("httpx", "httpcore"):
            # They would log whole URLs and headers, at INFO and DEBUG.
            logger = logging.getLogger(name)
            logger.setLevel(max(logger.level, logging.WARNING))

    def for_decisions(self) -> Transport:
        """With reads that wait for no place among the others; closing either closes both.

        An answer that came with more than itself is not believed here, as it never is to a write.
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
        """Send a request and read the whole answer; a failed read is tried again, a write never.

        `path` begins with /api, identifiers in it percent-encoded. With `etag` a 304 is an answer,
        too. Without `stream` a body of more than four megabytes is refused. `why_withheld` is asked
        on a connection that is ready, right before the bytes leave; if it gives a reason, nothing
        is sent, and Withheld is raised. Raises ApiError.
        """
        asked = self.asked(method, path)
        if etag is not None and _ETAG.fullmatch(etag):
            headers = [*headers, ("If-None-Match", etag)]
        request = self._built(asked, params, json_body, "application/json", headers)
        if why_withheld is not None:
            check = partial(_raise_withheld, why_withheld, asked)
            last_check = LastCheck(check, asked.method, has_body=bool(json_body))
            request.extensions["last_check"] = last_check
        started, failed = time.monotonic(), 0
        about = {"request": os.urandom(4).hex(), "target": request.extensions["question"]}
        while True:
            begun = time.monotonic()
            _log.info("request %(request)s: %(target)s", about, extra={"about": about})
            attempt = self._attempt(request, asked, stream)
            outcome = await self._guarded(attempt, asked, self.limits.total)
            took, ahead = time.monotonic() - begun, self.measured.clock_skew
            became = type(outcome).__name__ if isinstance(outcome, ApiError) else "ok"
            told = {**about, "status": outcome.status, "outcome": became, "seconds": round(took, 3)}
            words = "request %(request)s: %(status)s %(outcome)s in %(seconds)s s"
            _log.info(words, told, extra={"about": told})
            if self.recorder is not None:
                self.recorder.take(request.extensions["question"], outcome, took, ahead)
            if isinstance(outcome, Reply):
                return outcome
            failed += 1
            is_last, spent = asked.writes or failed >= self._attempts, time.monotonic() - started
            wait = None if is_last else error_messages.retry_wait(outcome, failed, spent)
            if wait is None:
                raise outcome
            await asyncio.sleep(wait)

    @asynccontextmanager
    async def stream(
        self, path: str, *, params: Pairs = (), accept: str = "*/*", cap: int | None = None
    ) -> AsyncIterator[tuple[Reply, AsyncGenerator[bytes]]]:
        """GET with the head of the answer, and its body in pieces while they come, tried once.

        The total time limit ends with the head; between arrivals of bytes the read limit goes on.
        `cap` is in bytes. Raises ApiError, here and from the pieces.
        """
        asked = self.asked("GET", path)
        request = self._built(asked, params, None, accept, ())
        opened = await self._guarded(self._send(request, asked), asked, self.limits.total)
        if isinstance(opened, ApiError):
            raise opened
        pieces = self._pieces(opened, asked, cap)

        async def chunks() -> AsyncGenerator[bytes]:
            while piece := await self._guarded(anext(pieces, b""), asked, None):
                if isinstance(piece, ApiError):
                    raise piece
                yield piece

        async with aclosing(opened), aclosing(pieces), aclosing(chunks()) as told:
            yield Reply(asked, opened.status_code, dict(opened.headers.items())), told

    def connect_ahead(self) -> None:
        """Begin the connection of a write that comes soon, so that it need not wait for one.

        Nothing is sent on it. That it can't be made is reported by the write.
        """
        if self._pools is not None and not self._client.is_closed:
            self._pools.connect_ahead(httpx.URL(self.root), self.limits.connect)

    async def aclose(self) -> None:
        """Close all connections, also when cancelled meanwhile."""
        closing = asyncio.ensure_future(self._client.aclose())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            # A pool closes one connection after the other, and would leave the rest open.
            await asyncio.wait({closing})
            raise

    def asked(self, method: str, path: str) -> Asked:
        measured = self.measured  # and not self: an error that is kept must not keep the key
        return Asked(method, path, self._host, self._key_source, lambda: measured.reached)

    def _built(
        self, asked: Asked, params: Pairs, body: bytes | None, accept: str, headers: Pairs
    ) -> httpx.Request:
        """As it will go out on every attempt, without the key. Raises NotSent."""
        words = ""
        if not _PATH.fullmatch(asked.path):
            words = "the path is none of the platform's: is an id wrong?"
        kind = () if body is None else (("Content-Type", "application/json"),)
        lines = [("Accept", accept), *headers, *kind]
        if not all(
            _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value) for name, value in lines
        ):
            words = "a header holds a character that cannot be sent"
        try:
            query = urlencode([*params], quote_via=quote, safe="")
        except UnicodeError:
            query, words = "", "a filter holds a character that cannot be sent"
        target = asked.path + (f"?{query}" if query else "")
        url = self.root + target
        if len(url) > _LONGEST_URL:
            words = "the address became too long: use fewer or shorter filters"
        if words:
            raise error_for(errors.NotSent, words, asked)
        about = {"request_class": self._request_class, "question": f"{asked.method} {target}"}
        request = self._client.build_request(
            asked.method, url, content=body, headers=lines, extensions=about
        )
        if (request.url.scheme, request.url.netloc) != self._origin:
            words = "the request would have left the configured address"
            raise error_for(errors.NotSent, words, asked)
        return request

    async def _guarded(
        self, work: Awaitable[T], asked: Asked, seconds: float | None
    ) -> T | ApiError:
        """What `work` brings within `seconds`, or the error for what went wrong: handed back and
        not raised, so that no exception from below, whose frames hold the headers, hangs on to it.
        """
        try:
            async with asyncio.timeout(seconds):
                return await work
        except ApiError as error:
            return error.bare()
        except BELOW as cause:
            sent = Sent.NO if isinstance(cause, NOT_SENT) else Sent.UNKNOWN
            return error_messages.unanswered(cause, asked, self.limits, sent=sent)
        except Exception:
            # A fault of this program: never reported as a connection that failed.
            _log.exception("a request failed in an unforeseen way")
            raise

    async def _attempt(
        self, request: httpx.Request, asked: Asked, stream: MakeReader | None
    ) -> Reply:
        """The body as a whole, or what has read it if it is longer than ONE_PIECE.

        While a piece is read no more is taken, so that the other side waits as well.
        """
        body, reader, recorded = BytesIO(), None, list[bytes]()
        try:
            async with (
                aclosing(await self._send(request, asked)) as response,
                aclosing(self._pieces(response, asked, self.limits.body)) as pieces,
            ):
                async for piece in pieces:
                    body.write(piece)
                    if self.recorder is not None:
                        recorded.append(piece)
                    if reader is None and body.tell() > ONE_PIECE:
                        if stream is None:
                            raise larger_than(asked, response.status_code, ONE_PIECE)
                        reader = stream(asked)
                    if reader is not None and body.tell() >= _PIECE:
                        came, body = body.getvalue(), BytesIO()
                        await beside(partial(reader.feed, came))
            if reader is not None:
                await beside(partial(reader.feed, body.getvalue()))
                await beside(reader.finish)
        except (UnstreamableError, TooMuchMemoryError) as error:
            too_much = isinstance(error, TooMuchMemoryError)
            reason = "what fits into memory" if too_much else "4 MiB and no plain list"
            raise unusable(errors.TooLarge, asked, response.status_code, reason) from None
        self._refuse_surplus(response, asked)
        headers = dict(response.headers.items())
        whole = body.getvalue() if reader is None else b""
        return Reply(asked, response.status_code, headers, whole, reader, recorded)

    async def _send(self, request: httpx.Request, asked: Asked) -> httpx.Response:
        """Up to the head of the answer; raises for a status that is not wanted."""
        if self._client.is_closed:
            raise error_for(errors.NotSent, "the connection was closed here already", asked)
        started = time.monotonic()
        request.headers["Authorization"] = f"Bearer {self.key.key.reveal()}"
        response = await self._client.send(request, stream=True)
        date = "" if "age" in response.headers else response.headers.get("date", "")
        latency = response.extensions.get("took", time.monotonic() - started)
        self.measured.answer(latency, date, self._clock())
        status = response.status_code
        if 200 <= status < 300 or (status == 304 and "if-none-match" in request.headers):
            return response
        said = BytesIO()
        # The status is the answer; its explanation may be late, cut, endless or packed oddly.
        with suppress(ApiError, *BELOW):
            async with (
                aclosing(response),
                asyncio.timeout(min(_ERROR_BODY_SECONDS, self.limits.total / 3)),
                aclosing(self._pieces(response, asked, _ERROR_BODY_CAP)) as pieces,
            ):
                async for piece in pieces:
                    said.write(piece)
        self._refuse_surplus(response, asked)
        headers = dict(response.headers.items())
        raise error_messages.refused(asked, status, headers, said.getvalue(), self._clock())

    def _refuse_surplus(self, response: httpx.Response, asked: Asked) -> None:
        """Raises Broken where more came than one answer, and what it says is to be acted on."""
        connection = response.extensions.get("network_stream")
        if getattr(connection, "surplus", False) and (
            asked.writes or self._request_class is RequestClass.DECISIONS
        ):
            raise unusable(errors.Broken, asked, response.status_code)

    async def _pieces(
        self, response: httpx.Response, asked: Asked, cap: int | None
    ) -> AsyncGenerator[bytes]:
        """The body without the key, never more than `cap` bytes on either side of unpacking.

        One layer of gzip is unpacked piece by piece, so that a small answer cannot become a huge
        one: httpx would unpack a whole chunk at once, and as many layers as the answer names.
        Content-Length is looked at first, so that a huge body is not begun. Raises TooLarge,
        Unreadable for an encoding that was not offered (stacked ones, too), and DamagedBodyError.
        """
        status, headers = response.status_code, response.headers
        encoding = headers.get("content-encoding", "").strip().lower()
        is_packed = encoding in ("gzip", "x-gzip")
        if not is_packed and encoding not in ("", "identity"):
            words = "the answer is packed in a way that was not asked for: is a proxy changing it?"
            raise error_for(errors.Unreadable, words, asked, status=status)
        told = headers.get("content-length", "")
        if cap is not None and told.isdigit() and (len(told) > 18 or int(told) > cap):
            raise larger_than(asked, status, cap)
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS) if is_packed else None
        came, unpacked, held = 0, 0, b""
        async for packed in response.aiter_raw():
            came += len(packed)
            while packed:
                piece, packed = packed, b""  # noqa: PLW2901 - what is left of it
                if member is not None:
                    if member.eof:
                        raise DamagedBodyError  # for many tiny members the rest is copied each time
                    try:
                        piece = member.decompress(piece, _PIECE)
                    except zlib.error:
                        raise DamagedBodyError from None
                    packed = member.unconsumed_tail or member.unused_data  # noqa: PLW2901
                unpacked += len(piece)
                if cap is not None and max(came, unpacked) > cap:
                    raise larger_than(asked, status, cap)
                clean, held = self.key.clean(held + piece)
                if clean:
                    yield clean
                if len(piece) == _PIECE:
                    # A bomb arrives in one read: let others run between its pieces.
                    await asyncio.sleep(0)
        if member is not None and came and not member.eof:
            raise DamagedBodyError
        if held:
            yield self.key.clean(held, is_last=True)[0]


def _raise_withheld(why_withheld: WhyWithheld, asked: Asked) -> None:
    """Raises Withheld if there is a reason not to send."""
    reason = why_withheld()
    if reason is not None:
        raise error_for(errors.Withheld, reason, asked)
