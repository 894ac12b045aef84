"""Connections on which nothing comes unseen, the pools that keep them, and who is believed.

An answer belongs to its request (RFC 9112 9.2). httpcore 1.0.9 keeps a connection after an answer
without looking for what came behind it: a second answer in the same packet, in the next one, or in
the next TLS record would be read as the answer to the next request. Here the event loop reads all
that comes, so that it is known when an answer ends and when a request begins whether anything has
come that nobody asked for.
"""

from __future__ import annotations

import asyncio
import contextvars
import select
import socket
import ssl
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from importlib.util import find_spec
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.request import getproxies, proxy_bypass

import h11
import httpcore
import httpx

from agentco_tui.api.credentials import CredentialError
from agentco_tui.api.errors import ApiError
from agentco_tui.text import safe

if TYPE_CHECKING:
    from agentco_tui.api.recording import Replay

T = TypeVar("T")

if find_spec("sniffio") is None:
    # httpcore tries to import it twice a request, and looks through all folders each time.
    sys.modules["sniffio"] = None  # type: ignore[assignment]

WRITES_KEPT: Final = 2.0
"""Seconds a write's connection is kept: far below what servers close idle ones after."""
_KEPT: Final = 4  # connections of each lane that are kept for the next request
_AHEAD: Final = 256 * 1024  # bytes that may wait here to be read, before the other side has to wait
_NEXT_ADDRESS: Final = 0.25
"""Seconds after which the next address of a host is tried beside the last (RFC 8305 5)."""
_BLANK: Final = b"\r\n"  # what some servers send behind a body, and is no answer
_WHOLE: Final = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)  # the other side, after a whole answer


class LastCheck:
    """Decides whether a write may leave, at the moment in which its first byte would.

    Getting there can take seconds: a place in the pool, a name, a connection, a TLS handshake, a
    process that is stopped. Head and body leave in one piece, so that nothing comes between them.
    """

    def __init__(self, check: Callable[[], None], method: str, *, has_body: bool) -> None:
        """`check` raises ApiError if the request must not leave any more."""
        self._check = check
        self._begins_with = f"{method} ".encode("ascii")
        self._waits_for_body = has_body
        self._head = b""

    def pass_on(self, data: bytes) -> bytes:
        """The bytes that may leave now; b"" while the body is still to come. Raises ApiError.

        What a connection sends before the request (to a proxy, for example) is not held back.
        """
        if self._waits_for_body and not self._head and data.startswith(self._begins_with):
            self._head = data
            return b""
        if self._head:
            data = self._head + data
            self._head = b""
            self._waits_for_body = False
        self._check()
        return data


_last_check: Final[contextvars.ContextVar[LastCheck | None]] = contextvars.ContextVar(
    "last_check", default=None
)
"""Of the request that the current task sends. httpcore passes nothing of a request on to the
connection that writes it, and sends each request in the task that asked for it."""


