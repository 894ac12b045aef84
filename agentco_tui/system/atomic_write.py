"""Writes files atomically: a file gets its name only once it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from agentco_tui.text import clean_line


class AtomicWriteError(Exception):
    """The file cannot be written; `str()` says why."""


class FileInTheWayError(AtomicWriteError):
    """The name is taken already, by a file or something else."""


@contextmanager
def atomic_write(path: Path, *, replace: bool = False, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Write a file that gets its name at the end of the block, if that succeeds.

    Until then it is a temporary file in the same folder. An existing file is replaced only with
    `replace`. `mode` is reduced by the umask. Raises FileInTheWayError and AtomicWriteError, the
    latter also for an OSError in the block.
    """
    target = _checked_target(path, replace=replace)
    temporary = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.part")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not replace:
            # Unlike a rename, a link never replaces a file that has appeared meanwhile. Some file
            # systems have no links (FAT, some network shares).
            with suppress(OSError):
                target.hardlink_to(temporary)
                return
            if target.exists():
                raise FileInTheWayError(f"{_name(target)} exists: choose another name")
        temporary.replace(target)
    except OSError as error:
        reason = f"{_name(target)} cannot be written: {error.strerror}"
        raise AtomicWriteError(reason) from None
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _checked_target(path: Path, *, replace: bool) -> Path:
    """The file that a path leads to. Raises AtomicWriteError if it cannot be written."""
    try:
        # A link is followed, so that with `replace` its target is replaced and the link stays.
        target = path.expanduser().resolve()
        if target.is_dir():
            raise FileInTheWayError(f"{_name(target)} is a folder: name a file in it")
        if target.exists() and not target.is_file():
            raise FileInTheWayError(f"{_name(target)} is no ordinary file")
        if target.exists() and not replace:
            raise FileInTheWayError(f"{_name(target)} exists: choose another name")
        if not target.parent.is_dir():
            raise AtomicWriteError(f"there is no folder {_name(target.parent)}")
    except (OSError, RuntimeError, ValueError):
        raise AtomicWriteError("that names no file that can be made") from None
    return target


def _name(path: Path) -> str:
    return clean_line(str(path), 200)
