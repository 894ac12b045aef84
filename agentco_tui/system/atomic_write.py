"""A file that appears under its name only once it is whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from agentco_tui.text import safe


class AtomicWriteError(Exception):
    """It can't be written; `str()` says why."""


class FileInTheWayError(AtomicWriteError):
    """A file, or something else, has the name already."""


@contextmanager
def atomic_write(path: Path, *, replace: bool = False, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Write a file that gets its name at the end of the block, and not at all if that fails.

    Until then it is a temporary one beside it. What is there already is replaced only with
    `replace`. `mode` is lessened by the umask. Raises FileInTheWayError and AtomicWriteError, the
    latter also for an OSError of the block.
    """
    target = _checked(path, replace=replace)
    beside = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.part")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not replace:
            # Unlike a rename, a link never replaces a file that has appeared meanwhile. There are
            # file systems without links (FAT, some network shares).
            with suppress(OSError):
                target.hardlink_to(beside)
                return
            if target.exists():
                raise FileInTheWayError(f"{_name(target)} exists: choose another name")
        beside.replace(target)
    except OSError as error:
        why = f"{_name(target)} cannot be written: {error.strerror}"
        raise AtomicWriteError(why) from None
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()


def _checked(path: Path, *, replace: bool) -> Path:
    try:
        # Through a link, so that with `replace` the link stays and what it names is replaced.
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
    return safe(str(path), 200)
