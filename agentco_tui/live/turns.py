"""Long work on the event loop, taken in slices so that nothing waits for it (law 5)."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")

SLICE = 0.008
"""Seconds."""


async def in_turns(steps: Generator[None, None, T]) -> T:
    """Run a generator to its end, with other things getting their turn; what it returns."""
    while True:
        await asyncio.sleep(0)
        until = perf_counter() + SLICE
        while perf_counter() < until:
            try:
                next(steps)
            except StopIteration as end:
                result: T = end.value
                return result
