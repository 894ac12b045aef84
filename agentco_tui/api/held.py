"""How much of all bodies that are on their way in is held at once.

Each body has its cap, but several are read together: four that are almost too large would take
four times the memory (SAFETY, HTTP). Together they may hold `MOST`; beyond that the largest gives
way, so that what breaks one answer does not cost the others theirs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from agentco_tui.api import answered
from agentco_tui.api.answered import Asked

MOST: Final = 80 * 1024 * 1024
"""Bytes."""


class Held:
    """The bodies that one transport is reading."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._sizes: dict[object, int] = {}

    async def whole(self, pieces: AsyncIterator[bytes], asked: Asked, status: int) -> bytes:
        """All pieces in one. Raises TooLarge if this is the largest of too many bytes."""
        body = object()
        kept: list[bytes] = []
        self._sizes[body] = 0
        try:
            async for piece in pieces:
                kept.append(piece)
                size = self._sizes[body] = self._sizes[body] + len(piece)
                if self.bytes > self._most and size == max(self._sizes.values()):
                    raise answered.too_large(asked, status, size)
            return b"".join(kept)
        finally:
            # An error keeps the frames it came through, and with them what they hold.
            kept.clear()
            del self._sizes[body]

    @property
    def bytes(self) -> int:
        """What is held now."""
        return sum(self._sizes.values())
