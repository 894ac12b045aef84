"""The connections that requests go out on, each kind of request on connections of its own."""

from __future__ import annotations

import ssl
import sys
from collections.abc import AsyncIterator
from enum import Enum
from importlib.util import find_spec
from typing import Final
from urllib.request import getproxies, proxy_bypass

if "sniffio" not in sys.modules and find_spec("sniffio") is None:
    # httpcore 1.0.9 tries to import it at each of its locks, four times a request, and where it
    # isn't installed Python looks through all of sys.path each time: 8 % of what a poll costs.
    sys.modules["sniffio"] = None  # type: ignore[assignment]

import httpcore
import httpx

from agentco_tui.api.limits import Limits
from agentco_tui.api.network import Connection, Network, watch_answers

WRITES_KEPT: Final = 2.0
"""Seconds a write's connection is kept: far below what servers close idle ones after."""
_KEPT: Final = 4
"""Connections of each lane that are kept for the next request."""


class Lane(Enum):
    """Requests that wait for no place of another lane's; the value is how many at once."""

    READS = 8, 1
    """What the screen shows."""
    DECISIONS = 6, 2
    """What is read because of a decision: it waits behind no poll that hangs."""
    WRITES = 8, 3
    """A platform may close a kept connection in the moment in which we send on it. A read is then
    sent again; for a write it may leave the outcome unknown. So a write that comes alone gets a
    fresh connection, and only those that follow within `WRITES_KEPT` go on with it: without that,
    each of two hundred approvals would pay for a handshake."""


class Pools(httpx.AsyncBaseTransport):
    """One pool a lane, made when it is used first."""

    def __init__(self, context: ssl.SSLContext, limits: Limits, proxy: httpx.Proxy | None) -> None:
        self._context, self._limits, self._proxy = context, limits, proxy
        self._pools: dict[Lane, httpcore.AsyncConnectionPool] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Part of httpx's interface; raises httpcore's exceptions."""
        lane = request.extensions["lane"] if request.method == "GET" else Lane.WRITES
        if lane not in self._pools:
            self._pools[lane] = self._made(lane)
        response = await self._pools[lane].handle_async_request(
            httpcore.Request(
                request.method,
                _url(request.url),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all."""
        for pool in self._pools.values():
            await pool.aclose()

    def _made(self, lane: Lane) -> httpcore.AsyncConnectionPool:
        proxy = None
        if self._proxy is not None:
            proxy = httpcore.Proxy(_url(self._proxy.url), auth=self._proxy.raw_auth)
        return httpcore.AsyncConnectionPool(
            ssl_context=self._context,
            proxy=proxy,
            max_connections=lane.value[0],
            max_keepalive_connections=_KEPT if watch_answers() else 0,
            keepalive_expiry=WRITES_KEPT if lane is Lane.WRITES else self._limits.idle,
            network_backend=Network(),
        )


def has_surplus(response: httpx.Response) -> bool:
    """Whether more came than this answer, which has been read and closed."""
    stream = response.extensions.get("network_stream")
    return isinstance(stream, Connection) and stream.surplus


def proxy_of_environment(scheme: str, host: str) -> httpx.Proxy | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name for an address.

    Raises ValueError, ImportError or httpx.InvalidURL for one that can't be used.
    """
    proxies = getproxies()
    told = proxies.get(scheme) or proxies.get("all")
    if not told or proxy_bypass(host):
        return None
    proxy = httpx.Proxy(told if "://" in told else f"http://{told}")
    if proxy.url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise ImportError("socksio")
    return proxy


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._response.aiter_stream():
            yield part

    async def aclose(self) -> None:
        await self._response.aclose()


def _url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )
