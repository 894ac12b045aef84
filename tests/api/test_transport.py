"""What goes out, byte for byte, and what stays out of it."""

from __future__ import annotations

import asyncio
import logging
from email.utils import formatdate

import httpx
import pytest

from agentco_tui import __version__
from agentco_tui.api import errors
from agentco_tui.api.credentials import CredentialError
from agentco_tui.api.error_messages import RequestInfo
from agentco_tui.api.pools import RequestClass
from agentco_tui.api.request_builder import RequestBuilder
from agentco_tui.text import clean_line
from tests.api.canary import CANARY, failure, transport
from tests.api.wire_server import Exchange, answering, http


def head_lines(request: bytes) -> set[str]:
    return set(request.decode().split("\r\n\r\n")[0].split("\r\n"))


async def test_a_read_goes_out_with_the_key_and_little_else() -> None:
    async with answering(http(b"[]")) as server, transport(server.base) as wire:
        reply = await wire.request("GET", "/api/tasks", params=[("status", "pending")])
    assert (reply.status, reply.body) == (200, b"[]")
    assert reply.headers["content-type"] == "application/json"
    assert head_lines(server.requests[0]) == {
        "GET /api/tasks?status=pending HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "Accept: application/json",
        "Accept-Encoding: gzip",
        "Connection: keep-alive",
        f"User-Agent: agentco-tui/{__version__}",
        f"Authorization: Bearer {CANARY}",
    }


async def test_a_write_goes_out_with_its_body_or_with_length_zero() -> None:
    async with answering(http()) as server, transport(server.base) as wire:
        await wire.request("POST", "/api/companies", json_body=b'{"name":"A"}')
        await wire.request("POST", "/api/tasks/t1/approve")
    first, second = server.requests
    assert first.endswith(b'\r\n\r\n{"name":"A"}')
    assert {"Content-Type: application/json", "Content-Length: 12"} <= head_lines(first)
    assert second.endswith(b"\r\n\r\n")
    assert "Content-Length: 0" in head_lines(second)
    assert b"content-type" not in second.lower()


async def test_the_prefix_of_the_base_address_is_kept() -> None:
    async with answering(http()) as server, transport(server.base + "/tools/co/") as wire:
        await wire.request("GET", "/api/tasks")
    assert server.heads == ["GET /tools/co/api/tasks HTTP/1.1"]


async def test_queries_are_encoded_and_keep_their_order() -> None:
    params = [("to", "2026-01-01"), ("company_id", "a b&c=d+e/ü"), ("limit", "5")]
    async with answering(http()) as server, transport(server.base) as wire:
        await wire.request("GET", "/api/activity", params=params)
    query = "to=2026-01-01&company_id=a%20b%26c%3Dd%2Be%2F%C3%BC&limit=5"
    assert server.heads == [f"GET /api/activity?{query} HTTP/1.1"]


@pytest.mark.parametrize(
    "path",
    ["/tasks", "api/tasks", "/api/../etc", "/api/./x", "/api//x", "/api/x/..", "/apix/tasks",
     "//evil.example/api", "http://evil.example/api/tasks", "/api/tasks?x=1", "/api/tasks#x",
     "/api/ta sks", "/api/t\r\nX: 1", "/api/é"],
)  # fmt: skip
async def test_a_path_that_is_none_of_the_platforms_is_not_sent(path: str) -> None:
    async with answering(http()) as server, transport(server.base) as wire:
        error = await failure(wire.request("GET", path))
    assert isinstance(error, errors.NotSent)
    assert error.sent is errors.Sent.NO
    assert server.connections == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"headers": [("Idempotency-Key", "a\r\nX-Evil: 1")]},
        {"headers": [("X Y", "1")]},
        {"headers": [("X-Y", "ü")]},
        {"params": [("status", "\ud800")]},
        {"params": [("status", "x" * 20_000)]},
    ],
)
async def test_what_no_head_can_hold(settings: dict[str, list[tuple[str, str]]]) -> None:
    async with answering(http()) as server, transport(server.base) as wire:
        error = await failure(wire.request("POST", "/api/tasks", **settings))  # type: ignore[arg-type]
    assert isinstance(error, errors.NotSent)
    assert server.connections == 0


