"""Reads the body of an answer in pieces: unpacked, without the API key, and never beyond a cap.

A platform (the remote service), or an attacker on it, may echo the key or send a body that unpacks
to gigabytes. `KeyInUse` masks the key, also if it is split between two pieces.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, Iterator
from typing import Final

import httpx

from agentco_tui.api import errors
from agentco_tui.api.credentials import KeyInUse
from agentco_tui.api.error_messages import RequestInfo, answer_too_large, error_for

PIECE: Final = 256 * 1024
"""Bytes: no unpacked piece is larger."""
_MOST_LENGTH_DIGITS: Final = 18
"""A Content-Length with more digits is above every cap."""


class DamagedBodyError(ValueError):
    """The compressed bytes are wrong, end too early, or go on after their end."""


class _Gzip:
    """Unpacks one gzip member piece by piece, so that a small answer cannot become a huge one.

    httpx would unpack a whole chunk at once, and as many layers as the answer names.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self._has_begun = False

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` unpacks to. Raises DamagedBodyError."""
        while data:
            self._has_begun = True
            if self._member.eof:
                # A second member is refused: with many tiny ones the rest is copied each time.
                raise DamagedBodyError
            try:
                piece = self._member.decompress(data, PIECE)
            except zlib.error:
                raise DamagedBodyError from None
            data = self._member.unconsumed_tail or self._member.unused_data
            yield piece

    def finish(self) -> None:
        """Raise DamagedBodyError if the body ended too early; a body of no bytes is empty."""
        if self._has_begun and not self._member.eof:
            raise DamagedBodyError


class _Identity:
    """The body as it was sent."""

    def decode(self, data: bytes) -> Iterator[bytes]:
        if data:
            yield data

    def finish(self) -> None:
        pass


async def read_pieces(
    response: httpx.Response, info: RequestInfo, key: KeyInUse, cap: int | None
) -> AsyncGenerator[bytes]:
    """Yield the body without the key, at most `cap` bytes both as sent and after unpacking.

    Raises TooLarge, Unreadable for an encoding that was not requested, and DamagedBodyError.
    """
    status = response.status_code
    decoder = _decoder_for(response, info)
    # Checked first, so that the reading of a huge body is not begun.
    declared = response.headers.get("content-length", "")
    if cap is not None and _is_more_than(declared, cap):
        raise answer_too_large(info, status, cap)
    received = 0
    unpacked = 0
    held = b""  # the end of a piece, which may be the beginning of the key
    async for data in response.aiter_raw():
        received += len(data)
        for piece in decoder.decode(data):
            unpacked += len(piece)
            if cap is not None and max(received, unpacked) > cap:
                raise answer_too_large(info, status, cap)
            clean, held = key.clean(held + piece)
            if clean:
                yield clean
            if len(piece) == PIECE:
                # A compressed bomb arrives in one read: let others run between its pieces.
                await asyncio.sleep(0)
    decoder.finish()
    if held:
        last, _ = key.clean(held, is_last=True)
        yield last


def _decoder_for(response: httpx.Response, info: RequestInfo) -> _Gzip | _Identity:
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return _Identity()
    if encoding in ("gzip", "x-gzip"):
        return _Gzip()
    sentence = "the answer has a Content-Encoding that was not requested: is a proxy changing it?"
    raise error_for(errors.Unreadable, sentence, info, status=response.status_code)


def _is_more_than(content_length: str, cap: int) -> bool:
    if not content_length.isdecimal():
        return False
    return len(content_length) > _MOST_LENGTH_DIGITS or int(content_length) > cap
