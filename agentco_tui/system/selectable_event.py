"""An event that a thread can await together with files, by a selector.

A thread that reads a terminal must end when it is told to. Were it to look for that again and
again, it would wake the processor all day, although nothing is typed.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from weakref import finalize


class SelectableEvent(threading.Event):
    """A `threading.Event` that is ready to be read, for a selector, while it is set."""

    def __init__(self) -> None:
        super().__init__()
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        finalize(self, _close_both, self._reader, self._writer)

    def fileno(self) -> int:
        return self._reader

    def set(self) -> None:
        super().set()  # first: who is woken by the byte must find it set
        with suppress(BlockingIOError):  # so many bytes are there already
            os.write(self._writer, b"\0")

    def clear(self) -> None:
        super().clear()
        with suppress(BlockingIOError):
            while os.read(self._reader, 64):
                pass


def _close_both(reader: int, writer: int) -> None:
    os.close(reader)
    os.close(writer)
