"""What a reader of raw values may return besides a value: None, `EMPTY` or `Incomplete`.

None means that the raw value is not of the sort that the reader reads.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

EMPTY: Final = type("EMPTY", (), {})()
"""The raw value was understood and means that there is nothing: an empty text, a sentinel."""


class Incomplete(msgspec.Struct):
    """A value that was read from a raw value which holds more than that."""

    value: Any
