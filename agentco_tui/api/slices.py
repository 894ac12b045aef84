"""Long lists read a piece at a time, and of a list read before only what is new in it (law 5).

A hundred thousand tasks are some fifty megabytes. Parsed in one call they would hold up everything
else for half a second, take four hundred megabytes while it lasts, and every poll would read all of
them anew to find the few that differ. Here the body is cut between records while it comes and
never held as a whole, each record is known again by a hash of its bytes, and only those that are
not known are read; values that many records share are kept once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from sys import getsizeof
from time import perf_counter
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from agentco_tui.api.cuts import Cutter, UnevenError
from agentco_tui.api.listings import Kind, Page, Unshaped, decode_page, listed, read_rows
from agentco_tui.api.memo import Memo, Recall
from agentco_tui.api.resources import FoundList
from agentco_tui.api.units import unit_beside
from agentco_tui.api.unwrapping import names_beside
from agentco_tui.background import SLICE, turn_of_thread
from agentco_tui.model.records import Record
from agentco_tui.reading.json_body import BodyError, parse_json
from agentco_tui.reading.schema import Json
from agentco_tui.reading.shared_ids import identity
from agentco_tui.text import SafeText

R = TypeVar("R", bound=Record)

_ALONE: Final = frozenset({"companies", "agents", "tasks", "activity"})
"""Kinds of which each record is read by itself, whatever stands beside it."""
_FED: Final = 256 * 1024
"""Bytes of a body that is there as a whole which are read at a time."""
_MOST_REASONS: Final = 5
_BARE: Final = 350
"""Bytes that a record takes without its texts, as measured with CPython 3.11."""
_TEXTS: Final = ("title", "description", "text", "name", "mission", "extra")
"""Fields whose texts may be long, or are each record's own."""


class Sliced(NamedTuple, Generic[R]):
    """What was read of a long body."""

    page: Page[R]
    body: Json
    """The body with the first and the last of its records only: for what stands round them."""
    memo: Memo[R]
    digest: bytes
    """Hash of the whole body."""
    size: int
    """Bytes of the body."""


def is_sliceable(kind: Kind[R]) -> bool:
    """Whether lists of this kind can be read a piece at a time."""
    return kind.name in _ALONE


def read_sliced(kind: Kind[R], body: bytes, before: Memo[R] | None) -> Sliced[R] | None:
    """The page in a long body, or None if it has to be read as a whole.

    `before` is the memo of the same list's last answer; it is not changed. To be called in a
    thread: takes time in proportion to what is new, in steps of a few milliseconds.
    """
    if not is_sliceable(kind):
        return None
    slicer = Slicer(kind, before)
    try:
        for start in range(0, len(body), _FED):
            slicer.feed(body[start : start + _FED])
        return slicer.finish()
    except UnevenError:
        return None


