"""How each fault strikes: on the answer, or on the real socket where the protocol is broken."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import re
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from itertools import cycle
from typing import Any

from agentco_tui.demo.faults import Fault
from agentco_tui.demo.operations import Answer

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

TRANSPORT = "agentco.transport"
"""The key of the ASGI scope under which the connection's transport lies."""

MIB = 1 << 20

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]0;owned\x07",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1bPq#0;2;0;0;0\x1b\\",
    "\x9b2J\x9d52;c;ZXZpbA==\x9c",
    "\x1b[?1049l\x1b[?1000h",
    "[/]",
    "[@click=app.quit]click[/]",
    "[bold red]big[/bold red] [not closed",
    "\u202egnp.exe\u202c",
    "\u2066isolated\u2069\u200f",
    "zero\u200b\u200b\u200b\u200bwidth\ufeff",
    "tag\U000e0041\U000e0042",
    "line\u2028separator\u2029and\x85next",
    "nul\x00bel\x07del\x7fback\x08\x08",
    "two\r\nlines\tand tabs\x0b\x0c",
    "z" + "\u0335\u0336\u0337\u0338" * 20,
    "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪é",
    "=cmd|'/C calc'!A0",
    "\ud800 alone",
    "non\ufffecharacter\U0010ffff",
    "w" * 3_000,
    "%s %n {0} {title} $(id) `id`",
)
"""Texts that must never reach a terminal as they are."""

_MEANT = re.compile(
    r"(^|[_-])(id|ids|key|cursor|token|url|href|links?|next|previous|first|last)$|[a-z]I[dD]s?$"
    r"|_?at$|At$|-at$|time|status|state|priority|severity|level|type|kind|currency|unit|period"
    r"|amount|money|spent|limit|cost|^op|^rel|cursor|token",
    re.IGNORECASE,
)
"""Keys whose strings are left alone, because without them no record would be understood."""


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

    async def end(self, *, reset: bool = False) -> None:
        """End the connection in good order as TCP sees it, or with a reset."""
        sock: socket.socket | None = self._transport.get_extra_info("socket")
        if reset and sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        (self._transport.abort if reset else self._transport.close)()
        await self.release()
        await self.gone()


async def send_whole(line: Line, answer: Answer) -> None:
    """Send an answer in the ordinary way."""
    headers = list(answer.headers)
    await line.send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await line.send({"type": "http.response.body", "body": answer.body})


def _head(answer: Answer) -> bytes:
    """Status line and headers as bytes, for writing past the protocol."""
    phrase = HTTPStatus(answer.status).phrase.encode()
    lines = [b"%s: %s" % pair for pair in answer.headers]
    return b"\r\n".join([b"HTTP/1.1 %d %s" % (answer.status, phrase), *lines, b"", b""])


