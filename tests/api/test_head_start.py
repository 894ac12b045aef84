"""The first request is sent early; its answer is handed over once and then let go."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref

import pytest

from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.decode import TASKS
from agentco_tui.api.head_start import HeadStart
from agentco_tui.api.intake import SHORT
from agentco_tui.api.long_list import LongList
from tests.api.canary import CANARY
from tests.api.wire_server import WireServer, answering, http


def begun(server: WireServer) -> HeadStart:
    start = HeadStart.begin(None, BaseUrl.parse(server.base), ApiKey(CANARY))
    assert start is not None
    return start


def client_of(server: WireServer) -> Client:
    return open_client(BaseUrl.parse(server.base), ApiKey(CANARY), attempts=1)


def sent(count: int) -> bytes:
    return json.dumps(
        [{"id": f"t{at}", "title": f"Pay invoice {at}"} for at in range(count)]
    ).encode()


@pytest.mark.parametrize("count", [3, 20_000], ids=["short", "long"])
async def test_the_answer_is_taken_over_once(count: int) -> None:
    body = sent(count)
    assert (len(body) > SHORT) == (count > 3)
    async with answering(http(body), keep=True) as server, client_of(server) as client:
        client.take_over(begun(server))
        first = await client.tasks(status="pending")
        assert len(first.records) == count
        assert len(server.requests) == 1
        assert await client.tasks(status="pending") is first
        assert len(server.requests) == 2


async def test_another_question_is_asked_by_itself() -> None:
    async with answering(http(sent(3)), keep=True) as server, client_of(server) as client:
        client.take_over(begun(server))
        assert len((await client.tasks()).records) == 3
        assert len((await client.tasks(status="pending")).records) == 3


async def test_what_was_handed_over_is_let_go() -> None:
    async with answering(http(sent(40_000)), keep=True) as server:
        start = begun(server)
        coming = LongList(TASKS, None)
        reply = await start.take("/api/tasks", (("status", "pending"),), coming)
        assert reply is not None
        assert reply.body == b""
        assert coming.sliced is not None
        held = weakref.ref(coming)
        del coming
        await asyncio.to_thread(lambda: None)
        gc.collect()
        assert held() is None
