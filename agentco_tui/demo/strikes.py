"""How each fault strikes: on the true answer, or on the connection where the protocol is broken."""

from __future__ import annotations

import functools
import json
import re
import zlib
from collections.abc import Callable
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from itertools import cycle
from typing import Any

from agentco_tui.demo.connection import Answer, ClientConnection, phrase_of
from agentco_tui.demo.faults import Fault

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

LOGIN_PAGE = """<!doctype html>
<html><head><title>Sign in</title></head>
<body><h1>Sign in</h1><form method="post" action="/login">
<input name="user"><input name="password" type="password"></form></body></html>
"""

BROKEN: dict[str, tuple[float | None, str]] = {
    "hang": (None, "silence"),
    "hang_body": (0.5, "silence"),
    "drip": (0.0, "drip"),
    "drop_before": (None, "reset"),
    "drop_after": (None, "reset"),
    "cut": (0.5, "close"),
    "endless": (None, "endless"),
}
"""Kinds that break the protocol: how much of the body is sent (None: not even a head), and then."""


def status_sent(fault: Fault, answer: Answer) -> int:
    """The status that leaves before the connection breaks; 0 if none does."""
    if fault.kind == "endless":
        return 200
    return 0 if BROKEN[fault.kind][0] is None else answer.status


async def break_off(connection: ClientConnection, fault: Fault, answer: Answer) -> None:
    """Send as much of the answer as the fault leaves, and end the connection its way."""
    share, then = BROKEN[fault.kind]
    if share is not None:
        await connection.send(answer.head() + answer.body[: int(len(answer.body) * share)])
    if then == "endless":
        endless = {"content-type": "application/json", "transfer-encoding": "chunked"}
        await connection.send(Answer(200, endless).head())
        piece = b"["
        while await connection.pause(0):
            await connection.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            piece = b'{"id":"x","title":"and one more"},' * 1_000
        return
    if then == "drip":
        for turn in range(len(answer.body)):
            # Not after the last one: what comes then is the next request.
            if turn and not await connection.pause(fault.span(1.0)):
                return
            await connection.send(answer.body[turn : turn + 1])
    if then == "silence":
        await connection.pause(None)
    connection.end(reset=then == "reset")


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


def _gzip_bomb(fault: Fault, answer: Answer) -> Answer:
    headers = answer.headers | {"content-type": "application/json", "content-encoding": "gzip"}
    return Answer(200, headers, _bomb(fault.number(256)))


def _redirect(fault: Fault, answer: Answer) -> Answer:
    place = (fault.value or "/login").encode("latin-1", "replace").decode("latin-1")
    return Answer(fault.code, answer.headers | {"location": place})


def _clock(fault: Fault, answer: Answer) -> Answer:
    wrong = parsedate_to_datetime(answer.headers["date"]).timestamp() + fault.span(86_400.0)
    return answer.replaced(answer.body, date=formatdate(wrong, usegmt=True))


def _bad_json(_fault: Fault, answer: Answer) -> Answer:
    return answer.replaced(answer.body[: len(answer.body) * 3 // 5])


def _hostile(_fault: Fault, answer: Answer) -> Answer:
    """A hostile text at the end of every string that isn't an id, a moment or a status."""
    payloads = cycle(HOSTILE)

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, key) for inner in value]
        spoiled = isinstance(value, str) and not _MEANT.search(key)
        return f"{value} {next(payloads)}" if spoiled else value

    try:
        return answer.replaced(json.dumps(walk(json.loads(answer.body))).encode())
    except ValueError:
        return answer.replaced(answer.body + "\r\n".join(HOSTILE).encode("utf-8", "replace"))


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


def _status(fault: Fault, answer: Answer) -> Answer:
    """The answer with the status of the fault; `answer` is that in the platform's own words."""
    status = fault.number(500)
    wanted = fault.retry_after
    if wanted is not None and wanted.startswith("date"):
        at = parsedate_to_datetime(answer.headers["date"]).timestamp() + float(wanted[4:] or 0)
        wanted = formatdate(at, usegmt=True)
    headers = {"date": answer.headers["date"]}
    if wanted is not None:
        headers["retry-after"] = "in a moment" if wanted == "odd" else wanted
    if status == HTTPStatus.NO_CONTENT:
        return Answer(status, headers)
    if fault.body == "json":
        return Answer(status, answer.headers | headers, answer.body)
    page = f"<html><body><h1>{status} {phrase_of(status)}</h1></body></html>"
    media, body = {
        "html": ("text/html; charset=utf-8", LOGIN_PAGE if status < 300 else page),
        "text": ("text/plain", "upstream connect error or disconnect/reset before headers"),
        "empty": ("application/json", ""),
        "null": ("application/json", "null"),
    }[fault.body]
    return Answer(status, headers | {"content-type": media}, body.encode())


SPOILED: dict[str, Callable[[Fault, Answer], Answer]] = {
    "status": _status,
    "gzip_bomb": _gzip_bomb,
    "bad_json": _bad_json,
    "odd_rows": _odd_rows,
    "hostile": _hostile,
    "redirect": _redirect,
    "clock": _clock,
}
"""What these kinds make of the true answer, or of the platform's own refusal."""
