"""A web socket: what goes out, what comes in, and a server that means no good."""

from __future__ import annotations

import asyncio
import logging
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.utils import accept_key

from agentco_tui import __version__
from agentco_tui.api import errors
from agentco_tui.api.capabilities import Conventions
from agentco_tui.api.credentials import ApiKey
from agentco_tui.api.errors import ApiError
from agentco_tui.api.limits import Limits
from agentco_tui.api.transport import Transport
from tests.api.canary import CANARY, SHORT, failure, transport
from tests.api.wire_server import Exchange, answering, http

PATH = "/api/companies/c1/events/ws"
CERTIFICATES = Path(__file__).parent / "certificates"
CONTINUED, TEXT, BINARY, CLOSE, PONG = 0x0, 0x1, 0x2, 0x8, 0xA
IMPATIENT = Limits(silence=0.02, read=0.02)

Answer = Callable[[Exchange], Awaitable[None]]


def frame(data: bytes, opcode: int = TEXT, *, is_last: bool = True, reserved: int = 0) -> bytes:
    """A frame as a server sends it (RFC 6455, section 5.2)."""
    first = (0x80 if is_last else 0) | reserved | opcode
    if len(data) < 126:
        return struct.pack("!BB", first, len(data)) + data
    if len(data) < 65536:
        return struct.pack("!BBH", first, 126, len(data)) + data
    return struct.pack("!BBQ", first, 127, len(data)) + data


async def accept(exchange: Exchange) -> None:
    """Answer the last request with a web socket."""
    request = exchange.server.requests[-1].decode()
    name = "Sec-WebSocket-Key: "
    [key] = [line.removeprefix(name) for line in request.split("\r\n") if line.startswith(name)]
    await exchange.send(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + f"Sec-WebSocket-Accept: {accept_key(key)}\r\n\r\n".encode()
    )


def accepting(sent: bytes = b"") -> Answer:
    """Open a web socket, send these bytes, and stay until the other side leaves."""

    async def answer(exchange: Exchange) -> None:
        await accept(exchange)
        await exchange.send(sent)
        await exchange.until_left()

    return answer


async def messages_of(wire: Transport) -> AsyncIterator[bytes]:
    async with wire.web_socket(PATH) as messages:
        async for message in messages:
            yield message


async def all_of(wire: Transport, found: list[bytes]) -> None:
    """Receive until it ends, which it does with an error."""
    async for message in messages_of(wire):
        found.append(message)


async def error_at(answer: bytes | Answer, **settings: Any) -> ApiError:
    """The error with which a web socket ends; by then the connection has been closed.

    The server never hangs up first, and no ping finds out that it should have.
    """
    settings.setdefault("limits", Limits(silence=1e6))
    async with answering(answer) as server, transport(server.base, **settings) as wire:
        error = await failure(all_of(wire, []))
        await server.empty()
    return error


async def test_the_key_goes_out_in_the_header_and_nowhere_else() -> None:
    async with answering(accepting()) as server, transport(server.base + "/tools") as wire:
        async with wire.web_socket(PATH):
            pass
        await server.empty()
        head, *lines = server.requests[0].decode().strip().split("\r\n")
        names = {line.partition(":")[0] for line in lines}
        assert head == f"GET /tools{PATH} HTTP/1.1"
        assert {
            f"Host: 127.0.0.1:{server.port}",
            f"Authorization: Bearer {CANARY}",
            f"User-Agent: agentco-tui/{__version__}",
        } <= set(lines)
        assert names == {
            *("Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version"),
            *("Authorization", "User-Agent"),
        }
        wire.key.replace(ApiKey("another-key"))
        async with wire.web_socket(PATH):
            pass
        assert "Authorization: Bearer another-key" in server.requests[1].decode()


async def test_no_key_is_sent_where_none_is_needed() -> None:
    async with (
        answering(accepting()) as server,
        transport(server.base, conventions=Conventions(key_header=None)) as wire,
    ):
        async with wire.web_socket(PATH):
            pass
        assert b"Authorization" not in server.requests[0]


async def test_messages_arrive_in_order_until_the_server_closes() -> None:
    sent = frame(b"one") + frame(b"tw", is_last=False) + frame(b"o", CONTINUED)
    sent += frame(b"\x00three", BINARY) + frame(b"", CLOSE)
    found: list[bytes] = []
    async with answering(accepting(sent)) as server, transport(server.base) as wire:
        error = await failure(all_of(wire, found))
    assert found == [b"one", b"two", b"\x00three"]
    assert type(error) is errors.Broken
    assert "closed the web socket" in error.sentence


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, errors.OtherStatus),
        (302, errors.Redirected),
        (401, errors.KeyRejected),
        (403, errors.NotAllowed),
        (404, errors.NotFound),
        (426, errors.OtherStatus),
        (429, errors.RateLimited),
        (503, errors.PlatformFailed),
    ],
)
async def test_a_refusal_is_the_error_of_its_status(status: int, expected: type[ApiError]) -> None:
    headers = {"Retry-After": "7", "Location": "/elsewhere"}
    error = await error_at(http(b"<b>no</b>", status, headers=headers))
    assert type(error) is expected
    assert error.status == status
    assert error.platform_message is None
    assert error.retry_after == (None if status == 200 else 7.0)


@pytest.mark.parametrize("scheme", ["http", "ws", "https", "wss", "nonsense"])
async def test_no_redirect_is_followed(scheme: str) -> None:
    async with answering(accepting(frame(b"stolen"))) as other:
        location = f"{scheme}://127.0.0.1:{other.port}{PATH}"
        error = await error_at(http(b"", 307, headers={"Location": location}))
        assert type(error) is errors.Redirected
        assert other.connections == 0


