"""The generic client is a `Platform`, and all tables of operations name the same ones."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

from agentco_tui.actions.outcome import OPERATION_OF_VERB, Verb
from agentco_tui.api.capabilities import (
    BUILT_IN_VERBS,
    LIST_OF_KIND,
    OPERATIONS,
    Capabilities,
    FirstRequest,
    OfferedVerb,
    Read,
)
from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.errors import NotOffered, Sent
from agentco_tui.api.generic import CAPABILITIES, REQUESTS, address_of, first_request
from agentco_tui.api.platform import Platform
from agentco_tui.keys.commands import COMMANDS
from agentco_tui.live.feeds import OPERATION_OF_FEED, FeedName
from agentco_tui.model import Agent, Task
from agentco_tui.reading.kinds import mappable_kinds
from agentco_tui.text import mark_safe
from tests.platform import EmbeddedPlatform

if TYPE_CHECKING:

    def is_platform(client: Client) -> Platform:
        """Checked by mypy: every member has the type that the protocol declares."""
        return client


def test_there_are_17_operations_and_each_is_a_method_of_both() -> None:
    assert len(OPERATIONS) == 17
    for operation in OPERATIONS:
        declared = inspect.signature(getattr(Platform, operation))
        implemented = inspect.signature(getattr(Client, operation))
        assert list(declared.parameters) == list(implemented.parameters), operation
    assert tuple(REQUESTS) == OPERATIONS


def test_the_usual_interface_tells_no_news() -> None:
    assert not CAPABILITIES.has_news
    client = open_client(BaseUrl.parse("http://127.0.0.1:1"), ApiKey("k" * 20))
    with pytest.raises(NotOffered, match="does not tell what changes"):
        client.news_of("c1")


def test_every_table_names_operations_by_their_methods() -> None:
    needed = {command.operation for command in COMMANDS} - {None}
    assert needed <= set(OPERATIONS)
    assert set(OPERATION_OF_FEED) == set(FeedName)
    assert set(OPERATION_OF_FEED.values()) <= set(OPERATIONS)
    assert set(LIST_OF_KIND) == set(mappable_kinds())
    for command in COMMANDS:
        if command.verb is not None:
            assert command.operation == OPERATION_OF_VERB[command.verb], command.id


def test_what_is_not_offered_is_told_with_the_platforms_name_and_its_reason() -> None:
    lesser = Capabilities(
        mark_safe("Lesser"), {"agents": "GET /v1/agents"}, {"budget": mark_safe("it is free")}
    )
    assert lesser.why_not("agents") is None
    assert lesser.why_not(None) is None
    assert lesser.why_not("tasks") == "Lesser does not offer this"
    assert lesser.why_not("budget") == "Lesser does not offer this: it is free"
    assert (lesser.path("agents"), lesser.path("tasks")) == ("/v1/agents", "")
    assert [name for name in OPERATIONS if CAPABILITIES.why_not(name)] == []


def test_a_read_has_its_address() -> None:
    assert address_of(Read("agent", {"agent_id": "a/b"})) == ("/api/agents/a%2Fb", ())
    assert address_of(Read("agent", {"agent_id": ".."})) == ("/api/agents/%2E%2E", ())
    assert address_of(Read("agent", {"agent_id": "\ud800"})) == ("/api/agents/%3F", ())
    log = {"company_id": None, "from_date": "2026-09-01", "to_date": None, "limit": 5}
    assert address_of(Read("activity", log)) == (
        "/api/activity",
        (("from", "2026-09-01"), ("limit", "5")),
    )
    assert first_request(None) == FirstRequest("/api/tasks", (("status", "pending"),))
    assert first_request("c1").params == (("company_id", "c1"), ("status", "pending"))


def test_the_verbs_of_operations_are_known_to_files_of_platforms() -> None:
    assert set(Verb) == BUILT_IN_VERBS


async def test_a_task_can_be_approved_and_nothing_else_is_sent() -> None:
    with EmbeddedPlatform(speed=0) as platform:
        waiting = platform.world.tasks(status="pending")[0]
        base = BaseUrl.parse(platform.base_url)
        async with open_client(base, ApiKey.parse(platform.full_key)) as client:
            assert client.verbs_of(Task(id="t", title=mark_safe("Pay"))) == ("approve",)
            assert client.verbs_of(Agent(id="a")) == ()
            reject = OfferedVerb(
                name="reject", kind="task", key="R", label=mark_safe("Reject"), done=("rejected",)
            )
            for ask in (client.act, client.proof_of):
                with pytest.raises(NotOffered, match="does not offer to reject") as refused:
                    await ask(reject, waiting.id)
                assert refused.value.sent is Sent.NO
            with pytest.raises(NotOffered):
                client.question_of("reject", Task(id="t", title=mark_safe("Pay")))
            assert not platform.requests.matching("reject")
            await client.approve_task(waiting.id, attempt_id="1")
        assert len(platform.requests.matching("approve")) == 1
        assert platform.world.task(waiting.id).status == "approved"
