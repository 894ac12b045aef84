"""The first request is sent early; its answer is handed over once and then let go."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence

import pytest

from agentco_tui.api import transport
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.fetcher import Prefetch
from agentco_tui.model import Task
from tests.api.canary import CANARY, client_of, failure
from tests.api.wire_server import WireServer, answering, http


def begun(server: WireServer) -> Prefetch:
    early = Prefetch.begin(None, BaseUrl.parse(server.base), ApiKey(CANARY))
    assert early is not None
    return early


def sent(count: int) -> bytes:
    return json.dumps(
        [{"id": f"t{at}", "title": f"Pay invoice {at}"} for at in range(count)]
    ).encode()


@pytest.fixture(autouse=True)
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte is too long to be read as a whole."""
    monkeypatch.setattr(transport, "ONE_PIECE", 1024 * 1024)


@pytest.mark.parametrize("count", [3, 30_000], ids=["short", "long"])
async def test_the_answer_is_taken_over_once(count: int) -> None:
    body = sent(count)
    assert (len(body) > transport.ONE_PIECE) == (count > 3)
    async with answering(http(body), keep=True) as server, client_of(server) as client:
        client.prefetch = begun(server)
        first = await client.tasks(status="pending")
        assert len(first.records) == count
        assert len(server.requests) == 1
        assert await client.tasks(status="pending") is first
        assert len(server.requests) == 2


@pytest.mark.parametrize("early", [True, False], ids=["sent early", "asked for"])
async def test_the_first_rows_of_a_long_list_are_told_before_the_rest(early: bool) -> None:
    told: list[Sequence[Task]] = []
    async with answering(http(sent(30_000)), keep=True) as server, client_of(server) as client:
        if early:
            client.prefetch = begun(server)
        whole = await client.tasks(status="pending", begins=told.append)
        assert 0 < len(told[0]) < 3_000
        assert told == [whole.records[: len(told[0])]]
        await client.tasks(status="pending", begins=told.append)
        assert len(told) == 1, "of a list that is known the whole is at hand"


async def test_of_a_short_list_nothing_is_told_first() -> None:
    told: list[Sequence[Task]] = []
    async with answering(http(sent(3))) as server, client_of(server) as client:
        assert len((await client.tasks(begins=told.append)).records) == 3
        assert told == []


async def test_another_question_is_asked_by_itself() -> None:
    async with answering(http(sent(3)), keep=True) as server, client_of(server) as client:
        client.prefetch = begun(server)
        assert len((await client.tasks()).records) == 3
        assert len((await client.tasks(status="pending")).records) == 3


async def test_a_failure_is_that_of_the_request_itself() -> None:
    async with answering(http(b"", 403)) as server, client_of(server) as client:
        client.prefetch = begun(server)
        assert (await failure(client.tasks(status="pending"))).status == 403
        assert len(server.requests) == 1


async def test_what_was_handed_over_is_let_go() -> None:
    async with answering(http(sent(30_000))) as server:
        early = begun(server)
        reply = await early.take("/api/tasks", (("status", "pending"),))
        assert reply is not None
        assert reply.body == b""
        assert reply.streamed is not None
        assert len(reply.streamed.records) == 30_000
        assert reply not in gc.get_referents(early, *vars(early).values())
        assert await early.take("/api/tasks", (("status", "pending"),)) is None
