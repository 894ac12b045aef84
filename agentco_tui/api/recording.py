"""A recording: every answer of a platform with its time, in one file that is written and read here.

Behind the first line come blocks, each whole by itself: the lengths of a head and a body, the
head's checksum, the head (msgpack) and the body (zlib). The first head says what was recorded,
every other is a `Recorded`; one that says what the last to the same question said has no body. A
file that ends in the middle of a block, as after a kill, is whole up to that block.
"""

from __future__ import annotations

import os
import struct
import time
import zlib
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from math import inf
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from agentco_tui.api.errors import ApiError
from agentco_tui.api.pagination import PAGING_HEADERS
from agentco_tui.text import SafeText, plain, safe

MAGIC: Final = b"agentco-tui recording 1\n"
MOST: Final = 256 * 1024 * 1024
"""Bytes of a recording, in two files: at half of it FILE becomes FILE.1, and FILE begins anew."""
LONGEST_BODY: Final = 64 * 1024 * 1024
_MOST_WAITING: Final = 96 * 1024 * 1024  # bytes of bodies that wait for a slow disk
_LENGTHS: Final = struct.Struct("<III")
_LONGEST_HEAD: Final = 1 << 20
_MOST_KEPT: Final = 500  # questions of which the last answer is remembered while recording
_CALM: Final = 30.0  # seconds without a failure after which the disk is believed to be well
_LATEST: Final = 1e11  # seconds since 1970, that any calendar has
_ABOUT_A_HEAD: Final = 500  # bytes
_HEADERS: Final = frozenset(
    ("date", "age", "etag", "content-type", "link", "retry-after", *PAGING_HEADERS)
)
"""Those that the reading needs; besides them those of rate limits. No other header is kept."""
_RATE: Final = ("ratelimit", "x-ratelimit", "x-rate-limit")
_PASSING: Final = ("date", "age", *_RATE)
"""Headers that differ from answer to answer without saying anything else."""


class RecordingError(Exception):
    """A file that can't be written or is no recording; `str()` is a sentence for a person."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What was recorded, and what reading it the same way needs."""

    program: str  # the version that wrote it
    run: str  # a random word, by which FILE and FILE.1 know each other
    base_url: str
    profile: str
    company: str | None = None  # that everything was asked of
    refresh: float = 5.0  # seconds
    mapping: dict[str, Any] = {}  # `ProfileMapping.told`


class Recorded(msgspec.Struct, frozen=True, array_like=True):
    """What came to one question, without the body."""

    at: float  # seconds since 1970 by the machine's clock, when all of it was there
    target: str  # method, path and query: "GET /api/tasks?status=pending"
    took: float  # seconds
    ahead: float | None = None  # seconds that the platform's clock was ahead, as far as measured
    status: int = 0  # 0 where none came, or what came was not whole: then `error` says why
    headers: dict[str, str] = {}
    error: tuple[str, str, str] | None = None
    """The class of the ApiError, what it says about `sent`, and its sentence."""
    same: bool = False  # but for time and duration the last good one to the same question

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300


class Tape(msgspec.Struct):
    """What has come of one answer; its bodies are without keys already."""

    status: int = 0
    headers: dict[str, str] = {}
    body: list[bytes] = []

    def answer(
        self, target: str, took: float, ahead: float | None, failure: ApiError | None
    ) -> tuple[Recorded, list[bytes]]:
        """As a recorder takes it. A status that refuses is an answer, its error is made of it."""
        if failure is not None and not 300 <= self.status < 600:
            error = type(failure).__name__, str(failure.sent), failure.sentence
            return Recorded(0.0, target, took, ahead, error=error), []
        return Recorded(0.0, target, took, ahead, self.status, self.headers), self.body


class Located(NamedTuple):
    """An answer in a recording, and where its body lies."""

    at: float
    took: float
    answer: Recorded  # of one that was the same as an earlier: that
    file: int
    offset: int
    length: int  # of the body as packed

    @property
    def etag(self) -> str:
        return f'"{self.file}-{self.offset}"'


class _Kept(msgspec.Struct):
    """The last good answer to a question, for what comes after it and for the next file."""

    answer: Recorded
    digest: bytes
    packed: bytes
    written: bool = False


