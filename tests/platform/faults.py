"""Kinds of faults that only tests need, beside those of `agentco-tui demo --fault`.

endless       a body without an end
drip=2ms      one byte each interval (default 1s)
hang_body     half of the body, then nothing more
gzip_bomb=8   a small body that grows to this many MiB (default 256)
odd_rows      among the rows some that are no records, or not quite
hostile       control sequences, bidi and markup in every text
redirect=URL  to this path or address (default /login), with status 302
redirect_307=URL
              the same with status 307
clock=-2h     a Date header off by this much (default 1d)
"""

from __future__ import annotations

import functools
import json
import re
import zlib
from collections.abc import Iterator
from email.utils import formatdate
from itertools import cycle
from typing import Any

from agentco_tui.demo import faults
from agentco_tui.demo.connection import ClientConnection
from agentco_tui.demo.faults import Fault, FaultKind, date_of
from agentco_tui.demo.http_messages import Answer

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
"""Texts that must never reach a terminal unchanged."""

_UNCHANGED_KEYS = re.compile(
    r"(^|[_-])(id|ids|key|cursor|token|url|href|links?|next|previous|first|last)$|[a-z]I[dD]s?$"
    r"|_?at$|At$|-at$|time|status|state|priority|severity|level|type|kind|currency|unit|period"
    r"|amount|money|spent|limit|cost|^op|^rel|cursor|token",
    re.IGNORECASE,
)
"""Keys whose strings stay unchanged, because no record could be read without them."""


class HangInBody(FaultKind):
    async def send(self, fault: Fault, answer: Answer, connection: ClientConnection) -> None:
        await connection.send(answer.head() + answer.body[: len(answer.body) // 2])
        await connection.pause(None)
        connection.end()


class Drip(FaultKind):
    def check(self, fault: Fault) -> None:
        fault.seconds(0)

    async def send(self, fault: Fault, answer: Answer, connection: ClientConnection) -> None:
        await connection.send(answer.head())
        for index in range(len(answer.body)):
            # No pause after the last byte: what comes then is the next request.
            if index and not await connection.pause(fault.seconds(1.0)):
                return
            await connection.send(answer.body[index : index + 1])
        connection.end()


class Endless(FaultKind):
    replaces_answer = True

    def change(self, fault: Fault, answer: Answer) -> Answer:
        return Answer(200, {"content-type": "application/json", "transfer-encoding": "chunked"})

    async def send(self, fault: Fault, answer: Answer, connection: ClientConnection) -> None:
        await connection.send(answer.head())
        chunk = b"["
        while await connection.pause(0):
            await connection.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            chunk = b'{"id":"x","title":"and one more"},' * 1_000


class GzipBomb(FaultKind):
    replaces_answer = True

    def check(self, fault: Fault) -> None:
        if not re.fullmatch(r"\d{1,9}", fault.value or "1"):
            raise ValueError(f"gzip_bomb needs a whole number, not {fault.value!r}")

    def change(self, fault: Fault, answer: Answer) -> Answer:
        gzipped = {"content-type": "application/json", "content-encoding": "gzip"}
        return Answer(200, answer.headers | gzipped, _bomb(int(fault.value or 256)))


@functools.lru_cache(maxsize=8)
def _bomb(mib: int) -> bytes:
    """A gzip stream of valid JSON, an empty list with this many MiB of blanks in it."""
    compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    pieces = [compressor.compress(b"[")]
    pieces += [compressor.compress(b" " * (1 << 20)) for _ in range(mib)]
    pieces += [compressor.compress(b"]"), compressor.flush()]
    return b"".join(pieces)


class OddRows(FaultKind):
    def change(self, fault: Fault, answer: Answer) -> Answer:
        try:
            body = json.loads(answer.body)
        except ValueError:
            return answer
        return answer.replaced(json.dumps(_with_odd_rows(body)).encode())


def _with_odd_rows(value: Any) -> Any:
    """The value with five rows that are no records in each list, and odd fields in some rows."""
    if isinstance(value, dict):
        return {key: _with_odd_rows(inner) for key, inner in value.items()}
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return value
    rows = list(value)
    for index, row in enumerate(rows):
        if index % 7 == 3:
            changeable = [key for key in row if not _UNCHANGED_KEYS.search(key)] or ["odd"]
            key = changeable[index // 7 % len(changeable)]
            rows[index] = {**row, key: {"unexpected": ["object"]}}
    no_records: tuple[Any, ...] = (None, "record lost in migration", 42, [], {})
    for count, no_record in enumerate(no_records):
        rows.insert(min(len(rows), 2 + count * 4), no_record)
    return rows


class HostileTexts(FaultKind):
    def change(self, fault: Fault, answer: Answer) -> Answer:
        try:
            body = json.loads(answer.body)
        except ValueError:
            lines = "\r\n".join(HOSTILE)
            return answer.replaced(answer.body + lines.encode("utf-8", "replace"))
        return answer.replaced(json.dumps(_with_hostile_texts(body, cycle(HOSTILE))).encode())


def _with_hostile_texts(value: Any, payloads: Iterator[str], key: str = "") -> Any:
    """The value with a hostile text after each string, except after ids, times and statuses."""
    if isinstance(value, dict):
        return {name: _with_hostile_texts(inner, payloads, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_hostile_texts(inner, payloads, key) for inner in value]
    if isinstance(value, str) and not _UNCHANGED_KEYS.search(key):
        return f"{value} {next(payloads)}"
    return value


class Redirect(FaultKind):
    replaces_answer = True

    def __init__(self, status: int) -> None:
        self._status = status

    def change(self, fault: Fault, answer: Answer) -> Answer:
        location = (fault.value or "/login").encode("latin-1", "replace").decode("latin-1")
        return Answer(self._status, answer.headers | {"location": location})


class WrongClock(FaultKind):
    def check(self, fault: Fault) -> None:
        fault.seconds(0)

    def change(self, fault: Fault, answer: Answer) -> Answer:
        wrong_time = date_of(answer) + fault.seconds(86_400.0)
        return answer.replaced(answer.body, date=formatdate(wrong_time, usegmt=True))


KINDS: dict[str, FaultKind] = {
    **faults.KINDS,
    "hang_body": HangInBody(),
    "drip": Drip(),
    "endless": Endless(),
    "gzip_bomb": GzipBomb(),
    "odd_rows": OddRows(),
    "hostile": HostileTexts(),
    "redirect": Redirect(302),
    "redirect_307": Redirect(307),
    "clock": WrongClock(),
}
"""All kinds of faults by their name in a spec, those of the demo first."""
