"""Several large bodies at once: the largest gives way, the others come through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agentco_tui.api.answered import Asked
from agentco_tui.api.errors import TooLarge
from agentco_tui.api.held import Held
from agentco_tui.api.incoming import Reply
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


def reply(body: bytes) -> Reply:
    return Reply(200, {}, body, 0.0, 0.0)


async def test_a_whole_body_counts_until_it_has_been_read() -> None:
    held = Held(100, short=10, patience=60)
    unread = held.until_read(reply(b"x" * 80))
    assert held.bytes == 80
    coming = asyncio.create_task(held.into(Whole(), pieces(5), ASKED, 200))
    while held.bytes < 100:  # noqa: ASYNC110
        await asyncio.sleep(0)
    short = await held.into(Whole(), pieces(1), ASKED, 200)
    assert short == b"x" * 10, "a short one waits for nobody"
    assert not coming.done()
    assert held.bytes == 100
    del unread
    assert await coming == b"x" * 50
    assert held.bytes == 0


async def test_where_nothing_is_read_for_long_the_largest_gives_way() -> None:
    held = Held(100, short=10, patience=0)
    unread = held.until_read(reply(b"x" * 80))
    with pytest.raises(TooLarge):
        await held.into(Whole(), pieces(5), ASKED, 200)
    assert held.bytes == len(unread.body)


async def test_a_short_body_that_is_not_read_keeps_nobody_waiting() -> None:
    held = Held(100, short=10)
    unread = [held.until_read(reply(b"x" * 10)) for _ in range(20)]
    assert len(await held.into(Whole(), pieces(10), ASKED, 200)) == 100
    assert len(unread) == 20
