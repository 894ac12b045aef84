"""Several large bodies at once: the largest gives way, the others come through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agentco_tui.api.answered import Asked
from agentco_tui.api.errors import TooLarge
from agentco_tui.api.held import Held
from agentco_tui.api.intake import Whole
from agentco_tui.text import safe

ASKED = Asked("GET", "/api/tasks", safe("host"))


async def pieces(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * 10
        await asyncio.sleep(0)


async def test_the_largest_gives_way() -> None:
    held = Held(100)
    large, *small = await asyncio.gather(
        held.into(Whole(), pieces(30), ASKED, 200),
        held.into(Whole(), pieces(3), ASKED, 200),
        held.into(Whole(), pieces(2), ASKED, 200),
        return_exceptions=True,
    )
    assert isinstance(large, TooLarge)
    assert small == [b"x" * 30, b"x" * 20]
    assert held.bytes == 0


async def test_one_alone_may_have_all() -> None:
    held = Held(100)
    assert len(await held.into(Whole(), pieces(10), ASKED, 200)) == 100
    with pytest.raises(TooLarge):
        await held.into(Whole(), pieces(11), ASKED, 200)
    assert held.bytes == 0