def _block(head: msgspec.Struct, packed: bytes) -> bytes:
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
        self._came: SimpleQueue[tuple[Recorded, list[bytes]] | None] = SimpleQueue()
        self._waiting, self._lock = 0, Lock()
        self._handle, self._size, self._last, self._failed = -1, 0, 0.0, -inf
        if os.path.lexists(path) or os.path.lexists(self._older):
            words = f"{safe(str(path), 200)} or its .1 is there already: name another file"
            raise RecordingError(words)
        try:
            self._open()
        except OSError as error:
            words = f"{safe(str(path), 200)} can't be written: {error.strerror}"
            raise RecordingError(words) from None
        self._thread = Thread(target=self._work, name="recording", daemon=True)
        self._thread.start()

    def tape(self) -> Tape:
        """For one answer that is asked for now."""
        return Tape()

    def take(self, answer: Recorded, body: list[bytes]) -> None:
        """Note an answer that is complete now; for any thread. `at` is filled in here."""
        size = sum(map(len, body))
        with self._lock:
            if self._waiting + size > _MOST_WAITING:
                answer, body, size = replace(answer, status=0, error=None), [], 0
            self._waiting += size
        self._came.put((replace(answer, at=self._clock()), body))

    def close(self, seconds: float = 2.0) -> None:
        """Write what came by now, in so many seconds at most."""
        self._came.put(None)
        self._thread.join(seconds)

    def _work(self) -> None:
        while (came := self._came.get()) is not None:
            answer, body = came[0], b"".join(came[1])
            with self._lock:
                self._waiting -= len(body)
            try:
                self._note(answer, body)
            except Exception as error:  # no answer may end the recording of those that follow
                words = getattr(error, "strerror", None) or type(error).__name__
                self.trouble = plain(f"answers are not recorded: {safe(words, 80)}")
                self._failed = answer.at
            if answer.at > self._failed + _CALM:
                self.trouble = None
        if self._handle >= 0:
            os.close(self._handle)

    def _note(self, answer: Recorded, body: bytes) -> None:
        at = self._last = max(self._last, answer.at)
        target, kept = answer.target, self._kept.get(answer.target)
        if answer.status == 304:
            if kept is None:
                return
        elif answer.status == 0 and answer.error is None:
            # What comes next is not like the last that was written.
            self._kept.pop(target, None)
            raise OSError(0, "the disk is slower than the platform")
        else:
            answer = self._clean(answer)
            if self._alter is not None:
                answer, body = self._alter(answer, body)
            telling = [each for each in answer.headers.items() if not each[0].startswith(_PASSING)]
            told = repr((answer.status, answer.error, telling)).encode()
            digest = blake2b(told + body, digest_size=16).digest()
            if kept is None or kept.digest != digest:
                kept = _Kept(answer, digest, zlib.compress(body, 3) if body else b"")
            if answer.good:
                # What fails stays apart: a 304 means the last that didn't.
                self._kept.pop(target, None)  # the one asked for last stands last
                self._kept[target] = kept
                if len(self._kept) > _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
        took, ahead = answer.took, answer.ahead
        if kept.written:
            self._append(_block(Recorded(at, kept.answer.target, took, ahead, same=True), b""))
            return
        kept.answer = replace(kept.answer, at=at, took=took, ahead=ahead)
        self._append(_block(kept.answer, kept.packed))
        kept.written = True
        if self._size > self._most // 2:
            self._rotate(at)

    def _clean(self, answer: Recorded) -> Recorded:
        """Without keys, and only with the headers that are kept; bodies come clean."""
        headers = {
            name: self._redact(told)
            for name, told in answer.headers.items()
            if name in _HEADERS or name.startswith(_RATE)
        }
        error = answer.error and (*answer.error[:2], self._redact(answer.error[2]))
        target = self._redact(answer.target)
        return replace(answer, target=target, headers=headers, error=error)

    def _rotate(self, at: float) -> None:
        """Begin anew, with the last answer to each question that was asked lately."""
        os.close(self._handle)
        self._handle = -1
        self.path.replace(self._older)
        room = self._most // 8
        for target, kept in reversed([*self._kept.items()]):
            room -= len(kept.packed) + _ABOUT_A_HEAD
            kept.written = False
            if room < 0:
                del self._kept[target]
        for kept in self._kept.values():
            kept.answer = replace(kept.answer, at=at)
            self._append(_block(kept.answer, kept.packed))
            kept.written = True

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._handle, self._size = os.open(self.path, flags, 0o600), 0

    def _append(self, block: bytes) -> None:
        if self._handle < 0:
            self._open()
        rest = memoryview(block if self._size else MAGIC + _block(self._about, b"") + block)
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
        self.changes = list[float]()  # the times of those that say something new
        self._ahead = list[float | None]()  # beside the times
        self._by_target = dict[str, tuple[list[float], list[Located]]]()
        try:
            about, before = _about(path), _about(older) if older.is_file() else None
            if about is None:
                raise RecordingError(f"{shown} is no recording")
            self.about = about
            self._files = [older, path] if before and before.run == about.run else [path]
            for number, file in enumerate(self._files):
                for head, offset, length in islice(_blocks(file), 1, None):
                    self._add(_decoded(head), number, offset, length)
        except OSError as error:
            raise RecordingError(f"{shown} can't be read: {error.strerror}") from None
        except msgspec.DecodeError:
            raise RecordingError(f"{shown} was written by another version") from None
        if not self.times:
            raise RecordingError(f"no answer is in {shown}")
        self.begins, self.ends = self.times[0], self.times[-1]

    def _add(self, answer: Recorded, file: int, offset: int, length: int) -> None:
        if not (0 < answer.at < _LATEST and 0 <= answer.took < _LATEST):
            return
        if answer.ahead is not None and not abs(answer.ahead) < answer.at < _LATEST - answer.ahead:
            answer = replace(answer, ahead=None)
        times, entries = self._by_target.setdefault(answer.target, ([], []))
        at, took = max(answer.at, self.times[-1]) if self.times else answer.at, answer.took
        if not answer.same:
            entries.append(Located(at, took, answer, file, offset, length))
            self.changes.append(at)
        elif (last := self.last(answer.target, at, good=True)) is not None:
            entries.append(Located(at, took, *last[2:]))
        else:
            return
        times.append(at)
        self.times.append(at)
        self._ahead.append(answer.ahead)

    def ahead(self, at: float) -> float | None:
        """Seconds that the platform's clock was ahead of the machine's then; None if not known."""
        return self._ahead[max(0, bisect_right(self.times, at) - 1)]

    def next_after(
        self, at: float, target: str | None = None, *, changed: bool = False
    ) -> float | None:
        """When the next answer came, to that question or to any; of all the next that `changed`."""
        times = self.changes if changed else self.times
        if target is not None:
            times = self._by_target.get(target, ([], []))[0]
        place = bisect_right(times, at)
        return times[place] if place < len(times) else None

    def last(self, target: str, at: float, *, good: bool = False) -> Located | None:
        """The last answer to a question by then; with `good` none that refused or failed."""
        times, entries = self._by_target.get(target, ([], []))
        for place in range(bisect_right(times, at) - 1, -1, -1):
            if not good or entries[place].answer.good:
                return entries[place]
        return None

    def body(self, entry: Located) -> bytes:
        """Raises OSError, and zlib.error or ValueError for one that is damaged or too long."""
        if not entry.length:
            return b""
        with self._files[entry.file].open("rb") as file:
            file.seek(entry.offset)
            packed = zlib.decompressobj()
            body = packed.decompress(file.read(entry.length), LONGEST_BODY)
        if not packed.eof:
            raise ValueError
        return body


_decoded: Final = msgspec.msgpack.Decoder(Recorded).decode


def _about(path: Path) -> About | None:
    with suppress(msgspec.DecodeError, StopIteration):
        return msgspec.msgpack.decode(next(_blocks(path))[0], type=About)
    return None


def _blocks(path: Path) -> Iterator[tuple[bytes, int, int]]:
    """The head of each block, the place of its body and the length of that, up to the first block
    that is not whole.
    """
    with path.open("rb", buffering=1 << 20) as file:
        end, at = os.fstat(file.fileno()).st_size, len(MAGIC)
        if file.read(at) != MAGIC:
            return
        while len(lengths := file.read(_LENGTHS.size)) == _LENGTHS.size:
            size, length, checksum = _LENGTHS.unpack(lengths)
            head, at = file.read(min(size, _LONGEST_HEAD)), at + _LENGTHS.size + size
            if len(head) < size or zlib.crc32(head) != checksum or at + length > end:
                return
            yield head, at, length
            if length:
                file.seek(length, os.SEEK_CUR)
                at += length
