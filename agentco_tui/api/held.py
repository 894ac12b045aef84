"""How much memory all answers that are on their way in may take at once.

Each body has its cap, but several are read together: four that are almost too large would take
four times the memory (SAFETY, HTTP). Together they may have `MOST`; beyond that the largest gives
way, so that what breaks one answer does not cost the others theirs. Of a list that is read while
it comes its records count, which may take more than the bytes they were sent in.
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
    """The intakes of bodies that are being read."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._intakes: dict[object, Intake] = {}

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
                await intake.take(piece)
                self._check(intake.held, asked, status)
            return await intake.end()
        except BaseException:
            # An error keeps the frames it came through, and with them what they hold.
            intake.begin()
            raise
        finally:
            del self._intakes[body]

    def _check(self, size: int, asked: Asked, status: int) -> None:
        # Another thread may have a body of its own, as at the start.
        sizes = [intake.held for intake in tuple(self._intakes.values())]
        if sum(sizes) > self._most and size >= max(sizes):
            raise answered.too_large(asked, status, size)

    @property
    def bytes(self) -> int:
        """What is held now."""
        return sum(intake.held for intake in tuple(self._intakes.values()))


OF_ALL: Final = Held()
"""All that the program reads, with whatever transport."""
