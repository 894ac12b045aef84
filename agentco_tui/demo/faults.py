"""Faults that a user can inject with `--fault`: their grammar, which one applies, and its effect.

SPEC    = [METHOD " "] TARGET ":" KIND ["=" VALUE] {"," OPTION "=" VALUE}
TARGET  = "*" | "reads" | "writes" | operation (see http_messages.py) | path
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
    """What a kind of fault does to an answer."""

    instead: bool = False
    """It takes the place of the true answer, so the request need not be carried out; all other
    kinds change that answer."""
    then: str = ""
    """How it ends the connection; "" if it leaves the connection open."""
    part: float | None = None
    """The share of the body that is sent before the end; None: not even the head is sent."""
    span: bool = False
    """Whether its value is a span of time."""


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
"""Texts that must never reach a terminal unchanged."""

_KEPT_KEYS = re.compile(
    r"(^|[_-])(id|ids|key|cursor|token|url|href|links?|next|previous|first|last)$|[a-z]I[dD]s?$"
    r"|_?at$|At$|-at$|time|status|state|priority|severity|level|type|kind|currency|unit|period"
    r"|amount|money|spent|limit|cost|^op|^rel|cursor|token",
    re.IGNORECASE,
)
"""Keys whose strings stay unchanged, because no record could be read without them."""

LOGIN_PAGE = """<!doctype html>
<html><head><title>Sign in</title></head>
<body><h1>Sign in</h1><form method="post" action="/login">
<input name="user"><input name="password" type="password"></form></body></html>
"""


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault: what it does, and to which requests. The grammar above explains the fields."""

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
        if self.method not in {None, request.method}:
            return False
        if self.target.startswith("/"):
            return path_pattern(self.target).fullmatch(request.path) is not None
        targets = {"*"}
        if operation := request.operation:
            targets.add(operation.name)
            targets.add("writes" if operation.writes else "reads")
        return self.target in targets

    def span(self, otherwise: float) -> float:
        """The value as seconds (`100ms`, `2s`, `1d`; a bare number is seconds). ValueError."""
        if self.value is None:
            return otherwise
        span = _SPAN.fullmatch(self.value)
        if span is None:
            raise ValueError(f"{self.value!r} is no span of time: write 100ms, 2s, 5m, 1h or 1d")
        return float(span[1]) * _SECONDS[span[2]]

    def number(self, otherwise: int) -> int:
        return otherwise if self.value is None else int(self.value)


def parse(spec: str) -> Fault:
    """The fault a spec means. ValueError says what is wrong with it."""
    form = _FORM.fullmatch(spec.strip())
    if form is None:
        raise ValueError(
            f"can't read the fault {spec!r}: write TARGET:KIND[=VALUE][,OPTION=VALUE], "
            f"KIND one of {', '.join(KINDS)}"
        )
    target = form["target"]
    kind = form["kind"]
    value = form["value"]
    is_path = target.startswith("/")
    if target not in {"*", "reads", "writes"} and target not in BY_NAME and not is_path:
        raise ValueError(
            f"unknown target {target!r}: write *, reads, writes, a path, or one of "
            f"{', '.join(BY_NAME)}"
        )
    if kind == "status" and not re.fullmatch(r"[2-5]\d\d", value or ""):
        raise ValueError("status needs a number from 200 to 599: status=503")
    if kind == "gzip_bomb" and not re.fullmatch(r"\d{1,9}", value or "1"):
        raise ValueError(f"{kind} needs a whole number, not {value!r}")
    default_applied = "before" if KINDS[kind].instead else "after"
    fields = {"applied": default_applied}
    for option in form["options"].split(","):
        if option:
            name, _, option_value = option.partition("=")
            fields[name] = option_value
    fields |= {"kind": kind, "target": target, "value": value, "method": form["method"]}
    try:
        fault = msgspec.convert(fields, Fault, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"can't read the options of {spec!r}: {error}") from None
    if default_applied == "after" and fault.applied == "before":
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
    """The faults in force. They may be changed from any thread."""

    def __init__(self, specs: Iterable[str] = ()) -> None:
        self.armed: tuple[Armed, ...] = ()
        """Replaced as a whole, never changed."""
        for spec in specs:
            self.add(spec)

    def add(self, spec: str) -> Armed:
        """Put a fault in force; the result counts how often it struck. Raises ValueError."""
        fault = parse(spec)
        armed = Armed(fault, stream(fault.seed, fault.kind, fault.target))
        self.armed += (armed,)
        return armed

    def remove(self, armed: Armed) -> None:
        """Remove a fault, if it is still in force."""
        self.armed = tuple(other for other in self.armed if other is not armed)

    def clear(self) -> None:
        """Remove all faults. Requests that hang already go on hanging."""
        self.armed = ()

    def choose(self, request: Request) -> tuple[float, Fault | None]:
        """Seconds of latency for a request, and the first other fault that strikes it."""
        latency = 0.0
        chosen: Fault | None = None
        for armed in self.armed:
            fault = armed.fault
            is_latency = fault.kind == "latency"
            if chosen and not is_latency:
                continue
            if not fault.matches(request) or not armed.draw():
                continue
            if is_latency:
                latency += fault.span(0.1)
            else:
                chosen = fault
        return latency, chosen


async def break_off(connection: ClientConnection, fault: Fault, answer: Answer) -> None:
    """Send the part of the answer that the fault leaves, and end the connection as it says."""
    kind = KINDS[fault.kind]
    if kind.part is not None:
        length = int(len(answer.body) * kind.part)
        await connection.send(answer.head() + answer.body[:length])
    if kind.then == "endless":
        await _send_without_end(connection)
        return
    if kind.then == "drip" and not await _drip(connection, answer.body, fault.span(1.0)):
        return
    if kind.then == "silence":
        await connection.pause(None)
    connection.end(reset=kind.then == "reset")


