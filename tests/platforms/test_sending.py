"""How a platform's file has requests sent, the first of them early, and what errors say then."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec.structs import replace

from agentco_tui.api import errors
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import ApiError
from agentco_tui.api.prefetch import Prefetch
from agentco_tui.platforms import declared_platform
from agentco_tui.platforms.declared_platform import DeclaredPlatform, open_platform
from agentco_tui.platforms.platform_file import load_platform
from agentco_tui.platforms.platform_records import KeyHeaderDeclaration, PlatformFile, Source
from tests.api.wire_server import WireServer
from tests.platforms.recorded_paperclip import AGENT_KEY, KEY, RecordedPaperclip

PAPERCLIP = load_platform("paperclip", None)
OTHER = PlatformFile(
    name="Other",
    prefix="/v1",
    auth=KeyHeaderDeclaration(header="X-Key", before_key="Key "),
    companies={"teams": Source(get="/v1/teams", query={"all": "yes"})},
    tasks={"gates": Source(get="/v1/teams/{company}/gates")},
)
"""Nothing of it is as in the generic interface."""


def json_answer(body: object, status: int = 200) -> bytes:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


def begun(file: PlatformFile, base: str, key: str | None) -> Prefetch | None:
    """The first request, as a dashboard begins it."""
    sent, conventions = file.sending(ApiKey(key) if key else None)
    url = BaseUrl.parse(base)
    return Prefetch.begin(
        file.first_request, url, sent, conventions=conventions, key_source="the test"
    )


def opened(file: PlatformFile, base: str, key: str | None) -> DeclaredPlatform:
    """A client of the platform, with the first request under way."""
    platform = open_platform(
        file, BaseUrl.parse(base), ApiKey(key) if key else None, attempts=1, key_source="the test"
    )
    platform.prefetch = begun(file, base, key)
    return platform


@pytest.mark.parametrize("needs_key", [True, False])
async def test_the_first_request_serves_all_lists(
    needs_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a start, in which all are asked for at once, however slow the machine is."""
    monkeypatch.setattr(declared_platform, "SAME_MOMENT", 60.0)
    key = KEY if needs_key else None
    with RecordedPaperclip(needs_key=needs_key) as server:
        async with opened(PAPERCLIP, server.base, key) as platform:
            companies, *_ = await asyncio.gather(
                platform.companies(),
                platform.agents(),
                platform.tasks(status="pending"),
                platform.budget(),
                platform.company_budgets(),
            )
            assert companies.records
            await platform.activity()
        assert [seen.line for seen in server.requests].count("GET /api/companies") == 1
        assert {seen.authorization for seen in server.requests} == {
            f"Bearer {KEY}" if needs_key else None
        }


async def test_the_first_request_has_the_header_and_the_query_of_the_file() -> None:
    async with WireServer(json_answer([{"id": "t1", "name": "One"}]), keep=True) as server:
        async with opened(OTHER, server.base, "k1") as platform:
            listing = await platform.companies()
        assert [company.id for company in listing.records] == ["t1"]
        assert server.heads == ["GET /v1/teams?all=yes HTTP/1.1"]
        assert b"\r\nX-Key: Key k1\r\n" in server.requests[0]
        assert b"uthorization" not in server.requests[0]


def test_nothing_is_sent_first_without_a_key_that_is_needed() -> None:
    assert begun(OTHER, "http://127.0.0.1:9", None) is None


async def test_without_a_key_it_says_that_one_is_needed_and_which() -> None:
    with RecordedPaperclip() as server:
        async with opened(PAPERCLIP, server.base, None) as platform:
            with pytest.raises(errors.KeyRejected) as refused:
                await platform.tasks(status="pending")
    assert str(refused.value) == (
        "a key is needed, and none was sent (403): `agentco-tui login` takes one (a board key,"
        " which `paperclipai token board create` makes, not an agent's)"
        " (platform: Board access required)"
    )


async def test_an_agents_key_is_told_which_key_does_it() -> None:
    with RecordedPaperclip() as server:
        async with opened(PAPERCLIP, server.base, AGENT_KEY) as platform:
            with pytest.raises(errors.NotAllowed) as refused:
                await platform.tasks(status="pending")
    assert str(refused.value) == (
        "the key lacks the permission for this: use one that may read it (a board key, which"
        " `paperclipai token board create` makes, not an agent's) (platform: Board access required)"
    )


async def test_a_wrong_key_is_doubted_where_it_is_from() -> None:
    with RecordedPaperclip() as server:
        async with opened(PAPERCLIP, server.base, "wrong") as platform:
            with pytest.raises(errors.KeyRejected, match="invalid: check the test"):
                await platform.companies()


@pytest.mark.parametrize("status", [403, 404])
async def test_no_word_of_the_generic_interface_is_said(status: int) -> None:
    async with (
        WireServer(json_answer({"error": "nope"}, status)) as server,
        opened(OTHER, server.base, "k1") as platform,
    ):
        with pytest.raises(ApiError) as failed:
            await platform.companies()
    said = {
        403: "the key lacks the permission for this: use one that may read it (platform: nope)",
        404: f"127.0.0.1:{server.port} has no /v1/teams (404): check base_url, which ends before"
        " /v1 (platform: nope)",
    }
    assert str(failed.value) == said[status]


async def test_a_file_without_keyless_needs_a_key() -> None:
    file = replace(PAPERCLIP, keyless={})
    assert begun(file, "http://127.0.0.1:9", None) is None
