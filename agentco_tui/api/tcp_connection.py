"""A TCP or TLS connection for httpcore that notices bytes which no request asked for.

An answer belongs to its request (RFC 9112, section 9.2). httpcore keeps a connection open after an
answer without looking for further bytes: a second answer in the same packet, in the next one, or in
the next TLS record would be read as the answer to the next request. Here the event loop reads all
bytes as they arrive, so that the end of an answer and the start of a request can be checked for
bytes that were not requested.
"""

from __future__ import annotations

import asyncio
import contextvars
import select
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import httpcore

T = TypeVar("T")

LINE_ENDS: Final = b"\r\n"
"""Bytes that some servers send behind a body; they are no answer."""
_MOST_BUFFERED: Final = 256 * 1024
"""Bytes that may wait here to be read before the other side is made to wait (back-pressure)."""


class LastCheck:
    """Decides whether a write may leave, at the moment in which its first byte would.

    Getting there can take seconds: a place in the pool, a name lookup, a connection, a TLS
    handshake, a suspended process. Head and body leave in one piece, so that nothing comes between.
    """

    def __init__(self, check: Callable[[], None], method: str, *, has_body: bool) -> None:
        """`check` raises ApiError if the request must not leave any more."""
        self._check = check
        self._first_bytes = f"{method} ".encode("ascii")
        self._waits_for_body = has_body
        self._head = b""

    def pass_on(self, data: bytes) -> bytes:
        """Return the bytes that may leave now; b"" while the body is still to come.

        What a connection sends before the request (to a proxy, for example) is not held back.
        Raises ApiError.
        """
        if self._waits_for_body and not self._head and data.startswith(self._first_bytes):
            self._head = data
            return b""
        if self._head:
            data = self._head + data
            self._head = b""
            self._waits_for_body = False
        self._check()
        return data


last_check: Final[contextvars.ContextVar[LastCheck | None]] = contextvars.ContextVar(
    "last_check", default=None
)
"""The check of the request that the current task sends. httpcore passes nothing of a request to the
connection that writes it, and sends each request in the task that asked for it."""


