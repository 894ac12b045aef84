"""A platform that quotes the key it was sent shows it to nobody through this program."""

from __future__ import annotations

from tests.api.canary import CANARY, failure, transport
from tests.api.wire_server import answering, http

QUOTED = f'{{"error": {{"message": "{CANARY} is not valid, sent as Bearer {CANARY}"}}}}'.encode()


async def test_in_a_refusal() -> None:
    async with answering(http(QUOTED, 401)) as server, transport(server.base) as wire:
        error = await failure(wire.request("GET", "/api/tasks"))
    assert error.platform_message == "ag_**** is not valid, sent as Bearer ag_****"


async def test_in_a_body() -> None:
    async with answering(http(QUOTED)) as server, transport(server.base) as wire:
        reply = await wire.request("GET", "/api/tasks")
    assert CANARY.encode() not in reply.body
    assert b"Bearer ag_****" in reply.body


async def test_in_the_export() -> None:
    async with (
        answering(http(QUOTED)) as server,
        transport(server.base) as wire,
        wire.stream("/api/activity/export") as (_, coming),
    ):
        told = b"".join([piece async for piece in coming])
    assert CANARY.encode() not in told
    assert b"Bearer ag_****" in told
