"""What takes a body while it comes."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from io import BytesIO
from typing import Final, Protocol

SHORT: Final = 256 * 1024
"""Bytes of a body that are kept for somebody who is still to come."""


class Intake(Protocol):
    """Takes the pieces of one body in order; the transport `begin`s it anew for each attempt."""

    @property
    def held(self) -> int:
        """Bytes of memory that all taken by now holds, about."""

    def begin(self) -> None:
        """A body is about to come; what came of another one is void."""

    async def take(self, piece: bytes) -> None:
        """The next piece; the one after it is read when this returns."""

    async def end(self) -> bytes:
        """The body is whole: what is to be its `Reply.body`, nothing if it was read meanwhile."""


class Whole:
    """Keeps the body as it is."""

    def __init__(self) -> None:
        self.begin()

    @property
    def held(self) -> int:
        """What came by now."""
        return self._body.tell()

    def begin(self) -> None:
        """Begin with nothing."""
        self._body = BytesIO()

    async def take(self, piece: bytes) -> None:
        """Keep the piece."""
        self._body.write(piece)

    async def end(self) -> bytes:
        """The whole body, of which there is one copy only: BytesIO grows and gives it away."""
        body, self._body = self._body, BytesIO()
        return body.getvalue()


class Waiting:
    """Keeps a short body; before it takes more, it waits for another intake to give all to.

    Meanwhile nothing more is read, so that the other side waits too.
    """

    def __init__(self, other: Future[Intake]) -> None:
        self._other = other
        self.begin()

    def begin(self) -> None:
        """Begin with nothing."""
        self._whole = Whole()
        self._size = 0
        self._to: Intake | None = None

    @property
    def held(self) -> int:
        """What is kept here, or what the other intake holds."""
        return (self._to or self._whole).held

    async def take(self, piece: bytes) -> None:
        """Keep the piece, or hand it on."""
        if self._to is None and self._size + len(piece) > SHORT:
            to = await asyncio.wrap_future(self._other)
            to.begin()
            await to.take(await self._whole.end())
            self._to = to
        self._size += len(piece)
        await (self._to or self._whole).take(piece)

    async def end(self) -> bytes:
        """The short body, or what the other intake says."""
        return await (self._to or self._whole).end()
