"""Agents, companies and activity (SHAPES G, E; INTERFACE 2)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.model import (
    Activity,
    Agent,
    AgentState,
    Company,
    Ref,
    Severity,
    extra_fields,
)
from agentco_tui.reading import json_body
from agentco_tui.text import SafeText
from tests.reading import decode


def ref(id: str | None, name: str | None = None) -> Ref:
    return Ref(id, None if name is None else SafeText(name))


def read(body: Any) -> Any:
    return json_body.parse_json(json.dumps(body).encode())


def agent(**fields: Any) -> Agent:
    page = decode.decode_page(decode.AGENTS, read([{"id": "a1", **fields}]))
    assert page.unread == 0, page.unread_reasons
    return page.records[0]


def company(**fields: Any) -> Company:
    page = decode.decode_page(decode.COMPANIES, read([{"id": "c1", **fields}]))
    return page.records[0]


def entry(**fields: Any) -> Activity:
    page = decode.decode_page(decode.ACTIVITY, read({"entries": [fields]}))
    assert page.unread == 0, page.unread_reasons
    return page.records[0]


def test_the_agent_of_the_interface() -> None:
    found = agent(
        name="Scout", role="sdr", company_id="cmp_1", trust_score=92, budget_remaining=41.5,
        status="active", model="sonnet", tasks_completed=17,
    )  # fmt: skip
    assert (found.name, found.role, found.company) == ("Scout", "sdr", ref("cmp_1", None))
    assert found.trust == 92
    assert found.budget_remaining is not None
    assert found.budget_remaining.amount == Decimal("41.5")
    assert not found.budget_remaining.derived
    assert (found.status, found.state) == ("active", AgentState.ACTIVE)
    assert (found.model, found.tasks_completed) == ("sonnet", 17)
    assert found.extra == b""


@pytest.mark.parametrize(
    ("fields", "remaining", "derived"),
    [
        ({"budgetRemainingCents": 4150}, "41.5", False),
        ({"budget": {"remaining": 41.5}}, "41.5", False),
        ({"budgetMonthlyCents": 10000, "spentMonthlyCents": 5850}, "41.5", True),
        ({"budget": {"limit": 100, "spent": 58.5}}, "41.5", True),
        ({"remaining_budget": "$41.50"}, "41.5", False),
        ({"budget_remaining": {"amount": "41.5", "currency": "usd"}}, "41.5", False),
        ({"budget_remaining": -3}, "-3", False),
        ({"budget_remaining_micros": "-1"}, None, False),
        ({"budgetMonthlyCents": 0, "spentMonthlyCents": 5850}, None, False),
        ({"budget_remaining": 0, "monthly_limit": 0}, None, False),
        ({"budget_remaining": 0}, "0", False),
        ({}, None, False),
    ],
)
def test_what_remains_of_the_budget(
    fields: dict[str, Any], remaining: str | None, derived: bool
) -> None:
    found = agent(**fields).budget_remaining
    assert (None if found is None else found.amount) == (
        None if remaining is None else Decimal(remaining)
    )
    assert (found is not None and found.derived) is derived


@pytest.mark.parametrize(
    ("fields", "trust", "word"),
    [
        ({"trust_score": 85}, "85", None), ({"trustScore": 0.85}, "0.85", None),
        ({"trust": "0.85"}, "0.85", None),
        ({"trust": {"score": 85, "max": 100}}, "85", None),
        ({"trust_level": "green"}, None, "green"),
        ({"trust_score": None}, None, None), ({"trust_score": 0}, "0", None),
        ({"reputation": 12345}, "12345", None),
    ],
)  # fmt: skip
def test_trust_is_raw(fields: dict[str, Any], trust: str | None, word: str | None) -> None:
    found = agent(**fields)
    assert (found.trust, found.trust_word) == (None if trust is None else Decimal(trust), word)


@pytest.mark.parametrize(
    ("fields", "model"),
    [
        ({"model": "gpt"}, "gpt"), ({"model": {"provider": "acme", "model": "gpt"}}, "acme/gpt"),
        ({"model_provider": "acme", "model_name": "gpt"}, "acme/gpt"),
        ({"adapterConfig": {"model": "gpt"}}, "gpt"),
        ({"model": {"name": "gpt"}}, "gpt"), ({"model": "unknown"}, "unknown"),
        ({"model": None}, None),
        ({"models": ["a"]}, None), ({"model": {"x": 1}}, None),
    ],
)  # fmt: skip
def test_the_model_in_many_places(fields: dict[str, Any], model: str | None) -> None:
    assert agent(**fields).model == model


@pytest.mark.parametrize(
    ("fields", "word", "state"),
    [
        ({"state": "Running"}, "Running", AgentState.ACTIVE),
        ({"enabled": True}, "enabled", AgentState.ACTIVE),
        ({"is_active": False}, "not enabled", AgentState.STOPPED),
        ({"paused": True}, "paused", AgentState.PAUSED),
        ({"status": "active", "paused": True}, "active", AgentState.PAUSED), ({}, None, None),
        ({"status": {"state": "paused", "reason": "budget"}}, "paused", AgentState.PAUSED),
        ({"status": "levitating"}, "levitating", AgentState.OTHER),
    ],
)  # fmt: skip
def test_agent_states(fields: dict[str, Any], word: str | None, state: AgentState | None) -> None:
    found = agent(**fields)
    assert (found.status, found.state) == (word, state)


def test_why_an_agent_is_paused_and_when_it_was_seen() -> None:
    found = agent(
        status="paused",
        pauseReason="budget",
        lastHeartbeatAt="2026-11-21T09:00:00Z",
        createdAt=1700000000,
    )
    assert found.pause_reason == "budget"
    assert found.last_seen is not None
    assert found.created is not None
    assert agent(status={"state": "paused", "reason": "budget"}).pause_reason == "budget"


def test_completed_tasks_in_stats() -> None:
    assert agent(stats={"tasks_completed": 17, "uptime": 5}).tasks_completed == 17
    assert agent(tasks={"completed": 17}).tasks_completed == 17
    assert extra_fields(agent(stats={"tasks_completed": 17, "uptime": 5}).extra) == {
        "stats": {"uptime": 5}
    }


def test_capabilities_of_any_kind_are_kept() -> None:
    for value in ("text", ["a"], {"tools": ["x"]}):
        assert extra_fields(agent(capabilities=value).extra) == {"capabilities": value}


def test_a_title_is_a_role_where_there_is_a_name() -> None:
    found = agent(name="Scout", title="Head of Sales")
    assert (found.name, found.role) == ("Scout", "Head of Sales")


def test_companies() -> None:
    found = company(
        name="Acme", template="saas", mission="Sell\nmore", status="active", createdAt="2026-11-21",
        agents=[{"id": "a1"}, {"id": "a2"}], stats={"tasks": 40, "pendingApprovals": 3},
        issuePrefix="AC",
    )  # fmt: skip
    assert (found.name, found.template, found.mission, found.status) == (
        "Acme",
        "saas",
        "Sell\nmore",
        "active",
    )
    assert (found.agent_count, found.task_count, found.pending_count) == (2, 40, 3)
    assert extra_fields(found.extra)["issuePrefix"] == "AC"
    assert company(agentCount="7", template={"id": "t", "name": "SaaS"}).agent_count == 7
    assert company(template={"id": "t", "name": "SaaS"}).template == "SaaS"
    assert company(isArchived=True).status == "archived"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"id": 1, "message": "did it"}, "did it"),
        ({"id": 1, "details": "did it"}, "did it"),
        ({"id": 1, "detail": "did it", "action": "ToolInvoke"}, "did it"),
        ({"id": 1, "description": "did it"}, "did it"),
        ({"id": 1, "agent_name": "Scout", "action": "agent_spawned"}, "Scout agent spawned"),
        ({"id": 1, "actor": "ada", "action": "approval.approved", "entityType": "approval",
         "entityId": "p1"},
         "ada approval approved approval p1"),
        ({"id": 1, "agent": {"id": "a1", "name": "Scout"}, "action": "ToolInvoke", "task_id": "t1",
          "task_title": "Plan", "outcome": "denied"}, "Scout tool invoke task Plan (denied)"),
        ({"id": 1, "actor": {"type": "session", "name": "Ada"}, "type": "project.archived",
          "project.archived": {"id": "proj_1"}}, "Ada project archived proj_1"),
        ({"id": 1, "type": "agent.note", "agent.note": {"message": "did it"}}, "did it"),
        ({"id": 1, "actor": "ada", "type": "task.approved",
          "task.approved": {"id": "t1", "title": "Plan"}}, "ada task approved task Plan"),
        ({"id": 1, "timestamp": 1700000000, "details": {"a": 1}}, "an entry without words"),
    ],
)  # fmt: skip
def test_activity_sentences(fields: dict[str, Any], text: str) -> None:
    assert entry(**fields).text == text


def test_an_object_under_details_is_kept_and_a_text_is_read() -> None:
    assert extra_fields(entry(id=1, details={"a": 1}).extra) == {"details": {"a": 1}}
    assert entry(id=1, details="x").extra == b""


def test_who_did_it() -> None:
    by_agent = entry(id=1, actorType="agent", actorId="a1", agentId="a1", action="x")
    assert (by_agent.agent, by_agent.actor) == (ref("a1", None), None)
    inside_it = entry(id=1, actor={"type": "agent", "id": "a1", "name": "Scout"}, action="x")
    assert (inside_it.agent, inside_it.actor) == (ref("a1", "Scout"), None)
    inside_it = entry(id=1, actor={"type": "agent", "id": "a1", "name": "Scout"}, action="x")
    assert (inside_it.agent, inside_it.actor) == (ref("a1", "Scout"), None)
    by_user = entry(id=1, actorType="user", actorId="u1", action="x", company_id="c1")
    assert (by_user.agent, by_user.actor, by_user.company) == (
        None,
        ref("u1", None),
        ref("c1", None),
    )
    inside = {"type": "session", "session": {"user": {"id": "u1", "email": "ada@x.org"}}}
    assert entry(id=1, action="x", actor=inside).actor == ref("u1", "ada@x.org")
    on_task = entry(id=1, action="x", entityType="task", entityId="t1")
    assert on_task.task == ref("t1", None)


@pytest.mark.parametrize("name",
 ["createdAt", "timestamp", "@timestamp", "time", "occurredAt", "effective_at",
                                  "recorded_at", "logged_at", "date", "ts"])  # fmt: skip
def test_when_under_many_names(name: str) -> None:
    found = entry(id=1, message="x", **{name: 1700000000})
    assert found.at is not None
    assert found.at.at == 1700000000


def test_outcome_and_severity() -> None:
    assert entry(id=1, message="x", success=False).outcome == "failed"
    assert entry(id=1, message="x", outcome="denied").severity is Severity.WARNING
    assert entry(id=1, message="x", level="error").severity is Severity.CRITICAL
    assert entry(id=1, message="x", level="DEBUG").severity is Severity.INFO
    assert entry(id=1, message="x").severity is Severity.UNKNOWN


def test_ids_of_entries() -> None:
    assert entry(seq=0, message="x").id == "0"
    made = entry(message="x", timestamp=1700000000)
    assert made.id_derived
    assert made.id == entry(timestamp=1700000000, message="x").id
    assert made.id != entry(message="y", timestamp=1700000000).id
    assert not entry(id="e1", message="x").id_derived


def test_an_entry_of_which_nothing_is_known_is_unread() -> None:
    page = decode.decode_page(decode.ACTIVITY, read([{"zzz": 1}, {"message": "x"}]))
    assert (len(page.records), page.unread) == (1, 1)
