"""Which processes that wrote into the journal are still alive.

Each keeps a file of its own locked (flock) while it lives; the kernel frees it however the process
ends. A pid alone would not do: it is used again, and means nothing on a shared home directory.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import uuid
from pathlib import Path

_TOKEN = re.compile(r"[0-9]{1,10}-[0-9a-f]{12}")


class WriterLock:
    """The sign of life of this process, from `hold` until `release` or the process's end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = ""
        self._fd: int | None = None

    def hold(self) -> str:
        """Take the lock, once; returns the token that names it. Raises OSError."""
        while self._fd is None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            token = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
            path = self.folder / token
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                # Waits only for somebody who looks at this moment if the file is locked.
                fcntl.flock(fd, fcntl.LOCK_EX)
                kept = _same_file(fd, path)
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
        with contextlib.suppress(FileNotFoundError):
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
        if _same_file(fd, path):
            path.unlink()
        return False
    finally:
        os.close(fd)


def remove_dead(folder: Path) -> None:
    """Tidy up after processes that were killed. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        for path in folder.iterdir():
            is_alive(folder, path.name)


def _same_file(fd: int, path: Path) -> bool:
    """Whether the path still names the open file."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False