HUGE = b"x" * (1024 * 1024 + 1)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (frame(HUGE), errors.TooLarge),
        (frame(HUGE[:-2], is_last=False) + frame(b"xx", CONTINUED), errors.TooLarge),
        (struct.pack("!BBQ", 0x81, 127, 2**62), errors.TooLarge),
        (b"HTTP/1.1 200 OK\r\n" * 99, errors.Broken),
        (frame(b"\xcb\x48\xcd\xc9\xc9\x07\x00", reserved=0x40), errors.Broken),  # it is compressed
        (frame(b"", CLOSE) + frame(b"after the end"), errors.Broken),
    ],
    ids=["a long one", "one in parts", "one without an end", "no frame", "compressed", "closed"],
)
async def test_a_message_that_is_none_ends_the_connection(
    sent: bytes, expected: type[ApiError]
) -> None:
    assert type(await error_at(accepting(sent))) is expected


async def test_the_longest_message_is_received() -> None:
    found: list[bytes] = []
    sent = frame(HUGE[:-1]) + frame(b"", CLOSE)
    async with answering(accepting(sent)) as server, transport(server.base) as wire:
        await failure(all_of(wire, found))
    assert found == [HUGE[:-1]]


@pytest.mark.parametrize(
    "answer",
    [
        b"garbage\r\n\r\n",
        b"",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n" + b"A: b\r\n" * 1000,
    ],
    ids=["no HTTP", "nothing", "to another request", "too many headers"],
)
async def test_an_answer_that_is_none_is_a_broken_connection(answer: bytes) -> None:
    assert type(await error_at(answer)) is errors.Broken


async def test_a_server_that_never_answers_is_given_up() -> None:
    async def silent(exchange: Exchange) -> None:
        await exchange.until_left()

    error = await error_at(silent, limits=SHORT)
    assert type(error) is errors.TimedOut


async def test_a_socket_that_answers_no_ping_is_closed() -> None:
    error = await error_at(accepting(frame(b"one")), limits=IMPATIENT)
    assert type(error) is errors.TimedOut
    assert "answered no ping" in error.sentence


async def test_a_socket_that_answers_pings_stays_open() -> None:
    async def answers_pings(exchange: Exchange) -> None:
        await accept(exchange)
        for _ in range(5):
            head = await exchange.reader.readexactly(6)  # with the mask
            mask, length = head[2:], head[1] & 0x7F
            masked = await exchange.reader.readexactly(length)
            data = bytes(byte ^ mask[at % 4] for at, byte in enumerate(masked))
            await exchange.send(frame(data, PONG))
        await exchange.send(frame(b"still here"))
        await exchange.until_left()

    patient = Limits(silence=0.02)
    async with answering(answers_pings) as server, transport(server.base, limits=patient) as wire:
        async for message in messages_of(wire):
            assert message == b"still here"
            break


async def test_nobody_is_there() -> None:
    async with answering(http()) as server:
        base = server.base
    async with transport(base) as wire:
        assert type(await failure(all_of(wire, []))) is errors.Refused


@pytest.mark.parametrize("ca_file", [CERTIFICATES / "ca.pem", None])
async def test_certificates_are_checked_as_for_any_request(ca_file: Path | None) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "right.pem", CERTIFICATES / "server-key.pem")
    found: list[bytes] = []
    sent = frame(b"one") + frame(b"", CLOSE)
    async with (
        answering(accepting(sent), tls=context) as server,
        transport(server.base, ca_file=ca_file) as wire,
    ):
        error = await failure(all_of(wire, found))
        requests = len(server.requests)
    assert (found, requests) == (([], 0) if ca_file is None else ([b"one"], 1))
    assert isinstance(error, errors.TlsFailure) is (ca_file is None)


async def test_through_a_proxy_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering(http()) as proxy, answering(accepting()) as server:
        monkeypatch.setenv("http_proxy", proxy.base)
        async with transport(server.base, trust_env=True) as wire:
            assert not wire.takes_web_sockets
            error = await failure(all_of(wire, []))
        async with transport(server.base) as wire:
            assert wire.takes_web_sockets
        assert (proxy.connections, server.connections) == (0, 0)
    assert type(error) is errors.NotOffered


async def test_in_a_replay_nothing_is_opened() -> None:
    async def replay(target: str, etag: str | None) -> Any:
        raise AssertionError(target)

    async with answering(accepting()) as server, transport(server.base, replay=replay) as wire:
        assert type(await failure(all_of(wire, []))) is errors.NotOffered
        assert server.connections == 0


async def test_a_path_that_is_none_of_the_platforms_is_not_asked_for() -> None:
    async with answering(accepting()) as server, transport(server.base) as wire:
        with pytest.raises(errors.NotSent):
            async with wire.web_socket("//elsewhere/ws"):
                pass
        assert server.connections == 0


async def test_leaving_closes_the_connection_also_in_the_middle() -> None:
    async with answering(accepting(frame(b"one"))) as server, transport(server.base) as wire:
        opened = asyncio.Event()

        async def follow() -> None:
            async for _ in messages_of(wire):
                opened.set()

        following = asyncio.create_task(follow())
        await opened.wait()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await server.empty()


async def test_the_log_has_a_line_and_no_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    sent = frame(CANARY.encode()) + frame(b"", CLOSE)
    async with answering(accepting(sent)) as server, transport(server.base) as wire:
        await failure(all_of(wire, []))
    assert f"GET {PATH}" in caplog.text
    assert "101 ok" in caplog.text
    assert "canary" not in caplog.text
