"""How much of all bodies that are on their way in is taken at once.

Each body has its cap, but several are read together: four that are almost too large would take
four times the memory (SAFETY, HTTP). Together they may have `MOST`; beyond that the largest gives
way, so that what breaks one answer does not cost the others theirs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from agentco_tui.api import answered
from agentco_tui.api.answered import Asked
from agentco_tui.api.intake import Intake

MOST: Final = 80 * 1024 * 1024
"""Bytes."""


class Held:
    """The bodies that one transport is reading."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._sizes: dict[object, int] = {}

    async def into(
        self, intake: Intake, pieces: AsyncIterator[bytes], asked: Asked, status: int
    ) -> bytes:
        """Give all pieces to the intake; what it makes of them.

        What it has read already counts too: the records take about as much as the bytes. Raises
        TooLarge if this is the largest of too many bytes.
        """
        body = object()
        self._sizes[body] = 0
        intake.begin()
        try:
            async for piece in pieces:
                self._count(body, len(piece), asked, status)
                await intake.take(piece)
            return await intake.end()
        except BaseException:
            # An error keeps the frames it came through, and with them what they hold.
            intake.begin()
            raise
        finally:
            del self._sizes[body]

    def _count(self, body: object, more: int, asked: Asked, status: int) -> None:
        size = self._sizes[body] = self._sizes[body] + more
        if self.bytes > self._most and size == max(self._sizes.values()):
            raise answered.too_large(asked, status, size)

    @property
    def bytes(self) -> int:
        """What of bodies under way has come by now."""
        return sum(self._sizes.values())
