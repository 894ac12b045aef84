"""An answer belongs to its request: what came behind another, or unasked, is no answer."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import httpcore
import pytest

from agentco_tui.api import errors, network
from agentco_tui.api.errors import Sent
from agentco_tui.api.library_patches import SURPLUS_BYTES, watch_answers
from agentco_tui.api.pools import EXCEPTIONS
from tests.api.canary import failure, transport
from tests.api.test_transport_tls import CA, showing
from tests.api.wire_server import Answer, Exchange, answering, http

MINE, FORGED = b'"mine"', b'"forged"'
APPROVE = "/api/tasks/t/approve"


def chunked(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


async def in_two_packets(exchange: Exchange) -> None:
    await exchange.send(http(MINE))
    await exchange.send(http(FORGED))


WITH_MORE: dict[str, Answer] = {
    "doubled": http(MINE) + http(FORGED),
    "longer than its length": http(MINE + http(FORGED), length=len(MINE)),
    "chunked and doubled": chunked(MINE) + http(FORGED),
    "half a head": http(MINE) + b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nX-Rest: ",
    "no content, with one": http(b"", 204, headers={"Content-Length": "0"}) + http(FORGED),
    "another interim": http(MINE) + b"HTTP/1.1 103 Early Hints\r\n\r\n",
    "two packets": in_two_packets,
    "more than is read at once": http(b'"%s"' % (b"x" * 65_000)) + http(FORGED) * 2_000,
}


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("answer", WITH_MORE.values(), ids=WITH_MORE)
async def test_what_came_behind_an_answer_answers_nothing(answer: Answer, tls: bool) -> None:
    context = showing("right") if tls else None
    async with (
        answering(answer, http(MINE), keep=True, tls=context) as server,
        transport(server.base, ca_file=CA) as wire,
    ):
        await wire.request("GET", "/api/agents")
        after = await wire.request("GET", "/api/tasks")
        assert after.body == MINE
        assert server.connections == 2
        assert server.heads == ["GET /api/agents HTTP/1.1", "GET /api/tasks HTTP/1.1"]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_what_comes_while_nothing_is_asked_answers_nothing(method: str) -> None:
    kept: list[Exchange] = []

    async def once(exchange: Exchange) -> None:
        kept.append(exchange)
        await exchange.send(http(MINE))

    async with answering(once, http(MINE), keep=True) as server, transport(server.base) as wire:
        await wire.request(method, APPROVE)
        await kept[0].send(http(FORGED))
        assert (await wire.request(method, APPROVE)).body == MINE
        assert server.connections == 2
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "answer", [http(MINE) + http(FORGED), http(b"{}", 403) + http(FORGED), in_two_packets]
)
async def test_a_write_with_two_answers_is_unknown_and_sent_once(answer: Answer) -> None:
    async with answering(answer, keep=True) as server, transport(server.base) as wire:
        if answer is in_two_packets:
            # Which of the two came in time to be seen with the first is the machine's affair.
            await asyncio.gather(wire.request("POST", APPROVE), return_exceptions=True)
        else:
            error = await failure(wire.request("POST", APPROVE))
            assert type(error) is errors.Broken
            assert error.sent is Sent.UNKNOWN
            assert "more than one answer" in error.sentence
        assert len(server.requests) == 1


async def test_a_decision_reads_no_answer_of_two_where_a_poll_does() -> None:
    async with (
        answering(http(MINE) + http(FORGED), keep=True) as server,
        transport(server.base) as wire,
    ):
        assert (await wire.request("GET", "/api/tasks")).body == MINE
        error = await failure(wire.for_decisions().request("GET", "/api/tasks"))
        assert type(error) is errors.Broken
        assert len(server.requests) == 2


async def test_a_line_end_behind_an_answer_is_no_answer() -> None:
    async with answering(http(MINE) + b"\r\n", keep=True) as server, transport(server.base) as wire:
        for _ in range(2):
            assert (await wire.for_decisions().request("GET", "/api/tasks")).body == MINE
            assert (await wire.request("POST", APPROVE)).body == MINE
        assert server.connections == 4


async def test_interim_answers_belong_to_the_one_that_follows() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    async with answering(interim + http(MINE), keep=True) as server, transport(server.base) as wire:
        for _ in range(3):
            assert (await wire.request("POST", APPROVE)).body == MINE
        assert server.connections == 1


@pytest.mark.parametrize("tls", [False, True])
async def test_nothing_is_asked_of_who_speaks_first(tls: bool) -> None:
    async def speaks(exchange: Exchange) -> None:
        await exchange.send(http(FORGED))

    context = showing("right") if tls else None
    async with answering(http(MINE), keep=True, tls=context, at_once=speaks) as server:
        made = await network.Network(may_resend=False).connect_tcp("127.0.0.1", server.port)
        if tls:
            made = await made.start_tls(ssl.create_default_context(cafile=CA), "127.0.0.1")
        while not made.get_extra_info("is_readable"):  # noqa: ASYNC110 (the other side's doing)
            await asyncio.sleep(0)
        with pytest.raises(httpcore.RemoteProtocolError):
            await made.write(b"POST /api/tasks/t/approve HTTP/1.1\r\n\r\n")
        await made.aclose()
        await server.empty()
        assert server.requests == []


async def test_decisions_wait_for_no_place_of_others() -> None:
    async def hangs(exchange: Exchange) -> None:
        await exchange.until_left()

    async with (
        answering(*[hangs] * 8, http(MINE), keep=True) as server,
        transport(server.base) as wire,
    ):
        held = [asyncio.create_task(wire.request("GET", "/api/tasks")) for _ in range(20)]
        await server.asked(8)
        assert (await wire.for_decisions().request("GET", "/api/tasks")).body == MINE
        assert (await wire.request("POST", APPROVE)).body == MINE
        for request in held:
            request.cancel()
        await asyncio.gather(*held, return_exceptions=True)


@pytest.mark.parametrize("lost", ["_response_closed", "_h11_state", "the watch"])
async def test_unwatched_connections_are_closed(monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    """As with a later httpcore whose inner names are others."""
    assert watch_answers()
    owner: Any = httpcore.AsyncHTTP11Connection
    if lost == "_response_closed":
        SURPLUS_BYTES.uninstall()
        # private: as in an httpcore that has no such method.
        monkeypatch.delattr(owner, "_response_closed")
        assert not watch_answers()
        return
    # private: the patch under test wraps this method.
    watched = owner._response_closed

    async def response_closed(self: Any) -> None:
        parser, self._h11_state = self._h11_state, None
        await watched(self)
        self._h11_state = parser

    if lost == "the watch":
        monkeypatch.setattr("agentco_tui.api.pools.watch_answers", lambda: False)
    else:
        # private: as above.
        monkeypatch.setattr(owner, "_response_closed", response_closed)
    async with answering(http(MINE), keep=True) as server, transport(server.base) as wire:
        for _ in range(3):
            assert (await wire.request("GET", "/api/tasks")).body == MINE
        assert server.connections == 3


async def test_httpcore_still_needs_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the second of two answers in one packet is read as the answer to the next."""
    SURPLUS_BYTES.uninstall()
    monkeypatch.setattr("agentco_tui.api.pools.watch_answers", lambda: True)
    async with (
        answering(http(MINE) + http(FORGED), http(MINE), keep=True) as server,
        transport(server.base) as wire,
    ):
        await wire.request("GET", "/api/agents")
        after = await wire.request("GET", "/api/tasks")
        assert after.body == FORGED, "httpcore no longer needs api/library_patches.py"