@pytest.mark.parametrize(
    "root",
    ["http://localhost:8000", "https://127.0.0.1:8000", "http://127.0.0.1", "http://[::1]"],
)
async def test_what_would_leave_the_configured_origin_is_not_sent(root: str) -> None:
    """As if our own reading of an address and that of httpx had come apart."""
    async with httpx.AsyncClient() as client:
        builder = RequestBuilder(client, root, httpx.URL("http://127.0.0.1:8000"))
        info = RequestInfo("GET", "/api/tasks", clean_line("127.0.0.1:8000"))
        with pytest.raises(errors.NotSent, match="would have left the configured address"):
            builder.build(info, RequestClass.READS)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_told_and_the_other_origin_never_hears_of_it(status: int) -> None:
    async with answering(http()) as other:
        where = {"Location": f"http://localhost:{other.port}/api/tasks?token=x"}
        answer = http(b"", status, headers=where)
        async with answering(answer) as server, transport(server.base) as wire:
            error = await failure(wire.request("GET", "/api/tasks"))
            written = await failure(wire.request("POST", "/api/tasks", json_body=b"{}"))
    assert isinstance(error, errors.Redirected)
    assert "localhost" in error.sentence
    assert "token" not in str(error)
    assert written.sent is errors.Sent.UNKNOWN
    assert other.connections == 0
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("/login", "same host"),
        ("https://127.0.0.1/x", "same host"),
        ("http://[::1", "same host"),
        ("", "same host"),
        ("https://ev\x1b]0;il.example/", "redirects to"),
        ("https://user:word@evil.example/", "evil.example"),
        ("//evil.example/x", "evil.example"),
    ],
)
async def test_where_a_redirect_leads_is_said_cleanly(location: str, told: str) -> None:
    answer = http(b"", 302, headers={"Location": location})
    async with answering(answer) as server, transport(server.base) as wire:
        error = await failure(wire.request("GET", "/api/tasks"))
    assert isinstance(error, errors.Redirected | errors.Broken)
    if isinstance(error, errors.Redirected):
        assert told in error.sentence
        assert "word" not in error.sentence


async def test_no_cookie_is_kept() -> None:
    answer = http(headers={"Set-Cookie": "session=1; Path=/"})
    async with answering(answer) as server, transport(server.base) as wire:
        await wire.request("GET", "/api/tasks")
        await wire.request("GET", "/api/tasks")
    assert all(b"cookie" not in request.lower() for request in server.requests)


async def test_proxies_and_netrc_of_the_environment_are_ignored_unless_wanted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    async with answering(http(b'"proxy"')) as proxy, answering(http(b'"direct"')) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.base)
        monkeypatch.setenv("NETRC", f"{tmp_path}/netrc")
        async with transport(server.base) as wire:
            direct = await wire.request("GET", "/api/tasks")
        async with transport(server.base, trust_env=True) as wire:
            through = await wire.request("GET", "/api/tasks")
        assert proxy.heads == [f"GET {server.base}/api/tasks HTTP/1.1"]
    assert (direct.body, through.body) == (b'"direct"', b'"proxy"')


async def test_a_broken_proxy_setting_is_told_if_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "socks9://no where")
    async with answering(http()) as server:
        async with transport(server.base) as wire:
            await wire.request("GET", "/api/tasks")
        with pytest.raises(CredentialError, match="proxy setting"):
            transport(server.base, trust_env=True)


async def test_reads_share_connections_and_writes_have_their_own() -> None:
    async with answering(http(), keep=True) as server, transport(server.base) as wire:
        for _ in range(3):
            await wire.request("GET", "/api/tasks")
        assert server.connections == 1
        await wire.request("POST", "/api/tasks/t/approve")
        assert server.connections == 2
        # The next of a set goes on with it, without another handshake.
        await wire.request("POST", "/api/tasks/u/approve")
        assert server.connections == 2


