"""Writes a recording: every answer of a platform with its time, in a file of limited size.

The platform is the remote service that the dashboard shows. `agentco-tui --record FILE` makes one,
`agentco-tui replay FILE` shows it. `recording_format` describes the file: an `About`, then a
`Recorded` for each answer. A *target* is a request's method, path and query. An answer that is the
same as the last one to its target is written without body.
"""

from __future__ import annotations

import os
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from math import inf
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from agentco_tui.api.errors import ApiError
from agentco_tui.api.pagination import PAGING_HEADERS
from agentco_tui.api.recording_format import About, Recorded, RecordingError, encode_block
from agentco_tui.text import SafeText, clean_line, mark_safe

if TYPE_CHECKING:
    from agentco_tui.api.reply import Reply

LARGEST_RECORDING: Final = 256 * 1024 * 1024
"""Bytes of a recording, in two files: at half of it FILE becomes FILE.1, and a new FILE begins."""
MOST_QUEUED: Final = 96 * 1024 * 1024
"""Bytes of bodies that may wait for a slow disk."""
MOST_REMEMBERED: Final = 500
"""Targets of which the last answer is remembered, so that an equal one is written without body."""
_RECOVERY: Final = 30.0
"""Seconds without a failure after which the disk is considered to work again."""
_COMPRESSION: Final = 3
"""The level of zlib, from 1 (fast) to 9 (small)."""
_RECORDED_HEADERS: Final = frozenset(("content-type", *PAGING_HEADERS))
"""The headers needed to read a body. No other header is written."""

Alter: TypeAlias = Callable[[Recorded, bytes], tuple[Recorded, bytes]]
"""Returns what is written in place of an answer and its body."""


class _LastAnswer(msgspec.Struct):
    """The last answer to a target that did not fail."""

    status: int
    headers: dict[str, str]
    packed_body: bytes
    is_written: bool = False
    """Whether it is in the file that is being written."""

    def is_equal(self, other: _LastAnswer) -> bool:
        """Whether status, headers and body are equal."""
        return (self.status, self.headers, self.packed_body) == (
            other.status,
            other.headers,
            other.packed_body,
        )


