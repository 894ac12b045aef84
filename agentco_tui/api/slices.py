"""Long lists read a piece at a time, and of a list read before only what is new in it (law 5).

A hundred thousand tasks are some fifty megabytes. Parsed in one call they would hold up everything
else for half a second, take four hundred megabytes while it lasts, and every poll would read all of
them anew to find the few that differ. Here the body is cut between records, each record is known
again by a hash of its bytes, and only those that are not known are read; values that many records
share are kept once.

A cut is where an object of the list ends and the next begins. What looks like one may lie inside a
text or deeper in a record; then what is before it is no whole list of objects, which the parser
finds out, and the next place is tried. So a wrong cut is never taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from agentco_tui.api.bodies import BodyError, Json, parse_json
from agentco_tui.api.envelopes import FoundList, find_list
from agentco_tui.api.listings import Kind, Page, decode_page, read_rows
from agentco_tui.api.records import Moment, Record
from agentco_tui.api.unwrapping import names_beside
from agentco_tui.text import SafeText

R = TypeVar("R", bound=Record)

_ALONE: Final = frozenset({"companies", "agents", "tasks", "activity"})
"""Kinds of which each record is read by itself, whatever stands beside it."""
_PIECE: Final = 64 * 1024
"""Bytes: reading so much takes a few milliseconds."""
_HEAD: Final = 4_096
"""Where the list must have begun."""
_TAIL: Final = 16_384
_TRIES: Final = 64
"""Places tried for one cut before the body is read as a whole."""
_MOST_REASONS: Final = 5
_MOST_SHARED: Final = 50_000
"""Values kept to be shared; beyond that it begins anew."""
_LONGEST_SHARED: Final = 100
"""Characters or bytes."""
_SHARED: Final = (
    *("agent", "company", "priority", "status", "cost", "trust", "decided_by", "extra"),
    *("role", "model", "template", "budget_remaining", "actor", "severity"),
)
"""Fields whose values many records have in common."""
_MOMENTS: Final = ("created", "waiting_since", "updated", "decided", "last_seen")

_START: Final = re.compile(rb"\[\s*\{")
_BETWEEN: Final = re.compile(rb"\}\s*,\s*(?=\{)")
_END: Final = re.compile(rb"\}\s*(?=\])")

_objects: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Memo(Generic[R]):
    """The records of a list as it was read last, by a hash of what was sent for each."""

    def __init__(self, pool: dict[Any, Any] | None = None) -> None:
        self.known: dict[int, R] = {}
        self.pool: dict[Any, Any] = {} if pool is None else pool

    def shared(self, record: R) -> R:
        """The record, with values that others have too replaced by theirs."""
        pool = self.pool
        for name in _SHARED:
            value = getattr(record, name, None)
            if value is None or (type(value) in (str, bytes) and len(value) > _LONGEST_SHARED):
                continue
            known = pool.get(value)
            if known is None:
                if len(pool) >= _MOST_SHARED:
                    pool.clear()
                pool[value] = value
            elif known is not value:
                msgspec.structs.force_setattr(record, name, known)
        first: Moment | None = None
        for name in _MOMENTS:
            at = getattr(record, name, None)
            if at is None or at is first:
                continue
            if first is None:
                first = at
            elif at == first:
                msgspec.structs.force_setattr(record, name, first)
        return record


class Sliced(NamedTuple, Generic[R]):
    """What was read of a long body."""

    page: Page[R]
    body: Json
    """The body with the first and the last of its records only: for what stands round them."""
    memo: Memo[R]


class _UnevenError(ValueError):
    """The body is not simply a list of objects in an envelope: it has to be read as a whole."""


def read_sliced(kind: Kind[R], body: bytes, before: Memo[R] | None) -> Sliced[R] | None:
    """The page in a long body, or None if it has to be read as a whole.

    `before` is the memo of the same list's last answer; it is not changed. To be called in a
    thread: takes time in proportion to what is new, in steps of a few milliseconds.
    """
    if kind.name not in _ALONE:
        return None
    try:
        return _read(kind, body, before)
    except (_UnevenError, BodyError, msgspec.MsgspecError):
        return None


def _read(kind: Kind[R], body: bytes, before: Memo[R] | None) -> Sliced[R]:
    start = _START.search(body, 0, _HEAD)
    ends = [found.end() for found in _END.finditer(body, max(0, len(body) - _TAIL))]
    if start is None or not ends:
        raise _UnevenError
    opens, closes = start.end() - 1, ends[-1]
    pieces = _pieces(body, opens, closes)
    first = next(pieces)
    head, tail = body[:opens], body[closes:]
    found = _found(kind, parse_json(head + b",".join(first) + tail), first)
    memo: Memo[R] = Memo(None if before is None else before.pool)
    taken = _Taken(kind, found, {} if before is None else before.known, memo)
    last = first
    for piece in _after(first, pieces):
        last = piece
        taken.take(piece)
        if not taken.by_id:
            raise _UnevenError  # whatever these are, they are no records
    ring = parse_json(head + b",".join([*first, *last]) + tail)
    page = decode_page(kind, ring)
    whole = msgspec.structs.replace(
        page,
        records=tuple(taken.by_id.values()),
        unread=sum(taken.unread.values()),
        unread_reasons=tuple(taken.unread)[:_MOST_REASONS],
    )
    return Sliced(whole, ring, memo)


class _Taken(Generic[R]):
    """The records read so far; of an id given twice the last one is kept."""

    def __init__(
        self, kind: Kind[R], found: FoundList, old: Mapping[int, R], memo: Memo[R]
    ) -> None:
        self.by_id: dict[str, R] = {}
        self.unread: dict[SafeText, int] = {}
        self._kind, self._found, self._old, self._memo = kind, found, old, memo

    def take(self, piece: list[bytes]) -> None:
        """Read the records of a piece, those that are known already by their bytes alone."""
        known, old, by_id = self._memo.known, self._old, self.by_id
        for raw in piece:
            # The hash is keyed anew for each process: nobody can make two records look the same.
            mark = hash(raw)
            record = old.get(mark)
            if record is None:
                record = self._read(raw)
                if record is None:
                    continue
            known[mark] = record
            by_id[record.id] = record

    def _read(self, raw: bytes) -> R | None:
        found = self._found._replace(items=[parse_json(raw)])
        records, reasons = read_rows(self._kind, found, None)
        for reason, count in reasons.items():
            self.unread[reason] = self.unread.get(reason, 0) + count
        return self._memo.shared(records[0]) if records else None


def _found(kind: Kind[R], thin: Json, first: list[bytes]) -> FoundList:
    """Where the list stands in its envelope; refuses what more than the list decides about."""
    found = find_list(thin, kind.resource)
    if found is None or found.keys is not None or len(found.items) != len(first):
        raise _UnevenError
    if found.items[0] != parse_json(first[0]) or found.items[-1] != parse_json(first[-1]):
        raise _UnevenError
    if found.path.startswith("text:") or "{one}" in found.path or names_beside(thin):
        raise _UnevenError
    return found


def _after(first: list[bytes], rest: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    yield first
    yield from rest


def _pieces(body: bytes, opens: int, closes: int) -> Iterator[list[bytes]]:
    """The objects of the list from `opens` to `closes`, some at a time, as they were sent."""
    at = opens
    while at < closes:
        cut = at + _PIECE
        for _ in range(_TRIES):
            between = _BETWEEN.search(body, cut, closes) if cut < closes else None
            stop = closes if between is None else between.start() + 1
            try:
                raws = _objects(b"[%b]" % body[at:stop])
            except msgspec.MsgspecError:
                if between is None:
                    raise
                cut = between.end()
                continue
            yield [bytes(raw) for raw in raws]
            at = closes if between is None else between.end()
            break
        else:
            raise _UnevenError
