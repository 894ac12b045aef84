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
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from agentco_tui.demo.operations import BY_NAME, Operation, path_pattern
from agentco_tui.demo.stories import stream


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault: what it does, and where it strikes."""

    about: str
    spoils: bool = False
    """Whether it spoils the true answer, so that the request is done before it strikes."""
    value: str = ""
    """What its value is, where it has one: span, number, status or text."""


KINDS: dict[str, FaultKind] = {
    "status": FaultKind("answer with this status, 200 to 599", value="status"),
    "latency": FaultKind("wait so long (100ms, 2s), then go on", spoils=True, value="span"),
    "hang": FaultKind("never answer"),
    "hang_body": FaultKind("send half of the body, then nothing more", spoils=True),
    "drip": FaultKind("send one byte each interval (default 1s)", spoils=True, value="span"),
    "drop_before": FaultKind("reset the connection before the request is applied"),
    "drop_after": FaultKind("apply the request, then reset the connection", spoils=True),
    "cut": FaultKind("close the connection in the middle of the body", spoils=True),
    "endless": FaultKind("a body without an end"),
    "gzip_bomb": FaultKind("a small body that grows to this many MiB (256)", value="number"),
    "bad_json": FaultKind("the JSON ends in the middle, the lengths are right", spoils=True),
    "odd_rows": FaultKind("among the rows some that are no records, or not quite", spoils=True),
    "hostile": FaultKind("control sequences, bidi and markup in every text", spoils=True),
    "redirect": FaultKind("a redirect to this path or address (default /login)", value="text"),
    "clock": FaultKind("a Date header off by this much (default 1d)", spoils=True, value="span"),
}
"""Every kind of fault."""

_FORM = re.compile(
    rf"(?:(?P<method>[A-Z]+) )?(?P<target>.+?):(?P<kind>{'|'.join(sorted(KINDS, key=len)[::-1])})"
    r"(?:=(?P<value>[^,]*))?(?P<options>(?:,[^,]*)*)"
)
_SPAN = re.compile(r"([+-]?\d+(?:\.\d+)?)(ms|s|m|h|d)?")
_BODIES = ("json", "html", "text", "empty", "null")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, None: 1.0}


class BadFaultError(ValueError):
    """A fault spec that can't be understood, with a sentence that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What strikes, and when; see the grammar above."""

    kind: str
    target: str = "*"
    method: str | None = None
    value: str | None = None
    times: int | None = None
    after: int = 0
    p: float = 1.0
    seed: int = 0
    applied: bool = False
    retry_after: str | None = None
    body: str = "json"
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
        """The value as seconds."""
        return otherwise if self.value is None else span(self.value)

    def number(self, otherwise: int) -> int:
        """The value as a whole number."""
        return otherwise if self.value is None else int(self.value)


def span(text: str) -> float:
    """`100ms`, `2s`, `1d` in seconds; a bare number is seconds. BadFaultError if it is none."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise BadFaultError(f"{text!r} is no span of time: write 100ms, 2s, 5m, 1h or 1d")
    return float(found[1]) * _SECONDS[found[2]]


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
    options: dict[str, object] = {}
    for text in filter(None, found["options"].split(",")):
        name, equals, given = text.partition("=")
        if not equals:
            raise BadFaultError(f"option {text!r} has no value: write {name}=VALUE")
        options[name] = _option(name, given)
    _check_value(kind, value)
    options.setdefault("applied", KINDS[kind].spoils)
    if not options["applied"] and KINDS[kind].spoils:
        raise BadFaultError(f"{kind} spoils the true answer, so it can't strike before")
    return Fault(kind=kind, target=target, method=found["method"], value=value, **options)  # type: ignore[arg-type]


def _check_value(kind: str, value: str | None) -> None:
    form = KINDS[kind].value
    if form == "status" and not re.fullmatch(r"[2-5]\d\d", value or ""):
        raise BadFaultError("status needs a number from 200 to 599: status=503")
    if form == "number" and not re.fullmatch(r"\d{1,9}", value or "1"):
        raise BadFaultError(f"{kind} needs a whole number, not {value!r}")
    if form == "span" and value is not None:
        span(value)


def _option(name: str, text: str) -> object:
    read: dict[str, Callable[[str], object]] = {
        **dict.fromkeys(("times", "after", "seed", "code"), int),
        "p": float,
        "applied": {"before": False, "after": True}.__getitem__,
        "body": {word: word for word in _BODIES}.__getitem__,
        "retry_after": str,
    }
    if name in read:
        try:
            return read[name](text)
        except (ValueError, KeyError) as error:
            raise BadFaultError(f"{text!r} doesn't fit the option {name}") from error
    raise BadFaultError(
        f"unknown option {name!r}: write times, after, p, seed, applied, retry_after, body or code"
    )


@dataclass(slots=True)
class Armed:
    """A fault in force; `matched` and `struck` count requests."""

    fault: Fault
    matched: int = 0
    struck: int = 0
    chance: random.Random = field(default_factory=random.Random)

    def draw(self) -> bool:
        """Count a matching request, and say whether the fault strikes it."""
        self.matched += 1
        fault = self.fault
        if self.matched <= fault.after:
            return False
        if fault.times is not None and self.struck >= fault.times:
            return False
        if fault.p < 1.0 and self.chance.random() >= fault.p:
            return False
        self.struck += 1
        return True


class Faults:
    """The faults in force; may be changed from any thread while requests are served."""

    def __init__(self, specs: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._armed: list[Armed] = []
        for spec in specs:
            self.add(spec)

    def add(self, fault: str | Fault) -> Armed:
        """Put a fault in force; the result counts how often it struck. BadFaultError."""
        told = parse(fault) if isinstance(fault, str) else fault
        armed = Armed(told, chance=stream(told.seed, told.kind, told.target))
        with self._lock:
            self._armed.append(armed)
        return armed

    def remove(self, armed: Armed) -> None:
        """Take one fault back; nothing happens if it is gone already."""
        with self._lock:
            self._armed = [other for other in self._armed if other is not armed]

    def clear(self) -> None:
        """Take all faults back; requests that hang already go on hanging."""
        with self._lock:
            self._armed.clear()

    def in_force(self) -> list[Armed]:
        """All of them, in the order in which they were added."""
        with self._lock:
            return list(self._armed)

    def choose(
        self, method: str, path: str, operation: Operation | None
    ) -> tuple[float, Fault | None]:
        """Seconds of latency for this request, and the first other fault that strikes it."""
        latency, chosen = 0.0, None
        with self._lock:
            for armed in self._armed:
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