class Recorder:
    """Writes a recording in its own thread; `record` only puts an answer into a queue."""

    def __init__(
        self,
        path: Path,
        about: About,
        redact: Callable[[str], str],
        *,
        clock: Callable[[], float] = time.time,
        alter: Alter | None = None,
        most: int = LARGEST_RECORDING,
    ) -> None:
        """`redact` removes API keys from a text; `alter` may replace what is private in an answer.

        `most` is in bytes.

        Raises RecordingError, also if the file exists: nothing is ever overwritten.
        """
        self.path = path
        self.trouble: SafeText | None = None
        """Why nothing is being written, as a sentence for the user; None if all is well."""
        self._about = about
        self._redact = redact
        self._clock = clock
        self._alter = alter
        self._most = most
        self._older = path.with_name(f"{path.name}.1")
        self._remembered: OrderedDict[str, _LastAnswer] = OrderedDict()
        """By target; the one that was requested last is at the end."""
        self._queue: SimpleQueue[tuple[Recorded, list[bytes] | None] | None] = SimpleQueue()
        """Answers with the pieces of their bodies; None for a body that was dropped because the
        disk is too slow. None in place of an answer ends the thread."""
        # Bytes put into the queue, and taken out of it. Each is changed by one thread only.
        self._queued_bytes = 0
        self._unqueued_bytes = 0
        self._handle = -1
        """The descriptor of the open file, or -1."""
        self._size = 0
        self._failed_at = -inf
        if os.path.lexists(path) or os.path.lexists(self._older):
            sentence = f"{clean_line(str(path), 200)} or its .1 exists already: name another file"
            raise RecordingError(sentence)
        try:
            self._open_file()
        except OSError as error:
            sentence = f"{clean_line(str(path), 200)} can't be written: {error.strerror}"
            raise RecordingError(sentence) from None
        self._thread = Thread(target=self._write_queued, name="recording", daemon=True)
        self._thread.start()

    def record(
        self, target: str, outcome: Reply | ApiError, seconds: float, clock_skew: float | None
    ) -> None:
        """Queue the answer to a request, or the error; may be called from any thread.

        `seconds` is how long it took; `clock_skew` is by how many seconds the platform's clock is
        ahead.
        """
        pieces: list[bytes] = []
        answer = Recorded(self._clock(), self._redact(target), seconds, clock_skew)
        if isinstance(outcome, ApiError):
            sentence = self._redact(str(outcome))
            failure = (type(outcome).__name__, str(outcome.sent), sentence)
            answer = replace(answer, failure=failure)
        else:
            headers = {
                name: self._redact(value)
                for name, value in outcome.headers.items()
                if name in _RECORDED_HEADERS
            }
            answer = replace(answer, status=outcome.status, headers=headers)
            pieces = outcome.pieces
        size = sum(map(len, pieces))
        waiting = self._queued_bytes - self._unqueued_bytes
        if waiting + size > MOST_QUEUED:
            self._queue.put((answer, None))
        else:
            self._queued_bytes += size
            self._queue.put((answer, pieces))

    def close(self, seconds: float = 2.0) -> None:
        """Write all queued answers, within so many seconds, and stop."""
        self._queue.put(None)
        self._thread.join(seconds)

    # ---- the writing thread

    def _write_queued(self) -> None:
        while (queued := self._queue.get()) is not None:
            answer, pieces = queued
            self._unqueued_bytes += sum(map(len, pieces or ()))
            try:
                self._write_answer(answer, pieces)
            except Exception as error:  # no answer may end the recording of those that follow
                reason = getattr(error, "strerror", None) or type(error).__name__
                self.trouble = mark_safe(f"answers are not recorded: {clean_line(reason, 80)}")
                self._failed_at = answer.at
            if answer.at > self._failed_at + _RECOVERY:
                self.trouble = None
        if self._handle >= 0:
            os.close(self._handle)

    def _write_answer(self, answer: Recorded, pieces: list[bytes] | None) -> None:
        """Write an answer; `pieces` are None for a body that was dropped. Raises OSError."""
        if pieces is None:
            # Whatever comes next must not be compared with an answer before the missing one.
            self._remembered.pop(answer.target, None)
            raise OSError(0, "the disk is slower than the platform")
        if self._handle < 0 or self._size > self._most // 2:
            self._rotate()
        body = b"".join(pieces)
        if self._alter is not None:
            answer, body = self._alter(answer, body)
        if answer.failure is not None:
            self._append(encode_block(answer))
            return
        last = self._remembered.pop(answer.target, None)
        if answer.status != 304:
            new = _LastAnswer(answer.status, answer.headers, zlib.compress(body, _COMPRESSION))
            if last is None or not last.is_equal(new):
                last = new
        if last is None:
            # Unchanged since an answer that was not recorded.
            return
        self._remember(answer.target, last)
        if last.is_written:
            self._append(encode_block(replace(answer, status=304, headers={})))
        else:
            whole = replace(answer, status=last.status, headers=last.headers)
            self._append(encode_block(whole, last.packed_body))
            last.is_written = True

    def _remember(self, target: str, answer: _LastAnswer) -> None:
        self._remembered[target] = answer
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered.popitem(last=False)

    def _rotate(self) -> None:
        """Begin a new file, in which the next answer to each target is written in full."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
            self.path.replace(self._older)
        self._open_file()
        for answer in self._remembered.values():
            answer.is_written = False

    def _open_file(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._handle = os.open(self.path, flags, 0o600)
        self._size = 0

    def _append(self, data: bytes) -> None:
        if self._size == 0:
            data = encode_block(self._about) + data
        rest = memoryview(data)
        try:
            while rest:
                written = os.write(self._handle, rest)
                rest = rest[written:]
        except OSError:
            # A block that is cut off would hide all that follow it.
            os.ftruncate(self._handle, self._size)
            os.lseek(self._handle, self._size, os.SEEK_SET)
            raise
        self._size += len(data)
