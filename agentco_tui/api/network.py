"""Connections on which nothing comes unseen (RFC 9112 9.2: an answer belongs to its request).

httpcore 1.0.9 keeps a connection after an answer without looking for what came behind it: a second
answer in the same packet, in the next one, or in the next TLS record would be read as the answer to
the next request. Here the event loop reads all that comes, so that it is known when an answer ends
and when a request begins whether anything has come that nobody asked for.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Iterable
from inspect import iscoroutinefunction
from typing import Any, Final, TypeVar

import h11
import httpcore

T = TypeVar("T")

_AHEAD: Final = 256 * 1024
"""Bytes that may wait here to be read, before the other side has to wait."""
_NEXT_ADDRESS: Final = 0.25
"""Seconds after which the next address of a host is tried beside the last (RFC 8305 5)."""
_BLANK: Final = b"\r\n"
"""Signs that some servers send behind a body, and that are no answer."""
_WHOLE: Final = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)
"""Where the other side stands after a whole answer."""


class Connection(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One TCP connection, plain or with TLS. Raises httpcore's exceptions."""

    def __init__(self) -> None:
        self.surplus = False
        """More came than the answer that was read last: nothing read from it is to be acted on."""
        self._transport: Any = None
        self._chunks: deque[bytes] = deque()
        self._ended = False
        self._error: Exception | None = None
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._paused = False
        self._between = True
        """No byte of a request has left since the last answer, or since the connection was made."""
        self._used = False

    # --- httpcore's side --------------------------------------------------------------------

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """What has come, nothing at the end."""
        self._between = True
        if not self._chunks and not self._ended:
            self._arrived.clear()
            self._resume()
            await _within(timeout, self._arrived.wait(), httpcore.ReadTimeout)
        if not self._chunks:
            if self._error is not None:
                raise httpcore.ReadError("the connection broke") from self._error
            return b""
        chunk = self._chunks.popleft()
        if len(chunk) > max_bytes:
            self._chunks.appendleft(chunk[max_bytes:])
            chunk = chunk[:max_bytes]
        if not self._chunks:
            self._resume()
        return chunk

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Send; a request is not begun where something came that nobody asked for.

        A kept connection is then given up for another one, before a byte has left.
        """
        if not buffer:
            return
        if self._between:
            await self._begin()
        if self._transport.is_closing():
            raise httpcore.WriteError("the connection broke") from self._error
        self._transport.write(buffer)
        if not self._writable.is_set():
            await _within(timeout, self._writable.wait(), httpcore.WriteTimeout)

    async def aclose(self) -> None:
        """Close at once; what was not sent by now is not sent."""
        self._transport.abort()
        await asyncio.sleep(0)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Connection:
        """Go over to TLS."""
        loop = asyncio.get_running_loop()
        self._between, self._used, self._paused = True, False, False
        if self._chunks:
            await self.aclose()
            raise httpcore.ConnectError("bytes came before the handshake")
        try:
            self._transport = await _within(
                timeout,
                loop.start_tls(self._transport, self, ssl_context, server_hostname=server_hostname),
                httpcore.ConnectTimeout,
            )
        except OSError as error:  # ssl.SSLError is one
            await self.aclose()
            raise httpcore.ConnectError("the handshake failed") from error
        except BaseException:
            await self.aclose()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        """`is_readable` is true for whatever speaks against using it once more."""
        if info == "is_readable":
            return bool(self._chunks) or self._ended or self._is_readable()
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._transport.get_extra_info(names.get(info, info))

    # --- the event loop's side --------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Nothing is read before it is known whether it is to be TLS."""
        self._transport = transport
        self._pause()

    def data_received(self, data: bytes) -> None:
        """Keep it for whoever reads next."""
        self._chunks.append(data)
        self._arrived.set()
        if sum(map(len, self._chunks)) > _AHEAD:
            self._pause()

    def eof_received(self) -> None:
        """The other side says no more: an idle connection is closed, what has come can be read."""
        self._ended = True
        self._arrived.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake whoever waits."""
        self._ended, self._error = True, exc
        self._arrived.set()
        self._writable.set()

    def pause_writing(self) -> None:
        """The other side takes no more for now."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It does again."""
        self._writable.set()

    # ----------------------------------------------------------------------------------------

    async def has_more(self) -> bool:
        """Whether something came that was not read."""
        if self._is_readable():
            self._resume()
            for _ in range(2):
                # In the first turn this task comes before what the event loop reads.
                await asyncio.sleep(0)
        return any(chunk.strip(_BLANK) for chunk in self._chunks)

    async def _begin(self) -> None:
        self._resume()
        if await self.has_more() or (self._used and (self._chunks or self._ended)):
            if self._used:
                raise httpcore.ConnectionNotAvailable
            raise httpcore.RemoteProtocolError("it spoke before it was asked")
        self._between, self._used = False, True

    def _is_readable(self) -> bool:
        under = self._transport.get_extra_info("socket")
        number = -1 if under is None else under.fileno()
        if number < 0:
            return True
        poll = select.poll()
        poll.register(number, select.POLLIN)
        return bool(poll.poll(0))

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._paused and not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()


