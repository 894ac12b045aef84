"""A recording: every answer of a platform with its time, in one file that is written and read here.

It is a row of blocks, each whole by itself: the lengths of a head and a body, the head's checksum,
the head (msgpack) and the body (zlib). The first head is an `About`, every other a `Recorded`. A
file that ends in the middle of a block, as after a kill, is whole up to that block.
"""

from __future__ import annotations

import os
import secrets
import struct
import time
import zlib
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from math import inf
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from agentco_tui.api.errors import AgentcoError, ApiError
from agentco_tui.api.pagination import PAGING_HEADERS
from agentco_tui.reading.mapping import Mapped
from agentco_tui.text import SafeText, plain, safe

if TYPE_CHECKING:
    from agentco_tui.api.transport import Reply

MOST: Final = 256 * 1024 * 1024
"""Bytes of a recording, in two files: at half of it FILE becomes FILE.1, and FILE begins anew."""
LONGEST_BODY: Final = 64 * 1024 * 1024
MOST_WAITING: Final = 96 * 1024 * 1024  # bytes of bodies that wait for a slow disk
MOST_KEPT: Final = 500  # questions of which the last answer is remembered while recording
_LENGTHS: Final = struct.Struct("<III")
_CALM: Final = 30.0  # seconds without a failure after which the disk is believed to be well
_LATEST: Final = 1e11  # seconds since 1970, that any calendar has
_HEADERS: Final = frozenset(("content-type", *PAGING_HEADERS))
"""Those that reading a body needs. No other header is kept."""


FailedWith: TypeAlias = tuple[str, str, str]
"""The class of an ApiError, its `sent` and its words."""


class RecordingError(AgentcoError):
    """A file that can't be written or is no recording; `str()` is a sentence for a person."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What was recorded, and what reading it the same way needs."""

    program: str  # the version that wrote it
    base_url: str
    profile: str
    company: str | None = None  # that everything was asked of
    refresh: float = 5.0  # seconds
    mapping: Mapped = Mapped()
    run: str = msgspec.field(default_factory=lambda: secrets.token_hex(8))
    """A random word, by which FILE and FILE.1 know each other."""


class Recorded(msgspec.Struct, frozen=True, array_like=True):
    """What came to one question, without the body."""

    at: float  # seconds since 1970 by the machine's clock, when all of it was there
    target: str  # method, path and query: "GET /api/tasks?status=pending"
    took: float  # seconds
    ahead: float | None = None  # seconds that the platform's clock was ahead, as far as measured
    status: int = 0  # 304 where the last to the same question that didn't fail says the same
    headers: dict[str, str] = {}
    failure: FailedWith | None = None  # what came in place of all that


class Located(NamedTuple):
    """An answer in a recording, and where its body lies."""

    answer: Recorded
    file: int = 0
    offset: int = 0
    length: int = 0  # of the body as packed

    @property
    def etag(self) -> str:
        return f'"{self.file}-{self.offset}"'


class _Kept(msgspec.Struct):
    """The last answer to a question that didn't fail, for what comes after it."""

    status: int
    headers: dict[str, str]
    packed: bytes
    is_there: bool = False  # in the file that is written now


def block(head: msgspec.Struct, packed: bytes = b"") -> bytes:
    """A head with a body as it lies in the file."""
    encoded = msgspec.msgpack.encode(head)
    return _LENGTHS.pack(len(encoded), len(packed), zlib.crc32(encoded)) + encoded + packed


Alter: TypeAlias = Callable[[Recorded, bytes], tuple[Recorded, bytes]]
Replay: TypeAlias = Callable[[str, str | None], Awaitable[tuple[Recorded, bytes]]]
"""What a recording holds for a target, and for an ETag that is known of it. Raises ApiError."""