async def test_a_read_on_a_kept_connection_that_just_closed_goes_out_again() -> None:
    async def close_unseen(exchange: Exchange) -> None:
        exchange.reset()

    async with (
        answering(http(b"1"), close_unseen, http(b"2"), keep=True) as server,
        transport(server.base) as wire,
    ):
        await wire.request("GET", "/api/tasks")
        reply = await wire.request("GET", "/api/tasks")
    assert reply.body == b"2"
    assert len(server.requests) == 3


async def test_reads_are_tried_again_and_writes_never() -> None:
    answers = (http(b"", 503), http(b"", 502), http(b"3"))
    async with answering(*answers) as server, transport(server.base, attempts=3) as wire:
        assert (await wire.request("GET", "/api/tasks")).body == b"3"
    assert len(server.requests) == 3
    async with answering(*answers) as server, transport(server.base, attempts=3) as wire:
        error = await failure(wire.request("POST", "/api/tasks/t/approve"))
        assert error.status == 503
        assert len(server.requests) == 1


async def test_retry_after_is_waited_for_and_a_long_one_is_handed_on() -> None:
    loop = asyncio.get_running_loop()
    soon = http(b"", 429, headers={"Retry-After": "0.2"})
    async with answering(soon, http(b"1")) as server, transport(server.base, attempts=3) as wire:
        started = loop.time()
        await wire.request("GET", "/api/tasks")
        assert loop.time() - started >= 0.2
    late = http(b"", 503, headers={"Retry-After": "3600"})
    async with answering(late) as server, transport(server.base, attempts=3) as wire:
        error = await failure(wire.request("GET", "/api/tasks"))
    assert error.retry_after == 3600
    assert len(server.requests) == 1


async def test_latency_and_clock_skew() -> None:
    now = 1_790_000_000.0
    ahead = {"Date": formatdate(now + 3600, usegmt=True)}
    cached = {"Date": formatdate(now - 9e6, usegmt=True), "Age": "9000000"}
    answers = (http(b"12345", headers=ahead), http(b"1", headers=cached), http(b"", 404))
    async with (
        answering(*answers, keep=True) as server,
        transport(server.base, clock=lambda: now) as wire,
    ):
        assert wire.measured.clock_skew is None
        await wire.request("GET", "/api/tasks")
        await wire.request("GET", "/api/tasks")
        await failure(wire.request("GET", "/api/tasks/t"))
        measured = wire.measured
    assert measured.clock_skew == pytest.approx(3600.5, abs=3)
    assert measured.smoothed_latency is not None
    assert measured.smoothed_latency > 0


async def test_after_closing_nothing_is_sent() -> None:
    async with answering(http()) as server:
        wire = transport(server.base)
        await wire.aclose()
        await wire.aclose()
        error = await failure(wire.request("GET", "/api/tasks"))
    assert isinstance(error, errors.NotSent)


async def test_all_connections_are_closed_although_the_closing_is_cancelled() -> None:
    together, left = asyncio.Barrier(3), asyncio.Barrier(4)

    async def answer(exchange: Exchange) -> None:
        await together.wait()
        await exchange.send(http())
        await exchange.until_left()
        await left.wait()

    async with answering(answer, answer, answer) as server:
        wire = transport(server.base)
        await asyncio.gather(*(wire.request("GET", f"/api/{n}") for n in range(3)))
        closing = asyncio.create_task(wire.aclose())
        for _ in range(3):
            await asyncio.sleep(0)
            closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await left.wait()


async def test_nothing_is_logged_below_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with answering(http()) as server, transport(server.base) as wire:
        await wire.request("GET", "/api/tasks", params=[("status", "pending")])
    assert not [record for record in caplog.records if record.name.startswith("http")]
