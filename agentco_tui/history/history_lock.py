"""Which process writes the history of a platform: the one that holds an advisory lock.

The platform is the remote service that is watched, and its history a database of what was polled
from it. Several dashboards of one machine may watch the same platform. The kernel frees the lock
however its process ends, so another one takes over with its next batch of rows.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from agentco_tui.system.state_folder import FILE_MODE

_DIGEST_LENGTH: Final = 12  # hex digits of the platform's name in the name of the lock file
_HELD_ELSEWHERE: Final = (errno.EWOULDBLOCK, errno.EACCES)


class HistoryLock:
    """The right to write one platform's history into a database, for this process."""

    def __init__(self, database: Path, platform: str) -> None:
        """`platform` is the same for all spellings of its address (`api.origin.platform_of`)."""
        digest = sha256(platform.encode()).hexdigest()[:_DIGEST_LENGTH]
        self._path = database.with_name(f"{database.name}.writer-{digest}.lock")
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock unless another process has it; returns whether this process holds it.

        Raises OSError if the lock file can't be made. A file system without locks counts as one
        with a single process.
        """
        if self._descriptor is not None:
            if self._is_in_place(self._descriptor):
                return True
            self.release()
        descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, FILE_MODE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD_ELSEWHERE:
                os.close(descriptor)
                return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Let another process take the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = None

    def _is_in_place(self, descriptor: int) -> bool:
        """Whether the locked file is still the one that other processes find under its name."""
        with suppress(FileNotFoundError):
            return os.path.samestat(self._path.stat(), os.fstat(descriptor))
        return False
