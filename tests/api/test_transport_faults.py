"""Everything an answer can do wrong: each its own error, in bounded time and memory."""

from __future__ import annotations

import asyncio
import gzip
import socket
import zlib

import pytest

from agentco_tui.api import errors
from agentco_tui.api.errors import Sent
from agentco_tui.api.limits import Limits
from tests.api.canary import SHORT, SMALL, client_of, failure, transport
from tests.api.wire_server import Answer, Exchange, answering, http

REFUSED: dict[type[errors.ApiError], tuple[int, ...]] = {
    errors.Invalid: (400, 422), errors.KeyRejected: (401,), errors.NotAllowed: (403,),
    errors.NotFound: (404,), errors.Conflict: (409,), errors.RateLimited: (429,),
    errors.OtherStatus: (402, 405, 410, 418),
}  # fmt: skip
OPEN: dict[type[errors.ApiError], tuple[int, ...]] = {
    errors.Redirected: (300, 302), errors.OtherStatus: (408, 499, 700),
    errors.PlatformFailed: (500, 501, 502, 503, 504, 599),
}  # fmt: skip
STATUSES = [
    (status, kind, sent)
    for table, sent in ((REFUSED, Sent.NO), (OPEN, Sent.UNKNOWN))
    for kind, statuses in table.items()
    for status in statuses
]


@pytest.mark.parametrize(("status", "kind", "sent"), STATUSES)
async def test_statuses(status: int, kind: type[errors.ApiError], sent: Sent) -> None:
    answer = http(b'{"error":"no \\u001b[31mway"}', status, phrase="\x1b]0;owned\x07 Evil")
    async with answering(answer) as server, transport(server.base) as wire:
        read = await failure(wire.request("GET", "/api/tasks/t1/trace"))
        written = await failure(wire.request("POST", "/api/tasks/t1/approve"))
    if isinstance(read, errors.Broken):
        pytest.fail(f"h11 refused the answer itself: {read!r}")
    assert type(read) is kind
    assert type(written) is kind
    assert written.sent is sent
    assert read.status == written.status == status
    assert read.platform_message is not None
    assert "way" in read.platform_message
    assert "Evil" not in str(read)
    assert ("may have been applied" in written.sentence) is (sent is Sent.UNKNOWN)
    assert (read.method, read.path) == ("GET", "/api/tasks/t1/trace")


async def test_the_sentence_for_a_refused_key_says_where_it_is_kept() -> None:
    async with answering(http(b"", 401)) as server:
        async with transport(server.base) as wire:
            error = await failure(wire.request("GET", "/api/tasks"))
        async with transport(server.base, key_source="api_key_file of profile work") as wire:
            other = await failure(wire.request("GET", "/api/tasks"))
    assert error.sentence == (
        "the key is missing or invalid: check AGENTCO_API_KEY, or the profile's api_key_command"
    )
    assert other.sentence == "the key is missing or invalid: check api_key_file of profile work"


async def test_a_404_of_a_list_blames_the_address_and_one_of_a_record_does_not() -> None:
    async with answering(http(b"", 404)) as server, transport(server.base) as wire:
        listing = await failure(wire.request("GET", "/api/tasks"))
        record = await failure(wire.request("GET", "/api/agents/ag_1"))
        assert "check base_url" in listing.sentence
        assert "base_url" not in record.sentence
        wire.measured.reached = True
    assert listing.sentence.endswith(
        " has no /api/tasks (404), though it answers at other paths: this platform does not offer "
        "it, or hides it from this key"
    )


@pytest.mark.parametrize("status", [400, 403])
async def test_a_rate_limit_in_other_clothes(status: int) -> None:
    body = b'{"errors":[{"message":"slow down","extensions":{"code":"RATELIMITED"}}],"data":null}'
    plain = b'{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'
    for answer in (body, plain):
        async with answering(http(answer, status)) as server, transport(server.base) as wire:
            error = await failure(wire.request("GET", "/api/tasks"))
        assert isinstance(error, errors.RateLimited)


