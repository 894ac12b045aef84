"""The export as it streams, and all that may come in its place."""

from __future__ import annotations

import gzip
from contextlib import aclosing

import pytest

from agentco_tui.api import errors
from agentco_tui.api.client import Client
from tests.api.canary import SHORT, SMALL, client_of, failure
from tests.api.wire_server import Exchange, answering, http

ROWS = b"id,text\r\n" + b"1,hello\r\n" * 50_000


async def whole(client: Client, file_format: str = "csv", cap: int | None = None) -> bytes:
    async with client.export_activity(file_format, cap=cap) as chunks:
        return b"".join([chunk async for chunk in chunks])


def csv(body: bytes, kind: str = "text/csv; charset=utf-8", **headers: str) -> bytes:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return http(body, headers={"Content-Type": kind, **named})


@pytest.mark.parametrize(
    "answer",
    [
        csv(ROWS),
        csv(ROWS, "application/octet-stream"),
        csv(ROWS, "text/plain"),
        csv(ROWS, "application/csv"),
        csv(gzip.compress(ROWS), Content_Encoding="gzip"),
    ],
    ids=["csv", "octets", "text", "application-csv", "gzip"],
)
async def test_rows_come_as_they_are(answer: bytes) -> None:
    async with answering(answer) as server, client_of(server) as client:
        assert await whole(client) == ROWS
    assert b"Accept: text/csv, */*;q=0.5\r\n" in server.requests[0]


async def test_an_empty_export_is_empty() -> None:
    async with answering(csv(b""), http(b"", 204)) as server, client_of(server) as client:
        assert await whole(client) == b""
        assert await whole(client) == b""


HTML = b"\n <!doctype html><title>Sign in</title>"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (csv(HTML, "text/html"), errors.WebPage),
        (csv(HTML), errors.WebPage),
        (csv(b"sign in", "text/html"), errors.WebPage),
        (csv(b'{"error":"export is off"}', "application/json"), errors.OtherStatus),
        (csv(b'{"error":"export is off"}'), errors.OtherStatus),
        (csv(b'{"ok":false,"message":"export is off"}'), errors.OtherStatus),
        (csv(b'[{"id":"a1"}]', "application/json"), errors.Unreadable),
        (csv(b"[" * 5000), errors.Unreadable),
        (http(b"", 403), errors.NotAllowed),
        (http(b"", 501), errors.PlatformFailed),
    ],
)
async def test_what_is_no_export_is_refused(answer: bytes, kind: type[errors.ApiError]) -> None:
    async with answering(answer) as server, client_of(server) as client:
        error = await failure(whole(client))
    assert type(error) is kind
    if kind is errors.OtherStatus:
        assert error.platform_message == "export is off"


async def test_json_may_be_what_was_wanted() -> None:
    body = b'[{"id":"a1"}]'
    async with answering(csv(body, "application/json")) as server, client_of(server) as client:
        assert await whole(client, "json") == body
    assert server.heads[0] == "GET /api/activity/export?format=json HTTP/1.1"


async def test_a_cut_export_is_told_after_what_came() -> None:
    got = b""

    async def read(client: Client) -> None:
        nonlocal got
        async with client.export_activity() as chunks:
            async for chunk in chunks:
                got += chunk

    cut = http(ROWS, length=len(ROWS) + 1, headers={"Content-Type": "text/csv"})
    async with answering(cut) as server, client_of(server) as client:
        error = await failure(read(client))
    assert isinstance(error, errors.Broken)
    assert got == ROWS


async def test_an_export_past_its_cap_is_told() -> None:
    async with answering(csv(ROWS)) as server, client_of(server) as client:
        assert isinstance(await failure(whole(client, cap=1000)), errors.TooLarge)
        assert await whole(client, cap=len(ROWS)) == ROWS


async def test_an_export_larger_than_the_cap_of_bodies_streams() -> None:
    async with answering(csv(ROWS)) as server, client_of(server, limits=SMALL) as client:
        assert await whole(client) == ROWS


async def test_a_first_byte_that_never_comes_and_an_early_leave() -> None:
    async def silent(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n")
        await exchange.until_left()

    async def flood(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n")
        while not exchange.writer.is_closing():
            await exchange.send(b"1,hello\r\n" * 1000)

    async with answering(silent, flood) as server, client_of(server) as client:
        async with client_of(server, limits=SHORT) as hasty:
            assert isinstance(await failure(whole(hasty)), errors.TimedOut)
        async with client.export_activity() as chunks, aclosing(chunks):
            async for chunk in chunks:
                assert chunk.startswith(b"1,hello")
                break
        await server.empty()
