"""The lines of the journal: one object of JSON each, in plain ASCII.

Two kinds, joined by the attempt's id. Fields that are not known here are skipped when read, so
that an older program can read what a newer one wrote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO

import msgspec

VERSION = 1
LONGEST_LINE = 256 * 1024
"""Bytes; what is longer is no line of ours, and is skipped without being kept."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="attempt"):
    """Written before a write is sent."""

    attempt: str
    """The attempt's id, also sent as Idempotency-Key."""
    time: str
    """When, as ISO 8601 in UTC by this machine's clock."""
    origin: str
    profile: str
    verb: str
    subject: str
    """What is acted on: an id, or a digest of what a new record is to be."""
    title: str = ""
    task: str | None = None
    company: str | None = None
    company_name: str | None = None
    agent: str | None = None
    agent_name: str | None = None
    fingerprint: str = ""
    details: dict[str, Any] = {}
    """What else is needed to settle it by reading, such as the limit that was set."""
    pid: int = 0
    writer: str = ""
    """Names the file that the writing process keeps locked while it lives."""
    v: int = VERSION


class Settled(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="outcome"):
    """Written when it is known what became of an attempt."""

    attempt: str
    time: str
    outcome: str
    """A value of `Kind`."""
    known_by: str = ""
    words: str | None = None
    """The platform's words."""
    http_status: int | None = None
    sentence: str = ""
    pid: int = 0
    v: int = VERSION


Entry = Attempt | Settled

_TEXTS = frozenset({"title", "company_name", "agent_name", "words", "sentence"})
"""What the platform says; the rest are ids and our own words."""

_decoder: msgspec.json.Decoder[Attempt | Settled] = msgspec.json.Decoder(Attempt | Settled)


def to_line(entry: Entry, redact: Callable[[str], str] = str) -> bytes:
    """One line with its newline, ASCII only: a `cat` of the journal can't be taken over by a title.

    Fields that are not known are left out, and texts pass through `redact`.
    """
    fields: dict[str, Any] = {"kind": "attempt" if isinstance(entry, Attempt) else "outcome"}
    for name, value in msgspec.structs.asdict(entry).items():
        if value is not None and value != {}:
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


def lines(file: BinaryIO, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """The lines from the offset `start` on, each with its own offset, in bounded memory.

    A line too long to be ours comes as b"". The last line comes even if its newline is missing.
    """
    file.seek(start)
    offset = start
    while line := file.readline(LONGEST_LINE):
        length = len(line)
        whole = line
        while not line.endswith(b"\n") and (line := file.readline(LONGEST_LINE)):
            length += len(line)
            whole = b""
        yield offset, whole
        offset += length


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


def ends_with_newline(fd: int, size: int) -> bool:
    """Whether the last byte of a file of `size` bytes is a newline; an empty file counts as so."""
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"