def going_on(head: bytes, piece: bytes, pause: float = 0) -> Answer:
    """An answer that begins so and never ends."""

    async def send(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 " + head)
        while not exchange.writer.is_closing():
            await exchange.send(piece)
            await asyncio.sleep(pause)

    return send


async def hang(exchange: Exchange) -> None:
    await exchange.until_left()


async def reset(exchange: Exchange) -> None:
    exchange.reset()


async def reset_in_body(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[1,")
    await asyncio.sleep(0.02)
    exchange.reset()


ENDLESS = going_on(b"200 OK\r\nConnection: close\r\n\r\n", b"[" * 10_000)


def packed(layers: int, body: bytes = b"\0" * 3_000_000) -> bytes:
    for _ in range(layers):
        body = gzip.compress(body)
    return body


def in_gzip(body: bytes, encoding: str = "gzip") -> bytes:
    return http(body, headers={"Content-Encoding": encoding})


MEMBERS = gzip.compress(b"[]")

FAULTS: list[tuple[str, Answer, type[errors.ApiError], str]] = [
    ("drip", going_on(b"200 OK\r\nContent-Length: 1000\r\n\r\n", b" ", 0.02),
     errors.TimedOut, "the server or the network is"),
    ("drip-head", going_on(b"200 OK\r\nX-Slow: ", b"a", 0.02), errors.TimedOut, "the server or"),
    ("drip-refusal", going_on(b"403 No\r\nContent-Length: 1000\r\n\r\n", b"x", 0.02),
     errors.NotAllowed, "permission"),
    ("hang", hang, errors.TimedOut, "sent nothing for 0.15 s"),
    ("reset", reset, errors.Broken, "broke before the answer was complete"),
    ("close", b"", errors.Broken, "closed the connection before the answer was complete"),
    ("reset-in-body", reset_in_body, errors.Broken, "broke before the answer"),
    ("cut", http(b"[1,", length=100), errors.Broken, "closed the connection before"),
    ("length-no-number", http(headers={"Content-Length": "many"}), errors.Broken, "HTTP"),
    ("length-negative", http(headers={"Content-Length": "-1"}), errors.Broken, "HTTP"),
    ("two-lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
     errors.Broken, "HTTP"),
    ("length-huge", http(b"x", length=10**12), errors.TooLarge, "64 KiB"),
    ("length-absurd", http(b"x", headers={"Content-Length": "9" * 18}), errors.TooLarge, "64 KiB"),
    ("endless", ENDLESS, errors.TooLarge, "64 KiB"),
    ("endless-chunked",
     going_on(b"200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
              b"2710\r\n" + b"[" * 10_000 + b"\r\n"),
     errors.TooLarge, "64 KiB"),
    ("endless-head", going_on(b"200 OK\r\n", b"X-More: " + b"x" * 1000 + b"\r\n"),
     errors.Broken, "HTTP"),
    ("bad-chunks", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
     errors.Broken, ""),
    ("no-http", b"SSH-2.0-OpenSSH_9.6\r\n", errors.Broken, "does not speak HTTP"),
    ("bomb", in_gzip(packed(1)), errors.TooLarge, "64 KiB"),
    ("bomb-stacked", in_gzip(packed(2), "gzip, gzip"), errors.Unreadable, "Content-Encoding"),
    ("brotli", in_gzip(b"x", "br"), errors.Unreadable, "Content-Encoding"),
    ("deflate", in_gzip(zlib.compress(b"[]"), "deflate"), errors.Unreadable, "Content-Encoding"),
    ("not-gzip", in_gzip(b"[1, 2]"), errors.Broken, "damaged"),
    ("gzip-cut", in_gzip(MEMBERS[:-3]), errors.Broken, "damaged"),
    ("gzip-wrong-sum", in_gzip(MEMBERS[:-8] + b"\0" * 8), errors.Broken, "damaged"),
    ("gzip-members", in_gzip(MEMBERS * 100), errors.Broken, "damaged"),
    ("switch", http(b"", 101), errors.Broken, "does not speak HTTP"),
]  # fmt: skip


def limits_for(kind: type[errors.ApiError]) -> Limits:
    """Short ones for a fault that never ends; on a busy machine all else takes its time."""
    never_ends = kind in {errors.TimedOut, errors.NotAllowed}
    return SHORT if never_ends else SMALL


@pytest.mark.parametrize(
    ("answer", "kind", "told"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS]
)
async def test_faults(answer: Answer, kind: type[errors.ApiError], told: str) -> None:
    async with answering(answer) as server, transport(server.base, limits=limits_for(kind)) as wire:
        error = await failure(wire.request("GET", "/api/tasks"))
        assert type(error) is kind
        assert told in error.sentence
        written = await failure(wire.request("POST", "/api/tasks/t/approve"))
        assert type(written) is kind
        if not isinstance(written, errors.NotAllowed):
            assert written.sent is Sent.UNKNOWN
            assert "may have been applied" in written.sentence
        assert len(server.requests) == 2


async def test_one_layer_of_gzip_is_unpacked_and_a_packed_layer_inside_stays_bytes() -> None:
    answers = (in_gzip(packed(1, b"[1]")), in_gzip(packed(2, b"[1]"), "x-gzip"))
    async with answering(*answers) as server, transport(server.base) as wire:
        once = await wire.request("GET", "/api/tasks")
        twice = await wire.request("GET", "/api/tasks")
    assert once.body == b"[1]"
    assert gzip.decompress(twice.body) == b"[1]"


async def test_a_refusal_may_be_a_bomb_and_its_status_is_told() -> None:
    answer = http(packed(1), 403, headers={"Content-Encoding": "gzip"})
    stacked = http(packed(2), 409, headers={"Content-Encoding": "gzip, gzip"})
    async with answering(answer, stacked) as server, transport(server.base) as wire:
        assert isinstance(await failure(wire.request("GET", "/api/tasks")), errors.NotAllowed)
        assert isinstance(await failure(wire.request("GET", "/api/tasks")), errors.Conflict)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_connection_refused(host: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        async with transport(f"http://{host}:{port}") as wire:
            error = await failure(wire.request("GET", "/api/tasks"))
            written = await failure(wire.request("POST", "/api/tasks/t/approve"))
    assert type(error) is errors.Refused
    assert f"{host}:{port}" in error.sentence
    assert written.sent is Sent.NO
    assert "may have been applied" not in written.sentence


async def test_name_not_found() -> None:
    async with transport("http://no-such-host.invalid") as wire:
        error = await failure(wire.request("GET", "/api/tasks"))
    assert type(error) is errors.NameNotFound
    assert "no-such-host.invalid" in error.sentence


async def test_connect_timeout_is_not_sent() -> None:
    """A listener whose queue is full lets nobody in and refuses nobody."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        crowd = [socket.socket() for _ in range(8)]
        for caller in crowd:
            caller.setblocking(False)
            caller.connect_ex(address)
        try:
            limits = Limits(connect=0.2)
            async with transport(f"http://127.0.0.1:{address[1]}", limits=limits) as wire:
                error = await failure(wire.request("POST", "/api/tasks/t/approve"))
        finally:
            for caller in crowd:
                caller.close()
    assert type(error) is errors.TimedOut
    assert error.sent is Sent.NO
    assert "no connection" in error.sentence
    assert "0.2 s" in error.sentence


async def test_waiting_for_a_free_connection_is_not_sent() -> None:
    limits = Limits(pool=0.1)
    async with answering(hang) as server, transport(server.base, limits=limits) as wire:
        busy = [asyncio.create_task(wire.request("POST", "/api/tasks")) for _ in range(8)]
        await server.asked(8)
        error = await failure(wire.request("POST", "/api/tasks"))
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
    assert type(error) is errors.TimedOut
    assert error.sent is Sent.NO


async def test_a_stream_has_no_total_limit() -> None:
    async def slow(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
        for _ in range(12):
            await exchange.send(b"x")
            await asyncio.sleep(0.05)

    limits = Limits(read=2, total=0.3)
    async with (
        answering(slow) as server,
        transport(server.base, limits=limits) as wire,
        wire.stream("/api/activity/export") as (_, incoming),
    ):
        assert b"".join([chunk async for chunk in incoming]) == b"x" * 12


async def test_an_address_that_has_answered_is_not_doubted() -> None:
    """Not even by what was told of it before."""
    answers = http(b'{"data": []}'), http(b"<html>"), http(b"", 405)
    async with answering(http(b"", 405), *answers) as server:
        client = client_of(server)
        early = await failure(client.companies())
        assert early.sentence.endswith(": check base_url")
        await client.companies()
        told = [early, await failure(client.companies()), await failure(client.companies())]
    async with client:
        told.append(await failure(client.companies()))
    kinds = [errors.OtherStatus, errors.WebPage, errors.OtherStatus, errors.Refused]
    assert [type(error) for error in told] == kinds
    for error in told:
        assert "base_url" not in error.sentence
        assert "port" not in error.sentence
