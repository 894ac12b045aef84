"""The connections that reads and writes go out on."""

from __future__ import annotations

import ssl
import sys
from importlib.util import find_spec
from typing import Final

import httpx

if "sniffio" not in sys.modules and find_spec("sniffio") is None:
    # httpcore 1.0.9 tries to import it at each of its locks, four times a request, and where it
    # isn't installed Python looks through all of sys.path each time: 8 % of what a poll costs.
    sys.modules["sniffio"] = None  # type: ignore[assignment]

WRITES_KEPT: Final = 2.0
"""Seconds a write's connection is kept: far below what servers close idle ones after."""


class Pools(httpx.AsyncBaseTransport):
    """Kept connections for reads, and others for writes, kept only for as long as a set of them.

    A platform may close a kept connection in the moment in which we send on it. A read is then
    sent again; for a write it leaves the outcome unknown. So a write that comes alone gets a fresh
    connection, and only those that follow within `WRITES_KEPT` go on with it: without that, each
    of two hundred approvals would pay for a handshake.
    """

    def __init__(self, context: ssl.SSLContext, kept: httpx.Limits) -> None:
        fresh = httpx.Limits(
            max_connections=8, max_keepalive_connections=4, keepalive_expiry=WRITES_KEPT
        )
        self._reads = httpx.AsyncHTTPTransport(verify=context, limits=kept, trust_env=False)
        self._writes = httpx.AsyncHTTPTransport(verify=context, limits=fresh, trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        pool = self._reads if request.method == "GET" else self._writes
        return await pool.handle_async_request(request)

    async def aclose(self) -> None:
        await self._reads.aclose()
        await self._writes.aclose()
