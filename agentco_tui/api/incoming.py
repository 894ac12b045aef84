"""An answer on its way in: the cap, the one packing that is understood, and what is handed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from agentco_tui.api import answered
from agentco_tui.api.answered import Asked
from agentco_tui.api.measured import Measured
from agentco_tui.api.unpacking import PIECE, Gunzip

OFFERED_ENCODING: Final = "gzip"
"""What goes out as Accept-Encoding: on a slow line, JSON comes ten times faster packed."""

_PLAIN: Final = frozenset({"", "identity"})
_GZIP: Final = frozenset({"gzip", "x-gzip"})


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Reply:
    """A whole answer with a 2xx, or a 304 that was asked for."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    """Names in lower case. Values are platform text, not cleaned."""
    body: bytes = field(repr=False)
    """Unpacked; empty if an intake has read it while it came."""
    elapsed: float
    """Seconds from the start of the attempt to the last byte."""
    received_at: float
    """When it was whole, by the monotonic clock."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """An answer with a 2xx whose body is still on its way."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    """Names in lower case. Values are platform text, not cleaned."""
    chunks: AsyncGenerator[bytes] = field(repr=False)
    """The body, unpacked, in pieces; raises ApiError."""


async def unpacked_body(
    raw: AsyncIterator[bytes],
    status: int,
    headers: Mapping[str, str],
    asked: Asked,
    *,
    cap: int | None,
    measured: Measured,
) -> AsyncGenerator[bytes]:
    """The body in pieces, never more than `cap` bytes on either side of the unpacking.

    Raises TooLarge, Unreadable for an encoding that was not offered (stacked ones included), and
    DamagedBodyError. Content-Length is looked at first, so that a huge body is not begun.
    """
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in _PLAIN | _GZIP:
        raise answered.odd_encoding(asked, status)
    told = headers.get("content-length", "")
    if cap is not None and told.isdigit() and (len(told) > 18 or int(told) > cap):
        raise answered.too_large(asked, status, cap)
    gunzip = Gunzip() if encoding in _GZIP else None
    came = unpacked = 0
    async for packed in raw:
        came += len(packed)
        measured.bytes_received += len(packed)
        for piece in gunzip.feed(packed) if gunzip else (packed,):
            unpacked += len(piece)
            measured.bytes_unpacked += len(piece)
            if cap is not None and max(came, unpacked) > cap:
                raise answered.too_large(asked, status, cap)
            yield piece
            if len(piece) == PIECE:
                # A bomb arrives in one read: let others run between its pieces.
                await asyncio.sleep(0)
    if gunzip:
        gunzip.finish()
