"""Which fault strikes which request: the grammar of `--fault`, and the set that is in force.

SPEC    = [METHOD " "] TARGET ":" KIND ["=" VALUE] {"," OPTION "=" VALUE}
TARGET  = "*" | "reads" | "writes" | operation (see operations.py) | path
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

import random
import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from agentco_tui.demo.operations import BY_NAME, Operation, path_pattern
from agentco_tui.demo.stories import stream

KINDS: dict[str, str] = {
    "status": "answer with this status, 200 to 599",
    "latency": "wait so long (100ms, 2s), then go on",
    "hang": "never answer",
    "hang_body": "send half of the body, then nothing more",
    "drip": "send one byte each interval (default 1s)",
    "drop_before": "reset the connection before the request is applied",
    "drop_after": "apply the request, then reset the connection",
    "cut": "close the connection in the middle of the body",
    "endless": "a body without an end",
    "gzip_bomb": "a small body that grows to this many MiB (256)",
    "bad_json": "the JSON ends in the middle, the lengths are right",
    "odd_rows": "among the rows some that are no records, or not quite",
    "hostile": "control sequences, bidi and markup in every text",
    "redirect": "a redirect to this path or address (default /login)",
    "clock": "a Date header off by this much (default 1d)",
}
"""Every kind of fault, and what it does."""

_LEAVE_UNDONE = {"status", "hang", "drop_before", "endless", "gzip_bomb", "redirect"}
"""What strikes instead of the true answer; all others spoil it, so the request is done before."""
_SPANS = {"latency", "drip", "clock"}
_FORM = re.compile(
    rf"(?:(?P<method>[A-Z]+) )?(?P<target>.+?):(?P<kind>{'|'.join(sorted(KINDS, key=len)[::-1])})"
    r"(?:=(?P<value>[^,]*))?(?P<options>(?:,[^,]*)*)"
)
_SPAN = re.compile(r"([+-]?\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, None: 1.0}


class BadFaultError(ValueError):
    """A fault spec that can't be understood, with a sentence that says why."""


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

    def matches(self, method: str, path: str, operation: Operation | None) -> bool:
        """Whether it may strike this request; `path` is still percent-encoded."""
        if self.method not in {None, method}:
            return False
        if self.target.startswith("/"):
            return path_pattern(self.target).fullmatch(path) is not None
        if self.target == "*":
            return True
        if operation is None:
            return False
        groups = {"reads": not operation.writes, "writes": operation.writes}
        return groups.get(self.target, self.target == operation.name)

    def span(self, otherwise: float) -> float:
        """The value as seconds (`100ms`, `2s`, `1d`; a bare number is seconds). BadFaultError."""
        if self.value is None:
            return otherwise
        if not (found := _SPAN.fullmatch(self.value)):
            raise BadFaultError(f"{self.value!r} is no span of time: write 100ms, 2s, 5m, 1h or 1d")
        return float(found[1]) * _SECONDS[found[2]]

    def number(self, otherwise: int) -> int:
        return otherwise if self.value is None else int(self.value)


def parse(spec: str) -> Fault:
    """The fault a spec means. BadFaultError says what is wrong with it."""
    found = _FORM.fullmatch(spec.strip())
    if found is None:
        raise BadFaultError(
            f"can't read the fault {spec!r}: write TARGET:KIND[=VALUE][,OPTION=VALUE], "
            f"KIND one of {', '.join(KINDS)}"
        )
    target, kind, value = found["target"], found["kind"], found["value"]
    if target not in {"*", "reads", "writes"} and target not in BY_NAME and target[0] != "/":
        raise BadFaultError(
            f"unknown target {target!r}: write *, reads, writes, a path, or one of "
            f"{', '.join(BY_NAME)}"
        )
    if kind == "status" and not re.fullmatch(r"[2-5]\d\d", value or ""):
        raise BadFaultError("status needs a number from 200 to 599: status=503")
    if kind == "gzip_bomb" and not re.fullmatch(r"\d{1,9}", value or "1"):
        raise BadFaultError(f"{kind} needs a whole number, not {value!r}")
    options = dict(text.partition("=")[::2] for text in found["options"].split(",") if text)
    usual = "before" if kind in _LEAVE_UNDONE else "after"
    told = {"applied": usual, **options, "kind": kind, "target": target, "value": value}
    try:
        fault = msgspec.convert({**told, "method": found["method"]}, Fault, strict=False)
    except msgspec.ValidationError as error:
        raise BadFaultError(f"can't read the options of {spec!r}: {error}") from None
    if usual == "after" and fault.applied == "before":
        raise BadFaultError(f"{kind} spoils the true answer, so it can't strike before")
    if kind in _SPANS:
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
        """Put a fault in force; the result counts how often it struck. BadFaultError."""
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

    def choose(
        self, method: str, path: str, operation: Operation | None
    ) -> tuple[float, Fault | None]:
        """Seconds of latency for this request, and the first other fault that strikes it."""
        latency, chosen = 0.0, None
        for armed in self.armed:
            fault = armed.fault
            waits = fault.kind == "latency"
            if (chosen is not None and not waits) or not fault.matches(method, path, operation):
                continue
            if not armed.draw():
                continue
            if waits:
                latency += fault.span(0.1)
            else:
                chosen = fault
        return latency, chosen