def test_every_exception_of_httpcore_has_one_of_httpx() -> None:
    raised = {
        each
        for each in vars(httpcore).values()
        if isinstance(each, type) and issubclass(each, Exception)
    }
    assert raised == EXCEPTIONS.keys()
    others = {old for old, new in EXCEPTIONS.items() if old.__name__ != new.__name__}
    assert others == {httpcore.ConnectionNotAvailable}


async def test_a_fault_of_this_program_is_no_lost_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: object, **__: object) -> bytes:
        raise TypeError("a fault")

    monkeypatch.setattr("agentco_tui.api.tcp_connection.Connection.read", fails)
    async with answering(http(MINE)) as server, transport(server.base) as wire:
        with pytest.raises(TypeError, match="a fault"):
            await wire.request("GET", "/api/tasks")
    assert "TypeError: a fault" in caplog.text


@pytest.mark.parametrize("first", ["refuses", "hangs"])
async def test_the_next_address_is_tried(monkeypatch: pytest.MonkeyPatch, first: str) -> None:
    # private: this machine has no address that never answers.
    connect_socket = network._connect_socket
    tried: list[str] = []

    async def slow(*info: Any) -> socket.socket:
        tried.append(info[-1][0])
        if info[-1][0] == "127.0.0.2":
            if first == "refuses":
                raise ConnectionRefusedError(111, "x")
            await asyncio.Event().wait()
        return await connect_socket(*info)

    async def both(self: object, host: str, port: int, **_: object) -> list[Any]:
        kind = socket.SOCK_STREAM
        places = "127.0.0.2", "127.0.0.1"
        return [(socket.AF_INET, kind, 0, "", (place, port)) for place in places]

    # private: as above.
    monkeypatch.setattr(network, "_connect_socket", slow)
    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", both)
    async with (
        answering(http(MINE), keep=True) as server,
        transport(server.base.replace("127.0.0.1", "localhost")) as wire,
    ):
        assert (await wire.request("GET", "/api/tasks")).body == MINE
    assert tried == ["127.0.0.2", "127.0.0.1"]


async def test_all_addresses_refuse() -> None:
    async with answering(http(MINE)) as server:
        base = server.base.replace("127.0.0.1", "localhost")
    async with transport(base) as wire:
        error = await failure(wire.request("POST", APPROVE))
    assert type(error) is errors.Refused
    assert error.sent is Sent.NO
