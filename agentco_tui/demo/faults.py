"""The faults: the grammar of `--fault`, which one strikes a request, and how.

SPEC    = [METHOD " "] TARGET ":" KIND ["=" VALUE] {"," OPTION "=" VALUE}
TARGET  = "*" | "reads" | "writes" | operation (see connection.py) | path
path    = "/api/..." with "*", ":id" or "{id}" for one segment and "**" for several
KIND    = a key of KINDS
OPTION  = times=N     strike so often, then never again
          after=N     let N matching requests pass first
          p=0.25      strike with this probability, from seed=N (default 0)
          applied=before|after
                      whether the request is left undone, or done before the fault strikes
          retry_after=120 | 1.5 | -3 | date+60 | odd     (with status)
          body=json|html|text|empty|null                 (with status)
          code=307                                       (with redirect)

GET /api/tasks:status=503,times=3       tasks:hang          *:latency=100ms
approve:drop_after                      reads:status=429,retry_after=date+30
"""

from __future__ import annotations

import functools
import json
import random
import re
import zlib
from collections.abc import Iterable, Iterator
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from itertools import cycle
from typing import Any, Literal, NamedTuple

import msgspec

from agentco_tui.demo.connection import ClientConnection
from agentco_tui.demo.http_messages import BY_NAME, Answer, Request, path_pattern, phrase_of
from agentco_tui.demo.stories import stream


class FaultKind(NamedTuple):
    """What a fault does; one that breaks the protocol sends a part of the answer, and then `then`.

    `instead`: it strikes instead of the true answer, so the request may be left undone; all others
    spoil that answer. `part` None: not even a head is sent. `span`: its value is a span of time.
    """

    instead: bool = False
    then: str = ""
    part: float | None = None
    span: bool = False


KINDS: dict[str, FaultKind] = {
    "status": FaultKind(instead=True),  # answer with this status, 200 to 599
    "latency": FaultKind(span=True),  # wait so long (100ms, 2s), then go on
    "hang": FaultKind(instead=True, then="silence"),  # never answer
    "hang_body": FaultKind(then="silence", part=0.5),  # send half of the body, then nothing more
    "drip": FaultKind(then="drip", part=0.0, span=True),  # one byte each interval (default 1s)
    "drop_before": FaultKind(instead=True, then="reset"),  # before the request is applied
    "drop_after": FaultKind(then="reset"),  # apply the request, then reset the connection
    "cut": FaultKind(then="close", part=0.5),  # close the connection in the middle of the body
    "endless": FaultKind(instead=True, then="endless", part=0.0),  # a body without an end
    "gzip_bomb": FaultKind(instead=True),  # a small body that grows to this many MiB (256)
    "bad_json": FaultKind(),  # the JSON ends in the middle, the lengths are right
    "odd_rows": FaultKind(),  # among the rows some that are no records, or not quite
    "hostile": FaultKind(),  # control sequences, bidi and markup in every text
    "redirect": FaultKind(instead=True),  # to this path or address (default /login)
    "clock": FaultKind(span=True),  # a Date header off by this much (default 1d)
}

