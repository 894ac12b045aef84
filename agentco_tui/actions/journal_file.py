"""The journal's file: lines are appended whole, made durable, shared under a lock, and checked.

The journal notes each request that changes the platform (the remote service) before it is sent, and
its outcome; an `Entry` is one of its lines. `Journal` decides what is written; this module reads
and writes bytes. A lock file next to the journal keeps processes from writing at the same time. A
change by any other program is noticed: by which file is at the path, by its length, by its last
bytes, and by the running digest that each line ends with (`RunningDigest`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

from agentco_tui.actions.journal_digest import DIGEST_SIZE, RunningDigest
from agentco_tui.actions.journal_errors import (
    JournalBusyError,
    JournalDamagedError,
    JournalLostError,
    os_errors,
)
from agentco_tui.actions.journal_lines import LONGEST_LINE, Entry, from_line, read_lines
from agentco_tui.actions.writer_lock import is_same_file, try_lock
from agentco_tui.text import clean_line

LOCK_PATIENCE: Final = 3.0  # seconds to wait for another process that is writing a line
_LOCK_PAUSE: Final = 0.005  # seconds between two tries
_TAIL: Final = 512  # bytes before `read_to` that are compared at each use
_PIECE: Final = 1024 * 1024  # bytes that are read at once


class JournalFile:
    """One file, kept open from when it is first seen, so that no other file can take its inode.
    Each use compares the file at the path with it. Every method may raise JournalError.

    `follow_links` is False for a file that replaced another while that was open.
    """

    def __init__(self, path: Path, *, follow_links: bool = True) -> None:
        self.path = path
        self.lock_path = path.with_suffix(".lock")
        self._name = f"the journal {clean_line(str(path), 200)}"
        self.read_to = 0  # the offset up to which the file was read
        self._tail = (0, b"")  # the offset and content of the last bytes before that
        self._digest = RunningDigest()  # of all that was read
        self._fd: int | None = None
        self._link_flags = 0 if follow_links else os.O_NOFOLLOW

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    @contextlib.contextmanager
    def locked(self, patience: float = LOCK_PATIENCE) -> Iterator[None]:
        """Keep every other process out. Raises JournalBusyError after `patience` seconds."""
        give_up = time.monotonic() + patience
        while True:
            with os_errors(self._name):
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                fd = os.open(self.lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                while not try_lock(fd):
                    if time.monotonic() >= give_up:
                        raise JournalBusyError(
                            "another dashboard on this machine has been writing into the journal "
                            f"for {patience:g} s",
                            "see if it hangs",
                        )
                    time.sleep(_LOCK_PAUSE)
                if is_same_file(fd, self.lock_path):
                    yield
                    return
                # It was deleted before it was locked: another process may lock a new one.
            finally:
                os.close(fd)

    def has_grown(self) -> bool:
        """Whether there is something to read (`read_added`)."""
        fd = self._checked_descriptor()
        return fd is not None and os.fstat(fd).st_size != self.read_to

    def read_added(self) -> Iterator[Entry]:
        """Yield what was not read yet. Call it with the lock held: then an unfinished last line is
        that of a process that died. Raises JournalLostError.
        """
        fd = self._checked_descriptor()
        if fd is None:
            return
        size = os.fstat(fd).st_size
        if size == self.read_to:
            return
        with os_errors(self._name), os.fdopen(os.dup(fd), "rb") as file:
            file.seek(self.read_to)
            while piece := file.readline(LONGEST_LINE):
                self._digest.feed(piece)
        yield from self.entries_since(self.read_to)
        self.read_to = size
        start = max(0, size - _TAIL)
        self._tail = (start, os.pread(fd, size - start, start))

    @property
    def damage(self) -> JournalDamagedError | None:
        """The error if the digests of what was read show that the file was changed; else None."""
        line = self._digest.damaged_line()
        if line is None:
            return None
        return JournalDamagedError(self.path, line)

    def check_whole(self) -> None:
        """Read again all that was read before, with the lock held. Raises JournalLostError if it
        has changed.
        """
        fd = self._checked_descriptor()
        if fd is None:
            return
        digest = blake2b(digest_size=DIGEST_SIZE)
        with os_errors(self._name):
            offset = 0
            while offset < self.read_to:
                piece = os.pread(fd, min(_PIECE, self.read_to - offset), offset)
                if not piece:
                    break
                digest.update(piece)
                offset += len(piece)
        if digest.digest() != self._digest.value:
            raise self._lost_error("was written over")

    def entries_since(self, offset: int) -> Iterator[Entry]:
        """Yield the entries from an offset on; with the lock held."""
        if self._fd is None:
            return
        with os_errors(self._name), os.fdopen(os.dup(self._fd), "rb") as file:
            for line in read_lines(file, offset):
                entry = from_line(line)
                if entry is not None:
                    yield entry

    def append(self, line: bytes) -> None:
        """Add one line with its digest; it is on the disk, and at the path, when this returns. Call
        it with the lock held, and with all lines before it read (`read_added`).

        A torn line before it is ended first. If the disk is full, what was written of the line is
        removed.
        """
        is_new = self._checked_descriptor() is None
        with os_errors(self._name):
            create_flags = os.O_CREAT | os.O_EXCL if is_new else 0
            fd = self._open_descriptor(create_flags)
            size = os.fstat(fd).st_size
            try:
                is_torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
                ending = b"\n" if is_torn else b""
                data = ending + self._digest.seal(line, ending)
                while data:
                    data = data[os.write(fd, data) :]
                os.fsync(fd)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, size)
                raise
            if is_new:
                self._sync_folder()
        self._checked_descriptor()

    def _sync_folder(self) -> None:
        """Make the name of a new file durable as well."""
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _checked_descriptor(self) -> int | None:
        """Return a descriptor to read from; None while there is no file. Raises JournalLostError if
        it is not the file, or not the content, that was read before.
        """
        with os_errors(self._name):
            try:
                at_path = self.path.stat()
            except FileNotFoundError:
                if self._fd is None:
                    return None
                raise self._lost_error("was deleted or moved away") from None
            held = os.fstat(self._open_descriptor())
            if not os.path.samestat(at_path, held):
                raise self._lost_error(f"was replaced by {self._what_is_at_path()}")
            if held.st_size < self.read_to:
                raise self._lost_error("was cut short, or replaced by an older copy")
            start, tail = self._tail
            if os.pread(self._open_descriptor(), len(tail), start) != tail:
                raise self._lost_error("was written over")
        return self._fd

    def _what_is_at_path(self) -> str:
        if self.path.is_symlink():
            return "a link"
        if self.path.is_dir():
            return "a folder"
        return "another file"

    def _open_descriptor(self, create: int = 0) -> int:
        """Return the descriptor of the file; `create` has further flags for opening it."""
        if self._fd is None:
            flags = (
                os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | self._link_flags | create
            )
            fd = os.open(self.path, flags, 0o600)
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                raise OSError(errno.EINVAL, "it is no plain file")
            self._fd = fd
        return self._fd

    def _lost_error(self, how: str) -> JournalLostError:
        return JournalLostError(
            f"{self._name} {how} while this dashboard was open",
            "see what became of it, and start this dashboard again",
        )
