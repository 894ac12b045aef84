"""Reads a long list while its body arrives, and decodes only the rows that have changed.

A row is one object of the list; a record, such as a `Task`, is made of it. A hundred thousand tasks
are some fifty megabytes. Parsed in one call they would block everything else for half a second and
need four hundred megabytes. A `ListReader` cuts the body between its rows instead, decodes them in
chunks, and reuses the record of each row whose bytes have the same hash as last time (`KnownRows`).

The *head* of a body is the part before the first row, the *envelope* is the body with only its
first and last rows. A *mark* is the hash of a row. Short bodies are read as a whole (`row_cache`).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
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
from agentco_tui.reading.shared_values import TEXTS, SharedValues
from agentco_tui.system.background import SLICE, turn_of_thread
from agentco_tui.text import SafeText

if TYPE_CHECKING:
    from agentco_tui.reading.decode import Page

R = TypeVar("R", bound=Record)

CHUNK: Final = 64 * 1024
"""Bytes of rows that are decoded together, which takes a few milliseconds."""
MOST_MEMORY: Final = 80 * 1024 * 1024
"""Bytes that the records of all lists under way may take."""
_HEAD: Final = 4_096
"""Bytes of the body in which the list must begin."""
_TAIL: Final = 16_384
"""Bytes that are kept until the body is complete: the list must end in them."""
_MOST_UNCUT: Final = 2 * 1024 * 1024
"""Bytes that may be kept if no position to cut is found."""
_TRIES: Final = 64
"""How many positions in the body are tried for one cut."""
_RECORD: Final = 350
"""Bytes of a record without its texts, as measured with CPython 3.11."""

_START: Final = re.compile(rb"\[\s*\{")
_BETWEEN: Final = re.compile(rb"\}\s*,\s*(?=\{)")
_END: Final = re.compile(rb"\}\s*(?=\])")
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_objects: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class UnstreamableError(ValueError):
    """The body is not just a list of objects in an envelope, so it cannot be read in parts."""


class TooMuchMemoryError(ValueError):
    """The records of all lists being read would take more than MOST_MEMORY."""


Beginning: TypeAlias = Future[Sequence[R]]
"""A future for the first records of a long list, set while the rest still arrives."""


class KnownRows(msgspec.Struct, Generic[R]):
    """The records of a list as it was last read, each with the hash of its bytes."""

    marks: array[int]
    """The hash of each row, in the order of `records`."""
    records: Sequence[R]
    values: SharedValues = msgspec.field(default_factory=SharedValues)
    """What the records have in common."""


class ListReader(Generic[R]):
    """Reads one list while its body arrives: `feed` the pieces in order, then `finish`.

    All calls must be made in one thread. The body is cut between rows. What looks like a cut may be
    inside a text or deeper in a row; then the bytes before it are no list of whole objects, the
    parser refuses them, and the next place is tried, so that a wrong cut is never taken. At most
    two megabytes are kept besides the records. Raises UnstreamableError, TooMuchMemoryError, and
    whatever `read` raises.
    """

    _under_way: ClassVar[WeakSet[ListReader[Any]]] = WeakSet()
    """All readers that have not finished, for the limit on their memory."""

    def __init__(
        self,
        read: Callable[[bytes], Page[R]],
        known: KnownRows[R] | None,
        most: int,
        beginning: Beginning[R] | None = None,
    ) -> None:
        """`read` decodes a whole answer; `known` are the rows of the last reading.

        Reading stops one row after `most`, so that the caller sees that there are more.
        `beginning` is given the first records.
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
        """The bytes before the first row; None until that has arrived."""
        self._closes = b""
        """The brackets that close those of the head."""
        self._rest = b""
        """Bytes that have arrived and were not decoded."""
        self._tried = 0
        """Bytes of `_rest` in which no cut was found."""
        self._places_tried = 0
        self._first: list[bytes] = []
        self._last: list[bytes] = []
        self._head_page: Page[R] | None = None
        self._marks = array("q")
        self._known = known or KnownRows(array("q"), ())
        self._at = 0
        """The position in the known rows of the next row, if the order is unchanged."""
        self._places: dict[int, int] = {}
        """Positions of the known rows by their hashes; filled once the order has changed."""
        self._of_reading: dict[Hashable, Hashable] = {}
        """Values of the records that were decoded, for `SharedValues.share`."""
        self._memory = 0
        self._until = 0.0
        """When the thread next gives way to others, by `perf_counter`."""
        self._under_way.add(self)

    def feed(self, piece: bytes) -> None:
        """Decode the rows that are complete with this piece of the body."""
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
            self._head = self._rest[:at]
            self._rest = self._rest[at:]
            for bracket in _BRACKETS.findall(self._head):
                if bracket in b"[{":
                    self._closes = (b"]" if bracket == b"[" else b"}") + self._closes
                elif bracket in b"]}":
                    self._closes = self._closes[1:]
        self._rest = self._rest[self._take_before(len(self._rest) - _TAIL) :]
        if len(self._rest) > _MOST_UNCUT:
            raise UnstreamableError

    def finish(self) -> None:
        """Decode the remaining rows of the complete body, and check the result.

        The envelope may change how rows are read, so the first rows are decoded again with what
        comes after the list; if they differ, UnstreamableError is raised.
        """
        self._under_way.discard(self)
        body = self._rest
        head = self._head
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
            # What comes after the list changes how its rows are read.
            raise UnstreamableError
        self.envelope = head + b",".join((self._first[0], self._last[-1])) + tail
        self.digest = self._hash.digest()
        self._of_reading = {}
        if len({record.id for record in self.records}) < len(self.records):
            # The last copy of a repeated row is kept, and all different rows.
            places = {same_row(record): place for place, record in enumerate(self.records)}
            self.records = [self.records[place] for place in places.values()]
            self._marks = array("q", (self._marks[place] for place in places.values()))

    @property
    def known(self) -> KnownRows[R]:
        """The rows that were read, for the next reading of the list."""
        return KnownRows(self._marks, self.records, self._known.values)

    def _take_before(self, limit: int) -> int:
        """Decode the rows that end before `limit`, in chunks; return where the next row begins."""
        body = self._rest
        at = 0
        start = max(CHUNK, self._tried)
        while start < limit:
            between = _BETWEEN.search(body, start, limit)
            if between is None:
                break
            rows = _rows(body[at : between.start() + 1])
            if rows is not None:
                self._take(rows)
                at = between.end()
                self._tried = 0
                self._places_tried = 0
                start = at + CHUNK
                continue
            start = between.end()
            self._tried = start - at
            self._places_tried += 1
            if self._places_tried >= _TRIES:
                raise UnstreamableError
        return at

    def _take(self, rows: list[bytes]) -> None:
        """Add the records of these rows: known ones are reused, new ones decoded."""
        if perf_counter() >= self._until:
            # Only now and then: otherwise a key held down would delay a long list too much.
            turn_of_thread()
            self._until = perf_counter() + SLICE
        self._last = rows
        if not self._first:
            self._first = rows
            self._head_page = self._read(self._answer(rows))
            if not self._head_page.records or "[]." in self._head_page.shape:
                raise UnstreamableError  # the rows are envelopes of the records
            if self._beginning is not None and not self._beginning.done():
                self._beginning.set_result(self._head_page.records)
        # Python's hash has a random key in each process, so that no row can imitate another.
        marks = array("q", map(hash, rows))
        at = self._at
        end = at + len(rows)
        known = self._known.marks[at:end]
        if known == marks:
            self.records += self._known.records[self._at : end]
            self._marks += marks
            self._at = end
            return
        found: list[int | None]
        in_place = len(known) == len(marks) and 4 * sum(map(ne, known, marks)) <= len(marks)
        if in_place:
            # A few rows changed in place, so the positions of all others are not needed.
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
        """The decoded record of each row, None for a row that is none."""
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
            self._known.values.share(record, self._of_reading)
            texts = (getattr(record, name, None) for name in TEXTS)
            self._memory += _RECORD + sum(getsizeof(text) for text in texts if text)
        if sum(reader._memory for reader in self._under_way) > MOST_MEMORY:
            raise TooMuchMemoryError
        return iter(records)

    def _answer(self, rows: list[bytes]) -> bytes:
        """A complete answer with only these rows, in the envelope as far as it has arrived."""
        return (self._head or b"") + b",".join(rows) + self._closes


def _rows(part: bytes) -> list[bytes] | None:
    """The bytes of each object in a part of the list; None if it is not made of whole objects."""
    try:
        return [bytes(raw) for raw in _objects(b"[%b]" % part)]
    except msgspec.MsgspecError:
        return None
