"""The client writes to nothing whose id its own last listing showed to be in doubt."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from agentco_tui.api import errors
from agentco_tui.api.client import Client
from tests.api.canary import client_of, failure
from tests.api.wire_server import Exchange, WireServer, answering, http

LISTS: dict[str, object] = {
    "/api/tasks": {
        "data": [
            {"id": "run_1", "title": "Pay A", "status": "pending"},
            {"id": "run_1", "title": "Pay B", "status": "pending"},
            {"id": "t2", "title": "Refund", "status": "pending"},
            {"run_id": "r3", "step_id": "s3", "title": "Ship", "status": "pending"},
        ]
    },
    "/api/agents": {"agents": [{"id": "ag_1", "name": "A"}, {"id": "ag_1", "name": "B"}]},
    "/api/companies": {"companies": [{"id": "c1", "name": "A"}, {"id": "c1", "name": "B"}]},
    "/api/budget/agents": {
        "data": [{"user_id": "u_7", "limit": 100}, {"agent_id": "ag_2", "limit": 50}]
    },
}


async def send(exchange: Exchange) -> None:
    """The lists above; a write is answered with yes."""
    method, target, _ = exchange.server.heads[-1].split(" ", 2)
    body = LISTS[target.partition("?")[0]] if method == "GET" else {"ok": True}
    await exchange.send(http(json.dumps(body).encode()))


def posts(server: WireServer) -> list[str]:
    return [head.split(" ")[1] for head in server.heads if head.startswith("POST")]


async def read_all(client: Client) -> None:
    await client.tasks()
    await client.agents()
    await client.companies()
    await client.agent_budgets()


async def test_an_id_that_is_made_up_is_never_sent() -> None:
    async with answering(send, keep=True) as server, client_of(server) as client:
        listing = await client.tasks()
        made_up = [task.id for task in listing.records if task.id != task.sent_id]
        assert len(made_up) == 1
        for made in (*made_up, "a\nb", "a\x7f"):
            with pytest.raises(ValueError, match="control character"):
                await client.approve_task(made)
            with pytest.raises(ValueError, match="control character"):
                await client.set_agent_limit(made, Decimal(1))
            with pytest.raises(ValueError, match="control character"):
                await client.clone_company(made, "Copy")
            with pytest.raises(ValueError, match="control character"):
                await client.create_task("c2", "title", made, "high")
            with pytest.raises(ValueError, match="control character"):
                await client.create_task(made, "title", "ag_2", "high")
        assert posts(server) == []


async def test_what_the_last_listing_showed_in_doubt_is_refused() -> None:
    async with answering(send, keep=True) as server, client_of(server) as client:
        await read_all(client)
        attempts = {
            "2 tasks with this id": client.approve_task("run_1"),
            "run_id and step_id": client.approve_task("r3"),
            "its only id is in user_id": client.set_agent_limit("u_7", Decimal(80)),
            "2 agents with this id": client.set_agent_limit("ag_1", Decimal(80)),
            "2 companies with this id": client.clone_company("c1", "Copy"),
        }
        for words, attempt in attempts.items():
            error = await failure(attempt)
            assert isinstance(error, errors.Unwritable)
            assert (error.kind, error.sent) == ("unwritable", errors.Sent.NO)
            assert words in str(error)
        for company, agent in (("c1", "ag_2"), ("c2", "ag_1")):
            with pytest.raises(errors.Unwritable):
                await client.create_task(company, "title", agent, "high")
        assert posts(server) == []
        await client.approve_task("t2")
        await client.set_agent_limit("ag_2", Decimal(80))
        await client.for_decisions().approve_task("t9")
        assert posts(server) == [
            "/api/tasks/t2/approve",
            "/api/budget/agents/ag_2",
            "/api/tasks/t9/approve",
        ]


async def test_decisions_of_their_own_connections_know_what_was_listed() -> None:
    async with answering(send, keep=True) as server, client_of(server) as client:
        await read_all(client)
        with pytest.raises(errors.Unwritable):
            await client.for_decisions().approve_task("run_1")
        assert posts(server) == []