class Connection(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One TCP connection, plain or with TLS. Raises httpcore's exceptions."""

    def __init__(self, *, resends: bool) -> None:
        """`resends`: a request for which a kept connection is found closed goes out on another."""
        self.surplus = False
        """More came than the answer that was read last: nothing read from it is to be acted on."""
        self._resends = resends
        self._transport: Any = None
        self._chunks: deque[bytes] = deque()
        self._ended = False
        self._error: Exception | None = None
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._between = True  # no byte of a request has left since the last answer
        self._requests = 0
        self._unanswered = False  # no byte came since the last request began
        self.secured_for: str | None = None
        """The host name of a TLS handshake that was made ahead, until a request takes it."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        self._between = True
        if not self._chunks and not self._ended:
            self._arrived.clear()
            self._transport.resume_reading()
            await _within(timeout, self._arrived.wait(), httpcore.ReadTimeout)
        if not self._chunks:
            if self._unanswered and self._resends and self._requests > 1:
                # Closed by the other side as the request went out: httpcore takes another one.
                raise httpcore.ConnectionNotAvailable
            if self._error is not None:
                raise httpcore.ReadError("the connection broke") from self._error
            return b""
        self._unanswered = False
        chunk = self._chunks.popleft()
        if len(chunk) > max_bytes:
            self._chunks.appendleft(chunk[max_bytes:])
        if not self._chunks:
            self._transport.resume_reading()
        return chunk[:max_bytes]

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """A kept connection on which something came unasked is given up before a byte has left."""
        if not buffer:
            return
        last_check = _last_check.get()
        if self._between:
            self._transport.resume_reading()
            is_kept = self._requests > 0
            if await self.has_more() or (is_kept and (self._chunks or self._ended)):
                if is_kept:
                    raise httpcore.ConnectionNotAvailable
                raise httpcore.RemoteProtocolError("it spoke before it was asked")
            self._between, self._unanswered = False, True
            self._requests += 1
        if self._transport.is_closing():
            raise httpcore.WriteError("the connection broke") from self._error
        if last_check is not None:
            buffer = last_check.pass_on(buffer)
        # Nothing may be awaited between the check and this.
        self._transport.write(buffer)
        if not self._writable.is_set():
            await _within(timeout, self._writable.wait(), httpcore.WriteTimeout)

    async def aclose(self) -> None:
        """Close at once; what was not sent by now is not sent."""
        self.abort()
        await asyncio.sleep(0)

    def abort(self) -> None:
        """The same, without waiting for the end of it."""
        self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Connection:
        loop = asyncio.get_running_loop()
        made_ahead_for = self.secured_for
        self.secured_for = None  # a second handshake on it is one inside the first
        if made_ahead_for is not None and made_ahead_for == server_hostname:
            return self
        self._between, self._requests = True, 0
        if self._chunks:
            await self.aclose()
            raise httpcore.ConnectError("bytes came before the handshake")
        work = loop.start_tls(self._transport, self, ssl_context, server_hostname=server_hostname)
        try:
            self._transport = await _within(timeout, work, httpcore.ConnectTimeout)
        except BaseException as error:
            await self.aclose()
            if isinstance(error, OSError):  # ssl.SSLError is one
                raise httpcore.ConnectError("the handshake failed") from error
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        """`is_readable` is true for whatever speaks against using it once more."""
        if info != "is_readable":
            return self._transport.get_extra_info(info)
        below = self._transport.get_extra_info("socket")
        if self._chunks or self._ended or below is None or below.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(below.fileno(), select.POLLIN)
        return bool(poll.poll(0))

    async def has_more(self) -> bool:
        """Whether something came that was not read."""
        if self.get_extra_info("is_readable"):
            self._transport.resume_reading()
            for _ in range(2):
                # In the first turn this task comes before what the event loop reads.
                await asyncio.sleep(0)
        return any(chunk.strip(_BLANK) for chunk in self._chunks)

    async def is_usable(self) -> bool:
        """Whether a connection that was made ahead is still open, and nothing came on it."""
        has_more = await self.has_more()
        return not (has_more or self._ended or self._transport.is_closing())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        # Nothing is read before it is known whether it is to be TLS.
        self._transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        self._chunks.append(data)
        self._arrived.set()
        if sum(map(len, self._chunks)) > _AHEAD:
            self._transport.pause_reading()

    def eof_received(self) -> None:
        self._ended = True
        self._arrived.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended, self._error = True, exc
        self._arrived.set()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()


class Network(httpcore.AsyncNetworkBackend):
    def __init__(self, *, resends: bool) -> None:
        self._resends = resends
        self._ahead: dict[tuple[str, int], asyncio.Task[Connection]] = {}
        """Connections that were begun before a request asked for them, by host and port."""

    def connect_ahead(
        self, host: str, port: int, context: ssl.SSLContext | None, timeout: float
    ) -> None:
        """Begin a connection, with its TLS handshake if there is a `context`.

        The next request takes it. If none does within `WRITES_KEPT` seconds, it is closed.
        """
        place = host, port
        if place in self._ahead:
            return

        async def connect() -> Connection:
            connection = await self._connect(host, port, timeout)
            if context is not None:
                context.set_alpn_protocols(["http/1.1"])
                await connection.start_tls(context, host, timeout)
                connection.secured_for = host
            return connection

        connecting = asyncio.create_task(connect(), name="connection made ahead")
        self._ahead[place] = connecting

        def close_unless_taken() -> None:
            if self._ahead.get(place) is connecting:
                del self._ahead[place]
                _drop(connecting)

        def ended(_: asyncio.Task[Connection]) -> None:
            asyncio.get_running_loop().call_later(WRITES_KEPT, close_unless_taken)

        connecting.add_done_callback(ended)

    async def aclose(self) -> None:
        """Close what was made ahead and not used."""
        made_ahead = list(self._ahead.values())
        self._ahead.clear()
        for connecting in made_ahead:
            _drop(connecting)
        await asyncio.gather(*made_ahead, return_exceptions=True)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Connection:
        """One that was made ahead, else a new one."""
        connecting = self._ahead.pop((host, port), None)
        if connecting is not None:
            try:
                connection = await _within(timeout, connecting, httpcore.ConnectTimeout)
                if await connection.is_usable():
                    return connection
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                pass  # the new one below says why there is no connection
            except BaseException:
                _drop(connecting)
                raise
            _drop(connecting)
        return await self._connect(host, port, timeout)

    async def _connect(self, host: str, port: int, timeout: float | None) -> Connection:  # noqa: ASYNC109
        try:
            return await _within(timeout, self._made(host, port), httpcore.ConnectTimeout)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError("no connection") from error
        except ExceptionGroup as errors:
            raise httpcore.ConnectError("no connection to any address") from errors

    async def _made(self, host: str, port: int) -> Connection:
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
        addresses, attempts = iter(found), list[asyncio.Task[socket.socket]]()
        won: socket.socket | None = None
        try:
            while won is None:
                if address := next(addresses, None):
                    attempts.append(asyncio.create_task(_connected(*address)))
                under_way = [each for each in attempts if not each.done()]
                if not under_way:
                    whys = (each.exception() for each in attempts)
                    raise ExceptionGroup("", [why for why in whys if isinstance(why, Exception)])
                done, _ = await asyncio.wait(
                    under_way,
                    timeout=_NEXT_ADDRESS if address else None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                won = next((each.result() for each in done if each.exception() is None), None)
        finally:
            # Nothing is waited for here: who is cancelled meanwhile would lose the one that won.
            for each in attempts:
                if not each.cancel() and each.exception() is None and each.result() is not won:
                    each.result().close()
        _, made = await loop.create_connection(lambda: Connection(resends=self._resends), sock=won)
        return made


def _drop(connecting: asyncio.Task[Connection]) -> None:
    """End the making of a connection, or close the one that was made."""

    def close(done: asyncio.Task[Connection]) -> None:
        if not done.cancelled() and done.exception() is None:
            done.result().abort()

    connecting.cancel()
    connecting.add_done_callback(close)


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

    What came in the same packet lies in the parser, which httpcore shows to nobody, so the method
    that ends an answer is wrapped. Without such a method or parser no connection may be kept.
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
        if left or getattr(stream, "surplus", False):
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


class Lane(Enum):
    """Requests that wait for no place of another lane's; the value is how many at once."""

    READS = 8, 1  # what the screen shows
    DECISIONS = 6, 2  # what is read because of a decision: it waits behind no poll that hangs
    WRITES = 8, 3
    """A platform may close a kept connection in the moment in which we send on it: a read is then
    sent again, of a write the outcome is unknown. So a write that comes alone gets a fresh one, and
    only those that follow within `WRITES_KEPT` go on with it: a set pays for one handshake."""


class Pools(httpx.AsyncBaseTransport):
    """One pool a lane, made when it is used first. Raises httpx's exceptions."""

    def __init__(
        self, context: ssl.SSLContext, *, kept_for: float, proxy: httpcore.Proxy | None
    ) -> None:
        self._context, self._kept_for, self._proxy = context, kept_for, proxy
        self._pools: dict[Lane, httpcore.AsyncConnectionPool] = {}
        self._networks = {lane: Network(resends=lane is not Lane.WRITES) for lane in Lane}

    def _pool(self, lane: Lane) -> httpcore.AsyncConnectionPool:
        if lane not in self._pools:
            self._pools[lane] = httpcore.AsyncConnectionPool(
                ssl_context=self._context,
                proxy=self._proxy,
                max_connections=lane.value[0],
                max_keepalive_connections=_KEPT if watch_answers() else 0,
                keepalive_expiry=WRITES_KEPT if lane is Lane.WRITES else self._kept_for,
                network_backend=self._networks[lane],
            )
        return self._pools[lane]

    def connect_ahead(self, url: httpx.URL, timeout: float) -> None:
        """Begin the connection of a write that comes soon, unless one is kept for it.

        Through a proxy nothing is made ahead: the write makes its own connection then.
        """
        kept = any(connection.is_idle() for connection in self._pool(Lane.WRITES).connections)
        if self._proxy is not None or kept:
            return
        is_https = url.scheme == "https"
        port = url.port or (443 if is_https else 80)
        context = self._context if is_https else None
        host = url.raw_host.decode("ascii")
        self._networks[Lane.WRITES].connect_ahead(host, port, context, timeout)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Part of httpx's interface; whatever is no GET goes out on the lane of the writes."""
        lane = request.extensions["lane"] if request.method == "GET" else Lane.WRITES
        pool = self._pool(lane)
        url = request.url
        last_check = _last_check.set(request.extensions.get("last_check"))
        try:
            with _as_httpx():
                response = await pool.handle_async_request(
                    httpcore.Request(
                        request.method,
                        httpcore.URL(
                            scheme=url.raw_scheme,
                            host=url.raw_host,
                            port=url.port,
                            target=url.raw_path,
                        ),
                        headers=request.headers.raw,
                        content=request.stream,
                        extensions=request.extensions,
                    )
                )
        finally:
            _last_check.reset(last_check)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        for network in self._networks.values():
            await network.aclose()
        for pool in self._pools.values():
            await pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self.response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx():
            async for part in self.response.aiter_stream():
                yield part

    async def aclose(self) -> None:
        with _as_httpx():
            await self.response.aclose()


class Replayed(httpx.AsyncBaseTransport):
    """Answers from a recording, and no request leaves this machine."""

    def __init__(self, answer: Replay) -> None:
        self._answer = answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Part of httpx's interface. Raises ApiError as `answer` does."""
        known = request.headers.get("if-none-match")
        answer, body = await self._answer(request.extensions["question"], known)
        took = {"took": answer.took}
        return httpx.Response(
            answer.status, headers=answer.headers, stream=httpx.ByteStream(body), extensions=took
        )


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Httpcore's exceptions as httpx's of the same name; any other as a plain TransportError.

    An ApiError, which `LastCheck` raises, stays what it is.
    """
    try:
        yield
    except ApiError:
        raise
    except Exception as error:
        is_theirs = type(error).__module__.startswith("httpcore")
        kind = getattr(httpx, type(error).__name__, None) if is_theirs else None
        if kind is None or not issubclass(kind, httpx.TransportError):
            kind = httpx.TransportError
        raise kind("") from error


def proxy_of_environment(scheme: str, host: str) -> httpcore.Proxy | None:
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
    return httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth)


def tls_context(ca_file: Path | None = None, *, trust_env: bool = False) -> ssl.SSLContext:
    """A context that checks certificate and host name; takes 20 to 40 ms.

    With `ca_file` (PEM) only its CAs are believed; else those of the machine, or of certifi if it
    has none. SSL_CERT_FILE, SSL_CERT_DIR and SSLKEYLOGFILE count only with `trust_env`.
    """
    if ca_file is not None:
        try:
            context = ssl.create_default_context(cafile=str(ca_file))
        except (OSError, ValueError):
            # SSLError is an OSError: a missing file and one without certificates alike.
            raise CredentialError(
                f"ca_file {safe(str(ca_file), 200)} cannot be used: "
                "it must be a readable file with certificates in PEM form"
            ) from None
    elif trust_env:
        return ssl.create_default_context()
    else:
        paths = ssl.get_default_verify_paths()
        file, folder = Path(paths.openssl_cafile), Path(paths.openssl_capath)
        cafile = str(file) if file.is_file() else None
        # OpenSSL finds certificates by the hash of their names, with a number after it.
        capath = str(folder) if any(folder.glob("*.[0-9]")) else None
        if cafile is None and capath is None:
            return httpx.create_ssl_context(trust_env=False)
        context = ssl.create_default_context(cafile=cafile, capath=capath)
    if not trust_env:
        # Python has set it from SSLKEYLOGFILE, which writes the session keys to a file.
        context.keylog_filename = None  # type: ignore[assignment]
    return context
