"""A long list read while its body comes, and of one that was read before only what is new in it.

A hundred thousand tasks are some fifty megabytes. Parsed in one call they would hold up everything
else for half a second and take four hundred megabytes while it lasts. Here the body is cut between
its rows, which are read some at a time, and each row is known again by a hash of its bytes.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from hashlib import blake2b
from operator import ne
from sys import getsizeof
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeAlias, TypeVar
from weakref import WeakSet

import msgspec

from agentco_tui.model import Record
from agentco_tui.reading.identity import same_row
from agentco_tui.system.background import SLICE, turn_of_thread
from agentco_tui.text import SafeText

if TYPE_CHECKING:
    from agentco_tui.reading.decode import Page

R = TypeVar("R", bound=Record)

CHUNK: Final = 64 * 1024
"""Bytes of rows that are read together: a few milliseconds."""
MOST_MEMORY: Final = 80 * 1024 * 1024
"""Bytes that the records of all lists under way may take."""
_HEAD: Final = 4_096
"""Bytes within which the list must have begun."""
_TAIL: Final = 16_384
"""Bytes kept back until the body is whole: the list must end in them."""
_MOST_UNCUT: Final = 2 * 1024 * 1024
_TRIES: Final = 64
"""Places tried for one cut."""
_RECORD: Final = 350
"""Bytes that a record takes without its texts, as measured with CPython 3.11."""
_SHARED: Final = (
    *("agent", "company", "priority", "status", "cost", "trust", "decided_by", "extra"),
    *("role", "model", "template", "budget_remaining", "actor", "severity", "id_doubt"),
)
"""Fields whose values many records have in common: kept once, they are half of the memory."""
_MOST_SHARED: Final = 50_000
"""Values kept to be shared; beyond that it begins anew."""
_LONGEST_SHARED: Final = 100
"""Characters or bytes."""
_TEXTS: Final = ("title", "description", "text", "name", "mission", "extra")
"""Fields whose texts may be long, or are each record's own."""

_START: Final = re.compile(rb"\[\s*\{")
_BETWEEN: Final = re.compile(rb"\}\s*,\s*(?=\{)")
_END: Final = re.compile(rb"\}\s*(?=\])")
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_objects: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class UnstreamableError(ValueError):
    """The body is not simply a list of objects in an envelope."""


class TooMuchMemoryError(ValueError):
    """The records of the lists under way would take more than MOST_MEMORY."""


Beginning: TypeAlias = Future[Sequence[R]]
"""The first rows of a long list, while the rest of it is still on its way."""


class KnownRows(msgspec.Struct, Generic[R]):
    """The records of a list as it was read last, and a hash of what was sent for each."""

    marks: array[int]
    records: Sequence[R]
    pool: dict[Any, Any] = {}  # values that many of them have in common


