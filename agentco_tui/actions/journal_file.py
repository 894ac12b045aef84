"""The journal's file: appended to whole, made durable, shared under a lock, and watched.

Beside it lies a lock file, and a folder in which each process that writes keeps a file of its own
locked (flock) while it lives; the kernel frees that however the process ends. A pid alone would
not do: it is used again, and means nothing on a shared home directory.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from agentco_tui.actions.journal_entries import lines
from agentco_tui.text import SafeText, plain, safe

LOCK_PATIENCE = 3.0
"""Seconds to wait for another process that is writing a line."""
_LOCK_PAUSE = 0.005
_TAIL = 512
"""Bytes before the place that was read to, compared each time."""
_TOKEN = re.compile(r"[0-9]{1,10}-[0-9a-f]{12}")


class JournalError(Exception):
    """The journal can't be written or read, so nothing may be sent."""

    def __init__(self, why: str, advice: str = "mend that and try again") -> None:
        self.why: SafeText = plain(why)
        self.sentence: SafeText = plain(f"{why}: nothing is sent without it; {advice}")
        """Why, and what to do."""
        super().__init__(self.sentence)


class JournalBusyError(JournalError):
    """Another process keeps the lock."""


class JournalLostError(JournalError):
    """What is at the path is not the file, or not the content, that was read before."""


