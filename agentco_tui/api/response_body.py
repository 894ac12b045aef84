"""The one path of every body: capped, unpacked, without the key, and gathered or streamed."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agentco_tui.api import error_messages, errors
from agentco_tui.api.credentials import KeyInUse, Redactor
from agentco_tui.api.error_messages import Asked
from agentco_tui.reading.stream import ListReader, TooMuchMemoryError, UnstreamableError

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
MakeReader = Callable[[Asked], ListReader[Any]]
"""Makes what reads a body of more than four megabytes, anew for each attempt."""

OFFERED_ENCODING: Final = "gzip"
"""What goes out as Accept-Encoding: on a slow line, JSON comes ten times faster packed."""
ONE_PIECE: Final = 4 * 1024 * 1024
"""Bytes: a longer body is never held as a whole, but read while it comes."""
_PIECE: Final = 256 * 1024
"""Bytes: no unpacked piece is larger, and so much is read at once of what is streamed."""
_PLAIN: Final = frozenset({"", "identity"})
_GZIP: Final = frozenset({"gzip", "x-gzip"})

_thread = ThreadPoolExecutor(1, thread_name_prefix="reading")


class DamagedBodyError(ValueError):
    """The packed bytes are wrong, end too early, or go on after their end."""


def beside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Begin `work` in the one thread that reads, beside the event loop; in the order of calls."""
    return asyncio.get_running_loop().run_in_executor(_thread, work)


async def body_pieces(
    response: httpx.Response, asked: Asked, cap: int | None, key: KeyInUse
) -> AsyncGenerator[bytes]:
    """The body in pieces without the key, never more than `cap` bytes on either side of unpacking.

    One layer of gzip is unpacked piece by piece, so that a small answer cannot become a huge one:
    httpx would unpack a whole chunk at once, and as many layers as the answer names.
    Content-Length is looked at first, so that a huge body is not begun. Raises TooLarge, Unreadable
    for an encoding that was not offered (stacked ones included), and DamagedBodyError.
    """
    status, headers = response.status_code, response.headers
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in _PLAIN | _GZIP:
        words = "the answer is packed in a way that was not asked for: is a proxy changing it?"
        raise error_messages.error_for(errors.Unreadable, words, asked, status=status)
    told = headers.get("content-length", "")
    if cap is not None and told.isdigit() and (len(told) > 18 or int(told) > cap):
        raise error_messages.larger_than(asked, status, cap)
    redactor = Redactor(key)
    member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS) if encoding in _GZIP else None
    came = unpacked = 0
    async for packed in response.aiter_raw():
        came += len(packed)
        while packed:
            piece, packed = packed, b""  # noqa: PLW2901 - what is left of it
            if member is not None:
                if member.eof:
                    # A second member costs a copy of the rest for each: many tiny ones would
                    # freeze us.
                    raise DamagedBodyError
                try:
                    piece = member.decompress(piece, _PIECE)
                except zlib.error:
                    raise DamagedBodyError from None
                packed = member.unconsumed_tail or member.unused_data  # noqa: PLW2901
            unpacked += len(piece)
            if cap is not None and max(came, unpacked) > cap:
                raise error_messages.larger_than(asked, status, cap)
            if clean := redactor.feed(piece):
                yield clean
            if len(piece) == _PIECE:
                # A bomb arrives in one read: let others run between its pieces.
                await asyncio.sleep(0)
    if member is not None and came and not member.eof:
        raise DamagedBodyError
    if rest := redactor.feed(b"", is_last=True):
        yield rest


async def gathered(
    pieces: AsyncGenerator[bytes], asked: Asked, status: int, stream: MakeReader | None
) -> tuple[bytes, ListReader[Any] | None]:
    """The body as a whole, or what has read it if it is longer than ONE_PIECE.

    While a piece is read no more is taken, so that the other side waits as well.
    """
    body, sink = BytesIO(), None
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                body.write(piece)
                if sink is None and body.tell() > ONE_PIECE:
                    if stream is None:
                        raise error_messages.larger_than(asked, status, ONE_PIECE)
                    sink = stream(asked)
                if sink is not None and body.tell() >= _PIECE:
                    gathered, body = body.getvalue(), BytesIO()
                    for at in range(0, len(gathered), _PIECE):
                        await beside(partial(sink.feed, gathered[at : at + _PIECE]))
        if sink is None:
            return body.getvalue(), None
        await beside(partial(sink.feed, body.getvalue()))
        await beside(sink.finish)
    except (UnstreamableError, TooMuchMemoryError) as error:
        too_much = isinstance(error, TooMuchMemoryError)
        reason = "what fits into memory" if too_much else "4 MiB and no plain list"
        raise error_messages.unusable(errors.TooLarge, asked, status, reason) from None
    return b"", sink
