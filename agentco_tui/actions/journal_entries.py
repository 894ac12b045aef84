"""The lines of the journal: one object of JSON each, in plain ASCII.

Two kinds, joined by the attempt's id. Each says by itself what it is about, so that one found by
grep can be read alone. Fields that are not known here are skipped when read, so that an older
program can read what a newer one wrote.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import msgspec

VERSION = 2
"""Of the lines. In those of version 1, `origin` has no path, and outcomes name only the attempt."""
LONGEST_LINE = 256 * 1024
"""Bytes; what is longer is no line of ours, and is skipped without being kept."""

_PORTS = {"http": 80, "https": 443}


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    attempt: str
    """The attempt's id, also sent as Idempotency-Key."""
    time: str
    """When, as ISO 8601 in UTC by this machine's clock."""
    origin: str = ""
    """The platform's address as it was configured, with the path of a reverse proxy."""
    profile: str = ""
    verb: str = ""
    subject: str = ""
    """What is acted on: an id, or a digest of what a new record is to be."""
    title: str = ""
    task: str | None = None
    company: str | None = None
    company_name: str | None = None
    agent: str | None = None
    agent_name: str | None = None
    pid: int = 0
    v: int = VERSION


class Attempt(_Line, frozen=True, kw_only=True, tag_field="kind", tag="attempt"):
    """Written before a write is sent."""

    addresses: tuple[str, ...] = ()
    """What the host was resolved to, each with the port; empty if it could not be."""
    fingerprint: str = ""
    details: dict[str, Any] = {}
    """What else is needed to settle it by reading, such as the limit that was set."""
    writer: str = ""
    """Names the file that the writing process keeps locked while it lives."""


class Settled(_Line, frozen=True, kw_only=True, tag_field="kind", tag="outcome"):
    """Written when it is known what became of an attempt; the last one of an attempt counts."""

    outcome: str
    """A value of `Kind`."""
    known_by: str = ""
    words: str | None = None
    """The platform's words."""
    http_status: int | None = None
    sentence: str = ""
    made: str | None = None
    """The id of the record that was created."""
    corrects: str = ""
    """The outcome that was written before and is not so."""


Entry = Attempt | Settled

_ABOUT = (
    *("origin", "profile", "verb", "subject", "title"),
    *("task", "company", "company_name", "agent", "agent_name"),
)
_TEXTS = frozenset({"title", "company_name", "agent_name", "words", "sentence"})
"""What the platform says; the rest are ids and our own words."""

_decoder: msgspec.json.Decoder[Attempt | Settled] = msgspec.json.Decoder(Attempt | Settled)


def about(settled: Settled, attempt: Attempt) -> Settled:
    """The outcome with the names of what its attempt was about."""
    return msgspec.structs.replace(settled, **{name: getattr(attempt, name) for name in _ABOUT})


def to_line(entry: Entry, redact: Callable[[str], str] = str) -> bytes:
    """One line with its newline, ASCII only: a `cat` of the journal can't be taken over by a title.

    Fields that are not known are left out, and texts pass through `redact`.
    """
    fields: dict[str, Any] = {"kind": "attempt" if isinstance(entry, Attempt) else "outcome"}
    for name, value in msgspec.structs.asdict(entry).items():
        if value not in (None, "", (), {}):
            fields[name] = redact(value) if name in _TEXTS else value
    for name, value in fields.get("details", {}).items():
        if isinstance(value, str):
            fields["details"] = {**fields["details"], name: redact(value)}
    # Not msgspec's encoder: it refuses the lone surrogates that an id may hold.
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def from_line(line: bytes) -> Entry | None:
    """The entry in a line; None if the line is torn, or not one of ours."""
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _with_surrogates(line)


def _with_surrogates(line: bytes) -> Entry | None:
    """The same by the standard library, which reads lone surrogates."""
    if b"\\ud" not in line:
        return None
    try:
        fields: Mapping[str, Any] = json.loads(line)
        entry: Entry = msgspec.convert(fields, Attempt | Settled)
    except (ValueError, TypeError, RecursionError, msgspec.MsgspecError):
        return None
    return entry


def lines(file: BinaryIO, start: int = 0) -> Iterator[bytes]:
    """The lines from the offset `start` on, in bounded memory.

    A line too long to be ours comes as b"". The last line comes even if its newline is missing.
    """
    file.seek(start)
    while line := file.readline(LONGEST_LINE):
        whole = line
        while not line.endswith(b"\n") and (line := file.readline(LONGEST_LINE)):
            whole = b""
        yield whole


@lru_cache(maxsize=256)
def platform_of(origin: str) -> str:
    """One name for all ways to write an address, such as http://localhost:8000.

    The names of this machine's loopback are one; case, default port, a dot at the end, a slash at
    the end and the spelling of an IP address make no difference.
    """
    try:
        parts = urlsplit(origin)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return origin
    host = folded((parts.hostname or "").removesuffix("."))
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def folded(host: str) -> str:
    """One name for all spellings of a host or IP address; this machine's own is localhost."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        try:
            return host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_loopback or address.is_unspecified:
        return "localhost"
    return f"[{address}]" if address.version == 6 else str(address)


def same_platform(attempt: Attempt, origin: str) -> bool:
    """Whether an attempt was at the platform with this address, under whatever name."""
    if attempt.v < VERSION:
        parts = urlsplit(origin)
        origin = f"{parts.scheme}://{parts.netloc}"
    return platform_of(attempt.origin) == platform_of(origin)


def stamp(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_of(time: str) -> float | None:
    """The other way; None if it is no such time."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else moment.replace(tzinfo=UTC).timestamp()
