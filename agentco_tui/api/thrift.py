"""Memory given back to the system once a long answer has been read.

The C library keeps what was freed for the next time, and learns from each large block that is
freed to keep larger ones. After a list of fifty megabytes that is a good tenth of all the program
holds. Only glibc is told otherwise; elsewhere nothing happens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Final

_LARGE_BLOCK: Final = 256 * 1024
"""Bytes: a block from here on is the system's own, and goes back to it as soon as it is freed."""
_SPARE: Final = 1024 * 1024
"""Bytes kept at the end of the heap."""
# As malloc.h has them.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3


@cache
def _glibc() -> tuple[Callable[[int, int], int], Callable[[int], int]] | None:
    """The functions mallopt and malloc_trim, where there are both."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes  # noqa: PLC0415 - only who reads long answers needs it

        library = ctypes.CDLL(None)
        found = library.mallopt, library.malloc_trim
    except (ImportError, OSError, AttributeError):
        return None
    return found


def keep_little() -> None:
    """Have freed blocks go back to the system; to be called once, in any thread."""
    found = _glibc()
    if found is not None:
        option, _ = found
        option(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
        option(_M_TRIM_THRESHOLD, _SPARE)


def give_back() -> None:
    """Give back what is free between blocks in use; takes some milliseconds, without the GIL."""
    found = _glibc()
    if found is not None:
        _, trim = found
        trim(0)