async def _send_without_end(connection: ClientConnection) -> None:
    chunk = b"["
    while await connection.pause(0):
        await connection.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        chunk = b'{"id":"x","title":"and one more"},' * 1_000


async def _drip(connection: ClientConnection, body: bytes, interval: float) -> bool:
    """Send one byte each `interval` seconds; False if the client goes meanwhile."""
    for index in range(len(body)):
        # No pause after the last byte: what comes then is the next request.
        if index and not await connection.pause(interval):
            return False
        await connection.send(body[index : index + 1])
    return True


@functools.lru_cache(maxsize=8)
def _bomb(mib: int) -> bytes:
    """A gzip stream of valid JSON, an empty list with this many MiB of blanks in it."""
    compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    pieces = [compressor.compress(b"[")]
    pieces += [compressor.compress(b" " * (1 << 20)) for _ in range(mib)]
    pieces += [compressor.compress(b"]"), compressor.flush()]
    return b"".join(pieces)


def spoiled(fault: Fault, answer: Answer) -> Answer:
    """What a fault makes of an answer: of the true one, or with `status` of a refusal."""
    match fault.kind:
        case "status":
            return _status(fault, answer)
        case "endless":
            chunked = {"content-type": "application/json", "transfer-encoding": "chunked"}
            return Answer(200, chunked)
        case "redirect":
            location = (fault.value or "/login").encode("latin-1", "replace").decode("latin-1")
            return Answer(fault.code, answer.headers | {"location": location})
        case "clock":
            wrong_time = _date_of(answer) + fault.span(86_400.0)
            return answer.replaced(answer.body, date=formatdate(wrong_time, usegmt=True))
        case "gzip_bomb":
            gzipped = {"content-type": "application/json", "content-encoding": "gzip"}
            return Answer(200, answer.headers | gzipped, _bomb(fault.number(256)))
        case "bad_json":
            return answer.replaced(answer.body[: len(answer.body) * 3 // 5])
        case "odd_rows":
            return _with_odd_rows(answer)
        case "hostile":
            return _with_hostile_texts(answer)
    return answer


def _date_of(answer: Answer) -> float:
    """The Date of an answer, in seconds since 1970."""
    return parsedate_to_datetime(answer.headers["date"]).timestamp()


def _with_hostile_texts(answer: Answer) -> Answer:
    try:
        body = json.loads(answer.body)
    except ValueError:
        lines = "\r\n".join(HOSTILE)
        return answer.replaced(answer.body + lines.encode("utf-8", "replace"))
    return answer.replaced(json.dumps(_hostile(body, cycle(HOSTILE))).encode())


def _with_odd_rows(answer: Answer) -> Answer:
    try:
        body = json.loads(answer.body)
    except ValueError:
        return answer.replaced(answer.body)
    return answer.replaced(json.dumps(_odd_rows(body)).encode())


def _hostile(value: Any, payloads: Iterator[str], key: str = "") -> Any:
    """The value with a hostile text after each string, except after ids, times and statuses."""
    if isinstance(value, dict):
        return {name: _hostile(inner, payloads, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_hostile(inner, payloads, key) for inner in value]
    if isinstance(value, str) and not _KEPT_KEYS.search(key):
        return f"{value} {next(payloads)}"
    return value


def _odd_rows(value: Any) -> Any:
    """The value with five rows that are no records in each list, and odd fields in some rows."""
    if isinstance(value, dict):
        return {key: _odd_rows(inner) for key, inner in value.items()}
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return value
    rows = list(value)
    for index, row in enumerate(rows):
        if index % 7 == 3:
            spoilable = [key for key in row if not _KEPT_KEYS.search(key)] or ["odd"]
            key = spoilable[index // 7 % len(spoilable)]
            rows[index] = {**row, key: {"unexpected": ["object"]}}
    no_records: tuple[Any, ...] = (None, "record lost in migration", 42, [], {})
    for count, no_record in enumerate(no_records):
        rows.insert(min(len(rows), 2 + count * 4), no_record)
    return rows


def _status(fault: Fault, answer: Answer) -> Answer:
    """The answer with the fault's status; `answer` is the platform's own refusal."""
    status = fault.number(500)
    headers = {"date": answer.headers["date"]}
    if fault.retry_after is not None:
        headers["retry-after"] = _retry_after(fault.retry_after, answer)
    if status == HTTPStatus.NO_CONTENT:
        return Answer(status, headers)
    if fault.body == "json":
        return Answer(status, answer.headers | headers, answer.body)
    page = f"<html><body><h1>{status} {phrase_of(status)}</h1></body></html>"
    media_type, body = {
        "html": ("text/html; charset=utf-8", LOGIN_PAGE if status < 300 else page),
        "text": ("text/plain", "upstream connect error or disconnect/reset before headers"),
        "empty": ("application/json", ""),
        "null": ("application/json", "null"),
    }[fault.body]
    return Answer(status, headers | {"content-type": media_type}, body.encode())


def _retry_after(option: str, answer: Answer) -> str:
    """The Retry-After header for a value of the option `retry_after`."""
    if option == "odd":
        return "in a moment"
    if option.startswith("date"):
        seconds = float(option.removeprefix("date") or 0)
        return formatdate(_date_of(answer) + seconds, usegmt=True)
    return option
