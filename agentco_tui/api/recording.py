"""Reads a recording (see `recorder`): the last answer to a request at a given time, and its body.

A recording has the answers of the platform, the remote service, so that a session can be replayed.
Its newest part is in FILE, the part before in FILE.1. A *target* is a request's method, path and
query: "GET /api/tasks?status=pending".
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from agentco_tui.api.recording_format import (
    About,
    FailedWith,
    Recorded,
    RecordingError,
    read_blocks,
)
from agentco_tui.text import clean_line

LONGEST_BODY: Final = 64 * 1024 * 1024
"""Bytes of an unpacked body."""
_LATEST: Final = 1e11
"""Seconds since 1970: a later time is in no calendar, and its answer is ignored."""

Replay: TypeAlias = Callable[[str, str | None], Awaitable[tuple[Recorded, bytes]]]
"""Returns the recorded answer to a target and its body. The second argument is the ETag of the
answer that the caller has, if any. Raises ApiError."""

_decode_recorded: Final = msgspec.msgpack.Decoder(Recorded).decode


class Located(NamedTuple):
    """An answer in a recording, and where its body is."""

    answer: Recorded
    file: int = 0
    """Index of the file."""
    offset: int = 0
    length: int = 0
    """Bytes of the compressed body."""

    @property
    def etag(self) -> str:
        """Equal for answers with the same body."""
        return f'"{self.file}-{self.offset}"'


class Recording:
    """The answers in a recording, those in FILE.1 included."""

    def __init__(self, path: Path) -> None:
        """Read the heads of all answers, and no body. Raises RecordingError."""
        shown_path = clean_line(str(path), 200)
        self.times: list[float] = []
        """When each answer came, in order: seconds since 1970."""
        self._clock_skews: list[float | None] = []
        """One for each of the times."""
        self._by_target: dict[str, list[Located]] = {}
        """The answers to each target, in order of time."""
        self._files: list[Path] = []
        try:
            about = _read_about(path)
            if about is None:
                raise RecordingError(f"{shown_path} is no recording, or one of another version")
            self.about = about
            older = path.with_name(f"{path.name}.1")
            if older.is_file() and _read_about(older) == about:
                self._files.append(older)
            self._files.append(path)
            for index, file in enumerate(self._files):
                self._add_file(index, file)
        except (OSError, msgspec.DecodeError) as error:
            reason = getattr(error, "strerror", None) or "another version has written it"
            raise RecordingError(f"{shown_path} can't be read: {reason}") from None
        if not self.times:
            raise RecordingError(f"no answer is in {shown_path}")
        self.begins = self.times[0]
        self.ends = self.times[-1]

    def _add_file(self, index: int, file: Path) -> None:
        answers = islice(read_blocks(file), 1, None)  # the first block is the About
        for block in answers:
            answer = _decode_recorded(block.head)
            self._add(Located(answer, index, block.body_offset, block.body_length))

    def _add(self, located: Located) -> None:
        answer = located.answer
        platform_time = answer.at + (answer.ahead or 0.0)
        has_valid_times = 0 < answer.at < _LATEST and 0 < platform_time < _LATEST
        if not has_valid_times or not 0 <= answer.took < _LATEST:
            return
        if self.times and answer.at < self.times[-1]:
            # The clock of the recording machine was set back.
            answer = replace(answer, at=self.times[-1])
        if answer.status == 304:
            last, _ = self.last(answer.target, answer.at)
            if last is None:
                return
            answer = replace(answer, status=last.answer.status, headers=last.answer.headers)
            located = last
        self._by_target.setdefault(answer.target, []).append(located._replace(answer=answer))
        self.times.append(answer.at)
        self._clock_skews.append(answer.ahead)

    def __contains__(self, target: str) -> bool:
        return target in self._by_target

    def ahead(self, at: float) -> float | None:
        """Seconds by which the platform's clock was ahead at a time; None if not known."""
        index = bisect_right(self.times, at) - 1
        return self._clock_skews[max(0, index)]

    def next_after(self, at: float) -> float | None:
        """When the next answer after a time came; None if there is none."""
        index = bisect_right(self.times, at)
        return self.times[index] if index < len(self.times) else None

    def last(self, target: str, at: float) -> tuple[Located | None, FailedWith | None]:
        """The last answer to a target at a time, and the newest failure since, if there was one."""
        answers = self._by_target.get(target, [])
        count = bisect_right(answers, at, key=lambda located: located.answer.at)
        newest_failure: FailedWith | None = None
        for index in range(count - 1, -1, -1):
            failure = answers[index].answer.failure
            if failure is None:
                return answers[index], newest_failure
            if newest_failure is None:
                newest_failure = failure
        return None, newest_failure

    def body(self, located: Located) -> bytes:
        """The unpacked body of an answer.

        Raises OSError, and zlib.error or ValueError for a body that is damaged or too long.
        """
        with self._files[located.file].open("rb") as file:
            file.seek(located.offset)
            packed = file.read(located.length)
        decompressor = zlib.decompressobj()
        body = decompressor.decompress(packed, LONGEST_BODY)
        if not decompressor.eof:
            raise ValueError
        return body


def _read_about(path: Path) -> About | None:
    """The `About` at the beginning of a file; None if it is no recording. Raises OSError."""
    first = next(read_blocks(path), None)
    if first is None:
        return None
    try:
        return msgspec.msgpack.decode(first.head, type=About)
    except msgspec.DecodeError:
        return None
