"""What was done from this machine and what became of it, written before it is done (law 2).

One file for all dashboards of a person on a machine. The journal is also what keeps two of them
from sending the same thing: under its lock, an attempt is written only if no other at the same
thing is open, and none came between the read that the decision rests on and now.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from agentco_tui.actions.journal_entries import Attempt, Entry, Settled, from_line, lines, to_line
from agentco_tui.actions.journal_file import JournalError, JournalFile
from agentco_tui.actions.writers import WriterLock, is_alive, remove_dead
from agentco_tui.text import SafeText, plain, safe

__all__ = [
    "Attempt",
    "Earlier",
    "InFlight",
    "Journal",
    "JournalError",
    "Mark",
    "Overtaken",
    "Settled",
    "Unsettled",
]

REMEMBERED = 4_096
"""Subjects whose last attempt is kept in memory."""

Key = tuple[str, str, str]
"""Origin, verb and subject."""


class InFlight(Exception):  # noqa: N818 (no error: somebody else was first)
    """The same thing is being done right now, by another process or by this one."""

    def __init__(self, attempt: Attempt, *, here: bool) -> None:
        words = "this dashboard" if here else "another dashboard on this machine"
        self.sentence: SafeText = plain(f"{words} is doing this right now: {safe(attempt.verb)}")
        if attempt.verb == "approve":
            self.sentence = plain(f"{words} is approving this task right now")
        super().__init__(self.sentence)
        self.attempt = attempt


class Unsettled(Exception):  # noqa: N818
    """An earlier attempt at the same thing was left behind, and nobody knows what became of it."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(attempt.attempt)
        self.attempt = attempt


class Overtaken(Exception):  # noqa: N818
    """Something was done to the subject after the read: read again."""


class Mark(msgspec.Struct, frozen=True):
    """A place in the journal, to be taken before the read that a decision rests on."""

    file: tuple[int, int] | None
    offset: int


class Earlier(msgspec.Struct, frozen=True):
    """The last attempt at a subject, and what became of it as far as is known."""

    attempt: Attempt
    settled: Settled | None
    offset: int
    """Where its last line begins."""


def key_of(attempt: Attempt) -> Key:
    """What an attempt acts on."""
    return (attempt.origin, attempt.verb, attempt.subject)


