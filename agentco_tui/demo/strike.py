"""How each fault strikes, on the real socket where the protocol itself must be broken."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable, MutableMapping
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from agentco_tui.demo import spoil
from agentco_tui.demo.faults import Fault
from agentco_tui.demo.operations import Answer, Header

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

TRANSPORT = "agentco.transport"
"""The key of the ASGI scope under which the connection's transport lies."""


class Line:
    """The connection a request came on: whether the client is still there, and raw writing."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._transport: asyncio.Transport = scope[TRANSPORT]
        self._receive = receive
        self.send = send
        self._gone: asyncio.Task[None] | None = None

    async def gone(self) -> None:
        """Return once the client has gone or the platform stops."""
        while (await self._receive())["type"] != "http.disconnect":
            continue

    async def pause(self, seconds: float) -> bool:
        """Wait; False at once if the client goes meanwhile."""
        if self._gone is None:
            self._gone = asyncio.create_task(self.gone())
        done, _ = await asyncio.wait({self._gone}, timeout=seconds)
        return not done

    async def release(self) -> None:
        """Stop watching for the client's going."""
        if self._gone is not None:
            self._gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._gone
            self._gone = None

    def write(self, data: bytes) -> None:
        """Write past the protocol."""
        self._transport.write(data)

    async def close(self) -> None:
        """End the connection after what was written, in good order as TCP sees it."""
        self._transport.close()
        await self.release()
        await self.gone()

    async def reset(self) -> None:
        """End the connection with a TCP reset."""
        sock: socket.socket | None = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()
        await self.release()
        await self.gone()


Strike = Callable[[Line, Fault, Answer], Awaitable[None]]


async def send_whole(line: Line, answer: Answer) -> None:
    """Send an answer in the ordinary way."""
    headers = list(answer.headers)
    await line.send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await line.send({"type": "http.response.body", "body": answer.body})


def raw_head(answer: Answer, *, drop: bytes = b"", extra: tuple[Header, ...] = ()) -> bytes:
    """Status line and headers as bytes, for writing past the protocol."""
    phrase = HTTPStatus(answer.status).phrase.encode()
    headers = [pair for pair in answer.headers if pair[0] != drop]
    lines = [b"%s: %s" % pair for pair in (*headers, *extra)]
    return b"\r\n".join([b"HTTP/1.1 %d %s" % (answer.status, phrase), *lines, b"", b""])


async def _hang(line: Line, _fault: Fault, _answer: Answer) -> None:
    await line.gone()


