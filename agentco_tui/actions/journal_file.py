"""The journal's file: appended to whole, made durable, shared under a lock."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from agentco_tui.actions.journal_entries import ends_with_newline
from agentco_tui.text import SafeText, plain, safe

LOCK_PATIENCE = 3.0
"""Seconds to wait for another process that is writing a line."""
_LOCK_PAUSE = 0.005


class JournalError(Exception):
    """The journal can't be written or read, so nothing may be sent."""

    def __init__(self, sentence: SafeText) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        """Why, and what to do."""


class JournalFile:
    """One file, its lock file beside it; every method may raise JournalError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock_path = path.with_suffix(".lock")

    @contextlib.contextmanager
    def locked(self, patience: float = LOCK_PATIENCE) -> Iterator[None]:
        """Keep every other writer out, in this process and in others."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self.lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            self._lock(fd, patience)
            yield
        finally:
            os.close(fd)

    def append(self, line: bytes) -> None:
        """Add one line, on the disk when this returns; call it with the lock held.

        A torn line before it is ended first. If the line doesn't fit, what was written of it is
        taken back.
        """
        try:
            fd, created = self._open_for_append()
        except OSError as error:
            raise self._unusable(error) from error
        try:
            size = self._regular_size(fd)
            try:
                _write_all(fd, line if ends_with_newline(fd, size) else b"\n" + line)
                os.fsync(fd)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(fd, size)
                raise
            if created:
                _sync_folder(self.path.parent)
        except OSError as error:
            raise self._unusable(error) from error
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def reading(self) -> Iterator[int | None]:
        """A descriptor to read from; None while there is no journal."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            raise self._unusable(error) from error
        try:
            self._regular_size(fd)
            yield fd
        except OSError as error:
            raise self._unusable(error) from error
        finally:
            os.close(fd)

    def _open_for_append(self) -> tuple[int, bool]:
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            return os.open(self.path, flags | os.O_CREAT | os.O_EXCL, 0o600), True
        except FileExistsError:
            return os.open(self.path, flags), False

    def _regular_size(self, fd: int) -> int:
        told = os.fstat(fd)
        if not stat.S_ISREG(told.st_mode):
            raise OSError(errno.EINVAL, "it is no plain file")
        return told.st_size

    def _lock(self, fd: int, patience: float) -> None:
        give_up = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    raise JournalError(
                        plain(
                            "another dashboard on this machine has been writing into the journal "
                            f"for {patience:g} s: nothing is sent; see if it hangs"
                        )
                    ) from None
                time.sleep(_LOCK_PAUSE)
            except OSError as error:
                raise self._unusable(error) from error
            else:
                return

    def _unusable(self, error: OSError) -> JournalError:
        reason = safe(error.strerror or type(error).__name__, 120)
        return JournalError(
            plain(
                f"the journal {safe(str(self.path), 200)} can't be used ({reason}): "
                "nothing is sent without it; mend that and try again"
            )
        )


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