class Journal:
    """The journal at a path. Its methods may be called in any thread; `mark`, `begin`, `finish`,
    `open_attempts`, `tidy` and `close` wait for the disk, and for other processes' locks.

    Nothing is made before the first attempt is written. `redact` takes the key out of a text, in
    case the platform sends it back in one. `close` at the end.
    """

    def __init__(self, path: Path, redact: Callable[[str], str] = str) -> None:
        self.path = path
        self._redact = redact
        self._file = JournalFile(path)
        self._writers = path.parent / "writers"
        self._alive = WriterLock(self._writers)
        self._mutex = threading.RLock()
        self._identity: tuple[int, int] | None = None
        self._offset = 0
        self._open: dict[str, Attempt] = {}
        self._last: OrderedDict[Key, Earlier] = OrderedDict()
        self._forgotten = -1
        """Lines of subjects that are not in `_last` any more lie at this offset or before it."""
        self._driven: set[str] = set()
        """Attempts that this process is working on."""
        self._closed = False
        self._owed: dict[str, Settled] = {}
        """Outcomes that could not be written yet."""

    def mark(self) -> Mark:
        """Where the journal ends now. Raises JournalError."""
        try:
            told = self.path.stat()
        except FileNotFoundError:
            return Mark(None, 0)
        except OSError as error:
            raise JournalError(
                plain(f"the journal can't be looked at ({safe(error.strerror)}): nothing is sent")
            ) from error
        return Mark((told.st_dev, told.st_ino), told.st_size)

    def begin(self, attempt: Attempt, since: Mark) -> Attempt:
        """Write an attempt before it is sent; returns it as written.

        `since` is the mark taken before the read that the decision rests on. Raises InFlight,
        Unsettled and Overtaken, each if the attempt must not be sent, and JournalError. Only if
        this returns may anything be sent.
        """
        with self._mutex:
            if self._closed:
                raise JournalError(plain("the journal is closed here: nothing is sent any more"))
            self._read_new(torn=False)
            with self._file.locked():
                self._read_new(torn=True)
                self._check(key_of(attempt), since)
                self._pay()
                signed = msgspec.structs.replace(
                    attempt, pid=os.getpid(), writer=self._sign_of_life()
                )
                self._append(signed)
                self._driven.add(signed.attempt)
        return signed

    def finish(self, settled: Settled) -> None:
        """Write what became of an attempt. Raises JournalError, and then tries again later.

        An attempt whose outcome never gets written is taken up by reading at the next start.
        """
        with self._mutex:
            self._driven.discard(settled.attempt)
            self._owed[settled.attempt] = msgspec.structs.replace(settled, pid=os.getpid())
            with self._file.locked():
                self._read_new(torn=True)
                self._pay()

    def let_go(self, attempt_id: str) -> None:
        """Say that work on an attempt stops here without its outcome being known."""
        self._driven.discard(attempt_id)  # one step, so it need not wait for the disk

    def adopt(self, attempt_id: str) -> None:
        """Say that this process finds out what became of an attempt that was left behind."""
        self._driven.add(attempt_id)

    def open_attempts(self, origin: str, profile: str | None = None) -> list[Attempt]:
        """Attempts left behind: no outcome, and nobody alive who works on them.

        Raises JournalError.
        """
        with self._mutex:
            self._read_new(torn=False)
            return [
                attempt
                for attempt in self._open.values()
                if attempt.origin == origin
                and profile in (None, attempt.profile)
                and attempt.attempt not in self._owed
                and not self._worked_on(attempt)
            ]

    def earlier(self, origin: str, verb: str, subject: str) -> Earlier | None:
        """The last attempt at a subject, among the last few thousand subjects.

        From memory, so it never blocks: as of the last attempt that was written here.
        """
        return self._last.get((origin, verb, subject))

    def tidy(self) -> None:
        """Remove what killed processes left; at a start. Raises JournalError."""
        try:
            remove_dead(self._writers)
        except OSError as error:
            raise JournalError(
                plain(f"the state folder can't be read ({safe(error.strerror)})")
            ) from error

    def close(self) -> None:
        """Stop being a live writer: what is still open is for the next start."""
        with self._mutex:
            self._closed = True
            self._alive.release()

    # --- the lines --------------------------------------------------------------------------

    def _append(self, entry: Entry) -> None:
        """Write a line and know it; the lock is held."""
        self._file.append(to_line(entry, self._redact))
        self._read_new(torn=True)

    def _pay(self) -> None:
        """Write the outcomes that are owed; the lock is held."""
        for attempt_id, settled in list(self._owed.items()):
            self._append(settled)
            del self._owed[attempt_id]

    def _read_new(self, *, torn: bool) -> None:
        """Read what was added. `torn` with the lock held: an unfinished last line is a dead one."""
        with self._file.reading() as fd:
            if fd is None:
                self._start_over(None)
                return
            told = os.fstat(fd)
            identity = (told.st_dev, told.st_ino)
            if identity != self._identity or told.st_size < self._offset:
                self._start_over(identity)
            if told.st_size == self._offset:
                return
            with os.fdopen(os.dup(fd), "rb") as file:
                for offset, line in lines(file, self._offset):
                    if not line.endswith(b"\n") and line and not torn:
                        break
                    self._take(offset, line)
                    self._offset = file.tell()

    def _start_over(self, identity: tuple[int, int] | None) -> None:
        """Another file is at the path, or none."""
        self._identity = identity
        self._offset = 0
        self._open.clear()
        self._last.clear()
        self._forgotten = -1

    def _take(self, offset: int, line: bytes) -> None:
        entry = from_line(line) if line else None
        if isinstance(entry, Attempt):
            self._open[entry.attempt] = entry
            self._remember(Earlier(entry, None, offset))
        elif isinstance(entry, Settled):
            attempt = self._open.pop(entry.attempt, None)
            if attempt is not None:
                self._remember(Earlier(attempt, entry, offset))

    def _remember(self, earlier: Earlier) -> None:
        key = key_of(earlier.attempt)
        self._last[key] = earlier
        self._last.move_to_end(key)
        if len(self._last) > REMEMBERED:
            _, oldest = self._last.popitem(last=False)
            self._forgotten = max(self._forgotten, oldest.offset)

    # --- who may send -----------------------------------------------------------------------

    def _check(self, key: Key, since: Mark) -> None:
        left_behind: list[Attempt] = []
        for attempt in self._of(key):
            if attempt.attempt in self._owed:
                continue
            if self._worked_on(attempt):
                raise InFlight(attempt, here=attempt.attempt in self._driven)
            left_behind.append(attempt)
        if left_behind:
            raise Unsettled(left_behind[0])
        if since.file not in (None, self._identity):
            raise Overtaken
        last = self._last.get(key)
        if max(self._forgotten if last is None else last.offset, -1) >= since.offset:
            raise Overtaken

    def _of(self, key: Key) -> Iterable[Attempt]:
        return [attempt for attempt in self._open.values() if key_of(attempt) == key]

    def _worked_on(self, attempt: Attempt) -> bool:
        if attempt.attempt in self._driven:
            return True
        if attempt.writer and attempt.writer == self._alive.token:
            return False
        try:
            return is_alive(self._writers, attempt.writer)
        except OSError:
            # It can't be told, so nothing is sent on the strength of it.
            return True

    def _sign_of_life(self) -> str:
        try:
            return self._alive.hold()
        except OSError as error:
            raise JournalError(
                plain(
                    f"the state folder can't be written ({safe(error.strerror)}): "
                    "nothing is sent without the journal"
                )
            ) from error
