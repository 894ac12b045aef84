"""Makes connections for httpcore: name lookup, several addresses of one host, connections ahead.

A write is a request that changes something at the remote service. A connection is made *ahead*
while the user still reads a confirmation, so that the write which follows need not wait for it.
`Connection` is one TCP or TLS connection, `within` a time limit.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import httpcore

from agentco_tui.api.tcp_connection import Connection, within

WRITES_KEPT: Final = 2.0
"""Seconds a write's connection is kept: far below what servers close idle ones after."""
NEXT_ADDRESS_AFTER: Final = 0.25
"""Seconds after which the next address of a host is tried too (RFC 8305, section 5)."""

AddressInfo: TypeAlias = tuple[int, int, int, str, Any]
"""What `socket.getaddrinfo` returns for one address: family, type, protocol, name, address."""


class Network(httpcore.AsyncNetworkBackend):
    """httpcore's network backend on asyncio; connections can be made ahead of a request."""

    def __init__(self, *, may_resend: bool) -> None:
        """`may_resend`: a request may be sent again if a kept connection turns out to be closed."""
        self._may_resend = may_resend
        self._made_ahead: dict[tuple[str, int], asyncio.Task[Connection]] = {}
        """Connections that were begun before a request asked for them, by host and port."""

    def connect_ahead(
        self, host: str, port: int, context: ssl.SSLContext | None, timeout: float
    ) -> None:
        """Begin a connection, with its TLS handshake if there is a `context`.

        The next request takes it. If none does within `WRITES_KEPT` seconds, it is closed.
        `timeout` is in seconds.
        """
        address = (host, port)
        if address in self._made_ahead:
            return

        async def connect() -> Connection:
            connection = await self._connect(host, port, timeout)
            if context is not None:
                context.set_alpn_protocols(["http/1.1"])
                await connection.start_tls(context, host, timeout)
                connection.secured_for = host
            return connection

        connecting = asyncio.create_task(connect(), name="connection made ahead")
        self._made_ahead[address] = connecting

        def close_unless_taken() -> None:
            if self._made_ahead.get(address) is connecting:
                del self._made_ahead[address]
                _abandon(connecting)

        def close_later(_: asyncio.Task[Connection]) -> None:
            asyncio.get_running_loop().call_later(WRITES_KEPT, close_unless_taken)

        connecting.add_done_callback(close_later)

    async def aclose(self) -> None:
        """Close the connections that were made ahead and not used."""
        unused = list(self._made_ahead.values())
        self._made_ahead.clear()
        for connecting in unused:
            _abandon(connecting)
        await asyncio.gather(*unused, return_exceptions=True)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Connection:
        """Return the connection that was made ahead, if it is still usable, else a new one."""
        connecting = self._made_ahead.pop((host, port), None)
        if connecting is not None:
            try:
                connection = await within(timeout, connecting, httpcore.ConnectTimeout)
                if await connection.is_usable():
                    return connection
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                pass  # the new one below reports why there is no connection
            except BaseException:
                _abandon(connecting)
                raise
            _abandon(connecting)
        return await self._connect(host, port, timeout)

    async def _connect(self, host: str, port: int, timeout: float | None) -> Connection:  # noqa: ASYNC109
        connected = await connect_to_host(host, port, timeout)
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(may_resend=self._may_resend), sock=connected
        )
        return connection


async def connect_to_host(host: str, port: int, timeout: float | None) -> socket.socket:  # noqa: ASYNC109
    """Return a socket connected to one of the addresses of a host; `timeout` is in seconds.

    Raises httpcore's ConnectError and ConnectTimeout.
    """

    async def connect() -> socket.socket:
        return await _connect_to_first(await _addresses_of(host, port))

    try:
        return await within(timeout, connect(), httpcore.ConnectTimeout)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError("no connection") from error
    except ExceptionGroup as errors:
        raise httpcore.ConnectError("no connection to any address") from errors


async def _addresses_of(host: str, port: int) -> Sequence[AddressInfo]:
    """Return the addresses of a host. Raises OSError and UnicodeError."""
    try:
        # A numeric address needs no lookup, nor the thread in which one is made.
        return socket.getaddrinfo(
            host.encode("ascii"), port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
    except OSError:
        loop = asyncio.get_running_loop()
        return await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)


async def _connect_to_first(addresses: Iterable[AddressInfo]) -> socket.socket:
    """Return a socket connected to the address that answers first.

    Addresses are tried in order, the next one in parallel with one that is slow (RFC 8305, section
    5). asyncio can do that too, but loses sockets when it is cancelled meanwhile (Python 3.11).
    Raises an ExceptionGroup with the reason for each address if none answers.
    """
    untried = iter(addresses)
    attempts: list[asyncio.Task[socket.socket]] = []
    winner: socket.socket | None = None
    try:
        while winner is None:
            address = next(untried, None)
            if address is not None:
                attempts.append(asyncio.create_task(_connect_socket(*address)))
            under_way = [attempt for attempt in attempts if not attempt.done()]
            if not under_way:
                reasons = [attempt.exception() for attempt in attempts]
                raise ExceptionGroup("", [why for why in reasons if isinstance(why, Exception)])
            done, _ = await asyncio.wait(
                under_way,
                timeout=None if address is None else NEXT_ADDRESS_AFTER,
                return_when=asyncio.FIRST_COMPLETED,
            )
            connected = [attempt for attempt in done if attempt.exception() is None]
            if connected:
                winner = connected[0].result()
    finally:
        # Nothing may be awaited here: a cancellation meanwhile would lose the winner.
        for attempt in attempts:
            was_running = attempt.cancel()
            if not was_running and attempt.exception() is None and attempt.result() is not winner:
                attempt.result().close()
    return winner


async def _connect_socket(
    family: int, kind: int, protocol: int, _: str, address: Any
) -> socket.socket:
    connecting = socket.socket(family, kind, protocol)
    try:
        connecting.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connecting, address)
    except BaseException:
        connecting.close()
        raise
    return connecting


def _abandon(connecting: asyncio.Task[Connection]) -> None:
    """Stop making a connection, or close it if it was made already."""

    def close(done: asyncio.Task[Connection]) -> None:
        if not done.cancelled() and done.exception() is None:
            done.result().abort()

    connecting.cancel()
    connecting.add_done_callback(close)
