"""The special results of a reader, a function that turns a raw JSON value into one of ours.

The raw value comes from an answer of the platform, the remote service. Besides a value, a reader
may return None (the raw value is not of the sort that it reads), `EMPTY` or `Incomplete`.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

EMPTY: Final = type("EMPTY", (), {})()
"""The raw value was understood and means that there is nothing: an empty text, a sentinel such as
the year 1."""


class Incomplete(msgspec.Struct):
    """A value read from a raw value that holds more.

    The raw value is kept as unread, too: among the fields that the detail pane shows as JSON.
    """

    value: Any