async def _hang(line: Line, fault: Fault, answer: Answer) -> None:
    if fault.kind == "hang_body":
        line.write(_head(answer) + answer.body[: len(answer.body) // 2])
    await line.gone()


async def _drip(line: Line, fault: Fault, answer: Answer) -> None:
    line.write(_head(answer))
    for turn in range(len(answer.body)):
        line.write(answer.body[turn : turn + 1])
        if not await line.pause(fault.span(1.0)):
            return
    await line.end()


async def _drop(line: Line, _fault: Fault, _answer: Answer) -> None:
    await line.end(reset=True)


async def _cut(line: Line, _fault: Fault, answer: Answer) -> None:
    line.write(_head(answer) + answer.body[: len(answer.body) // 2])
    await line.end()


async def _endless(line: Line, _fault: Fault, _answer: Answer) -> None:
    headers = [(b"content-type", b"application/json")]
    await line.send({"type": "http.response.start", "status": 200, "headers": headers})
    for piece in _pieces():
        await line.send({"type": "http.response.body", "body": piece, "more_body": True})
        if not await line.pause(0):
            return


def _pieces() -> Iterator[bytes]:
    """Pieces of a list that never ends."""
    yield b"["
    row = b'{"id":"x_%d","title":"and one more"},'
    number = 0
    while True:
        yield b"".join(row % turn for turn in range(number, number + 1_000))
        number += 1_000


PAST_THE_PROTOCOL: dict[str, bool] = {
    "hang": False,
    "hang_body": True,
    "drip": True,
    "drop_before": False,
    "drop_after": False,
    "cut": True,
}
"""Kinds of which the protocol itself sees no answer: whether they write a status line past it."""

ON_THE_LINE: dict[str, Callable[[Line, Fault, Answer], Awaitable[None]]] = {
    "hang": _hang,
    "hang_body": _hang,
    "drip": _drip,
    "drop_before": _drop,
    "drop_after": _drop,
    "cut": _cut,
    "endless": _endless,
}
"""What these kinds do with the line and the true answer."""


@functools.lru_cache(maxsize=8)
def _bomb(mib: int) -> bytes:
    """A gzip stream of valid JSON, `[` blanks `]`, of this many MiB."""
    piece = b" " * MIB
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    head = squeeze.compress(b"[") + squeeze.flush(zlib.Z_FULL_FLUSH)
    # After a full flush no block refers to what came before, so one serves for all.
    block = squeeze.compress(piece) + squeeze.flush(zlib.Z_FULL_FLUSH)
    tail = squeeze.compress(b"]") + squeeze.flush(zlib.Z_FINISH)
    check = zlib.crc32(b"[")
    for _ in range(mib):
        check = zlib.crc32(piece, check)
    check = zlib.crc32(b"]", check)
    length = (mib * MIB + 2) & 0xFFFFFFFF
    trailer = check.to_bytes(4, "little") + length.to_bytes(4, "little")
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff" + head + block * mib + tail + trailer


def _gzip_bomb(fault: Fault, _answer: Answer) -> Answer:
    bomb = Answer(200, ((b"content-type", b"application/json"),), b"")
    return bomb.replaced(_bomb(fault.number(256)), content_encoding=b"gzip")


def _redirect(fault: Fault, _answer: Answer) -> Answer:
    place = (fault.value or "/login").encode("latin-1", "replace")
    return Answer(fault.code, (), b"").replaced(b"", location=place)


def _clock(fault: Fault, answer: Answer) -> Answer:
    told = next(value for name, value in answer.headers if name == b"date").decode()
    wrong = parsedate_to_datetime(told).timestamp() + fault.span(86_400.0)
    return answer.replaced(answer.body, date=formatdate(wrong, usegmt=True).encode())


def _bad_json(_fault: Fault, answer: Answer) -> Answer:
    return answer.replaced(answer.body[: len(answer.body) * 3 // 5])


def _hostile(_fault: Fault, answer: Answer) -> Answer:
    """A hostile text at the end of every string that isn't an id, a moment or a status."""
    payloads = cycle(HOSTILE)
    spoiled = _rewrite_texts(answer.body, lambda text: f"{text} {next(payloads)}")
    if spoiled is None:
        return answer.replaced(answer.body + "\r\n".join(HOSTILE).encode("utf-8", "replace"))
    return answer.replaced(json.dumps(spoiled).encode())


_NO_RECORDS: tuple[Any, ...] = (None, "record lost in migration", 42, [], {})


def _odd_rows(_fault: Fault, answer: Answer) -> Answer:
    """In every list of records five rows that are none, and an odd field in every seventh."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: walk(inner) for key, inner in value.items()}
        if not isinstance(value, list) or not value or not isinstance(value[0], dict):
            return value
        rows = list(value)
        for turn, row in enumerate(rows):
            if turn % 7 == 3:
                odd = [key for key in row if not _MEANT.search(key)]
                name = odd[turn // 7 % len(odd)] if odd else "odd"
                rows[turn] = {**row, name: {"unexpected": ["object"]}}
        for turn, broken in enumerate(_NO_RECORDS):
            rows.insert(min(len(rows), 2 + turn * 4), broken)
        return rows

    try:
        return answer.replaced(json.dumps(walk(json.loads(answer.body))).encode())
    except ValueError:
        return answer


ON_THE_ANSWER: dict[str, Callable[[Fault, Answer], Answer]] = {
    "gzip_bomb": _gzip_bomb,
    "bad_json": _bad_json,
    "odd_rows": _odd_rows,
    "hostile": _hostile,
    "redirect": _redirect,
    "clock": _clock,
}
"""What these kinds send in place of the true answer."""


def _rewrite_texts(body: bytes, swap: Callable[[str], str]) -> Any:
    """The JSON with every free text swapped; None if the body is none."""

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, key) for inner in value]
        if isinstance(value, str) and not _MEANT.search(key):
            return swap(value)
        return value

    try:
        return walk(json.loads(body))
    except ValueError:
        return None
