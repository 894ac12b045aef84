"""What the machine does to the program: a slow disk, a journal that is locked, a suspension."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.terminal.pty_session import PATIENCE

_SITE = '''
"""Makes fsync as slow as a file says: each call waits until the file `hold` is gone."""
import os
import pathlib
import time

folder = pathlib.Path(os.environ["OUTSIDE_DISK"])
fsync = os.fsync


def slow_fsync(descriptor):
    (folder / "waiting").touch()
    while (folder / "hold").exists():
        time.sleep(0.01)
    fsync(descriptor)


os.fsync = slow_fsync
'''


class SlowDisk:
    """A disk below a program of ours whose fsync can be held; `environment` puts it there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "disk"
        self._folder.mkdir(parents=True)
        (self._folder / "sitecustomize.py").write_text(_SITE)
        self.environment: dict[str, str | None] = {
            "PYTHONPATH": str(self._folder),
            "OUTSIDE_DISK": str(self._folder),
        }

    def hold(self) -> None:
        """Let every fsync from now on wait."""
        (self._folder / "waiting").unlink(missing_ok=True)
        (self._folder / "hold").touch()

    def release(self) -> None:
        """Let all that waits go on."""
        (self._folder / "hold").unlink(missing_ok=True)

    def wait_for_fsync(self) -> None:
        """Wait until one waits."""
        end = time.monotonic() + PATIENCE
        while not (self._folder / "waiting").exists():
            assert time.monotonic() < end, "no fsync came"
            time.sleep(0.01)


def journal_of(folder: Path) -> Path:
    """Where a program whose files lie below `folder` keeps its journal."""
    return folder / "state" / "agentco-tui" / "journal.jsonl"


@contextmanager
def locked(journal: Path) -> Iterator[None]:
    """Keep the journal locked, as another dashboard that writes a line does."""
    journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(journal.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
