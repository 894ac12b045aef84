"""A long body cut between the objects of its list, while it comes.

A cut is where an object of the list ends and the next begins. What looks like one may lie inside a
text or deeper in a record; then what is before it is no whole list of objects, which the parser
finds out, and the next place is tried. So a wrong cut is never taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

PIECE: Final = 64 * 1024
"""Bytes: reading so much takes a few milliseconds."""
_HEAD: Final = 4_096
"""Where the list must have begun."""
_TAIL: Final = 16_384
"""Where it must have ended; so much is kept back until the body is there as a whole."""
_MOST_UNCUT: Final = 2 * 1024 * 1024
"""Bytes without a cut before the body is read as a whole."""
_TRIES: Final = 64
"""Places tried for one cut before the body is read as a whole."""

_START: Final = re.compile(rb"\[\s*\{")
_BETWEEN: Final = re.compile(rb"\}\s*,\s*(?=\{)")
_END: Final = re.compile(rb"\}\s*(?=\])")

_objects: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class UnevenError(ValueError):
    """The body is not simply a list of objects in an envelope: it has to be read as a whole."""


class Cutter:
    """Feed it a body in order and `finish` it: the objects of its list come out as they were sent.

    At most `_MOST_UNCUT` bytes are held, whatever the length of the body. Raises UnevenError.
    """

    def __init__(self) -> None:
        self.head: bytes | None = None
        """What stands before the list's first object, once that is known."""
        self.tail = b""
        """What stands behind its last one, once it is finished."""
        self._rest = b""
        self._tried = 0
        self._places = 0

    def feed(self, data: bytes) -> Iterator[list[bytes]]:
        """The objects that are whole by now, some at a time; to be taken to the end."""
        body = self._rest + data if self._rest else data
        self._rest = b""
        at = 0
        if self.head is None:
            found = _START.search(body, 0, _HEAD)
            if found is None:
                if len(body) >= _HEAD:
                    raise UnevenError
                self._rest = body
                return
            at = found.end() - 1
            self.head = body[:at]
        limit = len(body) - _TAIL
        while cut := self._cut(body, at, limit):
            raws, at = cut
            yield raws
        self._rest = body[at:]
        if len(self._rest) > _MOST_UNCUT:
            raise UnevenError

    def finish(self) -> Iterator[list[bytes]]:
        """The last objects."""
        body, self._rest = self._rest, b""
        ends = [found.end() for found in _END.finditer(body, max(0, len(body) - _TAIL))]
        if self.head is None or not ends:
            raise UnevenError
        at, closes = 0, ends[-1]
        while cut := self._cut(body, at, closes):
            raws, at = cut
            yield raws
        last = _read(body[at:closes])
        if last is None:
            raise UnevenError
        self.tail = body[closes:]
        yield last

    def _cut(self, body: bytes, at: int, limit: int) -> tuple[list[bytes], int] | None:
        """The objects from `at` to the next cut before `limit`, and where the next one begins."""
        start = at + max(PIECE, self._tried)
        while start < limit and (between := _BETWEEN.search(body, start, limit)) is not None:
            raws = _read(body[at : between.start() + 1])
            if raws is not None:
                self._tried = self._places = 0
                return raws, between.end()
            start = between.end()
            self._tried = start - at
            self._places += 1
            if self._places >= _TRIES:
                raise UnevenError
        return None


def _read(part: bytes) -> list[bytes] | None:
    """The objects in a part of the list; None if it is not whole objects only."""
    try:
        return [bytes(raw) for raw in _objects(b"[%b]" % part)]
    except msgspec.MsgspecError:
        return None