class Connection(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One TCP connection, plain or with TLS. Raises httpcore's exceptions."""

    def __init__(self, *, may_resend: bool) -> None:
        """`may_resend`: if a kept connection turns out to be closed, the request is sent again on
        another one. That is right for reads and wrong for writes.
        """
        self.surplus = False
        """More bytes came than the answer that was read last: nothing of it may be acted on."""
        self.secured_for: str | None = None
        """The host name of a TLS handshake that was made ahead, until a request takes it."""
        self._may_resend = may_resend
        self._transport: Any = None
        self._chunks: deque[bytes] = deque()
        self._has_ended = False
        self._error: Exception | None = None
        self._bytes_arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._is_between_requests = True
        self._requests = 0
        self._is_unanswered = False
        """No byte has come since the last request began."""

    # ---- httpcore's side

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Return at most `max_bytes`; b"" at the end. `timeout` is in seconds."""
        self._is_between_requests = True
        if not self._chunks and not self._has_ended:
            self._bytes_arrived.clear()
            self._transport.resume_reading()
            await within(timeout, self._bytes_arrived.wait(), httpcore.ReadTimeout)
        if not self._chunks:
            return self._read_at_end()
        self._is_unanswered = False
        chunk = self._chunks.popleft()
        if len(chunk) > max_bytes:
            self._chunks.appendleft(chunk[max_bytes:])
        if not self._chunks:
            self._transport.resume_reading()
        return chunk[:max_bytes]

    def _read_at_end(self) -> bytes:
        is_kept_connection = self._requests > 1
        if self._is_unanswered and self._may_resend and is_kept_connection:
            # The other side closed it while the request went out: httpcore takes another one.
            raise httpcore.ConnectionNotAvailable
        if self._error is not None:
            raise httpcore.ReadError("the connection broke") from self._error
        return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Send bytes. A kept connection on which something came unrequested is given up before a
        byte has left. Raises ApiError if the last check refuses the request.
        """
        if not buffer:
            return
        check = last_check.get()
        if self._is_between_requests:
            await self._begin_request()
        if self._transport.is_closing():
            raise httpcore.WriteError("the connection broke") from self._error
        if check is not None:
            buffer = check.pass_on(buffer)
        # Nothing may be awaited between the check and this line.
        self._transport.write(buffer)
        if not self._writable.is_set():
            await within(timeout, self._writable.wait(), httpcore.WriteTimeout)

    async def _begin_request(self) -> None:
        self._transport.resume_reading()
        is_kept = self._requests > 0
        has_surplus = await self.has_more()
        if is_kept and (has_surplus or self._chunks or self._has_ended):
            raise httpcore.ConnectionNotAvailable
        if has_surplus:
            raise httpcore.RemoteProtocolError("it spoke before it was asked")
        self._is_between_requests = False
        self._is_unanswered = True
        self._requests += 1

    async def aclose(self) -> None:
        """Close at once; what was not sent by now is not sent."""
        self.abort()
        await asyncio.sleep(0)

    def abort(self) -> None:
        """Close at once, without waiting for the end of it."""
        self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Connection:
        """Make the TLS handshake, unless it was made ahead for this host."""
        made_ahead_for = self.secured_for
        self.secured_for = None  # a second handshake on this connection is one inside the first
        if made_ahead_for is not None and made_ahead_for == server_hostname:
            return self
        self._is_between_requests = True
        self._requests = 0
        if self._chunks:
            await self.aclose()
            raise httpcore.ConnectError("bytes came before the handshake")
        handshake = asyncio.get_running_loop().start_tls(
            self._transport, self, ssl_context, server_hostname=server_hostname
        )
        try:
            self._transport = await within(timeout, handshake, httpcore.ConnectTimeout)
        except OSError as error:  # ssl.SSLError is one
            await self.aclose()
            raise httpcore.ConnectError("the handshake failed") from error
        except BaseException:
            await self.aclose()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        """`is_readable` is true if anything speaks against using the connection again."""
        if info != "is_readable":
            return self._transport.get_extra_info(info)
        below = self._transport.get_extra_info("socket")
        if self._chunks or self._has_ended or below is None or below.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(below.fileno(), select.POLLIN)
        return bool(poll.poll(0))

    async def has_more(self) -> bool:
        """Return whether anything came that was not read."""
        if self.get_extra_info("is_readable"):
            self._transport.resume_reading()
            for _ in range(2):
                # In the first turn of the loop this task runs before the loop reads the socket.
                await asyncio.sleep(0)
        return any(chunk.strip(LINE_ENDS) for chunk in self._chunks)

    async def is_usable(self) -> bool:
        """Return whether a connection that was made ahead is still open, and nothing came on it."""
        has_more = await self.has_more()
        return not (has_more or self._has_ended or self._transport.is_closing())

    # ---- asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; nothing is read before it is known whether there will be TLS."""
        self._transport = transport
        self._transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Buffer what came, and make the other side wait beyond 256 KiB."""
        self._chunks.append(data)
        self._bytes_arrived.set()
        if sum(map(len, self._chunks)) > _MOST_BUFFERED:
            self._transport.pause_reading()

    def eof_received(self) -> None:
        """The other side sends no more."""
        self._has_ended = True
        self._bytes_arrived.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone; `exc` is the reason, None for a regular end."""
        self._has_ended = True
        self._error = exc
        self._bytes_arrived.set()
        self._writable.set()

    def pause_writing(self) -> None:
        """The operating system takes no more bytes for now."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The operating system takes bytes again."""
        self._writable.set()


async def within(seconds: float | None, work: Awaitable[T], late: type[Exception]) -> T:
    """Return the result of `work`; raise `late` if it takes longer than `seconds`."""
    deadline = asyncio.timeout(seconds)
    try:
        async with deadline:
            return await work
    except TimeoutError as error:
        if deadline.expired():
            raise late("it took too long") from error
        raise