async def _hang_body(line: Line, _fault: Fault, answer: Answer) -> None:
    line.write(raw_head(answer) + answer.body[: len(answer.body) // 2])
    await line.gone()


async def _drip(line: Line, fault: Fault, answer: Answer) -> None:
    line.write(raw_head(answer))
    for turn in range(len(answer.body)):
        line.write(answer.body[turn : turn + 1])
        if not await line.pause(fault.span(1.0)):
            return
    await line.close()


async def _reset(line: Line, _fault: Fault, _answer: Answer) -> None:
    await line.reset()


async def _close(line: Line, _fault: Fault, _answer: Answer) -> None:
    await line.close()


async def _cut(line: Line, _fault: Fault, answer: Answer) -> None:
    line.write(raw_head(answer) + answer.body[: len(answer.body) // 2])
    await line.close()


def _with_length(length: Callable[[int], bytes]) -> Strike:
    async def strike(line: Line, _fault: Fault, answer: Answer) -> None:
        told = ((b"content-length", length(len(answer.body))),)
        line.write(raw_head(answer, drop=b"content-length", extra=told) + answer.body)
        await line.close()

    return strike


async def _bad_chunk(line: Line, _fault: Fault, answer: Answer) -> None:
    head = raw_head(answer, drop=b"content-length", extra=((b"transfer-encoding", b"chunked"),))
    line.write(head + b"zz\r\n" + answer.body + b"\r\n0\r\n\r\n")
    await line.close()


async def _endless(line: Line, _fault: Fault, _answer: Answer) -> None:
    headers = [(b"content-type", b"application/json")]
    await line.send({"type": "http.response.start", "status": 200, "headers": headers})
    for piece in spoil.endless():
        await line.send({"type": "http.response.body", "body": piece, "more_body": True})
        if not await line.pause(0):
            return


def _json(body: bytes, *headers: Header, status: int = 200) -> Answer:
    return Answer(status, ((b"content-type", b"application/json"), *headers), b"").replaced(body)


def _sent(make: Callable[[Fault, Answer], Answer]) -> Strike:
    async def strike(line: Line, fault: Fault, answer: Answer) -> None:
        await send_whole(line, make(fault, answer))

    return strike


def _bomb(fault: Fault, answer: Answer) -> Answer:
    del answer
    twice = fault.kind == "gzip_bomb2"
    encoding = b"gzip, gzip" if twice else b"gzip"
    bomb = spoil.gzip_bomb(fault.number(256), twice=twice)
    return _json(bomb, (b"content-encoding", encoding))


def _redirect(fault: Fault, answer: Answer) -> Answer:
    del answer
    place = (fault.value or "/login").encode("latin-1", "replace")
    return Answer(fault.code, ((b"location", place), (b"content-length", b"0")), b"")


def _bare(status: int, body: bytes = b"", media: bytes = b"application/json") -> Strike:
    def make(_fault: Fault, _answer: Answer) -> Answer:
        if status == HTTPStatus.NO_CONTENT:
            return Answer(status, (), b"")
        return Answer(status, ((b"content-type", media),), b"").replaced(body)

    return _sent(make)


def _spoiled(make: Callable[[bytes], bytes]) -> Strike:
    return _sent(lambda _fault, answer: answer.replaced(make(answer.body)))


def _clock(fault: Fault, answer: Answer) -> Answer:
    told = formatdate(fault.span(86_400.0) + _http_date(answer), usegmt=True)
    return answer.replaced(answer.body, date=told.encode())


def _http_date(answer: Answer) -> float:
    return parsedate_to_datetime(answer.header(b"date").decode()).timestamp()


STRIKES: dict[str, Strike] = {
    "hang": _hang,
    "hang_body": _hang_body,
    "drip": _drip,
    "drop_before": _reset,
    "drop_after": _reset,
    "close": _close,
    "cut": _cut,
    "long_length": _with_length(lambda length: str(length + 1_000).encode()),
    "short_length": _with_length(lambda length: str(length // 2).encode()),
    "bad_length": _with_length(lambda _length: b"many"),
    "bad_chunk": _bad_chunk,
    "endless": _endless,
    "gzip_bomb": _sent(_bomb),
    "gzip_bomb2": _sent(_bomb),
    "bad_gzip": _sent(lambda _f, answer: answer.replaced(answer.body, content_encoding=b"gzip")),
    "wrong_type": _sent(
        lambda fault, answer: answer.replaced(
            answer.body, content_type=(fault.value or "text/html").encode("latin-1", "replace")
        )
    ),
    "bad_json": _spoiled(lambda body: body[: len(body) * 3 // 5]),
    "deep": _sent(lambda fault, _answer: _json(spoil.deep(fault.number(100_000)))),
    "nan": _spoiled(lambda body: spoil.numbers(body, "NaN")),
    "infinity": _spoiled(lambda body: spoil.numbers(body, "1e999")),
    "digits": _sent(
        lambda fault, answer: answer.replaced(spoil.numbers(answer.body, "7" * fault.number(5_000)))
    ),
    "surrogates": _spoiled(spoil.surrogates),
    "latin1": _spoiled(spoil.latin1),
    "duplicate_keys": _spoiled(spoil.duplicate_keys),
    "html": _bare(200, spoil.LOGIN_PAGE, b"text/html; charset=utf-8"),
    "empty": _bare(200),
    "no_content": _bare(204),
    "null": _bare(200, b"null"),
    "redirect": _sent(_redirect),
    "redirect_other": _sent(_redirect),
    "clock": _sent(_clock),
    "hostile": _spoiled(spoil.hostile),
}
"""What each kind does with the line and the true answer; `status` is made by the front."""

NO_ANSWER = Answer(0, (), b"")

NEEDS_HEAD = frozenset(
    {"hang_body", "drip", "cut", "long_length", "short_length", "bad_length", "bad_chunk"}
)
"""Kinds that write a status line past the protocol."""
PAST_THE_PROTOCOL = NEEDS_HEAD | {"hang", "drop_before", "drop_after", "close"}
"""Kinds of which the protocol itself sees no answer."""
