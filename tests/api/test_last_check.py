"""Whether a write may leave is asked on a connection that is ready, right before its first byte."""

from __future__ import annotations

import asyncio

import pytest

from agentco_tui.api import errors, network, tcp_connection
from agentco_tui.api.errors import Sent
from agentco_tui.text import SafeText, mark_safe
from tests.api.canary import failure, transport
from tests.api.test_transport_tls import CA, showing
from tests.api.wire_server import Exchange, answering, http

APPROVE = "/api/tasks/t/approve"


@pytest.mark.parametrize("body", [None, b'{"monthly_limit":5}'])
@pytest.mark.parametrize("tls", [False, True])
async def test_nothing_leaves_where_there_is_a_reason(tls: bool, body: bytes | None) -> None:
    context = showing("right") if tls else None
    async with (
        answering(http(), keep=True, tls=context) as server,
        transport(server.base, ca_file=CA) as wire,
    ):
        connections: list[int] = []
        reasons: list[SafeText | None] = [mark_safe("it was read too long ago"), None]

        def why_withheld() -> SafeText | None:
            connections.append(server.connections)
            return reasons.pop(0)

        asked = wire.request("POST", APPROVE, json_body=body, why_withheld=why_withheld)
        error = await failure(asked)
        assert isinstance(error, errors.Withheld)
        assert (error.sent, error.sentence) == (Sent.NO, "it was read too long ago")
        assert server.requests == []
        await wire.request("POST", APPROVE, json_body=body, why_withheld=why_withheld)
        assert len(server.requests) == 1
        assert server.requests[0].endswith(b"\r\n\r\n" + (body or b""))
        assert min(connections) >= 1, "it was asked before there was a connection"
        assert len(connections) == 2


async def test_head_and_body_leave_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[bytes] = []
    passed = tcp_connection.LastCheck.pass_on

    def noted(self: tcp_connection.LastCheck, data: bytes) -> bytes:
        pieces.append(passed(self, data))
        return pieces[-1]

    monkeypatch.setattr(tcp_connection.LastCheck, "pass_on", noted)
    async with answering(http()) as server, transport(server.base) as wire:
        await wire.request("POST", APPROVE, json_body=b"[7]", why_withheld=lambda: None)
        assert [piece for piece in pieces if piece] == server.requests


async def test_a_wait_for_the_connection_comes_before_the_check() -> None:
    """A handshake that takes its time: what has changed meanwhile is seen."""
    changed = asyncio.Event()

    async def shakes_hands_late(exchange: Exchange) -> None:
        del exchange
        changed.set()

    async with (
        answering(http(), at_once=shakes_hands_late) as server,
        transport(server.base) as wire,
    ):
        wire.for_decisions().connect_ahead()
        await changed.wait()

        def why_withheld() -> SafeText | None:
            return mark_safe("it changed") if changed.is_set() else None

        error = await failure(wire.request("POST", APPROVE, why_withheld=why_withheld))
        assert isinstance(error, errors.Withheld)
        assert server.requests == []


@pytest.mark.parametrize("tls", [False, True])
async def test_a_write_takes_the_connection_that_was_made_ahead(tls: bool) -> None:
    context = showing("right") if tls else None
    async with (
        answering(http(), keep=True, tls=context) as server,
        transport(server.base, ca_file=CA) as wire,
    ):
        for _ in range(2):
            wire.connect_ahead()
        await wire.request("POST", APPROVE)
        await wire.request("POST", APPROVE)
        assert (server.connections, len(server.requests)) == (1, 2)


async def test_what_was_made_ahead_is_not_used_once_it_is_closed() -> None:
    async def closes(exchange: Exchange) -> None:
        if exchange.server.connections == 1:
            exchange.writer.close()

    async with (
        answering(http(), keep=True, at_once=closes) as server,
        transport(server.base) as wire,
    ):
        wire.connect_ahead()
        while server.connections == 0:  # noqa: ASYNC110 (the other side's doing)
            await asyncio.sleep(0)
        await server.empty()
        assert (await wire.request("POST", APPROVE)).status == 200
        assert len(server.requests) == 1


async def test_a_connection_that_nobody_took_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "WRITES_KEPT", 0.01)
    async with answering(http(), keep=True) as server, transport(server.base) as wire:
        wire.connect_ahead()
        while server.connections == 0:  # noqa: ASYNC110 (the other side's doing)
            await asyncio.sleep(0)
        await server.empty()
        assert (await wire.request("POST", APPROVE)).status == 200
    async with answering(http(), keep=True) as server:
        async with transport(server.base) as wire:
            wire.connect_ahead()
        await server.empty()
        assert server.requests == []
