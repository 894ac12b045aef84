"""Tells whether the process that wrote a line of the journal is still alive.

The journal notes each request that changes the remote service before it is sent; if its writer is
dead, another process finds out the outcome. Each process that writes keeps its own file locked
(flock) in a folder next to the journal; the kernel releases the lock however the process ends. A
pid would not do: pids are reused, and mean nothing in a home directory that several machines share.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import uuid
from pathlib import Path
from typing import Final

_TOKEN: Final = re.compile(r"[0-9]{1,10}-[0-9a-f]{12}")


class WriterLock:
    """A file that this process keeps locked from `hold` until `release`, as its sign of life."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = ""  # the name of the file, which lines of the journal have as `writer`
        self._fd: int | None = None

    def hold(self) -> str:
        """Take the lock, again if its file is gone; return its token. Raises OSError.

        The files of dead processes are removed first.
        """
        if self._fd is not None and not is_same_file(self._fd, self.folder / self.token):
            self.release()
        while self._fd is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in self.folder.iterdir():
                with contextlib.suppress(OSError):
                    is_alive(self.folder, path.name)
            token = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
            path = self.folder / token
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            # Not locked, or gone: another process took it for a dead writer's, and removed it.
            if try_lock(fd) and is_same_file(fd, path):
                self._fd = fd
                self.token = token
            else:
                os.close(fd)
        return self.token

    def release(self) -> None:
        """Release the lock: what is open in the journal now counts as left behind."""
        if self._fd is None:
            return
        with contextlib.suppress(OSError):
            (self.folder / self.token).unlink()
        os.close(self._fd)
        self._fd = None
        self.token = ""


def is_alive(folder: Path, token: str) -> bool:
    """Whether the process that holds this token lives; the file of a dead one is removed.

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
        alive = not try_lock(fd)
        if not alive and is_same_file(fd, path):
            path.unlink()
        return alive
    finally:
        os.close(fd)


def try_lock(fd: int) -> bool:
    """Lock an open file for this process alone; False if another process has it locked."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_same_file(fd: int, path: Path) -> bool:
    """Whether the file at a path is the one that is open."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False