class Recorder:
    """Writes a recording, in a thread of its own. Whoever asks puts answers in with `take`."""

    def __init__(
        self,
        path: Path,
        about: About,
        redact: Callable[[str], str],
        *,
        clock: Callable[[], float] = time.time,
        alter: Alter | None = None,
        most: int = MOST,
    ) -> None:
        """`redact` takes keys out of a text; `alter` gives what is written in an answer's place.

        Raises RecordingError, also for a file that is there: nothing is ever written over.
        """
        self.path, self._about, self._redact = path, about, redact
        self._clock, self._alter, self._most = clock, alter, most
        self.trouble: SafeText | None = None  # why nothing is written, for a person
        self._older = path.with_name(f"{path.name}.1")
        self._kept = dict[str, _Kept]()
        self._came: SimpleQueue[tuple[Recorded, list[bytes] | None] | None] = SimpleQueue()
        self._taken = self._noted = 0  # bytes of bodies; each is counted by one side
        self._handle, self._size, self._failed = -1, 0, -inf
        if os.path.lexists(path) or os.path.lexists(self._older):
            words = f"{safe(str(path), 200)} or its .1 is there already: name another file"
            raise RecordingError(words)
        try:
            self._begin()
        except OSError as error:
            words = f"{safe(str(path), 200)} can't be written: {error.strerror}"
            raise RecordingError(words) from None
        self._thread = Thread(target=self._work, name="recording", daemon=True)
        self._thread.start()

    def take(
        self, target: str, outcome: Reply | ApiError, took: float, ahead: float | None
    ) -> None:
        """Note what has just come to a question; for any thread."""
        pieces = list[bytes]()
        about = self._clock(), self._redact(target), took, ahead
        if isinstance(outcome, ApiError):
            words = self._redact(str(outcome))
            answer = Recorded(*about, failure=(type(outcome).__name__, str(outcome.sent), words))
        else:
            told = outcome.headers.items()
            headers = {name: self._redact(value) for name, value in told if name in _HEADERS}
            answer, pieces = Recorded(*about, outcome.status, headers), outcome.pieces
        size = sum(map(len, pieces))
        is_too_much = self._taken - self._noted + size > MOST_WAITING
        self._taken += 0 if is_too_much else size
        self._came.put((answer, None if is_too_much else pieces))

    def close(self, seconds: float = 2.0) -> None:
        """Write what came by now, in so many seconds at most."""
        self._came.put(None)
        self._thread.join(seconds)

    def _work(self) -> None:
        while (came := self._came.get()) is not None:
            self._noted += sum(map(len, came[1] or ()))
            try:
                self._note(*came)
            except Exception as error:  # no answer may end the recording of those that follow
                words = getattr(error, "strerror", None) or type(error).__name__
                self.trouble = plain(f"answers are not recorded: {safe(words, 80)}")
                self._failed = came[0].at
            if came[0].at > self._failed + _CALM:
                self.trouble = None
        if self._handle >= 0:
            os.close(self._handle)

    def _note(self, answer: Recorded, pieces: list[bytes] | None) -> None:
        if pieces is None:
            # What comes next is not like the last that was written.
            self._kept.pop(answer.target, None)
            raise OSError(0, "the disk is slower than the platform")
        if self._handle < 0 or self._size > self._most // 2:
            self._rotate()
        body = b"".join(pieces)
        if self._alter is not None:
            answer, body = self._alter(answer, body)
        if answer.failure is not None:
            self._append(block(answer))
            return
        kept = self._kept.pop(answer.target, None)
        if answer.status != 304:
            new = _Kept(answer.status, answer.headers, zlib.compress(body, 3))
            if kept is None or replace(kept, is_there=False) != new:
                kept = new
        if kept is None:
            return
        self._kept[answer.target] = kept  # the one asked for last stands last
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        if kept.is_there:
            self._append(block(replace(answer, status=304, headers={})))
        else:
            whole = replace(answer, status=kept.status, headers=kept.headers)
            self._append(block(whole, kept.packed))
            kept.is_there = True

    def _rotate(self) -> None:
        """Begin anew; each question's next answer is written whole."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
            self.path.replace(self._older)
        self._begin()
        for kept in self._kept.values():
            kept.is_there = False

    def _begin(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._handle, self._size = os.open(self.path, flags, 0o600), 0

    def _append(self, data: bytes) -> None:
        rest = memoryview(data if self._size else block(self._about) + data)
        size = self._size + len(rest)
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError:
            # What is behind half a block would not be found again.
            os.ftruncate(self._handle, self._size)
            os.lseek(self._handle, self._size, os.SEEK_SET)
            raise
        self._size = size


class Recording:
    """What lies in a recording, with the part of it that is in FILE.1."""

    def __init__(self, path: Path) -> None:
        """Reads all heads and no body. Raises RecordingError."""
        older, shown = path.with_name(f"{path.name}.1"), safe(str(path), 200)
        self.times = list[float]()
        self._ahead = list[float | None]()  # beside the times
        self._by_target = dict[str, list[Located]]()
        try:
            about, before = _about(path), _about(older) if older.is_file() else None
            if about is None:
                raise RecordingError(f"{shown} is no recording, or one of another version")
            self.about = about
            self._files = [older, path] if before == about else [path]
            for number, file in enumerate(self._files):
                for head, offset, length in islice(_blocks(file), 1, None):
                    self._add(Located(_decoded(head), number, offset, length))
        except (OSError, msgspec.DecodeError) as error:
            words = getattr(error, "strerror", None) or "another version has written it"
            raise RecordingError(f"{shown} can't be read: {words}") from None
        if not self.times:
            raise RecordingError(f"no answer is in {shown}")
        self.begins, self.ends = self.times[0], self.times[-1]

    def _add(self, found: Located) -> None:
        answer, told = found.answer, found.answer.at + (found.answer.ahead or 0.0)
        if not (0 < answer.at < _LATEST and 0 < told < _LATEST and 0 <= answer.took < _LATEST):
            return
        # The clock that recorded may have been set back.
        answer = replace(answer, at=max(answer.at, *self.times[-1:], 0.0))
        if answer.status == 304:
            last, _ = self.last(answer.target, answer.at)
            if last is None:
                return
            answer = replace(answer, status=last.answer.status, headers=last.answer.headers)
            found = last
        self._by_target.setdefault(answer.target, []).append(found._replace(answer=answer))
        self.times.append(answer.at)
        self._ahead.append(answer.ahead)

    def __contains__(self, target: str) -> bool:
        return target in self._by_target

    def ahead(self, at: float) -> float | None:
        """Seconds that the platform's clock was ahead of the machine's then; None if not known."""
        return self._ahead[max(0, bisect_right(self.times, at) - 1)]

    def next_after(self, at: float) -> float | None:
        """When the next answer came."""
        place = bisect_right(self.times, at)
        return self.times[place] if place < len(self.times) else None

    def last(self, target: str, at: float) -> tuple[Located | None, FailedWith | None]:
        """The last answer to a question by then, and how the last since failed, if any did."""
        found, failed = self._by_target.get(target, []), None
        for place in range(bisect_right(found, at, key=lambda each: each.answer.at) - 1, -1, -1):
            failure = found[place].answer.failure
            if failure is None:
                return found[place], failed
            failed = failed or failure
        return None, failed

    def body(self, found: Located) -> bytes:
        """Raises OSError, and zlib.error or ValueError for one that is damaged or too long."""
        with self._files[found.file].open("rb") as file:
            file.seek(found.offset)
            packed = zlib.decompressobj()
            body = packed.decompress(file.read(found.length), LONGEST_BODY)
        if not packed.eof:
            raise ValueError
        return body


_decoded: Final = msgspec.msgpack.Decoder(Recorded).decode


def _about(path: Path) -> About | None:
    try:
        return msgspec.msgpack.decode(next(_blocks(path))[0], type=About)
    except (msgspec.DecodeError, StopIteration):
        return None


def _blocks(path: Path) -> Iterator[tuple[bytes, int, int]]:
    """The head of each block, the place of its body and the length of that, up to the first block
    that is not whole.
    """
    with path.open("rb", buffering=1 << 20) as file:
        end, at = os.fstat(file.fileno()).st_size, 0
        while len(lengths := file.read(_LENGTHS.size)) == _LENGTHS.size:
            size, length, checksum = _LENGTHS.unpack(lengths)
            at += _LENGTHS.size + size
            if at + length > end:
                return
            head = file.read(size)
            if zlib.crc32(head) != checksum:
                return
            yield head, at, length
            at += length
            file.seek(at)
