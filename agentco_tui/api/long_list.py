"""A list read while its body comes, as soon as that is long (law 5).

So a long body is never held as a whole. One that turns out not to be simply a list of records has
to be: as long as nothing of it was let go it is there, otherwise the pager asks for it again.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final, Generic, TypeVar

from agentco_tui.api.cuts import UnevenError
from agentco_tui.api.intake import Whole
from agentco_tui.api.listings import Kind
from agentco_tui.api.memo import Memo
from agentco_tui.api.reading import LARGE, beside
from agentco_tui.api.slices import Sliced, Slicer, is_sliceable
from agentco_tui.api.thrift import give_back
from agentco_tui.model.records import Record

R = TypeVar("R", bound=Record)

KEPT: Final = 4 * LARGE
"""Bytes: a body up to this length is kept to its end, and never asked for twice."""


class LongList(Generic[R]):
    """An intake for one list."""

    def __init__(self, kind: Kind[R], memo: Memo[R] | None, *, as_a_whole: bool = False) -> None:
        """`memo` is what is remembered of the list's last answer; with `as_a_whole` nothing is
        read while it comes.
        """
        self._kind, self._memo = kind, memo
        self._may_slice = is_sliceable(kind) and not as_a_whole
        self.begin()

    def begin(self) -> None:
        """Begin with nothing."""
        self.sliced: Sliced[R] | None = None
        """What was read; None where the reply has the body, and where it is `lost`."""
        self._slicer = Slicer(self._kind, self._memo) if self._may_slice else None
        self._whole = Whole()
        self._batch: list[bytes] = []
        self._gathered = self._came = 0
        self._let_go = False
        self._work: asyncio.Future[bool] | None = None

    @property
    def held(self) -> int:
        """Bytes of the body that are still here, and what the records read of it take, about."""
        records = 0 if self._slicer is None else self._slicer.held
        return self._whole.held + self._gathered + records

    @property
    def lost(self) -> bool:
        """True if the body has to be read as a whole, and is not there any more."""
        return self._let_go and self.sliced is None

    async def take(self, piece: bytes) -> None:
        """The next piece; while one batch is read in the thread, the next one is gathered."""
        self._batch.append(piece)
        self._gathered += len(piece)
        # What is not so long is whole before any of it is read: it may be what came the last time.
        if self._gathered > (LARGE if self._came else KEPT):
            await self._hand_over()

    async def end(self) -> bytes:
        """The body if it was short, or has to be read as a whole."""
        if not self._came:
            self._slicer = None
        await self._hand_over()
        await self._settle()
        slicer, self._slicer = self._slicer, None
        if slicer is not None:
            self.sliced = await beside(partial(_finished, slicer))
        return b"" if self._let_go or self.sliced is not None else await self._whole.end()

    async def _hand_over(self) -> None:
        """Have the batch read, once the one before it has been."""
        await self._settle()
        batch, self._batch, self._gathered = b"".join(self._batch), [], 0
        self._came += len(batch)
        if not self._let_go:
            await self._whole.take(batch)
        if self._slicer is not None:
            self._work = beside(partial(_fed, self._slicer, batch))

    async def _settle(self) -> None:
        work, self._work, slicer = self._work, None, self._slicer
        if work is None or slicer is None:
            return
        if not await work:
            self._slicer = None
        elif not self._let_go and slicer.has_begun and self._came > KEPT:
            self._let_go = True
            self._whole.begin()


def _fed(slicer: Slicer[R], batch: bytes) -> bool:
    try:
        slicer.feed(batch)
    except UnevenError:
        return False
    return True


def _finished(slicer: Slicer[R]) -> Sliced[R] | None:
    try:
        return slicer.finish()
    except UnevenError:
        return None
    finally:
        give_back()