_FORM = re.compile(
    rf"(?:(?P<method>[A-Z]+) )?(?P<target>.+?):(?P<kind>{'|'.join(sorted(KINDS, key=len)[::-1])})"
    r"(?:=(?P<value>[^,]*))?(?P<options>(?:,[^,]*)*)"
)
_SPAN = re.compile(r"([+-]?\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, None: 1.0}


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


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What strikes, and when; see the grammar above."""

    kind: str
    target: str = "*"
    method: str | None = None
    value: str | None = None
    times: int | None = None
    after: int = 0
    p: float = 1.0
    seed: int = 0
    applied: Literal["before", "after"] = "before"
    retry_after: str | None = None
    body: Literal["json", "html", "text", "empty", "null"] = "json"
    code: int = 302

    def matches(self, request: Request) -> bool:
        """Whether it may strike this request."""
        names = {"*"}
        if operation := request.operation:
            names |= {operation.name, "writes" if operation.writes else "reads"}
        by_path = self.target.startswith("/") and path_pattern(self.target).fullmatch(request.path)
        return self.method in {None, request.method} and bool(by_path or self.target in names)

    def span(self, otherwise: float) -> float:
        """The value as seconds (`100ms`, `2s`, `1d`; a bare number is seconds). ValueError."""
        if self.value is None:
            return otherwise
        if not (found := _SPAN.fullmatch(self.value)):
            raise ValueError(f"{self.value!r} is no span of time: write 100ms, 2s, 5m, 1h or 1d")
        return float(found[1]) * _SECONDS[found[2]]

    def number(self, otherwise: int) -> int:
        return otherwise if self.value is None else int(self.value)


def parse(spec: str) -> Fault:
    """The fault a spec means. ValueError says what is wrong with it."""
    found = _FORM.fullmatch(spec.strip())
    if found is None:
        raise ValueError(
            f"can't read the fault {spec!r}: write TARGET:KIND[=VALUE][,OPTION=VALUE], "
            f"KIND one of {', '.join(KINDS)}"
        )
    target, kind, value = found["target"], found["kind"], found["value"]
    if target not in {"*", "reads", "writes"} and target not in BY_NAME and target[0] != "/":
        raise ValueError(
            f"unknown target {target!r}: write *, reads, writes, a path, or one of "
            f"{', '.join(BY_NAME)}"
        )
    if kind == "status" and not re.fullmatch(r"[2-5]\d\d", value or ""):
        raise ValueError("status needs a number from 200 to 599: status=503")
    if kind == "gzip_bomb" and not re.fullmatch(r"\d{1,9}", value or "1"):
        raise ValueError(f"{kind} needs a whole number, not {value!r}")
    options = dict(text.partition("=")[::2] for text in found["options"].split(",") if text)
    usual = "before" if KINDS[kind].instead else "after"
    told = {"applied": usual, **options, "kind": kind, "target": target, "value": value}
    try:
        fault = msgspec.convert({**told, "method": found["method"]}, Fault, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"can't read the options of {spec!r}: {error}") from None
    if usual == "after" and fault.applied == "before":
        raise ValueError(f"{kind} spoils the true answer, so it can't strike before")
    if KINDS[kind].span:
        fault.span(0)
    return fault


class Armed(msgspec.Struct, eq=False):
    """A fault in force; `matched` and `struck` count requests."""

    fault: Fault
    chance: random.Random
    matched: int = 0
    struck: int = 0

    def draw(self) -> bool:
        """Count a matching request, and say whether the fault strikes it."""
        self.matched += 1
        fault = self.fault
        if self.matched <= fault.after or self.struck == fault.times:
            return False
        if fault.p < 1.0 and self.chance.random() >= fault.p:
            return False
        self.struck += 1
        return True


class Faults:
    def __init__(self, specs: Iterable[str] = ()) -> None:
        self.armed: tuple[Armed, ...] = ()
        """Those in force; replaced as a whole, so any thread may change it."""
        for spec in specs:
            self.add(spec)

    def add(self, spec: str) -> Armed:
        """Put a fault in force; the result counts how often it struck. ValueError."""
        fault = parse(spec)
        armed = Armed(fault, stream(fault.seed, fault.kind, fault.target))
        self.armed += (armed,)
        return armed

    def remove(self, armed: Armed) -> None:
        """Take one fault back; nothing happens if it is gone already."""
        self.armed = tuple(other for other in self.armed if other is not armed)

    def clear(self) -> None:
        """Take all faults back; requests that hang already go on hanging."""
        self.armed = ()

    def choose(self, request: Request) -> tuple[float, Fault | None]:
        """Seconds of latency for this request, and the first other fault that strikes it."""
        latency, chosen = 0.0, None
        for armed in self.armed:
            fault = armed.fault
            waits = fault.kind == "latency"
            if (chosen and not waits) or not fault.matches(request) or not armed.draw():
                continue
            if waits:
                latency += fault.span(0.1)
            else:
                chosen = fault
        return latency, chosen


async def break_off(connection: ClientConnection, fault: Fault, answer: Answer) -> None:
    """Send as much of the answer as the fault leaves, and end the connection its way."""
    _, then, part, _ = KINDS[fault.kind]
    if part is not None:
        await connection.send(answer.head() + answer.body[: int(len(answer.body) * part)])
    if then == "endless":
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
    squeeze = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    pieces = (b"[", *(b" " * (1 << 20) for _ in range(mib)), b"]")
    return b"".join([*map(squeeze.compress, pieces), squeeze.flush()])


def spoiled(fault: Fault, answer: Answer) -> Answer:
    """What a fault makes of the true answer; `status`, of the platform's own refusal."""
    match fault.kind:
        case "status":
            return _status(fault, answer)
        case "endless":
            chunked = {"content-type": "application/json", "transfer-encoding": "chunked"}
            return Answer(200, chunked)
        case "redirect":
            place = (fault.value or "/login").encode("latin-1", "replace").decode("latin-1")
            return Answer(fault.code, answer.headers | {"location": place})
        case "clock":
            wrong = parsedate_to_datetime(answer.headers["date"]).timestamp() + fault.span(86_400.0)
            return answer.replaced(answer.body, date=formatdate(wrong, usegmt=True))
        case "gzip_bomb":
            squeezed = {"content-type": "application/json", "content-encoding": "gzip"}
            return Answer(200, answer.headers | squeezed, _bomb(fault.number(256)))
        case "bad_json":
            return answer.replaced(answer.body[: len(answer.body) * 3 // 5])
        case "odd_rows" | "hostile":
            hostile = fault.kind == "hostile"
            try:
                told = json.loads(answer.body)
            except ValueError:
                more = "\r\n".join(HOSTILE).encode("utf-8", "replace") if hostile else b""
                return answer.replaced(answer.body + more)
            told = _hostile(told, cycle(HOSTILE)) if hostile else _odd_rows(told)
            return answer.replaced(json.dumps(told).encode())
    return answer


def _hostile(value: Any, payloads: Iterator[str], key: str = "") -> Any:
    """A hostile text at the end of every string that isn't an id, a moment or a status."""
    if isinstance(value, dict):
        return {name: _hostile(inner, payloads, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_hostile(inner, payloads, key) for inner in value]
    spoils = isinstance(value, str) and not _MEANT.search(key)
    return f"{value} {next(payloads)}" if spoils else value


def _odd_rows(value: Any) -> Any:
    """In every list of records five rows that are none, and an odd field in every seventh."""
    if isinstance(value, dict):
        return {key: _odd_rows(inner) for key, inner in value.items()}
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return value
    rows = list(value)
    for turn, row in enumerate(rows):
        if turn % 7 == 3:
            odd = [key for key in row if not _MEANT.search(key)]
            name = odd[turn // 7 % len(odd)] if odd else "odd"
            rows[turn] = {**row, name: {"unexpected": ["object"]}}
    no_records: tuple[Any, ...] = (None, "record lost in migration", 42, [], {})
    for turn, broken in enumerate(no_records):
        rows.insert(min(len(rows), 2 + turn * 4), broken)
    return rows


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