class Slicer(Generic[R]):
    """Reads one list while its body comes; `feed` it in order, then `finish`.

    Both raise UnevenError, and take a few milliseconds of one thread for each 64 KiB.
    """

    def __init__(self, kind: Kind[R], before: Memo[R] | None) -> None:
        self._kind = kind
        self._taken = _Taken(kind, Memo() if before is None else before)
        self._cutter = Cutter()
        self._first: list[bytes] = []
        self._last: list[bytes] = []
        self._digest = blake2b(digest_size=16)
        self._size = 0
        self._until = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether records were read, so that what was fed is needed no more."""
        return bool(self._first)

    @property
    def held(self) -> int:
        """Bytes of memory that the records read by now take, about; known ones take none."""
        return self._taken.size

    def feed(self, data: bytes) -> None:
        """Read all records that are whole by now."""
        self._digest.update(data)
        self._size += len(data)
        self._take(self._cutter.feed(data))

    def finish(self) -> Sliced[R]:
        """The page: to be called when all has been fed."""
        self._take(self._cutter.finish())
        head, tail, first, taken = self._cutter.head, self._cutter.tail, self._first, self._taken
        assert head is not None
        try:
            _check(self._kind, parse_json(head + b",".join(first) + tail), first)
            ring = parse_json(head + b",".join([*first, *self._last]) + tail)
            page = decode_page(self._kind, ring)
        except (BodyError, Unshaped):
            raise UnevenError from None
        memo = taken.memo()
        whole = msgspec.structs.replace(
            page,
            records=memo.records,
            unread=sum(taken.unread.values()),
            unread_reasons=tuple(taken.unread)[:_MOST_REASONS],
        )
        return Sliced(whole, ring, memo, self._digest.digest(), self._size)

    def _take(self, pieces: Iterable[list[bytes]]) -> None:
        for piece in pieces:
            if perf_counter() >= self._until:
                # Not for each piece: with a key held down a long list would come too late.
                turn_of_thread()
                self._until = perf_counter() + SLICE
            self._last = piece
            self._taken.take(piece)
            if not self._taken.records:
                raise UnevenError  # whatever these are, they are no records
            self._first = self._first or piece


class _Taken(Generic[R]):
    """The records read so far."""

    def __init__(self, kind: Kind[R], before: Memo[R]) -> None:
        self.records: list[R] = []
        self.unread: dict[SafeText, int] = {}
        self._kind, self._before = kind, before
        self._marks = array("q")
        self._recall = Recall(before)
        self._new: set[str] = set()
        """Ids of records that were not known by their bytes."""
        self._count_new = 0
        self.size = 0
        """Bytes that new records take, about."""

    def take(self, piece: list[bytes]) -> None:
        """Read the records of a piece, those that are known already by their bytes alone."""
        # The hash is keyed anew for each process: nobody can make two records look the same.
        marks = array("q", map(hash, piece))
        known = self._recall.run(marks)
        if known is not None:
            self.records += known
            self._marks += marks
            return
        for mark, raw in zip(marks, piece, strict=True):
            record = self._recall.by_mark(mark)
            # One more than a listing holds, which then says that there are more.
            if len(self.records) > self._kind.most:
                continue
            if record is None:
                record = self._read(raw, mark)
                if record is None:
                    continue
                self._new.add(record.id)
                self._count_new += 1
                self.size += _BARE + sum(
                    getsizeof(text) for name in _TEXTS if (text := getattr(record, name, None))
                )
            self.records.append(record)
            self._marks.append(mark)

    def memo(self) -> Memo[R]:
        """All of them for the next reading; of those that are the same the last one is kept."""
        records, marks = self.records, self._marks
        if not self._are_distinct():
            places = {identity(record): place for place, record in enumerate(records)}
            records = [records[place] for place in places.values()]
            marks = array("q", (marks[place] for place in places.values()))
        return Memo(marks, tuple(records), self._before.pool)

    def _are_distinct(self) -> bool:
        """No two records recalled in their order are the same, so that the new ones decide."""
        new = self._new
        if self._recall.went_back or len(new) < self._count_new:
            return False
        return sum(record.id in new for record in self.records) == len(new)

    def _read(self, raw: bytes, mark: int) -> R | None:
        try:
            found = FoundList([parse_json(raw)], None, "", None)
        except BodyError:
            raise UnevenError from None
        records, reasons = read_rows(self._kind, found, None)
        for reason, count in reasons.items():
            self.unread[reason] = self.unread.get(reason, 0) + count
        if not records:
            return None
        return self._recall.instead(self._before.shared(records[0]), mark)


def _check(kind: Kind[R], thin: Json, first: list[bytes]) -> None:
    """Refuses a body where more than the list decides how its records are read."""
    found = listed(thin, kind)
    if found is None or found.keys is not None or len(found.items) != len(first):
        raise UnevenError
    if found.items[0] != parse_json(first[0]) or found.items[-1] != parse_json(first[-1]):
        raise UnevenError
    if found.path.startswith("text:") or "{one}" in found.path or names_beside(thin):
        raise UnevenError
    if unit_beside(thin).told:
        raise UnevenError
