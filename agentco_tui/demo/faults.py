"""Faults of the embedded platform, as `agentco-tui demo --fault SPEC` injects them.

The embedded platform is a local server that takes the place of the real service in demos and tests.
A fault is a failure that strikes some requests: a delay, an error status, a connection that is
reset. A spec says which kind of fault strikes which requests:

SPEC    = [METHOD " "] TARGET ":" KIND ["=" VALUE] {"," OPTION "=" VALUE}
TARGET  = "*" | "reads" | "writes" | operation (see http_messages.py) | path
path    = "/api/..." with "*", ":id" or "{id}" for one segment and "**" for several
KIND    = a key of KINDS
OPTION  = times=N     strike so often, then never again
          after=N     let N matching requests pass first
          p=0.25      strike with this probability, from seed=N (default 0)
          applied=before|after
                      whether the request is left undone, or done before the fault strikes
          retry_after=120 | date+60                      (with status: the Retry-After header)
          body=json|html|text|empty|null                 (with status)

GET /api/tasks:status=503,times=3       tasks:hang          *:latency=100ms
approve:drop_after                      reads:status=429,retry_after=date+30

The server asks `Faults` which fault strikes a request, and `FaultKind` says what that one does.
`BY_NAME` has the operations of the REST API by name, and `stream` returns a random generator that
depends on its arguments only.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus
from typing import Literal

import msgspec

from agentco_tui.demo.connection import ClientConnection
from agentco_tui.demo.http_messages import BY_NAME, Answer, Request, path_pattern, phrase_of
from agentco_tui.demo.stories import stream

_DURATION = re.compile(r"([+-]?\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, None: 1.0}
_DEFAULT_LATENCY = 0.1
"""Seconds."""

_LOGIN_PAGE = """<!doctype html>
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

    def seconds(self, default: float) -> float:
        """The value as seconds (`100ms`, `2s`, `1d`; a bare number is seconds). ValueError."""
        if self.value is None:
            return default
        duration = _DURATION.fullmatch(self.value)
        if duration is None:
            raise ValueError(f"{self.value!r} is no duration: write 100ms, 2s, 5m, 1h or 1d")
        return float(duration[1]) * _UNIT_SECONDS[duration[2]]


class FaultKind:
    """What the faults of one kind do to the answer of a request; this one does nothing."""

    replaces_answer = False
    """Whether it takes the place of the true answer, so that the request need not be carried out.
    All other kinds change the true answer."""
    sends_head = True
    """Whether the status line and the headers are sent at all."""

    def check(self, fault: Fault) -> None:
        """Raise ValueError if the value of the fault cannot be used."""

    def change(self, fault: Fault, answer: Answer) -> Answer:
        """The answer after the fault.

        A kind that replaces the true answer is given an empty one with a Date header, except
        `status`, which is given the platform's own error of that status.
        """
        return answer

    async def send(self, fault: Fault, answer: Answer, connection: ClientConnection) -> None:
        """Send as much of the changed answer as the client shall receive."""
        await connection.send(answer.head() + answer.body)


class Latency(FaultKind):
    """Waits so long (latency=100ms), then answers; the server adds up the waits."""

    def check(self, fault: Fault) -> None:
        fault.seconds(0)


class ErrorStatus(FaultKind):
    """Answers with this status (status=503)."""

    replaces_answer = True

    def check(self, fault: Fault) -> None:
        if not re.fullmatch(r"[2-5]\d\d", fault.value or ""):
            raise ValueError("status needs a number from 200 to 599: status=503")

    def change(self, fault: Fault, answer: Answer) -> Answer:
        status = int(fault.value or 0)
        headers = {"date": answer.headers["date"]}
        if fault.retry_after is not None:
            headers["retry-after"] = _retry_after(fault.retry_after, answer)
        if status == HTTPStatus.NO_CONTENT:
            return Answer(status, headers)
        if fault.body == "json":
            return Answer(status, answer.headers | headers, answer.body)
        error_page = f"<html><body><h1>{status} {phrase_of(status)}</h1></body></html>"
        media_type, body = {
            "html": ("text/html; charset=utf-8", _LOGIN_PAGE if status < 300 else error_page),
            "text": ("text/plain", "upstream connect error or disconnect/reset before headers"),
            "empty": ("application/json", ""),
            "null": ("application/json", "null"),
        }[fault.body]
        return Answer(status, headers | {"content-type": media_type}, body.encode())


