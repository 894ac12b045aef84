"""One layer of gzip, unpacked piece by piece, so that a small answer cannot become a huge one.

httpx would unpack a whole chunk at once, and as many layers as the answer names: 658 bytes became
300 MiB before any cap could look (SAFETY, HTTP).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

PIECE: Final = 256 * 1024
"""Bytes: no unpacked piece is larger."""
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


class DamagedBodyError(ValueError):
    """The packed bytes are wrong, end too early, or go on after their end."""


class Gunzip:
    """Unpacks one gzip member; feed it in order and `finish` it."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=_GZIP_WINDOW)
        self._begun = False

    def feed(self, packed: bytes) -> Iterator[bytes]:
        """The bytes that `packed` adds, in pieces of at most 256 KiB. Raises DamagedBodyError."""
        self._begun = self._begun or bool(packed)
        while packed:
            if self._member.eof:
                # A second member costs a copy of the rest for each: many tiny ones would freeze us.
                raise DamagedBodyError
            try:
                piece = self._member.decompress(packed, PIECE)
            except zlib.error:
                raise DamagedBodyError from None
            if piece:
                yield piece
            packed = self._member.unconsumed_tail or self._member.unused_data

    def finish(self) -> None:
        """Raises DamagedBodyError if the member was cut off; no bytes at all are an empty body."""
        if self._begun and not self._member.eof:
            raise DamagedBodyError
