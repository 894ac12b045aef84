"""Connection pools by class of request (reads, decisions, writes), as a transport for httpx.

A decision is an approval that the user gives, with the reads before and after it; a write is any
request that changes the platform, the remote service. `Pools` takes the place of httpx's own
transport and passes requests to httpcore's pools, which connect through `Network`. `Replayed`
answers from a recording instead.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Final

import httpcore
import httpx

from agentco_tui.api.library_patches import watch_answers
from agentco_tui.api.network import WRITES_KEPT, Network
from agentco_tui.api.tcp_connection import last_check

if TYPE_CHECKING:
    from agentco_tui.api.recording import Replay

_MOST_KEPT: Final = 4
"""Idle connections that each pool keeps for the next request."""

EXCEPTIONS: Final[Mapping[type[Exception], type[httpx.TransportError]]] = {
    httpcore.TimeoutException: httpx.TimeoutException,
    httpcore.ConnectTimeout: httpx.ConnectTimeout,
    httpcore.ReadTimeout: httpx.ReadTimeout,
    httpcore.WriteTimeout: httpx.WriteTimeout,
    httpcore.PoolTimeout: httpx.PoolTimeout,
    httpcore.NetworkError: httpx.NetworkError,
    httpcore.ConnectError: httpx.ConnectError,
    httpcore.ReadError: httpx.ReadError,
    httpcore.WriteError: httpx.WriteError,
    httpcore.ProxyError: httpx.ProxyError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
    httpcore.ProtocolError: httpx.ProtocolError,
    httpcore.LocalProtocolError: httpx.LocalProtocolError,
    httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
    # Between a pool and its connections; the pool answers it with another connection.
    httpcore.ConnectionNotAvailable: httpx.NetworkError,
}
"""httpcore's exceptions, and the exceptions of httpx that replace them. Any other exception is a
fault of this program, and is raised unchanged."""


class RequestClass(Enum):
    """Classes of requests; each has its own pool, so that none waits behind another class."""

    READS = "reads"
    """Requests for what the screen shows."""
    DECISIONS = "decisions"
    """Reads that are part of a decision: they do not wait behind a poll that hangs."""
    WRITES = "writes"
    """A platform may close a kept connection in the moment in which a request goes out on it: a
    read is then sent again, of a write the outcome is unknown. So a write that comes alone gets a
    fresh connection, and only those that follow within `WRITES_KEPT` use it again: a set of writes
    pays for one handshake."""


_MOST_CONNECTIONS: Final[Mapping[RequestClass, int]] = {
    RequestClass.READS: 8,
    RequestClass.DECISIONS: 6,
    RequestClass.WRITES: 8,
}
"""The largest number of connections that each class may have open."""


class Pools(httpx.AsyncBaseTransport):
    """One pool for each class of request, made when it is first used. Raises httpx's exceptions."""

    def __init__(
        self, context: ssl.SSLContext, *, kept_for: float, proxy: httpcore.Proxy | None
    ) -> None:
        """`kept_for` is how many seconds an idle connection of a read is kept."""
        self._context = context
        self._kept_for = kept_for
        self._proxy = proxy
        self._pools: dict[RequestClass, httpcore.AsyncConnectionPool] = {}
        self._networks = {
            request_class: Network(may_resend=request_class is not RequestClass.WRITES)
            for request_class in RequestClass
        }

    def _pool(self, request_class: RequestClass) -> httpcore.AsyncConnectionPool:
        if request_class not in self._pools:
            is_for_writes = request_class is RequestClass.WRITES
            self._pools[request_class] = httpcore.AsyncConnectionPool(
                ssl_context=self._context,
                proxy=self._proxy,
                max_connections=_MOST_CONNECTIONS[request_class],
                # Without the patch of httpcore that `watch_answers` installs, none may be reused.
                max_keepalive_connections=_MOST_KEPT if watch_answers() else 0,
                keepalive_expiry=WRITES_KEPT if is_for_writes else self._kept_for,
                network_backend=self._networks[request_class],
            )
        return self._pools[request_class]

    def connect_ahead(self, url: httpx.URL, timeout: float) -> None:
        """Begin the connection of a write that comes soon, unless one is kept for it.

        `timeout` is in seconds. Through a proxy nothing is made ahead: the write makes its own
        connection then.
        """
        connections = self._pool(RequestClass.WRITES).connections
        if self._proxy is not None or any(connection.is_idle() for connection in connections):
            return
        is_https = url.scheme == "https"
        default_port = 443 if is_https else 80
        self._networks[RequestClass.WRITES].connect_ahead(
            url.raw_host.decode("ascii"),
            url.port or default_port,
            self._context if is_https else None,
            timeout,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request as httpx wants it; everything but GET goes out as a write."""
        is_read = request.method == "GET"
        request_class = request.extensions["request_class"] if is_read else RequestClass.WRITES
        url = request.url
        sent = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        # What decides whether a write may leave, right before its first byte; None for others.
        check = last_check.set(request.extensions.get("last_check"))
        try:
            with exceptions_of_httpx():
                response = await self._pool(request_class).handle_async_request(sent)
        finally:
            last_check.reset(check)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        for network in self._networks.values():
            await network.aclose()
        for pool in self._pools.values():
            await pool.aclose()


class _Body(httpx.AsyncByteStream):
    """The body of an answer as it comes."""

    def __init__(self, response: httpcore.Response) -> None:
        self.response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with exceptions_of_httpx():
            async for part in self.response.aiter_stream():
                yield part

    async def aclose(self) -> None:
        with exceptions_of_httpx():
            await self.response.aclose()


class Replayed(httpx.AsyncBaseTransport):
    """Answers from a recording; no request leaves this machine."""

    def __init__(self, answer: Replay) -> None:
        self._answer = answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the recorded answer. Raises ApiError as the recording does."""
        etag = request.headers.get("if-none-match")
        answer, body = await self._answer(request.extensions["recorded_target"], etag)
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=httpx.ByteStream(body),
            extensions={"took": answer.took},
        )


@contextmanager
def exceptions_of_httpx() -> Iterator[None]:
    """Raise httpx's exception in place of httpcore's, by the most specific class in the table."""
    try:
        yield
    except tuple(EXCEPTIONS) as error:
        kind = next(EXCEPTIONS[each] for each in type(error).__mro__ if each in EXCEPTIONS)
        raise kind("") from error