class Hang(FaultKind):
    """Never answers."""

    replaces_answer = True
    sends_head = False

    async def send(self, fault: Fault, answer: Answer, connection: ClientConnection) -> None:
        await connection.pause(None)
        connection.end()


class DropAfter(FaultKind):
    """Resets the connection, after the request was carried out."""

    sends_head = False

    async def send(self, fault: Fault, answer: Answer, connection: ClientConnection) -> None:
        connection.end(reset=True)


class DropBefore(DropAfter):
    """Resets the connection, before the request is carried out."""

    replaces_answer = True


class Cut(FaultKind):
    """Closes the connection in the middle of the body."""

    async def send(self, fault: Fault, answer: Answer, connection: ClientConnection) -> None:
        await connection.send(answer.head() + answer.body[: len(answer.body) // 2])
        connection.end()


class BadJson(FaultKind):
    """Ends the JSON in the middle; the Content-Length is right."""

    def change(self, fault: Fault, answer: Answer) -> Answer:
        return answer.replaced(answer.body[: len(answer.body) * 3 // 5])


KINDS: dict[str, FaultKind] = {
    "latency": Latency(),
    "status": ErrorStatus(),
    "hang": Hang(),
    "drop_before": DropBefore(),
    "drop_after": DropAfter(),
    "cut": Cut(),
    "bad_json": BadJson(),
}
"""The kinds of faults by their name in a spec."""


def _retry_after(option: str, answer: Answer) -> str:
    """The Retry-After header: `date+60` is a date 60 seconds after that of the answer."""
    if not option.startswith("date"):
        return option
    seconds = float(option.removeprefix("date") or 0)
    return formatdate(date_of(answer) + seconds, usegmt=True)


def date_of(answer: Answer) -> float:
    """The Date header of an answer, in seconds since 1970."""
    return parsedate_to_datetime(answer.headers["date"]).timestamp()


def parse(spec: str, kinds: Mapping[str, FaultKind] = KINDS) -> Fault:
    """The fault of a spec. Raises ValueError with the reason if it cannot be used."""
    kind_names = "|".join(sorted(kinds, key=len, reverse=True))
    parts = re.fullmatch(
        rf"(?:(?P<method>[A-Z]+) )?(?P<target>.+?):(?P<kind>{kind_names})"
        r"(?:=(?P<value>[^,]*))?(?P<options>(?:,[^,]*)*)",
        spec.strip(),
    )
    if parts is None:
        raise ValueError(
            f"can't read the fault {spec!r}: write TARGET:KIND[=VALUE][,OPTION=VALUE], "
            f"KIND one of {', '.join(kinds)}"
        )
    target = parts["target"]
    kind_name = parts["kind"]
    is_path = target.startswith("/")
    if target not in {"*", "reads", "writes"} and target not in BY_NAME and not is_path:
        raise ValueError(
            f"unknown target {target!r}: write *, reads, writes, a path, or one of "
            f"{', '.join(BY_NAME)}"
        )
    kind = kinds[kind_name]
    fields: dict[str, str | None] = {"applied": "before" if kind.replaces_answer else "after"}
    for option in parts["options"].split(","):
        if option:
            name, _, option_value = option.partition("=")
            fields[name] = option_value
    fields |= {
        "kind": kind_name,
        "target": target,
        "value": parts["value"],
        "method": parts["method"],
    }
    try:
        fault = msgspec.convert(fields, Fault, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"can't read the options of {spec!r}: {error}") from None
    if fault.applied == "before" and not kind.replaces_answer:
        raise ValueError(f"{kind_name} changes the true answer, so it can't strike before")
    kind.check(fault)
    return fault


class ArmedFault(msgspec.Struct, eq=False):
    """A fault in force; `matched` and `struck` count requests. `chance` is for its option `p`."""

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
    """The faults in force, of these kinds. They may be changed from any thread."""

    def __init__(self, specs: Iterable[str] = (), kinds: Mapping[str, FaultKind] = KINDS) -> None:
        self.kinds = kinds
        self.armed: tuple[ArmedFault, ...] = ()
        """Replaced as a whole, never changed."""
        for spec in specs:
            self.add(spec)

    def add(self, spec: str) -> ArmedFault:
        """Put a fault in force; the result counts how often it struck. Raises ValueError."""
        fault = parse(spec, self.kinds)
        armed = ArmedFault(fault, stream(fault.seed, fault.kind, fault.target))
        self.armed += (armed,)
        return armed

    def remove(self, armed: ArmedFault) -> None:
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
                latency += fault.seconds(_DEFAULT_LATENCY)
            else:
                chosen = fault
        return latency, chosen