class Network(httpcore.AsyncNetworkBackend):
    """Makes such connections."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Connection:
        """To the first address of the host that answers; from any of ours, without options."""
        try:
            return await _within(timeout, _made(host, port), httpcore.ConnectTimeout)
        except OSError as error:
            raise httpcore.ConnectError("no connection") from error
        except ExceptionGroup as errors:
            raise httpcore.ConnectError("no connection to any address") from errors

    async def sleep(self, seconds: float) -> None:
        """Part of httpcore's interface."""
        await asyncio.sleep(seconds)


async def _made(host: str, port: int) -> Connection:
    """Tries the addresses one after the other, the next beside one that is slow (RFC 8305 5).

    asyncio can do that itself, but loses sockets when it is cancelled meanwhile (Python 3.11).
    """
    loop = asyncio.get_running_loop()
    try:
        # An address as it is needs no thread to be looked up in, nor that thread's memory.
        literal = host.encode("ascii")
        flags = socket.AI_NUMERICHOST
        found = socket.getaddrinfo(literal, port, type=socket.SOCK_STREAM, flags=flags)
    except OSError:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    families = [family for family, *_ in found]
    nth = {id(info): families[:at].count(info[0]) for at, info in enumerate(found)}
    attempts: list[asyncio.Task[socket.socket]] = []
    won: socket.socket | None = None
    try:
        for info in sorted(found, key=lambda info: nth[id(info)]):
            attempts.append(asyncio.create_task(_connected(*info)))
            is_last = len(attempts) == len(found)
            while won is None and (under_way := [each for each in attempts if not each.done()]):
                done, _ = await asyncio.wait(
                    under_way,
                    timeout=None if is_last else _NEXT_ADDRESS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                won = next((each.result() for each in done if each.exception() is None), None)
                if not is_last:
                    break
            if won is not None:
                break
    finally:
        # Nothing is waited for here: who is cancelled while waiting would lose the one that won.
        for attempt in attempts:
            if not attempt.done():
                attempt.cancel()
            elif attempt.exception() is None and attempt.result() is not won:
                attempt.result().close()
    if won is None:
        failures = [attempt.exception() for attempt in attempts]
        raise ExceptionGroup("", [each for each in failures if isinstance(each, Exception)])
    _, connection = await loop.create_connection(Connection, sock=won)
    return connection


async def _connected(family: int, kind: int, protocol: int, _: str, address: Any) -> socket.socket:
    made = socket.socket(family, kind, protocol)
    try:
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, address)
    except BaseException:
        made.close()
        raise
    return made


def watch_answers() -> bool:
    """Have no connection kept behind whose answer anything came; False if that can't be watched.

    What came in the same packet lies in the parser, which httpcore shows to nobody, so the one
    method that ends an answer is wrapped. Where another version has no such method, connections
    must not be kept at all; where it has no such parser, none is.
    """
    kind: Any = httpcore.AsyncHTTP11Connection
    ends = getattr(kind, "_response_closed", None)
    if getattr(ends, "watches", False):
        return True
    if not iscoroutinefunction(ends):
        return False

    async def response_closed(self: Any) -> None:
        parser = getattr(self, "_h11_state", None)
        stream = getattr(self, "_network_stream", None)
        if not isinstance(parser, h11.Connection):
            await self.aclose()
            return
        left, _ = parser.trailing_data
        if isinstance(stream, Connection) and parser.their_state in _WHOLE:
            stream.surplus = bool(left.strip(_BLANK)) or await stream.has_more()
            if stream.surplus:
                await self.aclose()
                return
        if left:
            await self.aclose()
        else:
            await ends(self)

    response_closed.watches = True  # type: ignore[attr-defined]
    kind._response_closed = response_closed
    return True


async def _within(seconds: float | None, work: Awaitable[T], late: type[Exception]) -> T:
    """What `work` brings; `late` is raised if it takes longer."""
    deadline = asyncio.timeout(seconds)
    try:
        async with deadline:
            return await work
    except TimeoutError as error:
        if deadline.expired():
            raise late("it took too long") from error
        raise
