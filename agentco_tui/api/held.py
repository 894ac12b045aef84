"""How much memory all answers that are on their way in may take at once.

Each body has its cap, but several are read together: four that are almost too large would take
four times the memory (SAFETY, HTTP). Together they may have `MOST`; beyond that the largest gives
way, so that what breaks one answer does not cost the others theirs. Of a list that is read while
it comes its records count, which may take more than the bytes they were sent in.

A body that is whole counts until it has been read: that is done by one thread (`reading`), before
which several may stand in line. Meanwhile long bodies are not let in any further, and the other
side waits as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from typing import Final
from weakref import finalize

from agentco_tui.api import answered
from agentco_tui.api.answered import Asked
from agentco_tui.api.incoming import Reply
from agentco_tui.api.intake import Intake

MOST: Final = 80 * 1024 * 1024
"""Bytes."""
SHORT: Final = 1024 * 1024
"""Bytes: a body up to this length waits for nobody."""
PATIENCE: Final = 10.0
"""Seconds that a long body waits until others have been read, before the largest gives way."""
_PAUSE: Final = 0.02


class Held:
    """The intakes of bodies that are being read."""

    def __init__(self, most: int = MOST, short: int = SHORT, patience: float = PATIENCE) -> None:
        """`most` and `short` in bytes, `patience` in seconds."""
        self._most, self._short, self._patience = most, short, patience
        self._intakes: dict[object, Intake] = {}
        self._unread: dict[object, int] = {}

    async def into(
        self, intake: Intake, pieces: AsyncIterator[bytes], asked: Asked, status: int
    ) -> bytes:
        """Give all pieces to the intake; what it makes of them.

        Raises TooLarge if this is the largest of too many bytes.
        """
        body = object()
        intake.begin()
        self._intakes[body] = intake
        try:
            async for piece in pieces:
                in_vain = False
                if self._unread and intake.held + len(piece) > self._short:
                    in_vain = not await self._others_are_read(len(piece))
                await intake.take(piece)
                self._check(intake.held, asked, status, with_unread=in_vain)
            return await intake.end()
        except BaseException:
            # An error keeps the frames it came through, and with them what they hold.
            intake.begin()
            raise
        finally:
            del self._intakes[body]

    def until_read(self, reply: Reply) -> Reply:
        """Count a whole body for as long as somebody has its reply."""
        size = len(reply.body)
        if size > self._short:
            body = object()
            self._unread[body] = size
            finalize(reply, self._unread.pop, body).atexit = False
        return reply

    async def _others_are_read(self, more: int) -> bool:
        """Wait until there is room for so many more bytes; False if there is none for long."""
        ends = monotonic() + self._patience
        # Looked at again and again: another thread may have a body of its own, as at the start.
        while self._unread and self.bytes + more > self._most:
            if monotonic() > ends:
                return False
            await asyncio.sleep(_PAUSE)
        return True

    def _check(self, size: int, asked: Asked, status: int, *, with_unread: bool) -> None:
        sizes = [intake.held for intake in tuple(self._intakes.values())]
        together = self.bytes if with_unread else sum(sizes)
        if together > self._most and size >= max(sizes):
            raise answered.too_large(asked, status, size)

    @property
    def bytes(self) -> int:
        """What is held now."""
        coming = sum(intake.held for intake in tuple(self._intakes.values()))
        return coming + sum(tuple(self._unread.values()))


OF_ALL: Final = Held()
"""All that the program reads, with whatever transport."""
