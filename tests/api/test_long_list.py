"""A long body is read while it comes, and what of it is held stays small."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator
from concurrent.futures import Future
from typing import Any

import pytest

from agentco_tui.api import errors, slices
from agentco_tui.api.answered import Asked
from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.cuts import Cutter
from agentco_tui.api.decode import TASKS, decode_page
from agentco_tui.api.held import Held
from agentco_tui.api.intake import SHORT, Intake, Waiting, Whole
from agentco_tui.api.long_list import KEPT, LongList
from agentco_tui.model.records import Task
from agentco_tui.reading.json_body import parse_json
from agentco_tui.text import safe
from tests.api.canary import CANARY, failure
from tests.api.wire_server import Answer, WireServer, answering, http

ASKED = Asked("GET", "/api/tasks", safe("host"))
FAT = "A long description, as agents write them. " * 90


def sent(count: int, around: dict[str, Any] | None = None, **more: Any) -> bytes:
    """`count` tasks of some four kilobytes each."""
    tasks = [
        {"id": f"t{number}", "title": f"Task {number}", "description": f"{number} {FAT}", **more}
        for number in range(count)
    ]
    return json.dumps(tasks if around is None else {"tasks": tasks, **around}).encode()


async def pieces(body: bytes, size: int = 65_536) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]
        await asyncio.sleep(0)


async def into(intake: Intake, body: bytes, size: int = 65_536) -> bytes:
    return await Held().into(intake, pieces(body, size), ASKED, 200)


def client_of(server: WireServer) -> Client:
    return open_client(BaseUrl.parse(server.base), ApiKey(CANARY), attempts=1)


@pytest.mark.parametrize("size", [1_000, 65_536, 3_000_000])
async def test_however_it_comes_it_says_what_the_whole_says(size: int) -> None:
    body = sent(900, {"total": 5_000, "next_cursor": "abc"})
    coming: LongList[Task] = LongList(TASKS, None)
    assert await into(coming, body, size) == b""
    assert not coming.lost
    assert coming.sliced is not None
    assert coming.sliced.page == decode_page(TASKS, parse_json(body))
    assert coming.sliced.size == len(body)


async def test_a_short_body_is_handed_on() -> None:
    body = sent(20)
    coming: LongList[Task] = LongList(TASKS, None)
    assert await into(coming, body) == body
    assert coming.sliced is None
    assert not coming.lost


@pytest.mark.parametrize("count", [200, 2_000], ids=["kept", "let go"])
async def test_what_must_be_read_as_a_whole_is_there_or_told_to_be_lost(count: int) -> None:
    body = sent(count, {"included": [{"id": "ag_1", "name": "Maya"}]})
    coming: LongList[Task] = LongList(TASKS, None)
    told = await into(coming, body)
    assert coming.sliced is None
    assert (len(body) < KEPT) == (told == body)
    assert coming.lost == (told == b"")


async def test_what_is_uneven_from_the_start_is_never_lost() -> None:
    body = json.dumps({f"t{at}": {"id": f"t{at}", "title": FAT} for at in range(900)}).encode()
    coming: LongList[Task] = LongList(TASKS, None)
    assert await into(coming, body) == body


def test_the_cutter_holds_a_small_part_whatever_comes() -> None:
    body, most = sent(3_000), 0
    cutter = Cutter()
    for start in range(0, len(body), 100_000):
        for raws in cutter.feed(body[start : start + 100_000]):
            assert sum(map(len, raws)) < 80_000
        most = max(most, len(cutter._rest))
    assert most < 100_000
    assert len(body) > 10_000_000


async def test_the_memory_it_takes_is_that_of_the_records() -> None:
    body = sent(2_000)
    doubled = body[:-1] + b", " + body[1:]
    memo = LongList(TASKS, None)
    await into(memo, body)
    assert memo.sliced is not None
    coming: LongList[Task] = LongList(TASKS, memo.sliced.memo)
    tracemalloc.start()
    try:
        await into(coming, doubled)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert coming.sliced is not None
    assert len(coming.sliced.page.records) == 2_000
    assert len(doubled) > 15_000_000
    # The list comes twice over, and each time its records are those that are known.
    assert peak < 4_000_000


async def test_small_records_count_as_what_they_take() -> None:
    """A list of thirty bytes a record takes ten times its size: that must not escape the limit."""
    rows = [b'{"id":"t%d","title":"Pay %d"}' % (at, at) for at in range(30_000)]
    slicer = slices.Slicer(TASKS, None)
    tracemalloc.start()
    try:
        slicer.feed(b"[" + b",".join(rows) + b"]")
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken * 0.7 < slicer.held < taken * 1.5


async def test_of_several_lists_at_once_the_largest_gives_way() -> None:
    held = Held(4_000_000)
    rows = b",".join(b'{"id":"t%d","title":"Pay %d"}' % (at, at) for at in range(60_000))
    large, small = await asyncio.gather(
        held.into(LongList(TASKS, None), pieces(b"[" + rows + b"]"), ASKED, 200),
        held.into(LongList(TASKS, None), pieces(sent(150)), ASKED, 200),
        return_exceptions=True,
    )
    assert isinstance(large, errors.TooLarge)
    assert small == sent(150)
    assert held.bytes == 0


async def test_a_whole_body_is_there_once() -> None:
    body = sent(3_000)
    tracemalloc.start()
    try:
        told = await into(Whole(), body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert told == body
    assert peak < len(body) * 1.3


async def test_no_more_records_are_kept_than_a_listing_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TASKS, "most", 3_000)
    rows = b",".join(b'{"id":"t%d","title":"Pay %d"}' % (at, at) for at in range(40_000))
    coming: LongList[Task] = LongList(TASKS, None)
    await into(coming, b"[" + rows + b"]")
    assert coming.sliced is not None
    assert len(coming.sliced.page.records) == 3_001


async def test_a_listing_of_more_than_its_kind_may_have_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TASKS, "most", 1_500)
    for count in (1_500, 1_501, 12_000):
        async with answering(http(sent(count))) as server, client_of(server) as client:
            listing = await client.tasks()
        assert len(listing.records) == 1_500
        assert listing.capped is (count > 1_500)


async def test_a_list_that_is_lost_is_asked_for_once_more_and_then_read_as_a_whole() -> None:
    body = http(sent(2_000, {"included": [{"id": "ag_1", "name": "Maya"}]}, agent_id="ag_1"))
    plain = http(sent(2_000, agent_id="ag_1"))
    answers: list[Answer] = [body, body, body, plain, plain]
    async with answering(*answers, keep=True) as server, client_of(server) as client:
        first = await client.tasks()
        assert len(server.requests) == 2
        assert first.records[0].agent is not None
        assert first.records[0].agent.name == "Maya"
        assert await client.tasks() is first
        assert len(server.requests) == 3, "it is known to be uneven"
        second = await client.tasks()
        third = await client.tasks()
        assert len(server.requests) == 5
        assert third is second
        assert not client._pager._uneven, "and even again"


async def test_a_long_body_that_is_broken_is_told_as_such() -> None:
    body = sent(2_000)
    broken = http(body[:4_000_000] + b'"#' + body[4_000_000:])
    async with answering(broken, keep=True) as server, client_of(server) as client:
        error = await failure(client.tasks())
    assert isinstance(error, errors.NotJson)


async def test_a_failed_2xx_around_a_long_list_is_told_as_such() -> None:
    body = http(sent(2_000, {"success": False, "error": {"message": "half the shards"}}))
    async with answering(body, keep=True) as server, client_of(server) as client:
        error = await failure(client.tasks())
    assert error.platform_message == "half the shards"


async def test_a_failed_attempt_leaves_nothing_behind() -> None:
    body = sent(2_000)
    coming: LongList[Task] = LongList(TASKS, None)

    async def cut() -> AsyncIterator[bytes]:
        async for piece in pieces(body[: len(body) // 2]):
            yield piece
        raise OSError("the line is cut")

    with pytest.raises(OSError, match="the line"):
        await Held().into(coming, cut(), ASKED, 200)
    assert (coming.sliced, coming.lost) == (None, False)
    await into(coming, body)
    assert coming.sliced is not None
    assert len(coming.sliced.page.records) == 2_000


async def test_a_long_body_waits_for_its_reader() -> None:
    other: Future[Intake] = Future()
    waiting = Waiting(other)
    body = sent(500)
    read, enough = 0, asyncio.Event()

    async def counted() -> AsyncIterator[bytes]:
        nonlocal read
        async for piece in pieces(body):
            read += len(piece)
            if read > SHORT:
                enough.set()
            yield piece

    under_way = asyncio.create_task(Held().into(waiting, counted(), ASKED, 200))
    await enough.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert read <= SHORT + 65_536
    whole = Whole()
    other.set_result(whole)
    assert await under_way == body


async def test_a_short_body_waits_for_nobody() -> None:
    assert await into(Waiting(Future()), b"[]") == b"[]"
