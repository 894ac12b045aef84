"""Every fault of the embedded platform on every operation: a result or an ApiError, soon."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from decimal import Decimal

import pytest

from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import ApiError, Sent
from agentco_tui.api.transport import Limits
from agentco_tui.demo.faults import KINDS
from agentco_tui.demo.server import EmbeddedPlatform
from tests.api.canary import CANARY, assert_no_key

LIMITS = Limits(connect=2, read=0.4, write=1, pool=2, total=0.8, body=2 * 1024 * 1024)
VALUES = {
    "status": ("401", "409", "418", "429", "500", "503"),
    "latency": ("1ms",),
    "drip": ("20ms",),
    "gzip_bomb": ("8",),
    "redirect": ("", "http://127.0.0.2:9/x"),
}
FAULTS = [
    f"{kind}={value}" if value else kind for kind in KINDS for value in VALUES.get(kind, ("",))
]


async def exported(client: Client) -> bytes:
    async with client.export_activity() as chunks:
        return b"".join([chunk async for chunk in chunks])


READS: list[Callable[[Client], Awaitable[object]]] = [
    lambda c: c.companies(),
    lambda c: c.company("cmp_1"),
    lambda c: c.agents(),
    lambda c: c.agent("ag_1"),
    lambda c: c.tasks(status="pending"),
    lambda c: c.task_trace("tsk_1"),
    lambda c: c.activity(limit=20),
    lambda c: c.budget(),
    lambda c: c.company_budgets(),
    lambda c: c.agent_budgets(),
    lambda c: c.budget_alerts(),
    exported,
]
WRITES: list[Callable[[Client], Awaitable[object]]] = [
    lambda c: c.create_company("n", "t", "m"),
    lambda c: c.clone_company("cmp_1", "n", "m"),
    lambda c: c.create_task("cmp_1", "t", "ag_1", "high"),
    lambda c: c.approve_task("tsk_1"),
    lambda c: c.set_agent_limit("ag_1", Decimal(5)),
]


@pytest.fixture(scope="module")
def platform() -> Iterator[EmbeddedPlatform]:
    with EmbeddedPlatform(seed=7, speed=0.0, full_key=CANARY) as running:
        yield running


async def outcome(client: Client, ask: Callable[[Client], Awaitable[object]]) -> object:
    """The result or the ApiError; anything else fails the test."""
    try:
        async with asyncio.timeout(10):
            return await ask(client)
    except ApiError as error:
        failed = error
    assert_no_key(failed)
    assert str(failed).isprintable()
    return failed


@pytest.mark.parametrize("fault", FAULTS)
async def test_faults_on_every_operation(platform: EmbeddedPlatform, fault: str) -> None:
    base = BaseUrl.parse(platform.base_url)
    async with open_client(base, ApiKey(CANARY), attempts=1, limits=LIMITS) as client:
        armed = platform.faults.add(f"*:{fault}")
        platform.requests.clear()
        try:
            outcomes = await asyncio.gather(*(outcome(client, ask) for ask in READS))
            written = await asyncio.gather(*(outcome(client, ask) for ask in WRITES))
        finally:
            platform.faults.remove(armed)
        told = [one for one in (*outcomes, *written) if isinstance(one, ApiError)]
        assert all(error.sentence for error in told)
        struck = platform.requests.matching(method="POST")
        arrived = Counter(seen.path for seen in struck)
        assert max(arrived.values()) == 1, "a write was sent again"
        errors = {error.path: error for error in written if isinstance(error, ApiError)}
        # Of five writes at most four go at once; the fifth may follow on a connection that the
        # fault has left broken. Then it never arrives, and must be told.
        assert len(arrived) + len(errors.keys() - arrived.keys()) == len(WRITES), "a write is lost"
        for seen in struck:
            if seen.status < 400 and seen.path in errors:
                assert errors[seen.path].sent is Sent.UNKNOWN, "applied, perhaps; told as not sent"
        assert (await client.companies()).records, "no recovery on the same client"
