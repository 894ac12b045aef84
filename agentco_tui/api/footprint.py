"""How much memory a body takes once it is parsed, estimated before that (SAFETY, HTTP).

A body has its cap, but `[{},{},…` becomes thirty times its size in Python's objects, and
`[1.5,1.5,…` as well: 64 MiB of either would fill two gigabytes. Counting the bytes that begin
objects, lists and values takes a millisecond for four megabytes, and tells enough. Signs inside
texts are counted too, so that a body full of prose seems larger than it is; long lists of records
are read in pieces (`slices`), each of which is judged by itself.
"""

from __future__ import annotations

from typing import Final

MOST: Final = 120_000_000
"""Bytes that a body may take together with what it is parsed to."""
SMALL: Final = 256 * 1024
"""Bytes: no body up to here can come to more than a fifth of that."""

COSTS: Final = (
    (b"{", 170),
    (b"[", 80),
    (b",", 75),
    (b".", 50),
)
"""Bytes for an object, a list, a further value, a fraction, as measured with CPython 3.11."""
_LINE: Final = 75
_ASTRAL: Final = (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")
_AT_ONCE: Final = 8 * 1024 * 1024
"""Bytes counted in one go: two or three milliseconds."""


def fits(body: bytes, *, as_text: bool = False) -> bool:
    """True if `body` and all that is parsed from it take at most `MOST` bytes.

    `as_text`: the body is to become one text first, which is then parsed, maybe line by line.
    """
    size = len(body)
    if size <= SMALL:
        return True
    width = _width(body)
    total = size + width * size * (2 if as_text else 1)
    costs = (*COSTS, (b"\n", _LINE)) if as_text else COSTS
    for start in range(0, size, _AT_ONCE):
        for sign, cost in costs:
            total += cost * body.count(sign, start, start + _AT_ONCE)
        if total > MOST:
            return False
    return True


def _width(body: bytes) -> int:
    """Bytes for a character: one letter that is no ASCII makes all of its text wider."""
    if body.isascii():
        return 1
    return 4 if any(lead in body for lead in _ASTRAL) else 2
