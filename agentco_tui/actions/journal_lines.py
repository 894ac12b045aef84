"""The lines of the journal: attempts and their outcomes, as JSON in plain ASCII.

The journal is the file in which each write is noted before it is sent; a write is one request that
changes the platform, the remote service that runs AI agents. Lines of older versions lack some of
the fields, and lines of newer ones have others: both are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final

import msgspec
from msgspec.structs import asdict

LONGEST_LINE: Final = 256 * 1024
"""Bytes; a longer line is not one of ours, and is skipped without being kept in memory."""


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    attempt: str  # the attempt's id, also sent as Idempotency-Key
    time: str = ""
    """ISO 8601 in UTC, by this machine's clock; when the line is written, if not given."""
    origin: str = ""
    """The platform's address as configured, with the path of a reverse proxy."""
    profile: str = ""  # the name of the user's configuration for that platform
    verb: str = ""  # what the write does, a `Verb`: "approve", "set limit"
    subject: str = ""  # what is acted on: an id, or a digest of what a new record is to be
    title: str = ""  # of the task, agent or company acted on
    key: str = ""  # what users call the task beside its title
    task: str | None = None  # ids of the records that it concerns, and their names
    company: str | None = None
    company_name: str | None = None
    agent: str | None = None
    agent_name: str | None = None
    pid: int = 0
    v: int = 2  # the version of the format


class Attempt(_Line, frozen=True, kw_only=True, tag_field="kind", tag="attempt"):
    """Written before a write is sent."""

    addresses: tuple[str, ...] = ()
    """What the host was resolved to, each with the port; empty if it could not be."""
    fingerprint: str = ""  # hexadecimal digest of the task as the user saw it, of an approval
    details: dict[str, Any] = {}
    """What else is needed to reconcile it by reading, such as the limit that was set."""
    writer: str = ""  # names the file that the writing process keeps locked while it lives


class Settled(_Line, frozen=True, kw_only=True, tag_field="kind", tag="outcome"):
    """Written when the outcome of an attempt is known; the last one of an attempt counts."""

    outcome: str  # an `OutcomeKind`
    reason: str = ""  # why it is of this kind, a `Reason`; older versions write none
    decision: str = ""  # what was decided about a task, a `TaskDecision`, if the platform tells
    decided_by: str | None = None
    decided_at: float | None = None  # seconds since 1970 by the platform's clock
    known_by: str = ""  # what the outcome is known from, a `KnownBy`
    words: str | None = None  # the platform's message
    http_status: int | None = None
    sentence: str = ""  # the outcome in our words
    made: str | None = None  # the id of the record that was created
    corrects: str = ""  # the outcome that was written before and turned out to be wrong


Entry = Attempt | Settled

REPEATED: Final = (
    *("origin", "profile", "verb", "subject", "title", "key"),
    *("task", "company", "company_name", "agent", "agent_name"),
)
"""What an outcome repeats of its attempt, so that a line found by grep can be read alone."""
_REDACTED: Final = frozenset(
    {"title", "key", "company_name", "agent_name", "decided_by", "words", "sentence"}
)
"""Fields with the platform's texts; the others are ids and our own words."""


def to_line(entry: Entry, redact: Callable[[str], str] = str) -> bytes:
    """Return one line with its newline, ASCII only: no title can take over a terminal in which the
    journal is printed.

    Fields that are not known are left out, and the platform's texts pass through `redact`.
    """
    fields: dict[str, Any] = {"kind": "attempt" if isinstance(entry, Attempt) else "outcome"}
    for name, value in asdict(entry).items():
        if value not in (None, "", (), {}):
            fields[name] = redact(value) if name in _REDACTED else value
    if "details" in fields:
        fields["details"] = {
            name: redact(value) if isinstance(value, str) else value
            for name, value in fields["details"].items()
        }
    # Not msgspec's encoder: it refuses the lone surrogates that an id may hold.
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def from_line(line: bytes) -> Entry | None:
    """Return the entry in a line; None if the line is torn, or not one of ours."""
    try:  # the standard library reads lone surrogates, msgspec doesn't
        entry: Entry = msgspec.convert(json.loads(line), Attempt | Settled)
    except (ValueError, TypeError, RecursionError, msgspec.MsgspecError):
        return None
    return entry


def seconds_of(time: str) -> float | None:
    """Return a line's time in seconds since 1970; None if it is no such time."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp()


def read_lines(file: BinaryIO, start: int = 0) -> Iterator[bytes]:
    """Yield the lines from the offset `start` on, in bounded memory.

    A line too long to be ours comes as b"". The last line comes even if its newline is missing.
    """
    file.seek(start)
    while line := file.readline(LONGEST_LINE):
        whole = line
        while line and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)
            if line:
                whole = b""
        yield whole


AttemptHistory = tuple[Attempt, list[Settled]]
"""An attempt with its outcomes; the last one counts."""


def attempt_histories(file: BinaryIO) -> Iterator[AttemptHistory]:
    """Yield every attempt with its outcomes, in the order of the attempts; corrections last.

    The file is read twice, as a stream: for the outcomes, which are few and small, and for all.
    """
    outcomes: dict[str, list[Settled]] = {}
    for line in read_lines(file):
        entry = from_line(line)
        if isinstance(entry, Settled):
            outcomes.setdefault(entry.attempt, []).append(entry)
    yielded: set[str] = set()
    for line in read_lines(file):
        entry = from_line(line)
        if not isinstance(entry, Attempt) or entry.attempt in yielded:
            continue
        yielded.add(entry.attempt)
        settled = outcomes.pop(entry.attempt, [])
        first = [each for each in settled if not each.corrects][:1]
        corrections = [each for each in settled if each.corrects]
        yield entry, first + corrections
