"""Tasks (SHAPES F) and what is kept beside every record (SHAPES G, DESIGN law 6)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from agentco_tui.model import Ref, Task, TaskState, extra_fields
from agentco_tui.reading import json_body
from agentco_tui.text import SafeText
from tests.reading import decode

NINE = datetime(2026, 11, 21, 9, tzinfo=UTC).timestamp()


def ref(id: str | None, name: str | None = None) -> Ref:
    return Ref(id, None if name is None else SafeText(name))


def read(body: Any) -> Any:
    return json_body.parse_json(json.dumps(body).encode())


def task(**fields: Any) -> Task:
    page = decode.decode_page(decode.TASKS, read({"tasks": [{"id": "t1", **fields}]}))
    assert page.unread == 0, page.unread_reasons
    return page.records[0]


@pytest.mark.parametrize(
    ("fields", "title", "came_from"),
    [
        ({"title": "Plan"}, "Plan", "title"),
        ({"name": "Plan"}, "Plan", "name"),
        ({"title": "", "name": "Plan"}, "Plan", "name"),
        ({"title": None, "summary": "Plan"}, "Plan", "summary"),
        ({"Subject": "Plan"}, "Plan", "subject"),
        ({"objective": "Plan"}, "Plan", "objective"),
        ({"goal": "Plan"}, "Plan", "goal"),
        ({"actionSummary": "Plan", "type": "shell"}, "Plan", "action_summary"),
        ({"description": "\n\nPlan\nin two lines"}, "Plan", "description"),
        ({"payload": {"title": "Plan", "x": 1}}, "Plan", "payload.title"),
        ({"payload": {"name": "Plan"}}, "Plan", "payload.name"),
        ({"payload": {"type": "send_mail"}}, "send_mail", "payload.type"),
        ({"tool_name": "send_mail"}, "send_mail", "tool_name"),
        ({"type": "deploy"}, "deploy", "type"),
        ({"type": "task"}, "t1", "id"),
        ({}, "t1", "id"),
        ({"title": {"text": "Plan"}}, "Plan", "title"),
        ({"title": 42, "name": "Plan"}, "Plan", "name"),
    ],
)
def test_the_nearest_words_are_the_title(
    fields: dict[str, Any], title: str, came_from: str
) -> None:
    found = task(**fields)
    assert (found.title, found.title_from) == (title, came_from)


@pytest.mark.parametrize(
    "row",
    [{"id": "t1"}, {"_id": "t1"}, {"taskId": "t1"}, {"task_id": "t1"}, {"uuid": "t1"}, {"ID": "t1"},
     {"Id": "t1"}, {"_id": {"$oid": "t1"}}, {"id": "t1", "runId": "r9"}, {"TaskID": "t1"}],
)  # fmt: skip
def test_ids_under_many_names(row: dict[str, Any]) -> None:
    page = decode.decode_page(decode.TASKS, read([{"title": "Plan", **row}]))
    assert [found.id for found in page.records] == ["t1"]


def test_a_human_key_is_an_id_and_an_api_key_is_none() -> None:
    page = decode.decode_page(decode.TASKS, read([{"key": "ACT-1778", "title": "x"}]))
    assert [found.id for found in page.records] == ["ACT-1778"]
    secret = read([{"key": "sk-abcdefgh12345678", "info": {"title": "x"}}])
    assert decode.decode_page(decode.TASKS, secret).unread == 1


def test_large_integers_as_ids_are_exact() -> None:
    page = decode.decode_page(decode.TASKS, json_body.parse_json(b'[{"id":9007199254740993}]'))
    assert page.records[0].id == "9007199254740993"


@pytest.mark.parametrize(
    ("fields", "word", "state", "needs"),
    [
        ({"status": "pending"}, "pending", TaskState.PENDING, None),
        ({"state": "running"}, "running", TaskState.RUNNING, None),
        ({"phase": "Succeeded"}, "Succeeded", TaskState.DONE, None),
        ({"status": {"state": "working", "timestamp": "2026-11-21T09:00:00Z"}}, "working",
         TaskState.RUNNING, None),
        ({"status": {"name": "To Do", "id": 3}}, "To Do", TaskState.QUEUED, None),
        ({"status": "weird"}, "weird", TaskState.OTHER, None),
        ({}, None, None, None),
        ({"status": None}, None, None, None),
        ({"status": "running", "approval_status": "pending"}, "running", TaskState.PENDING, True),
        ({"status": "pending", "approval_status": "approved"}, "pending", TaskState.APPROVED,
         False),
        ({"status": "todo", "approval": {"status": "rejected"}}, "todo", TaskState.REJECTED, False),
        ({"approvalState": "awaiting"}, "awaiting", TaskState.OTHER, None),
        ({"status": "queued", "requires_approval": True}, "queued", TaskState.QUEUED, None),
        ({"status": "completed", "requires_approval": True}, "completed", TaskState.DONE, False),
        ({"status": "pending", "requiresApproval": False}, "pending", TaskState.PENDING, False),
        ({"status": "running", "pendingInterrupt": {"question": "go on?"}}, "running",
         TaskState.RUNNING, True),
        ({"status": "running", "pendingInterrupt": None}, "running", TaskState.RUNNING, None),
        ({"approved": True}, None, TaskState.APPROVED, False),
        ({"completed": True}, None, TaskState.DONE, None),
        ({"status": 3}, "3", TaskState.OTHER, None),
    ],
)  # fmt: skip
def test_states_and_approval_flags(
    fields: dict[str, Any], word: str | None, state: TaskState | None, needs: bool | None
) -> None:
    found = task(**fields)
    assert (found.status, found.state, found.needs_approval) == (word, state, needs)


@pytest.mark.parametrize(
    ("fields", "agent"),
    [
        ({"agent_id": "a1"}, ref("a1", None)),
        ({"agentId": "a1", "agentName": "Scout"}, ref("a1", "Scout")),
        ({"agent": "Scout"}, ref(None, "Scout")),
        ({"agent": "ag_17"}, ref("ag_17", None)),
        ({"agent": {"id": "a1", "name": "Scout"}}, ref("a1", "Scout")),
        ({"agent": {"agentId": 7, "displayName": "Scout"}}, ref("7", "Scout")),
        ({"agent": {"AgentID": "a1", "AgentName": "Scout"}}, ref("a1", "Scout")),
        ({"agent": {"data": {"type": "agents", "id": "a1"}}}, ref("a1", None)),
        ({"agent": "/api/agents/a1"}, ref("a1", None)),
        ({"agent": {"href": "https://h/api/agents/a1"}}, ref("a1", None)),
        ({"assigned_to": "a1", "assignee_name": "Scout"}, ref("a1", "Scout")),
        ({"assigneeAgentId": "a1"}, ref("a1", None)),
        ({"agent": "Scout", "agent_id": "a1"}, ref("a1", "Scout")),
        ({"agent": {"name": "Scout"}, "agent_id": "a1"}, ref("a1", "Scout")),
        ({"assignees": []}, None), ({"agent": None}, None), ({"agent": ""}, None),
        ({"agent": {}}, None),
        ({"assignee": [{"id": "a1", "name": "Scout"}, {"id": "a2"}]}, ref("a1", "Scout")),
        ({"agent-id": "a1"}, ref("a1", None)),
        ({"AGENT_ID": 12}, ref("12", None)),
    ],
)  # fmt: skip
def test_references(fields: dict[str, Any], agent: Ref | None) -> None:
    assert task(**fields).agent == agent


def test_a_whole_task() -> None:
    found = task(
        title="Send the offer", companyId="c1", company_name="Acme", priority="high",
        trust_score=88,
        created_at="2026-11-21T09:00:00Z", requested_at="2026-11-21T09:05:00Z", updated=1795251660,
        decided_at=None, decidedBy={"name": "Ada", "id": "u1"}, timeout_secs=600,
        estimatedCostUsd="1.25",
        description="Two\nlines", labels=["x"], riskLevel="low",
    )  # fmt: skip
    assert found.company == ref("c1", "Acme")
    assert (found.priority, found.trust, found.decided_by) == ("high", Decimal(88), "Ada")
    assert found.created is not None
    assert found.created.at == NINE
    assert found.waiting_since is not None
    assert found.waiting_since.at == NINE + 300
    assert found.expires is not None
    assert found.expires.at == NINE + 900
    assert found.updated is not None
    assert found.cost is not None
    assert (found.cost.amount, found.cost.currency) == (Decimal("1.25"), "USD")
    assert found.description == "Two\nlines"
    kept = extra_fields(found.extra)
    assert kept["labels"] == ["x"]
    assert kept["riskLevel"] == "low"
    assert kept["decidedBy"]["id"] == "u1"
    assert kept["timeout_secs"] == 600


def test_a_priority_may_be_a_number_or_an_object() -> None:
    assert task(priority=1).priority == "1"
    assert task(priority={"name": "Urgent", "id": 2}).priority == "Urgent"


def test_a_stamp_is_the_time_in_a_list_and_the_answers_own_at_the_root() -> None:
    listed = task(title="x", timestamp="2026-11-21T09:00:00Z")
    assert listed.created is not None
    alone = decode.decode_one(
        decode.TASKS, read({"id": "t1", "title": "x", "timestamp": "2026-11-21T09:00:00Z"})
    )
    assert alone.created is None
    assert "timestamp" in extra_fields(alone.extra)
    both = task(created_at="2026-11-20", timestamp="2026-11-21T09:00:00Z")
    assert both.created is not None
    assert both.created.at == NINE - 32400 - 86400
    assert "timestamp" in extra_fields(both.extra)


def test_all_text_is_made_safe_and_ids_stay_as_they_are() -> None:
    found = task(
        title="\x1b[31mred\x07", status="pend\u202eing", agent={"name": "a\nb"}, id="x\x1by"
    )
    assert "\x1b" not in found.title
    assert "\u202e" not in str(found.status)
    assert found.agent is not None
    assert "\n" not in str(found.agent.name)
    assert found.id == "x\x1by"
    assert "\x1b" not in task(title="", id="x\x1by").title


def test_unknown_fields_are_kept_raw_and_understood_ones_are_not_repeated() -> None:
    found = task(
        title="x", agent={"id": "a1", "name": "Scout"}, a=1, b=[1, {"c": None}], d=0.1, e=None
    )
    kept = extra_fields(found.extra)
    assert kept == {"a": 1, "b": [1, {"c": None}], "d": Decimal("0.1"), "e": None}
    assert task(title="x").extra == b""


def test_what_a_reference_holds_besides_id_and_name_is_kept() -> None:
    found = task(agent={"id": "a1", "name": "Scout", "role": "sdr"})
    assert extra_fields(found.extra)["agent"]["role"] == "sdr"


def test_a_known_name_with_a_value_of_the_wrong_kind_is_kept() -> None:
    found = task(title=["not", "a", "title"], created_at="the other day", priority=[1], agent=True)
    kept = extra_fields(found.extra)
    assert kept == {
        "title": ["not", "a", "title"],
        "created_at": "the other day",
        "priority": [1],
        "agent": True,
    }


@pytest.mark.parametrize("name",
 ["api_key", "apiKey", "password", "token", "Authorization", "client-secret",
                                  "credentials"])  # fmt: skip
def test_secrets_are_hidden_at_any_depth(name: str) -> None:
    found = task(**{name: "hunter2"}, config={"deep": [{name: "hunter2", "tokens": 5}]})
    assert b"hunter2" not in found.extra
    assert extra_fields(found.extra)["config"]["deep"][0]["tokens"] == 5


@pytest.mark.parametrize(
    "text", ["sk-live-abcdefgh12345678", "Bearer abcdefgh12345678", "ghp_abcdefghijkl123456"]
)
def test_texts_that_look_like_keys_are_hidden_under_any_name(text: str) -> None:
    found = task(note_to_self=f"use {text} for this", x=[text])
    assert text.encode() not in found.extra


def test_a_huge_extra_is_cut_and_says_so() -> None:
    fields = {f"field{i}": "x" * 100 for i in range(200)}
    assert task(**fields, blob="y" * 30_000).cut is None
    found = task(**fields, blob="y" * 30_001)
    assert found.cut == "1 character missing"
    found = task(**{f"field{i}": "x" * 100 for i in range(2_000)}, blob="y" * 30_000)
    assert len(found.extra) <= 64 * 1024 + 200
    assert "values missing" in str(found.cut)
    assert extra_fields(found.extra)["field0"] == "x" * 100


def test_numbers_that_no_json_reader_takes_back_stay_readable() -> None:
    page = decode.decode_page(
        decode.TASKS,
        json_body.parse_json(b'[{"id":1,"x":1e999,"y":1e300,"z":' + b"9" * 5000 + b"}]"),
    )
    assert "x" in extra_fields(page.records[0].extra)