class JournalFile:
    """One file. It is held open from when it is first seen, so that no other file can take its
    inode, and each use compares what is at the path with it. Every method may raise JournalError.

    `follow_links` is False for a file that took the place of another while that was open.
    """

    def __init__(self, path: Path, *, follow_links: bool = True) -> None:
        self.path = path
        self.lock_path = path.with_suffix(".lock")
        self.read_to = 0
        """Bytes that were read."""
        self._tail = (0, b"")
        """The last bytes that were read, with their offset."""
        self._fd: int | None = None
        self._links = 0 if follow_links else os.O_NOFOLLOW

    def close(self) -> None:
        """Hold it open no longer."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    @contextlib.contextmanager
    def locked(self, patience: float = LOCK_PATIENCE) -> Iterator[None]:
        """Keep every other process out. Raises JournalBusyError after that many seconds."""
        give_up = time.monotonic() + patience
        while True:
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                fd = os.open(self.lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise self._unusable(error) from error
            try:
                self._lock(fd, give_up, patience)
                if same_file(fd, self.lock_path):
                    yield
                    return
                # It was deleted before it was locked: another process may lock a new one.
            finally:
                os.close(fd)

    def grown(self) -> bool:
        """Whether there is something to read. Raises JournalLostError."""
        fd = self._checked()
        return fd is not None and os.fstat(fd).st_size != self.read_to

    def added(self) -> Iterator[bytes]:
        """The lines that were not read yet; with the lock held, so that an unfinished last one is
        that of a process that is dead. Raises JournalLostError.
        """
        fd = self._checked()
        if fd is None or os.fstat(fd).st_size == self.read_to:
            return
        try:
            with os.fdopen(os.dup(fd), "rb") as file:
                for line in lines(file, self.read_to):
                    self.read_to = file.tell()
                    yield line
            start = max(0, self.read_to - _TAIL)
            self._tail = (start, os.pread(fd, self.read_to - start, start))
        except OSError as error:
            raise self._unusable(error) from error

    def since(self, offset: int) -> Iterator[bytes]:
        """The lines from a place on that was `read_to` once."""
        if self._fd is None or offset == self.read_to:
            return
        try:
            with os.fdopen(os.dup(self._fd), "rb") as file:
                yield from lines(file, offset)
        except OSError as error:
            raise self._unusable(error) from error

    def append(self, line: bytes) -> None:
        """Add one line, on the disk and at the path when this returns; with the lock held.

        A torn line before it is ended first. If the line doesn't fit, what was written of it is
        taken back.
        """
        created = self._checked() is None
        try:
            fd = self._opened(os.O_CREAT | os.O_EXCL if created else 0)
            size = os.fstat(fd).st_size
            try:
                whole = size == 0 or os.pread(fd, 1, size - 1) == b"\n"
                _write_all(fd, line if whole else b"\n" + line)
                os.fsync(fd)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, size)
                raise
            if created:
                _sync_folder(self.path.parent)
        except OSError as error:
            raise self._unusable(error) from error
        self._checked()

    def _checked(self) -> int | None:
        """A descriptor to read from, if it is still the same file; None while there is none."""
        try:
            try:
                told = self.path.stat()
            except FileNotFoundError:
                if self._fd is None:
                    return None
                raise self._lost("was deleted or moved away") from None
            if self._fd is None:
                return self._opened()
            held = os.fstat(self._fd)
            if not os.path.samestat(told, held):
                other = "a folder" if self.path.is_dir() else "another file"
                other = "a link" if self.path.is_symlink() else other
                raise self._lost(f"was replaced by {other}")
            if held.st_size < self.read_to:
                raise self._lost("was cut short, or replaced by an older copy")
            start, tail = self._tail
            if os.pread(self._fd, len(tail), start) != tail:
                raise self._lost("was written over")
        except OSError as error:
            raise self._unusable(error) from error
        return self._fd

    def _opened(self, create: int = 0) -> int:
        """The descriptor that is kept; to write with as soon as that is allowed."""
        flags = os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | self._links
        if self._fd is None or not fcntl.fcntl(self._fd, fcntl.F_GETFL) & os.O_RDWR:
            try:
                fd = os.open(self.path, flags | os.O_RDWR | create, 0o600)
            except OSError as error:
                if create or self._fd is not None or error.errno not in (errno.EACCES, errno.EROFS):
                    raise
                fd = os.open(self.path, flags | os.O_RDONLY)
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.close(fd)
                raise OSError(errno.EINVAL, "it is no plain file")
            self.close()
            self._fd = fd
        return self._fd

    def _lock(self, fd: int, give_up: float, patience: float) -> None:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    raise JournalBusyError(
                        "another dashboard on this machine has been writing into the journal "
                        f"for {patience:g} s",
                        "see if it hangs",
                    ) from None
                time.sleep(_LOCK_PAUSE)
            except OSError as error:
                raise self._unusable(error) from error
            else:
                return

    def _unusable(self, error: OSError) -> JournalError:
        reason = safe(error.strerror or type(error).__name__, 120)
        return JournalError(f"the journal {safe(str(self.path), 200)} can't be used ({reason})")

    def _lost(self, how: str) -> JournalLostError:
        return JournalLostError(
            f"the journal {safe(str(self.path), 200)} {how} while this dashboard was open",
            "see what became of it, and start this dashboard again",
        )


class WriterLock:
    """The sign of life of this process, from `hold` until `release` or the process's end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = ""
        self._fd: int | None = None

    def hold(self) -> str:
        """Take the lock, and again if its file is gone; returns its token. Raises OSError."""
        if self._fd is not None and not same_file(self._fd, self.folder / self.token):
            self.release()
        while self._fd is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            token = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
            path = self.folder / token
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                # Waits only for somebody who looks at this moment if the file is locked.
                fcntl.flock(fd, fcntl.LOCK_EX)
                kept = same_file(fd, path)
            except OSError:
                os.close(fd)
                raise
            if kept:
                self._fd, self.token = fd, token
            else:
                # It was taken for a dead writer's before it was locked, and removed.
                os.close(fd)
        return self.token

    def release(self) -> None:
        """Let go: what is open in the journal now counts as left behind."""
        if self._fd is None:
            return
        with contextlib.suppress(OSError):
            (self.folder / self.token).unlink()
        os.close(self._fd)
        self._fd = None
        self.token = ""


def is_alive(folder: Path, token: str) -> bool:
    """Whether the process that holds this token lives; a dead one's file is removed.

    Raises OSError if that can't be found out.
    """
    if not _TOKEN.fullmatch(token):
        return False
    path = folder / token
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        if same_file(fd, path):
            path.unlink()
        return False
    finally:
        os.close(fd)


def remove_dead(folder: Path) -> None:
    """Tidy up after processes that were killed. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        for path in folder.iterdir():
            is_alive(folder, path.name)


def same_file(fd: int, path: Path) -> bool:
    """Whether the path still names the open file."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _sync_folder(folder: Path) -> None:
    """Make the new file's name durable too."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