class ListReader(Generic[R]):
    """Reads one list while its body comes: `feed` it in order, then `finish`; in one thread.

    The body is cut between rows. What looks like a cut may lie inside a text or deeper in a row;
    then what is before it is no list of whole objects, which the parser finds out, and the next
    place is tried: a wrong cut is never taken. At most two megabytes are held beside the records.
    Raises UnstreamableError, TooMuchMemoryError, and what `read` raises.
    """

    _under_way: ClassVar[WeakSet[ListReader[Any]]] = WeakSet()

    def __init__(
        self,
        read: Callable[[bytes], Page[R]],
        known: KnownRows[R] | None,
        most: int,
        beginning: Beginning[R] | None = None,
    ) -> None:
        """`read` makes a page of a whole answer. `known` is what the last reading left.

        Of more than `most` rows one more than that is read. `beginning` gets the first rows.
        """
        self.records: list[R] = []
        self.unread: Counter[SafeText] = Counter()
        self.digest = b""
        self.size = 0
        """Bytes of the body."""
        self.envelope = b""
        """The body with only the first and the last of its rows."""
        self._read = read
        self._most = most
        self._beginning = beginning
        self._hash = blake2b(digest_size=16)
        self._head: bytes | None = None
        """What stands before the list's first object, once that is known."""
        self._closes = b""
        """What closes the brackets that the head opens."""
        self._rest = b""
        self._tried = self._places_tried = 0
        self._first: list[bytes] = []
        self._last: list[bytes] = []
        self._head_page: Page[R] | None = None
        self._marks = array("q")
        self._known = known or KnownRows(array("q"), ())
        self._at = 0
        """Which of the known rows comes next, if the order is as it was."""
        self._places: dict[int, int] = {}
        """Of the known rows by their marks, once one comes that is not the next."""
        self._memory = 0
        self._until = 0.0
        self._under_way.add(self)

    def feed(self, piece: bytes) -> None:
        """Read all rows that are whole by now."""
        self._hash.update(piece)
        self.size += len(piece)
        self._rest += piece
        if self._head is None:
            found = _START.search(self._rest, 0, _HEAD)
            if found is None and len(self._rest) >= _HEAD:
                raise UnstreamableError
            if found is None:
                return
            at = found.end() - 1
            self._head, self._rest = self._rest[:at], self._rest[at:]
            for bracket in _BRACKETS.findall(self._head):
                if bracket in b"[{":
                    self._closes = (b"]" if bracket == b"[" else b"}") + self._closes
                elif bracket in b"]}":
                    self._closes = self._closes[1:]
        self._rest = self._rest[self._take_before(len(self._rest) - _TAIL) :]
        if len(self._rest) > _MOST_UNCUT:
            raise UnstreamableError

    def finish(self) -> None:
        self._under_way.discard(self)
        body, head = self._rest, self._head
        ends = [found.end() for found in _END.finditer(body, max(0, len(body) - _TAIL))]
        if head is None or not ends:
            raise UnstreamableError
        last = _rows(body[self._take_before(ends[-1]) : ends[-1]])
        if last is None:
            raise UnstreamableError
        self._take(last)
        tail = body[ends[-1] :]
        page = self._read(head + b",".join(self._first) + tail)
        if self._head_page is None or page.records != self._head_page.records:
            # What stands behind the list has a say in how its rows are read.
            raise UnstreamableError
        self.envelope = head + b",".join((self._first[0], self._last[-1])) + tail
        self.digest = self._hash.digest()
        if len({record.id for record in self.records}) < len(self.records):
            # Of a row that was sent twice the last one is kept; different rows are all kept.
            places = {same_row(record): place for place, record in enumerate(self.records)}
            self.records = [self.records[place] for place in places.values()]
            self._marks = array("q", (self._marks[place] for place in places.values()))

    @property
    def known(self) -> KnownRows[R]:
        return KnownRows(self._marks, self.records, self._known.pool)

    def _take_before(self, limit: int) -> int:
        """Read the rows that end before `limit`, some at a time; where the next one begins."""
        body, at = self._rest, 0
        start = max(CHUNK, self._tried)
        while start < limit and (between := _BETWEEN.search(body, start, limit)) is not None:
            rows = _rows(body[at : between.start() + 1])
            if rows is not None:
                self._take(rows)
                at = between.end()
                self._tried = self._places_tried = 0
                start = at + CHUNK
                continue
            start = between.end()
            self._tried = start - at
            self._places_tried += 1
            if self._places_tried >= _TRIES:
                raise UnstreamableError
        return at

    def _take(self, rows: list[bytes]) -> None:
        if perf_counter() >= self._until:
            # Not for each: with a key held down a long list would come too late.
            turn_of_thread()
            self._until = perf_counter() + SLICE
        self._last = rows
        if not self._first:
            self._first = rows
            self._head_page = self._read(self._answer(rows))
            if not self._head_page.records or "[]." in self._head_page.shape:
                raise UnstreamableError  # each row is to be a record
            if self._beginning is not None and not self._beginning.done():
                self._beginning.set_result(self._head_page.records)
        # The hash is keyed anew for each process: nobody can make two rows look the same.
        marks = array("q", map(hash, rows))
        at, end = self._at, self._at + len(rows)
        known = self._known.marks[at:end]
        if known == marks:
            self.records += self._known.records[self._at : end]
            self._marks += marks
            self._at = end
            return
        found: list[int | None]
        in_place = len(known) == len(marks) and 4 * sum(map(ne, known, marks)) <= len(marks)
        if in_place:
            # A few have changed where they stand: no need to know where all the others do.
            found = [n if known[n - at] == mark else None for n, mark in enumerate(marks, at)]
        else:
            self._places = self._places or {mark: n for n, mark in enumerate(self._known.marks)}
            found = [self._places.get(mark) for mark in marks]
        read = self._read_new(
            [row for row, place in zip(rows, found, strict=True) if place is None]
        )
        for mark, place in zip(marks, found, strict=True):
            record = next(read) if place is None else self._known.records[place]
            if record is not None and len(self.records) <= self._most:
                self.records.append(record)
                self._marks.append(mark)
            if place is not None:
                self._at = place + 1
        if in_place:
            self._at = end

    def _read_new(self, rows: list[bytes]) -> Iterator[R | None]:
        """The record of each row, None where it is none."""
        if not rows or len(self.records) > self._most:
            return iter([None] * len(rows))
        records: list[R | None] = [*self._read(self._answer(rows)).records]
        if len(records) < len(rows):
            records = []
            for row in rows:
                page = self._read(self._answer([row]))
                records.append(next(iter(page.records), None))
                self.unread.update(page.unread_reasons)
        for record in filter(None, records):
            self._share(record)
            texts = (getattr(record, name, None) for name in _TEXTS)
            self._memory += _RECORD + sum(getsizeof(text) for text in texts if text)
        if sum(reader._memory for reader in self._under_way) > MOST_MEMORY:
            raise TooMuchMemoryError
        return iter(records)

    def _share(self, record: R) -> None:
        """Values that other records have too are replaced by theirs; nobody has seen it yet."""
        pool = self._known.pool
        for name in _SHARED:
            value = getattr(record, name, None)
            if value is None or (type(value) in (str, bytes) and len(value) > _LONGEST_SHARED):
                continue
            kept = pool.setdefault(value, value)
            if kept is not value:
                msgspec.structs.force_setattr(record, name, kept)
        if len(pool) > _MOST_SHARED:
            pool.clear()

    def _answer(self, rows: list[bytes]) -> bytes:
        """An answer with these rows, as far as it is known by now."""
        return (self._head or b"") + b",".join(rows) + self._closes


def _rows(part: bytes) -> list[bytes] | None:
    """The objects in a part of the list; None if it is not whole objects only."""
    try:
        return [bytes(raw) for raw in _objects(b"[%b]" % part)]
    except msgspec.MsgspecError:
        return None
