"""What the fields of one row come to, beyond what the golden bodies show."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agentco_tui.model import AgentState, Severity, TaskState
from tests.reading import decode
from tests.reading.decode import ACTIVITY, AGENTS, COMPANIES, TASKS, Kind, plain, record

NINE = datetime(2026, 11, 21, 9, tzinfo=UTC).timestamp()
AT = "2026-11-21T09:00:00Z"
Row = dict[str, Any]

TASK, AGENT, COMPANY, ENTRY = {"id": "t1"}, {"id": "a1"}, {"id": "c1"}, {"id": 1}
RAN, WAITS, OTHER = TaskState.RUNNING, TaskState.PENDING, TaskState.OTHER

GROUPS: dict[str, tuple[Kind[Any], Row, str, list[tuple[Any, ...]]]] = {
    "the nearest words are the title": (TASKS, TASK, "title title_from", [
        ({"title": "", "name": "Plan"}, "Plan", "name"),
        ({"title": None, "summary": "Plan"}, "Plan", "summary"),
        ({"objective": "Plan"}, "Plan", "objective"), ({"goal": "Plan"}, "Plan", "goal"),
        ({"actionSummary": "Plan", "type": "shell"}, "Plan", "action_summary"),
        ({"description": "\n\nPlan\nin two lines"}, "Plan", "description"),
        ({"payload": {"name": "Plan"}}, "Plan", "payload.name"),
        ({"payload": {"type": "send_mail"}}, "send_mail", "payload.type"),
        ({"tool_name": "send_mail"}, "send_mail", "tool_name"),
        ({"type": "deploy"}, "deploy", "type"), ({"type": "task"}, "t1", "id"), ({}, "t1", "id"),
        ({"title": {"text": "Plan"}}, "Plan", "title"),
        ({"title": 42, "name": "Plan"}, "Plan", "name"),
    ]),
    "ids under many names": (TASKS, {"title": "Plan"}, "id", [
        ({"_id": "t1"}, "t1"), ({"taskId": "t1"}, "t1"), ({"uuid": "t1"}, "t1"),
        ({"ID": "t1"}, "t1"), ({"_id": {"$oid": "t1"}}, "t1"), ({"key": "ACT-17"}, "ACT-17"),
        ({"id": "t1", "runId": "r9"}, "t1"), ({"id": 9007199254740993}, "9007199254740993"),
    ]),
    "states and approval flags": (TASKS, TASK, "status state needs_approval", [
        ({"phase": "Succeeded"}, "Succeeded", TaskState.DONE, None),
        ({"status": {"state": "working", "timestamp": AT}}, "working", RAN, None),
        ({"status": "weird"}, "weird", OTHER, None), ({"status": 3}, "3", OTHER, None),
        ({}, None, None, None), ({"status": None}, None, None, None),
        ({"status": "running", "approval_status": "pending"}, "running", WAITS, True),
        ({"status": "pending", "approval_status": "approved"}, "pending", TaskState.APPROVED,
         False),
        ({"status": "todo", "approval": {"status": "rejected"}}, "todo", TaskState.REJECTED, False),
        ({"approvalState": "awaiting"}, "awaiting", OTHER, None),
        ({"status": "queued", "requires_approval": True}, "queued", TaskState.QUEUED, None),
        ({"status": "pending", "requiresApproval": False}, "pending", WAITS, False),
        ({"status": "running", "pendingInterrupt": {"question": "go on?"}}, "running", RAN, True),
        ({"status": "running", "pendingInterrupt": None}, "running", RAN, None),
        ({"approved": True}, None, TaskState.APPROVED, False),
        ({"completed": True}, None, TaskState.DONE, None),
    ]),
    "references": (TASKS, TASK, "agent", [
        ({"agentId": "a1", "agentName": "Scout"}, ("a1", "Scout")),
        ({"agent": "Scout"}, (None, "Scout")), ({"agent": "ag_17"}, ("ag_17", None)),
        ({"agent": {"agentId": 7, "displayName": "Scout"}}, ("7", "Scout")),
        ({"agent": {"AgentID": "a1", "AgentName": "Scout"}}, ("a1", "Scout")),
        ({"agent": {"data": {"type": "agents", "id": "a1"}}}, ("a1", None)),
        ({"agent": "/api/agents/a1"}, ("a1", None)),
        ({"agent": {"href": "https://h/api/agents/a1"}}, ("a1", None)),
        ({"assigned_to": "a1", "assignee_name": "Scout"}, ("a1", "Scout")),
        ({"agent": "Scout", "agent_id": "a1"}, ("a1", "Scout")),
        ({"agent": {"name": "Scout"}, "agent_id": "a1"}, ("a1", "Scout")),
        ({"assignees": []}, None), ({"agent": None}, None), ({"agent": ""}, None),
        ({"agent": {}}, None), ({"agent-id": "a1"}, ("a1", None)), ({"AGENT_ID": 12}, ("12", None)),
        ({"assignee": [{"id": "a1", "name": "Scout"}, {"id": "a2"}]}, ("a1", "Scout")),
    ]),
    "who and how urgent": (TASKS, TASK, "company priority trust decided_by", [
        ({"companyId": "c1", "company_name": "Acme", "priority": "high", "trust_score": 88,
          "decidedBy": {"name": "Ada", "id": "u1"}}, ("c1", "Acme"), "high", "88", "Ada"),
        ({"priority": 1}, None, "1", None, None),
        ({"priority": {"name": "Urgent", "id": 2}}, None, "Urgent", None, None),
    ]),
    "times and cost of a task": (TASKS, TASK, "created waiting_since updated expires cost", [
        ({"created_at": AT, "requested_at": "2026-11-21T09:05:00Z", "updated": NINE + 60,
          "decided_at": None, "timeout_secs": 600, "estimatedCostUsd": "1.25"},
         NINE, NINE + 300, NINE + 60, NINE + 900, "1.25"),
        ({"timestamp": AT}, NINE, None, None, None, None),
        ({"created_at": "2026-11-21", "timestamp": AT}, NINE - 32400, None, None, None, None),
    ]),
    "what remains of the budget": (AGENTS, AGENT, "budget_remaining", [
        ({"budget_remaining": 41.5}, "41.5"), ({"budgetRemainingCents": 4150}, "41.5"),
        ({"budget": {"remaining": 41.5}}, "41.5"), ({"remaining_budget": "$41.50"}, "41.5"),
        ({"budget": {"limit": 100, "spent": 58.5}}, "41.5 derived"),
        ({"budgetMonthlyCents": 10000, "spentMonthlyCents": 5850}, "41.5 derived"),
        ({"budget_remaining": {"amount": "41.5", "currency": "usd"}}, "41.5"),
        ({"budget_remaining": -3}, "-3"), ({"budget_remaining_micros": "-1"}, None),
        ({"budgetMonthlyCents": 0, "spentMonthlyCents": 5850}, None), ({}, None),
        ({"budget_remaining": 0, "monthly_limit": 0}, None), ({"budget_remaining": 0}, "0"),
    ]),
    "trust is raw": (AGENTS, AGENT, "trust trust_word", [
        ({"trustScore": 0.85}, "0.85", None), ({"trust": "0.85"}, "0.85", None),
        ({"trust": {"score": 85, "max": 100}}, "85", None), ({"trust_level": "green"}, None,
                                                             "green"),
        ({"trust_score": None}, None, None), ({"trust_score": 0}, "0", None),
        ({"reputation": 12345}, "12345", None),
    ]),
    "the model in many places": (AGENTS, AGENT, "model", [
        ({"model": {"provider": "acme", "model": "gpt"}}, "acme/gpt"),
        ({"model_provider": "acme", "model_name": "gpt"}, "acme/gpt"),
        ({"adapterConfig": {"model": "gpt"}}, "gpt"), ({"model": {"name": "gpt"}}, "gpt"),
        ({"model": "unknown"}, "unknown"), ({"model": None}, None), ({"models": ["a"]}, None),
        ({"model": {"x": 1}}, None),
    ]),
    "agent states": (AGENTS, AGENT, "status state pause_reason", [
        ({"enabled": True}, "enabled", AgentState.ACTIVE, None), ({}, None, None, None),
        ({"is_active": False}, "not enabled", AgentState.STOPPED, None),
        ({"paused": True, "pauseReason": "budget"}, "paused", AgentState.PAUSED, "budget"),
        ({"status": "active", "paused": True}, "active", AgentState.PAUSED, None),
        ({"status": {"state": "paused", "reason": "budget"}}, "paused", AgentState.PAUSED,
         "budget"),
        ({"status": "levitating"}, "levitating", AgentState.OTHER, None),
    ]),
    "the rest of an agent": (AGENTS, AGENT, "name role tasks_completed last_seen created", [
        ({"name": "Scout", "role": "sdr", "tasks_completed": 17}, "Scout", "sdr", 17, None, None),
        ({"name": "Scout", "title": "Head of Sales"}, "Scout", "Head of Sales", None, None, None),
        ({"stats": {"tasks_completed": 17, "uptime": 5}, "lastHeartbeatAt": AT, "createdAt": NINE},
         None, None, 17, NINE, NINE),
    ]),
    "companies": (COMPANIES, COMPANY, "template mission status agent_count task_count"
                  " pending_count", [
        ({"template": "saas", "mission": "Sell\nmore", "agents": [{"id": "a1"}, {"id": "a2"}],
          "stats": {"tasks": 40, "pendingApprovals": 3}}, "saas", "Sell\nmore", None, 2, 40, 3),
        ({"agentCount": "7", "template": {"id": "t", "name": "SaaS"}, "isArchived": True},
         "SaaS", None, "archived", 7, None, None),
    ]),
    "activity in words": (ACTIVITY, ENTRY, "text", [
        ({"details": "did it"}, "did it"), ({"detail": "did it", "action": "ToolInvoke"}, "did it"),
        ({"agent_name": "Scout", "action": "agent_spawned"}, "Scout agent spawned"),
        ({"actor": "ada", "action": "approval.approved", "entityType": "approval",
          "entityId": "p1"}, "ada approval approved approval p1"),
        ({"agent": {"id": "a1", "name": "Scout"}, "action": "ToolInvoke", "task_id": "t1",
          "task_title": "Plan", "outcome": "denied"}, "Scout tool invoke task Plan (denied)"),
        ({"actor": {"type": "session", "name": "Ada"}, "type": "project.archived",
          "project.archived": {"id": "proj_1"}}, "Ada project archived proj_1"),
        ({"type": "agent.note", "agent.note": {"message": "did it"}}, "did it"),
        ({"actor": "ada", "type": "task.approved", "task.approved": {"id": "t1", "title": "Plan"}},
         "ada task approved task Plan"),
        ({"timestamp": 1700000000, "details": {"a": 1}}, "an entry without words"),
    ]),
    "who did it": (ACTIVITY, {**ENTRY, "action": "x"}, "agent actor company task", [
        ({"actorType": "agent", "actorId": "a1", "agentId": "a1"}, ("a1", None), None, None, None),
        ({"actor": {"type": "agent", "id": "a1", "name": "Scout"}}, ("a1", "Scout"), None, None,
         None),
        ({"actorType": "user", "actorId": "u1", "company_id": "c1"}, None, ("u1", None),
         ("c1", None), None),
        ({"actor": {"type": "session", "session": {"user": {"id": "u1", "email": "ada@x.org"}}}},
         None, ("u1", "ada@x.org"), None, None),
        ({"entityType": "task", "entityId": "t1"}, None, None, None, ("t1", None)),
    ]),
    "when": (ACTIVITY, {**ENTRY, "message": "x"}, "at", [
        ({name: NINE}, NINE) for name in ("@timestamp", "recorded_at", "logged_at", "ts")
    ]),
    "how it ended": (ACTIVITY, {"seq": 0, "message": "x"}, "id outcome severity", [
        ({"success": False}, "0", "failed", Severity.WARNING),
        ({"outcome": "denied"}, "0", "denied", Severity.WARNING),
        ({"level": "error"}, "0", None, Severity.CRITICAL),
        ({"level": "DEBUG"}, "0", None, Severity.INFO),
    ]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "base", "names", "fields", "told"),
    [
        pytest.param(kind, base, names.split(), fields, list(told), id=f"{group} {number}")
        for group, (kind, base, names, cases) in GROUPS.items()
        for number, (fields, *told) in enumerate(cases)
    ],
)
def test_what_a_row_tells(
    kind: Kind[Any], base: Row, names: list[str], fields: Row, told: list[Any]
) -> None:
    found = record(kind, {**base, **fields})
    assert [plain(getattr(found, name)) for name in names] == told


def test_an_api_key_is_no_id() -> None:
    secret = decode.parsed([{"key": "sk-abcdefgh12345678", "info": {"title": "x"}}])
    assert decode.decode_page(TASKS, secret).unread == 1


def test_a_stamp_at_the_root_is_the_answers_own() -> None:
    alone = decode.decode_one(TASKS, decode.parsed({**TASK, "title": "x", "timestamp": AT}))
    assert alone.created is None
    assert b"timestamp" in alone.extra


def test_ids_of_entries() -> None:
    made = record(ACTIVITY, {"message": "x", "timestamp": 1700000000})
    assert made.id_derived
    assert made.id == record(ACTIVITY, {"timestamp": 1700000000, "message": "x"}).id
    assert made.id != record(ACTIVITY, {"message": "y", "timestamp": 1700000000}).id
    assert not record(ACTIVITY, {"id": "e1", "message": "x"}).id_derived


def test_an_entry_of_which_nothing_is_known_is_unread() -> None:
    page = decode.decode_page(ACTIVITY, decode.parsed([{"zzz": 1}, {"message": "x"}]))
    assert (len(page.records), page.unread) == (1, 1)
