"""Every operation of the interface against the embedded platform: exactly its paths and bodies."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import date, datetime
from decimal import Decimal

import pytest
import pytest_asyncio

from agentco_tui.api import errors
from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import BaseUrl, CredentialError
from agentco_tui.model import TaskState, Verdict
from agentco_tui.reading.mapping import DeclaredMapping, ProfileMapping
from tests.api.canary import client_of, failure
from tests.api.wire_server import answering, http
from tests.platform import EmbeddedPlatform, LoggedRequest


@pytest.fixture(scope="module")
def platform() -> Iterator[EmbeddedPlatform]:
    with EmbeddedPlatform(seed=7, speed=0.0) as running:
        yield running


@pytest_asyncio.fixture
async def client(platform: EmbeddedPlatform) -> AsyncIterator[Client]:
    platform.requests.clear()
    async with client_of(platform) as opened:
        yield opened


def only(platform: EmbeddedPlatform) -> LoggedRequest:
    (seen,) = platform.requests
    return seen


READS: list[tuple[str, str, Callable[[Client], Awaitable[object]]]] = [
    ("/api/companies", "", lambda c: c.companies()),
    ("/api/agents", "", lambda c: c.agents()),
    ("/api/agents", "company_id=cmp_x", lambda c: c.agents("cmp_x")),
    ("/api/tasks", "", lambda c: c.tasks()),
    ("/api/tasks", "status=pending", lambda c: c.tasks(status="pending")),
    ("/api/tasks", "company_id=cmp_x&status=pending",
     lambda c: c.tasks(company_id="cmp_x", status="pending")),
    ("/api/activity", "", lambda c: c.activity()),
    ("/api/activity", "limit=5", lambda c: c.activity(limit=5)),
    ("/api/activity",
     "company_id=cmp_x&agent_id=ag_x&from=2026-01-02&to=2026-11-21&limit=50",
     lambda c: c.activity("cmp_x", "ag_x", date(2026, 1, 2), datetime(2026, 11, 21, 9), 50)),
    ("/api/budget", "", lambda c: c.budget()),
    ("/api/budget/companies", "", lambda c: c.company_budgets()),
    ("/api/budget/agents", "", lambda c: c.agent_budgets()),
    ("/api/budget/agents", "company_id=cmp_x", lambda c: c.agent_budgets("cmp_x")),
    ("/api/budget/alerts", "", lambda c: c.budget_alerts()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "query", "ask"), READS, ids=[f"{path}?{query}" for path, query, _ in READS]
)
async def test_reads_go_to_their_path_with_their_query(
    platform: EmbeddedPlatform,
    client: Client,
    path: str,
    query: str,
    ask: Callable[[Client], Awaitable[object]],
) -> None:
    assert await ask(client) is not None
    seen = only(platform)
    assert (seen.method, seen.path, seen.query, seen.body) == ("GET", path, query, b"")
    assert seen.authorised
    assert seen.status == 200


async def test_writes_send_exactly_their_fields(platform: EmbeddedPlatform, client: Client) -> None:
    company = (await client.companies()).records[0]
    agent = (await client.agents(company.id)).records[0]
    platform.requests.clear()

    made = await client.create_company("Ä & Co", "startup", "Sell\n“tea”")
    cloned = await client.clone_company(company.id, name="Again", mission="The same")
    task = await client.create_task(company.id, "Water it", agent.id, "high")
    limit = await client.set_agent_limit(agent.id, Decimal("1250.50"))

    assert [receipt.verdict for receipt in (made, cloned, task, limit)] == [Verdict.YES] * 4
    assert made.record is not None
    assert made.record.name == "Ä & Co"
    seen = list(platform.requests)
    assert [(one.method, one.path, one.query) for one in seen] == [
        ("POST", "/api/companies", ""),
        ("POST", f"/api/companies/{company.id}/clone", ""),
        ("POST", "/api/tasks", ""),
        ("POST", f"/api/budget/agents/{agent.id}", ""),
    ]
    assert [json.loads(one.body) for one in seen[:3]] == [
        {"name": "Ä & Co", "template": "startup", "mission": "Sell\n“tea”"},
        {"name": "Again", "mission": "The same"},
        {"company_id": company.id, "title": "Water it", "agent_id": agent.id, "priority": "high"},
    ]
    assert seen[3].body == b'{"monthly_limit":1250.50}'
    assert all(("content-type", "application/json") in one.headers for one in seen)
    assert not any(name == "idempotency-key" for one in seen for name, _ in one.headers)


async def test_approve_has_no_body_but_a_name(platform: EmbeddedPlatform, client: Client) -> None:
    pending = (await client.tasks(status="pending")).records[0]
    platform.requests.clear()
    receipt = await client.approve_task(pending.id, attempt_id="01J-attempt")
    assert receipt.verdict is Verdict.YES
    seen = only(platform)
    assert (seen.method, seen.path, seen.body) == ("POST", f"/api/tasks/{pending.id}/approve", b"")
    assert ("content-length", "0") in seen.headers
    assert ("idempotency-key", "01J-attempt") in seen.headers
    after = [task for task in (await client.tasks()).records if task.id == pending.id]
    assert after[0].state is not TaskState.PENDING


@pytest.mark.parametrize(
    ("limit", "digits"),
    [("0", "0"), ("1E+3", "1000"), ("0.1", "0.1"), ("10.50", "10.50"), ("1E-7", "0.0000001"),
     ("123456789012345678.123456789", "123456789012345678.123456789")],
)  # fmt: skip
async def test_a_limit_goes_out_digit_for_digit(limit: str, digits: str) -> None:
    async with answering(http()) as server, client_of(server) as client:
        await client.set_agent_limit("ag_1", Decimal(limit))
    assert server.requests[0].endswith(b'\r\n\r\n{"monthly_limit":' + digits.encode() + b"}")


@pytest.mark.parametrize(
    ("unit", "limit", "digits"),
    [("cents", "1250.50", "125050"), ("cents", "0.001", "0.1"), ("micros", "2", "2000000"),
     ("units", "7.50", "7.50"), ("minor", "99.5", "9950")],
)  # fmt: skip
async def test_a_limit_goes_out_in_the_unit_it_is_read_in(
    unit: str, limit: str, digits: str
) -> None:
    body = f'[{{"agent_id":"ag_1","monthly_limit":{digits},"spent":0}}]'.encode()
    mapping = ProfileMapping(DeclaredMapping(unit=unit))
    async with answering(http(body)) as server, client_of(server, mapping=mapping) as client:
        read = (await client.agent_budgets()).records[0].limit
        await client.set_agent_limit("ag_1", Decimal(limit))
    assert read is not None
    assert read.amount == Decimal(limit)
    assert server.requests[1].endswith(b'\r\n\r\n{"monthly_limit":' + digits.encode() + b"}")


@pytest.mark.parametrize("limit", ["NaN", "sNaN", "Infinity", "-Infinity", "1E+1000000", "1E-99"])
async def test_a_limit_that_is_no_number_is_not_sent(limit: str) -> None:
    async with answering(http()) as server, client_of(server) as client:
        error = await failure(client.set_agent_limit("ag_1", Decimal(limit)))
    assert isinstance(error, errors.NotSent)
    assert server.connections == 0


IDS: list[Callable[[Client, str], Awaitable[object]]] = [
    lambda c, i: c.company(i),
    lambda c, i: c.clone_company(i, "n", "m"),
    lambda c, i: c.agent(i),
    lambda c, i: c.approve_task(i),
    lambda c, i: c.task_trace(i),
    lambda c, i: c.set_agent_limit(i, Decimal(1)),
]


@pytest.mark.parametrize("ask", IDS)
async def test_an_id_that_cannot_be_sent_is_not_and_a_hostile_one_stays_one_segment(
    ask: Callable[[Client, str], Awaitable[object]],
) -> None:
    answer = http(b'{"id":"x","steps":[]}')
    async with answering(answer) as server, client_of(server) as client:
        for identifier in ("", "\ud800", "x" * 2001):
            error = await failure(ask(client, identifier))
            assert isinstance(error, errors.NotSent)
            assert error.sent is errors.Sent.NO
        assert server.connections == 0
        await ask(client, "../x?y#z")
        await ask(client, "..")
    for head, segment in zip(server.heads, ("..%2Fx%3Fy%23z", "%2E%2E"), strict=True):
        assert f"/{segment}/" in head or f"/{segment} HTTP" in head


async def test_any_id_stays_one_segment_on_the_wire() -> None:
    ids = {
        "tsk_1": "tsk_1", ".": "%2E", "...": "...", "a b": "a%20b", "100%": "100%25",
        "%2e%2e": "%252e%252e", "ä\u202eX: 1": "%C3%A4%E2%80%AEX%3A%201",
        "http://evil.example/": "http%3A%2F%2Fevil.example%2F", "a\\b": "a%5Cb",
        "@evil.example": "%40evil.example",
    }  # fmt: skip
    answer = http(b'{"steps":[]}')
    async with answering(answer, keep=True) as server, client_of(server) as client:
        for identifier in ids:
            await client.task_trace(identifier)
    assert server.heads == [f"GET /api/tasks/{part}/trace HTTP/1.1" for part in ids.values()]


async def test_text_that_is_no_unicode_is_not_sent() -> None:
    async with answering(http()) as server, client_of(server) as client:
        error = await failure(client.create_company("\ud800", "t", "m"))
        other = await failure(client.approve_task("t", attempt_id="a\nb"))
    assert isinstance(error, errors.NotSent)
    assert isinstance(other, errors.NotSent)
    assert server.connections == 0


HTML = b"<!DOCTYPE html><html><body>Sign in</body></html>"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (http(HTML, headers={"Content-Type": "text/html"}), errors.WebPage),
        (http(HTML), errors.WebPage),
        (http(b"OK"), errors.NotJson),
        (http(b""), errors.NotJson),
        (http(b'{"companies":['), errors.NotJson),
        (http(b"[" * 100_000), errors.NotJson),
        (http(b"12"), errors.Unreadable),
        (http(b'{"ok":false,"error":"no \\u001b[31mluck"}'), errors.OtherStatus),
        (http(b'{"error":{"code":"ratelimited","info":"wait"}}'), errors.RateLimited),
    ],
)
async def test_bodies_that_are_something_else(answer: bytes, kind: type[errors.ApiError]) -> None:
    async with answering(answer) as server, client_of(server) as client:
        for ask in (client.companies, client.budget, client.budget_alerts):
            error = await failure(ask())
            assert type(error) is kind
            assert error.status == 200
            assert "empty" in str(error) or answer != http(b"")
        for ask_one in (client.company, client.agent, client.task_trace):
            assert type(await failure(ask_one("x"))) is kind


def test_no_key_is_told_before_anything_is_sent() -> None:
    with pytest.raises(CredentialError, match="no API key"):
        open_client(BaseUrl.parse("https://h.example"), None)


@pytest.mark.parametrize("module", ["client", "credentials", "errors"])
def test_importing_a_client_brings_neither_textual_nor_rich_nor_httpx(module: str) -> None:
    code = (
        f"import agentco_tui.api.{module}, sys;"
        "print(*sorted({'textual','rich','httpx','click','pygments'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
